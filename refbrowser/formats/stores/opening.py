"""A store as a reference document: what is found of it, written down and read like any document."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity, quoted
from refbrowser.formats.registry import Opened, Opening
from refbrowser.formats.sniffing import FileKind, Found, NotReferencesError, NotThisError, found_in_folder
from refbrowser.formats.stores.contents import StoreContents
from refbrowser.formats.stores.flavour import LOOKED_FOR
from refbrowser.formats.stores.folder import FolderReader
from refbrowser.formats.stores.layouts import chunk_layouts
from refbrowser.formats.stores.reader import StoreReader, is_text
from refbrowser.formats.stores.text import StoreText, ZipText
from refbrowser.formats.stores.walk import read_store
from refbrowser.io.access import Access
from refbrowser.io.archives.reading import read_archive
from refbrowser.io.origins import scheme_of
from refbrowser.references.document.content import KnownMetadata, StoreOrigin

if TYPE_CHECKING:
    from refbrowser.references.document.document import ReferenceDocument

Container = Literal["folder", "zip", "url"]
#: What the URLs of archives end with.
ZIP = ".zip"


class NoStoreError(NotThisError):
    """There is no store where one was looked for."""

    def __init__(self, name: str) -> None:
        super().__init__(
            ErrorKind.FORMAT, "there is no store here", Place(document=name), f"Looked for {LOOKED_FOR}."
        )


def open_named_store(opening: Opening) -> Opened:
    """Open the store at a path or URL: a folder, what is below a URL, or a zip archive.

    Raises
    ------
    RefbrowserError
        `NotThisError`: there is none, or the archive is damaged; else it cannot be read.
    Cancelled
        The opening was cancelled.
    """
    path, seen = opening.path, opening.seen
    is_archive = seen.kind is FileKind.ZIP or (seen.local is None and seen.ends((ZIP,)))
    if is_archive:
        # References to its members would be looked for beside it.
        path = os.path.abspath(path) if scheme_of(path) is None else path
        access = Access.for_archive(path, opening.allow, opening.settings)
    else:
        access = Access.for_store(path, opening.allow, opening.settings)
    read = _archived if is_archive else _unpacked
    try:
        document = read(path, access, opening)
    except NoStoreError as error:
        if seen.local is not None and seen.is_folder:
            raise NotReferencesError(error, found_in_folder(seen.local)) from error
        raise
    except RefbrowserError as error:
        is_damaged = is_archive and seen.local is not None and error.kind is ErrorKind.FORMAT
        if is_damaged and not isinstance(error, NotThisError):
            raise NotThisError.of(error) from error
        raise
    return Opened(document, access)


def _unpacked(path: str, access: Access, opening: Opening) -> ReferenceDocument:
    """Open the store in a folder or below a URL."""
    reader: StoreReader
    if scheme_of(path) in (None, "file"):
        reader, root, container = FolderReader(access.base, opening.token), access.base, "folder"
    else:
        from refbrowser.formats.stores.remote import UrlReader

        reader = UrlReader(path, access, opening.fetcher(), opening.token)
        root, container = path, "url"
    contents = read_store(reader, opening.flavour)
    if contents is None:
        raise NoStoreError(path)
    return store_document(contents, root, container, name=path, values=opening.values)  # type: ignore[arg-type]


def _archived(path: str, access: Access, opening: Opening) -> ReferenceDocument:
    """Open the store in a zip archive: keys at its top, or under one folder."""
    from refbrowser.formats.stores.zip import ZipReader

    archive = access.resolve(path).url
    fetcher, token = opening.fetcher(), opening.token
    directory = read_archive(archive, access, fetcher, token)
    contents = read_store(ZipReader(directory, access, fetcher, token), opening.flavour)
    if contents is None:
        raise NotReferencesError(NoStoreError(path), Found(FileKind.ZIP))
    text = ZipText(archive, contents.folder)
    add_all_chunks(text, contents)
    origin = StoreOrigin(archive, contents.flavour, "zip", contents.folder)
    document = document_of(text, contents, origin, name=path, values=opening.values)
    return replace(document, notes=(*document.notes, *directory.findings()))


def store_document(
    contents: StoreContents,
    root: str,
    container: Container,
    *,
    name: str,
    values: Mapping[str, str] | None = None,
) -> ReferenceDocument:
    """Return the document of a store whose chunks are objects of their own, found by their keys.

    Parameters
    ----------
    root
        Its URL or absolute path.
    name
        For messages.
    """
    root = root.rstrip("/" if container == "url" else os.sep)
    text = StoreText(root, contents.folder)
    add_all_chunks(text, contents)
    origin = StoreOrigin(root, contents.flavour, container, contents.folder)
    return document_of(text, contents, origin, name=name, values=values)


def add_all_chunks(text: StoreText, contents: StoreContents) -> None:
    """Add what makes the references of every array of a store; warns of arrays that have none."""
    for layout in chunk_layouts(contents):
        text.add_chunks(layout)
    if text.left_out:
        more = f" and {len(text.left_out) - 1} others" if len(text.left_out) > 1 else ""
        message = f"the chunks of this array{more} have no references: the store has too many arrays"
        contents.warn(message, text.left_out[0].rstrip("/"), "Open an array, or its group, by its own path.")


def document_of(
    text: StoreText,
    contents: StoreContents,
    origin: StoreOrigin,
    *,
    name: str,
    values: Mapping[str, str] | None = None,
) -> ReferenceDocument:
    """Return the document with the chunks in `text` and the metadata of a store."""
    from refbrowser.references.document.document import ReferenceDocument

    if not is_text(origin.root):
        message = "the path of the store is no text, so that no document can hold it"
        raise RefbrowserError(ErrorKind.ENCODING, message, Place(document=name))
    text.add_metadata(contents.metadata)
    for key in contents.unread:
        text.add_reference(key)
    before, entries = text.parts()
    return ReferenceDocument.of_parts(
        before,
        entries,
        templates=text.templates,
        gen=text.gen,
        known=KnownMetadata(contents.metadata, tuple(contents.unread)),
        name=name,
        values=dict(values or {}),
        store=replace(origin, left_out=frozenset(text.left_out), is_consolidated=contents.is_consolidated),
        notes=(*_unread(contents), *contents.problems),
    )


def _unread(contents: StoreContents) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            severity=Severity.FAULT,
            kind=error.kind,
            message=f"metadata {quoted(key)} cannot be read: {error.message}",
            place=replace(error.place, key=key),
            advice=error.advice,
        )
        for key, error in contents.unread.items()
    )
