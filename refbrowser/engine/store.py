"""A read-only store for zarr-python: what it asks for together is fetched together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr.abc.store import (
    ByteRequest,
    OffsetByteRequest,
    RangeByteRequest,
    Store,
    SuffixByteRequest,
)

from refbrowser.codecs.base import flat_bytes
from refbrowser.codecs.table import object_codec
from refbrowser.engine.document_keys import keys_below, reference_of
from refbrowser.engine.reading.fetching import fetch_rows
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.zarr.keys import ChunkKey, KeyClassifier
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.reference import ByteRange, Inline, Reference, ReferenceKind, WholeFile, columns_of
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from zarr.core.buffer import Buffer, BufferPrototype

    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.model.nodes import Hierarchy
    from refbrowser.references.document.document import Document


class AssembledChunks:
    """The chunks of the arrays of a dataset whose values have no references.

    Parameters
    ----------
    session, access
        Read the pieces.
    """

    def __init__(self, hierarchy: Hierarchy, session: Session, access: Access) -> None:
        self._classifier = KeyClassifier(hierarchy)
        self._session = session
        self._access = access

    def find(self, key: str) -> ChunkKey | None:
        """Return the chunk that a key names, where anything gives it."""
        role = self._classifier.classify(key)
        if not isinstance(role, ChunkKey) or role.node.assembled is None:
            return None
        kinds = role.node.assembled.kinds_at(np.array(role.coords, np.int64).reshape(1, -1))
        return None if kinds[0] == ReferenceKind.MISSING else role

    def data(self, chunk: ChunkKey) -> bytes:
        """Return the bytes of a chunk: elements in C order, texts as ``vlen-utf8``.

        Raises
        ------
        RefbrowserError
            It cannot be read; `E_META`: Zarr v2 has no form for its elements.
        """
        node = chunk.node
        if node.known_dtype.names is not None or (node.known_dtype.hasobject and node.type.name != "string"):
            message = f"Zarr v2 has no form for elements of type {node.type.name}"
            raise RefbrowserError(ErrorKind.META, message, Place(path=node.path))
        values = np.empty(node.grid.stored_shape(chunk.coords), node.known_dtype)
        values[...] = node.fill_element
        values[tuple(map(slice, node.grid.extent(chunk.coords)))] = self._values(node, chunk.coords)
        if node.known_dtype.hasobject:
            return object_codec("vlen-utf8", {}).encode(values.reshape(-1)).tobytes()
        return flat_bytes(values).tobytes()

    def _values(
        self, node: ArrayNode, coords: tuple[int, ...]
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
        ends = zip(node.grid.origin(coords), node.grid.extent(coords), strict=True)
        selection = Selection(tuple(range(at, at + side) for at, side in ends))
        return self._session.read(node, self._access, selection)


Buffers = list["Buffer | None"]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One `get` that waits for its bytes."""

    key: str
    reference: ByteRange | WholeFile
    cut: ByteRequest | None
    is_object: bool
    answer: asyncio.Future[bytes | None]


_Batch = list[_Wanted]


class ReferenceStore(Store):
    """The keys of a dataset as zarr-python sees them; nothing can be written.

    A key that is not there is None (a missing chunk reads as the fill value); one whose bytes cannot be had
    raises `RefbrowserError`. `get`s made in the same turn of the event loop are one plan.
    """

    supports_writes = False
    supports_deletes = False
    #: zarr-python before 3.1 asks for it.
    supports_partial_writes = False
    supports_listing = True

    def __init__(
        self,
        name: str,
        document: Document,
        hierarchy: Hierarchy,
        access: Access,
        resources: Session,
    ) -> None:
        super().__init__(read_only=True)
        self.name = name
        self.document = document
        self.hierarchy = hierarchy
        self.access = access
        self.resources = resources
        self._waiting: dict[asyncio.AbstractEventLoop, _Batch] = {}
        self._assembled: AssembledChunks | None = None
        if not document.has_keys:
            self._assembled = AssembledChunks(hierarchy, resources, access)

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, ReferenceStore) and other.document is self.document
        return same and other.access is self.access  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return id(self.document)

    def __str__(self) -> str:
        return f"refbrowser://{self.name}"

    def __repr__(self) -> str:
        return f"ReferenceStore({self.name!r})"

    def with_read_only(self, read_only: bool = False) -> ReferenceStore:
        """Return this store; it cannot be made writable."""
        if not read_only:
            raise ValueError("references cannot be written through a store")
        return self

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the bytes of a key, or of a range of them; None where there is no such key.

        Raises
        ------
        RefbrowserError
            The key is there and its bytes cannot be had.
        """
        reference = self._reference(key)
        if reference is None:
            made_chunk = None if self._assembled is None else self._assembled.find(key)
            if self._assembled is None or made_chunk is None:
                return None
            loop = asyncio.get_running_loop()
            made = await loop.run_in_executor(None, self._assembled.data, made_chunk)
            return prototype.buffer.from_bytes(_cut(made, byte_range))
        if isinstance(reference, Inline):
            return prototype.buffer.from_bytes(_cut(reference.data, byte_range))
        assert isinstance(reference, ByteRange | WholeFile)
        data = await self._fetch_soon(key, reference, byte_range)
        return None if data is None else prototype.buffer.from_bytes(data)

    async def get_partial_values(
        self,
        prototype: BufferPrototype,
        key_ranges: Iterable[tuple[str, ByteRequest | None]],
    ) -> Buffers:
        """Return the bytes of several ranges, fetched as one plan."""
        return [*await asyncio.gather(*(self.get(key, prototype, cut) for key, cut in key_ranges))]

    async def exists(self, key: str) -> bool:
        """Tell whether there is such a key; its bytes are not asked for, but of an object of an opened store.

        Raises
        ------
        RefbrowserError
            The object cannot be asked for.
        """
        reference = self._reference(key)
        if self._assembled is not None and reference is None:
            return self._assembled.find(key) is not None
        if self.document.store is None or not isinstance(reference, WholeFile):
            return reference is not None
        try:
            return await self._fetch_soon(key, reference, RangeByteRequest(0, 1)) is not None
        except RefbrowserError as error:
            if error.kind is ErrorKind.RANGE:
                # It is there, and empty.
                return True
            raise

    async def set(self, key: str, value: Buffer) -> None:
        """Refuse: the store is read-only."""
        self._check_writable()

    async def set_partial_values(self, key_start_values: Iterable[tuple[str, int, bytes]]) -> None:
        """Refuse: the store is read-only; zarr-python before 3.1 asks for this."""
        self._check_writable()

    async def delete(self, key: str) -> None:
        """Refuse: the store is read-only."""
        self._check_writable()

    async def list(self) -> AsyncIterator[str]:
        """Yield every key."""
        async for key in self.list_prefix(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield every key that begins with `prefix`."""
        for key in keys_below(self.document, prefix):
            yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield the names directly below `prefix`, of keys and of what holds keys."""
        path = prefix.strip("/")
        below = f"{path}/" if path else ""
        node = self.hierarchy.find(path)
        names: dict[str, None] = {}
        keys: Iterator[str]
        if isinstance(node, GroupNode):
            # A group is listed by its nodes: the chunks below them may be any number.
            names |= dict.fromkeys([*node.groups, *node.arrays])
            odd = self.document.expansion.metadata_keys()
            keys = (key for key in odd if key.startswith(below))
        else:
            keys = keys_below(self.document, below)
        for key in keys:
            names.setdefault(key[len(below) :].split("/", 1)[0])
        for name in names:
            yield name

    def _reference(self, key: str) -> Reference | None:
        return reference_of(self.document, key)

    def _fetch_soon(
        self, key: str, reference: ByteRange | WholeFile, cut: ByteRequest | None
    ) -> asyncio.Future[bytes | None]:
        narrowed, rest = _narrowed(reference, cut)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bytes | None] = loop.create_future()
        waiting = self._waiting.setdefault(loop, [])
        if not waiting:
            # Two turns: tasks that are about to ask for more come first.
            loop.call_soon(lambda: loop.call_soon(self._fetch_waiting, loop))
        waiting.append(_Wanted(key, narrowed, rest, isinstance(reference, WholeFile), answer))
        return answer

    def _fetch_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        wanted = self._waiting.pop(loop, [])
        loop.run_in_executor(None, self._fetch, loop, wanted)

    def _fetch(self, loop: asyncio.AbstractEventLoop, wanted: _Batch) -> None:
        """Fetch on a worker thread, and answer each as its bytes arrive."""
        fetcher, access = self.resources.fetcher, self.access
        columns = columns_of(each.reference for each in wanted)

        def deliver(row: int, data: memoryview | RefbrowserError) -> None:
            # The buffer of a request is not kept alive for one of its rows.
            outcome: bytes | RefbrowserError | None
            if isinstance(data, RefbrowserError):
                outcome = None if wanted[row].is_object and access.is_missing(data) else data
            else:
                outcome = bytes(_cut(data, wanted[row].cut))
            loop.call_soon_threadsafe(_settle, wanted[row].answer, outcome)

        try:
            fetch_rows(fetcher, columns, access, deliver, key=lambda row: wanted[row].key)
        except BaseException as error:  # noqa: BLE001 - raised again by each `get`
            for each in wanted:
                loop.call_soon_threadsafe(_settle, each.answer, error)


def _settle(answer: asyncio.Future[bytes | None], outcome: bytes | BaseException | None) -> None:
    if answer.done():  # cancelled meanwhile
        return
    if isinstance(outcome, BaseException):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)


def _cut(data: Any, cut: ByteRequest | None) -> Any:
    """Return a range of `data`, without a copy of a memoryview."""
    if cut is None:
        return data
    if isinstance(cut, RangeByteRequest):
        return data[cut.start : cut.end]
    if isinstance(cut, OffsetByteRequest):
        return data[cut.offset :]
    if isinstance(cut, SuffixByteRequest):
        return data[max(len(data) - cut.suffix, 0) :]
    raise TypeError(f"{cut!r} is not a byte request")


def _narrowed(
    reference: ByteRange | WholeFile, cut: ByteRequest | None
) -> tuple[ByteRange | WholeFile, ByteRequest | None]:
    """Return the part of a reference that holds a range, and what is left to be cut from it."""
    if cut is None:
        return reference, None
    if isinstance(reference, WholeFile):
        if isinstance(cut, RangeByteRequest):
            return ByteRange(reference.url, cut.start, max(cut.end - cut.start, 0)), None
        return reference, cut
    if isinstance(cut, RangeByteRequest):
        start, stop = cut.start, min(cut.end, reference.length)
    elif isinstance(cut, OffsetByteRequest):
        start, stop = cut.offset, reference.length
    else:
        start, stop = max(reference.length - cut.suffix, 0), reference.length
    if start > reference.length or start < 0:
        raise RefbrowserError(
            ErrorKind.RANGE,
            f"byte {start} is not in the {reference.length} bytes of the key",
            Place(url=reference.url, start=reference.offset, stop=reference.offset + reference.length),
        )
    return ByteRange(reference.url, reference.offset + start, max(stop - start, 0)), None
