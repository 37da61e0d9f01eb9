"""Bytes put together from stretches of a stream and bytes of one's own, without being copied."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from refbrowser.exporting.streams.stream_bytes import BLOCK
from refbrowser.formats.ncstream.bytes import ByteSource
from refbrowser.io.cancel import CancelToken

#: A stretch of the source as its first byte and the one behind its last, or bytes.
Part = tuple[int, int] | bytes


class Spliced:
    """Parts one after the other, read like a file.

    Parameters
    ----------
    source
        What the stretches are of.
    """

    def __init__(self, source: ByteSource, parts: Sequence[Part]) -> None:
        self._source = source
        self._parts = [part for part in parts if _size(part)]
        self._starts = [0, *accumulate(map(_size, self._parts))]

    @property
    def size(self) -> int:
        """Bytes in all."""
        return self._starts[-1]

    @property
    def near(self) -> int:
        """Bytes that are rather read than jumped over."""
        return self._source.near

    def read(self, offset: int, length: int) -> bytes | memoryview:
        """Return bytes from `offset` on; fewer only at the end."""
        stop = min(offset + length, self.size)
        pieces = []
        at = bisect_right(self._starts, offset) - 1
        while offset < stop:
            inside = offset - self._starts[at]
            count = min(stop, self._starts[at + 1]) - offset
            pieces.append(self._piece(self._parts[at], inside, count))
            offset += count
            at += 1
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _piece(self, part: Part, offset: int, length: int) -> bytes | memoryview:
        if isinstance(part, bytes):
            return part[offset : offset + length]
        return self._source.read(part[0] + offset, length)

    def blocks(self, token: CancelToken) -> Iterator[bytes | memoryview]:
        """Yield all of it, some megabytes at a time.

        Raises
        ------
        Cancelled
            `token` was cancelled.
        """
        for start in range(0, self.size, BLOCK):
            token.check()
            yield self.read(start, BLOCK)


def _size(part: Part) -> int:
    return len(part) if isinstance(part, bytes) else part[1] - part[0]
