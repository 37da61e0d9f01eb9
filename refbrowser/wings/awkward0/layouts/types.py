"""Types: of basic arrays as schemas spell them, of rows from layouts and from JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedType, TypeKind
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts import layouts
from refbrowser.wings.awkward0.layouts.layouts import Layout
from refbrowser.wings.awkward0.layouts.literals import literal_layout

#: What numpy calls types in ``str(dtype)``, and short codes with a byte order; nothing else reaches numpy.
_NAME = re.compile(
    r"(bool_?|u?int(8|16|32|64)?|float(16|32|64|96|128)?|complex(64|128|192|256)?|half|single|double|longdouble)"
    r"|[<>=|]?([?bBhHiIlLqQfdgFDGe]|[iufcb](1|2|4|8|16|32)|[SUV][0-9]{1,9})"
    r"|[<>=]?([mM]8|datetime64|timedelta64)(\[[0-9]{0,9}(Y|M|W|D|h|m|s|ms|us|μs|ns|ps|fs|as)\])?"
)
_OBJECT = re.compile(r"[<>=|]?O[0-9]*|object_?|object(0|8|16)")
_MOST_NESTED = 16


def dtype_of(value: Any) -> np.dtype[Any]:
    """Return the type that JSON describes (serialization text, ``dtype``).

    Raises
    ------
    RefbrowserError
        E_UNSAFE: objects, whose bytes are addresses in memory; E_SCHEMA: it is no type; E_BUDGET: its
        elements are too large.
    """
    dtype = _dtype(value, 1)
    if dtype.base.itemsize > LIMITS.element_size or dtype.itemsize > LIMITS.chunk_size:
        message = f"an element has {dtype.itemsize} bytes, more than can be read at once (element_size)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    if dtype.itemsize == 0 and dtype.base.itemsize == 0:
        raise RefbrowserError(ErrorKind.SCHEMA, f"elements of {quoted(value)} have no bytes")
    return dtype


def _dtype(value: Any, depth: int) -> np.dtype[Any]:
    if depth > _MOST_NESTED:
        raise RefbrowserError(ErrorKind.BUDGET, f"a type is nested more than {_MOST_NESTED} times")
    if isinstance(value, str):
        return _dtype_named(value)
    if not isinstance(value, list | tuple) or not value:
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(value)} is not a type")
    if _is_shape(value[-1]) and len(value) == 2:
        return _shaped(_dtype(value[0], depth + 1), value[-1])
    if isinstance(value[0], list | tuple):
        return _dtype_record(value, depth)
    raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(value)} is not a type")


def _dtype_named(name: str) -> np.dtype[Any]:
    if _OBJECT.fullmatch(name):
        message = f"elements of type {quoted(name)} are addresses of Python objects"
        raise RefbrowserError(ErrorKind.UNSAFE, message, advice="They mean nothing outside their program.")
    if _NAME.fullmatch(name) is None:
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(name)} is not a type")
    try:
        return np.dtype(name)
    except (TypeError, ValueError):
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(name)} is not a type") from None


def _is_shape(value: Any) -> bool:
    sizes = value if isinstance(value, list | tuple) else [value]
    return all(type(size) is int for size in sizes)


def _shaped(base: np.dtype[Any], shape: int | Sequence[int]) -> np.dtype[Any]:
    sizes = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
    if any(size < 0 for size in sizes):
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(sizes)} is not a shape")
    if len(sizes) + base.ndim >= LIMITS.rank:
        raise RefbrowserError(ErrorKind.BUDGET, f"a type has {len(sizes)} dimensions, too many (rank)")
    return _made((base, sizes))


def _dtype_record(fields: Sequence[Any], depth: int) -> np.dtype[Any]:
    made: list[Any] = []
    if len(fields) > AWKWARD_LIMITS.awkward_findings:
        raise RefbrowserError(ErrorKind.BUDGET, f"a type has {len(fields)} fields, too many")
    for field in fields:
        is_field = isinstance(field, list | tuple) and len(field) in (2, 3)
        if not is_field or not isinstance(field[0], str) or not _is_shape(field[2] if len(field) == 3 else 0):
            raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(field)} is not a field of a type")
        inner = _dtype(field[1], depth + 1)
        made.append((field[0], inner if len(field) == 2 else _shaped(inner, field[2])))
    return _made(made)


def _made(description: Any) -> np.dtype[Any]:
    try:
        return np.dtype(description)
    except (TypeError, ValueError, OverflowError, MemoryError):
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(description)} is not a type") from None


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


_TEXTS = {"str": TypeKind.STRING, "unicode": TypeKind.STRING, "bytes": TypeKind.BYTES}


@dataclass(frozen=True, slots=True)
class ArrayType:
    """The type of a whole array.

    Attributes
    ----------
    length
        None where it has none, or an unlimited one.
    """

    type: NestedType
    length: int | None = None


def json_type(value: Any) -> ArrayType:
    """Return the type of an array that JSON describes.

    Raises
    ------
    RefbrowserError
        E_SCHEMA: it is no type; E_BUDGET: it is too large.
    """
    reading = _Reading()
    if isinstance(value, Mapping) and "takes" in value and "to" in value:
        takes = value["takes"]
        return ArrayType(reading.type(value["to"], 1), takes if _is_length(takes) else None)
    return ArrayType(reading.type(value, 1))


def _is_length(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LIMITS.elements


class _Reading:
    def __init__(self) -> None:
        self._count = 0

    def type(self, value: Any, depth: int) -> NestedType:
        self._count += 1
        if depth > AWKWARD_LIMITS.awkward_depth or self._count > AWKWARD_LIMITS.awkward_nodes:
            raise RefbrowserError(ErrorKind.BUDGET, "a type is nested too deep, or too large (awkward_depth)")
        if not isinstance(value, Mapping):
            raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(value)} is not a type")
        for key, read in _READING.items():
            if key in value:
                return read(self, value, depth)
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(dict(value))} is not a type")

    def items(self, value: Any, depth: int) -> tuple[NestedType, ...]:
        if not isinstance(value, list | tuple):
            raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(value)} are not types")
        return tuple(self.type(each, depth + 1) for each in value)


def _labelled(reading: _Reading, value: Mapping[str, Any], depth: int) -> NestedType:
    return reading.type(value.get("as"), depth + 1)


def _link(_reading: _Reading, value: Mapping[str, Any], _depth: int) -> NestedType:
    return NestedType(TypeKind.LINK, name=str(value["ref"])[: LIMITS.key_length])


def _list(reading: _Reading, value: Mapping[str, Any], depth: int) -> NestedType:
    takes = value["takes"]
    size = takes if _is_length(takes) else None
    return NestedType(TypeKind.LIST, size=size, items=(reading.type(value.get("to"), depth + 1),))


def _record(reading: _Reading, value: Mapping[str, Any], depth: int) -> NestedType:
    fields = value["fields"]
    is_right = isinstance(fields, list | tuple) and all(
        isinstance(field, list | tuple) and len(field) == 2 and isinstance(field[0], str) for field in fields
    )
    if not is_right:
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(fields)} are not fields")
    items = reading.items([field[1] for field in fields], depth)
    return NestedType(TypeKind.RECORD, items=items, fields=tuple(field[0] for field in fields))


def _union(reading: _Reading, value: Mapping[str, Any], depth: int) -> NestedType:
    return NestedType(TypeKind.UNION, items=reading.items(value["possibilities"], depth))


def _option(reading: _Reading, value: Mapping[str, Any], depth: int) -> NestedType:
    return NestedType(TypeKind.OPTION, items=(reading.type(value["type"], depth + 1),))


def _basic(_reading: _Reading, value: Mapping[str, Any], _depth: int) -> NestedType:
    return type_of_dtype(dtype_of(value["dtype"]))


def _made_by(_reading: _Reading, value: Mapping[str, Any], _depth: int) -> NestedType:
    names = value["function"]
    parts = [str(part) for part in names] if isinstance(names, list | tuple) else [str(names)]
    if parts[0] in ("builtins", "__builtin__") and parts[-1] in _TEXTS:
        return NestedType(_TEXTS[parts[-1]])
    return NestedType(TypeKind.OPAQUE, name=".".join(parts)[: LIMITS.key_length])


_READING = {
    "set": _labelled,
    "ref": _link,
    "takes": _list,
    "fields": _record,
    "possibilities": _union,
    "type": _option,
    "dtype": _basic,
    "function": _made_by,
}


def type_of_dtype(dtype: np.dtype[Any]) -> NestedType:
    """Return the type of the elements of a basic array: lists of one size, records, texts, numbers."""
    if dtype.subdtype is not None:
        made = type_of_dtype(dtype.base)
        for size in reversed(dtype.shape):
            made = NestedType(TypeKind.LIST, size=size, items=(made,))
        return made
    if dtype.names is not None and dtype.fields is not None:
        items = tuple(type_of_dtype(dtype.fields[name][0]) for name in dtype.names)
        return NestedType(TypeKind.RECORD, items=items, fields=dtype.names)
    if dtype.kind in "SV":
        return NestedType(TypeKind.BYTES)
    if dtype.kind == "U":
        return NestedType(TypeKind.STRING)
    return NestedType(TypeKind.NUMBER, dtype=dtype)
