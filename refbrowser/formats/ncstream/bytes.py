"""The bytes of a stream wherever it lies, a window that moves over them, and the varints of the framing."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.ncstream.messages import FaultCode, FramingError
from refbrowser.io.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetch import Fetcher
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.local import open_regular, read_exactly
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceColumns, ReferenceKind


class ByteSource(Protocol):
    """Bytes that are read by ranges."""

    @property
    def size(self) -> int:
        """Bytes in all."""
        ...

    @property
    def near(self) -> int:
        """Bytes that are rather read than jumped over."""
        ...

    def read(self, offset: int, length: int) -> bytes | memoryview:
        """Return `length` bytes from byte `offset` on; fewer only at the end."""
        ...


class MemoryBytes:
    """Bytes that are in memory, as the answer of a server."""

    near = 16 << 10

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data).cast("B")

    @property
    def size(self) -> int:
        """Bytes in all."""
        return len(self._data)

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes from `offset` on."""
        return bytes(self._data[offset : offset + length])


class LocalBytes:
    """A regular file, open until `close`: its size is that of the moment at which it was opened.

    Raises
    ------
    RefbrowserError
        `E_IO`: it cannot be opened; `E_UNSAFE`: it is not a regular file.
    """

    near = 16 << 10

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.realpath(path)
        self._open = ExitStack()
        self._descriptor, self.identity = self._open.enter_context(open_regular(self.path))

    @property
    def size(self) -> int:
        """Bytes in all."""
        return self.identity.size

    def read(self, offset: int, length: int) -> bytes | memoryview:
        """Return bytes from `offset` on."""
        length = max(min(length, self.size - offset), 0)
        try:
            if hasattr(os, "pread"):
                data = os.pread(self._descriptor, length, offset)
                if len(data) == length:
                    return data
            # A call may bring less than was asked for; Windows has no such call.
            room = memoryview(bytearray(length))
            return room[: read_exactly(self._descriptor, [room], offset)]
        except OSError as error:
            message = f"the file cannot be read: {error.strerror}"
            place = Place(url=self.path, start=offset, stop=offset + length)
            raise RefbrowserError(ErrorKind.IO, message, place) from error

    def has_changed(self) -> bool:
        """Return whether the open file is another than it was, in size or time."""
        return FileIdentity.of(os.fstat(self._descriptor)) != self.identity

    def close(self) -> None:
        """Close the file."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class RemoteBytes:
    """An object of a server or object store; one whose size is not told is read whole, up to a limit.

    Parameters
    ----------
    url
        As `access` resolves it.

    Raises
    ------
    RefbrowserError
        It may not or cannot be read, or is too large to be read whole where that is needed.
    Cancelled
        `token` was cancelled; `read` raises it too.
    """

    #: A request takes as long as so many bytes of the one before.
    near = 1 << 20

    def __init__(self, url: str, access: Access, fetcher: Fetcher, token: CancelToken | None = None) -> None:
        self.url = url
        self._access = access
        self._fetcher = fetcher
        self._token = token
        self._whole: memoryview | None = None
        self._size = self._learn_size()

    @property
    def size(self) -> int:
        """Bytes in all."""
        return self._size

    @property
    def identity(self) -> ObjectIdentity | None:
        """What the server told of the state of the object."""
        return self._access.memory.identities.known(self._access.locate(self.url).url)

    def read(self, offset: int, length: int) -> bytes | memoryview:
        """Return bytes from `offset` on.

        Raises
        ------
        RefbrowserError
            They cannot be read.
        Cancelled
            The token was cancelled.
        """
        length = max(min(length, self._size - offset), 0)
        if self._whole is not None or not length:
            return (self._whole or memoryview(b""))[offset : offset + length]
        return self._fetch(ReferenceKind.RANGE, offset, length)

    def _learn_size(self) -> int:
        try:
            # Asking for any byte tells the size, where the server tells it at all.
            self._fetch(ReferenceKind.RANGE, 0, 1)
            known = self.identity
            if known is not None and known.total is not None:
                return known.total
        except RefbrowserError as error:
            # Empty, or without ranges and larger than what is cut: a request for all of it decides.
            if error.kind not in (ErrorKind.RANGE, ErrorKind.SOURCE):
                raise
        self._whole = self._fetch(ReferenceKind.WHOLE, 0, -1)
        return len(self._whole)

    def _fetch(self, kind: ReferenceKind, offset: int, length: int) -> memoryview:
        columns = ReferenceColumns(
            kind=np.array([kind], np.uint8),
            url=np.zeros(1, np.int32),
            offset=np.array([offset], np.int64),
            length=np.array([length], np.int64),
            urls=(self.url,),
        )
        found: list[Any] = []
        self._fetcher.fetch(
            self._fetcher.plan(columns, self._access),
            self._access,
            lambda _, data: found.append(data),
            cancel=self._token,
            size_limit=LIMITS.chunk_size,
        )
        if isinstance(found[0], RefbrowserError):
            raise found[0].at(replace(found[0].place, url=found[0].place.url or self.url))
        return memoryview(found[0])


#: Bytes of the longest varint: 64 bits.
LONGEST = 10
_LARGEST = (1 << 64) - 1


class VarintError(ValueError):
    """Bytes that are no varint of at most 64 bits."""


class ShortVarintError(VarintError):
    """The bytes end within a varint."""


def read_varint(data: bytes | memoryview, at: int = 0) -> tuple[int, int]:
    """Return the varint at position `at`, and the position behind it (wire notes, section 1).

    Padded forms (``85 80 00`` for 5) are legal.

    Raises
    ------
    ShortVarintError
        `data` ends within it.
    VarintError
        It has more than 10 bytes or 64 bits.
    """
    value = 0
    for number in range(LONGEST):
        if at + number >= len(data):
            raise ShortVarintError("the bytes end within a varint")
        byte = data[at + number]
        value |= (byte & 0x7F) << (7 * number)
        if byte < 0x80:
            if value > _LARGEST:
                raise VarintError("a varint of more than 64 bits")
            return value, at + number + 1
    raise VarintError(f"a varint of more than {LONGEST} bytes")


def write_varint(value: int) -> bytes:
    """Return the shortest varint of a number of at most 64 bits."""
    if not 0 <= value <= _LARGEST:
        raise ValueError(f"{value} is no unsigned number of 64 bits")
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


#: Bytes that are read at once: few after a jump, more while messages follow each other closely.
_LEAST, _MOST = 16 << 10, 4 << 20


class Window:
    """Bytes of a source around the position of the walk.

    Attributes
    ----------
    data, base
        The bytes that are in memory, and where they begin in the file.
    size
        Bytes of the file.
    spent
        Bytes that were asked for so far, those in memory already too: what work on them is bounded by.
    """

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._near = source.near
        self._block = _LEAST
        self.size = source.size
        self.data: bytes = b""
        self.base = 0
        self.spent = 0

    def load(self, offset: int, length: int) -> int:
        """Have bytes from `offset` on in memory, fewer at the end only; return where they begin in `data`."""
        self.spent += length
        at = offset - self.base
        if at >= 0 and (at + length <= len(self.data) or self.base + len(self.data) >= self.size >= offset):
            return at
        # Jumps over large payloads, whose bytes nobody wants, are no walk from message to message.
        follows = 0 <= at <= len(self.data) + self._near
        self._block = min(2 * self._block, _MOST) if follows else _LEAST
        self.data = bytes(self._source.read(offset, max(length, self._block)))
        self.base = offset
        return 0

    def bytes_at(self, offset: int, length: int) -> bytes:
        """Return bytes, fewer at the end only."""
        at = self.load(offset, length)
        return self.data[at : at + length]

    def varint(self, offset: int) -> tuple[int, int]:
        """Return the varint at `offset`, and the offset behind it.

        Raises
        ------
        FramingError
            The file ends within it, or it is none.
        """
        at = self.load(offset, LONGEST)
        try:
            value, end = read_varint(self.data, at)
        except ShortVarintError:
            raise FramingError(FaultCode.TRUNCATED, "the stream ends within a length") from None
        except VarintError as error:
            raise FramingError(FaultCode.BAD_VARINT, str(error)) from None
        return value, self.base + end
