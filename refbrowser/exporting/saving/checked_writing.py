"""Writing a document that was changed as a whole to another file, which is read again before it counts."""

from __future__ import annotations

import os
from collections.abc import Callable

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.folder import FilePlace
from refbrowser.exporting.saving.lock_beside import take_lock_to
from refbrowser.exporting.saving.save import not_written, write_verified
from refbrowser.formats.parquet_text import PARQUET
from refbrowser.formats.references import document_chunks, open_references
from refbrowser.io.access.access import Access
from refbrowser.io.identity import FileIdentity
from refbrowser.references.document.document import Document
from refbrowser.references.edits.many_edits import RebaseUrls, prefix_between, relative_urls


def json_place(target: str, *, force: bool) -> FilePlace:
    """Return where a document goes; its suffix (``.gz``, ``.zst``) says how the file is packed.

    Parameters
    ----------
    force
        Replace what is there.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the name is that of another form; the target is there.
    """
    if target.lower().rstrip("/").endswith(PARQUET):
        message = "the parquet form cannot hold templates and gen rules"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(path=target), "give a name that ends in .json")
    place = FilePlace(target)
    place.check_replaceable(force=force)
    return place


def rebased(document: Document, base: str, place: FilePlace) -> Document:
    """Return a document whose relative URLs mean from another file what they meant before.

    Parameters
    ----------
    base
        Folder of the document, or the URL that it came from.
    """
    prefix = prefix_between(base, str(place.target.parent))
    if prefix and next(relative_urls(document.with_template_values({})), None) is not None:
        document = document.apply(RebaseUrls(prefix))
    return document


def write_elsewhere(
    document: Document, place: FilePlace, control: JobControl, expected: FileIdentity | None = None
) -> None:
    """Write a document, whole and in one step.

    Parameters
    ----------
    expected
        The state in which the file that is replaced must still be; None for any.

    Raises
    ------
    ChangedOnDiskError
        The file is not the one that `expected` describes.
    RefbrowserError
        The target cannot be written.
    """
    target = os.fspath(place.target)

    def prove(path: str) -> None:
        again = open_references(path, values=document.templates.values, cancel=control.token)
        if again.expansion.rows != document.expansion.rows:
            raise not_written(target)

    write_verified(target, document_chunks(document, target), control, prove, expected)


def write_along(
    source: str,
    access: Access,
    document: Document,
    place: FilePlace,
    control: JobControl,
    *,
    moved: Callable[[str], str] = str,
    expected: FileIdentity | None = None,
) -> None:
    """Write what was made of a document, with the lock beside it; relative URLs lead where they led before.

    Parameters
    ----------
    source, access
        The document that it was made of, and how that finds its files.
    moved
        What a URL of that is in `document`.
    expected
        The state in which the file that is replaced must still be; None for any.

    Raises
    ------
    ChangedOnDiskError
        The file is not the one that `expected` describes.
    RefbrowserError
        The target or its lock cannot be written.
    """
    after = rebased(document, access.base, place)
    write_elsewhere(after, place, control, expected)
    take_lock_to(source, os.fspath(place.target), moved, access, after, control)
