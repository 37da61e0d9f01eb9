"""DataCol: all values of an answer within the message itself (wire notes, sections 2 and 4)."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import quoted
from refbrowser.formats.ncstream.definition import DataType, StreamVariable, family_of, type_name
from refbrowser.formats.ncstream.dtypes import BIG, LITTLE, element_dtype_of, is_ragged
from refbrowser.formats.ncstream.fills import filled_rows
from refbrowser.formats.ncstream.payload_errors import PayloadError, check_room, size_mismatch

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

    from refbrowser.formats.ncstream.schema import DATA_COLUMN

    try:
        column = DATA_COLUMN.FromString(bytes(data))
    except DecodeError:
        raise PayloadError("bad-protobuf", "the DataCol cannot be parsed") from None
    return _values(variable, column, shape, order)


def _values(variable: StreamVariable, column: Any, shape: tuple[int, ...], order: str) -> Values:
    if variable.type is DataType.SEQUENCE:
        raise PayloadError(
            "unsupported-member", f"a DataCol has no form for the sequence {quoted(variable.name)}"
        )
    if variable.type is DataType.STRUCTURE:
        return _structures(variable, column, shape, order)
    values = _flat(variable, column, order)
    if not is_ragged(variable):
        if len(values) != prod(shape):
            raise size_mismatch(len(values), prod(shape), "elements")
        return values.reshape(shape)
    return _rows(values, column, shape)


def _flat(variable: StreamVariable, column: Any, order: str) -> Values:
    """Return all values of a column, one after the other."""
    if variable.type is DataType.STRING:
        return _objects(list(column.stringdata))
    if variable.type is DataType.OPAQUE:
        return _objects(list(column.opaquedata))
    own = BIG if column.HasField("bigend") and column.bigend else LITTLE
    dtype = element_dtype_of(variable, order or own)
    data = column.primdata
    if len(data) % dtype.itemsize:
        raise PayloadError("size-mismatch", f"{len(data)} bytes of elements of {dtype.itemsize}")
    return np.frombuffer(data, dtype) if data else np.empty(0, dtype)


def _objects(values: list[Any]) -> Values:
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
                f"the data of the member {quoted(name)} are {named}, the header says {type_name(member.type)}"
            )
            raise PayloadError("type-mismatch", what)
