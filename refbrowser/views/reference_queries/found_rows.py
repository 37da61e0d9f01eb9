"""Rows of the Version 0 view that were found, in an order: by ranges where they are many."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RangeOfRows:
    """Neighbouring rows: from `start` to before `stop`, of any size."""

    start: int
    stop: int

    @property
    def count(self) -> int:
        """How many there are, which may exceed 2**63."""
        return self.stop - self.start

    def rows(self, start: int, stop: int) -> list[int]:
        """Return the rows at some positions of it."""
        return [*range(self.start + start, min(self.start + stop, self.stop))]

    def find(self, row: int) -> int | None:
        """Return the position of a row; None where it is not in it."""
        return row - self.start if self.start <= row < self.stop else None


@dataclass(frozen=True)
class ListOfRows:
    """Rows one by one, in any order."""

    numbers: Rows

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.numbers)

    @cached_property
    def _rising(self) -> npt.NDArray[np.int64]:
        return np.argsort(self.numbers, kind="stable")

    def rows(self, start: int, stop: int) -> list[int]:
        """Return the rows at some positions of it."""
        found: list[int] = self.numbers[start:stop].tolist()
        return found

    def find(self, row: int) -> int | None:
        """Return the position of a row; None where it is not in it."""
        if not len(self.numbers) or row > np.iinfo(np.int64).max:
            return None
        at = int(self.numbers.searchsorted(row, sorter=self._rising))
        if at == len(self.numbers):
            return None
        position = int(self._rising[at])
        return position if self.numbers[position] == row else None


@dataclass(frozen=True, slots=True)
class RepeatedRows:
    """The same rows of each period: those at `offsets` in each of `periods` periods from row `start` on."""

    start: int
    period: int
    periods: int
    offsets: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many there are, which may exceed 2**63."""
        return self.periods * len(self.offsets)

    def rows(self, start: int, stop: int) -> list[int]:
        """Return the rows at some positions of it."""
        found = (divmod(position, len(self.offsets)) for position in range(start, min(stop, self.count)))
        return [self.start + turn * self.period + self.offsets[at] for turn, at in found]

    def find(self, row: int) -> int | None:
        """Return the position of a row; None where it is not in it."""
        turn, offset = divmod(row - self.start, self.period)
        if not 0 <= turn < self.periods:
            return None
        at = bisect_right(self.offsets, offset) - 1
        return turn * len(self.offsets) + at if at >= 0 and self.offsets[at] == offset else None


AnyPart = RangeOfRows | ListOfRows | RepeatedRows


@dataclass(frozen=True)
class FoundRows:
    """Rows that were found, and how much was not looked at.

    Attributes
    ----------
    parts
        The rows.
    unsearched
        Of each gen rule that is too long to be looked at as a whole: its number, and how many of its rows
        were not looked at.
    """

    parts: tuple[AnyPart, ...] = ()
    unsearched: tuple[tuple[int, int], ...] = ()

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((part.count for part in self.parts), initial=0))

    @property
    def count(self) -> int:
        """Number of rows, which may exceed 2**63."""
        return self._starts[-1]

    def row(self, number: int) -> int:
        """Return the row of the Version 0 view that is the `number`-th.

        Raises
        ------
        IndexError
            There are not so many.
        """
        (found,) = self.rows(number, number + 1) or (None,)
        if found is None or number < 0:
            raise IndexError(number)
        return found

    def rows(self, start: int, stop: int) -> list[int]:
        """Return the rows of the Version 0 view that are numbers `start` to `stop`."""
        found: list[int] = []
        at = max(0, bisect_right(self._starts, start) - 1)
        while at < len(self.parts) and self._starts[at] < stop:
            first = self._starts[at]
            found += self.parts[at].rows(max(start - first, 0), stop - first)
            at += 1
        return found

    def number_of(self, row: int) -> int | None:
        """Return the number of a row of the Version 0 view; None where it was not found."""
        for part, first in zip(self.parts, self._starts, strict=False):
            position = part.find(row)
            if position is not None:
                return first + position
        return None


def merged(parts: Iterable[AnyPart]) -> tuple[AnyPart, ...]:
    """Return parts with those put together that go on where the one before ends."""
    found: list[AnyPart] = []
    lists: list[Rows] = []

    def close() -> None:
        if lists:
            found.append(ListOfRows(np.concatenate(lists)))
            lists.clear()

    for part in parts:
        if not part.count:
            continue
        if isinstance(part, ListOfRows):
            lists.append(part.numbers)
            continue
        close()
        last = found[-1] if found else None
        if isinstance(part, RangeOfRows) and isinstance(last, RangeOfRows) and last.stop == part.start:
            found[-1] = RangeOfRows(last.start, part.stop)
        else:
            found.append(part)
    close()
    return tuple(found)
