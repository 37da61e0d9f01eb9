"""The levels of a colour bar: from the first data that comes, and then left alone."""

from __future__ import annotations

import math
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
#: Values beyond this are taken as this: differences of greater ones would be infinite.
FARTHEST = 1e300
#: The least number above zero, and the greatest.
_LEAST, _GREATEST = 5e-324, 1.7976931348623157e308


@dataclass(frozen=True, slots=True)
class Levels:
    """The values at the lower and upper end of the colour map; `low` is below `high`, by a finite number.

    With `log` equal ratios of values are equally far apart, and both ends are above zero.
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"levels must rise: {self.low} to {self.high}")
        if not math.isfinite(self.high - self.low):
            raise ValueError(f"levels must be finite: {self.low} to {self.high}")
        if self.log and not self.low > 0:
            raise ValueError(f"logarithmic levels must be above zero: {self.low}")

    def part(self, value: float) -> float:
        """Return where a value lies between the levels: 0 at the lower, 1 at the upper one."""
        if not self.log:
            return (value - self.low) / (self.high - self.low)
        if value <= 0:
            return -math.inf
        return (math.log(value) - math.log(self.low)) / self._width

    def value(self, part: float) -> float:
        """Return the value at a part of the way from the lower to the upper level."""
        if not self.log:
            return self.low + part * (self.high - self.low)
        # In two steps: the ratio of denormal numbers to others is more than a float holds.
        root = math.exp(max(-700.0, min(part * self._width / 2, 700.0)))
        return max(_LEAST, min(self.low * root * root, _GREATEST))

    @property
    def _width(self) -> float:
        return math.log(self.high) - math.log(self.low)

    def symmetric(self) -> Levels:
        """Return levels that reach equally far below and above zero, for a diverging map."""
        reach = max(abs(self.low), abs(self.high))
        return Levels(-reach, reach)


def finite(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the finite values as one axis of float64, those beyond `FARTHEST` as that."""
    flat = np.asarray(values, np.float64).ravel()
    return np.clip(flat[np.isfinite(flat)], -FARTHEST, FARTHEST)


def levels_of(sample: npt.NDArray[Any], log: bool = False) -> Levels | None:
    """Return levels for a sample of values, without the outermost ones; None where none is finite.

    With `log` only values above zero count, and there are no levels where there are none.
    """
    known = finite(sample)
    if log:
        known = known[known > 0]
    if not len(known):
        return None
    low, high = (float(value) for value in np.quantile(known, [CLIPPED, 1 - CLIPPED]))
    if low < high:
        return Levels(low, high, log)
    low, high = float(known.min()), float(known.max())
    if low < high:
        return Levels(low, high, log)
    # One value everywhere: levels around it, so that it has a colour and a place on the bar.
    if log:
        return Levels(low / 1.1, low * 1.1, log=True)
    reach = max(abs(low) * 0.01, 1e-12) if low else 1.0
    return Levels(low - reach, low + reach)


def outside(levels: Levels, sample: npt.NDArray[Any]) -> float:
    """Return the part of the finite values that lies outside the levels; 0 where there is none."""
    known = finite(sample)
    if levels.log:
        # What has no place on the scale at all does not call for another one.
        known = known[known > 0]
    if not len(known):
        return 0.0
    return float(np.count_nonzero((known < levels.low) | (known > levels.high)) / len(known))


def still_fit(levels: Levels, sample: npt.NDArray[Any], complete: bool) -> bool:
    """Whether levels may stay for other values of the same variable.

    They stay while they show most values apart; a complete picture is held to more than a part of one.
    """
    known = finite(sample)
    fresh = levels_of(known, levels.log)
    if fresh is None:
        return True
    flat = known.min() == known.max()
    if not flat and levels.part(fresh.high) - levels.part(fresh.low) < FILLED_LEAST:
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
        #: Whether levels are wanted on a logarithmic scale; they are not where no value is above zero.
        self.log = False

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
        self.levels, self.by_user = self._scaled(levels), True

    def set_log(self, log: bool, sample: npt.NDArray[Any]) -> None:
        """Use a logarithmic scale or not; levels of the user stay where they can."""
        self.log = log
        if self.by_user and self.levels is not None and (not log or self.levels.low > 0):
            self.levels = self._scaled(self.levels)
        else:
            self.auto(sample)

    def forget(self) -> None:
        """Begin anew with another variable, or other units."""
        self.levels, self.by_user = None, False

    def _scaled(self, levels: Levels) -> Levels:
        return Levels(levels.low, levels.high, self.log and levels.low > 0)

    def _follow(self, sample: npt.NDArray[Any]) -> bool:
        fresh = (levels_of(sample, log=True) if self.log else None) or levels_of(sample)
        if fresh is None:
            return False
        if self.symmetric and not fresh.log and fresh.low < 0 < fresh.high:
            fresh = fresh.symmetric()
        changed = fresh != self.levels
        self.levels = fresh
        return changed
