"""What can be taken of each element of an array, as an array of its own: a field, the length of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.nested.row_parts import elements
from refbrowser.errors import Place
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType, MemberAttributes, RowType
from refbrowser.model.dtypes import members_of
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nested import (
    Buffer,
    BufferPart,
    BufferReader,
    NestedRows,
    NestedType,
    NestedValues,
    TypeKind,
)
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import Missing, ReferenceKind
from refbrowser.model.values import ArraySource, Pieces, Rows, SourcePiece
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture, have_values

#: Fields of one structure that are offered, and elements of a field that is an array.
PARTS_MOST, SIDES_MOST = 500, 16
#: What the part is called that is the length of a ragged row.
LENGTH = "length"
#: Parts of complex numbers beside the magnitude, which is what is drawn of the whole.
COMPONENTS: dict[str, Callable[[npt.NDArray[Any]], npt.NDArray[Any]]] = {
    "phase": np.angle,
    "real": np.real,
    "imaginary": np.imag,
}
#: Attributes of complex numbers that are not those of their parts.
_OF_WHOLE = ("_FillValue", "missing_value", "valid_min", "valid_max", "valid_range")


@dataclass(frozen=True, slots=True)
class ElementPart:
    """A part of each element.

    Attributes
    ----------
    name
        Names of fields joined by points (``wind.speed``), with the index of an element of a field that is an
        array (``wind[0]``); `LENGTH` for that of a ragged row; one of `COMPONENTS` of complex numbers.
    fields
        The names one by one; none for a length, and of complex numbers.
    index
        Of the element of the last field; () where that is a single one.
    dtype
        Of the part.
    """

    name: str
    fields: tuple[str, ...]
    index: tuple[int, ...]
    dtype: np.dtype[Any]

    def of(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the part of each element."""
        if values.dtype.kind == "c":
            return COMPONENTS[self.name](values).astype(self.dtype, copy=False)
        if not self.fields:
            return row_lengths(values)
        for name in self.fields:
            values = values[name]
        if not self.index:
            return values
        cut: tuple[Any, ...] = (..., *self.index)
        return values[cut]


def parts_of(node: ArrayNode) -> tuple[ElementPart, ...]:
    """Return what can be taken of the elements of an array: numbers alone; nothing where they are plain."""
    if isinstance(node.type, RowType):
        return (ElementPart(LENGTH, (), (), np.dtype(np.int64)),)
    if node.dtype is not None and node.dtype.kind == "c":
        dtype = np.empty(0, node.dtype).real.dtype.newbyteorder("=")
        return tuple(ElementPart(name, (), (), dtype) for name in COMPONENTS)
    if node.dtype is None or node.dtype.names is None:
        return ()
    found = []
    for part in _fields(node.dtype, ()):
        found.append(part)
        if len(found) >= PARTS_MOST:
            break
    return tuple(found)


def _fields(dtype: np.dtype[Any], above: tuple[str, ...]) -> Iterator[ElementPart]:
    for name, field in members_of(dtype):
        fields = (*above, name)
        base, shape = field.subdtype or (field, ())
        if base.names is not None and not shape:
            yield from _fields(base, fields)
        elif base.kind in "biufcmM":
            count = int(np.prod(shape, dtype=np.int64))
            for index in list(np.ndindex(*shape))[:SIDES_MOST] if count <= PARTS_MOST else ():
                place = f"[{', '.join(map(str, index))}]" if shape else ""
                yield ElementPart(".".join(fields) + place, fields, tuple(index), base)


def part_node(node: ArrayNode, part: ElementPart) -> ArrayNode:
    """Return the array of a part of each element, of the same path and shape, read from the same bytes."""
    is_component = node.dtype is not None and node.dtype.kind == "c"
    is_length = not part.fields and not is_component
    title = "length of a row" if is_length else part.name
    own = node.type.members.get(".".join(part.fields), MemberAttributes({}))
    if is_component:
        kept = {name: value for name, value in node.attributes.items() if name not in _OF_WHOLE}
        kept["long_name"] = f"{kept.get('long_name') or node.name or node.path}: {title}"
        own = MemberAttributes(kept | ({"units": "rad"} if part.name == "phase" else {}))
    fill: Any = None
    if is_length:
        fill = np.int64(0)
    elif node.fill_value is not None:
        fill = part.of(np.asarray(node.fill_value, node.dtype))[()]
    return replace(
        node,
        type=DataType.of(part.dtype),
        fill_value=fill,
        attributes={"long_name": f"{node.name or node.path}: {title}", **own.attributes},
        attribute_types=own.attribute_types,
        values=_part_values(node, part),
    )


def _part_values(node: ArrayNode, part: ElementPart) -> Pieces | Rows:
    if node.nested is not None:
        return Rows(
            grid=node.grid,
            manifest=node.manifest,
            keys=node.chunk_keys,
            prefix=node.key_prefix,
            source=PartValues(node, node.nested, part),
        )
    source = _ChunkSource(node) if node.assembled is None else node.assembled
    return Pieces(
        grid=node.grid,
        manifest=node.manifest,
        keys=node.chunk_keys,
        prefix=node.key_prefix,
        source=_PartSource(source, part),
    )


def row_lengths(rows: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return how many elements each row has; what is no row has none."""
    lengths = (len(row) if isinstance(row, np.ndarray) else 0 for row in rows.ravel())
    return np.fromiter(lengths, np.int64, rows.size).reshape(rows.shape)


class _PartSource:
    """Takes a part of what another source makes."""

    def __init__(self, whole: ArraySource, part: ElementPart) -> None:
        self._whole, self._part = whole, part

    def pieces(self, part: ChunkPart) -> Iterator[SourcePiece]:
        """Return the pieces of the whole elements; of each only the part is kept."""
        for piece in self._whole.pieces(part):
            how = (*piece.how, "part", self._part.name)
            yield replace(piece, decode=partial(self._decode, piece), raw=None, how=how)

    def _decode(self, piece: SourcePiece, data: memoryview) -> npt.NDArray[Any]:
        return self._part.of(piece.decode(data))

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the kinds of the chunks of the whole elements."""
        return self._whole.kinds()

    def kinds_at(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return the kinds of some chunks of the whole elements."""
        return self._whole.kinds_at(coords)

    def stored(self) -> int | None:
        """Return how many chunks are not missing."""
        return self._whole.stored()


class _ChunkSource:
    """The chunks of an array that has no source, as one: each chunk is what its reference gives."""

    def __init__(self, node: ArrayNode) -> None:
        self._node = node

    def pieces(self, part: ChunkPart) -> Iterator[SourcePiece]:
        """Return the chunk of a part, unless it is missing."""
        node = self._node
        coords = np.array([part.coords], np.int64).reshape(1, len(part.coords))
        reference = node.manifest.columns(coords).reference(0)
        if isinstance(reference, Missing):
            return
        key = node.manifest.key(part.coords)

        pipeline = CodecPipeline.for_array(node, node.grid.stored_shape(part.coords))
        yield SourcePiece(
            reference=reference,
            shape=pipeline.shape,
            inside=part.inside,
            target=part.target,
            decode=pipeline.decode,
            name=key,
            place=Place(key=key, path=node.path),
            how=(node.type.name, str(node.dtype), pipeline.shape, repr(node.codecs)),
        )

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return which chunks are missing."""
        return _derived(self._node.manifest.kinds())

    def kinds_at(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return which of some chunks are missing."""
        return _derived(self._node.manifest.columns(coords).kind)

    def stored(self) -> int | None:
        """Return how many chunks are not missing."""
        return None if not self._node.has_manifest else self._node.manifest.stored()


def _derived(kinds: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.where(kinds == ReferenceKind.MISSING, kinds, np.uint8(ReferenceKind.DERIVED))


@dataclass(frozen=True, slots=True, eq=False)
class PartValues:
    """Takes a part of what other nested values make (`NestedValues`).

    Attributes
    ----------
    whole, values
        The array whose rows have the part, and what makes them.
    """

    whole: ArrayNode
    values: NestedValues
    part: ElementPart

    @property
    def type(self) -> NestedType:
        """The type of the part."""
        return NestedType(TypeKind.NUMBER, dtype=self.part.dtype)

    @property
    def length(self) -> int:
        """How many rows there are."""
        return self.values.length

    def linked(self, name: str) -> NestedType:
        """Return the type that a link leads to."""
        return self.values.linked(name)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All that the whole rows are made from."""
        return self.values.buffers

    def parts(self, start: int, stop: int) -> list[BufferPart]:
        """Return what of each buffer the whole rows from `start` to `stop` may need."""
        return self.values.parts(start, stop)

    def turned(self, turns: int) -> PartValues:
        """Return the same part, with cycles in the whole rows followed for no more than so many turns."""
        return replace(self, values=self.values.turned(turns))

    def rows(self, start: int, stop: int, reader: BufferReader) -> NestedRows:
        """Return the part of each row from `start` to `stop`.

        Raises
        ------
        RefbrowserError
            None of the rows can be read, or they are not of the type that was told.
        """
        from awkward.contents import NumpyArray

        found = self.values.rows(start, stop, reader)
        values = elements(self.whole, found.content, self.whole.known_dtype)
        return NestedRows(NumpyArray(self.part.of(values)), found.faults)


#: Bars of a histogram of lengths.
BARS_MOST = 48


@dataclass(frozen=True, slots=True)
class RowNumbers:
    """Values of rows as they are drawn.

    Attributes
    ----------
    places
        Position of each value: in its row, or among the values of all rows.
    numbers
        NaN where there is no value, and between two rows.
    rows
        How many rows they are of; fewer than there are where those have more values than a line holds.
    """

    places: npt.NDArray[np.float64]
    numbers: npt.NDArray[Any]
    rows: int


@dataclass(frozen=True, slots=True)
class Bar:
    """How many rows have a length from `low` to `high` (included)."""

    low: int
    high: int
    count: int


def shown_rows(node: ArrayNode, decoded: bool) -> Interpretation | None:
    """Return what the values of ragged rows mean; None where they are no numbers."""
    shown = Interpretation(replace(node, type=node.type.inner, fill_value=None), decoded)
    return shown if shown.is_number else None


def rows_come(picture: Picture) -> list[npt.NDArray[Any]]:
    """Return the rows of a line as far as they have come, in order; what has not come is left out."""
    states = picture.element_states([np.arange(len(picture.values), dtype=np.int64)])
    known = have_values(states) | (states == ChunkState.MISSING)
    return [row for row in picture.values[known] if isinstance(row, np.ndarray)]


def row_numbers(shown: Interpretation, row: npt.NDArray[Any]) -> RowNumbers:
    """Return the values of one row."""
    return RowNumbers(np.arange(len(row), dtype=np.float64), shown.numbers(_native(row)), 1)


def all_numbers(shown: Interpretation, rows: Sequence[npt.NDArray[Any]]) -> RowNumbers:
    """Return the values of rows one after the other, with a gap between two, as many as a line holds."""
    lengths = np.array([len(row) for row in rows], np.int64)
    kept = int(np.searchsorted(np.cumsum(lengths), LIMITS.view_points, side="right"))
    taken = [row for row in rows[:kept] if len(row)]
    if not taken:
        return RowNumbers(np.zeros(0), np.zeros(0), kept)
    numbers = shown.numbers(_native(np.concatenate(taken)))
    borders = np.cumsum([len(row) for row in taken])[:-1]
    places = np.arange(len(numbers), dtype=np.float64)
    gapped = np.insert(places, borders, places[borders] - 0.5)
    return RowNumbers(gapped, np.insert(numbers, borders, np.nan), kept)


def length_bars(rows: npt.NDArray[Any]) -> tuple[Bar, ...]:
    """Return how many rows are how long: a bar for each length, or for several where there are many."""
    lengths = row_lengths(rows)
    if not len(lengths):
        return ()
    low, high = int(lengths.min()), int(lengths.max())
    wide = max(1, ceil((high - low + 1) / BARS_MOST))
    counts = np.bincount((lengths - low) // wide)
    return tuple(
        Bar(low + at * wide, low + (at + 1) * wide - 1, count) for at, count in enumerate(counts.tolist())
    )


def _native(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values.astype(values.dtype.newbyteorder("="), copy=False)
