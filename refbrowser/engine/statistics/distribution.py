"""How often values occur: all of them while they are few, then counts of narrow classes.

The classes are of equal width, over the values that came first and as much again on both sides. What lies
beyond is counted by classes that are as wide as a part of the number. So memory stays the same, and each
quantile is known as exactly as its class is wide.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Values that are kept one by one.
KEPT = 1 << 20
#: Classes of equal width.
CLASSES = 1 << 16
#: Bits of a number by which it is classed beyond these: sign, exponent and the first 8 of its fraction.
_BITS = 20
#: A third of the classes is for what came first.
_FREE = 1.0


class Quantile(NamedTuple):
    """A quantile.

    Attributes
    ----------
    part
        Of the values that are not greater, from 0 to 1.
    value
        NaN where there are none.
    error
        By how much the value may differ from the exact one.
    """

    part: float
    value: float
    error: float


class Histogram(NamedTuple):
    """How many values lie between each two of the edges, the last one included."""

    edges: Floats
    counts: npt.NDArray[np.int64]


class Distribution:
    """Takes values; may be added to from several threads once it `is_full`.

    Parameters
    ----------
    only
        The only values that occur, evenly spaced and ascending; None where that is not known.
    """

    def __init__(self, only: Floats | None = None) -> None:
        self._kept: list[Floats] | None = [] if only is None else None
        self._count = 0
        self._only = only
        self._lock = threading.Lock()
        self._beyond: npt.NDArray[np.int64] | None = None
        self._counts = np.zeros(0, np.int64)
        self._low, self._width = 0.0, 1.0
        if only is not None:
            step = (only[-1] - only[0]) / max(len(only) - 1, 1) or 1.0
            self._begin(only[0] - step / 2, step, len(only))

    @property
    def is_full(self) -> bool:
        """Whether values are counted from now on, and no longer kept."""
        return self._kept is None

    def _begin(self, low: float, width: float, classes: int) -> None:
        self._low, self._width = float(low), float(width)
        self._counts = np.zeros(classes, np.int64)

    def add(self, values: Floats, ends: tuple[float, float] | None = None) -> None:
        """Take values, one axis, none of them NaN.

        Parameters
        ----------
        ends
            The least and the greatest of them, where these are known.
        """
        if self._kept is not None:
            self._kept.append(values)
            self._count += len(values)
            if self._count > KEPT:
                self._spread()
        elif len(values):
            self._class(values, ends)

    def _spread(self) -> None:
        """Class what was kept."""
        kept = np.concatenate(self._kept or [np.zeros(0)])
        known = kept[np.isfinite(kept)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        reach = high - low
        if not 0 < reach < np.finfo(np.float64).max / 8:
            reach = max(abs(low), 1.0) * 2.0**-20
        self._begin(low - reach * _FREE, reach * (1 + 2 * _FREE) / CLASSES, CLASSES)
        self._class(kept)
        # Last: from now on other threads count, too.
        self._kept = None

    def _class(self, values: Floats, ends: tuple[float, float] | None = None) -> None:
        with np.errstate(invalid="ignore", over="ignore"):
            places = values - self._low
            places *= 1 / self._width
        beyond = None
        low, high = (values.min(), values.max()) if ends is None else ends
        if not (low > self._low and high < self._low + self._width * (len(self._counts) - 0.5)):
            inside = (places >= 0) & (places < len(self._counts))
            beyond = _keys(values[~inside])
            places = places[inside]
        # By way of int32, which processors convert to many at a time. `add.at` neither looks for the greatest
        # one, as `bincount` does, nor takes memory.
        classes = places.astype(np.int32).astype(np.intp)
        with self._lock:
            np.add.at(self._counts, classes, 1)
            if beyond is not None:
                if self._beyond is None:
                    self._beyond = np.zeros(1 << _BITS, np.int64)
                np.add.at(self._beyond, beyond, 1)

    def quantiles(self, parts: Sequence[float]) -> tuple[Quantile, ...]:
        """Return quantiles; exact ones between two values, as `numpy.quantile` has them."""
        if self._kept is not None:
            kept = np.concatenate(self._kept or [np.zeros(0)])
            with np.errstate(invalid="ignore"):
                found = np.quantile(kept, list(parts)) if len(kept) else np.full(len(parts), np.nan)
            return tuple(Quantile(part, float(value), 0.0) for part, value in zip(parts, found, strict=True))
        values, widths, counts = self._classes()
        whole = int(counts.sum())
        if not whole:
            return tuple(Quantile(part, np.nan, 0.0) for part in parts)
        stops = np.cumsum(counts)
        quantiles = []
        for part in parts:
            place = part * (whole - 1)
            one, other = np.searchsorted(stops, [int(place), min(int(place) + 1, whole - 1)], side="right")
            rest = place - int(place)
            # Infinities have no place between them.
            value = values[one] if one == other else values[one] * (1 - rest) + values[other] * rest
            error = 0.0 if self._only is not None else float(max(widths[one], widths[other]))
            quantiles.append(Quantile(part, float(value), error))
        return tuple(quantiles)

    def histogram(self, low: float, high: float, bars: int) -> Histogram:
        """Return how often values occur between the least and the greatest one, to a class exactly."""
        if not (np.isfinite(low) and np.isfinite(high)):
            return Histogram(np.zeros(0), np.zeros(0, np.int64))
        if self._kept is not None:
            values, counts = np.concatenate(self._kept or [np.zeros(0)]), None
        else:
            values, _widths, counts = self._classes()
            values = np.clip(values, low, high)
        found, edges = np.histogram(values, bars, (low, high), weights=counts)
        return Histogram(edges, found.astype(np.int64))

    def _classes(self) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
        """Return the middles of the classes that hold values, ascending, half their widths, their counts."""
        places = np.flatnonzero(self._counts)
        values = self._low + (places + 0.5) * self._width if self._only is None else self._only[places]
        widths = np.full(len(places), self._width / 2)
        counts = self._counts[places]
        if self._beyond is not None:
            keys = np.flatnonzero(self._beyond)
            ends = _number(keys), _number(keys + 1)
            with np.errstate(invalid="ignore", over="ignore"):
                far, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
            # Of infinities, and of what lies next to them.
            far = np.where(np.isfinite(half), far, np.where(keys < 1 << (_BITS - 1), -np.inf, np.inf))
            half = np.where(np.isfinite(half), half, 0.0)
            values, widths = np.concatenate([values, far]), np.concatenate([widths, half])
            counts = np.concatenate([counts, self._beyond[keys]])
            order = np.argsort(values, kind="stable")
            values, widths, counts = values[order], widths[order], counts[order]
        return values.astype(np.float64), widths, counts


def _keys(values: Floats) -> npt.NDArray[np.int64]:
    """Return the first bits of numbers as integers in the order of the numbers."""
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    ordered = np.where(bits < 0, ~bits ^ np.int64(-(2**63)), bits)
    return (ordered >> (64 - _BITS)) + (1 << (_BITS - 1))


def _number(keys: npt.NDArray[np.int64]) -> Floats:
    """Return the least number of each key."""
    ordered = (keys - (1 << (_BITS - 1))) << (64 - _BITS)
    bits = np.where(ordered < 0, ~(ordered ^ np.int64(-(2**63))), ordered)
    return bits.view(np.float64)
