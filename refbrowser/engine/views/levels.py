"""The levels of a colour bar: from the first data that comes, and then left alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

#: Parts of the values that may lie below and above the levels.
CLIPPED = 0.005
#: Levels are given up when more than this part of the values lies outside...
OUTSIDE_MOST = 0.25
#: ...or when the values fill less than this part of them.
FILLED_LEAST = 0.1
#: The same when a picture is complete, once.
OUTSIDE_SETTLED = 0.05


@dataclass(frozen=True, slots=True)
class Levels:
    """The values at the lower and upper end of the colour map; `low` is below `high`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"levels must rise: {self.low} to {self.high}")

    def symmetric(self) -> Levels:
        """Return levels that reach equally far below and above zero, for a diverging map."""
        reach = max(abs(self.low), abs(self.high))
        return Levels(-reach, reach)


def finite(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the finite values as one axis of float64."""
    flat = np.asarray(values, np.float64).ravel()
    return flat[np.isfinite(flat)]


def levels_of(sample: npt.NDArray[Any]) -> Levels | None:
    """Return levels for a sample of values, without the outermost ones; None where none is finite."""
    known = finite(sample)
    if not len(known):
        return None
    low, high = (float(value) for value in np.quantile(known, [CLIPPED, 1 - CLIPPED]))
    if low < high:
        return Levels(low, high)
    low, high = float(known.min()), float(known.max())
    if low < high:
        return Levels(low, high)
    # One value everywhere: levels around it, so that it has a colour and a place on the bar.
    reach = max(abs(low) * 0.01, 1e-12) if low else 1.0
    return Levels(low - reach, low + reach)


def outside(levels: Levels, sample: npt.NDArray[Any]) -> float:
    """Return the part of the finite values that lies outside the levels; 0 where there is none."""
    known = finite(sample)
    if not len(known):
        return 0.0
    return float(np.count_nonzero((known < levels.low) | (known > levels.high)) / len(known))


def still_fit(levels: Levels, sample: npt.NDArray[Any], complete: bool) -> bool:
    """Whether levels may stay for other values of the same variable.

    They stay while they show most values apart; a complete picture is held to more than a part of one.
    """
    known = finite(sample)
    fresh = levels_of(known)
    if fresh is None:
        return True
    flat = known.min() == known.max()
    if not flat and fresh.high - fresh.low < FILLED_LEAST * (levels.high - levels.low):
        return False
    return outside(levels, sample) <= (OUTSIDE_SETTLED if complete else OUTSIDE_MOST)


class LevelKeeper:
    """Keeps the levels of one variable still while its pictures change.

    They come from the first data. While a picture fills, and from one slice to the next, they stay as long as
    they fit; what the user set stays until `auto`.
    """

    def __init__(self) -> None:
        self.levels: Levels | None = None
        self.by_user = False
        self.symmetric = False

    def take(self, sample: npt.NDArray[Any], complete: bool) -> bool:
        """Look at the values that have come; whether the levels changed."""
        if self.by_user or (self.levels is not None and still_fit(self.levels, sample, complete)):
            return False
        return self._follow(sample)

    def auto(self, sample: npt.NDArray[Any]) -> bool:
        """Take levels from these values again; whether they changed."""
        self.by_user = False
        return self._follow(sample)

    def set_by_user(self, levels: Levels) -> None:
        """Hold these levels until `auto`."""
        self.levels, self.by_user = levels, True

    def forget(self) -> None:
        """Begin anew with another variable, or other units."""
        self.levels, self.by_user = None, False

    def _follow(self, sample: npt.NDArray[Any]) -> bool:
        fresh = levels_of(sample)
        if fresh is None:
            return False
        if self.symmetric and fresh.low < 0 < fresh.high:
            fresh = fresh.symmetric()
        changed = fresh != self.levels
        self.levels = fresh
        return changed
