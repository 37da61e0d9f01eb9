"""What elements hold that were never sent: `_FillValue`, or the default of netCDF."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream.definition import DataType, StreamVariable
from refbrowser.formats.ncstream.dtypes import STRUCTURES, dtype_of, element_dtype_of, is_ragged

#: Wire notes, section 3.
DEFAULTS: dict[DataType, Any] = {
    DataType.CHAR: b"",
    DataType.BYTE: -127,
    DataType.SHORT: -32767,
    DataType.INT: -2147483647,
    DataType.LONG: -9223372036854775806,
    DataType.FLOAT: 9.969209968386869e36,
    DataType.DOUBLE: 9.969209968386869e36,
    DataType.STRING: "",
    DataType.OPAQUE: b"",
    DataType.ENUM1: 255,
    DataType.ENUM2: 65535,
    DataType.ENUM4: 4294967295,
    DataType.UBYTE: 255,
    DataType.USHORT: 65535,
    DataType.UINT: 4294967295,
    DataType.ULONG: 18446744073709551614,
}


def fill_of(variable: StreamVariable, order: str = ">") -> Any:
    """Return the value of elements that were never sent, as a scalar of `dtype_of`.

    An attribute `_FillValue` that does not fit the type counts for nothing.
    """
    if is_ragged(variable):
        return np.empty(0, element_dtype_of(variable, order))
    if variable.type in STRUCTURES:
        return filled_rows(variable, 1, order)[0]
    value = _fill_value(variable)
    return value if variable.type.dtype is None else np.array(value, dtype_of(variable, order))[()]


def filled_rows(variable: StreamVariable, count: int, order: str = ">") -> npt.NDArray[Any]:
    """Return `count` rows of a structure of which no member was sent."""
    rows = np.empty(count, element_dtype_of(variable, order))
    fill_rows(rows, variable.members, order)
    return rows


def fill_rows(rows: npt.NDArray[Any], members: tuple[StreamVariable, ...], order: str = ">") -> None:
    """Give the fields of `members` in rows the values that are theirs where none was sent."""
    for member in members:
        field = rows[member.name]
        if member.type is DataType.SEQUENCE:
            field[...] = None
        elif member.type is DataType.STRUCTURE and not is_ragged(member):
            fill_rows(field, member.members, order)
        else:
            put_everywhere(field, fill_of(member, order))


def put_everywhere(target: npt.NDArray[Any], value: Any) -> None:
    """Give every element of `target` one value, which may itself be an array where they are objects."""
    if isinstance(value, np.ndarray):
        one = np.empty((), object)
        one[()] = value
        value = one
    target[...] = value


def _fill_value(variable: StreamVariable) -> Any:
    default = DEFAULTS[variable.type]
    attribute = variable.attributes.get("_FillValue")
    if attribute is None or len(attribute.values) != 1:
        return default
    value = attribute.values[0]
    if isinstance(default, bytes):
        data = value.encode() if isinstance(value, str) else value
        is_one = isinstance(data, bytes) and (variable.type is DataType.OPAQUE or len(data) <= 1)
        return data if is_one else default
    if isinstance(default, str):
        return value if isinstance(value, str) else default
    return default if isinstance(value, str | bytes) else _number(value, variable.type, default)


def _number(value: Any, type: DataType, default: Any) -> Any:
    """Return a number as one of a type: `default` where it is none."""
    dtype = type.dtype
    assert dtype is not None
    if dtype.kind == "f":
        return value
    limits = np.iinfo(dtype)
    if not float(value).is_integer():
        return default
    if dtype.kind == "u" and value < 0:
        # Before 5.0 unsigned values had attributes of the signed type.
        value += limits.max + 1
    return value if limits.min <= value <= limits.max else default
