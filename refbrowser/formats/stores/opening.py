"""A store as a document: its metadata by key, and where its chunks are."""

from __future__ import annotations

import marshal
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any, Literal, cast
from urllib.parse import quote

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.flavour import LOOKED_FOR, hierarchy_of_flavour
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.options import StoreReading
from refbrowser.formats.sniffing import FileKind, Found, NotReferencesError, NotThisError, found_in_folder
from refbrowser.formats.store_rules import RULES
from refbrowser.formats.stores.metadata_walk import StoreContents, read_store
from refbrowser.formats.stores.reader import FolderReader, StoreReader, is_text
from refbrowser.formats.zarr import v2, v3
from refbrowser.formats.zarr.shapes import parse_grid, parse_shape
from refbrowser.io.access.access import ZIP as ZIP_SCHEME
from refbrowser.io.access.access import Access
from refbrowser.io.fetching.archive_reading import read_archive
from refbrowser.io.origins import scheme_of
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import Flavour
from refbrowser.model.values import ChunkManifest
from refbrowser.references.content.origins import StoreOrigin
from refbrowser.references.document.manifest import ManifestBuilder, ManifestDocument
from refbrowser.references.rules.layouts import ChunkLayout

#: Chunks of each spelling of an array that are looked for.
_LOOKED_FOR = 16
_ARRAY_V2, _NODE_V3 = ".zarray", "zarr.json"


def chunk_layouts(contents: StoreContents) -> Iterator[ChunkLayout]:
    """Yield the layout of each array whose metadata tells one."""
    if RULES[contents.flavour].documents:
        yield from _of_hierarchy(contents)
        return
    is_v3 = contents.flavour == Flavour.ZARR_V3
    name, members, read = (_NODE_V3, _GRID_V3, _grid_v3) if is_v3 else (_ARRAY_V2, _GRID_V2, _grid_v2)
    known: dict[bytes, _Grid | None] = {}
    for key in contents.metadata:
        prefix, _, last = key.rpartition("/")
        if last != name:
            continue
        document = contents.value(key)
        if is_v3 and document.get("node_type") != "array":
            continue
        said = [document.get(member, usual) for member, usual in members.items()]
        # Most arrays are divided like others. Version 2 writes equal values alike, however they are shared.
        mark = marshal.dumps(said, 2)
        if mark not in known:
            try:
                known[mark] = read(*said)
            except RefbrowserError:
                known[mark] = None  # The reader of the hierarchy tells what is wrong.
        grid = known[mark]
        if grid is not None:
            yield ChunkLayout(f"{prefix}/" if prefix else "", *grid)


_Grid = tuple[tuple[int, ...], ChunkKeyEncoding]
#: What tells the grid of an array and its keys, and what counts where it is absent.
_GRID_V2 = {"shape": None, "chunks": None, "dimension_separator": "."}
_GRID_V3 = {"shape": None, "chunk_grid": None, "chunk_key_encoding": None}


def _grid_v2(shape: Any, chunks: Any, separator: Any) -> _Grid:
    return parse_grid(parse_shape(shape), chunks).grid_shape, v2.parse_chunk_keys(separator)


def _grid_v3(shape: Any, chunk_grid: Any, encoding: Any) -> _Grid:
    return v3.parse_chunk_grid(parse_shape(shape), chunk_grid).grid_shape, v3.parse_chunk_keys(encoding)


def _of_hierarchy(contents: StoreContents) -> Iterator[ChunkLayout]:
    """Yield the layouts that an adapter asks manifests for: it alone knows where chunks are."""
    spellings: dict[int, list[ChunkLayout]] = {}
    grids: list[RegularChunkGrid] = []

    def note(prefix: str, grid: RegularChunkGrid, encoding: ChunkKeyEncoding) -> ChunkManifest:
        grids.append(grid)
        spellings.setdefault(id(grid), []).append(ChunkLayout(prefix, grid.grid_shape, encoding))
        return cast(ChunkManifest, None)  # It is noted in the node, which nobody looks at.

    hierarchy_of_flavour(contents.flavour, _Documents(contents.metadata), note, contents.flavour.store_format)
    for layouts in spellings.values():
        yield _used(layouts, contents.has)


def _used(layouts: Sequence[ChunkLayout], has: Callable[[str], bool]) -> ChunkLayout:
    """Return the spelling of chunk keys that a store uses for an array; the usual one where none is seen.

    Only some chunks are looked for: those that are there are often the first.
    """
    for layout in layouts if len(layouts) > 1 else ():
        sides = (range(min(length, _LOOKED_FOR)) for length in layout.grid_shape)
        some = islice(product(*sides), _LOOKED_FOR)
        if any(has(layout.prefix + layout.encoding.encode(coords)) for coords in some):
            return layout
    return layouts[0]


@dataclass(frozen=True, slots=True)
class _Documents:
    """The metadata of a store as the source of a hierarchy."""

    documents: Mapping[str, bytes]

    def metadata_keys(self) -> Iterator[str]:
        return iter(self.documents)

    def value(self, key: str) -> bytes:
        return self.documents[key]


Container = Literal["folder", "zip", "url"]
#: What the URLs of archives end with.
ZIP = ".zip"
#: What a URL path holds unquoted, besides letters and digits.
_PLAIN = "/-._~!$&'()*+,;=:@"
_HTTP = re.compile(r"https?://", re.IGNORECASE)


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


def _unpacked(path: str, access: Access, opening: Opening) -> ManifestDocument:
    """Open the store in a folder or below a URL."""
    reader: StoreReader
    if scheme_of(path) in (None, "file"):
        reader, root, container = FolderReader(access.base, opening.token), access.base, "folder"
    else:
        from refbrowser.formats.stores.remote import UrlReader

        reader = UrlReader(path, access, opening.fetcher(), opening.token)
        root, container = path, "url"
    contents = read_store(reader, opening.chosen(StoreReading).flavour)
    if contents is None:
        raise NoStoreError(path)
    return store_document(contents, root, container, name=path)  # type: ignore[arg-type]


def _archived(path: str, access: Access, opening: Opening) -> ManifestDocument:
    """Open the store in a zip archive: keys at its top, or under one folder."""
    from refbrowser.formats.stores.zip import ZipReader

    archive = access.resolve(path).url
    fetcher, token = opening.fetcher(), opening.token
    directory = read_archive(archive, access, fetcher, token)
    contents = read_store(ZipReader(directory, access, fetcher, token), opening.chosen(StoreReading).flavour)
    if contents is None:
        raise NotReferencesError(NoStoreError(path), Found(FileKind.ZIP))
    manifest = ManifestBuilder(archive)
    _add_chunks(manifest, contents, f"{ZIP_SCHEME}{contents.folder}", f"::{archive}")
    origin = StoreOrigin(archive, contents.flavour, "zip", contents.folder)
    document = _document_of(manifest, contents, origin, name=path)
    return replace(document, notes=(*document.notes, *directory.findings()))


def store_document(
    contents: StoreContents, root: str, container: Container, *, name: str
) -> ManifestDocument:
    """Return the document of a store whose chunks are objects of their own, found by their keys.

    Parameters
    ----------
    root
        Its URL or absolute path.
    name
        For messages.
    """
    root = root.rstrip("/" if container == "url" else os.sep)
    quotes = _HTTP.match(root) is not None
    manifest = ManifestBuilder(
        f"{root}/{_quoted(contents.folder) if quotes else contents.folder}".rstrip("/")
    )
    _add_chunks(manifest, contents, f"{manifest.place}/", "", quotes=quotes)
    origin = StoreOrigin(root, contents.flavour, container, contents.folder)
    return _document_of(manifest, contents, origin, name=name)


def _add_chunks(
    manifest: ManifestBuilder, contents: StoreContents, head: str, tail: str, *, quotes: bool = False
) -> None:
    """Add what makes the references of every array of a store, its metadata, and where what is not read lies.

    Parameters
    ----------
    head, tail
        What stands before and behind a key in the URL of its object.
    quotes
        Keys are quoted in URLs.
    """

    def spelled(key: str) -> str:
        return _quoted(key) if quotes else key

    for layout in chunk_layouts(contents):
        count = layout.count
        if count == 1:
            key = layout.prefix + layout.encoding.encode((0,) * len(layout.grid_shape))
            manifest.add_whole(key, head + spelled(key) + tail)
        elif count:
            at = head + spelled(layout.prefix)
            manifest.layouts.append(ChunkLayout(layout.prefix, layout.grid_shape, layout.encoding, at, tail))
    manifest.add_metadata(contents.metadata)
    manifest.parsed.update(contents.parsed)
    for key in contents.unread:
        manifest.elsewhere.append(key)
        manifest.add_whole(key, head + spelled(key) + tail)


def _quoted(key: str) -> str:
    return quote(key, safe=_PLAIN)


def _document_of(
    manifest: ManifestBuilder, contents: StoreContents, origin: StoreOrigin, *, name: str
) -> ManifestDocument:
    if not is_text(origin.root):
        message = "the path of the store is not Unicode text, so a document cannot hold it"
        raise RefbrowserError(ErrorKind.ENCODING, message, Place(document=name))
    return manifest.document(
        name=name,
        origin=replace(origin, is_consolidated=contents.is_consolidated),
        notes=(*_unread(contents), *contents.findings),
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
