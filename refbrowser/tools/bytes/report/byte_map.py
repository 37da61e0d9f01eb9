"""The bytes of one file as a map: runs of each owner, header, gaps, overlaps, and what lies at a byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

import numpy as np

from refbrowser.tools.bytes.report.byte_runs import Extent, Ints, Runs
from refbrowser.tools.bytes.report.file_source import (
    FileSource,
    FoundRanges,
    LatticeOf,
    OrderedRanges,
    OwnedColumns,
    OwnerKind,
    OwnerName,
    Ranges,
    Undecided,
    found_ranges,
)
from refbrowser.tools.bytes.report.target_files import FileFacts, file_facts

#: Owners that have a colour and pattern of their own; those of fewer bytes share one.
OWNERS_MOST = 20
#: What a picture is of where nothing is known of the size of a file that is referred to as a whole.
NOMINAL = 1000
#: Ranges that are looked at to find those that hold one byte.
_LOOKED = 512
#: Of so many ranges together the size of the largest is kept; so many are looked at together; and so many
#: of those blocks that have large ones.
_BLOCK, _PAGE, _WIDE_BLOCKS = 256, 65_536, 700


@dataclass(frozen=True, slots=True)
class Owner:
    """What bytes of the file belong to.

    Attributes
    ----------
    count, size
        Ranges, and the bytes of them, each counted.
    """

    name: OwnerName
    count: int
    size: int

    @property
    def label(self) -> str:
        """Its name in words."""
        if self.name.kind is OwnerKind.METADATA:
            return "metadata"
        return self.name.path if self.name.kind is OwnerKind.ARRAY else "keys of no array"


@dataclass(frozen=True, slots=True, eq=False)
class OwnerClass:
    """Owners that look alike: one, or the rest of many.

    Attributes
    ----------
    label
        In words.
    owners
        Their numbers.
    count, size
        Ranges, and bytes, each counted.
    runs, lattices
        Where they are.
    """

    label: str
    owners: tuple[int, ...]
    count: int
    size: int
    runs: Runs
    lattices: tuple[LatticeOf, ...]

    def covered(self, edges: Ints) -> Ints:
        """Return how many bytes lie below each of `edges`."""
        found = self.runs.covered(edges)
        for each in self.lattices:
            found = found + each.lattice.covered(edges)
        return found

    def next_place(self, byte: int) -> Extent | None:
        """Return the next of its ranges behind a byte, the first one where there is none."""
        found = [run for run in (self.runs.next_run(byte),) if run is not None]
        for each in self.lattices:
            lattice = each.lattice
            _, edge = lattice.around(byte)
            following = None if edge is None else next(lattice.starts(edge, lattice.stop, 1), None)
            start = lattice.base if following is None else following[1]
            found.append(Extent(start, start + lattice.length))
        behind = [place for place in found if place.start > byte]
        return min(behind or found, default=None)


class PlaceKind(StrEnum):
    """What lies at a byte."""

    OWNED = "owned"
    OVERLAP = "overlap"
    HEADER = "header"
    GAP = "gap"
    TAIL = "tail"
    UNDECIDED = "undecided"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class OwnedRange:
    """One range: which bytes, whose, and what gives its key."""

    start: int
    stop: int
    owner: int
    source: int
    item: int


@dataclass(frozen=True, slots=True)
class ByteItem:
    """What lies at a byte.

    Attributes
    ----------
    extent
        The bytes around it of which the same can be said.
    ranges
        Those that hold the byte, the first ones of many.
    """

    kind: PlaceKind
    extent: Extent
    ranges: tuple[OwnedRange, ...] = ()


class ByteMap:
    """One file; a value.

    Attributes
    ----------
    url
        Of the file, as documents spell it.
    owners
        By number.
    classes
        What is told apart in the picture, the largest first.
    ranges
        Those that are listed, by their first byte.
    overlaps
        Bytes that more than one of the listed ranges holds.
    overlapping
        Listed ranges that begin within one before them.
    whole_count, faulty
        References to the whole file, and ranges that no file can have.
    is_complete
        Everything that may refer to the file was looked at.
    """

    def __init__(self, url: str, found: FoundRanges, facts: FileFacts, *, is_complete: bool = True) -> None:
        self.url, self.facts, self.is_complete = url, facts, is_complete
        self._keys = tuple(found.keys)
        self.lattices: tuple[LatticeOf, ...] = tuple(found.lattices)
        self.undecided: tuple[Undecided, ...] = tuple(found.undecided)
        self.whole_count, self.faulty = found.whole_count, found.faulty
        ranges = found.listed()
        #: Only as a whole is it referred to, and its size is not known: the picture is of no number of bytes.
        self.is_nominal = bool(found.whole) and not facts.size and not len(ranges) and not self.lattices
        if found.whole:
            ends = [each.lattice.stop for each in self.lattices]
            end = max(facts.size or 0, int(ranges.stop.max(initial=0)), *ends, NOMINAL * self.is_nominal)
            ranges = _with_whole(ranges, found.whole, end)
        self.ranges = ordered = ranges.in_order()
        start, stop = ordered.start, ordered.stop
        #: Where the ranges end that begin before or with each one.
        self._reach = stop
        self.overlapping, self.overlaps = 0, Runs(start[:0], stop[:0])
        if (start[1:] < stop[:-1]).any():
            self._find_overlaps()
        self.listed = Runs.of(start, stop)
        #: The size of the largest range of each block of them, and where its last one ends.
        self._blocks = _blocks_of(ordered)
        columns = ordered.by_owner(len(found.owners))
        self.owners = _owners(found, columns)
        self.classes = tuple(_classes(self.owners, columns, self.listed, self.lattices))
        # What pictures need is made here: nothing of that size is for the thread of the window.
        apart = sum(each.runs.size for each in self.classes)
        self._held = self.listed.size if self.overlapping else apart

    def _find_overlaps(self) -> None:
        start, stop = self.ranges.start, self.ranges.stop
        reach = self._reach = np.maximum.accumulate(stop)
        begins_inside = np.zeros(len(start), bool)
        begins_inside[1:] = start[1:] < reach[:-1]
        rows = np.flatnonzero(begins_inside & (stop > start))
        self.overlapping = len(rows)
        self.overlaps = Runs.of(start[rows], np.minimum(stop[rows], reach[rows - 1]))

    @property
    def first(self) -> int | None:
        """The first byte that anything refers to; None where nothing does."""
        starts = [int(self.listed.start[0])] if len(self.listed) else []
        starts += [each.lattice.base for each in self.lattices]
        starts += [each.low for each in self.undecided if each.high]
        return min(starts, default=None)

    @property
    def last(self) -> int:
        """Where the last range ends; 0 where there is none."""
        stops = [int(self.listed.stop[-1])] if len(self.listed) else []
        stops += [each.lattice.stop for each in self.lattices]
        return max([*stops, *(each.high for each in self.undecided)], default=0)

    @property
    def end(self) -> int:
        """Where the picture ends: the end of the file, or of the last range where that is farther."""
        return max(self.facts.size or 0, self.last)

    @property
    def count(self) -> int:
        """Number of ranges."""
        return len(self.ranges) + sum(each.lattice.count for each in self.lattices)

    @property
    def past_end(self) -> int:
        """Bytes of ranges behind the end of the file."""
        size = self.facts.size
        if size is None or self.last <= size:
            return 0
        edges = np.array([size, self.last])
        return sum(int(np.diff(each.covered(edges))[0]) for each in self.classes)

    @cached_property
    def owned(self) -> int | None:
        """Bytes that anything refers to, each once; None where that is not decided."""
        if self.undecided:
            return None
        if not self.lattices:
            return self._held
        found = self._held + sum(each.lattice.size for each in self.lattices)
        spans = sorted((each.lattice.base, each.lattice.stop) for each in self.lattices)
        spans += [(int(self.listed.start[0]), int(self.listed.stop[-1]))] if len(self.listed) else []
        spans.sort()
        are_apart = all(one[1] <= other[0] for one, other in pairwise(spans))
        return found if are_apart else None

    @property
    def gaps(self) -> tuple[int, int] | None:
        """Number and bytes of the gaps between ranges; None where these are not known one by one."""
        if self.undecided or self.lattices:
            return None
        number = max(len(self.listed) - 1, 0)
        return number, (self.last - (self.first or 0) - self._held)

    def next_gap(self, byte: int) -> int | None:
        """Return where the next gap behind a byte begins, the first one where there is none."""
        listed = self.listed
        if self.lattices or len(listed) < 2:
            return None
        ends = listed.stop[:-1]
        return int(ends[int(ends.searchsorted(byte, side="right")) % len(ends)])

    def key(self, found: OwnedRange) -> str | None:
        """Return the key of a range; None where it cannot be made."""
        if found.source < 0:
            return self.lattices[-1 - found.source].key(found.item)
        return self._keys[found.source](found.item)

    # What lies where

    def at(self, byte: int) -> ByteItem:
        """Return what lies at a byte."""
        held = tuple(self._holding(byte))
        overlap = self.overlaps.at(byte)
        if overlap is not None or len(held) > 1:
            return ByteItem(PlaceKind.OVERLAP, overlap or Extent(byte, byte + 1), held)
        if held:
            return ByteItem(PlaceKind.OWNED, Extent(held[0].start, held[0].stop), held)
        return self._free(byte)

    def _free(self, byte: int) -> ByteItem:
        first, size = self.first, self.facts.size
        low, high = self._edges(byte)
        if byte < 0 or byte >= self.end or (size is not None and byte >= size):
            return ByteItem(PlaceKind.OUTSIDE, Extent(min(byte, low or 0), byte + 1))
        extent = Extent(low or 0, self.end if high is None else high)
        for each in self.undecided:
            if each.low <= byte < each.high or not each.high:
                return ByteItem(PlaceKind.UNDECIDED, extent)
        if first is None or byte < first:
            return ByteItem(PlaceKind.HEADER, extent)
        if byte >= self.last and size is not None:
            return ByteItem(PlaceKind.TAIL, extent)
        return ByteItem(PlaceKind.GAP, extent)

    def _edges(self, byte: int) -> tuple[int | None, int | None]:
        """Return the nearest edges of ranges: at or before a byte, and behind it."""
        pairs = [self.listed.around(byte), *(each.lattice.around(byte) for each in self.lattices)]
        return (
            max((low for low, _ in pairs if low is not None), default=None),
            min((high for _, high in pairs if high is not None), default=None),
        )

    def _holding(self, byte: int) -> Iterator[OwnedRange]:
        ranges = self.ranges
        row = int(ranges.start.searchsorted(byte, side="right")) - 1
        last = max(row - _LOOKED, -1)
        # Of those that begin at or before it, the nearest ones: until none of the others reaches it.
        count = int((self._reach[last + 1 : row + 1] > byte).sum())
        rows = np.arange(row, row - count, -1)
        for columns in ranges.at(rows[ranges.stop[rows] > byte]):
            yield OwnedRange(*columns)
        for number, each in enumerate(self.lattices):
            numbers, start = each.lattice.place(byte)
            if start <= byte < start + each.lattice.length:
                yield self._of_lattice(number, each.lattice.number(numbers), start)

    def _of_lattice(self, number: int, item: int, start: int) -> OwnedRange:
        each = self.lattices[number]
        return OwnedRange(start, start + each.lattice.length, each.owner, -1 - number, item)

    def count_within(self, low: int, high: int) -> int:
        """Return how many ranges begin from one byte to another."""
        start = self.ranges.start
        found = int(start.searchsorted(high)) - int(start.searchsorted(low))
        return found + sum(
            each.lattice.count_below(high) - each.lattice.count_below(low) for each in self.lattices
        )

    def starts_within(self, low: int, high: int) -> Ints:
        """Return where ranges begin from one byte to another, as a column."""
        start = self.ranges.start
        found = [start[int(start.searchsorted(low)) : int(start.searchsorted(high))]]
        for each in self.lattices:
            count = each.lattice.count_below(high) - each.lattice.count_below(low)
            some = each.lattice.starts(low, high, count + 1)
            found.append(np.fromiter((at for _, at in some), np.int64))
        return np.concatenate(found)

    def wide_within(self, low: int, high: int, least: float, most: int) -> list[OwnedRange]:
        """Return the ranges of so many bytes at least from `low` to `high`; of many one more than `most`."""
        ranges = self.ranges
        first = int(self._reach.searchsorted(low, side="right"))
        last = int(ranges.start.searchsorted(high))
        blocks = slice(first // _BLOCK, -(-last // _BLOCK))
        widest, ends = self._blocks[0][blocks], self._blocks[1][blocks]
        near = blocks.start + np.flatnonzero((widest >= least) & (ends > low))
        rows = (near[:_WIDE_BLOCKS, None] * _BLOCK + np.arange(_BLOCK)).reshape(-1)
        rows = rows[(rows >= first) & (rows < last)]
        stops = ranges.stop[rows]
        wide = rows[(stops - ranges.start[rows] >= least) & (stops > low)]
        found = [OwnedRange(*each) for each in ranges.at(wide[: most + 1])]
        for number, each in enumerate(self.lattices):
            if each.lattice.length >= least:
                some = each.lattice.starts(low, high, most + 1 - len(found))
                found += [self._of_lattice(number, item, start) for item, start in some]
        return found

    def within(self, low: int, high: int, most: int) -> list[OwnedRange]:
        """Return the ranges that have bytes from `low` to `high`, at most so many."""
        ranges = self.ranges
        last = int(ranges.start.searchsorted(high))
        first = int(self._reach.searchsorted(low, side="right"))
        rows = np.arange(first, max(min(last, first + most), first))
        found = [OwnedRange(*each) for each in ranges.at(rows[ranges.stop[rows] > low])]
        for number, each in enumerate(self.lattices):
            left = most - len(found)
            found += [
                self._of_lattice(number, item, start) for item, start in each.lattice.starts(low, high, left)
            ]
        return found


def _with_whole(ranges: Ranges, whole: Sequence[tuple[int, int, int]], end: int) -> Ranges:
    """Return ranges with references to the whole file as ranges of all of it, before the others."""
    owner, source, item = (np.array(column, np.int64) for column in zip(*whole, strict=True))
    none = np.zeros(len(whole), np.int64)
    return Ranges(
        np.concatenate([none, ranges.start]),
        np.concatenate([none + end, ranges.stop]),
        np.concatenate([owner.astype(np.int32), ranges.owner]),
        np.concatenate([source.astype(np.int32), ranges.source]),
        np.concatenate([item, ranges.item]),
    )


def _blocks_of(ranges: OrderedRanges) -> tuple[Ints, Ints]:
    """Return the size of the largest range of each block, and where the last one ends."""
    widest, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for first in range(0, len(ranges), _PAGE):
        start, stop = ranges.start[first : first + _PAGE], ranges.stop[first : first + _PAGE]
        heads = np.arange(0, len(start), _BLOCK)
        widest.append(np.maximum.reduceat(stop - start, heads))
        ends.append(np.maximum.reduceat(stop, heads))
    return np.concatenate(widest), np.concatenate(ends)


def _owners(found: FoundRanges, columns: OwnedColumns) -> tuple[Owner, ...]:
    counts = np.diff(columns.heads).tolist()
    sizes = [columns.size(number) if count else 0 for number, count in enumerate(counts)]
    for each in found.lattices:
        counts[each.owner] += each.lattice.count
        sizes[each.owner] += each.lattice.size
    return tuple(Owner(name, counts[number], sizes[number]) for name, number in found.owners.items())


def _classes(
    owners: tuple[Owner, ...], columns: OwnedColumns, listed: Runs, lattices: tuple[LatticeOf, ...]
) -> Iterator[OwnerClass]:
    """Yield what is told apart: the owners of most bytes, and all others together."""
    numbers = [number for number, owner in enumerate(owners) if owner.count]
    numbers.sort(key=lambda number: (-owners[number].size, number))
    groups: list[tuple[int, ...]] = [(number,) for number in numbers]
    if len(groups) > OWNERS_MOST + 1:
        groups = [*groups[:OWNERS_MOST], tuple(numbers[OWNERS_MOST:])]
    for group in groups:
        label = owners[group[0]].label if len(group) == 1 else f"{len(group)} other arrays"
        yield OwnerClass(
            label,
            group,
            sum(owners[number].count for number in group),
            sum(owners[number].size for number in group),
            listed if len(groups) == 1 else Runs.of(*columns.of(group)),
            tuple(each for each in lattices if each.owner in group),
        )


def byte_maps(source: FileSource, url: str, check: Callable[[], object]) -> Iterator[ByteMap]:
    """Yield the map of a file as it becomes known; the last one is complete.

    Parameters
    ----------
    check
        Raises where the work is not wanted any more.
    """
    facts = file_facts(url, source.access, source.document)
    for found, is_complete in found_ranges(source, url, check):
        yield ByteMap(url, found, facts, is_complete=is_complete)
