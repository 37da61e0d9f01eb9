"""The numpy types of the variables of a stream, and of the rows of structures as they are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.ncstream.definition import DataType, StreamVariable
from refbrowser.formats.ncstream.payload_errors import PayloadError
from refbrowser.limits import LIMITS
from refbrowser.model.member_types import named_values, rows_type

DType = np.dtype[Any]
BIG, LITTLE = ">", "<"
STRUCTURES = (DataType.STRUCTURE, DataType.SEQUENCE)
_OBJECT = np.dtype(object)
_OBJECTS: Mapping[DataType, type[str] | type[bytes]] = {DataType.STRING: str, DataType.OPAQUE: bytes}
#: What a string or a nested sequence takes in a row: an index (wire notes, section 4).
_INDEX = np.dtype(">u4")


def is_ragged(variable: StreamVariable) -> bool:
    """Return whether the elements of a variable are rows; the ``*`` of a sequence makes none."""
    return variable.is_ragged and variable.type is not DataType.SEQUENCE


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
            return (rows_type(rows) if member.type is DataType.SEQUENCE else rows), shape
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
    if member.type is DataType.SEQUENCE:
        # Rows hold its index and nothing that it leads to.
        return _OBJECT, ()
    return dtype_of(member, order), member.shape


def _stored(member: StreamVariable, order: str) -> Field:
    if is_ragged(member) or member.type is DataType.OPAQUE:
        kind = "opaque" if member.type is DataType.OPAQUE else "ragged"
        what = f"rows have no form for the {kind} member {quoted(member.name)}"
        raise PayloadError("unsupported-member", what)
    if member.type in (DataType.STRING, DataType.SEQUENCE):
        return _in_order(_INDEX, order), ()
    if member.type is DataType.STRUCTURE:
        return stored_dtype_of(member.members, order), member.shape
    return element_dtype_of(member, order), member.shape


def _in_order(dtype: DType, order: str) -> DType:
    return dtype.newbyteorder(">" if order == BIG else "<")
