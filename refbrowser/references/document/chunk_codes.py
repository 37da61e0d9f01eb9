"""Chunk keys as numbers: the text before the coordinates, and the coordinates packed into 64 bits.

Only a key that is exactly what its coordinates would be written as is split (``a/0.12``, ``a/c/0/12``; no
leading zeros, no signs); any other is kept as it is. So no key ever changes by going through its coordinates.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refbrowser.model.chunk_keys import ChunkKeyEncoding

_DIGITS = tuple("0123456789")
#: Dimensions that fit the four bits on top.
MOST_DIMENSIONS = 15
_INTEGERS = re.compile(r"(?:0|[1-9][0-9]{0,17})(?:\.(?:0|[1-9][0-9]{0,17}))*\Z").match

#: Bits that the coordinates share.
BITS = 60

#: Where the keys of a group of chunks begin, and what stands between the coordinates.
Group = tuple[str, str]


def split_key(key: str) -> tuple[Group, tuple[int, ...]] | None:
    """Return the group and the coordinates of a canonical chunk key, or None."""
    if not key.endswith(_DIGITS):
        return None
    above, slash, last = key.rpartition("/")
    if not _INTEGERS(last):
        return None
    if "." in last:
        return (above + slash, "."), tuple(map(int, last.split(".")))
    coords = [int(last)]
    # One more than can be packed tells that it cannot.
    while above.endswith(_DIGITS) and len(coords) <= MOST_DIMENSIONS:
        rest, before, part = above.rpartition("/")
        if "." in part or not _INTEGERS(part):
            break
        coords.insert(0, int(part))
        above, slash = rest, before
    return (above + slash, "/"), tuple(coords)


def pack(coords: tuple[int, ...]) -> int | None:
    """Return the code of coordinates, or None where they do not fit."""
    ndim = len(coords)
    if not 1 <= ndim <= MOST_DIMENSIONS:
        return None
    bits = BITS // ndim
    code = ndim
    # The number of dimensions stands in the top four bits whatever share of the 60 bits each one has.
    body = 0
    for coord in coords:
        if coord >> bits:
            return None
        body = (body << bits) | coord
    return (code << BITS) | body


def unpack(code: int) -> tuple[int, ...]:
    """Return the coordinates of a code."""
    ndim = code >> BITS
    bits = BITS // ndim
    mask = (1 << bits) - 1
    return tuple((code >> (bits * axis)) & mask for axis in range(ndim - 1, -1, -1))


def join_key(group: Group, code: int) -> str:
    """Return the key of a code in a group."""
    prefix, separator = group
    return prefix + separator.join(map(str, unpack(code)))


def pack_many(coords: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return the codes of coordinates of shape (n, ndim), and which of them fit."""
    count, ndim = coords.shape
    bits = BITS // ndim
    codes = np.full(count, ndim, np.uint64)
    codes <<= np.uint64(BITS)
    fit = np.ones(count, bool)
    for axis in range(ndim):
        column = coords[:, axis]
        fit &= (column >= 0) & (column < (1 << bits))
        codes |= column.astype(np.uint64) << np.uint64(bits * (ndim - 1 - axis))
    return codes, fit


def grid_codes(leading: tuple[int, ...], grid_shape: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Return the codes of all chunks of a grid in C order, with the same coordinates in front of each."""
    ndim = len(leading) + len(grid_shape)
    bits = BITS // ndim
    head = pack(leading + (0,) * len(grid_shape))
    codes = np.array([head or 0], np.uint64)
    for axis, length in enumerate(grid_shape):
        shift = np.uint64(bits * (len(grid_shape) - 1 - axis))
        codes = np.add.outer(codes, np.arange(length, dtype=np.uint64) << shift).ravel()
    return codes


def unpack_many(codes: npt.NDArray[np.uint64], ndim: int) -> list[npt.NDArray[np.int64]]:
    """Return the coordinates of codes of `ndim` dimensions, a column per dimension."""
    bits = BITS // ndim
    mask = np.uint64((1 << bits) - 1)
    return [((codes >> np.uint64(bits * axis)) & mask).astype(np.int64) for axis in range(ndim - 1, -1, -1)]


def join_keys(group: Group, codes: npt.NDArray[np.uint64], ndim: int) -> list[str]:
    """Return the keys of many codes of `ndim` coordinates in a group."""
    prefix, separator = group
    columns = [map(str, column.tolist()) for column in unpack_many(codes, ndim)]
    return [prefix + separator.join(coords) for coords in zip(*columns, strict=True)]


def group_of_chunks(
    prefix: str, ndim: int, encoding: ChunkKeyEncoding
) -> tuple[Group, tuple[int, ...]] | None:
    """Return the group in which the chunks of an array are, and the coordinates that its path adds in front.

    An array ``2000/3`` whose chunks are separated by ``/`` has the keys ``2000/3/0``: their coordinates begin
    with 2000 and 3. None where the keys of the array are no canonical chunk keys.

    Parameters
    ----------
    prefix
        What stands before the chunk's own key: ``temp/``; empty for a root array.
    """
    if ndim == 0:
        return None
    found = split_key(prefix + encoding.encode((0,) * ndim))
    # In ``c0/3`` the first coordinate is part of a name: what is split off would not be all of them.
    if found is None or not ndim <= len(found[1]) <= MOST_DIMENSIONS:
        return None
    group, coords = found
    return group, coords[: len(coords) - ndim]


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

    def runs_of(self, rows: Rows) -> tuple[Rows, npt.NDArray[np.int32]]:
        """Return how many of `rows`, which rise, follow each other in one group, and that group."""
        if self._starts is not None:
            counts = np.diff(rows.searchsorted(self._starts), append=len(rows))
            is_met = counts > 0
            return counts[is_met], self._groups[is_met]
        groups = self._groups[rows]
        heads = np.flatnonzero(np.diff(groups, prepend=-1))
        return np.diff(heads, append=len(rows)), groups[heads]

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
