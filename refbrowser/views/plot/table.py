"""The table of a slice: how many rows and columns, what heads them, names and text of each cell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import RowType, names_of
from refbrowser.model.nested import TypeKind
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.numbers import value_text
from refbrowser.views.plot.coordinates import Coordinate
from refbrowser.views.plot.element_parts import LENGTH, row_lengths
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.plan import ViewPlan, plan_view
from refbrowser.views.plot.readout import readout
from refbrowser.views.plot.slicing import SliceState

#: What the columns of a ragged row are called.
ROW_COLUMNS = (LENGTH, "values")
#: Cells are read in blocks whose edges are multiples of these: scrolling a little needs no new read.
BLOCK_ROWS, BLOCK_COLUMNS = 128, 32


class Mark(IntEnum):
    """What a cell shows."""

    VALUE = 0
    #: Stored, but it stands for no value (fill value, not valid, NaN).
    NO_VALUE = 1
    PENDING = 2
    MISSING = 3
    FAILED = 4
    #: A value of a chunk that is not stored.
    FILLED = 5


#: Texts of cells without a value.
MARK_TEXTS = {Mark.NO_VALUE: "–", Mark.PENDING: "…", Mark.MISSING: "missing", Mark.FAILED: "failed"}
_MARKS = {
    ChunkState.PENDING: Mark.PENDING,
    ChunkState.DONE: Mark.VALUE,
    ChunkState.MISSING: Mark.MISSING,
    ChunkState.FAILED: Mark.FAILED,
    ChunkState.FILLED: Mark.FILLED,
}
#: Mark of each `ChunkState`, by its number.
_MARK_OF = np.array([_MARKS[state] for state in sorted(_MARKS)], np.uint8)


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of a part of a table.

    Attributes
    ----------
    texts
        One list per row.
    marks
        `Mark` of each cell, uint8, shape (rows, columns).
    stale
        Which cells are of files that are not those of the lock, of the same shape.
    """

    texts: list[list[str]]
    marks: npt.NDArray[np.uint8]
    stale: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TableLayout:
    """Rows and columns of one slice: those of the picture's axes, a line is one column.

    A structure has one column for each of its fields, a ragged row one for its length and one for its values.

    Attributes
    ----------
    node
        The array.
    slice
        As the plot shows it.
    coordinates
        One per dimension.
    shown
        What the stored elements mean.
    """

    node: ArrayNode
    slice: SliceState
    coordinates: Sequence[Coordinate]
    shown: Interpretation

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Names of the columns of one element: the fields of a structure; none where it has but one."""
        if isinstance(self.node.type, RowType):
            return ROW_COLUMNS
        if self.slice.bands is not None:
            return self.slice.band_names
        dtype = self.node.dtype
        return () if dtype is None or dtype.names is None else dtype.names

    @property
    def held(self) -> tuple[str, ...]:
        """What each index that is held stands for, in words: ``time 2002-10-16``."""
        state = self.slice
        return tuple(
            f"{state.names[axis]} {self.coordinates[axis].text(index) or index}"
            for axis, index in ((axis, state.indices[axis]) for axis in state.sliders)
        )

    @property
    def rows(self) -> int:
        """Number of rows."""
        axes = self.slice.axes
        return self.slice.shape[axes[0]] if axes else 1

    @property
    def columns(self) -> int:
        """Number of columns."""
        across = self.slice.shape[self.slice.x] if self.slice.y is not None else 1
        return across * self._parts

    @property
    def _parts(self) -> int:
        """Columns of one element."""
        return max(1, len(self.fields))

    # What heads rows and columns

    @property
    def corner(self) -> tuple[str, str]:
        """Name of the rows' dimension, and of that of the columns (empty for a line), with units."""
        axes = [_titled(self.coordinates[axis], self.slice.names[axis]) for axis in self.slice.axes]
        return (axes[0] if axes else "", axes[1] if len(axes) > 1 else "")

    def row_header(self, row: int) -> tuple[str, str]:
        """Return index and coordinate (empty where there is none) of a row."""
        axes = self.slice.axes
        return (str(row), _bare(self.coordinates[axes[0]], row)) if axes else ("", "")

    def column_header(self, column: int) -> tuple[str, str]:
        """Return the two lines over a column: index and coordinate, or name and units of a line."""
        element, part = divmod(column, self._parts)
        field = self.fields[part] if self.fields else ""
        if self.slice.y is None:
            return (field or self.node.name or self.node.path, "" if field else self.shown.units)
        coordinate = _bare(self.coordinates[self.slice.x], element)
        return (f"{element}  {coordinate}".rstrip(), field) if field else (str(element), coordinate)

    # Cells

    def elements(self, rows: range, columns: range) -> tuple[range, ...]:
        """Return the indices along the axes of the elements that cells show."""
        if not self.slice.axes:
            return ()
        if self.slice.y is None:
            return (rows,)
        return (rows, range(columns.start // self._parts, -(-columns.stop // self._parts)))

    def element(self, row: int, column: int) -> tuple[int, ...]:
        """Return the indices along the axes of the element that one cell shows."""
        return tuple(part.start for part in self.elements(range(row, row + 1), range(column, column + 1)))

    def cell_of(self, element: Sequence[int]) -> tuple[int, int]:
        """Return row and column of the (first) cell of an element."""
        padded = (*element, 0, 0)
        return padded[0], padded[1] * self._parts if len(element) > 1 else 0

    def plan(self, rows: range, columns: range) -> ViewPlan:
        """Return the read of exactly these cells."""
        window = self.elements(rows, columns)
        return plan_view(self.node, self.slice, window, (1,) * len(window))

    def block_plan(self, rows: range, columns: range) -> ViewPlan:
        """Return the read of these cells with more around them, unless that touches too many chunks."""
        plan = self.plan(
            _block(rows, BLOCK_ROWS, self.rows), _block(columns, BLOCK_COLUMNS * self._parts, self.columns)
        )
        return self.plan(rows, columns) if plan.chunks > LIMITS.view_chunks else plan

    def cells(self, picture: Picture | None, rows: range, columns: range) -> Cells:
        """Return cells as text; those that `picture` does not hold are pending."""
        texts = [[MARK_TEXTS[Mark.PENDING]] * len(columns) for _ in rows]
        marks = np.full((len(rows), len(columns)), Mark.PENDING, np.uint8)
        stale = np.zeros(marks.shape, bool)
        if picture is None:
            return Cells(texts, marks, stale)
        window = self.elements(rows, columns)
        held = [_common(part, taken) for part, taken in zip(window, picture.plan.ranges, strict=True)]
        if not all(held):
            return Cells(texts, marks, stale)
        found, states, is_stale = self._held(picture, held, columns)
        top = held[0].start - rows.start if held else 0
        left = held[1].start * self._parts - columns.start if len(held) > 1 else -columns.start
        # What is held begins with the first part of an element, and ends with the last.
        taken = slice(max(0, -left), min(states.shape[1], len(columns) - left))
        place = slice(taken.start + left, taken.stop + left)
        for at, line in enumerate(found, top):
            texts[at][place] = line[taken]
        marks[top : top + len(found), place] = states[:, taken]
        stale[top : top + len(found), place] = is_stale[:, taken]
        return Cells(texts, marks, stale)

    def describe(self, picture: Picture | None, row: int, column: int) -> str:
        """Return one line about a cell: where it is, its value, its chunk; empty where it is not held."""
        if picture is None:
            return ""
        return readout(picture, self.shown, self.coordinates, self.element(row, column))

    def _held(
        self, picture: Picture, held: list[range], columns: range
    ) -> tuple[list[list[str]], npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
        """Return texts, marks and what is stale of elements that a picture holds, shape (rows, columns).

        Parts of elements of which no column is wanted have no text: structures can have thousands.
        """
        starts = [taken.start for taken in picture.plan.ranges]
        spans = [
            range(part.start - start, part.stop - start) for part, start in zip(held, starts, strict=True)
        ]
        values = picture.values[tuple(slice(span.start, span.stop) for span in spans)]
        if held:
            positions = [np.arange(span.start, span.stop, dtype=np.int64) for span in spans]
            states, stale = picture.element_states(positions), picture.element_stale(positions)
        else:
            states, stale = picture.states, picture.stale_done
        shape = (len(held[0]) if held else 1, len(held[1]) if len(held) > 1 else 1)
        marks = _MARK_OF[states].reshape(shape)
        count = self._parts
        wanted = {column % count for column in columns[:count]}
        texts = [[""] * (shape[1] * count) for _ in range(shape[0])]
        all_marks = np.repeat(marks, count, axis=1)
        for number in wanted:
            part = self._part(values, number)
            part = part.reshape(shape + part.shape[values.ndim :])
            part_texts, no_value = value_block(self.shown, part, self._names[number])
            part_marks = np.where((marks == Mark.VALUE) & no_value, np.uint8(Mark.NO_VALUE), marks)
            all_marks[:, number::count] = part_marks
            for at, line in enumerate(part_texts):
                texts[at][number::count] = [
                    MARK_TEXTS.get(Mark(mark), text)
                    for text, mark in zip(line, part_marks[at].tolist(), strict=True)
                ]
        return texts, all_marks, np.repeat(stale.reshape(shape), count, axis=1)

    def parts(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Return elements as the columns that they make: themselves, or each field of a structure."""
        return [self._part(values, number) for number in range(self._parts)]

    def _part(self, values: npt.NDArray[Any], number: int) -> npt.NDArray[Any]:
        if isinstance(self.node.type, RowType):
            return values if number else row_lengths(values)
        if self.slice.bands is not None:
            return values[..., number]
        return values[self.fields[number]] if self.fields else values

    @cached_property
    def _names(self) -> tuple[Mapping[int, str], ...]:
        """What values of each column of an element are called."""
        dtype = self.node.dtype
        if self.slice.bands is not None or isinstance(self.node.type, RowType):
            return ({},) * self._parts
        if dtype is None or dtype.names is None:
            return ({},) * self._parts
        return tuple(names_of(dtype[field]) for field in dtype.names)


def value_block(
    shown: Interpretation, values: npt.NDArray[Any], names: Mapping[int, str]
) -> tuple[list[list[str]], npt.NDArray[np.bool_]]:
    """Return the texts of a block of elements, and which are no values.

    The first two axes are rows and columns; more are those of an element that is an array itself. `names` are
    those of values that have any.
    """
    nothing = np.zeros(values.shape[:2], bool)
    if names and values.ndim == 2:
        return [[named_text(item, names) for item in line] for line in values.tolist()], nothing
    if values.ndim > 2 or values.dtype.kind not in "iufc" or not shown.is_number:
        return [[value_text(item) for item in line] for line in values], nothing
    masked = shown.packing.masked(values)
    no_value = np.ma.getmaskarray(masked)
    if shown.dates is not None:
        texts = shown.dates.texts(shown.numbers(values))
    else:
        plain = shown.packing.decode(values) if shown.packing.is_scaled else masked.data
        texts = [[value_text(item) for item in line] for line in plain.tolist()]
    return texts, no_value


def has_cells(node: ArrayNode) -> bool:
    """Whether a cell can show an element: lists of lists, records and unions are unfolded elsewhere.

    In a cell, what of them cannot be read could not be told from what is missing.
    """
    if (
        node.nested is None
        or node.dtype is None
        or not node.dtype.hasobject
        or isinstance(node.type, RowType)
    ):
        return True
    kind = node.nested.type
    while kind.kind is TypeKind.OPTION:
        kind = kind.items[0]
    return kind.kind in (TypeKind.NUMBER, TypeKind.STRING, TypeKind.BYTES)


def named_text(value: int, names: Mapping[int, str]) -> str:
    """Return a value of an enumeration with its name, where it has one."""
    return f"{value_text(value)} {names[value]}" if value in names else value_text(value)


def _bare(coordinate: Coordinate, index: int) -> str:
    """Return what an index stands for without units: `_titled` names them once."""
    return coordinate.text(index).removesuffix(f" {coordinate.units}")


def _titled(coordinate: Coordinate, name: str) -> str:
    """Return the name of a dimension, with units where the texts of its coordinate would end with them."""
    has_units = coordinate.units and coordinate.text(0).endswith(f" {coordinate.units}")
    return f"{name} [{coordinate.units}]" if has_units else name


def _block(part: range, side: int, size: int) -> range:
    """Return `part` widened to multiples of `side`, with half a block before and after it."""
    start = (part.start - side // 2) // side * side
    stop = -(-(part.stop + side // 2) // side) * side
    return range(max(0, start), min(size, stop))


def _common(one: range, other: range) -> range:
    """Return what two ranges of step 1 have in common."""
    return range(max(one.start, other.start), min(one.stop, other.stop))


#: Digits of a number that are read: no dimension needs more.
_DIGITS = 30


@dataclass(frozen=True, slots=True)
class NamedCell:
    """A cell, and where along the dimensions that are not on the table's axes.

    Attributes
    ----------
    cell
        Row and column.
    held
        An index for each dimension of the array, where all were given; else None.
    """

    cell: tuple[int, int]
    held: tuple[int, ...] | None = None


def cell_from_text(layout: TableLayout, text: str, current: tuple[int, int] = (0, 0)) -> NamedCell:
    """Return the cell that a text names: ``12``, ``12, 40`` or ``0, 3, 12, 40``, and the name of a field.

    Negative numbers count from the end. `current` gives the column where only a row is named.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it names none.
    """
    words = [word for word in re.split(r"[\s,;]+", text.strip().strip("[]()")) if word]
    part = 0
    if layout.fields and words and words[-1] in layout.fields:
        part = layout.fields.index(words.pop())
    axes, shape = layout.slice.axes, layout.slice.shape
    numbers = [_number(layout, word) for word in words]
    parts = max(1, len(layout.fields))
    if axes and len(numbers) == 1:
        row = _inside(layout, axes[0], numbers[0])
        column = current[1] if part == 0 else current[1] // parts * parts + part
        return NamedCell((row, column))
    if axes and len(numbers) == len(axes):
        along = [_inside(layout, axis, number) for axis, number in zip(axes, numbers, strict=True)]
        return NamedCell((along[0], along[1] * parts + part))
    if len(numbers) == len(shape):
        held = tuple(_inside(layout, axis, number) for axis, number in enumerate(numbers))
        row, column = layout.cell_of([held[axis] for axis in axes])
        return NamedCell((row, column + part), held)
    raise _unknown(layout, f"{quoted(text)} is not a cell")


def _number(layout: TableLayout, word: str) -> int:
    if re.fullmatch(r"[-+\u2212]?[0-9][0-9_]*", word) is None or len(word) > _DIGITS:
        raise _unknown(layout, f"{quoted(word)} is not a number")
    return int(word.replace("_", "").replace("\u2212", "-"))


def _inside(layout: TableLayout, axis: int, number: int) -> int:
    size = layout.slice.shape[axis]
    if not -size <= number < size:
        name = layout.slice.names[axis]
        raise _unknown(layout, f"{name} has the indices 0 to {size - 1}, not {number}")
    return number % size


def _unknown(layout: TableLayout, message: str) -> RefbrowserError:
    advice = "type a row, or a row and a column: 12, 40"
    return RefbrowserError(ErrorKind.USAGE, message, Place(path=layout.node.path), advice)
