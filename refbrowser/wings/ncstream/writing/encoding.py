"""Messages of a stream as bytes, made of definitions and values (NcStream grammar; wire notes, 1 to 5).

All numbers are written big endian, and every data message says so: every known reader understands that. What
a data message consists of comes as a list of buffers, so that a large payload is not copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import deflate
import numpy as np
import numpy.typing as npt

from refbrowser.codecs.deflating import Zlib
from refbrowser.model.exact_numbers import narrowed
from refbrowser.wings.ncstream.reading import magics
from refbrowser.wings.ncstream.reading.bytes import write_varint
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamDimension,
    StreamGroup,
    StreamType,
    StreamVariable,
)
from refbrowser.wings.ncstream.reading.descriptor import DATA, DATA_PRACTICE, ERROR, HEADER, STRUCTURE_DATA
from refbrowser.wings.ncstream.reading.elements import STRUCTURES, is_ragged, stored_dtype_of

_ESCAPED = re.compile(r"[.\\]")


def full_name(path: str) -> str:
    r"""Return the full name of a variable by its absolute path (wire notes, section 3).

    Known writers put no ``/`` before it, and known readers take it with and without.

    >>> full_name("/ocean/t.mean")
    'ocean/t\\.mean'
    """
    return _ESCAPED.sub(lambda found: f"\\{found[0]}", path.removeprefix("/"))


def in_wire_order(members: Sequence[StreamVariable]) -> tuple[StreamVariable, ...]:
    """Return members in the order of their numbers: all variables, then all structures."""
    plain = [member for member in members if member.type not in STRUCTURES]
    return (*plain, *(member for member in members if member.type in STRUCTURES))


class RowPacker:
    """Packs rows of one structure, big endian and without padding.

    Parameters
    ----------
    members
        Of the structure, in the order of their numbers.

    Raises
    ------
    RefbrowserError
        `FORMAT`: a member has no form in rows.
    """

    def __init__(self, members: Sequence[StreamVariable]) -> None:
        self._members = members
        self._dtype = stored_dtype_of(members)

    def body(self, values: npt.NDArray[Any]) -> bytes:
        """Return structures, an array with a field for each member, as a StructureData with all members."""
        message = STRUCTURE_DATA()
        rows, heap = np.zeros(values.size, self._dtype), _Heap()
        _put(rows, values.reshape(-1), self._members, heap)
        message.nrows, message.rowLength = len(rows), self._dtype.itemsize
        message.data = rows.tobytes()
        message.heapCount.extend(heap.counts)
        message.sdata.extend(heap.texts)
        data: bytes = message.SerializeToString()
        return data


class _Heap:
    """The texts of a message, and how many of them each number in its rows stands for."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.texts: list[str] = []

    def take(self, values: npt.NDArray[Any], each: int) -> npt.NDArray[np.int64]:
        """Take texts, `each` of them for one number; return the numbers."""
        first, count = len(self.counts), values.size // each if each else 0
        self.counts.extend([each] * count)
        self.texts.extend(map(text_of, values.reshape(-1).tolist()))
        return np.arange(first, first + count)


def _put(
    rows: npt.NDArray[Any], values: npt.NDArray[Any], members: Sequence[StreamVariable], heap: _Heap
) -> None:
    for member in members:
        place, given = rows[member.name], values[member.name]
        if member.type is StreamType.STRUCTURE:
            _put(place, given, member.members, heap)
        elif member.type is StreamType.STRING:
            place[...] = heap.take(given, prod(member.shape)).reshape(place.shape)
        else:
            place[...] = given


def text_of(value: Any) -> str:
    """Return an element of an array of texts as text; bytes that are no UTF-8 are taken as Latin-1."""
    if not isinstance(value, bytes):
        return clean_text(str(value))
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def clean_text(text: str) -> str:
    """Return a text as UTF-8 can hold it: a lone half of a character becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


#: What practice writes as the version of a header.
HEADER_VERSION = 1
#: What practice writes as the length of a dimension that has none.
NO_LENGTH = 2**64 - 1
#: The older field for the type of an attribute knows no unsigned types and numbers the others like variables.
_SIGNED = {
    StreamType.UBYTE: StreamType.BYTE,
    StreamType.USHORT: StreamType.SHORT,
    StreamType.UINT: StreamType.INT,
    StreamType.ULONG: StreamType.LONG,
}


def header_body(definition: StreamDefinition) -> bytes:
    """Return a definition as a Header."""
    header = HEADER()
    for name in ("location", "title", "id"):
        if text := getattr(definition, name):
            setattr(header, name, clean_text(text))
    header.version = HEADER_VERSION
    _fill_group(header.root, definition.root)
    data: bytes = header.SerializeToString()
    return data


def _fill_group(target: Any, group: StreamGroup) -> None:
    target.name = clean_text(group.name)
    for dimension in group.dimensions.values():
        _fill_dimension(target.dims.add(), dimension)
    for variable in group.variables.values():
        _fill_variable((target.structs if variable.type in STRUCTURES else target.vars).add(), variable)
    _fill_attributes(target.atts, group.attributes.values())
    for name, names in group.enums.items():
        _fill_enum(target.enumTypes.add(), name, names)
    for child in group.groups.values():
        _fill_group(target.groups.add(), child)


def _fill_enum(target: Any, name: str, names: Mapping[int, str]) -> None:
    target.name = clean_text(name)
    for code, value in names.items():
        entry = target.map.add()
        entry.code, entry.value = code, clean_text(value)


def _fill_dimension(target: Any, dimension: StreamDimension) -> None:
    target.name = "*" if dimension.is_vlen and not dimension.name else clean_text(dimension.name)
    target.length = NO_LENGTH if dimension.is_vlen else dimension.length
    for field, is_set in (
        ("isUnlimited", dimension.is_unlimited),
        ("isVlen", dimension.is_vlen),
        ("isPrivate", dimension.is_private),
    ):
        if is_set:
            setattr(target, field, True)


def _fill_variable(target: Any, variable: StreamVariable) -> None:
    target.name = clean_text(variable.name)
    target.dataType = int(variable.type)
    for dimension in variable.dimensions:
        _fill_dimension(target.shape.add(), dimension)
    _fill_attributes(target.atts, variable.attributes.values())
    if variable.type in STRUCTURES:
        for member in variable.members:
            _fill_variable((target.structs if member.type in STRUCTURES else target.vars).add(), member)
        return
    if variable.immediate is not None:
        target.data = variable.immediate
    if variable.enum_name:
        target.enumType = clean_text(variable.enum_name)


def _fill_attributes(target: Any, attributes: Iterable[StreamAttribute]) -> None:
    for attribute in attributes:
        _fill_attribute(target.add(), attribute)


def _fill_attribute(target: Any, attribute: StreamAttribute) -> None:
    """Write an attribute with both fields for its type, so that older and newer readers understand it."""
    target.name = clean_text(attribute.name)
    target.len = len(attribute.values)
    if attribute.type in (StreamType.STRING, StreamType.CHAR):
        target.type, target.dataType = 0, int(StreamType.STRING)
        target.sdata.extend(map(text_of, attribute.values))
        return
    target.type = int(_SIGNED.get(attribute.type, attribute.type))
    target.dataType = int(attribute.type)
    if attribute.type in _SIGNED:
        target.unsigned = True
    if attribute.values:
        target.data = np.array(attribute.values, attribute.type.known_dtype).tobytes()


Buffer = bytes | memoryview
#: What practice writes as the version of a data message (wire notes, section 2).
VERSION = 2
#: Rows of one StructureData of a sequence.
SEQUENCE_ROWS = 1024
_DEFLATE = 1
_SIZES = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedFacts:
    """What a data message says of its payload.

    Attributes
    ----------
    path
        Absolute path of the variable, without escapes.
    section
        One range an axis, that of variable length left out; None of a sequence.
    is_ragged
        The variable has a last dimension of variable length.
    uncompressed
        Bytes of a deflated payload, inflated; None where it is stored plain.
    crc32
        Of the payload as it is stored; None where it is not told. Never told of ragged rows: other readers
        need field 7 for another use there.
    """

    path: str
    type: StreamType
    section: tuple[range, ...] | None = None
    is_ragged: bool = False
    uncompressed: int | None = None
    crc32: int | None = None


def header_message(definition: StreamDefinition) -> bytes:
    """Return a header message with all of a definition."""
    return _framed(magics.HEADER, header_body(definition))


def error_message(text: str, code: int = 0) -> bytes:
    """Return an error message."""
    message = ERROR()
    message.message = clean_text(text)
    if code:
        message.code = code
    return _framed(magics.ERROR, message.SerializeToString())


def data_head(facts: EncodedFacts) -> bytes:
    """Return what stands before the payload of a data message: its magic, and the Data with its length."""
    message = DATA_PRACTICE() if facts.is_ragged else DATA()
    message.varName = clean_text(full_name(facts.path))
    message.dataType = int(facts.type)
    if facts.section is not None:
        message.section.SetInParent()
        for taken in facts.section:
            _fill_range(message.section.range.add(), taken)
        if facts.is_ragged:
            message.section.range.add().size = NO_LENGTH
    message.bigend = True
    message.version = VERSION
    if facts.uncompressed is not None:
        message.compress = _DEFLATE
        if facts.uncompressed <= _SIZES:
            message.uncompressedSize = facts.uncompressed
    if facts.is_ragged:
        message.vdata = True
    elif facts.crc32 is not None:
        message.crc32 = facts.crc32
    return _framed(magics.DATA, message.SerializeToString())


def padded_varint(value: int, length: int) -> bytes:
    """Return a varint of a given length, which is legal where it is known later how large the value is."""
    groups = [value >> 7 * number & 0x7F | 0x80 for number in range(length)]
    groups[-1] &= 0x7F
    return bytes(groups)


def regular_message(facts: EncodedFacts, payload: Buffer) -> list[Buffer]:
    """Return a data message around elements as they are stored: big endian in C order, or deflated."""
    return [data_head(facts), write_varint(len(payload)), payload]


def data_message(
    path: str,
    variable: StreamVariable,
    section: tuple[range, ...],
    values: npt.NDArray[Any],
    *,
    level: int | None = None,
    checksum: bool = False,
) -> list[Buffer]:
    """Return the data message for some elements of a variable.

    Parameters
    ----------
    path
        Absolute path of the variable, without escapes.
    section
        Which elements, one range for each dimension of fixed length; of no meaning for a sequence.
    values
        As many elements, in C order; what they are is told at
        `refbrowser.wings.ncstream.reading.elements.dtype_of`.
    level
        Of deflate, for elements of fixed size where it makes them smaller; the others are always stored
        plain, as readers need it.
    checksum
        Tell the CRC-32 of the payload. There is none of ragged rows and sequences (wire notes, section 8).

    Raises
    ------
    RefbrowserError
        `FORMAT`: a member of a structure has no form in rows.
    """
    if variable.type is StreamType.SEQUENCE:
        facts = EncodedFacts(path=path, type=variable.type)
        return [data_head(facts), b"".join(sequence_payload(variable, values))]
    facts = EncodedFacts(path=path, type=variable.type, section=section, is_ragged=is_ragged(variable))
    if facts.is_ragged or variable.type in (StreamType.STRING, StreamType.OPAQUE):
        objects = object_bytes(variable, values)
        sums = _sum(objects) if checksum else None
        return [data_head(replace(facts, crc32=sums)), *object_payload(objects)]
    if variable.type is StreamType.STRUCTURE:
        body: Buffer = RowPacker(variable.members).body(values)
    else:
        body = element_bytes(variable, values)
        packed = body if level is None else deflated(body, level)
        if len(packed) < len(body):
            facts, body = replace(facts, uncompressed=len(body)), packed
    return regular_message(replace(facts, crc32=crc32_of(body) if checksum else None), body)


def payload_of(variable: StreamVariable, values: npt.NDArray[Any]) -> bytes:
    """Return elements as the payload of one message, stored plain.

    Raises
    ------
    RefbrowserError
        `FORMAT`: a member of a structure has no form in rows.
    """
    if variable.type is StreamType.SEQUENCE:
        return b"".join(sequence_payload(variable, values))
    if variable.type is StreamType.STRUCTURE:
        return RowPacker(variable.members).body(values)
    if is_ragged(variable) or variable.type.dtype is None:
        return b"".join(object_payload(object_bytes(variable, values)))
    return bytes(element_bytes(variable, values))


def crc32_of(data: Buffer, value: int = 0) -> int:
    """Return the CRC-32 of bytes, going on from that of the bytes before them."""
    found: int = deflate.crc32(data, value)
    return found


def deflated(data: Buffer, level: int) -> Buffer:
    """Return bytes as a zlib stream."""
    packed: Buffer = Zlib(level).encode(np.frombuffer(data, np.uint8)).data
    return packed


def element_bytes(variable: StreamVariable, values: npt.NDArray[Any]) -> Buffer:
    """Return elements of fixed size, big endian in C order; without a copy where they are so already."""
    stored = np.ascontiguousarray(narrowed(values, variable.type.known_dtype), variable.type.known_dtype)
    return stored.reshape(-1).view(np.uint8).data


def object_bytes(variable: StreamVariable, values: npt.NDArray[Any]) -> list[bytes]:
    """Return each text, opaque value or ragged row as it is stored."""
    items = values.reshape(-1).tolist() if values.dtype != object else list(values.reshape(-1))
    if is_ragged(variable):
        dtype = variable.type.dtype
        return [np.asarray(row, dtype).tobytes() for row in items]
    if variable.type is StreamType.STRING:
        return [text_of(item).encode() for item in items]
    return [bytes(item) for item in items]


def object_payload(objects: Sequence[bytes]) -> list[Buffer]:
    """Return objects behind their number (NcStream grammar, "vlenData")."""
    return [write_varint(len(objects)) + sized_objects(objects)]


def sized_objects(objects: Iterable[bytes]) -> bytes:
    """Return objects, each behind its length."""
    return b"".join(part for item in objects for part in (write_varint(len(item)), item))


def sequence_payload(variable: StreamVariable, values: npt.NDArray[Any]) -> list[Buffer]:
    """Return the rows of a sequence and its end (NcStream grammar, "seqData")."""
    return [*sequence_rows(variable, values), magics.VEND]


def sequence_rows(variable: StreamVariable, values: npt.NDArray[Any]) -> Iterator[Buffer]:
    """Yield rows of a sequence, some at a time."""
    packer = RowPacker(variable.members)
    rows = values.reshape(-1)
    for start in range(0, len(rows), SEQUENCE_ROWS):
        yield _framed(magics.VDATA, packer.body(rows[start : start + SEQUENCE_ROWS]))


def _fill_range(target: Any, taken: range) -> None:
    target.start, target.size, target.stride = taken.start, len(taken), taken.step


def _framed(magic: bytes, body: bytes) -> bytes:
    return b"".join((magic, write_varint(len(body)), body))


def _sum(objects: Iterable[bytes]) -> int:
    found = 0
    for item in objects:
        found = crc32_of(item, found)
    return found


#: Bytes of one header, about, where a definition is cut: a reader need not hold more than this of it.
MOST = 16 * 1024 * 1024


def header_messages(definition: StreamDefinition) -> Iterator[bytes]:
    """Yield the header messages of a definition: one, unless it is very large (NcStream grammar, "Rules").

    Of several the first has everything but the variables, which the others bring, some at a time.
    """
    whole = header_message(definition)
    if len(whole) <= MOST:
        yield whole
        return
    yield header_message(replace(definition, root=_with(definition.root, "/", {})))
    batch: dict[str, StreamVariable] = {}
    size = 0
    for path, variable in definition.variables():
        own = len(header_body(StreamDefinition(root=StreamGroup(variables={variable.name: variable}))))
        if batch and size + own > MOST:
            yield header_message(StreamDefinition(root=_only(definition.root, "/", batch)))
            batch, size = {}, 0
        batch[path] = variable
        size += own
    if batch:
        yield header_message(StreamDefinition(root=_only(definition.root, "/", batch)))


def _with(group: StreamGroup, path: str, kept: dict[str, StreamVariable]) -> StreamGroup:
    """Return a group with some of its variables, by path, and all else."""
    variables = {name: each for name, each in group.variables.items() if path + name in kept}
    groups = {name: _with(below, f"{path}{name}/", kept) for name, below in group.groups.items()}
    return replace(group, variables=variables, groups=groups)


def _only(group: StreamGroup, path: str, kept: dict[str, StreamVariable]) -> StreamGroup:
    """Return a group with some variables, by path, and nothing else but what they lie in."""
    below = {
        name: _only(inner, f"{path}{name}/", kept)
        for name, inner in group.groups.items()
        if any(each.startswith(f"{path}{name}/") for each in kept)
    }
    variables = {name: each for name, each in group.variables.items() if path + name in kept}
    return StreamGroup(name=group.name, variables=variables, groups=below)
