"""Locks as a function."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from refbrowser.api import Path, Progress, StorageOptions, control_of, path_of, settings_of, texts_of
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.opening import OpenRequest, open_document
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.io.locks.lock_made import LockWritten


@native_errors()
def lock(
    document: Path | Dataset | OpenRequest,
    target: Path | None = None,
    *,
    update: Iterable[str] = (),
    skip_bad: bool = False,
    whole: bool = False,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    templates: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    accept: Iterable[str] = (),
) -> LockWritten:
    """Write what is known of the files of a document, so that it is noticed when one is replaced.

    Parameters
    ----------
    document
        The path of a reference document, or a `refbrowser.engine.opening.OpenRequest`; or an opened dataset,
        which is held against what was written beside it from then on.
    target
        The file; ``DOC.lock.json`` beside the document when None.
    update
        Files, as the document spells them, whose new state the lock that is there takes; none: all files.
    skip_bad
        Replace a lock that is there although files could not be looked at.
    whole
        Read all of each file, for a digest that an audit of level ``full`` compares.
    allow, storage_options, templates
        As `open` has them, where `document` is a path.
    progress
        Called as `progress(done, total)` with bytes of the document while it is opened, then with files.
    accept
        The old name of `update`.

    Returns
    -------
    LockWritten
        `lock`, what it says now (None where it was left as it was), and in `made.errors` why files could not
        be looked at; these are not locked.

    Raises
    ------
    RefbrowserError
        The document cannot be read, has no such file or too many, or the lock cannot be written.
    """
    from refbrowser.engine.locking import LockRequest, hold_against, write_lock_of
    from refbrowser.io.fetching.fetch import Fetcher

    if accept:
        warnings.warn("accept is called update now; the old name goes on working", DeprecationWarning, 3)
    update = (*texts_of(update), *texts_of(accept))
    asked = LockRequest("" if target is None else path_of(target), update, whole, skip_bad)
    control = control_of(progress)
    if isinstance(document, Dataset):
        access, fetcher = document.access, document.session.fetcher
        written = write_lock_of(document.path, document.document, access, fetcher, asked, control)
        if written.lock is not None and not asked.target:
            hold_against(access, written.lock)
        return written
    if not isinstance(document, OpenRequest):
        path, allowed = path_of(document), texts_of(allow)
        settings = settings_of(storage_options, [path, *allowed])
        document = OpenRequest(path, allowed, settings, dict(templates or {}))
    control.stage("opening")
    opened = open_document(document, control)
    control.stage("locking")
    with Fetcher() as fetcher:
        return write_lock_of(document.path, opened.document, opened.access, fetcher, asked, control)
