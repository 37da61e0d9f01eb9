"""Which cells are selected: the current one, and the rectangle from where Shift began."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt

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
