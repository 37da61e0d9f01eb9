"""Which cells are selected: the current one, and the rectangle from where Shift began."""

from __future__ import annotations

from dataclasses import dataclass

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
