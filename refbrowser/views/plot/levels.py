"""The levels of a colour bar, from the first data that comes and then left alone, and its histogram."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.views.numbers import nice_step

#: Parts of the values that lie below and above levels that leave out the outermost ones.
CLIPPED = 0.02
#: What the ends of levels are, in words: the lower and the upper one.
PERCENTILES = ("2nd percentile", "98th percentile")
EXTREMES = ("minimum", "maximum")
BY_USER = ("set by you", "set by you")
_AROUND = ("below the only value", "above the only value")
_MIRRORED, _CENTRED = "symmetric about zero", "symmetric"
_ROUNDED = ("rounded down", "rounded up")
#: The ends of all values of an array, not of one slice.
OF_ALL = ("minimum of all", "maximum of all")
#: Levels are given up when more than this part of the values lies outside...
OUTSIDE_MOST = 0.25
#: ...or when the values fill less than this part of them.
FILLED_LEAST = 0.1
#: The same when a picture is complete, once.
OUTSIDE_SETTLED = 0.1
#: Values beyond this are taken as this: differences of greater ones would be infinite.
FARTHEST = 1e300
#: A scale of both signs is even within at least this part of its reach; if nobody says more, within so much.
_NEAR_MOST, _NEAR = 1e-12, 0.01
#: Steps of colours.
STEPS_MOST = 100
#: The least number above zero, and the greatest.
_LEAST, _GREATEST = 5e-324, 1.7976931348623157e308


@dataclass(frozen=True, slots=True)
class Levels:
    """The values at the lower and upper end of the colour map; `low` is below `high`, by a finite number.

    With `log` equal ratios of values are equally far apart, and both ends are above zero. With `linear` above
    zero that is so on both sides of zero, but for values that are nearer to zero than about that.
    """

    low: float
    high: float
    log: bool = False
    linear: float = 0.0

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"levels must rise: {self.low} to {self.high}")
        if not math.isfinite(self.high - self.low):
            raise ValueError(f"levels must be finite: {self.low} to {self.high}")
        if self.log and not self.low > 0:
            raise ValueError(f"logarithmic levels must be above zero: {self.low}")
        if self.linear and (self.log or not self.linear >= _NEAR_MOST * self.reach):
            raise ValueError(f"a scale of both signs cannot be even within {self.linear}")

    @property
    def reach(self) -> float:
        """How far the farther end is from zero."""
        return max(abs(self.low), abs(self.high))

    def along(self, numbers: npt.NDArray[Any], kind: type[np.floating[Any]]) -> npt.NDArray[Any]:
        """Return numbers as places that lie as far apart as their colours, and not of the same array."""
        if self.log:
            # Below zero as at zero: only NaN stays without a place.
            return np.asarray(np.log(np.maximum(numbers, 0), dtype=kind))
        if self.linear:
            return np.asarray(np.arcsinh(np.divide(numbers, self.linear, dtype=kind)))
        return np.array(numbers, dtype=kind)

    def part(self, value: float) -> float:
        """Return where a value lies between the levels: 0 at the lower, 1 at the upper one."""
        if self.linear:
            return (math.asinh(value / self.linear) - math.asinh(self.low / self.linear)) / self._width
        if not self.log:
            return (value - self.low) / (self.high - self.low)
        if value <= 0:
            return -math.inf
        return (math.log(value) - math.log(self.low)) / self._width

    def value(self, part: float) -> float:
        """Return the value at a part of the way from the lower to the upper level."""
        if self.linear:
            place = math.asinh(self.low / self.linear) + part * self._width
            return max(-FARTHEST, min(math.sinh(max(-700.0, min(place, 700.0))) * self.linear, FARTHEST))
        if not self.log:
            return self.low + part * (self.high - self.low)
        # In two steps: the ratio of denormal numbers to others is more than a float holds.
        root = math.exp(max(-700.0, min(part * self._width / 2, 700.0)))
        return max(_LEAST, min(self.low * root * root, _GREATEST))

    @property
    def _width(self) -> float:
        if self.linear:
            return math.asinh(self.high / self.linear) - math.asinh(self.low / self.linear)
        return math.log(self.high) - math.log(self.low)

    def symmetric(self, centre: float = 0.0) -> Levels:
        """Return levels that reach equally far below and above a centre, for a diverging map."""
        reach = max(abs(self.low - centre), abs(self.high - centre))
        return Levels(centre - reach, centre + reach)


def finite(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the finite values as one axis of float64, those beyond `FARTHEST` as that."""
    flat = np.asarray(values, np.float64).ravel()
    return np.clip(flat[np.isfinite(flat)], -FARTHEST, FARTHEST)


@dataclass(frozen=True, slots=True)
class Found:
    """Levels that were taken from values, and what their ends are, in words: the lower and the upper one."""

    levels: Levels
    ends: tuple[str, str]

    def symmetric(self) -> Found:
        """Return levels that reach equally far below and above zero."""
        low, high = self.ends
        reaches_down = -self.levels.low >= self.levels.high
        ends = (low, _MIRRORED) if reaches_down else (_MIRRORED, high)
        return Found(self.levels.symmetric(), ends)

    def scaled(self, scale: Scale) -> tuple[Found, tuple[float, ...]]:
        """Return levels as a scale wants them, and the edges of its steps."""
        levels, ends = self.levels, self.ends
        if levels.log:
            return self, scale.edges_between(levels)
        centre = scale.centre
        if centre is not None and abs(levels.symmetric(centre).reach) <= FARTHEST:
            levels, ends = levels.symmetric(centre), (_CENTRED, _CENTRED)
        if scale.both_signs:
            levels = scale.curved(levels)
        elif scale.steps:
            edges = _round_edges(levels, scale)
            return Found(Levels(edges[0], edges[-1]), ends if centre is not None else _ROUNDED), edges
        return Found(levels, ends), scale.edges_between(levels)


def _rise(edges: tuple[float, ...]) -> bool:
    return all(low < high for low, high in pairwise(edges))


@dataclass(frozen=True, slots=True)
class Scale:
    """How colours are laid over values, as the user chose it.

    Attributes
    ----------
    centre
        The value in the middle of the colours; None where nobody says one.
    both_signs
        Colours follow logarithms on both sides of zero.
    even_within
        How near to zero they do not; 0 for a part of what the levels reach.
    steps
        About how many colours there are between the levels; 0 for all that the map has.
    edges
        The values at which one colour ends and the next begins, rising; empty where they follow the levels.
    is_fixed
        Levels stay as they are whatever slice is shown.
    """

    centre: float | None = None
    both_signs: bool = False
    even_within: float = 0.0
    steps: int = 0
    edges: tuple[float, ...] = ()
    is_fixed: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.even_within <= FARTHEST:
            raise ValueError("a distance from zero is not below zero")
        if not 0 <= self.steps <= STEPS_MOST or len(self.edges) > STEPS_MOST + 1:
            raise ValueError(f"there are at most {STEPS_MOST} steps")
        if self.edges and len(self.edges) < 2:
            raise ValueError("a step has two edges")
        if not _rise(self.edges):
            raise ValueError("edges must rise")

    @classmethod
    def of(cls, said: Any) -> Scale:
        """Return the scale that plain values say, as those of JSON are.

        Raises
        ------
        ValueError
            They say none.
        """
        if not isinstance(said, dict) or not said.keys() <= _READERS.keys():
            raise ValueError(f"an object with some of {', '.join(_READERS)} is expected")
        known: dict[str, Any] = {name: _READERS[name](value) for name, value in said.items()}
        return cls(**known)

    def said(self) -> dict[str, Any]:
        """Return it in plain values, without what is as it begins."""
        return {
            each.name: list(value) if isinstance(value, tuple) else value
            for each in fields(self)
            if (value := getattr(self, each.name)) != each.default
        }

    def curved(self, levels: Levels) -> Levels:
        """Return levels that follow logarithms on both sides of zero, where that is wanted."""
        if not self.both_signs:
            return Levels(levels.low, levels.high)
        least = _NEAR_MOST * levels.reach
        within = nice_step(levels.reach * _NEAR, 1) if self.even_within < least else self.even_within
        return Levels(levels.low, levels.high, linear=within)

    def edges_between(self, levels: Levels) -> tuple[float, ...]:
        """Return the edges of the steps between levels that stay as they are; none without steps."""
        if self.edges or not self.steps:
            return self.edges
        inner = (levels.value(number / self.steps) for number in range(1, self.steps))
        edges = (levels.low, *inner, levels.high)
        return edges if _rise(edges) else (levels.low, levels.high)


#: How colours are laid over values where nobody chose anything.
USUAL_SCALE = Scale()


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not abs(value) <= FARTHEST:
        raise ValueError("a number is expected")
    return float(value)


def _count(value: Any) -> int:
    if type(value) is not int:
        raise ValueError("a whole number is expected")
    return value


def _numbers(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or len(value) > STEPS_MOST + 1:
        raise ValueError(f"at most {STEPS_MOST + 1} numbers are expected")
    return tuple(_number(number) for number in value)


def _is_on(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError("true or false is expected")
    return value


#: What reads each member of a scale.
_READERS: dict[str, Callable[[Any], Any]] = {
    "centre": _number,
    "both_signs": _is_on,
    "even_within": _number,
    "steps": _count,
    "edges": _numbers,
    "is_fixed": _is_on,
}


def _round_edges(levels: Levels, scale: Scale) -> tuple[float, ...]:
    """Return round numbers around levels, about as many as a scale has steps."""
    step, centre = nice_step(levels.high - levels.low, scale.steps), scale.centre or 0.0
    first = math.floor((levels.low - centre) / step + 1e-9)
    last = math.ceil((levels.high - centre) / step - 1e-9)
    edges = tuple(centre + number * step for number in range(first, min(last, first + STEPS_MOST) + 1))
    return edges if _rise(edges) and len(edges) > 1 else (levels.low, levels.high)


def found_in(sample: npt.NDArray[Any], log: bool = False, extremes: bool = False) -> Found | None:
    """Return levels for a sample of values: without the outermost ones, or their extremes.

    None where no value is finite. With `log` only values above zero count.
    """
    known = finite(sample)
    if log:
        known = known[known > 0]
    if not len(known):
        return None
    if not extremes:
        low, high = (float(value) for value in np.quantile(known, [CLIPPED, 1 - CLIPPED]))
        if low < high:
            return Found(Levels(low, high, log), PERCENTILES)
    low, high = float(known.min()), float(known.max())
    if low < high:
        return Found(Levels(low, high, log), EXTREMES)
    # One value everywhere: levels around it, so that it has a colour and a place on the bar.
    if log:
        low = max(low, 1 / FARTHEST)
        return Found(Levels(low / 1.1, low * 1.1, log=True), _AROUND)
    reach = max(abs(low) * 0.01, 1e-12) if low else 1.0
    return Found(Levels(low - reach, low + reach), _AROUND)


def levels_of(sample: npt.NDArray[Any], log: bool = False) -> Levels | None:
    """Return levels for a sample of values, without the outermost ones; None where none is finite."""
    found = found_in(sample, log)
    return None if found is None else found.levels


def beyond(levels: Levels, sample: npt.NDArray[Any]) -> tuple[float, float]:
    """Return which parts of the finite values lie below and above the levels; 0 where there are none.

    What has no place on a logarithmic scale at all does not count.
    """
    known = finite(sample)
    if levels.log:
        known = known[known > 0]
    if not len(known):
        return 0.0, 0.0
    below, above = np.count_nonzero(known < levels.low), np.count_nonzero(known > levels.high)
    return float(below / len(known)), float(above / len(known))


def outside(levels: Levels, sample: npt.NDArray[Any]) -> float:
    """Return the part of the finite values that lies outside the levels; 0 where there is none."""
    return sum(beyond(levels, sample))


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

    They come from the first data, and again from all of it when that picture is complete, so that they are
    what their ends are called whatever came first. While a picture fills, and from one slice to the next,
    they stay as long as they fit; what the user set stays until `auto`.
    """

    def __init__(self) -> None:
        self.levels: Levels | None = None
        #: What the ends of the levels are, in words: the lower and the upper one.
        self.ends = ("", "")
        self.by_user = False
        #: Whether the least and the greatest value are wanted as ends, not percentiles.
        self.extremes = False
        self.symmetric = False
        #: Whether levels are wanted on a logarithmic scale; they are not where no value is above zero.
        self.log = False
        self.scale = USUAL_SCALE
        #: Where one colour ends and the next begins, from the lower level to the upper; none without steps.
        self.edges: tuple[float, ...] = ()
        self._is_of_part = False

    def take(self, sample: npt.NDArray[Any], complete: bool) -> bool:
        """Look at the values that have come; whether the levels changed."""
        if self.by_user:
            return False
        is_final = complete and self._is_of_part
        if self.levels is not None and self.scale.is_fixed and not is_final:
            return False
        if self.levels is not None and not is_final and still_fit(self.levels, sample, complete):
            return False
        self._is_of_part = not complete
        return self._follow(sample)

    def auto(self, sample: npt.NDArray[Any]) -> bool:
        """Take levels from these values again; whether they changed."""
        self.by_user = False
        self.scale = replace(self.scale, edges=())
        return self._follow(sample)

    def set_by_user(self, levels: Levels, ends: tuple[str, str] = BY_USER) -> None:
        """Hold these levels until `auto`; what `ends` says of them is shown."""
        self.scale = replace(self.scale, edges=())
        self._hold(levels)
        self.ends = ends

    def set_scale(self, scale: Scale, sample: npt.NDArray[Any] | None) -> None:
        """Lay the colours otherwise; levels of the user stay, others are taken from a sample where any is."""
        stays = self.by_user and (sample is None or self.scale.centre == scale.centre)
        self.scale = scale
        if scale.edges:
            self._hold(Levels(scale.edges[0], scale.edges[-1]))
            self.ends = BY_USER
        elif stays and self.levels is not None:
            self._hold(self.levels)
        elif sample is not None:
            self.by_user = False
            self._follow(sample)

    def _hold(self, levels: Levels) -> None:
        self.levels, self.by_user = self._scaled(levels), True
        self.edges = self.scale.edges_between(self.levels)

    def begin_with(self, levels: Levels) -> None:
        """Take levels that were found in other values of the variable: they stay as long as they fit."""
        found = Found(self._scaled(levels), EXTREMES if self.extremes else PERCENTILES)
        if levels.low == -levels.high:
            found = Found(found.levels, found.symmetric().ends)
        self.levels, self.ends = found.levels, found.ends

    def set_log(self, log: bool, sample: npt.NDArray[Any]) -> None:
        """Use a logarithmic scale or not; levels of the user stay where they can."""
        self.log = log
        if log:
            self.scale = replace(self.scale, both_signs=False)
        if self.by_user and self.levels is not None and (not log or self.levels.low > 0):
            self._hold(self.levels)
        else:
            self.auto(sample)

    def forget(self) -> None:
        """Begin anew with another variable, or other units."""
        self.levels, self.by_user, self.ends, self.edges = None, False, ("", ""), ()
        self.scale = USUAL_SCALE

    def _scaled(self, levels: Levels) -> Levels:
        if self.log and levels.low > 0:
            return Levels(levels.low, levels.high, log=True)
        return self.scale.curved(levels)

    def _follow(self, sample: npt.NDArray[Any]) -> bool:
        found = found_in(sample, True, self.extremes) if self.log else None
        found = found or found_in(sample, False, self.extremes)
        if found is None:
            return False
        levels = found.levels
        if self.symmetric and self.scale.centre is None and not levels.log and levels.low < 0 < levels.high:
            found = found.symmetric()
        found, edges = found.scaled(self.scale)
        changed = (found.levels, edges) != (self.levels, self.edges)
        self.levels, self.ends, self.edges = found.levels, found.ends, edges
        return changed


BINS = 96


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of a sample of values.

    Attributes
    ----------
    span
        The least and greatest value, on a linear or logarithmic scale.
    counts
        Of values in each of equally wide (on that scale) parts of `span`.
    """

    span: Levels
    counts: npt.NDArray[np.int64]

    @property
    def heights(self) -> npt.NDArray[np.float64]:
        """Heights from 0 to 1: roots of the counts, so that rare values are seen beside frequent ones."""
        most = self.counts.max() if len(self.counts) else 0
        return np.sqrt(self.counts / most) if most else np.zeros(len(self.counts))


def histogram(sample: npt.NDArray[Any], levels: Levels) -> Histogram | None:
    """Return how often values occur, on the scale of `levels`; None where there is none to count.

    The span holds the levels and the values, but at most three times as much as the levels on each side:
    one stray value must not press all others into one bar.
    """
    known = finite(sample)
    if levels.log:
        known = known[known > 0]
    if not len(known):
        return None
    low = min(levels.low, max(levels.value(-3.0), float(known.min())))
    high = max(levels.high, min(levels.value(4.0), float(known.max())))
    span = Levels(low, high, levels.log, max(levels.linear, levels.linear and _NEAR_MOST * max(-low, high)))
    places = span.along(np.concatenate([known, [span.low, span.high]]), np.float64)
    counts, _edges = np.histogram(places[:-2], BINS, (places[-2], places[-1]))
    return Histogram(span, counts)
