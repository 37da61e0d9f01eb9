"""The bytes of one zip member, confirmed and unpacked: its local header, its method, CRC-32.

Knows nothing of what the member holds. What is unpacked is bounded by the size that the directory announces.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.zip_directory import ZipMember
from refbrowser.io.zip_entries import LOCAL_HEADER
from refbrowser.io.zip_methods import PackedError, unpacked, unpacked_blocks

_HEADER = struct.Struct("<4s5H3L2H")
_MARK = b"PK\x03\x04"
_ENCRYPTED = 0x2041


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A member's bytes and where its data began in the archive."""

    data: memoryview
    data_start: int


def data_start(member: ZipMember, head: memoryview, url: str) -> int:
    """Return the byte of the archive at which a member's data begins, as its local header tells.

    Parameters
    ----------
    head
        What stands from `member.start` on: at least the header with its name.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: the header is not that of the member.
    """
    named = LOCAL_HEADER + len(member.raw_name)
    if len(head) < named:
        raise _wrong("the local header is cut short", member, url)
    mark, _, flags, method, _, _, _, _, _, name_size, extra_size = _HEADER.unpack_from(head)
    if mark != _MARK:
        raise _wrong("there is no local header where the directory says", member, url)
    if name_size != len(member.raw_name) or head[LOCAL_HEADER:named] != member.raw_name:
        raise _wrong("the local header has another name than the directory", member, url)
    if method != member.method or flags & _ENCRYPTED:
        raise _wrong("the local header tells another compression than the directory", member, url)
    start = member.start + named + extra_size
    if start + member.compressed > member.stop:
        raise _wrong("the member reaches into what follows it", member, url)
    return start


def unpack(member: ZipMember, slot: memoryview, url: str) -> Unpacked:
    """Return the bytes of a member, checked.

    Parameters
    ----------
    slot
        Bytes `member.start` to `member.stop` of the archive at `url`.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: header and directory disagree; `E_DECODE`: the data cannot be unpacked, or its length or
        CRC-32 is not the one in the directory.
    """
    start = data_start(member, slot, url)
    packed = slot[start - member.start :][: member.compressed]
    try:
        data = unpacked(member.method, packed, member.size)
    except PackedError as error:
        raise _wrong(str(error), member, url, ErrorKind.DECODE) from None
    if zlib.crc32(data) != member.crc:
        raise wrong_crc(member, url)
    return Unpacked(data, start)


def unpack_part(
    member: ZipMember, slot: memoryview, url: str, first: int, last: int, *, confirmed: bool
) -> Unpacked:
    """Return bytes `first` to `last` of a packed member; only they are held, whatever it unpacks to.

    Parameters
    ----------
    slot
        As of `unpack`.
    confirmed
        The CRC-32 of the member was found right before: what follows the part need not be unpacked.

    Raises
    ------
    RefbrowserError
        As `unpack`.
    """
    start = data_start(member, slot, url)
    packed = slot[start - member.start :][: member.compressed]
    part = bytearray()
    made = crc = 0
    try:
        for block in unpacked_blocks(member.method, packed, member.size):
            part += block[max(first - made, 0) : max(last - made, 0)]
            made += len(block)
            if confirmed and made >= last:
                return Unpacked(memoryview(part), start)
            crc = zlib.crc32(block, crc)
    except PackedError as error:
        raise _wrong(str(error), member, url, ErrorKind.DECODE) from None
    if crc != member.crc:
        raise wrong_crc(member, url)
    return Unpacked(memoryview(part), start)


def wrong_crc(member: ZipMember, url: str) -> RefbrowserError:
    """Return the error that the bytes of a member are not those that were written."""
    message = "the CRC-32 of the member is not the one in the directory"
    return _wrong(message, member, url, ErrorKind.DECODE)


def _wrong(message: str, member: ZipMember, url: str, kind: ErrorKind = ErrorKind.FORMAT) -> RefbrowserError:
    place = Place(key=member.name, url=url, start=member.start, stop=member.stop)
    return RefbrowserError(kind, message, place)
