"""The rows of arrays that are not nested, in the words of nested types: numbers, texts, records, lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from refbrowser.engine.nested.unrolling import unrolled_type
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.nczarr.members import is_array_of_nczarr
from refbrowser.model.data_type import RowType
from refbrowser.model.member_types import rows_of
from refbrowser.model.nested import NestedType, TypeKind
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import Rows

STRING = NestedType(TypeKind.STRING)
BYTES = NestedType(TypeKind.BYTES)
#: Types of elements that are objects, by the field's name.
_OBJECTS = {"string": STRING, "bytes": BYTES, "opaque": BYTES}


def row_type(node: ArrayNode, shape: tuple[int, ...]) -> NestedType:
    """Return the type of one row of any array; of one without dimensions, that of its element.

    Parameters
    ----------
    shape
        Of what is taken of it.

    Raises
    ------
    RefbrowserError
        The array is not readable; `META`: nobody knows what its elements are.
    """
    for error in (node.error, node.unreadable):
        if error is not None:
            raise error
    if isinstance(node.values, Rows):
        return unrolled_type(node.values.source)
    return row_type_of(_element_type(node), shape[1:])


def _element_type(node: ArrayNode) -> NestedType:
    assert node.dtype is not None
    if isinstance(node.type, RowType):
        return NestedType(TypeKind.LIST, items=(dtype_type(node.type.row_dtype, node.path),))
    if node.dtype.kind == "O" and node.type.name in _OBJECTS:
        return _OBJECTS[node.type.name]
    if node.dtype.kind == "S" and is_array_of_nczarr(node):
        return STRING
    return dtype_type(node.dtype, node.path)


def dtype_type(dtype: np.dtype[Any], path: str) -> NestedType:
    """Return the type of elements of a numpy type.

    Raises
    ------
    RefbrowserError
        `META`: it is objects of an unknown kind; names `path`.
    """
    if dtype.subdtype is not None:
        return row_type_of(dtype_type(dtype.base, path), dtype.shape)
    if dtype.names is not None and dtype.fields is not None:
        items = tuple(dtype_type(dtype.fields[name][0], path) for name in dtype.names)
        return NestedType(TypeKind.RECORD, items=items, fields=dtype.names)
    if dtype.kind == "U":
        return STRING
    if dtype.kind in "SV":
        return BYTES
    if dtype.kind != "O":
        return NestedType(TypeKind.NUMBER, dtype=dtype)
    rows = rows_of(dtype)
    if rows is str:
        return STRING
    if rows is bytes:
        return BYTES
    if isinstance(rows, np.dtype):
        return NestedType(TypeKind.LIST, items=(dtype_type(rows, path),))
    message = f"nobody knows what elements of type {quoted(str(dtype))} are"
    raise RefbrowserError(ErrorKind.META, message, Place(path=path))


def row_type_of(type: NestedType, sizes: tuple[int, ...]) -> NestedType:
    """Return the type of lists of lists, of these sizes from outside, of elements of a type."""
    for size in reversed(sizes):
        type = NestedType(TypeKind.LIST, size=size, items=(type,))
    return type
