"""Reference documents: opened (plain, ``.gz``, ``.zst``), as a hierarchy, and as bytes to save."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.compression import Compression, compress, decompress, find_compression, slices
from refbrowser.formats.format import Opened, Opening, OpenProgress
from refbrowser.formats.sniffing import (
    DOCUMENTS,
    HEAD,
    SHOWN,
    ConflictListError,
    FileKind,
    Found,
    NotReferencesError,
    NotThisError,
    data_error,
    found_in_file,
    found_in_folder,
    json_kind,
    lists_conflicts,
    looks_like_references,
    other_error,
    text_kind,
    unknown_error,
)
from refbrowser.io.access.access import Access
from refbrowser.io.access.local_files import open_regular
from refbrowser.io.cancel import Cancelled, CancelToken, linked
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.references.content.reader import PORTION, ReadProgress, read_source

if TYPE_CHECKING:
    from refbrowser.formats.parquet_text import ParquetText
    from refbrowser.formats.zarr.documents import ManifestMaker
    from refbrowser.io.fetching.fetch import DocumentBytes
    from refbrowser.io.identity import FileIdentity, ObjectIdentity
    from refbrowser.model.grid import RegularChunkGrid
    from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
    from refbrowser.model.values import ChunkManifest
    from refbrowser.references.content.deferred_tables import DeferredTextTable
    from refbrowser.references.content.expansion import Expansion
    from refbrowser.references.content.refs import References
    from refbrowser.references.content.table import TextTable
    from refbrowser.references.document.document import Document, ReferenceDocument

#: A slice of slow work that a worker thread does before it lets other threads run, and for how long.
_WORK, _REST = 0.004, 0.0005
#: Keys of an object that are looked at to see whose it is.
_OWN_KEYS = 100
#: Text of more bytes leaves enough free memory behind to be worth giving back.
_LARGE = 8 * 1024 * 1024
_SUFFIXES: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}


def open_named_references(opening: Opening) -> Opened:
    """Open the reference document at a path or URL.

    Raises
    ------
    RefbrowserError
        As `open_references` does; `NotThisError` where a URL cannot be read as a document.
    """
    if opening.seen.local is not None and lists_conflicts(opening.seen.head or b""):
        message = "it lists the conflicts of a merge, and is not a reference document"
        advice = "open the document that was merged; in the window this file opens as a list to settle them"
        raise ConflictListError(ErrorKind.FORMAT, message, Place(document=opening.path), advice)
    access = Access.for_document(opening.path, opening.allow, opening.settings)
    identity: FileIdentity | ObjectIdentity | None = opening.identity()
    source: str | memoryview | None = opening.seen.local
    if source is None:
        try:
            answer = _document_at(opening, access)
        except RefbrowserError as error:
            if isinstance(error, AbsentError) or error.kind is ErrorKind.SOURCE:
                raise NotThisError.of(error) from error
            raise
        source, identity = answer.data, answer.identity
    document = open_references(
        source,
        name=opening.path,
        values=opening.values,
        progress=opening.report,
        cancel=opening.token,
        confirm=opening.confirm,
    )
    kind = _kind_of_others(document)
    if kind is not None:
        raise other_error(Found(kind, bytes(opening.seen.head or b"")[:SHOWN]), opening.path)
    return Opened(document, access, identity)


def _kind_of_others(document: ReferenceDocument) -> FileKind | None:
    """Return what a document is that only looks like references of Version 0: JSON of other software."""
    if document.version != 0 or document.from_parquet:
        return None
    few = document.refs.keys(0, min(len(document.refs), _OWN_KEYS))
    if any(map(is_metadata_key, few)):
        return None
    return json_kind(frozenset(few))


def _document_at(opening: Opening, access: Access) -> DocumentBytes:
    """Return what lies at a URL.

    Raises
    ------
    RefbrowserError
        It cannot be read; `NotReferencesError`: it is data, of which there may be very much.
    """
    # Not before: those who open files do not wait for what reads URLs.
    from refbrowser.io.fetching.fetch import read_document

    looked = opening.seen.ends((*_SUFFIXES, *DOCUMENTS))
    with linked(opening.token) as token:

        def arriving(done: int, total: int | None) -> None:
            if not looked and max(done, total or 0) > _LARGE:
                token.cancel()
            opening.report(OpenProgress(done, total, 0))

        def read(cancel: CancelToken) -> DocumentBytes:
            fetcher = opening.fetcher()
            return read_document(opening.path, access, fetcher=fetcher, progress=arriving, cancel=cancel)

        try:
            return read(token)
        except Cancelled:
            opening.token.check()
        # Its name tells nothing, and it is large.
        looked = True
        head = bytes(opening.remote().read(0, HEAD))
        found = found_in_file(head)
        if found.is_data and not looks_like_references(head):
            raise data_error(found, opening.path)
        return read(opening.token)


def open_references(
    source: str | os.PathLike[str] | bytes | memoryview,
    *,
    name: str | None = None,
    values: Mapping[str, str] | None = None,
    progress: Callable[[OpenProgress], None] | None = None,
    cancel: CancelToken | None = None,
    confirm: Callable[[int], bool] = lambda size: True,
) -> ReferenceDocument:
    """Open a reference document, Version 0 or 1.

    Parameters
    ----------
    source
        Path of a local file or of a folder in the parquet form, or the bytes of a document.
    name
        For messages; the path where it is not given.
    values
        Values for templates, used and never saved.
    progress
        Called in this thread after each portion.
    cancel
        Ends the opening.
    confirm
        Asked once, with the bytes so far, when the document turns out larger than `LIMITS.json_question`.

    Raises
    ------
    RefbrowserError
        E_JSON, E_ENCODING, E_SCHEMA, E_BUDGET with line and column; E_FORMAT where a packed file is broken;
        E_IO, E_UNSAFE where it cannot be read. `NotReferencesError` where it does not begin as a reference
        document does; E_FORMAT where it holds data.
    """
    if isinstance(source, str | os.PathLike):
        path = os.path.realpath(source)
        if os.path.isdir(path):
            return _open_folder(
                path, _Opening(name or os.fspath(source), None, progress, cancel, confirm), values
            )
        with open_regular(path) as (descriptor, identity):
            opening = _Opening(name or os.fspath(source), identity.size, progress, cancel, confirm)
            return opening.read(_from_descriptor(descriptor), values)
    opening = _Opening(name, len(source), progress, cancel, confirm)
    return opening.read(slices(memoryview(source)), values)


def _open_folder(path: str, opening: _Opening, values: Mapping[str, str] | None) -> ReferenceDocument:
    from refbrowser.formats.parquet_text import METADATA, ParquetText, is_parquet_references

    if not is_parquet_references(path):
        message = "the folder is not the parquet form of references"
        advice = f"Such a folder has a file {METADATA} with a record_size."
        error = RefbrowserError(ErrorKind.FORMAT, message, Place(document=path), advice)
        raise NotReferencesError(error, found_in_folder(path))
    notes: list[Finding] = []
    text = ParquetText(path, notes.append)
    if text.count <= LIMITS.references_described:
        document = opening.read(text.portions(), values)
        return replace(document, from_parquet=True, notes=tuple(notes))
    return _left_folder(text, opening, notes, values)


def _left_folder(
    text: ParquetText, opening: _Opening, notes: list[Finding], values: Mapping[str, str] | None
) -> ReferenceDocument:
    """Return the document of a folder whose record files are read as arrays are touched."""
    from refbrowser.formats.parquet_manifest import ParquetReferences
    from refbrowser.references.content.deferred_tables import DeferredTextTable
    from refbrowser.references.content.known_metadata import KnownMetadata
    from refbrowser.references.document.document import ReferenceDocument

    later = ParquetReferences(text.arrays, notes)

    known = {key: value.encode() for key, value in text.metadata.items()}

    def made() -> TextTable:
        document = opening.again().read(text.portions(), values)
        if document.version:
            message = "a key of the metadata is a member of Version 1"
            raise RefbrowserError(ErrorKind.SCHEMA, message, Place(document=opening.name))
        later.read_whole()
        return document.refs.text_table

    return ReferenceDocument(
        version=0,
        outer=b"{}\n",
        region=None,
        refs=_left_references(text, opening, DeferredTextTable.of(made)),
        known=KnownMetadata(known),
        later=later,
        from_parquet=True,
        name=opening.name,
        values=dict(values or {}),
    )


def _left_references(text: ParquetText, opening: _Opening, table: DeferredTextTable) -> References:
    """Return references whose table is made later, with their metadata at hand where it is sound."""
    from refbrowser.references.content.refs import References
    from refbrowser.references.content.unread_references import UnreadReferences

    with contextlib.suppress(RefbrowserError):
        metadata = opening.again().read(text.metadata_portions(), None)
        if not metadata.version and len(metadata.refs) == len(text.metadata):
            return UnreadReferences.of(table, metadata.refs)
    return References(table)


def _from_descriptor(descriptor: int) -> Iterator[bytes]:
    while portion := os.read(descriptor, PORTION):
        yield portion


class _Opening:
    """One opening: counts bytes, asks about size, reports, and shares the interpreter with other threads."""

    def __init__(
        self,
        name: str | None,
        total: int | None,
        progress: Callable[[OpenProgress], None] | None,
        cancel: CancelToken | None,
        confirm: Callable[[int], bool],
    ) -> None:
        self.name = name
        self._total = total
        self._progress = progress
        self._cancel = cancel or CancelToken()
        self._confirm = confirm
        self._stored = 0
        self._size = 0
        self._asked = False
        self._in_worker = threading.current_thread() is not threading.main_thread()
        self._since = time.perf_counter()

    def again(self) -> _Opening:
        """Return an opening of the same, later: nobody watches it, or is asked."""
        return _Opening(self.name, None, None, None, lambda size: True)

    def read(self, portions: Iterator[bytes], values: Mapping[str, str] | None) -> ReferenceDocument:
        """Read the document from the bytes of its file."""
        first = next(portions, b"")
        kind = find_compression(first)
        kept: list[bytes] = []
        stored = self._counted(first, portions, kept if kind is not None else None)
        text = stored if kind is None else self._unpacked(decompress(kind, stored))
        head = next(text, b"")
        is_likely = looks_like_references(head) and text_kind(head[:HEAD]) is None
        found = None if is_likely else found_in_file(head[:HEAD])
        document = self._document(itertools.chain((head,), text), found, values)
        if self._size > _LARGE:
            give_memory_back()
        if kind is None:
            return document
        from refbrowser.references.content.content import Packed

        return replace(document, packed=Packed.of(kind, b"".join(kept), document))

    def _document(
        self, text: Iterator[bytes], found: Found | None, values: Mapping[str, str] | None
    ) -> ReferenceDocument:
        """Read the document; `found` is what the file looks like where that is no document."""
        if found is not None and found.is_data:
            raise data_error(found, self.name)
        try:
            source = read_source(
                self._bounded(text), name=self.name, on_progress=self._report, pause=self._pause
            )
            # Not before: what documents mean takes longer to load than their first rows to be read.
            from refbrowser.references.document.document import ReferenceDocument

            return ReferenceDocument.from_source(source, values)
        except RefbrowserError as error:
            if found is None:
                raise
            if found.kind not in (FileKind.UNKNOWN, FileKind.TEXT, FileKind.EMPTY):
                raise other_error(found, self.name) from error
            is_binary = found.kind is FileKind.UNKNOWN and error.kind in (ErrorKind.JSON, ErrorKind.ENCODING)
            # Documents in another encoding have a bracket in their first bytes, and are told so.
            if is_binary and b"{" not in found.head[:8]:
                raise unknown_error(found, self.name) from error
            raise NotReferencesError(error, found) from error

    def _counted(self, first: bytes, rest: Iterator[bytes], kept: list[bytes] | None) -> Iterator[bytes]:
        portion = first
        while portion:
            self._cancel.check()
            self._stored += len(portion)
            if self._stored > LIMITS.json_size:
                message = f"the file has more than {LIMITS.json_size} bytes"
                raise RefbrowserError(ErrorKind.BUDGET, message, Place(document=self.name))
            if kept is not None:
                kept.append(portion)
            yield portion
            portion = next(rest, b"")

    def _unpacked(self, portions: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from portions
        except ValueError as error:
            raise RefbrowserError(
                ErrorKind.FORMAT,
                f"the packed document cannot be unpacked: {quoted(error)}",
                Place(document=self.name),
            ) from None

    def _bounded(self, portions: Iterator[bytes]) -> Iterator[bytes]:
        for portion in portions:
            self._cancel.check()
            self._size += len(portion)
            if self._size > LIMITS.json_question and not self._asked:
                self._asked = True
                if not self._confirm(max(self._size, self._total or 0)):
                    raise RefbrowserError(
                        ErrorKind.BUDGET,
                        f"the document has more than {LIMITS.json_question} bytes",
                        Place(document=self.name),
                        "Answer yes (--yes) to read it anyway.",
                    )
            yield portion

    def _report(self, read: ReadProgress) -> None:
        self._cancel.check()
        if self._progress is not None:
            self._progress(OpenProgress(self._stored, self._total, read.rows, read.first))

    def _pause(self) -> None:
        """Let the window's thread run: two busy threads of Python would make it wait 5 ms at each turn."""
        self._cancel.check()
        if self._in_worker and time.perf_counter() - self._since > _WORK:
            time.sleep(_REST)
            self._since = time.perf_counter()


def give_memory_back() -> None:
    """Return what reading has freed to the system; the C library would keep as much again as the columns."""
    import ctypes

    # Another C library than that of GNU has no such function.
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def document_chunks(document: Document, path: str | os.PathLike[str] | None = None) -> Iterator[bytes]:
    """Yield the bytes of the file that a document is saved as.

    An unedited document gives the bytes that were read, packed or not.

    Parameters
    ----------
    path
        Its suffix (``.gz``, ``.zst``) says how the file is packed; None keeps what it was.
    """
    packed = document.packed
    kind: Compression | None = packed.kind if packed is not None else None
    if path is not None:
        kind = _SUFFIXES.get(Path(path).suffix.lower())
    if packed is not None and packed.kind == kind and packed.is_of(document.written()):
        yield packed.data
    elif kind is None:
        yield from document.to_chunks()
    else:
        yield from compress(kind, document.to_chunks())


def packed_chunks(blocks: Iterator[bytes], path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Yield the bytes of a file with this text, packed as the suffix of its path says."""
    kind = _SUFFIXES.get(Path(path).suffix.lower())
    return blocks if kind is None else compress(kind, blocks)


# The hierarchy


def hierarchy_of(document: Document, metadata: Mapping[str, bytes] | None = None) -> Hierarchy:
    """Return the groups and arrays that a document describes.

    Parameters
    ----------
    metadata
        Bytes of metadata keys whose references point elsewhere, where they were read.
    """
    # With the codecs behind it, a quarter of the modules: first rows are shown before they are loaded.
    from refbrowser.formats.edited_manifest import edited_manifest
    from refbrowser.formats.expansion_manifest import ExpansionManifest
    from refbrowser.formats.flavour import hierarchy_of_flavour

    expansion = document.expansion
    source = ExpansionMetadata(expansion, metadata or {})

    origin = document.origin

    def manifest(prefix: str, grid: RegularChunkGrid, encoding: ChunkKeyEncoding) -> ChunkManifest:
        whole = ExpansionManifest(expansion, prefix, grid.grid_shape, encoding)
        later = document.later if origin is None else origin
        if later is None or (document.is_edited and not document.refs.is_left):
            return whole
        return edited_manifest(later.manifest_of(prefix, whole), whole)

    made: ManifestMaker = manifest
    if document.store is not None:
        from refbrowser.formats.store_manifest import StoreManifest

        made = partial(StoreManifest.of, expansion, document.store)
    if origin is None:
        return hierarchy_of_flavour(None, source, made, document.format)
    plain = hierarchy_of_flavour(origin.flavour, source, made, origin.format)
    return origin.completed(plain, document.as_described)


@dataclass(frozen=True, slots=True)
class ExpansionMetadata:
    """The metadata keys of an expansion; `elsewhere` has the bytes of those that are not inline."""

    expansion: Expansion
    elsewhere: Mapping[str, bytes]

    def metadata_keys(self) -> Iterator[str]:
        """Return the metadata keys, in document order, each once."""
        return self.expansion.metadata_keys()

    def parsed(self, key: str) -> Mapping[str, Any] | None:
        """Return the object under a metadata key where it was known before the document's text."""
        known = self.expansion.document.known
        return None if known is None else known.parsed.get(key)

    def node(self, path: str) -> GroupNode | ArrayNode | None:
        """Return the node at a path that its format described, where nobody has edited it."""
        return self.expansion.document.as_described.get(f"/{path}")

    def value(self, key: str) -> bytes:
        """Return the bytes of a metadata key; E_BLOCKED where they are elsewhere and not read yet."""
        if key in self.elsewhere:
            return self.elsewhere[key]
        document = self.expansion.document
        if document.known is None or key in document.described:
            value = self.expansion.value(key)
        else:
            value = document.known.values.get(key)
        if value is None:
            raise RefbrowserError(
                ErrorKind.BLOCKED, "the metadata is in another file, which was not read yet", Place(key=key)
            )
        return value
