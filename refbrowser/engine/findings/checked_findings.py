"""All that can be found wrong with a document and what it describes, without reading what it refers to."""

from __future__ import annotations

from refbrowser.engine.findings.dataset_findings import dataset_findings
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, dataset_of, open_document
from refbrowser.engine.session import Session
from refbrowser.engine.store_listing import list_store
from refbrowser.findings.finding import Finding
from refbrowser.formats.registry import facet


def checked_findings(request: OpenRequest, control: JobControl) -> list[Finding]:
    """Return what is wrong with a document and what it describes; of a store, what a listing says, too.

    Of a stream every payload is looked at, of a file of Awkward 0 every blob and value. Its stages are
    ``opening``, ``listing`` of a store, and ``checking``.

    Raises
    ------
    RefbrowserError
        It cannot be opened.
    """
    control.stage("opening")
    opened = open_document(request, control)
    with Session() as session:
        dataset = dataset_of(request.path, opened.document, opened.access, session, control, stale="allow")
        if dataset.document.store is not None:
            control.stage("listing")
            list_store(dataset, control)
        control.stage("checking")
        found = dataset_findings(
            dataset.document, dataset.hierarchy, dataset.access, lambda: control.token.cancelled
        )
        findings = found.all
        look = facet(dataset.document, "check")
        if look is not None:
            findings += look(dataset, control)
    return findings
