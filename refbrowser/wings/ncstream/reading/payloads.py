"""The bytes of a payload to values (NcStream grammar, data encoding; wire notes, section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.base import DecodeError, Room, as_bytes
from refbrowser.codecs.deflating import Zlib
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.wings.ncstream.reading import magics
from refbrowser.wings.ncstream.reading.definition import StreamType, StreamVariable, family_of, type_name
from refbrowser.wings.ncstream.reading.elements import (
    BIG,
    LITTLE,
    STRUCTURES,
    PayloadError,
    check_room,
    element_dtype_of,
    filled_rows,
    is_ragged,
    read_length,
    size_mismatch,
    stored_dtype_of,
)
from refbrowser.wings.ncstream.reading.messages import MessageTable, Payload

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

    from refbrowser.wings.ncstream.reading.descriptor import STRUCTURE_DATA

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
        if member.type is StreamType.STRING:
            _put_texts(rows, plain, member, heap)
        elif member.type is StreamType.STRUCTURE:
            _put(rows[member.name], plain[member.name], member.members, heap)
        elif member.type is not StreamType.SEQUENCE:
            rows[member.name] = plain[member.name]


def _put_texts(rows: Rows, plain: Rows, member: StreamVariable, heap: _Heap) -> None:
    each = prod(member.shape)
    numbers = plain[member.name].reshape(-1).tolist()
    texts = np.empty(len(numbers) * each, object)
    texts[:] = [text for number in numbers for text in heap.entry(number, each)]
    rows[member.name] = texts.reshape(plain[member.name].shape + member.shape)


Values = npt.NDArray[Any]


def column_values(variable: StreamVariable, data: Any, shape: tuple[int, ...], order: str = "") -> Values:
    """Return the values of a DataCol, of `shape`.

    Parameters
    ----------
    order
        Of the bytes of numbers, ``>`` or ``<``; empty where the flags of the columns count, of which absence
        means little.

    Raises
    ------
    PayloadError
        ``bad-protobuf``, ``type-mismatch``, ``size-mismatch``, or ``unsupported-member``.
    """
    from google.protobuf.message import DecodeError

    from refbrowser.wings.ncstream.reading.descriptor import DATA_COLUMN

    try:
        column = DATA_COLUMN.FromString(bytes(data))
    except DecodeError:
        raise PayloadError("bad-protobuf", "the DataCol cannot be parsed") from None
    return _values(variable, column, shape, order)


def _values(variable: StreamVariable, column: Any, shape: tuple[int, ...], order: str) -> Values:
    if variable.type is StreamType.SEQUENCE:
        raise PayloadError(
            "unsupported-member", f"a DataCol has no form for the sequence {quoted(variable.name)}"
        )
    if variable.type is StreamType.STRUCTURE:
        return _structures(variable, column, shape, order)
    values = _flat(variable, column, order)
    if not is_ragged(variable):
        if len(values) != prod(shape):
            raise size_mismatch(len(values), prod(shape), "elements")
        return values.reshape(shape)
    return _rows(values, column, shape)


def _flat(variable: StreamVariable, column: Any, order: str) -> Values:
    """Return all values of a column, one after the other."""
    if variable.type is StreamType.STRING:
        return _object_array(list(column.stringdata))
    if variable.type is StreamType.OPAQUE:
        return _object_array(list(column.opaquedata))
    own = BIG if column.HasField("bigend") and column.bigend else LITTLE
    dtype = element_dtype_of(variable, order or own)
    data = column.primdata
    if len(data) % dtype.itemsize:
        raise PayloadError("size-mismatch", f"{len(data)} bytes of elements of {dtype.itemsize}")
    return np.frombuffer(data, dtype) if data else np.empty(0, dtype)


def _object_array(values: list[Any]) -> Values:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _rows(values: Values, column: Any, shape: tuple[int, ...]) -> Values:
    """Return the rows that `vlens` cuts values into."""
    lengths = list(column.vlens)
    if len(lengths) != prod(shape):
        raise size_mismatch(len(lengths), prod(shape), "rows")
    if sum(lengths) != len(values):
        raise size_mismatch(len(values), sum(lengths), "elements of rows")
    rows = np.empty(len(lengths), object)
    start = 0
    for at, length in enumerate(lengths):
        rows[at] = values[start : start + length].copy()
        start += length
    return rows.reshape(shape)


def _structures(variable: StreamVariable, column: Any, shape: tuple[int, ...], order: str) -> Values:
    """Return structures whose values lie, for all of them together, at the innermost members."""
    if is_ragged(variable):
        raise PayloadError("unsupported-member", f"a DataCol has no form for rows of {quoted(variable.name)}")
    columns = {each.name: each for each in column.structdata.memberData}
    _check_members(variable, columns)
    check_room(prod(shape), element_dtype_of(variable))
    rows = filled_rows(variable, prod(shape), order or BIG).reshape(shape)
    for member in variable.members:
        if member.name in columns:
            rows[member.name] = _values(member, columns[member.name], shape + member.shape, order)
    return rows


def _check_members(variable: StreamVariable, columns: Mapping[str, Any]) -> None:
    """Raise where the columns of members are not what the header says of them."""
    members = {member.name: member for member in variable.members}
    for name, column in columns.items():
        member = members.get(name)
        if member is None:
            what = f"the header defines no member {quoted(name)} of {quoted(variable.name)}"
            raise PayloadError("unknown-variable", what)
        if family_of(column.dataType) != family_of(member.type):
            named = type_name(column.dataType)
            what = (
                f"the data of the member {quoted(name)} are {named}, in the header {type_name(member.type)}"
            )
            raise PayloadError("type-mismatch", what)


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
        if variable.type is StreamType.STRING:
            return [text_of(each) for each in objects]
        if variable.type is StreamType.OPAQUE:
            return [bytes(each) for each in objects]
        raise PayloadError("type-mismatch", f"objects where {variable.type.name} is expected")
    if variable.type in STRUCTURES or variable.type.dtype is None:
        raise PayloadError("unsupported-shape", f"rows cannot be of type {variable.type.name}")
    dtype = element_dtype_of(variable, order)
    rows = []
    for each in objects:
        if len(each) % dtype.itemsize:
            raise PayloadError("size-mismatch", f"a row of {len(each)} bytes, elements of {dtype.itemsize}")
        # Copied: a view would keep all of the payload alive.
        rows.append(np.frombuffer(bytes(each), dtype) if len(each) else np.empty(0, dtype))
    return rows


@dataclass(frozen=True, slots=True)
class ObjectRun:
    """Objects that follow each other: whole rows along the first dimension of their message.

    Attributes
    ----------
    start, stop
        Bytes of the file from the checkpoint before the first one to that behind the last one.
    skipped
        Objects between the checkpoint and the first one.
    shape
        Of those that are wanted.
    inside
        Which of these are taken.
    is_last
        The bytes reach up to the end of the message.
    """

    start: int
    stop: int
    skipped: int
    shape: tuple[int, ...]
    inside: tuple[slice, ...]
    is_last: bool

    def values(self, variable: StreamVariable, order: str, data: memoryview) -> Values:
        """Return the values of the run from its bytes.

        Raises
        ------
        PayloadError
            They are not what they should be.
        """
        last = self.skipped + prod(self.shape)
        if variable.type is StreamType.SEQUENCE:
            rows = sequence_rows(
                variable, memoryview(bytes(data).removesuffix(magics.VEND) + magics.VEND), order
            )
            if len(rows) < last:
                raise size_mismatch(len(rows), last, "rows")
            return rows[self.skipped : last]
        objects = split_objects(data, last)[self.skipped :]
        return objects_as_values(variable, objects, order).reshape(self.shape)


def run_of(
    table: MessageTable, number: int, shape: tuple[int, ...], inside: tuple[slice, ...]
) -> ObjectRun | None:
    """Return the run of objects that holds some elements of a message; None where it is read whole."""
    marks = table.checkpoints.get(number)
    payload = table.payload[number]
    if marks is None or len(marks) < 2 or not shape or table.deflated[number]:
        return None
    if payload not in (Payload.VARIABLE, Payload.SEQUENCE):
        return None
    first, last = inside[0].start, inside[0].stop
    each = prod(shape[1:])
    before, behind = _marks_around(marks, first * each, last * each)
    if before == 0 and behind == len(marks):
        return None
    end = int(table.payload_offset[number] + table.payload_length[number])
    return ObjectRun(
        start=int(marks[before, 1]),
        stop=int(marks[behind, 1]) if behind < len(marks) else end,
        skipped=first * each - int(marks[before, 0]),
        shape=(last - first, *shape[1:]),
        inside=(slice(0, last - first, inside[0].step), *inside[1:]),
        is_last=behind == len(marks),
    )


def arrived_run(
    table: MessageTable, number: int, start: int, shape: tuple[int, ...], inside: tuple[slice, ...]
) -> ObjectRun:
    """Return the run that holds some elements of a message that the stream was cut off within.

    Parameters
    ----------
    start
        Number of the first of the objects that `shape` has; they follow each other.
    """
    end = int(table.payload_offset[number] + table.payload_length[number])
    marks = table.checkpoints.get(number)
    if marks is None:
        marks = np.array([[0, int(table.payload_offset[number])]])
    axis = next((at for at, length in enumerate(shape) if length > 1), len(shape) - 1)
    taken, each = inside[axis], prod(shape[axis + 1 :])
    first, last = start + taken.start * each, start + taken.stop * each
    before, behind = _marks_around(marks, first, last)
    length = taken.stop - taken.start
    return ObjectRun(
        start=int(marks[before, 1]),
        stop=int(marks[behind, 1]) if behind < len(marks) else end,
        skipped=first - int(marks[before, 0]),
        shape=(*shape[:axis], length, *shape[axis + 1 :]),
        inside=(*inside[:axis], slice(0, length, taken.step), *inside[axis + 1 :]),
        is_last=behind == len(marks),
    )


def _marks_around(marks: npt.NDArray[np.int64], first: int, last: int) -> tuple[int, int]:
    """Return the rows of the checkpoints before the object `first`, and not before the object `last`."""
    before = max(int(np.searchsorted(marks[:, 0], first, "right")) - 1, 0)
    return before, int(np.searchsorted(marks[:, 0], last))
