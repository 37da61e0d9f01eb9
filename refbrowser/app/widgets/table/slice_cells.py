"""The cells of a slice, from the newest picture of the part that is seen."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from refbrowser.app.widgets.table.columns import ColumnKind
from refbrowser.views.plot.interpretation import NUMBER_KINDS
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.table import ROW_COLUMNS, Cells, TableLayout

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
        if self.layout.node.row_dtype is not None:
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
