"""Bytes of NcStream messages, made by hand: independent of the product's encoder and of the protobuf library.

Every field is written as given and left out where it is None, so that each spelling of old and new servers,
and every wrong one, can be made. The numbers are those of the wire notes, sections 1, 2 and 7.

>>> root = group(variables=[variable("x", INT, [dimension("n", 2)])])
>>> body = data_body("x", INT, [(0, 2, None)], bigend=True)
>>> bytes_of_file = stream(header(root), data(body, regular(numbers("i", [1, 2]))))
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

MAGIC_START = b"CDFS"
MAGIC_HEADER = bytes.fromhex("adecceda")
MAGIC_DATA = bytes.fromhex("abecceba")
MAGIC_DATA2 = bytes.fromhex("abebbeba")
MAGIC_VDATA = bytes.fromhex("abeffeba")
MAGIC_VEND = bytes.fromhex("edeffeda")
MAGIC_ERR = bytes.fromhex("abadbada")
MAGIC_END = bytes.fromhex("ededdede")
MAGIC_STATIONS = bytes.fromhex("fefeefef")
MAGIC_COLLECTION = bytes.fromhex("fafaafaf")
MAGIC_POINT = bytes.fromhex("f0f00f0f")
#: Of the coverage service, which has another schema.
MAGIC_COVERAGE_HEADER = bytes.fromhex("adeddeda")
MAGIC_COVERAGE_DATA = bytes.fromhex("abeddeba")

CHAR, BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, STRING, STRUCTURE, SEQUENCE = range(10)
ENUM1, ENUM2, ENUM4, OPAQUE, UBYTE, USHORT, UINT, ULONG = range(10, 18)
NONE, DEFLATE = 0, 1
#: `struct` letters of the types with elements of a fixed size.
LETTERS = {
    CHAR: "s",
    BYTE: "b",
    SHORT: "h",
    INT: "i",
    LONG: "q",
    FLOAT: "f",
    DOUBLE: "d",
    ENUM1: "B",
    ENUM2: "H",
    ENUM4: "I",
    UBYTE: "B",
    USHORT: "H",
    UINT: "I",
    ULONG: "Q",
}
#: What servers write for the length of a dimension that has none.
NO_LENGTH = 2**64 - 1

Range = tuple[int | None, int | None, int | None]


# -- the parts of a protobuf message ---------------------------------------------------------------------


def varint(value: int, length: int = 0) -> bytes:
    """Return a base-128 varint, padded to `length` bytes; negative numbers as 64-bit ones."""
    value &= 2**64 - 1
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(value & 0x7F)
    groups += [0] * (length - len(groups))
    return bytes([*(each | 0x80 for each in groups[:-1]), groups[-1]])


def number(field: int, value: int | None) -> bytes:
    """Return a field of wire type 0."""
    return b"" if value is None else varint(field << 3) + varint(int(value))


def fixed32(field: int, value: int | None) -> bytes:
    """Return a field of wire type 5."""
    return b"" if value is None else varint(field << 3 | 5) + struct.pack("<I", value)


def double(field: int, value: float | None) -> bytes:
    """Return a field of wire type 1."""
    return b"" if value is None else varint(field << 3 | 1) + struct.pack("<d", value)


def sized(field: int, value: bytes | str | None) -> bytes:
    """Return a field of wire type 2: text, bytes or a message."""
    if value is None:
        return b""
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def each_sized(field: int, values: Iterable[bytes | str]) -> bytes:
    """Return a repeated field of wire type 2."""
    return b"".join(sized(field, value) for value in values)


def unpacked(field: int, values: Iterable[int]) -> bytes:
    """Return repeated numbers as proto2 writers do: a field each."""
    return b"".join(number(field, value) for value in values)


def packed(field: int, values: Iterable[int]) -> bytes:
    """Return repeated numbers as proto3 writers do: one field for all."""
    data = b"".join(map(varint, values))
    return sized(field, data) if data else b""


Repeated = Callable[[int, Iterable[int]], bytes]


# -- what stands in a header -----------------------------------------------------------------------------


def dimension(
    name: str | None = None,
    length: int | None = None,
    *,
    unlimited: bool | None = None,
    vlen: bool | None = None,
    private: bool | None = None,
) -> bytes:
    """Return a Dimension."""
    flags = number(3, unlimited) + number(4, vlen) + number(5, private)
    return sized(1, name) + number(2, length) + flags


#: The dimension of rows that have a length of their own, as older servers write it, and as newer ones do.
VLEN = dimension("*", NO_LENGTH, vlen=True, private=True)
VLEN_PROTO3 = dimension("*", vlen=True, private=True)


def attribute(
    name: str,
    *,
    type: int | None = None,
    length: int | None = None,
    data: bytes | None = None,
    texts: Iterable[str | bytes] = (),
    unsigned: bool | None = None,
    data_type: int | None = None,
) -> bytes:
    """Return an Attribute; `data` are big-endian values, `type` is field 2 and `data_type` field 7."""
    values = number(3, length) + sized(4, data) + each_sized(5, texts)
    return sized(1, name) + number(2, type) + values + number(6, unsigned) + number(7, data_type)


def text_attribute(name: str, *texts: str) -> bytes:
    """Return an attribute of texts as servers before 5.0 write it."""
    return attribute(name, type=0, length=len(texts), texts=texts)


def number_attribute(name: str, type: int, *values: float, unsigned: bool | None = None) -> bytes:
    """Return an attribute of numbers as servers before 5.0 write it: BYTE to DOUBLE in field 2."""
    data = numbers(LETTERS[type], values)
    return attribute(name, type=type, length=len(values), data=data, unsigned=unsigned)


def typed_attribute(name: str, data_type: int, *values: Any) -> bytes:
    """Return an attribute as servers since 5.0 write it: its type in field 7."""
    if data_type == STRING:
        return attribute(name, length=len(values), texts=map(str, values), data_type=data_type)
    data = numbers(LETTERS[data_type], values)
    return attribute(name, length=len(values), data=data, data_type=data_type)


def variable(
    name: str,
    data_type: int | None,
    shape: Iterable[bytes] = (),
    attributes: Iterable[bytes] = (),
    *,
    unsigned: bool | None = None,
    immediate: bytes | None = None,
    enum: str | None = None,
    dim_index: Iterable[int] = (),
    repeated: Repeated = unpacked,
) -> bytes:
    """Return a Variable; `immediate` are its values, which then stand in the header."""
    about = number(5, unsigned) + sized(6, immediate) + sized(7, enum) + repeated(8, dim_index)
    return sized(1, name) + number(2, data_type) + each_sized(3, shape) + each_sized(4, attributes) + about


def structure(
    name: str,
    data_type: int | None = STRUCTURE,
    shape: Iterable[bytes] = (),
    attributes: Iterable[bytes] = (),
    *,
    variables: Iterable[bytes] = (),
    structures: Iterable[bytes] = (),
) -> bytes:
    """Return a Structure, of STRUCTURE or SEQUENCE type."""
    members = each_sized(5, variables) + each_sized(6, structures)
    return sized(1, name) + number(2, data_type) + each_sized(3, shape) + each_sized(4, attributes) + members


def enumeration(name: str, names: Mapping[int, str]) -> bytes:
    """Return an EnumTypedef."""
    pairs = (number(1, code) + sized(2, text) for code, text in names.items())
    return sized(1, name) + each_sized(2, pairs)


def group(
    name: str | None = "",
    *,
    dimensions: Iterable[bytes] = (),
    variables: Iterable[bytes] = (),
    structures: Iterable[bytes] = (),
    attributes: Iterable[bytes] = (),
    groups: Iterable[bytes] = (),
    enums: Iterable[bytes] = (),
) -> bytes:
    """Return a Group."""
    parts = (dimensions, variables, structures, attributes, groups, enums)
    return sized(1, name) + b"".join(each_sized(field, part) for field, part in enumerate(parts, 2))


# -- what stands in front of data ------------------------------------------------------------------------


def section(ranges: Iterable[Range]) -> bytes:
    """Return a Section; a range is start, size and stride, each of which may be None."""
    return each_sized(1, (number(1, start) + number(2, size) + number(3, by) for start, size, by in ranges))


def data_body(
    name: str | None,
    data_type: int | None,
    ranges: Iterable[Range] | None = None,
    *,
    bigend: bool | None = None,
    version: int | None = None,
    compress: int | None = None,
    crc32: int | None = None,
    vdata: bool | None = None,
    uncompressed: int | None = None,
    unknown: bytes = b"",
) -> bytes:
    """Return a Data message, without its magic; `crc32` and `vdata` are both field 7."""
    where = sized(3, None if ranges is None else section(ranges))
    about = number(4, bigend) + number(5, version) + number(6, compress)
    seventh = fixed32(7, crc32) + number(7, vdata)
    return sized(1, name) + number(2, data_type) + where + about + seventh + number(8, uncompressed) + unknown


def structure_body(
    rows: bytes | None,
    *,
    members: Iterable[int] = (),
    heap: Iterable[Sequence[str]] = (),
    count: int | None = None,
    row_length: int | None = None,
    repeated: Repeated = unpacked,
) -> bytes:
    """Return a StructureData; an entry of `heap` is the list of texts that one index in a row stands for."""
    entries = list(heap)
    texts = each_sized(4, (text for entry in entries for text in entry))
    counts = repeated(3, map(len, entries))
    numbers_of_rows = number(5, count) + number(6, row_length)
    return repeated(1, members) + sized(2, rows) + counts + texts + numbers_of_rows


def column_body(
    name: str,
    data_type: int,
    ranges: Iterable[Range] | None = None,
    *,
    bigend: bool | None = None,
    version: int | None = 3,
    vlen: bool | None = None,
    elements: int | None = None,
    primitives: bytes | None = None,
    texts: Iterable[str] = (),
    lengths: Iterable[int] = (),
    opaque: Iterable[bytes] = (),
    members: Iterable[bytes] | None = None,
    repeated: Repeated = packed,
) -> bytes:
    """Return a DataCol; `lengths` are those of ragged rows, `members` the DataCols of a structure."""
    where = sized(3, None if ranges is None else section(ranges))
    about = number(4, bigend) + number(5, version) + number(7, vlen) + number(9, elements)
    values = sized(10, primitives) + each_sized(11, texts) + repeated(12, lengths) + each_sized(13, opaque)
    of_members = b"" if members is None else sized(14, each_sized(1, members))
    return sized(1, name) + number(2, data_type) + where + about + values + of_members


# -- data parts ------------------------------------------------------------------------------------------


def numbers(letter: str, values: Iterable[float | bytes], order: str = ">") -> bytes:
    """Return values packed without gaps; `letter` is that of `struct`, `order` ``>`` or ``<``."""
    return b"".join(struct.pack(order + letter, value) for value in values)


def regular(payload: bytes) -> bytes:
    """Return the data part of elements of a fixed size."""
    return varint(len(payload)) + payload


def deflated(payload: bytes) -> bytes:
    """Return the data part of elements of a fixed size as a zlib stream."""
    return regular(zlib.compress(payload))


def objects(values: Sequence[bytes | str]) -> bytes:
    """Return the data part of texts, opaque values or ragged rows."""
    stored = [value.encode() if isinstance(value, str) else value for value in values]
    return varint(len(stored)) + b"".join(varint(len(each)) + each for each in stored)


def sequence(bodies: Iterable[bytes]) -> bytes:
    """Return the data part of a sequence from StructureData messages."""
    return b"".join(MAGIC_VDATA + regular(body) for body in bodies) + MAGIC_VEND


def crc32_of(payload: bytes) -> int:
    """Return the checksum of a payload as stored (wire notes, section 8)."""
    return zlib.crc32(payload)


# -- messages --------------------------------------------------------------------------------------------


def header(
    root: bytes | None,
    *,
    location: str | None = None,
    title: str | None = None,
    id: str | None = None,
    version: int | None = 1,
    unknown: bytes = b"",
) -> bytes:
    """Return a header message; `root` is a Group."""
    body = sized(1, location) + sized(2, title) + sized(3, id) + sized(4, root) + number(5, version) + unknown
    return MAGIC_HEADER + regular(body)


def data(body: bytes, part: bytes) -> bytes:
    """Return a data message from its Data and the data part behind it."""
    return MAGIC_DATA + regular(body) + part


def column(body: bytes) -> bytes:
    """Return a DataCol message."""
    return MAGIC_DATA2 + regular(body)


def error(message: str, code: int | None = None) -> bytes:
    """Return an error message."""
    return MAGIC_ERR + regular(sized(1, message) + number(2, code))


def stream(*messages: bytes) -> bytes:
    """Return the bytes of a whole file."""
    return MAGIC_START + b"".join(messages) + MAGIC_END


def whole(shape: Sequence[int]) -> list[Range]:
    """Return the ranges that cover a shape; servers leave a start of 0 and a stride of 1 out."""
    return [(None, size, None) for size in shape]


# -- point streams (wire notes, section 7) -----------------------------------------------------------------


def station_list(stations: Iterable[tuple[str, float, float, float]]) -> bytes:
    """Return a StationList message from ids, latitudes, longitudes and altitudes."""
    each = (
        sized(1, name) + double(2, lat) + double(3, lon) + double(4, alt) for name, lat, lon, alt in stations
    )
    return MAGIC_STATIONS + regular(each_sized(1, each))


def point_member(name: str, data_type: int, *, units: str | None = None, shape: Sequence[int] = ()) -> bytes:
    """Return a member of a PointFeatureCollection."""
    return sized(1, name) + sized(3, units) + number(4, data_type) + sized(5, section(whole(shape)))


def point_collection(name: str, time_unit: str, members: Iterable[bytes]) -> bytes:
    """Return a PointFeatureCollection message."""
    return MAGIC_COLLECTION + regular(sized(1, name) + sized(2, time_unit) + each_sized(3, members))


def point_feature(
    time: float, lat: float, lon: float, row: bytes, texts: Iterable[str] = (), alt: float | None = None
) -> bytes:
    """Return a PointFeature message."""
    location = double(1, time) + double(2, lat) + double(3, lon) + double(4, alt)
    return MAGIC_POINT + regular(sized(1, location) + sized(3, row) + each_sized(4, texts))
