"""How often numbers occur, as bars between edges on an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


def bars_of(numbers: npt.NDArray[Any]) -> Bars:
    """Return how often numbers occur; those that are not finite are left out."""
    known = numbers[np.isfinite(numbers)] if numbers.dtype.kind == "f" else numbers
    if not len(known):
        return NO_BARS
    low, high = float(known.min()), float(known.max())
    # Whole numbers beyond this have no neighbours as floats.
    is_whole = abs(low) < 2**52 and abs(high) < 2**52 and bool(np.all(known == np.floor(known)))
    if is_whole:
        wide = max(1, int(-(-(high - low + 1) // BARS_MOST)))
        count = int((high - low) // wide) + 1
        edges = low - 0.5 + wide * np.arange(count + 1, dtype=np.float64)
    elif low == high or not np.isfinite(high - low):
        reach = abs(low) * 0.05 or 0.5
        edges = np.array([low - reach, high + reach]) if low == high else np.array([low, high])
    else:
        edges = np.linspace(low, high, BARS_MOST + 1)
    counts, _edges = np.histogram(known, edges)
    return Bars(edges, counts.astype(np.int64), is_whole)
