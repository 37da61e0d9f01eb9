"""Blobs while they grow, and where they go when they are whole."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

#: Bytes that are taken from a spool at once.
PORTION = 4 * 1024 * 1024

#: Opens an empty file that can be written, and read again; it is gone when it is closed.
OpenSpool = Callable[[], BinaryIO]


class Sink(Protocol):
    """A container that is being written: named blobs, each once."""

    def put(self, name: str, pieces: Iterable[bytes], most: int) -> None:
        """Write a blob whole.

        Parameters
        ----------
        most
            No more bytes than these.

        Raises
        ------
        OSError
            It cannot be written.
        """
        ...


class MemorySink(dict[str, bytes]):
    """A mapping of names to bytes."""

    def put(self, name: str, pieces: Iterable[bytes], most: int) -> None:
        """Keep a blob."""
        self[name] = b"".join(pieces)


@dataclass(frozen=True, slots=True)
class PutBlob:
    """What was put: to be found again.

    Attributes
    ----------
    crc
        CRC-32 of the bytes as they were put.
    """

    name: str
    size: int
    crc: int


class Recorder:
    """A sink that hands on to another one, and takes note of what it was given."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.blobs: list[PutBlob] = []

    def put(self, name: str, pieces: Iterable[bytes], most: int) -> None:
        """Write a blob whole."""
        size = crc = 0

        def noted() -> Iterator[bytes]:
            nonlocal size, crc
            for piece in pieces:
                size, crc = size + len(piece), zlib.crc32(piece, crc)
                yield piece

        self._sink.put(name, noted(), most)
        self.blobs.append(PutBlob(name, size, crc))


class GrowingBlob:
    """Bytes that are added piece by piece, on disk where they are many."""

    def __init__(self, open_spool: OpenSpool) -> None:
        self._open = open_spool
        self._spool: BinaryIO | None = None
        self.size = 0

    def add(self, values: npt.NDArray[Any]) -> None:
        """Add the elements of an array in C order."""
        if values.dtype.itemsize and values.size:
            data = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
            if self._spool is None:
                self._spool = self._open()
            self._spool.write(data)
            self.size += len(data)

    def pieces(self) -> Iterator[bytes]:
        """Yield all bytes from the start."""
        if self._spool is not None:
            self._spool.seek(0)
            while piece := self._spool.read(PORTION):
                yield piece
