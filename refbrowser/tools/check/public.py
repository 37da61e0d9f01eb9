"""Checks of documents as a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext

from refbrowser.api import Path, Progress, StorageOptions, control_of, path_of, settings_of, texts_of
from refbrowser.engine.opening import OpenRequest
from refbrowser.errors import native_errors
from refbrowser.findings.finding import Finding


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

    path, allowed = path_of(document), texts_of(allow)
    settings = settings_of(storage_options, [path, *allowed])
    request = OpenRequest(path, allowed, settings, dict(templates or {}))
    return checked_findings(request, lambda _: nullcontext(control_of(progress)))
