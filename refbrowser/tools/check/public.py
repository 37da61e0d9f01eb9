"""Checks of documents as a function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, Progress, StorageOptions, control_of, path_of, settings_of, texts_of
from refbrowser.engine.opening import OpenRequest
from refbrowser.errors import native_errors
from refbrowser.findings.finding import Finding

if TYPE_CHECKING:
    from refbrowser.tools.check.checked_documents import Checked


@native_errors()
def check(
    document: Path,
    *,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    templates: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> list[Finding]:
    """Return what is wrong with a document and what it describes; what it refers to is not read.

    Parameters
    ----------
    document
        A path or URL.
    allow, storage_options, templates
        As `open` has them.
    progress
        Called as `progress(done, total, ...)`.

    Returns
    -------
    list of Finding
        Each with `severity`, `message`, `place` and `advice`; empty where nothing is wrong.

    Raises
    ------
    RefbrowserError
        It cannot be opened.

    Examples
    --------
    >>> import refbrowser
    >>> for finding in refbrowser.check("sea_surface.json"):
    ...     print(finding.severity, finding.message)
    warning 1 of 12 chunks have no reference, the others have one
    warning 4 of 96 chunks have no reference, the others have one
    """
    from refbrowser.engine.findings.checked_findings import checked_findings

    request = _request(document, allow, storage_options, templates)
    return checked_findings(request, control_of(progress))


@native_errors()
def check_many(
    documents: Iterable[Path],
    *,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    templates: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    client: Any = None,
) -> Iterator[Checked]:
    """Check many documents; what is found of each comes in their order, as soon as it is known.

    Parameters
    ----------
    documents
        Paths or URLs.
    allow, storage_options, templates
        As `open` has them.
    progress
        Called as `progress(done, total, ...)`: with documents where `client` looks at them, else within each.
    client
        Who does the work, as `export` has it.

    Yields
    ------
    Checked
        The `path`, its `findings`, or the `error` why it cannot be opened: that ends no other check.

    Raises
    ------
    RefbrowserError
        There is nobody to do the work.

    Examples
    --------
    >>> import refbrowser
    >>> for checked in refbrowser.check_many(["sea_surface.json"]):
    ...     print(checked.path, len(checked.faults), len(checked.warnings))
    sea_surface.json 0 2
    """
    from refbrowser.engine.compute import Compute
    from refbrowser.tools.check.checked_documents import checked_documents

    requests = [_request(each, allow, storage_options, templates) for each in documents]
    return checked_documents(requests, Compute.of(client), control_of(progress))


def _request(
    document: Path, allow: Iterable[str], options: StorageOptions, templates: Mapping[str, str] | None
) -> OpenRequest:
    path, allowed = path_of(document), texts_of(allow)
    return OpenRequest(path, allowed, settings_of(options, [path, *allowed]), dict(templates or {}))
