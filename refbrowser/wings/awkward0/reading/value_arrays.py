"""The values of arrays as arrays of the hierarchy, and the types of their elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.data_type import DataType, RowType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nested import NestedType, NestedValues, TypeKind, type_text
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.model.values import Rows, columns_of_kinds
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts.building import Built
from refbrowser.wings.awkward0.layouts.layouts import BrokenLayout, NumpyLayout, PlainLayout, error_at
from refbrowser.wings.awkward0.reading.arrays import Awkward0Array
from refbrowser.wings.awkward0.reading.naming import escaped_part, first_free
from refbrowser.wings.awkward0.rows.layout_reading import Marks
from refbrowser.wings.awkward0.rows.layout_values import LayoutValues

_OBJECT = np.dtype(object)


@dataclass(frozen=True, slots=True)
class ElementType:
    """How rows are given as numpy arrays.

    Attributes
    ----------
    dtype
        Of the elements; object where no number is one.
    shape
        Of the regular lists of numbers in each row.
    row_dtype
        Of the numbers in each row, where rows are lists of numbers of a length of their own.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...] = ()
    row_dtype: np.dtype[Any] | None = None

    def named(self, text: str) -> DataType:
        """Return what an element is, of a type that Awkward writes as `text`."""
        if self.row_dtype is None:
            return DataType.of(self.dtype, text)
        return RowType(self.dtype, text, DataType.of(self.row_dtype))


def element_type(kind: NestedType) -> ElementType:
    """Return how the rows of a type are given.

    Numbers and regular lists of them are plain; numbers that may be missing are float64 with NaN (times with
    NaT); lists of numbers are rows of their own length; all else is Python values.
    """
    shape: list[int] = []
    inner = kind
    while inner.kind is TypeKind.LIST and inner.size is not None:
        shape.append(inner.size)
        inner = inner.items[0]
    if inner.kind is TypeKind.NUMBER:
        return ElementType(_native(inner), tuple(shape))
    if kind.kind is TypeKind.EMPTY:
        return ElementType(np.dtype("f8"))
    if kind.kind is TypeKind.OPTION and kind.items[0].kind is TypeKind.NUMBER:
        return ElementType(with_missing(_native(kind.items[0])))
    if kind.kind is TypeKind.LIST and kind.size is None:
        number = kind.items[0]
        if number.kind is TypeKind.NUMBER:
            return ElementType(_OBJECT, row_dtype=_native(number))
        if number.kind is TypeKind.EMPTY:
            return ElementType(_OBJECT, row_dtype=np.dtype("f8"))
    return ElementType(_OBJECT)


def with_missing(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that numbers of a type have where some are missing."""
    if dtype.kind in "mM":
        return dtype
    return np.dtype("c16") if dtype.kind == "c" else np.dtype("f8")


def _native(kind: NestedType) -> np.dtype[Any]:
    """Return the type of numbers in the order of this machine, as awkward has them."""
    return kind.known_dtype.newbyteorder("=")


def field_paths(kind: NestedType, most_levels: int, most: int) -> list[tuple[str, ...]]:
    """Return the fields of records in a type, those below them after each: at most so many, so deep.

    Records are found in lists and options too; those of unions have no array of their own.
    """
    found: list[tuple[str, ...]] = []
    pending: list[tuple[NestedType, tuple[str, ...]]] = [(kind, ())]
    while pending and len(found) < most:
        at, path = pending.pop()
        if path:
            found.append(path)
        while at.kind in (TypeKind.LIST, TypeKind.OPTION):
            at = at.items[0]
        if at.kind is TypeKind.RECORD and len(path) < most_levels:
            below = zip(at.fields, at.items, strict=True)
            pending.extend(reversed([(item, (*path, name)) for name, item in below]))
    return found


#: Bytes that the rows of a chunk have on average, and the rows of the largest chunk.
_CHUNK_BYTES, _CHUNK_ROWS = 4 << 20, 1 << 18
_CHUNK_KEYS = ChunkKeyEncoding()


@dataclass(frozen=True, slots=True)
class _Typed:
    """The type of an array of values.

    Attributes
    ----------
    fields
        Names that lead to the field; empty for the whole.
    below
        What stands after the path of the whole.
    error
        Why it has none.
    """

    fields: tuple[str, ...]
    below: str
    kind: NestedType | None = None
    text: str = ""
    element: ElementType | None = None
    type: DataType | None = None
    error: RefbrowserError | None = None

    @classmethod
    def of(cls, values: LayoutValues, below: str) -> _Typed:
        """Return the type of some values."""
        try:
            kind = values.type
            text, element = type_text(kind), element_type(kind)
            return cls(values.fields, below, kind, text, element, element.named(text))
        except RefbrowserError as error:
            return cls(values.fields, below, error=error)


class TypeMemory:
    """The types of the arrays of one file: of those of one kind they are worked out once."""

    def __init__(self) -> None:
        self._known: dict[Built, tuple[_Typed, ...]] = {}
        self._grids: dict[tuple[tuple[int, ...], int], tuple[RegularChunkGrid, tuple[int, ...]]] = {}

    def types(self, built: Built) -> tuple[_Typed, ...]:
        """Return the type of the whole, and those of all fields, each after that of what it is a field of."""
        pattern = built.pattern
        known = self._known.get(pattern)
        if known is None:
            known = self._known[pattern] = tuple(_types(LayoutValues(pattern.layout, pattern.by_number)))
        return known

    def grid(self, shape: tuple[int, ...], side: int) -> tuple[RegularChunkGrid, tuple[int, ...]]:
        """Return the grid of an array of some shape whose chunks have `side` rows, and its shape."""
        known = self._grids.get((shape, side))
        if known is None:
            grid = RegularChunkGrid(shape, (side, *(max(size, 1) for size in shape[1:])))
            known = self._grids[shape, side] = grid, grid.grid_shape
        return known


def _types(whole: LayoutValues) -> Iterator[_Typed]:
    top = _Typed.of(whole, "")
    yield top
    if top.kind is None:
        return
    taken = {""}
    known: dict[tuple[str, ...], tuple[str, LayoutValues]] = {(): ("", whole)}
    for fields in field_paths(top.kind, AWKWARD_LIMITS.awkward_field_levels, AWKWARD_LIMITS.awkward_fields):
        part = escaped_part(fields[-1]).replace("/", "%2F")
        above, values = known[fields[:-1]]
        below, values = first_free(f"{above}/{part}", taken), values.field(fields[-1])
        taken.add(below)
        known[fields] = below, values
        yield _Typed.of(values, below)


def value_arrays(
    array: Awkward0Array,
    measured: int | RefbrowserError | None = None,
    memory: TypeMemory | None = None,
) -> list[ArrayNode]:
    """Return the array of rows, and one for each field; none where a plain value is all there is.

    Parameters
    ----------
    measured
        How many rows there are, or why that is not known, where only the data tell.
    memory
        Of the other arrays of the file.
    """
    error, layout = array.error, array.layout
    if isinstance(measured, RefbrowserError):
        error, measured = error or measured, None
    if error is None and isinstance(layout, BrokenLayout):
        error = layout.error
    if error is not None:
        return [ArrayNode(path=array.path, error=error, format="awkward0")]
    if layout is None or array.built is None or isinstance(layout, PlainLayout):
        return []
    size = sum(
        [each.buffer.nbytes for each in array.built.by_number.values() if isinstance(each, NumpyLayout)]
    )
    marks = Marks()
    nodes: list[ArrayNode] = []
    memory = memory or TypeMemory()
    for typed in memory.types(array.built):
        values = LayoutValues(layout, array.built.by_number, typed.fields, marks, measured, typed.kind)
        attributes = {} if nodes else _attributes(array)
        nodes.append(_node(array.path + typed.below, values, typed, attributes, memory, size <= _CHUNK_BYTES))
        if len(nodes) == 1 and nodes[0].error is not None:
            break
    return nodes


def _attributes(array: Awkward0Array) -> Mapping[str, Any]:
    """Return what the schema says for people."""
    schema = array.schema
    if schema is None:
        return {}
    said = {"doc": schema.doc or None, "metadata": schema.metadata}
    return {name: value for name, value in said.items() if value is not None}


def _node(
    path: str,
    values: LayoutValues,
    typed: _Typed,
    attributes: Mapping[str, Any],
    memory: TypeMemory,
    is_small: bool,
) -> ArrayNode:
    """Return the array of values; one of which too little is known has the reason.

    Parameters
    ----------
    is_small
        All of its rows are read together.
    """
    kind, text, element = typed.kind, typed.text, typed.element
    try:
        if typed.error is not None:
            raise typed.error
        rows = values.length
    except RefbrowserError as error:
        located = error if error.place else error.at(Place(path=path))
        return ArrayNode(
            path=path, error=located, type=DataType(None, text), attributes=attributes, format="awkward0"
        )
    assert kind is not None
    assert element is not None
    assert typed.type is not None
    shape = (rows, *element.shape)
    if prod(shape) > LIMITS.elements:
        message = f"the array has more than {LIMITS.elements} elements (elements)"
        large = RefbrowserError(ErrorKind.BUDGET, message, Place(path=path))
        return ArrayNode(path=path, error=large, type=DataType(None, text), format="awkward0")
    # A sparse array has rows without any bytes.
    side = max(rows, 1) if is_small and rows <= _CHUNK_ROWS else _chunk_rows(values, rows)
    grid, grid_shape = memory.grid(shape, side)
    return ArrayNode(
        path=path,
        shape=shape,
        type=typed.type,
        dimensions=(None,) * len(shape),
        dimension_paths=(None,) * len(shape),
        values=Rows(grid=grid, manifest=RowManifest(path, grid_shape), keys=_CHUNK_KEYS, source=values),
        attributes=attributes,
        format="awkward0",
        unreadable=_refused(values, kind, path),
    )


def _chunk_rows(values: NestedValues, rows: int) -> int:
    """Return how many rows are read together."""
    size = sum(buffer.nbytes for buffer in values.buffers)
    each = max(size // rows, 1) if rows else 1
    return max(1, min(rows, _CHUNK_ROWS, _CHUNK_BYTES // each))


def _refused(values: LayoutValues, kind: NestedType, path: str) -> RefbrowserError | None:
    """Return why no value of a type can be read; None where some can."""
    if kind.kind is not TypeKind.OPAQUE:
        return None
    error = error_at(values.layout, values.fields)
    if error is not None:
        return error.at(replace(error.place, path=path))
    why = kind.name or "it cannot be read"
    return RefbrowserError(ErrorKind.UNSAFE, f"the values are not made: {why}", Place(path=path))


@dataclass(frozen=True, eq=False)
class RowManifest:
    """Tells of the chunks of rows in the form of references (`ChunkManifest`): all of them are made."""

    path: str
    grid_shape: tuple[int, ...]

    def key(self, coords: tuple[int, ...]) -> str:
        """Return what a chunk is called: as the chunk of Zarr would be."""
        return f"{self.path.strip('/')}/{'.'.join(map(str, coords)) or '0'}"

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return that the chunks at `coords` are made from buffers."""
        return columns_of_kinds(np.full(len(coords), ReferenceKind.DERIVED, np.uint8))

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the same of every chunk, in the shape of the grid."""
        return np.full(self.grid_shape, ReferenceKind.DERIVED, np.uint8)

    def stored(self) -> int | None:
        """Return how many chunks there are."""
        return prod(self.grid_shape)
