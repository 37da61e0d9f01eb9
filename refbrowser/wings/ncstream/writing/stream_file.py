"""A file of messages being written, and what was written to it, so that it can be compared."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from refbrowser.io.files.atomic import Flushing
from refbrowser.wings.ncstream.writing.encoding import Buffer, crc32_of

#: Bytes that are read at once when they are compared.
_PORTION = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A range of the file with its CRC-32; of a box within a region, that of its elements in C order."""

    offset: int
    length: int
    crc32: int
    region: Region | None = None
    box: tuple[slice, ...] = ()


@dataclass(slots=True)
class WrittenMessage:
    """One message, as it must be found when the file is walked.

    Attributes
    ----------
    path
        Of the variable; empty of a header.
    section
        None where the message has none.
    payload_offset, payload_length
        As in `refbrowser.wings.ncstream.reading.messages.MessageTable`.
    parts
        Ranges that cover it, but for what stands in `head`.
    """

    offset: int
    path: str = ""
    section: tuple[range, ...] | None = None
    stop: int = 0
    payload_offset: int = 0
    parts: list[WrittenPart] = field(default_factory=list)

    @property
    def payload_length(self) -> int:
        """Bytes behind the protobuf message."""
        return self.stop - self.payload_offset


@dataclass(frozen=True, slots=True)
class Region:
    """Room for the elements of one payload, which are written in any order."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def mapped(self, file: BinaryIO) -> npt.NDArray[Any]:
        """Return the elements in the file."""
        return np.memmap(file, self.dtype, "r+", self.offset, self.shape)


class StreamFile:
    """Appends to a file, and notes what it writes.

    Raises
    ------
    OSError
        From any method: the file cannot be written.
    """

    #: Bytes that are rather read than jumped over when it is walked.
    near = 16 << 10

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = 0
        self.messages: list[WrittenMessage] = []
        self._descriptor = file.fileno()
        self._flushing: Flushing | None = None

    @contextmanager
    def flushed(self) -> Iterator[None]:
        """Have the disk write what comes meanwhile, beside."""
        with Flushing(self._descriptor) as self._flushing:
            yield
        self._flushing = None

    def append(self, buffers: Iterable[Buffer]) -> None:
        """Write bytes at the end."""
        for buffer in buffers:
            self.size += self.put(self.size, buffer)

    def put(self, offset: int, data: Buffer) -> int:
        """Write bytes anywhere; returns how many."""
        left = memoryview(data).cast("B")
        size = len(left)
        while left:
            count = os.pwrite(self._descriptor, left, offset)
            left, offset = left[count:], offset + count
        if self._flushing is not None:
            self._flushing.written(size)
        return size

    def begin(self, path: str, section: tuple[range, ...] | None, head: Sequence[Buffer]) -> WrittenMessage:
        """Begin a message with what stands before its payload; `end` ends it."""
        message = WrittenMessage(self.size, path, section)
        self.append(head)
        message.payload_offset = self.size
        self.messages.append(message)
        return message

    def add(self, message: WrittenMessage, data: Buffer) -> None:
        """Write some of the payload of the message that was begun last."""
        message.parts.append(WrittenPart(self.size, len(memoryview(data).cast("B")), crc32_of(data)))
        self.append((data,))

    def end(self, message: WrittenMessage) -> None:
        """End a message."""
        message.stop = self.size

    def whole(
        self, path: str, section: tuple[range, ...] | None, head: Sequence[Buffer], payload: Iterable[Buffer]
    ) -> WrittenMessage:
        """Write a message."""
        message = self.begin(path, section, head)
        for data in payload:
            self.add(message, data)
        self.end(message)
        return message

    def room(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Region:
        """Leave room for elements at the end, to be filled."""
        region = Region(self.size, shape, dtype)
        self.size += int(np.prod(shape, dtype=object)) * dtype.itemsize
        return region

    def allocate(self) -> None:
        """Let the disk hold what room was left for: a mapped page that it cannot hold ends the process."""
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._descriptor, 0, self.size)
        else:
            os.ftruncate(self._descriptor, self.size)

    def fill(self, message: WrittenMessage, region: Region, box: tuple[slice, ...], data: Buffer) -> None:
        """Write the elements of a box of a region, in C order and the region's type."""
        start, length, sum_ = _start(region, box), len(data), crc32_of(data)
        if start is not None:
            offset = region.offset + start * region.dtype.itemsize
            self.put(offset, data)
            message.parts.append(WrittenPart(offset, length, sum_))
            return
        values = np.frombuffer(data, region.dtype).reshape([part.stop - part.start for part in box])
        region.mapped(self.file)[box] = values
        message.parts.append(WrittenPart(region.offset, length, sum_, region, box))

    def sum_of(self, message: WrittenMessage) -> int:
        """Return the CRC-32 of the payload of a message, which is read again."""
        return self._sum(message.payload_offset, message.stop)

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes that were written; fewer where the file ends."""
        return os.pread(self._descriptor, length, offset)

    def holds(self, part: WrittenPart) -> bool:
        """Tell whether a range of the file is what was written there."""
        if part.region is not None:
            found = np.ascontiguousarray(part.region.mapped(self.file)[part.box])
            return crc32_of(found.reshape(-1).view(np.uint8).data) == part.crc32
        return self._sum(part.offset, part.offset + part.length) == part.crc32

    def _sum(self, offset: int, stop: int) -> int:
        value = 0
        while offset < stop:
            data = os.pread(self._descriptor, min(_PORTION, stop - offset), offset)
            if not data:
                raise OSError("the file is shorter than what was written")
            value, offset = crc32_of(data, value), offset + len(data)
        return value


def _start(region: Region, box: tuple[slice, ...]) -> int | None:
    """Return the number of the first element of a box whose elements follow each other, else None."""
    start, is_cut = 0, False
    for part, length in zip(reversed(box), reversed(region.shape), strict=True):
        if is_cut and part.stop - part.start != 1:
            return None
        is_cut = is_cut or part.stop - part.start != length
    for part, length in zip(box, region.shape, strict=True):
        start = start * length + part.start
    return start
