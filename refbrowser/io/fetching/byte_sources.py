"""Bytes that are read by ranges, wherever they lie: in memory, in a file, at a server or object store."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.access.local_files import open_regular, read_exactly
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.plan import Link, plan_ranges
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

#: Bytes at the beginning of what is not on this machine that are read to learn what it is.
FIRST = 1 << 20


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
    first
        Bytes at its beginning that are surely wanted: the request that learns the size brings them.
    link
        How reads are cut into requests; by what is known of the host when None.

    Raises
    ------
    RefbrowserError
        It may not or cannot be read, or is too large to be read whole where that is needed.
    Cancelled
        `token` was cancelled; `read` raises it too.
    """

    #: A request takes as long as so many bytes of the one before.
    near = 1 << 20

    def __init__(
        self,
        url: str,
        access: Access,
        fetcher: Fetcher,
        token: CancelToken | None = None,
        *,
        first: int = 1,
        link: Link | None = None,
    ) -> None:
        self.url = url
        self._link = link
        self.access = access
        self._fetcher = fetcher
        self._token = token
        #: The bytes at its beginning that are known: all of them where it was read whole.
        self._head = memoryview(b"")
        self._ahead: dict[int, bytes] = {}
        #: Called before the first read of what is not known, which may be of more than one run of bytes.
        self.at_first: Callable[[], None] | None = None
        self._size = self._learn_size(first)

    @property
    def size(self) -> int:
        """Bytes in all."""
        return self._size

    @property
    def identity(self) -> ObjectIdentity | None:
        """What the server told of the state of the object."""
        return self.access.memory.identities.known(self.access.locate(self.url).url)

    def read(self, offset: int, length: int) -> bytes | memoryview:
        """Return bytes from `offset` on.

        Raises
        ------
        RefbrowserError
            They cannot be read.
        """
        length = max(min(length, self._size - offset), 0)
        if offset + length <= len(self._head) or not length:
            return self._head[offset : offset + length]
        if self.at_first is not None:
            prepare, self.at_first = self.at_first, None
            prepare()
        known = self._ahead.get(offset, b"")
        return known[:length] if length <= len(known) else self._fetch(ReferenceKind.RANGE, offset, length)

    def read_ahead(self, offsets: Sequence[int], length: int) -> None:
        """Ask together for bytes that will be read one after the other, and keep them in the place of others.

        What cannot be read now is left to `read`.

        Parameters
        ----------
        offsets
            Where reads will begin.
        length
            Of each, at most.
        """
        self._ahead = {}
        wanted = sorted({each for each in offsets if len(self._head) < each + length and each < self._size})
        if not wanted:
            return
        starts = np.array(wanted, np.int64)
        columns = ReferenceColumns(
            kind=np.full(len(wanted), ReferenceKind.RANGE, np.uint8),
            url=np.zeros(len(wanted), np.int32),
            offset=starts,
            length=np.minimum(starts + length, self._size) - starts,
            urls=(self.url,),
        )

        def keep(row: int, data: Any) -> None:
            if not isinstance(data, RefbrowserError):
                self._ahead[wanted[row]] = bytes(data)

        self._fetcher.fetch(self._fetcher.plan(columns, self.access), self.access, keep, cancel=self._token)

    def _learn_size(self, first: int) -> int:
        try:
            # Asking for any byte tells the size, where the server tells it at all.
            self._head = self._fetch(ReferenceKind.RANGE, 0, first)
            known = self.identity
            if known is not None and known.total is not None:
                return known.total
        except RefbrowserError as error:
            # Shorter, or without ranges and larger than what is cut: a request for all of it decides.
            if error.kind not in (ErrorKind.RANGE, ErrorKind.SOURCE):
                raise
        self._head = self._fetch(ReferenceKind.WHOLE, 0, -1)
        return len(self._head)

    def _fetch(self, kind: ReferenceKind, offset: int, length: int) -> memoryview:
        columns = ReferenceColumns(
            kind=np.array([kind], np.uint8),
            url=np.zeros(1, np.int32),
            offset=np.array([offset], np.int64),
            length=np.array([length], np.int64),
            urls=(self.url,),
        )
        found: list[Any] = []
        link = self._link
        self._fetcher.fetch(
            self._fetcher.plan(columns, self.access) if link is None else plan_ranges(columns, [link]),
            self.access,
            lambda _, data: found.append(data),
            cancel=self._token,
            size_limit=LIMITS.chunk_size,
        )
        if isinstance(found[0], RefbrowserError):
            raise found[0].at(replace(found[0].place, url=found[0].place.url or self.url))
        return memoryview(found[0])
