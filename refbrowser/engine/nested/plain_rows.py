"""The rows of any array in the words of nested types: types, cycles by turns, contents of plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.nczarr.members import is_array_of_nczarr
from refbrowser.model.data_type import RowType, rows_of
from refbrowser.model.nested import NestedType, NestedValues, TypeKind, parts_of_kind
from refbrowser.model.nodes import ArrayNode

#: Turns of which the type is made.
TURNS = 6
#: Types in a type, at most: where each turn has several links there are fewer turns.
MOST_TYPES = 2_000


def unrolled_type(values: NestedValues) -> NestedType:
    """Return the type of rows; one that goes on in itself by as many turns as are read, and can be held."""
    type = values.type
    for _ in range(TURNS):
        names = {link.name for _, link in parts_of_kind(type, TypeKind.LINK)}
        longer = _turned(type, {name: values.linked(name) for name in names})
        if not names or _count(longer) > MOST_TYPES:
            break
        type = longer
    return type


def _turned(type: NestedType, types: Mapping[str, NestedType]) -> NestedType:
    """Return a type with what its links lead to in their place."""
    if type.kind is TypeKind.LINK:
        return types[type.name]
    items = tuple(_turned(item, types) for item in type.items)
    # Options of options are one.
    if type.kind is TypeKind.OPTION and items[0].kind is TypeKind.OPTION:
        return items[0]
    return replace(type, items=items)


def _count(type: NestedType) -> int:
    return 1 + sum(map(_count, type.items))


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
    if node.nested is not None:
        return unrolled_type(node.nested)
    return row_type_of(_element_type(node), shape[1:])


def _element_type(node: ArrayNode) -> NestedType:
    if isinstance(node.type, RowType):
        return NestedType(TypeKind.LIST, items=(dtype_type(node.type.row_dtype, node.path),))
    if node.known_dtype.kind == "O" and node.type.name in _OBJECTS:
        return _OBJECTS[node.type.name]
    if node.known_dtype.kind == "S" and is_array_of_nczarr(node):
        return STRING
    return dtype_type(node.known_dtype, node.path)


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
    message = f"elements of type {quoted(str(dtype))} are not supported"
    raise RefbrowserError(ErrorKind.META, message, Place(path=path))


def row_type_of(type: NestedType, sizes: tuple[int, ...]) -> NestedType:
    """Return the type of lists of lists, of these sizes from outside, of elements of a type."""
    for size in reversed(sizes):
        type = NestedType(TypeKind.LIST, size=size, items=(type,))
    return type


Values = npt.NDArray[Any]


def content_of(values: Values, type: NestedType, missing: npt.NDArray[np.bool_] | None = None) -> Any:
    """Return values as an ``awkward.contents.Content``, one entry for each along the first axis.

    Parameters
    ----------
    values
        Shape ``(rows, ...)``; further axes are the outer lists of `type`.
    type
        Of a row, as `row_type` tells it.
    missing
        Which elements could not be read, of the shape of `values`; what these hold may be anything that is
        of the type.
    """
    from awkward.contents import ByteMaskedArray, RegularArray
    from awkward.index import Index8

    inner = type
    for _ in values.shape[1:]:
        inner = inner.items[0]
    content = _flat_content(values.reshape(-1), inner)
    if missing is not None:
        mask = Index8(missing.reshape(-1).astype(np.int8))
        content = ByteMaskedArray(mask, content, valid_when=False)
    for axis in range(values.ndim - 1, 0, -1):
        content = RegularArray(content, values.shape[axis], prod(values.shape[:axis]))
    return content


def _flat_content(values: Values, type: NestedType) -> Any:
    from awkward.contents import NumpyArray, RecordArray

    if type.kind is TypeKind.NUMBER:
        native = values.astype(values.dtype.newbyteorder("="), copy=False)
        return NumpyArray(np.ascontiguousarray(native))
    if type.kind is TypeKind.RECORD:
        fields = [content_of(values[name], each) for name, each in zip(type.fields, type.items, strict=True)]
        return RecordArray(fields, list(type.fields), len(values))
    if type.kind is TypeKind.LIST:
        return _list_content(values, type)
    return text_content(values.tolist(), is_text=type.kind is TypeKind.STRING)


def _list_content(values: Values, type: NestedType) -> Any:
    """Return rows of their own length: arrays in an array of objects."""
    from awkward.contents import ListOffsetArray
    from awkward.index import Index64

    rows = [np.asarray(row).reshape(-1) for row in values]
    flat = np.concatenate(rows) if rows else np.zeros(0, type.items[0].dtype or object)
    content = _flat_content(flat, type.items[0])
    return ListOffsetArray(Index64(offsets_of(map(len, rows), len(rows))), content)


def text_content(values: Iterable[Any], *, is_text: bool) -> Any:
    """Return texts, or bytes, as awkward has them; texts that are bytes are UTF-8 already."""
    from awkward.contents import ListOffsetArray, NumpyArray
    from awkward.index import Index64

    encoded = [_encoded(value) for value in values]
    data = np.frombuffer(b"".join(encoded), np.uint8)
    inner, outer = ("char", "string") if is_text else ("byte", "bytestring")
    return ListOffsetArray(
        Index64(offsets_of(map(len, encoded), len(encoded))),
        NumpyArray(data, parameters={"__array__": inner}),
        parameters={"__array__": outer},
    )


def _encoded(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    return bytes(value)


def offsets_of(lengths: Iterable[int], count: int) -> npt.NDArray[np.int64]:
    """Return where lists begin and end, by their lengths."""
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, count), out=offsets[1:])
    return offsets
