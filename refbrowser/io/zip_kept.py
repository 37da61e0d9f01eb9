"""Members of a zip archive that go into another one as they are stored, with their directory entries."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from refbrowser.io.zip_end import ReadBytes, damaged, find_end

_LENGTHS = struct.Struct("<HHH").unpack_from
_FIELD = struct.Struct("<HH").unpack_from
_MARK = b"PK\x01\x02"
_HEADER, _OFFSET = 46, 42
_FULL, _ZIP64 = 0xFFFFFFFF, 0x0001
_UTF8 = 0x0800


@dataclass(frozen=True, slots=True)
class KeptMember:
    """One member as it is stored.

    Attributes
    ----------
    entry
        Its bytes in the directory.
    start, stop
        Bytes of the archive from its local header to what follows it.
    """

    name: str
    entry: bytes
    start: int
    stop: int

    def entry_at(self, offset: int) -> bytes:
        """Return its entry in the directory of an archive where it begins at `offset`."""
        entry = bytearray(self.entry)
        (stated,) = struct.unpack_from("<L", entry, _OFFSET)
        if stated != _FULL:
            struct.pack_into("<L", entry, _OFFSET, offset)
            return bytes(entry)
        at = _wide_offset(self.entry)
        if at is None:
            raise ValueError("an offset that stands nowhere")
        struct.pack_into("<Q", entry, at, offset)
        return bytes(entry)


def kept_members(read: ReadBytes, size: int, url: str) -> Iterator[KeptMember]:
    """Yield the members of an archive of `size` bytes, in the order in which they lie in it.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: its directory is damaged.
    """
    end = find_end(read, size, url)
    directory = read(end.start, end.stop)
    entries: list[tuple[int, bytes]] = []
    at = 0
    for _ in range(end.entries):
        if directory[at : at + 4] != _MARK or at + _HEADER > len(directory):
            raise damaged("an entry of the directory does not begin as it must", url, end.start + at)
        stop = at + _HEADER + sum(_LENGTHS(directory, at + 28))
        entry = directory[at:stop]
        entries.append((_offset(entry, url) + end.shift, entry))
        at = stop
    if directory[at : at + 4] == _MARK:
        raise damaged("the directory has more members than its end counts", url, end.start + at)
    entries.sort(key=lambda each: each[0])
    stops = [start for start, _ in entries[1:]] + [end.start]
    for (start, entry), stop in zip(entries, stops, strict=True):
        if not 0 <= start < stop:
            raise damaged("members of the archive overlap", url, start)
        yield KeptMember(_name(entry), entry, start, stop)


def _name(entry: bytes) -> str:
    (flags,) = struct.unpack_from("<H", entry, 8)
    raw = entry[_HEADER : _HEADER + _LENGTHS(entry, 28)[0]]
    return raw.decode("utf-8" if flags & _UTF8 else "cp437", "replace")


def _offset(entry: bytes, url: str) -> int:
    (stated,) = struct.unpack_from("<L", entry, _OFFSET)
    if stated != _FULL:
        return int(stated)
    at = _wide_offset(entry)
    if at is None:
        raise damaged("the offset of a member stands nowhere", url)
    return int(struct.unpack_from("<Q", entry, at)[0])


def _wide_offset(entry: bytes) -> int | None:
    """Return where the 64-bit offset of a member stands in its entry."""
    name, extra, _ = _LENGTHS(entry, 28)
    before = sum(8 for place in (20, 24) if struct.unpack_from("<L", entry, place)[0] == _FULL)
    at, stop = _HEADER + name, _HEADER + name + extra
    while at + 4 <= stop:
        kind, length = _FIELD(entry, at)
        if kind == _ZIP64:
            return at + 4 + before if before + 8 <= length and at + 4 + length <= stop else None
        at += 4 + length
    return None
