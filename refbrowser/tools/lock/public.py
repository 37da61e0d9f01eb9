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
    document: Path | Dataset,
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
        The path of a reference document, or an opened dataset.
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
        Called as `progress(done, total)` with files.
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
    from refbrowser.engine.locking import LockRequest, write_lock_of
    from refbrowser.io.fetching.fetch import Fetcher

    if accept:
        warnings.warn("accept is called update now; the old name goes on working", DeprecationWarning, 3)
    update = (*texts_of(update), *texts_of(accept))
    asked = LockRequest("" if target is None else path_of(target), update, whole, skip_bad)
    control = control_of(progress)
    if isinstance(document, Dataset):
        fetcher = document.session.fetcher
        return write_lock_of(document.path, document.document, document.access, fetcher, asked, control)
    path = path_of(document)
    request = OpenRequest(
        path, texts_of(allow), settings_of(storage_options, [path, *texts_of(allow)]), dict(templates or {})
    )
    opened = open_document(request)
    with Fetcher() as fetcher:
        return write_lock_of(path, opened.document, opened.access, fetcher, asked, control)
