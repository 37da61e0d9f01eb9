"""Where the central directory of a zip archive lies: its end records (APPNOTE 4.3.14 to 4.3.16)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, Place, RefbrowserError

#: Returns bytes `start` to `stop` of an archive, all of them.
ReadBytes = Callable[[int, int], bytes]

_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_END_MARK, _LOCATOR_MARK, _END64_MARK = b"PK\x05\x06", b"PK\x06\x07", b"PK\x06\x06"
#: Bytes at the end that hold both end records and the longest comment.
TAIL = _END64.size + _LOCATOR.size + _END.size + 0xFFFF


@dataclass(frozen=True, slots=True)
class DirectoryEnd:
    """What the end of an archive says of its directory.

    Attributes
    ----------
    start, stop
        Bytes of the directory in the file.
    entries
        Number of its entries.
    shift
        Bytes that stand before the archive proper: added to every offset that the directory gives.
    """

    start: int
    stop: int
    entries: int
    shift: int


def damaged(message: str, url: str, at: int | None = None) -> RefbrowserError:
    """Return the error for an archive that is not as it should be; `at` is the byte where that shows."""
    return RefbrowserError(ErrorKind.FORMAT, message, Place(url=url, start=at, stop=at))


def find_end(read: ReadBytes, size: int, url: str) -> DirectoryEnd:
    """Return where the directory of an archive of `size` bytes lies.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: it is no zip archive, is in several parts, or its end contradicts itself.
    """
    tail_start = max(0, size - TAIL)
    tail = read(tail_start, size)
    at = _end_record(tail)
    if at is None:
        message = "no end of a zip directory in the last 64 KiB: no zip archive, or it was cut short"
        raise damaged(message, url)
    _, disk, first_disk, here, entries, length, start, _ = _END.unpack_from(tail, at)
    stop = tail_start + at
    if 0xFFFF in (disk, entries) or 0xFFFFFFFF in (length, start):
        found = _zip64(read, tail, at, tail_start, url)
        if found is not None:
            disk, first_disk, here, entries, length, start, stop = found
    if disk or first_disk or here != entries:
        raise damaged("the archive is in several parts, which are not read", url, tail_start + at)
    shift = stop - length - start
    if length > stop or shift < 0:
        raise damaged(f"the directory of {length} bytes would begin before the file does", url, stop)
    return DirectoryEnd(stop - length, stop, entries, shift)


def _end_record(tail: bytes) -> int | None:
    """Return where the last end record lies whose comment ends with the file."""
    at = len(tail)
    while (at := tail.rfind(_END_MARK, 0, at)) >= 0:
        if at + _END.size <= len(tail) and at + _END.size + _END.unpack_from(tail, at)[7] == len(tail):
            return at
    return None


def _zip64(
    read: ReadBytes, tail: bytes, at: int, tail_start: int, url: str
) -> tuple[int, int, int, int, int, int, int] | None:
    """Return what the zip64 records say: disks, entries, size, start, and where they begin; None without."""
    locator = at - _LOCATOR.size
    if locator < 0 or tail[locator : locator + 4] != _LOCATOR_MARK:
        return None
    _, disk, stated, disks = _LOCATOR.unpack_from(tail, locator)
    if disk or disks > 1:
        raise damaged("the archive is in several parts, which are not read", url, tail_start + locator)
    # The record stands right before its locator, also where bytes were put before the archive; only one with
    # extensible data begins where the locator says.
    for begin in (tail_start + locator - _END64.size, stated):
        if not 0 <= begin <= tail_start + locator - _END64.size:
            continue
        inside = begin - tail_start
        record = tail[inside : inside + _END64.size] if inside >= 0 else read(begin, begin + _END64.size)
        if len(record) == _END64.size and record[:4] == _END64_MARK:
            _, _, _, _, disk, first, here, entries, length, start = _END64.unpack(record)
            return disk, first, here, entries, length, start, begin
    raise damaged("the zip64 end record is not where its locator says", url, tail_start + locator)
