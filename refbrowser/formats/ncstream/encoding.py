"""Messages of a stream as bytes, made of definitions and values (NcStream grammar; wire notes, 1 to 5).

All numbers are written big endian, and every data message says so: every known reader understands that. What
a data message consists of comes as a list of buffers, so that a large payload is not copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import deflate
import numpy as np
import numpy.typing as npt

from refbrowser.codecs.deflating import Zlib
from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.definition import DataType, StreamDefinition, StreamVariable
from refbrowser.formats.ncstream.dtypes import is_ragged
from refbrowser.formats.ncstream.encode_header import NO_LENGTH, header_body
from refbrowser.formats.ncstream.encode_names import full_name
from refbrowser.formats.ncstream.encode_rows import RowPacker, clean_text, text_of
from refbrowser.formats.ncstream.schema import DATA, DATA_PRACTICE, ERROR
from refbrowser.formats.ncstream.varints import write_varint
from refbrowser.model.exact_numbers import narrowed

Buffer = bytes | memoryview
#: What practice writes as the version of a data message (wire notes, section 2).
VERSION = 2
#: Rows of one StructureData of a sequence.
SEQUENCE_ROWS = 1024
_DEFLATE = 1
_SIZES = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFacts:
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
    type: DataType
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


def data_head(facts: DataFacts) -> bytes:
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


def regular_message(facts: DataFacts, payload: Buffer) -> list[Buffer]:
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
        As many elements, in C order; what they are is told at `refbrowser.formats.ncstream.dtypes.dtype_of`.
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
    if variable.type is DataType.SEQUENCE:
        facts = DataFacts(path=path, type=variable.type)
        return [data_head(facts), b"".join(sequence_payload(variable, values))]
    facts = DataFacts(path=path, type=variable.type, section=section, is_ragged=is_ragged(variable))
    if facts.is_ragged or variable.type in (DataType.STRING, DataType.OPAQUE):
        objects = object_bytes(variable, values)
        sums = _sum(objects) if checksum else None
        return [data_head(replace(facts, crc32=sums)), *object_payload(objects)]
    if variable.type is DataType.STRUCTURE:
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
    if variable.type is DataType.SEQUENCE:
        return b"".join(sequence_payload(variable, values))
    if variable.type is DataType.STRUCTURE:
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
    assert variable.type.dtype is not None
    stored = np.ascontiguousarray(narrowed(values, variable.type.dtype), variable.type.dtype)
    return stored.reshape(-1).view(np.uint8).data


def object_bytes(variable: StreamVariable, values: npt.NDArray[Any]) -> list[bytes]:
    """Return each text, opaque value or ragged row as it is stored."""
    items = values.reshape(-1).tolist() if values.dtype != object else list(values.reshape(-1))
    if is_ragged(variable):
        dtype = variable.type.dtype
        return [np.asarray(row, dtype).tobytes() for row in items]
    if variable.type is DataType.STRING:
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
