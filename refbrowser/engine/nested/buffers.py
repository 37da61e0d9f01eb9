"""Elements of buffers for nested rows: fetched together by range, decoded in the pool, kept a while."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.nested.unpacked_blobs import is_long, long_blobs, stored_range, unpacked
from refbrowser.engine.reading.fetching import fetch_rows
from refbrowser.engine.reading.resources import Resources
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.model.nested import Buffer, BufferPart
from refbrowser.model.reference import ByteRange, Inline, Missing, Reference, WholeFile, columns_of

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access

Answer = npt.NDArray[Any] | RefbrowserError
#: Bytes of a part that are asked for in one range.
MOST_ASKED = 32 * 1024 * 1024
#: Parts of more bytes are not kept: they would push out the rest.
KEPT = 4 * 1024 * 1024
#: Told what was read: bytes and requests.
Told = Callable[[int, int], None]


@dataclass(slots=True, eq=False)
class SessionBuffers:
    """Reads buffers of one opened file (`BufferReader`).

    Attributes
    ----------
    token
        Ends every read.
    export
        Try failing requests longer, and keep nothing.
    priority
        Lower goes first.
    told
        Is told of bytes and requests, as they come.
    """

    resources: Resources
    access: Access
    token: CancelToken
    export: bool = False
    priority: int = 0
    told: Told | None = None

    def read_all(self, parts: Sequence[BufferPart]) -> list[Answer]:
        """Return the elements of each part, or why they cannot be read."""
        self.token.check()
        answers: list[Answer | None] = [None] * len(parts)
        plain, packed = list[int](), dict[int, list[int]]()
        for at, part in enumerate(parts):
            if not part.nbytes:
                answers[at] = _elements(part.buffer, np.zeros(0, np.uint8), part.stop - part.start)
            elif is_long(part.buffer):
                answers[at] = self._read_long(part)
            elif part.buffer.codecs:
                packed.setdefault(id(part.buffer), []).append(at)
            else:
                plain.append(at)
        self._read_plain(parts, plain, answers)
        self._read_packed(parts, list(packed.values()), answers)
        return [_answered(answer) for answer in answers]

    # Stored as they are: any part alone

    def _read_plain(self, parts: Sequence[BufferPart], rows: list[int], answers: list[Answer | None]) -> None:
        asked, ranges = list[_Asked](), list[ByteRange]()
        for at in rows:
            reference = _range_of(parts[at])
            kept = self._kept(reference, ())
            if kept is not None:
                answers[at] = _elements(parts[at].buffer, kept)
            elif isinstance(reference, RefbrowserError):
                answers[at] = reference
            elif isinstance(reference, Inline):
                answers[at] = _elements(parts[at].buffer, np.frombuffer(reference.data, np.uint8))
            else:
                room = np.empty(reference.length, np.uint8)
                answers[at] = room  # until all of it has come
                for start in range(0, reference.length, MOST_ASKED):
                    length = min(MOST_ASKED, reference.length - start)
                    ranges.append(ByteRange(reference.url, reference.offset + start, length))
                    asked.append(_Asked(at, room[start : start + length]))
        if not asked:
            return
        self._fetch(ranges, asked, answers)
        for at in dict.fromkeys(each.row for each in asked):
            answer = answers[at]
            if isinstance(answer, np.ndarray):
                self._keep(_range_of(parts[at]), (), answer)
                answers[at] = _elements(parts[at].buffer, answer)
            elif answer is not None:
                answers[at] = _named(answer, parts[at].buffer)

    def _fetch(self, ranges: list[ByteRange], asked: Sequence[_Asked], answers: list[Answer | None]) -> None:
        def deliver(position: int, data: memoryview | RefbrowserError) -> None:
            each = asked[position]
            if isinstance(data, RefbrowserError):
                answers[each.row] = data
                return
            if data.obj is not each.room.data.obj:
                each.room[:] = np.frombuffer(data, np.uint8)
            self._tell(len(data), 0)

        counters = fetch_rows(
            self.resources.fetcher,
            columns_of(ranges),
            self.access,
            deliver,
            cancel=self.token,
            destination=lambda position: asked[position].room.data,
            export=self.export,
            priority=self.priority,
        )
        self._tell(0, counters.requests)

    # Packed, and too long to be held: decoded in parts

    def _read_long(self, part: BufferPart) -> Answer:
        buffer, reference = part.buffer, stored_range(part.buffer)
        assert reference is not None

        def fetch(start: int, size: int) -> bytes:
            wanted = ByteRange(reference.url, reference.offset + start, size)
            row = np.empty(size, np.uint8)
            found: list[Answer | None] = [row]
            self._fetch([wanted], [_Asked(0, row)], found)
            if isinstance(found[0], RefbrowserError):
                raise _named(found[0], buffer)
            return row.tobytes()

        try:
            url = self.access.resolve(reference.url).url
            key = (self.access.scope, url, reference.offset, reference.length, buffer.codecs)
            blob = long_blobs(self.resources).of(key, buffer, reference.length)
            start = buffer.offset + part.start * buffer.dtype.itemsize
            return _elements(buffer, blob.read(start, start + part.nbytes, fetch, self.token))
        except RefbrowserError as error:
            return error

    # Packed: decoded whole

    def _read_packed(
        self, parts: Sequence[BufferPart], groups: list[list[int]], answers: list[Answer | None]
    ) -> None:
        missing = []
        for rows in groups:
            buffer = parts[rows[0]].buffer
            kept = self._kept(buffer.reference, _how(buffer))
            if kept is None:
                missing.append(rows)
            else:
                _cut(parts, rows, kept, answers)
        if not missing:
            return
        buffers = [parts[rows[0]].buffer for rows in missing]
        queue = self.resources.pool.queue(self.token)

        def decode(at: int, data: memoryview) -> None:
            try:
                decoded = unpacked(buffers[at], data)
                self._keep(buffers[at].reference, _how(buffers[at]), decoded)
                _cut(parts, missing[at], decoded, answers)
            except RefbrowserError as error:
                self._failed(missing[at], error, answers)

        def deliver(at: int, data: memoryview | RefbrowserError) -> None:
            if isinstance(data, RefbrowserError):
                self._failed(missing[at], _named(data, buffers[at]), answers)
                return
            self._tell(len(data), 0)
            queue.put(lambda: decode(at, data), len(data) + buffers[at].offset + buffers[at].nbytes)

        asked: list[Reference] = []
        for at, buffer in enumerate(buffers):
            if isinstance(buffer.reference, Inline):
                deliver(at, memoryview(buffer.reference.data))
            asked.append(Missing() if isinstance(buffer.reference, Inline) else buffer.reference)
        counters = fetch_rows(
            self.resources.fetcher,
            columns_of(asked),
            self.access,
            deliver,
            cancel=self.token,
            export=self.export,
            priority=self.priority,
        )
        queue.join()
        self._tell(0, counters.requests)

    @staticmethod
    def _failed(rows: list[int], error: RefbrowserError, answers: list[Answer | None]) -> None:
        for at in rows:
            answers[at] = error

    def _tell(self, size: int, requests: int) -> None:
        if self.told is not None:
            self.told(size, requests)

    # What was read before

    def _key(self, reference: Reference | RefbrowserError, how: tuple[Any, ...]) -> Hashable | None:
        """Return the cache key of bytes that may be read; permission is asked before the cache is."""
        if self.export or not isinstance(reference, ByteRange | WholeFile):
            return None
        try:
            url = self.access.resolve(reference.url).url
        except RefbrowserError:
            return None
        extent = (reference.offset, reference.length) if isinstance(reference, ByteRange) else (0, -1)
        return (self.access.scope, url, *extent, how, "buffer")

    def _kept(self, reference: Reference | RefbrowserError, how: tuple[Any, ...]) -> npt.NDArray[Any] | None:
        key = self._key(reference, how)
        return None if key is None else self.resources.cache.get(key)

    def _keep(
        self, reference: Reference | RefbrowserError, how: tuple[Any, ...], data: npt.NDArray[Any]
    ) -> None:
        key = self._key(reference, how) if how or data.nbytes <= KEPT else None
        if key is not None:
            self.resources.cache.put(key, data)


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Where bytes that are asked for belong: the part, and its room."""

    row: int
    room: npt.NDArray[np.uint8]


def _how(buffer: Buffer) -> tuple[Any, ...]:
    """Return what the decoded bytes of a buffer depend on beside the stored ones."""
    return (*buffer.codecs, buffer.offset + buffer.nbytes)


def _range_of(part: BufferPart) -> ByteRange | Inline | RefbrowserError:
    """Return where the elements of a part lie that are stored as they are."""
    buffer = part.buffer
    first = buffer.offset + part.start * buffer.dtype.itemsize
    reference = buffer.reference
    length = len(reference.data) if isinstance(reference, Inline) else None
    if isinstance(reference, ByteRange):
        length = reference.length
    if length is not None and first + part.nbytes > length:
        message = f"its elements take {first + part.nbytes} bytes, and there are {length}"
        return _named(RefbrowserError(ErrorKind.RANGE, message), buffer)
    if isinstance(reference, Inline):
        return Inline(reference.data[first : first + part.nbytes])
    if isinstance(reference, Missing):
        return _named(RefbrowserError(ErrorKind.SOURCE, "its bytes are missing"), buffer)
    start = reference.offset if isinstance(reference, ByteRange) else 0
    return ByteRange(reference.url, start + first, part.nbytes)


def _named(error: RefbrowserError, buffer: Buffer) -> RefbrowserError:
    return error if error.place else error.at(buffer.place)


def _elements(buffer: Buffer, data: npt.NDArray[Any], count: int | None = None) -> npt.NDArray[Any]:
    """Return bytes as elements; `count` tells how many there are of no size."""
    base, inner = buffer.dtype.base, buffer.dtype.shape
    if count is not None:
        return np.zeros((count, *inner), base)
    return data.view(base).reshape(-1, *inner)


def _cut(
    parts: Sequence[BufferPart], rows: list[int], decoded: npt.NDArray[Any], answers: list[Answer | None]
) -> None:
    for at in rows:
        part = parts[at]
        first = part.buffer.offset + part.start * part.buffer.dtype.itemsize
        answers[at] = _elements(part.buffer, decoded[first : first + part.nbytes])


def _answered(answer: Answer | None) -> Answer:
    assert answer is not None
    return answer
