"""What a grid shows of a slice: the widths of its columns, its cells and headers, and what is selected."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
from PySide6.QtCore import Qt

from refbrowser.model.data_type import RowType
from refbrowser.views.plot.interpretation import NUMBER_KINDS
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.table import ROW_COLUMNS, Cells, TableLayout


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """One of the columns that an element makes.

    Attributes
    ----------
    name
        Columns of the same name are as wide as the user made the last one of them.
    characters
        Texts of so many characters fit, until the user makes it wider.
    right
        Texts stand at the right edge, as numbers do.
    """

    name: str
    characters: int
    right: bool = True


class ColumnWidths:
    """Positions of columns whose widths, in pixels, repeat."""

    def __init__(self, widths: Sequence[int]) -> None:
        self.widths = list(widths)
        self._starts = [0, *accumulate(self.widths)]

    def width(self, column: int) -> int:
        """Return the width of a column."""
        return self.widths[column % len(self.widths)]

    def between(self, first: int, column: int) -> int:
        """Return how far right of the column `first` a column begins; negative for one before it."""
        return self._start(column) - self._start(first)

    def at(self, first: int, distance: int) -> int:
        """Return the column so many pixels right of where `first` begins."""
        periods, rest = divmod(self._start(first) + distance, self._starts[-1])
        return periods * len(self.widths) + bisect_right(self._starts, rest) - 1

    def page(self, count: int, room: int) -> int:
        """Return how many whole columns fit at the end of `count` columns; at least 1."""
        first = self.at(count, -room)
        whole = self.between(first, count) <= room
        return max(1, count - first if whole else count - first - 1)

    def first_to_see(self, first: int, column: int, room: int) -> int:
        """Return the column, `first` or after it, to begin with so that all of `column` is seen."""
        while first < column and self.between(first, column + 1) > room:
            first += 1
        return first

    def resized(self, first: int, column: int, distance: int) -> int:
        """Return the width that puts the right border of `column` at a distance from where `first` begins.

        All columns of its kind between the two get that width.
        """
        kind = column % len(self.widths)
        alike = [each for each in range(first, column + 1) if each % len(self.widths) == kind]
        others = self.between(first, column + 1) - len(alike) * self.widths[kind]
        return (distance - others) // max(1, len(alike))

    def _start(self, column: int) -> int:
        periods, rest = divmod(column, len(self.widths))
        return periods * self._starts[-1] + self._starts[rest]


#: Texts of headers that are kept: dates take a while to make.
_KEPT = 4_096


class SliceCells:
    """A layout with the picture that holds its cells."""

    def __init__(self, layout: TableLayout, picture: Picture | None = None) -> None:
        self.layout = layout
        self.picture: Picture | None = None
        self._rows: dict[int, tuple[str, str]] = {}
        self._columns: dict[int, tuple[str, str]] = {}
        self.take(picture)

    def take(self, picture: Picture | None) -> None:
        """Take cells from another picture; one of other axes holds none of them."""
        fits = picture is not None and picture.plan.slice.axes == self.layout.slice.axes
        self.picture = picture if fits else None

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        return self.layout.rows

    @cached_property
    def columns(self) -> int:
        """Number of columns."""
        return self.layout.columns

    @cached_property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What the columns are: one, or one for each field of a structure, or length and values of a row."""
        dtype, shown = self.layout.node.dtype, self.layout.shown
        if isinstance(self.layout.node.type, RowType):
            length, values = ROW_COLUMNS
            return ColumnKind(length, 8), ColumnKind(values, 60, right=False)
        if dtype is not None and dtype.names is not None:
            fields = [(name, dtype[name]) for name in dtype.names]
            return tuple(
                ColumnKind(f"field {name}", max(_characters(kind), len(name) + 1), kind.kind in NUMBER_KINDS)
                for name, kind in fields
            )
        if shown.dates is not None:
            characters = 20
        elif dtype is None or not shown.is_number:
            characters = 28 if self.layout.slice.y is None else 18
        else:
            characters = _characters(dtype)
        return (ColumnKind(str(characters), characters, shown.is_number),)

    @cached_property
    def corner(self) -> tuple[str, str]:
        """Names of the dimensions of rows and columns."""
        return self.layout.corner

    def row_header(self, row: int) -> tuple[str, str]:
        """Return index and coordinate of a row."""
        found = self._rows.get(row)
        if found is None:
            if len(self._rows) >= _KEPT:
                self._rows.clear()
            found = self._rows[row] = self.layout.row_header(row)
        return found

    def column_header(self, column: int) -> tuple[str, str]:
        """Return the two lines over a column."""
        found = self._columns.get(column)
        if found is None:
            if len(self._columns) >= _KEPT:
                self._columns.clear()
            found = self._columns[column] = self.layout.column_header(column)
        return found

    def cells(self, rows: range, columns: range) -> Cells:
        """Return cells as they are known now."""
        return self.layout.cells(self.picture, rows, columns)

    def describe(self, row: int, column: int) -> str:
        """Return one line about a cell."""
        return self.layout.describe(self.picture, row, column)


def _characters(dtype: np.dtype[Any]) -> int:
    """Return for how many characters a column of elements is made."""
    if dtype.kind not in NUMBER_KINDS or dtype.shape:
        return 18
    return {"c": 24, "b": 8, "m": 16, "M": 20, "f": 14}.get(dtype.kind, 12)


class GridModel(Protocol):
    """Any number of rows and columns; everything is called on the GUI thread and must be quick."""

    @property
    def rows(self) -> int:
        """Number of rows, a Python integer of any size."""
        ...

    @property
    def columns(self) -> int:
        """Number of columns, a Python integer of any size."""
        ...

    @property
    def kinds(self) -> Sequence[ColumnKind]:
        """What the columns are, at least one; the first follows the last again."""
        ...

    @property
    def corner(self) -> tuple[str, str]:
        """Name of the rows, and of the columns."""
        ...

    def row_header(self, row: int) -> tuple[str, str]:
        """Return the two texts before a row."""
        ...

    def column_header(self, column: int) -> tuple[str, str]:
        """Return the two texts over a column."""
        ...

    def cells(self, rows: range, columns: range) -> Cells:
        """Return cells as they are known now."""
        ...

    def describe(self, row: int, column: int) -> str:
        """Return one line about a cell."""
        ...


class NoCells:
    """A grid without cells."""

    rows = 0
    columns = 0
    kinds = (ColumnKind("", 12),)
    corner = ("", "")

    def row_header(self, row: int) -> tuple[str, str]:
        """Return nothing."""
        return ("", "")

    def column_header(self, column: int) -> tuple[str, str]:
        """Return nothing."""
        return ("", "")

    def cells(self, rows: range, columns: range) -> Cells:
        """Return no cells."""
        return Cells([], np.zeros((0, 0), np.uint8), np.zeros((0, 0), bool))

    def describe(self, row: int, column: int) -> str:
        """Return nothing."""
        return ""


Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CellSelection:
    """A rectangle of cells.

    Attributes
    ----------
    current
        Row and column of the cell that keys move.
    anchor
        The corner across from it; the same cell where only one is selected.
    """

    current: Cell
    anchor: Cell

    @property
    def rows(self) -> range:
        """The rows that are selected."""
        return _between(self.anchor[0], self.current[0])

    @property
    def columns(self) -> range:
        """The columns that are selected."""
        return _between(self.anchor[1], self.current[1])

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.rows) * len(self.columns)

    def __contains__(self, cell: object) -> bool:
        return isinstance(cell, tuple) and cell[0] in self.rows and cell[1] in self.columns


def _between(one: int, other: int) -> range:
    return range(min(one, other), max(one, other) + 1)


def moved(key: Qt.Key, current: Cell | None, first: Cell, last: Cell, page: int, *, far: bool) -> Cell | None:
    """Return the cell that a key goes to, or None; it may lie outside of the table.

    Parameters
    ----------
    current
        Without one, a key goes to the `first` cell that is seen.
    last
        Of the table.
    page
        Rows of a page.
    far
        With Control: to the end.
    """
    row, column = current or first
    steps = {
        Qt.Key.Key_Up: (0 if far else row - 1, column),
        Qt.Key.Key_Down: (last[0] if far else row + 1, column),
        Qt.Key.Key_Left: (row, 0 if far else column - 1),
        Qt.Key.Key_Right: (row, last[1] if far else column + 1),
        Qt.Key.Key_PageUp: (row - page, column),
        Qt.Key.Key_PageDown: (row + page, column),
        Qt.Key.Key_Home: (0 if far else row, 0),
        Qt.Key.Key_End: (last[0] if far else row, last[1]),
    }
    if key not in steps:
        return None
    return steps[key] if current is not None or far else (row, column)
