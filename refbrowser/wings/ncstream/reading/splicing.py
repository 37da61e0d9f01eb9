"""The bytes of a stream, opened to be copied; ranges of them and bytes of one's own, read as one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate

from refbrowser.io.access.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import ByteSource, LocalBytes, RemoteBytes
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.origins import local_path

#: Bytes that are read at once.
PORTION = 8 << 20


@contextmanager
def opened_bytes(
    path: str, access: Access, fetcher: Fetcher, token: CancelToken | None = None
) -> Iterator[ByteSource]:
    """Open a local file, or an object at a URL.

    Raises
    ------
    RefbrowserError
        It cannot be opened.
    """
    local = local_path(path)
    if local is None:
        yield RemoteBytes(path, access, fetcher, token)
        return
    with LocalBytes(local) as source:
        yield source


def copied(source: ByteSource, start: int, stop: int) -> Iterator[bytes | memoryview]:
    """Yield a range of a source, some megabytes at a time."""
    for offset in range(start, stop, PORTION):
        yield source.read(offset, min(PORTION, stop - offset))


#: A range of the source as its first byte and the one behind its last, or bytes.
Part = tuple[int, int] | bytes


class Spliced:
    """Parts one after the other, read like a file.

    Parameters
    ----------
    source
        What the ranges are of.
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
        portions = []
        at = bisect_right(self._starts, offset) - 1
        while offset < stop:
            inside = offset - self._starts[at]
            count = min(stop, self._starts[at + 1]) - offset
            portions.append(self._portion(self._parts[at], inside, count))
            offset += count
            at += 1
        return portions[0] if len(portions) == 1 else b"".join(portions)

    def _portion(self, part: Part, offset: int, length: int) -> bytes | memoryview:
        if isinstance(part, bytes):
            return part[offset : offset + length]
        return self._source.read(part[0] + offset, length)

    def blocks(self, token: CancelToken) -> Iterator[bytes | memoryview]:
        """Yield all of it, some megabytes at a time."""
        for start in range(0, self.size, PORTION):
            token.check()
            yield self.read(start, PORTION)


def _size(part: Part) -> int:
    return len(part) if isinstance(part, bytes) else part[1] - part[0]
