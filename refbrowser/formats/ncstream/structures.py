"""Rows of structures and sequences (NcStream grammar, StructureData; wire notes, section 4)."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.definition import DataType, StreamVariable
from refbrowser.formats.ncstream.dtypes import BIG, element_dtype_of, stored_dtype_of
from refbrowser.formats.ncstream.fills import filled_rows
from refbrowser.formats.ncstream.payload_errors import PayloadError, check_room, read_length, size_mismatch

Rows = npt.NDArray[Any]


def rows_of(variable: StreamVariable, data: Any, order: str = BIG, expected: int | None = None) -> Rows:
    """Return the rows of a StructureData; members that it does not list hold what was never sent.

    Parameters
    ----------
    order
        Of the bytes of numbers in the rows, ``>`` or ``<``.
    expected
        How many rows there must be; None where only the data tell.

    Raises
    ------
    PayloadError
        ``bad-protobuf``, ``size-mismatch``, or ``unsupported-member``: rows have no form for a member.
    RefbrowserError
        `E_BUDGET`: the rows are more than what is decoded whole.
    """
    listed = listed_rows(variable, data, order, expected)
    dtype = element_dtype_of(variable, order)
    if listed.dtype == dtype:
        return listed
    check_room(len(listed), dtype)
    rows = filled_rows(variable, len(listed), order)
    for name in listed.dtype.names or ():
        rows[name] = listed[name]
    return rows


def listed_rows(variable: StreamVariable, data: Any, order: str = BIG, expected: int | None = None) -> Rows:
    """Return the rows of a StructureData with those members only that it lists, in the variable's order.

    Raises
    ------
    PayloadError, RefbrowserError
        As `rows_of`, the parameters of which these are.
    """
    message = _parsed(data)
    members = _members(variable, message)
    stored = stored_dtype_of(members, order)
    _check_row_length(message, stored)
    count = _count(message, stored, expected)
    held = replace(variable, members=tuple(each for each in variable.members if each in members))
    dtype = element_dtype_of(held, order)
    check_room(count, dtype)
    plain = np.frombuffer(message.data, stored) if stored.itemsize and count else np.zeros(count, stored)
    if stored == dtype:
        return plain
    rows = filled_rows(held, count, order)
    _put(rows, plain, members, _Heap(message))
    return rows


def sequence_rows(variable: StreamVariable, data: memoryview, order: str = BIG) -> Rows:
    """Return all rows of the data part of a sequence: any number of StructureData up to its end."""
    parts = [rows_of(variable, block, order) for block in sequence_blocks(data)]
    return np.concatenate(parts) if parts else np.empty(0, element_dtype_of(variable, order))


def sequence_blocks(data: memoryview) -> list[memoryview]:
    """Return the StructureData of the data part of a sequence.

    Raises
    ------
    PayloadError
        ``bad-magic``, ``bad-varint``, ``truncated``, ``length-too-large``.
    """
    blocks: list[memoryview] = []
    at = 0
    while True:
        magic = bytes(data[at : at + magics.LENGTH])
        at += magics.LENGTH
        if magic == magics.VEND:
            return blocks
        if magic != magics.VDATA:
            code = "truncated" if len(magic) < magics.LENGTH else "bad-magic"
            raise PayloadError(code, "the rows of the sequence are not followed by its end")
        length, at = read_length(data, at)
        if length > len(data) - at:
            raise PayloadError("length-too-large", f"rows of {length} bytes where {len(data) - at} are left")
        blocks.append(data[at : at + length])
        at += length


def _parsed(data: Any) -> Any:
    from google.protobuf.message import DecodeError

    from refbrowser.formats.ncstream.schema import STRUCTURE_DATA

    try:
        return STRUCTURE_DATA.FromString(bytes(data))
    except DecodeError:
        raise PayloadError("bad-protobuf", "the StructureData cannot be parsed") from None


def _members(variable: StreamVariable, message: Any) -> tuple[StreamVariable, ...]:
    """Return the members that the rows hold: those that are listed, or all."""
    numbers = list(message.member)
    if not numbers:
        return variable.members
    known = len(variable.members)
    if max(numbers) >= known:
        raise PayloadError("size-mismatch", f"member {max(numbers)} of a structure that has {known}")
    if len(set(numbers)) < len(numbers):
        raise PayloadError("size-mismatch", "a member is listed twice")
    return tuple(variable.members[number] for number in numbers)


def _check_row_length(message: Any, stored: np.dtype[Any]) -> None:
    if message.HasField("rowLength") and message.rowLength not in (0, stored.itemsize):
        raise size_mismatch(message.rowLength, stored.itemsize, "bytes a row")


def _count(message: Any, stored: np.dtype[Any], expected: int | None) -> int:
    size = len(message.data)
    count = size // stored.itemsize if stored.itemsize else int(message.nrows)
    if message.HasField("nrows"):
        count = int(message.nrows)
    elif expected is not None and not stored.itemsize:
        count = expected
    if expected is not None and count != expected:
        raise size_mismatch(count, expected, "rows")
    if count * stored.itemsize != size:
        raise size_mismatch(size, count * stored.itemsize)
    return count


class _Heap:
    """The strings of all rows: entry `i` is the next ``heapCount[i]`` of `sdata`."""

    def __init__(self, message: Any) -> None:
        self._texts = list(message.sdata)
        # Without counts each entry is one string.
        counts = list(message.heapCount) or [1] * len(self._texts)
        self._starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).tolist()
        if self._starts[-1] > len(self._texts):
            raise size_mismatch(len(self._texts), self._starts[-1], "strings")

    def entry(self, number: int, expected: int) -> list[str]:
        """Return the strings of an entry, of which there must be so many."""
        if number >= len(self._starts) - 1:
            raise PayloadError("size-mismatch", f"string {number} of a heap of {len(self._starts) - 1}")
        texts = self._texts[self._starts[number] : self._starts[number + 1]]
        if len(texts) != expected:
            raise size_mismatch(len(texts), expected, "strings")
        return texts


def _put(rows: Rows, plain: Rows, members: tuple[StreamVariable, ...], heap: _Heap) -> None:
    """Copy the fields of stored rows into rows as they are held."""
    for member in members:
        if member.type is DataType.STRING:
            _put_texts(rows, plain, member, heap)
        elif member.type is DataType.STRUCTURE:
            _put(rows[member.name], plain[member.name], member.members, heap)
        elif member.type is not DataType.SEQUENCE:
            rows[member.name] = plain[member.name]


def _put_texts(rows: Rows, plain: Rows, member: StreamVariable, heap: _Heap) -> None:
    each = prod(member.shape)
    numbers = plain[member.name].reshape(-1).tolist()
    texts = np.empty(len(numbers) * each, object)
    texts[:] = [text for number in numbers for text in heap.entry(number, each)]
    rows[member.name] = texts.reshape(plain[member.name].shape + member.shape)
