"""How often numbers occur, as bars between edges on an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Bars at most; whole numbers of a smaller range have one each.
BARS_MOST = 80


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Counts of numbers.

    Attributes
    ----------
    edges
        One more than there are bars, rising.
    counts
        Of the numbers in each; the upper edge belongs to the last one alone.
    is_whole
        Whether the numbers are whole: a bar is around one or more of them then.
    """

    edges: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    is_whole: bool

    @property
    def total(self) -> int:
        """How many numbers are counted."""
        return int(self.counts.sum())

    def at(self, place: float) -> int | None:
        """Return the bar at a place on the axis."""
        if not len(self.counts) or not self.edges[0] <= place <= self.edges[-1]:
            return None
        return min(int(np.searchsorted(self.edges, place, "right")) - 1, len(self.counts) - 1)

    def ends(self, number: int) -> tuple[float, float]:
        """Return the least and the greatest number that a bar is of."""
        low, high = float(self.edges[number]), float(self.edges[number + 1])
        return (low + 0.5, high - 0.5) if self.is_whole else (low, high)


NO_BARS = Bars(np.zeros(1), np.zeros(0, np.int64), is_whole=False)
