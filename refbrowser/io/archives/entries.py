"""The entries of a zip directory: where they end, how members are packed, all of them as columns."""

from __future__ import annotations

import bz2
import lzma
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

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
        message = "no end of a zip directory in the last 64 KiB: not a zip archive, or cut short"
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
    raise damaged("the zip64 end record is not where its locator points", url, tail_start + locator)


STORED, DEFLATED, BZIP2, LZMA = 0, 8, 12, 14
#: What the methods are called.
METHODS = {STORED: "stored", DEFLATED: "deflate", BZIP2: "bz2", LZMA: "lzma"}
#: What those are called that pack.
PACKED = frozenset(METHODS.values()) - {METHODS[STORED]}
#: No deflate stream grows by more.
MOST_GROWTH = 1032
#: Raw deflate, without a header of its own.
_RAW = -15
#: Before raw LZMA: two bytes of version, two that tell how long the properties are, and these.
_LZMA_HEAD, _LZMA_PROPERTIES = 4, 5
_LEAST_DICTIONARY = 4096
#: Packed bytes that are taken, and unpacked ones that are made, at a time.
_TAKEN, _MADE = 64 << 10, 1 << 20


class PackedError(ValueError):
    """Packed bytes are not what their method makes."""


def unpacked(method: int, packed: memoryview, size: int) -> memoryview:
    """Return the bytes that a method packed.

    Parameters
    ----------
    size
        As announced; not more than one byte beyond it is unpacked.

    Raises
    ------
    PackedError
        They cannot be unpacked, or are more or less than announced.
    """
    if method == STORED:
        return packed
    try:
        data = _UNPACKERS[method](packed, size)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, MemoryError) as error:
        raise PackedError(f"the member cannot be unpacked: {error}") from None
    _check_size(len(data), size)
    return data


def unpacked_blocks(method: int, packed: memoryview, size: int) -> Iterator[bytes]:
    """Yield the bytes that a method packed block by block, so that they need not be held.

    Raises
    ------
    PackedError
        They cannot be unpacked, or are more or less than announced: after the last block at the latest.
    """
    made = 0
    try:
        for block in _blocks(method, packed, size):
            made += len(block)
            if made > size:
                break
            yield block
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, MemoryError) as error:
        raise PackedError(f"the member cannot be unpacked: {error}") from None
    _check_size(made, size)


def _blocks(method: int, packed: memoryview, size: int) -> Iterator[bytes]:
    if method == DEFLATED:
        stream: Any = zlib.decompressobj(_RAW)
    elif method == BZIP2:
        stream = bz2.BZ2Decompressor()
    else:
        stream, packed = _lzma_stream(packed, size)
    for start in range(0, len(packed), _TAKEN):
        block = stream.decompress(packed[start : start + _TAKEN], _MADE)
        yield block
        # A full block: there may be more of what was given.
        while len(block) == _MADE and not stream.eof:
            block = stream.decompress(getattr(stream, "unconsumed_tail", b""), _MADE)
            yield block
        if stream.eof:
            return


def _check_size(found: int, size: int) -> None:
    if found != size:
        what = "more" if found > size else str(found)
        raise PackedError(f"the member has {what} bytes when unpacked, the directory says {size}")


def _inflated(packed: memoryview, size: int) -> memoryview:
    import deflate

    if size:
        try:
            plain = memoryview(deflate.deflate_decompress(packed, size))
        except deflate.DeflateError:
            plain = memoryview(b"")
        if len(plain) == size:
            return plain
    # Slower, but it tells what is wrong.
    return memoryview(zlib.decompressobj(_RAW).decompress(packed, size + 1))


def _from_bzip2(packed: memoryview, size: int) -> memoryview:
    return memoryview(bz2.BZ2Decompressor().decompress(packed, size + 1))


def _from_lzma(packed: memoryview, size: int) -> memoryview:
    stream, rest = _lzma_stream(packed, size)
    return memoryview(stream.decompress(rest, size + 1))


def _lzma_stream(packed: memoryview, size: int) -> tuple[lzma.LZMADecompressor, memoryview]:
    """Return what unpacks a member, and what follows its properties."""
    stop = _LZMA_HEAD + _LZMA_PROPERTIES
    head = bytes(packed[:stop])
    if len(head) < stop or int.from_bytes(head[2:4], "little") != _LZMA_PROPERTIES:
        raise PackedError("the LZMA properties are missing")
    code, dictionary = head[_LZMA_HEAD], int.from_bytes(head[_LZMA_HEAD + 1 :], "little")
    rest, literal_context = divmod(code, 9)
    position, literal = divmod(rest, 5)
    if position > 4:
        raise PackedError("the LZMA properties are out of bounds")
    # A dictionary larger than what is unpacked is never used, and would be allocated.
    filters = {
        "id": lzma.FILTER_LZMA1,
        "dict_size": max(_LEAST_DICTIONARY, min(dictionary, size)),
        "lc": literal_context,
        "lp": literal,
        "pb": position,
    }
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[filters]), packed[stop:]


_UNPACKERS: dict[int, Callable[[memoryview, int], memoryview]] = {
    DEFLATED: _inflated,
    BZIP2: _from_bzip2,
    LZMA: _from_lzma,
}


#: Bytes of the directory that are read and parsed together.
BLOCK = 4 << 20
LOCAL_HEADER = 30
_HEADER = 46
_MARK, _MARKED = 0x02014B50, b"PK\x01\x02"
_FULL = 0xFFFFFFFF
_LENGTHS = struct.Struct("<HHH").unpack_from
_FIELD = struct.Struct("<HH").unpack_from
_ENTRY = np.dtype(
    [
        ("mark", "<u4"), ("made", "<u2"), ("needed", "<u2"), ("flags", "<u2"), ("method", "<u2"),
        ("time", "<u2"), ("date", "<u2"), ("crc", "<u4"), ("compressed", "<u4"), ("size", "<u4"),
        ("name", "<u2"), ("extra", "<u2"), ("comment", "<u2"), ("disk", "<u2"), ("internal", "<u2"),
        ("external", "<u4"), ("offset", "<u4"),
    ]
)  # fmt: skip
#: Kinds of the bytes of names.
_ODD, _DOT, _SLASH, _LETTER = range(4)
_KINDS = np.array(
    [
        _LETTER if re.match(rb"[\w-]", bytes([octet])) else {46: _DOT, 47: _SLASH}.get(octet, _ODD)
        for octet in range(256)
    ],
    np.uint8,
)
#: Chunks of a root array in the v3 draft of 2019, by the letter of its rule for keys: ``data//0.0``.
_ROOT_CHUNK = re.compile(rb"((?:[^/]+/)?data/)/([0-9][0-9._/-]*)\Z")
_ENCRYPTED, _UTF8 = 0x2041, 0x0800
_ZIP64, _UNICODE_PATH = 0x0001, 0x7075


class Fault(IntEnum):
    """Why a member is not read; `NONE` where it is."""

    NONE = 0
    FOLDER = 1
    REPLACED = 2
    NAME = 3
    ENCRYPTED = 4
    METHOD = 5
    SIZES = 6
    OUTSIDE = 7
    OVERLAP = 8
    GROWTH = 9
    OTHER_NAME = 10


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Some entries of a directory as columns, in its order.

    Attributes
    ----------
    names
        Their names one after another, in UTF-8 (those that are no text as they are).
    name_sizes
        Bytes of each.
    raw_names
        Row to the name as it is stored, where that is not `names`.
    offset
        Of the local header in the file, int64.
    fault
        `Fault` of each, as far as the entry itself tells, uint8.
    """

    names: bytes
    name_sizes: npt.NDArray[np.int64]
    raw_names: dict[int, bytes]
    method: npt.NDArray[np.uint16]
    crc: npt.NDArray[np.uint32]
    compressed: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    offset: npt.NDArray[np.int64]
    fault: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.crc)


def read_entries(
    read: ReadBytes, end: DirectoryEnd, url: str, cancel: CancelToken | None = None
) -> Iterator[Entries]:
    """Yield the entries of a directory, some thousands at a time: all that are there, also uncounted ones.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: an entry is not where it should be.
    """
    rest, position, left = b"", end.start, end.entries
    while left > 0 or position < end.stop:
        if cancel is not None:
            cancel.check()
        stop = min(position + BLOCK, end.stop)
        begin = position - len(rest)
        data = rest + read(position, stop)
        places, used = _places(data, left)
        if not len(places) and left <= 0:
            return
        if not len(places):
            message = (
                "the directory ends early" if stop == end.stop else "an entry of the directory is too long"
            )
            raise damaged(f"{message}: {left} entries are left", url, begin)
        yield _entries(data, places, end.shift, url, begin)
        left -= len(places)
        rest, position = data[used:], stop


def _places(data: bytes, most: int) -> tuple[npt.NDArray[np.int64], int]:
    """Return where entries begin that are there as a whole, and the byte after the last.

    Parameters
    ----------
    most
        How many there should be; more of them begin as entries must.
    """
    marked, at = _marked_places(data)
    places: list[int] = []
    last = len(data) - _HEADER
    while at <= last and (len(marked) + len(places) < most or data[at : at + 4] == _MARKED):
        name, extra, comment = _LENGTHS(data, at + 28)
        stop = at + _HEADER + name + extra + comment
        if stop > len(data):
            break
        places.append(at)
        at = stop
    return np.concatenate([marked, np.array(places, np.int64)]), at


def _marked_places(data: bytes) -> tuple[npt.NDArray[np.int64], int]:
    """Return what `_places` does, up to where the mark of an entry stands within one: in a name, say."""
    if len(data) < _HEADER:
        return np.zeros(0, np.int64), 0
    # What stands at each byte as a number of four bytes, or of two.
    words = np.ndarray((len(data) - _HEADER + 1,), "<u4", data, strides=(1,))
    halves = np.ndarray((len(data) - 1,), "<u2", data, strides=(1,))
    places = np.flatnonzero(words == _MARK)
    stops = places + _HEADER
    for at in (28, 30, 32):
        stops += halves[places + at]
    is_right = (places == np.append(0, stops)[: len(places)]) & (stops <= len(data))
    count = len(places) if is_right.all() else int(is_right.argmin())
    return places[:count], int(stops[count - 1]) if count else 0


def _entries(data: bytes, places: npt.NDArray[np.int64], shift: int, url: str, begin: int) -> Entries:
    octets = np.frombuffer(data, np.uint8)
    table = np.ndarray((len(data) - _HEADER + 1,), _ENTRY, data, strides=(1,))[places]
    wrong = np.flatnonzero(table["mark"] != _MARK)
    if len(wrong):
        at = begin + int(places[wrong[0]])
        raise damaged("an entry of the directory does not begin as it must", url, at)
    compressed, size, offset = (table[name].astype(np.int64) for name in ("compressed", "size", "offset"))
    lengths = table["name"].astype(np.int64)
    starts = places + _HEADER
    for row in np.flatnonzero((compressed == _FULL) | (size == _FULL) | (offset == _FULL)).tolist():
        extra_start = int(starts[row] + lengths[row])
        extra = data[extra_start : extra_start + int(table["extra"][row])]
        size[row], compressed[row], offset[row] = _large(
            extra, int(size[row]), int(compressed[row]), int(offset[row])
        )
    fault = _faults(table, compressed, size, offset)
    stops = np.cumsum(lengths)
    joined = octets[np.arange(stops[-1]) + np.repeat(starts - (stops - lengths), lengths)]
    looked_at = _not_plain(joined, lengths, stops)
    names = {row: data[starts[row] : starts[row] + lengths[row]] for row in looked_at.tolist()}
    raw_names = _decode_names(names, table, data, starts, fault)
    _judge_names(names, fault)
    if raw_names:
        parts = np.split(joined, np.stack([stops - lengths, stops], axis=1)[[*raw_names]].reshape(-1))
        parts[1::2] = [np.frombuffer(names[row], np.uint8) for row in raw_names]
        joined = np.concatenate(parts)
        lengths[[*raw_names]] = [len(names[row]) for row in raw_names]
    fault[lengths > LIMITS.key_length] = Fault.NAME
    return Entries(
        joined.tobytes(),
        lengths,
        raw_names,
        table["method"].copy(),
        table["crc"].copy(),
        compressed,
        size,
        offset + shift,
        fault,
    )


def _extra_field(extra: bytes, wanted: int) -> bytes | None:
    at = 0
    while at + 4 <= len(extra):
        kind, length = _FIELD(extra, at)
        if kind == wanted:
            return extra[at + 4 : at + 4 + length]
        at += 4 + length
    return None


def _large(extra: bytes, size: int, compressed: int, offset: int) -> tuple[int, int, int]:
    """Return sizes and offset, from the zip64 field where they do not fit 32 bits; -1 where it has none."""
    field = _extra_field(extra, _ZIP64) or b""
    values = [size, compressed, offset]
    at = 0
    for number, value in enumerate(values):
        if value == _FULL:
            raw = field[at : at + 8]
            found = int.from_bytes(raw, "little") if len(raw) == 8 else -1
            values[number] = found if found < 2**63 else -1
            at += 8
    return values[0], values[1], values[2]


def _faults(
    table: npt.NDArray[np.void],
    compressed: npt.NDArray[np.int64],
    size: npt.NDArray[np.int64],
    offset: npt.NDArray[np.int64],
) -> npt.NDArray[np.uint8]:
    fault = np.zeros(len(table), np.uint8)
    stored, deflated = table["method"] == STORED, table["method"] == DEFLATED
    impossible = (np.minimum(np.minimum(size, compressed), offset) < 0) | (stored & (size != compressed))
    grown = (size > LIMITS.zip_growth_from) & (size // LIMITS.zip_growth > compressed)
    fault[grown & ~stored & ~deflated] = Fault.GROWTH
    fault[impossible | (deflated & (size // MOST_GROWTH > compressed))] = Fault.SIZES
    fault[~np.isin(table["method"], list(METHODS))] = Fault.METHOD
    fault[(table["flags"] & _ENCRYPTED) != 0] = Fault.ENCRYPTED
    return fault


def _not_plain(
    joined: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return which names need to be looked at: hardly any of those of chunks.

    The others are parts of plain letters and digits, between which slashes are; none begins with a dot.
    """
    kinds = _KINDS[joined]
    begins = np.empty(len(joined), bool)
    begins[1:] = kinds[:-1] == _SLASH
    begins[(stops - lengths)[lengths > 0]] = True
    wrong = np.flatnonzero((kinds == _ODD) | (begins & (kinds != _LETTER)))
    rows = np.searchsorted(stops, wrong, "right")
    is_open = lengths == 0
    is_open[~is_open] = kinds[stops[~is_open] - 1] == _SLASH
    is_open[rows] = True
    return np.flatnonzero(is_open)


def _decode_names(
    names: dict[int, bytes],
    table: npt.NDArray[np.void],
    data: bytes,
    starts: npt.NDArray[np.int64],
    fault: npt.NDArray[np.uint8],
) -> dict[int, bytes]:
    """Make names UTF-8 in place; return those that were stored otherwise."""
    raw_names: dict[int, bytes] = {}
    for row, name in names.items():
        if name.isascii():
            continue
        if table["flags"][row] & _UTF8:
            try:
                name.decode("utf-8")
            except UnicodeDecodeError:
                fault[row] = Fault.NAME
            continue
        extra_start = int(starts[row]) + len(name)
        extra = data[extra_start : extra_start + int(table["extra"][row])]
        raw_names[row], names[row] = name, _unicode_path(extra, name) or name.decode("cp437").encode()
    return raw_names


def _unicode_path(extra: bytes, name: bytes) -> bytes | None:
    """Return the name that Info-ZIP gives beside the stored one, if it is of that one."""
    field = _extra_field(extra, _UNICODE_PATH)
    if field is None or field[:1] != b"\1" or field[1:5] != zlib.crc32(name).to_bytes(4, "little"):
        return None
    try:
        field[5:].decode("utf-8")
    except UnicodeDecodeError:
        return None
    return field[5:]


def _judge_names(names: Mapping[int, bytes], fault: npt.NDArray[np.uint8]) -> None:
    """Mark folders, and names that are never joined to a path: ``..``, empty parts, backslashes, controls.

    The one empty part that a format has is let through: members are read by name, never unpacked.
    """
    for row, name in names.items():
        if b"\\" in name or b"::" in name or not name or not _is_printable(name):
            fault[row] = Fault.NAME
        elif name.endswith(b"/"):
            fault[row] = Fault.FOLDER if _has_good_parts(name[:-1]) else Fault.NAME
        elif not _has_good_parts(_ROOT_CHUNK.sub(rb"\1\2", name)):
            fault[row] = Fault.NAME


def name_fault(name: bytes) -> Fault:
    """Return what is wrong with a name that should be text of UTF-8: `NONE`, `NAME`, or `FOLDER`."""
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return Fault.NAME
    fault = np.zeros(1, np.uint8)
    _judge_names({0: name}, fault)
    return Fault(fault.item())


def _is_printable(name: bytes) -> bool:
    return min(name) >= 0x20 and 0x7F not in name


def _has_good_parts(name: bytes) -> bool:
    if name.startswith(b"/"):
        return False
    if b"//" not in name and b"./" not in name and not name.endswith(b".") and not name.endswith(b"/"):
        return True
    return all(part not in (b"", b".", b"..") for part in name.split(b"/"))
