"""The text of a document, held in memory: plain while it is small, in compressed blocks when it is large.

A document of a million references is some 80 MB of JSON that compresses ten times and more. Held so, its text
costs less than its columns do, every span can be read again at any time, and nothing depends on a file that
somebody may overwrite or cut short.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

#: Bytes of text in one compressed block: small enough to be unpacked for one value (0.2 ms).
BLOCK_SIZE = 256 * 1024
#: Text up to this many bytes is held plain.
PLAIN_SIZE = 4 * 1024 * 1024
#: Blocks that are kept unpacked.
_RECENT = 8
#: The fastest level of zstd that still finds the repetition of keys and URLs.
LEVEL = 1


class DocumentText:
    """Bytes with random access; immutable.

    Parameters
    ----------
    data
        The text, or its compressed blocks one after the other.
    starts, cuts
        Where each block begins in the text, and where it ends in `data`; none where `data` is plain.
    size
        Bytes of text.
    """

    __slots__ = ("_cuts", "_data", "_recent", "_starts", "size")

    def __init__(
        self, data: bytes, starts: tuple[int, ...] = (), cuts: tuple[int, ...] = (), size: int | None = None
    ) -> None:
        self._data = data
        self._starts = starts
        self._cuts = cuts
        self.size = len(data) if size is None else size
        self._recent: dict[int, bytes] = {}

    @classmethod
    def of(cls, data: bytes) -> DocumentText:
        """Return the text `data`."""
        builder = TextBuilder()
        builder.append(data)
        return builder.finish()

    @property
    def held(self) -> int:
        """Bytes of memory that the text takes, without the few blocks kept unpacked."""
        return len(self._data)

    def _unpack(self, number: int) -> bytes:
        stop = self._starts[number + 1] if number + 1 < len(self._starts) else self.size
        packed = memoryview(self._data)[self._cuts[number - 1] if number else 0 : self._cuts[number]]
        from refbrowser.zstd import ZstdDecompressor

        unpacked: bytes = ZstdDecompressor().decompress(packed, stop - self._starts[number])
        return unpacked

    def _unpacked(self, number: int) -> bytes:
        """Return a block, kept for a while: neighbours are mostly asked for together."""
        block = self._recent.get(number)
        if block is None:
            block = self._unpack(number)
            if len(self._recent) >= _RECENT:
                self._recent = {}
            self._recent[number] = block
        return block

    def read(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop`."""
        if not self._starts:
            return self._data[start:stop]
        number = bisect_right(self._starts, start) - 1
        first = self._starts[number]
        portion = self._unpacked(number)[start - first : stop - first]
        if len(portion) == stop - start or number + 1 == len(self._starts):
            return portion
        return b"".join(self.chunks(start, stop))

    def chunks(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` to `stop` in portions of bounded size."""
        stop = self.size if stop is None else min(stop, self.size)
        if not self._starts:
            if start < stop:
                yield self._data[start:stop]
            return
        number = max(bisect_right(self._starts, start) - 1, 0)
        while start < stop:
            first = self._starts[number]
            portion = self._unpack(number)[start - first : stop - first]
            yield portion
            start += len(portion)
            number += 1


class TextBuilder:
    """Takes the text portion by portion, so that the whole of a large one is never in memory."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._packed = bytearray()
        self._starts: list[int] = []
        self._cuts: list[int] = []
        self._size = 0
        self._compressor: Any = None

    def append(self, portion: bytes) -> None:
        """Add the bytes that follow."""
        if not portion:
            return
        self._pending.append(portion)
        self._size += len(portion)
        if self._size > PLAIN_SIZE:
            self._pack(everything=False)

    def _pack(self, everything: bool) -> None:
        if self._compressor is None:
            from refbrowser.zstd import ZstdCompressor

            self._compressor = ZstdCompressor(LEVEL)
        data = b"".join(self._pending)
        start = self._size - len(data)
        whole = len(data) if everything else len(data) - len(data) % BLOCK_SIZE
        for cut in range(0, whole, BLOCK_SIZE):
            # All blocks in one growing array: small ones between the scanner's large temporary arrays would
            # keep the memory of those from being used again.
            block = data[cut : min(cut + BLOCK_SIZE, whole)]
            self._packed += self._compressor.compress(block, self._compressor.FLUSH_FRAME)
            self._starts.append(start + cut)
            self._cuts.append(len(self._packed))
        self._pending = [data[whole:]] if whole < len(data) else []

    def finish(self) -> DocumentText:
        """Return the text that was added."""
        if self._size <= PLAIN_SIZE:
            return DocumentText(b"".join(self._pending))
        self._pack(everything=True)
        return DocumentText(bytes(self._packed), tuple(self._starts), tuple(self._cuts), self._size)


def locate(chunks: Iterable[bytes], positions: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return line and column of byte positions in a text given in portions.

    Lines and columns count from 1, columns in characters. One pass over the text for any number of positions.
    """
    wanted = sorted(set(positions))
    found: dict[int, tuple[int, int]] = {}
    start = 0
    line = 1
    before = 0  # characters of the current line that stand in earlier portions
    index = 0
    for chunk in chunks:
        at = 0
        while index < len(wanted) and wanted[index] < start + len(chunk):
            position = wanted[index] - start
            line, before = _advance(chunk, at, position, line, before)
            at = position
            found[wanted[index]] = (line, before + 1)
            index += 1
        if index == len(wanted):
            break
        line, before = _advance(chunk, at, len(chunk), line, before)
        start += len(chunk)
    for position in wanted[index:]:
        found[position] = (line, before + 1)
    return found


def _advance(chunk: bytes, start: int, stop: int, line: int, before: int) -> tuple[int, int]:
    lines = chunk.count(b"\n", start, stop)
    if lines:
        line += lines
        before = 0
        start = chunk.rfind(b"\n", start, stop) + 1
    rest = chunk[start:stop]
    continuation = 0 if rest.isascii() else sum(0x80 <= byte < 0xC0 for byte in rest)
    return line, before + len(rest) - continuation
