"""What ``import refbrowser`` gives to programs that look into datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from refbrowser.api import Path, StorageOptions, control_of, dataset_of, path_of, settings_of, texts_of
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.opening import OpenRequest
from refbrowser.errors import native_errors
from refbrowser.findings.finding import Finding

if TYPE_CHECKING:
    from refbrowser.views.description import Description


@native_errors()
def info(dataset: Dataset | Path, *, allow: Iterable[str] = ()) -> Description:
    """Return what is in a dataset: groups, dimensions, arrays with all that is known of them, and problems.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    allow
        Origins that may be read from, where `dataset` is a path.

    Returns
    -------
    Description
        Its text is what ``refbrowser info`` prints; `to_json()`, of which ``info(...)["arrays"]`` is part, is
        what ``--json`` prints; `findings` are findings.

    Raises
    ------
    RefbrowserError
        It cannot be opened.

    Examples
    --------
    >>> import refbrowser
    >>> refbrowser.info("sea_surface.json")["arrays"]["/ocean/sst"]["shape"]
    [12, 180, 360]
    """
    from refbrowser.engine.store_listing import list_store
    from refbrowser.io.cancel import CancelToken
    from refbrowser.views.description import Description

    with dataset_of(dataset, allow) as opened:
        list_store(opened)
        return Description(opened, CancelToken()).kept()


@native_errors()
def check(
    document: Path,
    *,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    templates: Mapping[str, str] | None = None,
    progress: Callable[..., None] | None = None,
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
