"""How often numbers occur, of any number of them: counted part by part, in bins that grow with their span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import frexp
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.views.levels import finite
from refbrowser.views.nested_bars import BARS_MOST, NO_BARS, Bars
from refbrowser.views.nested_numbers import FieldNumbers

#: Bins at most: many more than bars, so that these fit the range whatever it is.
BINS_MOST = 4096
#: Powers of two below this are no normal numbers any more.
_SMALLEST = -1000


@dataclass(slots=True, eq=False)
class Tally:
    """Counts of numbers; those that are not finite are left out.

    Attributes
    ----------
    count, total, low, high
        How many there are, their sum, the least and the greatest.
    is_whole
        Whether all are whole numbers.
    exponent
        A bin is 2 to the power of it wide, and begins at a multiple of that.
    first, bins
        Which multiple the first bin begins at, and the counts.
    """

    count: int = 0
    total: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    is_whole: bool = True
    exponent: int = 0
    first: int = 0
    bins: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def add(self, numbers: npt.NDArray[Any]) -> None:
        """Count more numbers."""
        known = finite(numbers)
        if not len(known):
            return
        is_first = not self.count
        self.count += len(known)
        self.total += float(known.sum())
        self.low, self.high = min(self.low, float(known.min())), max(self.high, float(known.max()))
        self.is_whole = self.is_whole and bool(np.all(known == np.floor(known)))
        if is_first:
            self.exponent = self._finest()
        while self.exponent < self._least() or self._reach() > BINS_MOST:
            self._widen()
        self._count(known)

    @property
    def mean(self) -> float:
        """The mean of them."""
        return self.total / self.count if self.count else np.nan

    def copy(self) -> Tally:
        """Return the same counts, to be read while these go on."""
        return replace(self, bins=self.bins.copy())

    def bars(self) -> Bars:
        """Return them as bars, each of as many bins as the others."""
        if not self.count:
            return NO_BARS
        per_bar = max(1, -(-len(self.bins) // BARS_MOST))
        padded = np.append(self.bins, np.zeros(-len(self.bins) % per_bar, np.int64))
        counts = padded.reshape(-1, per_bar).sum(axis=1)
        edges = (self.first + per_bar * np.arange(len(counts) + 1, dtype=np.float64)) * 2.0**self.exponent
        # A bar of whole numbers is around them.
        return Bars(edges - 0.5 if self._is_by_ones else edges, counts, self._is_by_ones)

    @property
    def _is_by_ones(self) -> bool:
        return self.is_whole and self.exponent >= 0 and max(abs(self.low), abs(self.high)) < 2**52

    def _finest(self) -> int:
        """Return the exponent that gives the numbers seen so far about as many bins as there may be."""
        found = _power((self.high - self.low or abs(self.low) or 1.0) / BINS_MOST) + 1
        return max(0, found) if self.is_whole else max(found, self._least())

    def _least(self) -> int:
        """Return the exponent below which places of bins would be no exact numbers, or too many."""
        far = _power(max(abs(self.low), abs(self.high))) - 50
        return max(far, _power((self.high - self.low) / BINS_MOST), _SMALLEST)

    def _place(self, number: float) -> int:
        return int(np.floor(number / 2.0**self.exponent))

    def _reach(self) -> int:
        return self._place(self.high) - self._place(self.low) + 1

    def _widen(self) -> None:
        """Let each bin be two."""
        lead = self.first % 2
        padded = np.concatenate([np.zeros(lead, np.int64), self.bins])
        padded = np.append(padded, np.zeros(len(padded) % 2, np.int64))
        self.bins, self.first = padded.reshape(-1, 2).sum(axis=1), (self.first - lead) // 2
        self.exponent += 1

    def _count(self, known: npt.NDArray[np.float64]) -> None:
        first, size = self._place(self.low), self._reach()
        places = np.floor(known / 2.0**self.exponent).astype(np.int64) - first
        bins = np.bincount(places, minlength=size).astype(np.int64)
        if len(self.bins):
            start = self.first - first
            bins[start : start + len(self.bins)] += self.bins
        self.first, self.bins = first, bins


def _power(number: float) -> int:
    """Return the least exponent whose power of two is above a number."""
    return frexp(number)[1] if number > 0 else _SMALLEST


@dataclass(slots=True, eq=False)
class FieldTally:
    """What a field holds in any number of rows, in sums.

    Attributes are as those of `FieldNumbers`.
    """

    values: int = 0
    missing: int = 0
    unreadable: int = 0
    numbers: Tally = field(default_factory=Tally)
    lengths: list[Tally] = field(default_factory=list)

    def add(self, found: FieldNumbers) -> None:
        """Count what a field holds in more rows."""
        self.values += found.values
        self.missing += found.missing
        self.unreadable += found.unreadable
        self.numbers.add(found.numbers)
        while len(self.lengths) < len(found.lengths):
            self.lengths.append(Tally())
        for tally, lengths in zip(self.lengths, found.lengths, strict=False):
            tally.add(lengths)

    def copy(self) -> FieldTally:
        """Return the same sums, to be read while these go on."""
        return replace(self, numbers=self.numbers.copy(), lengths=[each.copy() for each in self.lengths])


def tallied(fields: Sequence[FieldNumbers]) -> list[FieldTally]:
    """Return the sums of what fields hold."""
    tallies = [FieldTally() for _ in fields]
    for tally, found in zip(tallies, fields, strict=True):
        tally.add(found)
    return tallies
