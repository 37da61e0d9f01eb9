"""A zip archive without its directory: the members that their local headers tell of (APPNOTE 4.3.7, 4.3.9).

A directory is made from the headers as far as they go. What lies between them and is no member is told.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from refbrowser.errors import ErrorKind, Place, Severity
from refbrowser.findings.finding import Finding
from refbrowser.io.archives.directory import ZipDirectory
from refbrowser.io.archives.entries import LOCAL_HEADER, METHODS, DirectoryEnd, ReadBytes, read_entries
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

#: Bytes that are read together for headers, and to look for marks.
NEAR, BLOCK = 1 << 16, 1 << 20
_LOCAL, _CENTRAL, _DESCRIPTOR = b"PK\x03\x04", b"PK\x01\x02", b"PK\x07\x08"
#: What comes after the last member: the directory, its end records.
_AFTER = (_CENTRAL, b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x08")
_HEADER = struct.Struct("<4s5H3L2H")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_FIELD = struct.Struct("<HH")
_FULL = 0xFFFFFFFF
#: Sizes follow the data; the extra field that has sizes of eight bytes.
_FOLLOWED, _ZIP64 = 0x0008, 0x0001


@dataclass(frozen=True, slots=True)
class Rescued:
    """What is left of an archive.

    Attributes
    ----------
    data_starts
        Byte of the archive at which the data of each member begins.
    findings
        What is lost.
    """

    directory: ZipDirectory
    data_starts: list[int]
    findings: tuple[Finding, ...]


def rescue(
    read: ReadBytes,
    size: int,
    url: str,
    most: int,
    cancel: CancelToken | None = None,
    progress: Callable[[int, int | None], None] = lambda done, total: None,
) -> Rescued:
    """Return the members whose local headers can be found.

    Parameters
    ----------
    read
        Returns bytes of the archive.
    size
        Bytes of the archive.
    url
        For messages.
    most
        Bytes that are read at most; what lies behind them is told to be lost.
    progress
        Called with the bytes walked over, and in all.
    """
    walk = _Walk(_Window(read, size, most), url, cancel, progress)
    walk.run()
    directory = walk.central
    end = DirectoryEnd(0, len(directory), len(walk.starts), 0)
    parts = list(read_entries(lambda start, stop: bytes(directory[start:stop]), end, url, cancel))
    made = ZipDirectory(url, size, DirectoryEnd(walk.data_stop, walk.data_stop, len(walk.starts), 0), parts)
    return Rescued(made, walk.starts, tuple(walk.findings))


class _SpentError(Exception):
    """As much was read as is to be read."""


class _Window:
    """Bytes of an archive, read block by block."""

    def __init__(self, read: ReadBytes, size: int, most: int) -> None:
        self.size = size
        self._read = read
        self._left = most
        self._start, self._data = 0, b""

    def get(self, start: int, count: int) -> bytes:
        """Return some bytes, fewer at the end of the archive."""
        stop = min(start + count, self.size)
        if start < self._start or stop > self._start + len(self._data):
            block = min(max(start + NEAR, stop), self.size)
            if self._left <= 0:
                raise _SpentError
            self._left -= block - start
            self._start, self._data = start, self._read(start, block)
        return self._data[start - self._start : max(stop - self._start, 0)]


@dataclass(frozen=True, slots=True)
class _Member:
    """What a local header tells, with the sizes that follow the data where they do."""

    header: tuple[int, ...]
    name: bytes
    extra: bytes
    crc: int
    compressed: int
    size: int
    data_start: int
    stop: int

    def entry(self, offset: int) -> bytes:
        """Return the entry of a directory."""
        needed, flags, method, time, date = self.header
        extra = _without(self.extra, _ZIP64)
        values = (self.size, self.compressed, offset)
        large = b"".join(struct.pack("<Q", value) for value in values if value >= _FULL)
        extra += _FIELD.pack(_ZIP64, len(large)) + large if large else b""
        size, compressed, at = (min(value, _FULL) for value in values)
        facts = (needed, needed, flags & ~_FOLLOWED, method, time, date, self.crc, compressed, size)
        return _ENTRY.pack(_CENTRAL, *facts, len(self.name), len(extra), 0, 0, 0, 0, at) + self.name + extra


@dataclass(slots=True)
class _Walk:
    """Goes from one local header to the next."""

    window: _Window
    url: str
    cancel: CancelToken | None
    progress: Callable[[int, int | None], None]
    central: bytearray = field(default_factory=bytearray)
    starts: list[int] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    data_stop: int = 0

    def run(self) -> None:
        """Walk to the directory, or the end of the archive."""
        at = 0
        try:
            while at < self.window.size:
                self._check()
                if self.window.get(at, 4) in _AFTER:
                    break
                at = self._step(at)
                self.progress(at, self.window.size)
        except _SpentError:
            message = "the rest of the archive is not searched for members"
            self._tell(ErrorKind.BUDGET, message, at, self.window.size)
        self.data_stop = self.window.size if at > self.window.size else at

    def _check(self) -> None:
        if self.cancel is not None:
            self.cancel.check()

    def _step(self, at: int) -> int:
        """Take the member at a byte, or what is there instead; return where to go on."""
        member = self._member(at)
        if member is None:
            found = self._search(at + 1)
            stop = self.window.size if found is None else found
            self._tell(ErrorKind.FORMAT, "no member is found in these bytes: they are lost", at, stop)
            return stop
        if len(self.starts) >= LIMITS.zip_members:
            raise _SpentError
        self.central += member.entry(at)
        self.starts.append(member.data_start)
        if member.stop > self.window.size:
            name = member.name.decode("utf-8", "replace")
            left = max(self.window.size - member.data_start, 0)
            message = f"the member is cut short: {left} of its {member.compressed} bytes are left"
            self._tell(ErrorKind.RANGE, message, at, self.window.size, name)
        return member.stop

    def _member(self, at: int) -> _Member | None:
        """Return the member whose header is at a byte; None where there is none."""
        head = self.window.get(at, LOCAL_HEADER)
        if len(head) < LOCAL_HEADER or head[:4] != _LOCAL:
            return None
        fields = _HEADER.unpack(head)
        _, _, flags, method, _, _, crc, compressed, size, name_size, extra_size = fields
        rest = self.window.get(at + LOCAL_HEADER, name_size + extra_size)
        if len(rest) < name_size or method not in METHODS:
            return None
        name, extra = rest[:name_size], rest[name_size:]
        start = at + LOCAL_HEADER + name_size + extra_size
        size, compressed = _large(extra, size, compressed)
        stop = start + compressed
        if flags & _FOLLOWED and not compressed:
            found = self._descriptor(start)
            if found is None:
                return None
            crc, compressed, size, stop = found
        return _Member(fields[1:6], name, extra, crc, compressed, size, start, stop)

    def _search(self, at: int) -> int | None:
        """Return where the next header or the directory is; None where none is."""
        for found in self._marks(at, b"PK"):
            mark = self.window.get(found, 4)
            if mark in _AFTER or (mark == _LOCAL and self._member(found) is not None):
                return found
        return None

    def _descriptor(self, start: int) -> tuple[int, int, int, int] | None:
        """Return CRC, sizes and end of a member whose sizes follow its data, which begins at `start`."""
        for found in self._marks(start, b"PK"):
            mark = self.window.get(found, 4)
            if mark == _DESCRIPTOR:
                sizes = self._sizes(found + 4, found - start)
                if sizes is not None:
                    return sizes
            elif mark == _LOCAL or mark in _AFTER:
                # The mark of the descriptor may be left out.
                for length in (12, 20):
                    sizes = self._sizes(found - length, found - length - start)
                    if sizes is not None and sizes[3] == found:
                        return sizes
        return None

    def _sizes(self, at: int, data: int) -> tuple[int, int, int, int] | None:
        """Return CRC, sizes and end of the descriptor at a byte, if it is of `data` bytes."""
        raw = self.window.get(at, 24) if data >= 0 else b""
        found = []
        for form in ("<3L", "<L2Q"):
            length = struct.calcsize(form)
            if len(raw) < length:
                continue
            crc, compressed, size = struct.unpack_from(form, raw)
            if compressed == data:
                found.append((crc, compressed, size, at + length))
        # Both forms may fit: what comes behind the right one tells.
        followed = [each for each in found if raw[each[3] - at :][:2] in (b"PK", b"")]
        return next(iter(followed or found), None)

    def _marks(self, at: int, mark: bytes) -> Iterator[int]:
        """Yield where a mark stands from a byte on."""
        while at < self.window.size:
            self._check()
            data = self.window.get(at, BLOCK)
            place = data.find(mark)
            while place >= 0:
                yield at + place
                place = data.find(mark, place + 1)
            # One may begin with the last byte.
            at += max(len(data) - len(mark) + 1, 1)

    def _tell(self, kind: ErrorKind, message: str, start: int, stop: int, name: str | None = None) -> None:
        place = Place(url=self.url, key=name, start=start, stop=stop)
        self.findings.append(Finding(severity=Severity.FAULT, kind=kind, message=message, place=place))


def _large(extra: bytes, size: int, compressed: int) -> tuple[int, int]:
    """Return the sizes, from the extra field where they need eight bytes."""
    raw = _fields(extra).get(_ZIP64, b"")
    values = [size, compressed]
    at = 0
    for number, value in enumerate(values):
        if value == _FULL and at + 8 <= len(raw):
            values[number] = int.from_bytes(raw[at : at + 8], "little")
            at += 8
    return values[0], values[1]


def _fields(extra: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while at + _FIELD.size <= len(extra):
        kind, length = _FIELD.unpack_from(extra, at)
        found[kind] = extra[at + _FIELD.size : at + _FIELD.size + length]
        at += _FIELD.size + length
    return found


def _without(extra: bytes, kind: int) -> bytes:
    """Return extra fields without those of a kind."""
    fields = {key: data for key, data in _fields(extra).items() if key != kind}
    return b"".join(_FIELD.pack(key, len(data)) + data for key, data in fields.items())
