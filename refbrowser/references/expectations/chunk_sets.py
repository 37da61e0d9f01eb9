"""Sets of chunks of one grid, as blocks and numbers: met and counted along an axis, never expanded.

A block is a product of arithmetic progressions, as a gen rule gives it: 10^9 chunks are one value. What
stands in references one by one is a column of numbers. Counts along an axis are runs of rows that have alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd, prod
from typing import Self

import numpy as np
import numpy.typing as npt

from refbrowser.limits import LIMITS

Ints = npt.NDArray[np.int64]

#: Residues into which a progression is split at most where another one is taken out of it.
_MOST_RESIDUES = 16
#: No number of a chunk, nor a count of a row, is larger.
_LARGEST = 1 << 62
_NONE: Ints = np.zeros(0, np.int64)


class UndecidedSetError(Exception):
    """Arithmetic does not tell what is in a set."""


@dataclass(frozen=True, slots=True)
class ChunkBlock:
    """A product of progressions: a range of coordinates along each axis, none of them empty, all rising."""

    axes: tuple[range, ...]

    @property
    def count(self) -> int:
        """Number of chunks."""
        return prod(map(len, self.axes))

    def meet(self, other: ChunkBlock) -> ChunkBlock | None:
        """Return what is in both; None where nothing is."""
        axes = []
        for mine, its in zip(self.axes, other.axes, strict=True):
            both = range_meet(mine, its)
            if not both:
                return None
            axes.append(both)
        return ChunkBlock(tuple(axes))

    def without(self, other: ChunkBlock) -> Iterator[ChunkBlock]:
        """Yield blocks of what is not in another one; none of them meet.

        Raises
        ------
        UndecidedSetError
            They would be too many.
        """
        both = self.meet(other)
        if both is None:
            yield self
            return
        rest = list(self.axes)
        for axis, part in enumerate(both.axes):
            for left in _range_without(rest[axis], part):
                yield ChunkBlock((*rest[:axis], left, *rest[axis + 1 :]))
            rest[axis] = part

    def holds(self, coords: Ints) -> npt.NDArray[np.bool_]:
        """Return which chunks, `coords` of shape (n, ndim), are in it."""
        inside = np.ones(len(coords), bool)
        for axis, each in enumerate(self.axes):
            column = coords[:, axis]
            inside &= (column >= each.start) & (column < each.stop)
            if each.step > 1:
                inside &= (column - each.start) % each.step == 0
        return inside


def range_meet(one: range, other: range) -> range:
    """Return the progression that two rising ones have in common, by the Chinese remainder theorem."""
    shared = gcd(one.step, other.step)
    if not one or not other or (other.start - one.start) % shared:
        return range(0)
    step = one.step // shared * other.step
    turn = other.step // shared
    times = (other.start - one.start) // shared * pow(one.step // shared, -1, turn) % turn
    start = one.start + one.step * times
    lowest = max(one.start, other.start)
    start += -(-(lowest - start) // step) * step
    return range(start, min(one.stop, other.stop), step)


def _range_without(whole: range, part: range) -> Iterator[range]:
    """Yield what a progression has beside a part of it."""
    turns = part.step // whole.step if len(part) > 1 else 1
    if turns > _MOST_RESIDUES:
        raise UndecidedSetError
    before = range(whole.start, part.start, whole.step)
    after = range(part[-1] + whole.step, whole.stop, whole.step)
    between = (range(part.start + turn * whole.step, part[-1], part.step) for turn in range(1, turns))
    yield from (each for each in (before, *between, after) if each)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """How many chunks of a set each row along an axis has: runs of rows that have alike.

    Attributes
    ----------
    bounds
        Where runs begin, and the end of the last one: rising, shape (n + 1,).
    counts
        Of each row of a run, shape (n,).
    """

    bounds: Ints
    counts: Ints

    def at(self, rows: Ints) -> Ints:
        """Return the counts of rows, which lie within the bounds."""
        found: Ints = self.counts[np.searchsorted(self.bounds, rows, side="right") - 1]
        return found

    def less(self, other: Tally) -> Tally:
        """Return by how much each row has more than that of another tally of the same rows."""
        bounds = np.union1d(self.bounds, other.bounds)
        firsts = bounds[:-1]
        return Tally(bounds, self.at(firsts) - other.at(firsts)).joined()

    def joined(self) -> Tally:
        """Return the same with neighbours joined that have alike."""
        if not len(self.counts):
            return self
        kept = np.append(True, np.diff(self.counts) != 0)
        return Tally(np.append(self.bounds[:-1][kept], self.bounds[-1]), self.counts[kept])

    @property
    def total(self) -> int:
        """Of all rows."""
        return sum((stop - start) * count for start, stop, count in self.runs())

    def runs(self) -> Iterator[tuple[int, int, int]]:
        """Yield first row, row behind the last one, and count of each run that has any."""
        starts, stops = self.bounds[:-1].tolist(), self.bounds[1:].tolist()
        for start, stop, count in zip(starts, stops, self.counts.tolist(), strict=True):
            if count:
                yield start, stop, count


@dataclass(frozen=True, slots=True, eq=False)
class ChunkSet:
    """A set of chunks of a grid.

    Attributes
    ----------
    blocks
        No two meet, nor holds any a chunk of `numbers`; all lie in the grid.
    numbers
        Of further chunks in C order of the grid, rising, each once.
    """

    grid_shape: tuple[int, ...]
    blocks: tuple[ChunkBlock, ...] = ()
    numbers: Ints = field(default_factory=lambda: _NONE)

    @classmethod
    def of(cls, grid_shape: tuple[int, ...], blocks: Iterable[ChunkBlock], numbers: Ints = _NONE) -> Self:
        """Return the union of blocks and numbers, which may meet; what is outside the grid is left out.

        Raises
        ------
        UndecidedSetError
            It takes too many blocks to say.
        """
        whole = ChunkBlock(tuple(map(range, grid_shape)))
        kept: list[ChunkBlock] = []
        work = 0
        for block in blocks:
            inside = block.meet(whole)
            parts = [] if inside is None else [inside]
            for known in kept:
                work += max(len(parts), 1)
                if work > LIMITS.expect_blocks:
                    raise UndecidedSetError
                parts = [left for part in parts for left in part.without(known)]
                if not parts:
                    break
            kept += parts
        return cls(grid_shape, tuple(kept), _outside(np.unique(numbers), kept, grid_shape))

    @classmethod
    def whole(cls, grid_shape: tuple[int, ...]) -> Self:
        """Return all chunks of a grid."""
        block = ChunkBlock(tuple(map(range, grid_shape)))
        return cls(grid_shape, (block,) if block.count else ())

    @property
    def count(self) -> int:
        """Number of chunks."""
        return len(self.numbers) + sum(block.count for block in self.blocks)

    def meet(self, other: ChunkSet) -> ChunkSet:
        """Return what is in both; they are of the same grid.

        Raises
        ------
        UndecidedSetError
            They have too many blocks.
        """
        if len(self.blocks) * len(other.blocks) > LIMITS.expect_blocks:
            raise UndecidedSetError
        met = (one.meet(its) for one in self.blocks for its in other.blocks)
        numbers = [np.intersect1d(self.numbers, other.numbers, assume_unique=True)]
        for one, its in ((self, other), (other, self)):
            outside = _outside(one.numbers, its.blocks, one.grid_shape)
            numbers.append(np.setdiff1d(one.numbers, outside, assume_unique=True))
        blocks = tuple(block for block in met if block is not None)
        return ChunkSet(self.grid_shape, blocks, np.unique(np.concatenate(numbers)))

    def tally(self, axis: int) -> Tally:
        """Return how many chunks each row along an axis has.

        Raises
        ------
        UndecidedSetError
            It takes too many runs to say.
        """
        size, others = self.grid_shape[axis], prod(self.grid_shape) // max(self.grid_shape[axis], 1)
        if others > _LARGEST:
            raise UndecidedSetError
        places: list[Ints] = [np.array([0, size], np.int64)]
        changes: list[Ints] = [np.zeros(2, np.int64)]
        for block in self.blocks:
            rows, each = block.axes[axis], block.count // len(block.axes[axis])
            if rows.step > 1 and len(rows) > LIMITS.expect_runs:
                raise UndecidedSetError
            starts = np.array([rows.start], np.int64) if rows.step == 1 else np.array(rows, np.int64)
            stops = np.array([rows.stop], np.int64) if rows.step == 1 else starts + 1
            places += [starts, stops]
            changes += [np.full(len(starts), each, np.int64), np.full(len(stops), -each, np.int64)]
        if len(self.numbers):
            firsts, counts = np.unique(self._rows(axis), return_counts=True)
            places += [firsts, firsts + 1]
            changes += [counts.astype(np.int64), -counts.astype(np.int64)]
        at, change = np.concatenate(places), np.concatenate(changes)
        bounds, where = np.unique(at, return_inverse=True)
        steps = np.zeros(len(bounds), np.int64)
        np.add.at(steps, where, change)
        return Tally(bounds, np.cumsum(steps)[:-1]).joined()

    def _rows(self, axis: int) -> Ints:
        behind = prod(self.grid_shape[axis + 1 :])
        rows: Ints = self.numbers // behind % self.grid_shape[axis]
        return rows


def _outside(numbers: Ints, blocks: Sequence[ChunkBlock], grid_shape: tuple[int, ...]) -> Ints:
    """Return the numbers of chunks, which rise, that are in no block: each block looks at its rows alone."""
    if not len(numbers) or not blocks:
        return numbers
    inside = np.zeros(len(numbers), bool)
    row = prod(grid_shape[1:])
    for block in blocks:
        first, last = (block.axes[0].start, block.axes[0].stop) if block.axes else (0, 1)
        start, stop = np.searchsorted(numbers, [first * row, last * row])
        if start < stop:
            coords = np.stack(np.unravel_index(numbers[start:stop], grid_shape), axis=1)
            inside[start:stop] |= block.holds(coords.astype(np.int64))
    return numbers[~inside]
