"""The bytes of a payload to values (NcStream grammar, data encoding; wire notes, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.base import DecodeError, Room, as_bytes
from refbrowser.codecs.deflating import Zlib
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.ncstream.columns import column_values
from refbrowser.formats.ncstream.definition import DataType, StreamVariable
from refbrowser.formats.ncstream.dtypes import BIG, STRUCTURES, element_dtype_of, is_ragged
from refbrowser.formats.ncstream.messages import Payload
from refbrowser.formats.ncstream.payload_errors import PayloadError, read_length, size_mismatch
from refbrowser.formats.ncstream.structures import listed_rows, rows_of, sequence_rows
from refbrowser.limits import LIMITS

Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class PayloadFacts:
    """What a message says of its payload.

    Attributes
    ----------
    payload
        Its kind.
    shape
        Of the section, without the dimension of variable length; of a sequence its rows, which tell it.
    order
        Of the bytes of numbers, ``>`` or ``<``; of a DataCol, empty where its own flags count.
    deflated
        Whether the bytes are a zlib stream.
    """

    payload: Payload
    shape: tuple[int, ...]
    order: str = BIG
    deflated: bool = False


def decode_payload(variable: StreamVariable, facts: PayloadFacts, data: Any) -> Values:
    """Return the values of a message, of `facts.shape` (of a sequence: of as many rows as there are).

    Parameters
    ----------
    variable
        As the headers define it.
    data
        The payload as it is stored: of `Payload.REGULAR` the block without its length, of `STRUCTURE` the
        StructureData, of `VARIABLE` and `SEQUENCE` all of it with counts and lengths, of `COLUMN` the
        DataCol.

    Returns
    -------
    ndarray
        Of `dtype_of(variable, facts.order)`; it may be a read-only view of `data`.

    Raises
    ------
    PayloadError
        It is not what the message and the variable say.
    RefbrowserError
        `E_BUDGET`: it is larger than what is decoded whole.
    """
    bytes_ = memoryview(data)
    if facts.payload is Payload.COLUMN:
        return column_values(variable, bytes_, facts.shape, facts.order)
    if facts.payload is Payload.SEQUENCE:
        return sequence_rows(variable, bytes_, facts.order)
    if facts.payload is Payload.STRUCTURE:
        return rows_of(variable, bytes_, facts.order, prod(facts.shape)).reshape(facts.shape)
    if facts.payload is Payload.VARIABLE:
        count, start = prod(facts.shape), 0
        if facts.deflated:
            bytes_ = memoryview(_inflated_objects(bytes_))
        else:
            count, start = read_length(bytes_, 0)
        if count != prod(facts.shape):
            raise size_mismatch(count, prod(facts.shape), "objects")
        objects = split_objects(bytes_[start:], count)
        return objects_as_values(variable, objects, facts.order).reshape(facts.shape)
    return regular_values(variable, facts, bytes_)


def decode_listed(variable: StreamVariable, facts: PayloadFacts, data: Any) -> Values:
    """Return what `decode_payload` does, of structures those members only that the message lists.

    Raises
    ------
    PayloadError, RefbrowserError
        As `decode_payload`.
    """
    if facts.payload is Payload.STRUCTURE:
        return listed_rows(variable, data, facts.order, prod(facts.shape)).reshape(facts.shape)
    return decode_payload(variable, facts, data)


def immediate_values(variable: StreamVariable, data: Any, shape: tuple[int, ...]) -> Values:
    """Return the values of a variable that stood in a header: big endian whatever else is said."""
    return regular_values(variable, PayloadFacts(Payload.REGULAR, shape), memoryview(data))


def regular_values(variable: StreamVariable, facts: PayloadFacts, data: memoryview) -> Values:
    """Return the elements of a block: numbers, enumerations or characters, one after the other."""
    if is_ragged(variable) or variable.type.dtype is None:
        raise PayloadError("type-mismatch", f"a block of bytes where {variable.type.name} is expected")
    dtype = element_dtype_of(variable, facts.order)
    size = prod(facts.shape) * dtype.itemsize
    stored: Any = inflated(data, size) if facts.deflated else data
    if len(stored) != size:
        raise size_mismatch(len(stored), size)
    return np.frombuffer(stored, dtype).reshape(facts.shape) if size else np.zeros(facts.shape, dtype)


def inflated(data: memoryview, size: int) -> npt.NDArray[np.uint8]:
    """Return the `size` bytes that a zlib stream holds; never many more are made.

    Raises
    ------
    PayloadError
        ``deflate``: it is damaged; ``size-mismatch``: it holds less or more.
    RefbrowserError
        `E_BUDGET`: they are more than what is decoded whole.
    """
    if size > LIMITS.chunk_size:
        message = f"a block of {size} bytes; at most {LIMITS.chunk_size} are inflated (chunk_size)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    room = Room.of(size)
    try:
        plain = Zlib(1).decode(as_bytes(data), room, None)
    except DecodeError as error:
        code = "size-mismatch" if str(error).startswith("more than") else "deflate"
        raise PayloadError(code, str(error)) from None
    if len(plain) != size:
        raise size_mismatch(len(plain), size, "inflated bytes")
    return plain


def _inflated_objects(data: memoryview) -> Any:
    """Return lengths and objects from a zlib stream without their count, as one writer sends them."""
    try:
        return Zlib(1).decode(as_bytes(data), Room(None, LIMITS.chunk_size), None).data
    except DecodeError as error:
        raise PayloadError("deflate", str(error)) from None


def split_objects(data: memoryview, count: int) -> list[memoryview]:
    """Return the first `count` objects of bytes, each behind its length.

    Raises
    ------
    PayloadError
        ``size-mismatch``: there are fewer; ``bad-varint``.
    """
    objects: list[memoryview] = []
    at, size = 0, len(data)
    for _ in range(count):
        if at >= size:
            raise size_mismatch(len(objects), count, "objects")
        length = data[at]
        at += 1
        if length >= 0x80:
            length, at = read_length(data, at - 1)
        if length > size - at:
            raise PayloadError("length-too-large", f"an object of {length} bytes where {size - at} are left")
        objects.append(data[at : at + length])
        at += length
    return objects


def objects_as_values(variable: StreamVariable, objects: Sequence[memoryview], order: str = BIG) -> Values:
    """Return strings, opaque values or ragged rows from the bytes of each, in one dimension."""
    values = np.empty(len(objects), object)
    for at, value in enumerate(_objects(variable, objects, order)):
        values[at] = value
    return values


def text_of(data: Any) -> str | bytes:
    """Return the text of bytes; what is no UTF-8 stays bytes."""
    plain = bytes(data)
    try:
        return plain.decode("utf-8")
    except UnicodeDecodeError:
        return plain


def _objects(variable: StreamVariable, objects: Sequence[memoryview], order: str) -> list[Any]:
    if not is_ragged(variable):
        if variable.type is DataType.STRING:
            return [text_of(each) for each in objects]
        if variable.type is DataType.OPAQUE:
            return [bytes(each) for each in objects]
        raise PayloadError("type-mismatch", f"objects where {variable.type.name} is expected")
    if variable.type in STRUCTURES or variable.type.dtype is None:
        raise PayloadError("unsupported-shape", f"there is no form for rows of {variable.type.name}")
    dtype = element_dtype_of(variable, order)
    rows = []
    for each in objects:
        if len(each) % dtype.itemsize:
            raise PayloadError("size-mismatch", f"a row of {len(each)} bytes, elements of {dtype.itemsize}")
        # Copied: a view would keep all of the payload alive.
        rows.append(np.frombuffer(bytes(each), dtype) if len(each) else np.empty(0, dtype))
    return rows
