"""How wide the columns of a grid are: a few widths that repeat, whatever the number of columns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


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
