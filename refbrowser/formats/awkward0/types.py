"""What the elements of layouts are, as types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.awkward0 import layouts
from refbrowser.formats.awkward0.json_types import type_of_dtype
from refbrowser.formats.awkward0.layouts import Layout
from refbrowser.formats.awkward0.literals import literal_layout
from refbrowser.model.nested import NestedType, TypeKind

_EMPTY = NestedType(TypeKind.EMPTY)


def type_of(layout: Layout) -> NestedType:
    """Return the type of one element of a layout; of a plain value at the root its own."""
    match layout:
        case layouts.NumpyLayout():
            return type_of_dtype(layout.buffer.dtype)
        case layouts.ListLayout():
            return _of_list(layout)
        case layouts.ByteListLayout():
            return NestedType(TypeKind.LIST, items=(type_of_dtype(layout.dtype),))
        case layouts.ByteIndexedLayout():
            return type_of_dtype(layout.dtype)
        case layouts.RegularLayout():
            return NestedType(TypeKind.LIST, size=layout.size, items=(type_of(layout.content),))
        case layouts.RecordLayout():
            return _of_record(layout)
        case layouts.UnionLayout():
            return _of_union(layout)
        case layouts.MaskedLayout():
            return option_of(type_of(layout.content))
        case layouts.IndexedLayout():
            return _with_shape(type_of(layout.content), layout.index)
        case layouts.SparseLayout():
            return _of_sparse(layout)
        case layouts.ChunkedLayout():
            said = () if layout.dtype is None else (layout.dtype,)
            return merged([*said, *(type_of(chunk) for chunk in layout.chunks)])
        case layouts.ObjectLayout():
            return _named(type_of(layout.content), layout.generator)
        case layouts.VirtualLayout():
            return _of_virtual(layout)
        case layouts.PlainLayout():
            return type_of_value(layout.value)
        case layouts.LinkLayout():
            return NestedType(TypeKind.LINK, name=f"{layout.target}")
        case layouts.BrokenLayout():
            return NestedType(TypeKind.OPAQUE, name=_why(layout.error))
    return NestedType(TypeKind.OPAQUE, name="unknown")


def option_of(kind: NestedType) -> NestedType:
    """Return the type of what may be missing: an option of an option is one option."""
    return kind if kind.kind is TypeKind.OPTION else NestedType(TypeKind.OPTION, items=(kind,))


def _with_shape(kind: NestedType, index: Layout) -> NestedType:
    """Return lists of one size around a type, for each further dimension of an index."""
    shape = index.buffer.dtype.shape if isinstance(index, layouts.NumpyLayout) else ()
    for size in reversed(shape):
        kind = NestedType(TypeKind.LIST, size=size, items=(kind,))
    return kind


def _of_list(layout: layouts.ListLayout) -> NestedType:
    if layout.is_text:
        kind = NestedType(TypeKind.BYTES if layout.encoding is None else TypeKind.STRING)
    else:
        kind = NestedType(TypeKind.LIST, items=(type_of(layout.content),))
    return _with_shape(kind, layout.index[0])


def _of_record(layout: layouts.RecordLayout) -> NestedType:
    names = tuple(name for name, _ in layout.fields)
    items = tuple(type_of(field) for _, field in layout.fields)
    if not layout.is_jagged:
        return NestedType(TypeKind.RECORD, items=items, fields=names, name=layout.name)
    # Lists of one structure: the vectors are their elements.
    inner = tuple(_element(item) for item in items)
    return NestedType(
        TypeKind.LIST, items=(NestedType(TypeKind.RECORD, items=inner, fields=names, name=layout.name),)
    )


def _element(kind: NestedType) -> NestedType:
    return kind.items[0] if kind.kind is TypeKind.LIST else kind


def _of_union(layout: layouts.UnionLayout) -> NestedType:
    """Return a union, which holds no unions itself, and options only around it."""
    return union_of([type_of(content) for content in layout.contents])


def union_of(types: Sequence[NestedType]) -> NestedType:
    """Return the type of elements that have any of several types, each of these once."""
    flat: list[NestedType] = []
    is_option = False
    for kind in types:
        if kind.kind is TypeKind.OPTION:
            is_option, kind = True, kind.items[0]
        flat.extend(kind.items if kind.kind is TypeKind.UNION else (kind,))
    distinct = list(dict.fromkeys(flat))
    if not distinct:
        return _EMPTY
    made = distinct[0] if len(distinct) == 1 else NestedType(TypeKind.UNION, items=tuple(distinct))
    return option_of(made) if is_option else made


def merged(types: Sequence[NestedType]) -> NestedType:
    """Return the type of arrays that stand one after the other: numbers become of one type."""
    told = list(dict.fromkeys(kind for kind in types if kind.kind is not TypeKind.EMPTY))
    if not told:
        return _EMPTY
    dtypes = [kind.dtype for kind in told if kind.dtype is not None]
    if len(dtypes) == len(told) and all(dtype.kind in "iufc" for dtype in dtypes):
        return NestedType(TypeKind.NUMBER, dtype=np.result_type(*dtypes))
    return union_of(told)


def _of_sparse(layout: layouts.SparseLayout) -> NestedType:
    content = _with_shape(type_of(layout.content), layout.index)
    if layout.default is None:
        return content
    default = type_of_value(layout.default)
    if content.dtype is None or default.dtype is None:
        return merged([content, default])
    # A default such as 0 takes the type of the content, as where numpy assigns it.
    return content if _fits(layout.default, content.dtype) else merged([content, default])


def _fits(value: Any, dtype: np.dtype[Any]) -> bool:
    try:
        cast = np.asarray(value).astype(dtype).item()
    except (TypeError, ValueError, OverflowError):
        return False
    return bool(cast == value or (value != value and cast != cast))


def _named(kind: NestedType, name: str) -> NestedType:
    """Return a record's type with the name of what would have made objects of it."""
    if kind.kind is not TypeKind.RECORD or kind.name:
        return kind
    plain = name.rsplit(".", 1)[-1]
    return NestedType(TypeKind.RECORD, items=kind.items, fields=kind.fields, name=plain)


def _why(error: RefbrowserError) -> str:
    return "refused" if error.kind is ErrorKind.UNSAFE else "broken"


def _of_virtual(layout: layouts.VirtualLayout) -> NestedType:
    if layout.content is not None and not isinstance(layout.content, layouts.BrokenLayout):
        return type_of(layout.content)
    if layout.type is not None:
        return layout.type
    return NestedType(TypeKind.OPAQUE, name="virtual" if layout.error is None else "refused")


def type_of_value(value: Any) -> NestedType:
    """Return the type of a plain value."""
    if value is None:
        return option_of(_EMPTY)
    if isinstance(value, bool):
        return NestedType(TypeKind.NUMBER, dtype=np.dtype(np.bool_))
    if isinstance(value, int | float):
        is_whole = isinstance(value, int) and abs(value) < 2**63
        return NestedType(TypeKind.NUMBER, dtype=np.dtype(np.int64 if is_whole else np.float64))
    if isinstance(value, str):
        return NestedType(TypeKind.STRING)
    if isinstance(value, bytes):
        return NestedType(TypeKind.BYTES)
    if isinstance(value, dict):
        fields = tuple(str(name) for name in value)
        return NestedType(
            TypeKind.RECORD, items=tuple(type_of_value(each) for each in value.values()), fields=fields
        )
    try:
        return NestedType(TypeKind.LIST, items=(type_of(literal_layout(value)),))
    except RefbrowserError:
        return NestedType(TypeKind.LIST, items=(merged([type_of_value(each) for each in value]),))
