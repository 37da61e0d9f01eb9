"""The lock beside a document that is written: renewed with it, or taken along to its new name."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.locking import files_of, make_lock
from refbrowser.engine.opening import OpenRequest, open_document
from refbrowser.errors import AbsentError
from refbrowser.io.access.access import Access, lock_path
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.fetching.lock_format import read_lock, write_lock
from refbrowser.io.locks.lock import Lock, LockEntry
from refbrowser.io.origins import scheme_of
from refbrowser.references.document.document import Document
from refbrowser.references.edits.many_edits import RebaseUrls, prefix_between


def has_lock(document: str) -> bool:
    """Tell whether a lock lies beside a local document."""
    return scheme_of(document) is None and os.path.isfile(lock_path(document))


def renew_lock(opening: OpenRequest, control: JobControl) -> bool:
    """Write the lock beside a document again, where there is one: the document was made of files as they are.

    Raises
    ------
    RefbrowserError
        The document or its lock cannot be read or written.
    """
    if not has_lock(opening.path):
        return False
    # What the old lock says of the files is what changes.
    opened = open_document(replace(opening, stale="allow"), control)
    _write(opening.path, Lock({}), opened.document, opened.access, control)
    return True


def take_lock_along(
    source: str,
    target: str,
    moved: Callable[[str], str],
    was: Access,
    document: Document,
    access: Access,
    control: JobControl,
) -> bool:
    """Write the lock of a document beside what was made of it, with what it says of each file.

    Files that the lock does not know are looked at as they are.

    Parameters
    ----------
    source, target
        The document that has the lock, and the one that was written.
    moved
        What a URL of the first is in the second.
    was
        How the first finds its files.
    document, access
        What was written, and how that finds them.

    Raises
    ------
    RefbrowserError
        The lock cannot be read or written.
    """
    if scheme_of(source) is not None or scheme_of(target) is not None:
        return False
    try:
        lock = read_lock(lock_path(source))[0]
    except AbsentError:
        return False
    entries: dict[str, LockEntry] = {}
    for url, entry in lock.entries.items():
        after = moved(url)
        # A copy elsewhere has its own time and tag; its size and its ends are those of the file.
        is_same = access.locate(after).url == was.locate(url).url
        entries[after] = entry if is_same else replace(entry, etag=None, modified=None)
    not_locked = {moved(url): why for url, why in lock.not_locked.items()}
    _write(target, replace(lock, entries=entries, not_locked=not_locked), document, access, control)
    return True


def take_lock_to(
    source: str,
    target: str,
    moved: Callable[[str], str],
    was: Access,
    document: Document,
    control: JobControl,
) -> bool:
    """Take a lock along as `take_lock_along` does, to a place from which relative names are other ones.

    Raises
    ------
    RefbrowserError
        The lock cannot be read or written.
    """
    out = os.path.abspath(target)
    prefix = prefix_between(was.base, os.path.dirname(os.path.realpath(out)))

    def there(url: str) -> str:
        url = moved(url)
        return RebaseUrls(prefix).moved(url) if prefix else url

    access = Access.for_document(out, {*was.allowed, *was.private}, was.settings)
    return take_lock_along(source, out, there, was, document, access, control)


def _write(target: str, known: Lock, document: Document, access: Access, control: JobControl) -> None:
    """Write a lock of the files of a document: as it is known, or as files that are not known are now."""
    urls = files_of(document, control.check)
    unknown = [url for url in urls if url not in known.entries and url not in known.not_locked]
    with Fetcher() as fetcher:
        made = make_lock(unknown, access, fetcher, JobControl(control.token))
    told = {**known.entries, **made.lock.entries}
    entries = {url: told[url] for url in urls if url in told}
    why = {**known.not_locked, **made.lock.not_locked}
    not_locked = {url: why[url] for url in urls if url in why}
    at, by = (known.at, known.by) if known.entries else (made.lock.at, made.lock.by)
    lock = Lock(entries, not_locked, at, by, known.others)
    write_lock(lock_path(target), lock, cancel=control.token)
