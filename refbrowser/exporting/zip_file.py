"""A zip file as what an export writes into: stored members, ZIP64 where sizes need it (APPNOTE 6.3.10).

Members are written side by side: each has its range of the file as soon as its size is known, and its
header when its checksum is. The directory is written when all are there; until then the file has another
name.
"""

from __future__ import annotations

import os
import struct
import threading
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.buffers import Buffer
from refbrowser.exporting.folder import StoredFile, StorePlace
from refbrowser.exporting.journal import Written
from refbrowser.exporting.paths import checked_parts
from refbrowser.io.files.own_names import open_own, remove

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64 = struct.Struct("<4sLQL")
_MOST32, _MOST16 = 0xFFFFFFFF, 0xFFFF
_PLAIN, _ZIP64 = 20, 45
_UTF8 = 0x800
#: 1 January 1980, the first day of zip: the same export gives the same bytes.
_DATE = (0, 0x21)
_MODE = 0o100644 << 16
#: Bytes of the directory that are written at once.
_TOGETHER = 1 << 20


class Member(NamedTuple):
    """One member: its name, and where it is in the file.

    Attributes
    ----------
    has_room
        Its header has room for a large size, whatever it is.
    """

    name: str
    size: int
    offset: int
    checksum: int
    has_room: bool = False


class TargetZip(StorePlace):
    """A zip file being made. Writing is safe from any thread.

    Parameters
    ----------
    folder
        Folder within the file below which all keys lie; empty: at the top.
    """

    def __init__(self, target: str, folder: str = "") -> None:
        super().__init__(target)
        self._folder = f"{folder.strip('/')}/" if folder.strip("/") else ""
        self._members: dict[str, Member] = {}
        self._lock = threading.Lock()
        self._end = 0
        self._descriptor = -1

    @property
    def _path(self) -> Path:
        return self.partial / "store.zip"

    def open(self, *, resume: bool) -> None:
        """Make the incomplete file, or go on in the one that is there.

        Raises
        ------
        RefbrowserError
            `E_IO`: another export is writing it.
        """
        super().open(resume=resume)
        try:
            self._descriptor = open_own(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Let another export write this target."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        super().leave()

    def begin(self, entries: Iterable[Written]) -> None:
        """Go on with what an earlier run has written; what it left behind that is cut off."""
        size = os.fstat(self._descriptor).st_size
        for entry in entries:
            if not entry.place:
                continue
            member = Member(self._folder + entry.key, entry.size, *entry.place)
            end = member.offset + data_start(member) + member.size
            if end <= size:
                self._members[entry.key] = member
                self._end = max(self._end, end)
        os.ftruncate(self._descriptor, self._end)

    def holds(self, entry: Written) -> bool:
        """Tell whether an object that an earlier run has written is still there."""
        return entry.key in self._members

    def write(self, key: str, portions: Iterable[Buffer], size: int) -> tuple[int, int]:
        """Write one object whole; returns where it is.

        Raises
        ------
        OSError
            It cannot be written.
        RefbrowserError
            `E_SOURCE`: the portions are not `size` bytes, so the source has changed.
        """
        name = self._folder + "/".join(checked_parts(key))
        start = data_start(Member(name, size, 0, 0))
        with self._lock:
            offset = self._end
            self._end += start + size
        checksum, at = 0, offset + start
        end = at + size
        for portion in portions:
            if at + memoryview(portion).nbytes > end:
                raise _changed(key, size)
            checksum = zlib.crc32(portion, checksum)
            at = self._put(portion, at)
        if at != end:
            raise _changed(key, size)
        member = Member(name, size, offset, checksum)
        self._put(local_header(member), offset)
        with self._lock:
            self._members[key] = member
        return offset, checksum

    def stored(self, key: str, place: Any) -> StoredFile:
        """Return an object as it is on the disk, by its key."""
        member = self._members[key]
        return StoredFile(self._path, member.offset + data_start(member), member.size)

    def finish(self, *, force: bool) -> None:
        """Write the directory and give the file its final name."""
        at = self._end
        for portion in directory(list(self._members.values()), at):
            at = self._put(portion, at)
        os.ftruncate(self._descriptor, at)
        os.fsync(self._descriptor)
        self.swap(self._path, force=force)
        remove(self.partial)

    def complete(self) -> CompleteZip:
        """Return the finished target for reading."""
        return CompleteZip(self.target, self._folder)

    def _put(self, data: Buffer, at: int) -> int:
        left = memoryview(data).cast("B")
        while left:
            done = os.pwrite(self._descriptor, left, at)
            left, at = left[done:], at + done
        return at


def _changed(key: str, size: int) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.SOURCE, f"the object has not the {size} bytes that it had before", Place(key=key)
    )


class CompleteZip:
    """A zip file that an export has written."""

    def __init__(self, path: Path, folder: str) -> None:
        self._path = path
        self._folder = folder
        try:
            self._file = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise RefbrowserError(ErrorKind.IO, "is not a zip file", Place(path=str(path))) from error

    def stored(self, key: str) -> _StoredMember:
        """Return an object.

        Raises
        ------
        OSError
            It is not there.
        """
        try:
            return _StoredMember(self._file, self._file.getinfo(self._folder + key))
        except KeyError:
            raise FileNotFoundError(key) from None


class _StoredMember:
    """A member, which zipfile reads and checks."""

    def __init__(self, file: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        self._file, self._info = file, info
        self.size = info.file_size

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes of the object; fewer where it ends."""
        try:
            with self._file.open(self._info) as stream:
                stream.seek(offset)
                return stream.read(size)
        except zipfile.BadZipFile as error:
            raise OSError(str(error)) from error


def data_start(member: Member) -> int:
    """Return the bytes of a member's header."""
    return _LOCAL.size + len(member.name.encode()) + len(_extra_local(member))


def _extra_local(member: Member) -> bytes:
    large = member.size >= _MOST32 or member.has_room
    return struct.pack("<2H2Q", 1, 16, member.size, member.size) if large else b""


def _flags(name: bytes) -> int:
    return 0 if name.isascii() else _UTF8


def local_header(member: Member) -> bytes:
    """Return what stands before the bytes of a stored member."""
    name, extra = member.name.encode(), _extra_local(member)
    size = _MOST32 if extra else member.size
    version = _ZIP64 if extra else _PLAIN
    fields = (version, _flags(name), 0, *_DATE, member.checksum, size, size, len(name), len(extra))
    return _LOCAL.pack(b"PK\x03\x04", *fields) + name + extra


def central_header(member: Member) -> bytes:
    """Return the entry of a stored member in the directory."""
    name = member.name.encode()
    wide = [member.size] * 2 if member.size >= _MOST32 else []
    wide += [member.offset] if member.offset >= _MOST32 else []
    extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
    size, offset = min(member.size, _MOST32), min(member.offset, _MOST32)
    version = _ZIP64 if wide else _PLAIN
    made_by = 3 << 8 | version  # 3 is Unix, which the mode is of
    head = (made_by, version, _flags(name), 0, *_DATE, member.checksum, size, size)
    tail = (len(name), len(extra), 0, 0, 0, _MODE, offset)
    return _CENTRAL.pack(b"PK\x01\x02", *head, *tail) + name + extra


def directory(members: list[Member], start: int) -> Iterator[bytes]:
    """Yield the bytes that end a zip file, from the directory on, which stands at `start`."""
    members.sort(key=lambda member: member.offset)
    return directory_of(map(central_header, members), len(members), start)


def directory_of(entries: Iterable[bytes], count: int, start: int) -> Iterator[bytes]:
    """Yield the bytes that end a zip file with these entries in its directory."""
    size, waiting = 0, bytearray()
    for entry in entries:
        waiting += entry
        if len(waiting) > _TOGETHER:
            size += len(waiting)
            yield bytes(waiting)
            waiting.clear()
    size += len(waiting)
    yield bytes(waiting)
    if count >= _MOST16 or size >= _MOST32 or start >= _MOST32:
        yield _END64.pack(b"PK\x06\x06", _END64.size - 12, _ZIP64, _ZIP64, 0, 0, count, count, size, start)
        yield _LOCATOR64.pack(b"PK\x06\x07", 0, start + size, 1)
    few, small, at = min(count, _MOST16), min(size, _MOST32), min(start, _MOST32)
    yield _END.pack(b"PK\x05\x06", 0, 0, few, few, small, at, 0)
