"""Chunk keys as numbers: the text before the coordinates, and the coordinates packed into 64 bits.

Only a key that is exactly what its coordinates would be written as is split (``a/0.12``, ``a/c/0/12``; no
leading zeros, no signs); any other is kept as it is. So no key ever changes by going through its coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.model.chunk_keys import ChunkKeyEncoding

_DIGITS = tuple("0123456789")
#: Dimensions that fit the four bits on top.
MOST_DIMENSIONS = 15
_INTEGERS = re.compile(r"(?:0|[1-9][0-9]{0,17})(?:\.(?:0|[1-9][0-9]{0,17}))*\Z").match

#: Bits that the coordinates share.
BITS = 60

#: A first coordinate of so many bits is enough: a document may not have as many references.
_FIRST_ENOUGH = 25

Rows = npt.NDArray[np.int64]

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


class BitShare(NamedTuple):
    """How the 60 bits of a code are shared among its coordinates.

    Those of one or two dimensions have alike. Of more, most chunks stand along the first dimension, where
    records are added: the larger the first coordinate is, the fewer bits are left to each of the others. The
    bits begin with as many ones as there are shares for smaller first coordinates, and a zero: so codes rise
    as coordinates do.

    Attributes
    ----------
    begin
        What codes begin with: the number of dimensions, the ones, and the zero.
    first, others
        Bits of the first coordinate, and of each of the others.
    lowest
        The code of zeros; all codes of the shares for larger first coordinates are above all of this one.
    """

    begin: int
    first: int
    others: int
    lowest: int


def _shares_of(ndim: int) -> tuple[BitShare, ...]:
    """Return the shares of a number of dimensions, the one for the smallest first coordinates first."""
    further, alike = ndim - 1, BITS // ndim
    if ndim <= 2:
        return (BitShare(ndim, BITS - further * alike, alike, ndim << BITS),)
    shares: list[BitShare] = []
    while not shares or (shares[-1].first < _FIRST_ENOUGH and shares[-1].others > 1):
        ones = len(shares)
        others = alike - ones
        first = BITS - ones - 1 - further * others
        begin = ((ndim << ones) | ((1 << ones) - 1)) << 1
        shares.append(BitShare(begin, first, others, begin << (first + further * others)))
    return tuple(shares)


#: By number of dimensions; of none, those of one, which is never asked for.
_SHARES = tuple(_shares_of(max(ndim, 1)) for ndim in range(MOST_DIMENSIONS + 1))
_MOST_SHARES = max(map(len, _SHARES))


def _by_share(value: Callable[[BitShare], int]) -> npt.NDArray[np.uint64]:
    """Return a value of each share, by number of dimensions; the last is repeated where they are fewer."""
    rows = [[*map(value, shares)] for shares in _SHARES]
    return np.array([row + row[-1:] * (_MOST_SHARES - len(row)) for row in rows], np.uint64)


_STOPS = _by_share(lambda share: 1 << share.first)
_OTHERS = _by_share(lambda share: share.others)
_LOWEST = _by_share(lambda share: share.lowest)


def shares_of_first(
    ndim: int | Rows, first: npt.NDArray[np.uint64]
) -> tuple[Any, Any, npt.NDArray[np.bool_]]:
    """Return how coordinates are packed that begin with `first`.

    Returns the code of zeros and the bits of each further coordinate, for all or for each, and which fit.
    """
    fit = first < _STOPS[ndim, 0]
    if fit.all():
        return _LOWEST[ndim, 0], _OTHERS[ndim, 0], fit
    share = np.zeros(len(first), np.intp)
    for each in range(_MOST_SHARES - 1):
        share += first >= _STOPS[ndim, each]
    return _LOWEST[ndim, share], _OTHERS[ndim, share], first < _STOPS[ndim, share]


def pack(coords: tuple[int, ...]) -> int | None:
    """Return the code of coordinates, or None where they do not fit."""
    ndim = len(coords)
    if not 1 <= ndim <= MOST_DIMENSIONS:
        return None
    code = coords[0]
    for share in _SHARES[ndim]:
        if not code >> share.first:
            break
    else:
        return None
    code |= share.begin << share.first
    bits = share.others
    for coord in coords[1:]:
        if coord >> bits:
            return None
        code = (code << bits) | coord
    return code


def unpack(code: int) -> tuple[int, ...]:
    """Return the coordinates of a code."""
    ndim = code >> BITS
    bits = zeros = 0
    for _, _, others, lowest in _SHARES[ndim]:
        if lowest > code:
            break
        bits, zeros = others, lowest
    mask = (1 << bits) - 1
    further = [(code >> (bits * axis)) & mask for axis in range(ndim - 2, -1, -1)]
    return (code - zeros) >> (bits * (ndim - 1)), *further


def join_key(group: Group, code: int) -> str:
    """Return the key of a code in a group."""
    prefix, separator = group
    return prefix + separator.join(map(str, unpack(code)))


def pack_many(coords: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return the codes of coordinates of shape (n, ndim), and which of them fit."""
    # A number below zero becomes one that is too large.
    codes = coords[:, 0].astype(np.uint64)
    lowest, bits, fit = shares_of_first(coords.shape[1], codes)
    for axis in range(1, coords.shape[1]):
        column = coords[:, axis].astype(np.uint64)
        fit &= (column >> bits) == 0
        codes <<= bits
        codes |= column
    codes |= lowest
    return codes, fit


def grid_codes(leading: tuple[int, ...], grid_shape: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Return the codes of all chunks of a grid in C order, with the same coordinates in front of each.

    None at all where one does not fit.
    """
    first, *others = (*(range(number, number + 1) for number in leading), *map(range, grid_shape))
    parts = []
    start = first.start
    for share in _SHARES[len(others) + 1]:
        stop = min(first.stop, 1 << share.first)
        if start >= stop:
            continue
        codes = np.arange(start, stop, dtype=np.uint64) + np.uint64(share.begin << share.first)
        for each in others:
            if (each.stop - 1) >> share.others:
                return np.zeros(0, np.uint64)
            codes <<= np.uint64(share.others)
            codes = np.add.outer(codes, np.arange(each.start, each.stop, dtype=np.uint64)).ravel()
        parts.append(codes)
        start = stop
    if start < first.stop or not parts:
        return np.zeros(0, np.uint64)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def unpack_many(codes: npt.NDArray[np.uint64], ndim: int) -> list[npt.NDArray[np.int64]]:
    """Return the coordinates of codes of `ndim` dimensions, a column per dimension."""
    share: Any = 0
    lowest = _LOWEST[ndim, : len(_SHARES[ndim])]
    if len(lowest) > 1 and len(codes) and codes.max() >= lowest[1]:
        share = np.maximum(lowest.searchsorted(codes, side="right") - 1, 0)
    bits = _OTHERS[ndim, share]
    mask = (np.uint64(1) << bits) - np.uint64(1)
    columns = [(codes - lowest[share]) >> (bits * np.uint64(ndim - 1))]
    columns += [(codes >> (bits * np.uint64(axis))) & mask for axis in range(ndim - 2, -1, -1)]
    return [column.view(np.int64) for column in columns]


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
