"""Memory that is used again: touching pages that are new costs more than the bytes that come into them."""

from __future__ import annotations

import mmap
import threading

Buffer = bytes | memoryview

#: Smaller ones are taken as any object is: the allocator keeps such memory itself.
_SMALL = 128 * 1024
#: Bytes that wait to be used again, at most.
_KEPT = 160 * 1024 * 1024


class _Pages(mmap.mmap):
    """Memory whose pages are there once they are touched; told from any other by its type."""


class Buffers:
    """The memory of one export for what is large and soon done; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[_Pages] = []

    def take(self, size: int) -> memoryview:
        """Return memory of `size` bytes that nobody else uses, with anything in it."""
        if size < _SMALL:
            return memoryview(bytearray(size))
        with self._lock:
            fitting = [pages for pages in self._free if size <= len(pages) <= 2 * size]
            found = min(fitting, key=len, default=None)
            if found is not None:
                self._free.remove(found)
        return memoryview(found if found is not None else _Pages(-1, size))[:size]

    def give(self, buffer: Buffer) -> None:
        """Let memory that `take` gave be used again, by any view of it; anything else is left alone.

        Nobody may use it any more.
        """
        pages = buffer.obj if isinstance(buffer, memoryview) else None
        if isinstance(pages, _Pages):
            with self._lock:
                self._free.append(pages)
                while sum(map(len, self._free)) > _KEPT:
                    self._free.pop(0)
