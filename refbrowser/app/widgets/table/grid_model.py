"""What a grid shows: rows, columns, what heads them, and cells as texts and marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from refbrowser.app.widgets.table.columns import ColumnKind
from refbrowser.views.plot.table import Cells


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
        return Cells([], np.zeros((0, 0), np.uint8))

    def describe(self, row: int, column: int) -> str:
        """Return nothing."""
        return ""
