"""One dimension of a chunk grid: where its chunks begin and end, and which of them a selection touches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError

Ints = npt.NDArray[np.int64]

#: Pieces of one axis that are made once and kept while the parts of a selection are enumerated.
_KEPT_PARTS = 65_536
#: Sums of edges are counted in 64 bits: no edge, and no dimension that is divided by edges, is longer.
LONGEST = 2**60


class AxisPart(NamedTuple):
    """One axis of a part."""

    at: int
    inside: slice
    target: slice
    whole: bool


class Runs(NamedTuple):
    """Chunks that follow each other: of each run of equal ones their side, how many, and their extent."""

    sides: Ints
    counts: Ints
    extents: Ints


class SelectedAxis(ABC):
    """What a selection takes of the chunks along one dimension: by arithmetic, however many they are."""

    __slots__ = ()

    @abstractmethod
    def count(self) -> int:
        """Return how many chunks are touched."""

    @abstractmethod
    def chunks(self) -> Iterator[int]:
        """Yield the chunk numbers touched, ascending."""

    @property
    @abstractmethod
    def all_whole(self) -> bool:
        """Whether all of each chunk is taken; may be pessimistic."""

    @abstractmethod
    def at(self, place: int) -> int:
        """Return the number of the chunk at a place among those that are touched."""

    @abstractmethod
    def column(self, places: Ints | None = None) -> Ints:
        """Return the chunk numbers touched, ascending; those at `places` where they are given."""

    @abstractmethod
    def part(self, at: int) -> AxisPart | None:
        """Return what is taken of chunk number `at`, or None where it is nothing."""

    def parts(self) -> Iterable[AxisPart]:
        """Return the parts of all chunks touched; iterable more than once."""
        if self.count() <= _KEPT_PARTS:
            return list(self._made())
        return _Again(self)

    def _made(self) -> Iterator[AxisPart]:
        for at in self.chunks():
            part = self.part(at)
            if part is not None:
                yield part


@dataclass(frozen=True, slots=True)
class _Again:
    """The parts of a long axis, made anew in each iteration so that memory stays flat."""

    axis: SelectedAxis

    def __iter__(self) -> Iterator[AxisPart]:
        return self.axis._made()


def _part(taken: range, at: int, low: int, given: int, side: int) -> AxisPart | None:
    """Return what is taken of a chunk of `side` elements, the first `given` of which are in the array."""
    start, step = taken.start, taken.step
    first = max(0, -(-(low - start) // step))
    stop = min(len(taken), -(-(low + given - start) // step))
    if first >= stop:
        return None
    begin = start + first * step - low
    last = begin + (stop - first - 1) * step
    count = stop - first
    inside = slice(begin, last + 1, step if count > 1 else 1)
    return AxisPart(at, inside, slice(first, stop), count == side)


@dataclass(frozen=True, slots=True)
class SelectedSides(SelectedAxis):
    """One axis of a selection over chunks of `side`."""

    taken: range
    side: int
    size: int

    def count(self) -> int:
        """Return how many chunks are touched."""
        if not self.taken:
            return 0
        if self.taken.step >= self.side:
            return len(self.taken)
        return self.taken[-1] // self.side - self.taken[0] // self.side + 1

    def chunks(self) -> Iterator[int]:
        """Yield the chunk numbers touched, ascending."""
        if self.taken.step >= self.side:
            return (index // self.side for index in self.taken)
        first = self.taken.start // self.side
        return iter(range(first, first + self.count()))

    @property
    def all_whole(self) -> bool:
        """Whether all of each chunk is taken."""
        if self.side == 1 or not self.taken:
            return True
        return self.taken.step == 1 and not self.taken.start % self.side and not self.taken.stop % self.side

    def at(self, place: int) -> int:
        """Return the number of the chunk at a place among those that are touched."""
        if self.taken.step >= self.side:
            return self.taken[place] // self.side
        return self.taken.start // self.side + place

    def column(self, places: Ints | None = None) -> Ints:
        """Return the chunk numbers touched, ascending; those at `places` where they are given."""
        if places is None:
            places = np.arange(self.count(), dtype=np.int64)
        if self.taken.step >= self.side:
            return (self.taken.start + places * self.taken.step) // self.side
        return self.taken.start // self.side + places

    def part(self, at: int) -> AxisPart | None:
        """Return what is taken of chunk number `at`, or None where it is nothing."""
        return _part(self.taken, at, at * self.side, self.side, self.side)


class ChunkAxis(ABC):
    """How one dimension is divided into chunks.

    A chunk has a *side*, the elements that it holds as it is stored, and an *extent*, those of them that lie
    in the array, from its *start* on.
    """

    __slots__ = ()

    size: int

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of chunks that have elements in the array."""

    @property
    @abstractmethod
    def largest(self) -> int:
        """The longest side."""

    @property
    @abstractmethod
    def regular_side(self) -> int | None:
        """The side of every chunk, where they are equal and filled but for the last one; else None."""

    @property
    @abstractmethod
    def is_padded(self) -> bool:
        """Whether a chunk before the last one is stored with more elements than it gives to the array."""

    @abstractmethod
    def breaks(self) -> Ints:
        """Return the first chunk of each run of equal ones, and then the number of chunks."""

    @property
    def runs(self) -> Runs:
        """Runs of chunks; the last one by itself, with the extent that it has in the array."""
        breaks = np.unique(np.append(self.breaks(), max(self.count - 1, 0)))
        firsts = breaks[:-1]
        return Runs(self.sides(firsts), np.diff(breaks), self.extents(firsts))

    @abstractmethod
    def find(self, places: Ints) -> Ints:
        """Return the numbers of the chunks that hold the elements at `places`."""

    @abstractmethod
    def starts(self, chunks: Ints) -> Ints:
        """Return the first elements of chunks; that after the last one is the end of the last one."""

    @abstractmethod
    def sides(self, chunks: Ints) -> Ints:
        """Return the sides of chunks."""

    @abstractmethod
    def extents(self, chunks: Ints) -> Ints:
        """Return the extents of chunks."""

    @abstractmethod
    def chunk_of(self, place: int) -> int:
        """Return the number of the chunk that holds the element at `place`."""

    @abstractmethod
    def start(self, chunk: int) -> int:
        """Return the first element of a chunk."""

    @abstractmethod
    def side(self, chunk: int) -> int:
        """Return the side of a chunk."""

    @abstractmethod
    def extent(self, chunk: int) -> int:
        """Return the extent of a chunk."""

    @abstractmethod
    def selected(self, taken: range) -> SelectedAxis:
        """Return what a selection takes of the chunks."""

    @abstractmethod
    def between(self, start: int, stop: int) -> ChunkAxis:
        """Return the axis of the elements from `start` to `stop`, divided where this one is.

        A first chunk that is cut is stored as long as what is left of it; no chunk within is padded.
        """

    def agrees(self, other: ChunkAxis) -> bool:
        """Tell whether chunks are divided alike as far as both dimensions reach."""
        count = min(self.count, other.count)
        runs = np.concatenate([self.breaks(), other.breaks()])
        chunks = np.concatenate([runs, runs - 1])
        chunks = chunks[(chunks >= 0) & (chunks < count)]
        same = self.starts(chunks) == other.starts(chunks)
        return bool(np.all(same & (self.sides(chunks) == other.sides(chunks))))

    @property
    @abstractmethod
    def spelling(self) -> int | list[int | list[int]]:
        """The sides as a rectilinear grid of Zarr v3 spells them: one for all, or edges and runs."""


@dataclass(frozen=True, slots=True)
class RegularAxis(ChunkAxis):
    """Chunks of one side; the last one reaches over the edge of the array."""

    size: int
    length: int

    @property
    def count(self) -> int:
        """Number of chunks that have elements in the array."""
        return -(-self.size // self.length)

    @property
    def largest(self) -> int:
        """The side."""
        return self.length

    def breaks(self) -> Ints:
        """Return the first chunk, and the number of chunks."""
        return np.array([0, self.count], np.int64)

    @property
    def regular_side(self) -> int:
        """The side."""
        return self.length

    @property
    def is_padded(self) -> bool:
        """Whether a chunk before the last one is padded: none is."""
        return False

    def find(self, places: Ints) -> Ints:
        """Return the numbers of the chunks that hold the elements at `places`."""
        return places // self.length

    def starts(self, chunks: Ints) -> Ints:
        """Return the first elements of chunks."""
        return np.minimum(chunks * self.length, self.size)

    def sides(self, chunks: Ints) -> Ints:
        """Return the sides of chunks."""
        return np.full(np.shape(chunks), self.length, np.int64)

    def extents(self, chunks: Ints) -> Ints:
        """Return the extents of chunks."""
        return np.minimum(self.length, self.size - chunks * self.length)

    def chunk_of(self, place: int) -> int:
        """Return the number of the chunk that holds the element at `place`."""
        return place // self.length

    def start(self, chunk: int) -> int:
        """Return the first element of a chunk."""
        return chunk * self.length

    def side(self, chunk: int) -> int:
        """Return the side of a chunk."""
        return self.length

    def extent(self, chunk: int) -> int:
        """Return the extent of a chunk."""
        return min(self.length, self.size - chunk * self.length)

    def selected(self, taken: range) -> SelectedAxis:
        """Return what a selection takes of the chunks."""
        return SelectedSides(taken, self.length, self.size)

    def between(self, start: int, stop: int) -> ChunkAxis:
        """Return the axis of the elements from `start` to `stop`, divided where this one is."""
        cut = -start % self.length
        if not cut:
            return RegularAxis(stop - start, self.length)
        count = max(1, -(-(stop - start - cut) // self.length))
        return axis_of(stop - start, [cut, self.length], np.array([1, count]))

    @property
    def spelling(self) -> int:
        """The side."""
        return self.length


@dataclass(frozen=True, slots=True, eq=False)
class EdgeAxis(ChunkAxis):
    """Chunks of unequal sides, as runs of equal ones: memory and time go by runs, not by chunks.

    Attributes
    ----------
    run_sides
        The side of the chunks of each run.
    run_extents
        How many of their elements they give to the array: no more than their side, and at least one. Of the
        last chunk of all it is the side: it may reach over the edge of the array as one of a regular grid.
    run_chunks, run_starts
        The first chunk and the first element of each run, and then what comes after the last one.
    """

    size: int
    run_sides: Ints
    run_extents: Ints
    run_chunks: Ints
    run_starts: Ints
    _largest: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_largest", int(self.run_sides.max()))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, EdgeAxis)
            and self.size == other.size
            and np.array_equal(self.run_sides, other.run_sides)
            and np.array_equal(self.run_extents, other.run_extents)
            and np.array_equal(self.run_chunks, other.run_chunks)
        )

    def __hash__(self) -> int:
        return hash((self.size, self.count, self.largest))

    @property
    def count(self) -> int:
        """Number of chunks that have elements in the array."""
        return int(self.run_chunks[-1])

    @property
    def largest(self) -> int:
        """The longest side."""
        return self._largest

    def breaks(self) -> Ints:
        """Return the first chunk of each run of equal ones, and then the number of chunks."""
        return self.run_chunks

    @property
    def regular_side(self) -> None:
        """None: the chunks are unequal."""
        return None

    @property
    def is_padded(self) -> bool:
        """Whether a chunk before the last one is stored with more elements than it gives to the array."""
        return bool((self.run_extents < self.run_sides).any())

    def find(self, places: Ints) -> Ints:
        """Return the numbers of the chunks that hold the elements at `places`."""
        run = np.searchsorted(self.run_starts, places, "right") - 1
        run = np.minimum(run, len(self.run_sides) - 1)
        return self.run_chunks[run] + (places - self.run_starts[run]) // self.run_extents[run]

    def starts(self, chunks: Ints) -> Ints:
        """Return the first elements of chunks; that after the last one is the end of the last one."""
        run = self._runs(chunks)
        found = self.run_starts[run] + (chunks - self.run_chunks[run]) * self.run_extents[run]
        return np.minimum(found, self.size)

    def sides(self, chunks: Ints) -> Ints:
        """Return the sides of chunks."""
        return self.run_sides[self._runs(chunks)]

    def extents(self, chunks: Ints) -> Ints:
        """Return the extents of chunks."""
        return np.minimum(self.run_extents[self._runs(chunks)], self.size - self.starts(chunks))

    def _runs(self, chunks: Ints) -> Ints:
        found = np.searchsorted(self.run_chunks, chunks, "right") - 1
        return np.minimum(found, len(self.run_sides) - 1)

    def chunk_of(self, place: int) -> int:
        """Return the number of the chunk that holds the element at `place`."""
        run = min(int(self.run_starts.searchsorted(place, "right")), len(self.run_sides)) - 1
        return int(self.run_chunks[run]) + (place - int(self.run_starts[run])) // int(self.run_extents[run])

    def start(self, chunk: int) -> int:
        """Return the first element of a chunk."""
        return self._start(self._run(chunk), chunk)

    def side(self, chunk: int) -> int:
        """Return the side of a chunk."""
        return int(self.run_sides[self._run(chunk)])

    def extent(self, chunk: int) -> int:
        """Return the extent of a chunk."""
        run = self._run(chunk)
        return min(int(self.run_extents[run]), self.size - self._start(run, chunk))

    def _run(self, chunk: int) -> int:
        return min(int(self.run_chunks.searchsorted(chunk, "right")), len(self.run_sides)) - 1

    def _start(self, run: int, chunk: int) -> int:
        return int(self.run_starts[run]) + (chunk - int(self.run_chunks[run])) * int(self.run_extents[run])

    def selected(self, taken: range) -> SelectedAxis:
        """Return what a selection takes of the chunks."""
        return SelectedEdges(taken, self)

    def between(self, start: int, stop: int) -> ChunkAxis:
        """Return the axis of the elements from `start` to `stop`, divided where this one is.

        A first chunk that is cut is stored as long as what is left of it; no chunk within is padded.
        """
        if stop <= start:
            return RegularAxis(0, self.largest)
        first = self.chunk_of(start)
        run = self._run(first)
        lengths, counts = self.run_extents[run:].copy(), np.diff(self.run_chunks[run:])
        counts[0] -= first - self.run_chunks[run]
        cut = self.start(first) + self.extent(first) - start
        if cut < self.extent(first):
            counts[0] -= 1
            lengths, counts = np.append(cut, lengths), np.append(1, counts)
        kept = counts > 0
        return axis_of(stop - start, lengths[kept], counts[kept])

    def cut(self, at: int, taken: range) -> AxisPart | None:
        """Return what `taken` takes of chunk number `at`, or None where it is nothing."""
        run = self._run(at)
        low = self._start(run, at)
        given = min(int(self.run_extents[run]), self.size - low)
        return _part(taken, at, low, given, int(self.run_sides[run]))

    @property
    def spelling(self) -> list[int | list[int]]:
        """The edges as the rectilinear grid of Zarr v3 spells them; of padded chunks those of the array."""
        pairs = zip(self.run_extents.tolist(), np.diff(self.run_chunks).tolist(), strict=True)
        return [length if count == 1 else [length, count] for length, count in pairs]


class SelectedEdges(SelectedAxis):
    """One axis of a selection over chunks of unequal sides: by the runs of equal ones that it touches."""

    __slots__ = ("_axis", "_begins", "_each", "_firsts", "_taken")

    def __init__(self, taken: range, axis: EdgeAxis) -> None:
        #: A step of one element says nothing, and may be longer than any axis.
        self._taken = taken if len(taken) > 1 else range(taken.start, taken.start + len(taken))
        self._axis = axis
        if not taken:
            self._begins = np.zeros(1, np.int64)
            return
        starts = axis.run_starts
        low = int(starts.searchsorted(taken[0], "right")) - 1
        stop = int(starts.searchsorted(taken[-1], "right"))
        step, extents = self._taken.step, axis.run_extents[low:stop]
        #: Places in the selection of the first element in each run, and after the last one.
        first = np.maximum(-((taken.start - starts[low:stop]) // step), 0)
        end = np.minimum(-((taken.start - starts[low + 1 : stop + 1]) // step), len(taken))
        #: Each element is in a chunk of its own where the step reaches over chunks.
        self._each = np.where(step >= extents, first, -1)
        self._firsts = axis.run_chunks[low:stop] + (taken.start + first * step - starts[low:stop]) // extents
        last = axis.run_chunks[low:stop] + (taken.start + (end - 1) * step - starts[low:stop]) // extents
        counts = np.where(self._each < 0, last - self._firsts + 1, end - first)
        self._begins = np.concatenate(([0], np.cumsum(counts)))

    def count(self) -> int:
        """Return how many chunks are touched."""
        return int(self._begins[-1])

    def chunks(self) -> Iterator[int]:
        """Yield the chunk numbers touched, ascending."""
        for start in range(0, self.count(), _KEPT_PARTS):
            places = np.arange(start, min(start + _KEPT_PARTS, self.count()), dtype=np.int64)
            yield from self.column(places).tolist()

    @property
    def all_whole(self) -> bool:
        """Whether all of each chunk is taken; may be pessimistic."""
        taken, axis = self._taken, self._axis
        if not taken:
            return True
        if taken.step != 1:
            return False
        low, high = axis.chunk_of(taken[0]), axis.chunk_of(taken[-1])
        runs = slice(axis._run(low), axis._run(high) + 1)
        is_filled = bool((axis.run_extents[runs] == axis.run_sides[runs]).all())
        return (
            is_filled and axis.start(low) == taken.start and axis.start(high) + axis.side(high) == taken.stop
        )

    def at(self, place: int) -> int:
        """Return the number of the chunk at a place among those that are touched."""
        run = int(self._begins.searchsorted(place, "right")) - 1
        place -= int(self._begins[run])
        each = int(self._each[run])
        return int(self._firsts[run]) + place if each < 0 else self._axis.chunk_of(self._taken[each + place])

    def column(self, places: Ints | None = None) -> Ints:
        """Return the chunk numbers touched, ascending; those at `places` where they are given."""
        if places is None:
            places = np.arange(self.count(), dtype=np.int64)
        if not len(places):
            return np.zeros(0, np.int64)
        runs = np.searchsorted(self._begins, places, "right") - 1
        within = places - self._begins[runs]
        elements = self._taken.start + (self._each[runs] + within) * self._taken.step
        apart = self._each[runs] >= 0
        found = self._firsts[runs] + within
        found[apart] = self._axis.find(elements[apart])
        return found

    def part(self, at: int) -> AxisPart | None:
        """Return what is taken of chunk number `at`, or None where it is nothing."""
        return self._axis.cut(at, self._taken) if self._taken else None


def axis_of(
    size: int, sides: Sequence[int] | Ints, counts: Ints | None = None, extents: Ints | None = None
) -> ChunkAxis:
    """Return the axis of chunks whose sides are given, as runs of equal ones.

    Parameters
    ----------
    size
        Elements of the array along the dimension.
    sides
        Of each run of chunks, in their order.
    counts
        Chunks of each run; one where it is left out.
    extents
        How many of their elements they give to the array; all where it is left out.

    Raises
    ------
    RefbrowserError
        `META`: a side, count or extent is not at least 1, an extent is larger than its side, or they do not
        cover the dimension; `BUDGET`: they are longer than anything that is counted.
    """
    lengths = np.asarray(sides, np.int64).reshape(-1)
    numbers = np.ones(len(lengths), np.int64) if counts is None else counts
    given = lengths if extents is None else extents
    if not len(lengths):
        raise RefbrowserError(ErrorKind.META, "a dimension has no chunks: the list of its edges is empty")
    if min(lengths.min(), numbers.min(), given.min()) < 1 or (given > lengths).any():
        wrong = min(int(lengths.min()), int(numbers.min()), int(given.min()))
        raise RefbrowserError(ErrorKind.META, f"an edge or a count of edges is {wrong}, not at least 1")
    if max(size, int(lengths.max())) > LONGEST:
        raise RefbrowserError(ErrorKind.BUDGET, "a dimension or an edge of unequal chunks is beyond 2^60")
    # Chunks behind the array are left out: no sum is beyond twice the longest then.
    numbers = np.minimum(numbers, -(-max(size, 1) // given))
    reach = np.cumsum(numbers.astype(float) * given)
    kept = slice(0, int(reach.searchsorted(size * (1 + 1e-6), "left")) + 1)
    lengths, numbers, given = lengths[kept], numbers[kept], given[kept]
    starts = np.concatenate(([0], np.cumsum(numbers * given)))
    if starts[-1] < size:
        message = f"the edges of the chunks add up to {starts[-1]}, the dimension has {size} elements"
        raise RefbrowserError(ErrorKind.META, message)
    kept = slice(0, max(int(starts.searchsorted(size, "left")), 1))
    lengths, numbers, given = lengths[kept], numbers[kept], given[kept]
    numbers[-1] = -(-(size - starts[len(given) - 1]) // given[-1])
    lengths, numbers, given = _merged(*_last_alone(lengths, numbers, given))
    if len(lengths) == 1:
        return RegularAxis(size, int(lengths[0]))
    ends = np.cumsum(numbers * given)
    ends[-1] = size
    chunks = np.concatenate(([0], np.cumsum(numbers)))
    return EdgeAxis(size, lengths, given, chunks, np.concatenate(([0], ends)))


def _last_alone(lengths: Ints, numbers: Ints, given: Ints) -> tuple[Ints, Ints, Ints]:
    """Return runs of which a padded last chunk is one of its own: it reaches over the edge of the array."""
    if given[-1] == lengths[-1]:
        return lengths, numbers, given
    before = numbers.copy()
    before[-1] -= 1
    kept = before > 0
    last = lengths[-1]
    return np.append(lengths[kept], last), np.append(before[kept], 1), np.append(given[kept], last)


def _merged(lengths: Ints, numbers: Ints, given: Ints) -> tuple[Ints, Ints, Ints]:
    """Return runs of which no two that follow each other are equal."""
    new = np.ones(len(lengths), bool)
    new[1:] = (lengths[1:] != lengths[:-1]) | (given[1:] != given[:-1])
    if new.all():
        return lengths, numbers, given
    begins = np.flatnonzero(new)
    return lengths[begins], np.add.reduceat(numbers, begins), given[begins]
