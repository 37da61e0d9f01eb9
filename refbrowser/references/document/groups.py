"""The group of each row, and where in a group a code stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]

#: Runs are worth it while they are fewer than one row in this many.
_RUN_SHARE = 4


def union_of(one: Rows, other: Rows) -> Rows:
    """Return the rows of both, rising, each once; numpy's own way keeps other threads waiting."""
    both = np.sort(np.concatenate([one, other]))
    return both[np.append(True, both[1:] != both[:-1])] if len(both) else both


def without_rows(rows: Rows, others: Rows) -> Rows:
    """Return the rows that are not among others; each is there once."""
    return rows[np.isin(rows, others, assume_unique=True, invert=True)] if len(others) else rows


class GroupColumn:
    """Group number of each row, as runs where neighbours share it, else one number per row.

    Parameters
    ----------
    starts, groups
        First row and group of each run, in row order.
    count
        Number of rows.
    """

    __slots__ = ("_groups", "_starts", "count")

    def __init__(self, starts: Rows, groups: npt.NDArray[np.int32], count: int) -> None:
        self.count = count
        self._starts: Rows | None = starts
        self._groups = groups
        if len(starts) * _RUN_SHARE > count:
            self._groups = np.repeat(groups, np.diff(starts, append=count))
            self._starts = None

    @property
    def held(self) -> int:
        """Bytes of memory."""
        return self._groups.nbytes + (0 if self._starts is None else self._starts.nbytes)

    def of(self, rows: Rows) -> npt.NDArray[np.int32]:
        """Return the group of each of `rows`."""
        if self._starts is None:
            return self._groups[rows]
        return self._groups[np.searchsorted(self._starts, rows, side="right") - 1]

    def at(self, row: int) -> int:
        """Return the group of one row."""
        if self._starts is None:
            return int(self._groups[row])
        return int(self._groups[self._starts.searchsorted(row, side="right") - 1])

    def runs(self) -> tuple[Rows, npt.NDArray[np.int32]]:
        """Return the first row and the group of each run."""
        if self._starts is not None:
            return self._starts, self._groups
        heads = np.flatnonzero(np.diff(self._groups, prepend=-1))
        return heads, self._groups[heads]


@dataclass(frozen=True, slots=True)
class GroupRows:
    """The rows of one group, findable by code.

    Attributes
    ----------
    start, stop
        Its rows, when they stand together in the order of their codes; else its part of `order`.
    order
        Row numbers sorted by code, equal codes in document order; None when the rows stand in order.
    """

    start: int
    stop: int
    order: npt.NDArray[np.int32] | None

    def rows(self) -> Rows:
        """Return the row numbers in the order of their codes."""
        if self.order is None:
            return np.arange(self.start, self.stop)
        return self.order[self.start : self.stop].astype(np.int64)

    def codes(self, column: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """Return the codes in rising order."""
        if self.order is None:
            return column[self.start : self.stop]
        return column[self.order[self.start : self.stop]]

    def find(self, column: npt.NDArray[np.uint64], code: int) -> int:
        """Return the last row with `code`, or -1."""
        wanted = np.uint64(code)
        if self.order is None:
            at = int(column[self.start : self.stop].searchsorted(wanted, side="right")) - 1
            row = self.start + at
            return row if at >= 0 and column[row] == wanted else -1
        low, high = self.start, self.stop
        while low < high:
            middle = (low + high) // 2
            if column[self.order[middle]] <= wanted:
                low = middle + 1
            else:
                high = middle
        if low == self.start:
            return -1
        row = int(self.order[low - 1])
        return row if column[row] == wanted else -1

    def find_many(self, column: npt.NDArray[np.uint64], codes: npt.NDArray[np.uint64]) -> Rows:
        """Return for each code the last row that has it, or -1."""
        if self.start == self.stop:
            return np.full(len(codes), -1, np.int64)
        held = self.codes(column)
        at = held.searchsorted(codes, side="right") - 1
        found = (at >= 0) & (held[at] == codes)
        rows = at + self.start if self.order is None else self.order[self.start + at].astype(np.int64)
        rows[~found] = -1
        return rows


def index_groups(
    groups: GroupColumn, codes: npt.NDArray[np.uint64], number: int, odd: int
) -> list[GroupRows]:
    """Return for each of `number` groups where its rows are.

    A group whose rows stand together and in rising order needs nothing; the others share one array of row
    numbers. The group `odd` (keys that are no chunk keys) is always sorted.
    """
    starts, owners = groups.runs()
    stops = np.append(starts[1:], groups.count)
    runs = np.bincount(owners, minlength=number)
    ordered = runs == 1
    ordered[odd] = False
    if len(codes) > 1:
        breaks = np.flatnonzero(codes[1:] <= codes[:-1])
        before = starts[starts.searchsorted(breaks + 1, side="right") - 1]
        ordered[groups.of(breaks[before != breaks + 1])] = False
    result = [GroupRows(0, 0, None)] * number
    for run in np.flatnonzero(ordered[owners]).tolist():
        result[owners[run]] = GroupRows(int(starts[run]), int(stops[run]), None)
    rest = np.flatnonzero(~ordered[owners])
    if len(rest):
        size = stops[rest] - starts[rest]
        # The rows of these runs: mostly few, for the keys of chunks stand in order.
        rows = np.arange(size.sum()) + np.repeat(starts[rest] - (np.cumsum(size) - size), size)
        _sort_rest(result, rows, np.repeat(owners[rest], size), codes)
    return result


def _sort_rest(
    result: list[GroupRows], rows: Rows, owner: npt.NDArray[np.int32], codes: npt.NDArray[np.uint64]
) -> None:
    """Sort rows by group and code; `owner` is the group of each."""
    order = rows[np.lexsort((codes[rows], owner))].astype(np.int32)
    counts = np.bincount(owner, minlength=len(result))
    ends = np.cumsum(counts)
    for group in np.flatnonzero(counts).tolist():
        result[group] = GroupRows(int(ends[group] - counts[group]), int(ends[group]), order)
