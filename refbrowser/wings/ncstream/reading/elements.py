"""The elements of variables in numpy: types, fill values, and what can be wrong with payloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import named_values, rows_type
from refbrowser.wings.ncstream.reading.bytes import VarintError, read_varint
from refbrowser.wings.ncstream.reading.definition import StreamType, StreamVariable


class PayloadError(RefbrowserError):
    """A payload is not what its message and its variable say (wire notes, section 8).

    Parameters
    ----------
    code
        ``size-mismatch``, ``type-mismatch``, ``deflate``, ``unsupported-member``...
    what
        In words.
    """

    def __init__(self, code: str, what: str) -> None:
        super().__init__(ErrorKind.FORMAT, f"{code}: {what}")
        self.args = (code, what)
        self.code = code
        self.what = what


def size_mismatch(found: int, expected: int, what: str = "bytes") -> PayloadError:
    """Return the error of a payload that holds less or more than its section."""
    return PayloadError("size-mismatch", f"{found} {what} where {expected} are expected")


def read_length(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """Return the varint at `at` of a payload, and the position behind it.

    Raises
    ------
    PayloadError
        ``bad-varint``: there is none.
    """
    try:
        return read_varint(data, at)
    except VarintError as error:
        raise PayloadError("bad-varint", str(error)) from None


def check_room(count: int, dtype: np.dtype[Any]) -> None:
    """Raise `E_BUDGET` where `count` elements are more than what is decoded whole."""
    if count * max(dtype.itemsize, 1) > LIMITS.chunk_size:
        most = LIMITS.chunk_size
        message = f"{count} elements are more than the {most} bytes that are decoded whole (chunk_size)"
        raise RefbrowserError(ErrorKind.BUDGET, message)


DType = np.dtype[Any]
BIG, LITTLE = ">", "<"
STRUCTURES = (StreamType.STRUCTURE, StreamType.SEQUENCE)
_OBJECT = np.dtype(object)
_OBJECTS: Mapping[StreamType, type[str] | type[bytes]] = {StreamType.STRING: str, StreamType.OPAQUE: bytes}
#: What a string or a nested sequence takes in a row: an index (wire notes, section 4).
_INDEX = np.dtype(">u4")


def is_ragged(variable: StreamVariable) -> bool:
    """Return whether the elements of a variable are rows; the ``*`` of a sequence makes none."""
    return variable.is_ragged and variable.type is not StreamType.SEQUENCE


def dtype_of(variable: StreamVariable, order: str = BIG) -> DType:
    """Return the type of the elements of a variable.

    Strings and opaque values are Python objects (`str`, `bytes`), ragged rows 1-d arrays of `row_dtype_of`;
    structures have a field for each member, with the shape of that.

    Parameters
    ----------
    order
        Of the bytes of numbers, ``>`` or ``<``.

    Raises
    ------
    RefbrowserError
        `E_META`: members of a structure share a name; `E_BUDGET`: an element is larger than any may be.
    """
    return _OBJECT if is_ragged(variable) else element_dtype_of(variable, order)


def row_dtype_of(variable: StreamVariable, order: str = BIG) -> DType | None:
    """Return the type of the elements of a ragged row; None where a variable is not ragged."""
    return element_dtype_of(variable, order) if is_ragged(variable) else None


def element_dtype_of(variable: StreamVariable, order: str = BIG) -> DType:
    """Return the type of the elements of a variable, or of its rows where it is ragged.

    Raises
    ------
    RefbrowserError
        As `dtype_of`.
    """
    if variable.type in STRUCTURES:
        return _structure(variable.members, lambda member: _held(member, order))
    return _in_order(variable.type.dtype or _OBJECT, order)


def shown_dtype_of(variable: StreamVariable, order: str, enums: Mapping[str, Mapping[int, str]]) -> DType:
    """Return `dtype_of` with what numpy cannot say of the fields of structures (`model.member_types`).

    Parameters
    ----------
    enums
        The enumerations that the variable sees, by name.

    Raises
    ------
    RefbrowserError
        As `dtype_of`.
    """
    if is_ragged(variable) or variable.type not in STRUCTURES:
        return dtype_of(variable, order)

    def shown(member: StreamVariable) -> Field:
        dtype, shape = _held(member, order)
        if is_ragged(member):
            return rows_type(element_dtype_of(member, order)), shape
        if member.type in STRUCTURES:
            rows = shown_dtype_of(member, order, enums)
            return (rows_type(rows) if member.type is StreamType.SEQUENCE else rows), shape
        if member.type in _OBJECTS:
            return rows_type(_OBJECTS[member.type]), shape
        names = names_for(member, enums)
        return named_values(dtype, names, member.enum_name) if names else dtype, shape

    return _structure(variable.members, shown)


def names_for(variable: StreamVariable, enums: Mapping[str, Mapping[int, str]]) -> Mapping[int, str]:
    """Return the names of the values of a variable; empty where these are no integers."""
    dtype = variable.type.dtype
    return enums.get(variable.enum_name, {}) if dtype is not None and dtype.kind in "iu" else {}


def stored_dtype_of(members: Sequence[StreamVariable], order: str = BIG) -> DType:
    """Return the type of a row as it is stored: no padding, an index for a string (wire notes, section 4).

    Raises
    ------
    PayloadError
        ``unsupported-member``: rows have no form for a member.
    RefbrowserError
        As `dtype_of`.
    """
    return _structure(members, lambda member: _stored(member, order))


Field = tuple[DType, tuple[int, ...]]


def _structure(members: Sequence[StreamVariable], field: Callable[[StreamVariable], Field]) -> DType:
    names = [member.name for member in members]
    if "" in names:
        raise RefbrowserError(ErrorKind.META, "a member of the structure has no name")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RefbrowserError(ErrorKind.META, f"members of the structure share the name {quoted(twice)}")
    fields = []
    size = 0
    for member in members:
        dtype, shape = field(member)
        size += prod(shape) * dtype.itemsize
        if size > LIMITS.element_size:
            message = f"an element of the structure is larger than {LIMITS.element_size} bytes (element_size)"
            raise RefbrowserError(ErrorKind.BUDGET, message)
        fields.append((member.name, dtype, shape))
    return np.dtype(fields)


def _held(member: StreamVariable, order: str) -> Field:
    if member.type is StreamType.SEQUENCE:
        # Rows hold its index and nothing that it leads to.
        return _OBJECT, ()
    return dtype_of(member, order), member.shape


def _stored(member: StreamVariable, order: str) -> Field:
    if is_ragged(member) or member.type is StreamType.OPAQUE:
        kind = "opaque" if member.type is StreamType.OPAQUE else "ragged"
        what = f"rows have no form for the {kind} member {quoted(member.name)}"
        raise PayloadError("unsupported-member", what)
    if member.type in (StreamType.STRING, StreamType.SEQUENCE):
        return _in_order(_INDEX, order), ()
    if member.type is StreamType.STRUCTURE:
        return stored_dtype_of(member.members, order), member.shape
    return element_dtype_of(member, order), member.shape


def _in_order(dtype: DType, order: str) -> DType:
    return dtype.newbyteorder(">" if order == BIG else "<")


#: Wire notes, section 3.
DEFAULTS: dict[StreamType, Any] = {
    StreamType.CHAR: b"",
    StreamType.BYTE: -127,
    StreamType.SHORT: -32767,
    StreamType.INT: -2147483647,
    StreamType.LONG: -9223372036854775806,
    StreamType.FLOAT: 9.969209968386869e36,
    StreamType.DOUBLE: 9.969209968386869e36,
    StreamType.STRING: "",
    StreamType.OPAQUE: b"",
    StreamType.ENUM1: 255,
    StreamType.ENUM2: 65535,
    StreamType.ENUM4: 4294967295,
    StreamType.UBYTE: 255,
    StreamType.USHORT: 65535,
    StreamType.UINT: 4294967295,
    StreamType.ULONG: 18446744073709551614,
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
        if member.type is StreamType.SEQUENCE:
            field[...] = None
        elif member.type is StreamType.STRUCTURE and not is_ragged(member):
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
        is_one = isinstance(data, bytes) and (variable.type is StreamType.OPAQUE or len(data) <= 1)
        return data if is_one else default
    if isinstance(default, str):
        return value if isinstance(value, str) else default
    return default if isinstance(value, str | bytes) else _number(value, variable.type, default)


def _number(value: Any, type: StreamType, default: Any) -> Any:
    """Return a number as one of a type: `default` where it is none."""
    dtype = type.known_dtype
    if dtype.kind == "f":
        return value
    limits = np.iinfo(dtype)
    if not float(value).is_integer():
        return default
    if dtype.kind == "u" and value < 0:
        # Before 5.0 unsigned values had attributes of the signed type.
        value += limits.max + 1
    return value if limits.min <= value <= limits.max else default
