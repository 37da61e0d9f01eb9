"""Which rows of a layout are wanted: stretches in ascending order, read one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]
#: Rows that lie this close are read as one stretch.
NEAR = 512
#: Stretches of one extent at most: the gaps that are read over grow until there are no more.
MOST_RUNS = 256


@dataclass(frozen=True, eq=False)
class Extent:
    """Stretches of rows; what is read of them lies one after the other.

    Attributes
    ----------
    starts, stops
        Of each stretch, ascending and apart.
    """

    starts: Positions
    stops: Positions

    @classmethod
    def of(cls, start: int, stop: int) -> Extent:
        """Return one stretch."""
        return cls(np.array([start], np.int64), np.array([stop], np.int64))

    @classmethod
    def covering(cls, starts: Positions, stops: Positions) -> Extent:
        """Return what covers lists from `starts` to `stops` in any order; empty ones aside."""
        filled = stops > starts
        if not filled.any():
            return cls.of(0, 0)
        if not filled.all():
            starts, stops = starts[filled], stops[filled]
        low, high = int(starts.min()), int(stops.max())
        if high - low <= NEAR + int((stops - starts).sum(dtype=np.float64)):
            return cls.of(low, high)
        order = np.argsort(starts, kind="stable")
        starts = starts[order]
        reached = np.maximum.accumulate(stops[order])
        gaps = starts[1:] - reached[:-1]
        near = NEAR
        if np.count_nonzero(gaps > near) >= MOST_RUNS:
            near = max(near, int(np.partition(gaps, -MOST_RUNS)[-MOST_RUNS]))
        cuts = np.flatnonzero(gaps > near)
        return cls(starts[np.append(0, cuts + 1)], reached[np.append(cuts, len(reached) - 1)])

    @classmethod
    def around(cls, positions: Positions) -> Extent:
        """Return what covers single rows in any order."""
        return cls.covering(positions, positions + 1)

    @cached_property
    def size(self) -> int:
        """Rows in all."""
        return int((self.stops - self.starts).sum())

    @property
    def is_single(self) -> bool:
        """Whether it is one stretch."""
        return len(self.starts) == 1

    @property
    def reach(self) -> int:
        """The row after the last one."""
        return int(self.stops[-1])

    @property
    def runs(self) -> list[tuple[int, int]]:
        """The stretches as pairs."""
        return list(zip(self.starts.tolist(), self.stops.tolist(), strict=True))

    def times(self, size: int) -> Extent:
        """Return the rows below, where each of these has `size` of them."""
        return Extent(self.starts * size, self.stops * size)

    def positions(self) -> Positions:
        """Return every row."""
        return np.concatenate([np.arange(start, stop) for start, stop in self.runs])

    def locate(self, rows: npt.NDArray[Any]) -> Positions:
        """Return where each of `rows`, all of them covered, lies in what was read."""
        if self.is_single:
            return rows - self.starts[0]
        before = np.cumsum(self.stops - self.starts) - (self.stops - self.starts)
        run = np.searchsorted(self.starts, rows, "right") - 1
        np.maximum(run, 0, out=run)
        return rows - self.starts[run] + before[run]
