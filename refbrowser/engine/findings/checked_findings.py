"""All that can be found wrong with a document and what it describes, without reading what it refers to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from refbrowser.engine.findings.dataset_findings import dataset_findings
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, dataset_of, open_document
from refbrowser.engine.session import Session
from refbrowser.engine.store_listing import list_store
from refbrowser.findings.finding import Finding
from refbrowser.formats.registry import facet

#: Gives the control of a step that has a name.
Watched = Callable[[str], AbstractContextManager[JobControl]]


def checked_findings(request: OpenRequest, watched: Watched) -> list[Finding]:
    """Return what is wrong with a document and what it describes; of a store, what a listing says, too.

    Of a stream every payload is looked at, of a file of Awkward 0 every blob and value.

    Raises
    ------
    RefbrowserError
        It cannot be opened.
    """
    with watched("opening") as control:
        opened = open_document(request, control)
    with Session() as session, watched("checking") as control:
        dataset = dataset_of(request.path, opened.document, opened.access, session, control, stale="allow")
        if dataset.document.store is not None:
            with watched("listing") as listing:
                list_store(dataset, listing)
        found = dataset_findings(
            dataset.document, dataset.hierarchy, dataset.access, lambda: control.token.cancelled
        )
        findings = found.all
        look = facet(dataset.document, "check")
        if look is not None:
            findings += look(dataset, control)
    return findings
