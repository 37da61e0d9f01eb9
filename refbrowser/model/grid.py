"""Chunk grids: which chunks a selection touches, and which part of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.selection import Selection

#: Pieces of one axis that are made once and kept while the parts of a selection are enumerated.
_KEPT_PARTS = 65_536


class ChunkPart(NamedTuple):
    """What a selection takes of one chunk.

    Attributes
    ----------
    coords
        Of the chunk in the grid.
    inside
        The elements taken, as slices of the chunk.
    target
        Where they go, as slices of `Selection.box_shape`.
    whole
        The part is every element of the chunk, none cut off by the array's edge.
    """

    coords: tuple[int, ...]
    inside: tuple[slice, ...]
    target: tuple[slice, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class RegularChunkGrid:
    """Chunks of equal shape; those at the upper edge reach over it.

    Attributes
    ----------
    shape
        Of the array.
    chunk_shape
        Of each chunk as it is stored; no side is 0.
    """

    shape: tuple[int, ...]
    chunk_shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.shape) != len(self.chunk_shape):
            raise RefbrowserError(
                ErrorKind.META,
                f"the array has {len(self.shape)} dimensions, its chunks {len(self.chunk_shape)}",
            )
        if min(self.chunk_shape, default=1) < 1 or min(self.shape, default=0) < 0:
            raise RefbrowserError(
                ErrorKind.META, f"chunks of {self.chunk_shape} cannot tile an array of {self.shape}"
            )

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each dimension; () for a 0-d array, which has one chunk."""
        return tuple(-(-size // side) for size, side in zip(self.shape, self.chunk_shape, strict=True))

    @property
    def size(self) -> int:
        """Number of chunks."""
        return prod(self.grid_shape)

    def __contains__(self, coords: object) -> bool:
        return (
            isinstance(coords, tuple)
            and len(coords) == self.ndim
            and all(0 <= at < count for at, count in zip(coords, self.grid_shape, strict=True))
        )

    def extent(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the chunk at `coords`, cut at the array's edge."""
        return tuple(
            min(side, size - at * side)
            for at, side, size in zip(coords, self.chunk_shape, self.shape, strict=True)
        )

    def origin(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the array index of the first element of the chunk at `coords`."""
        return tuple(at * side for at, side in zip(coords, self.chunk_shape, strict=True))

    def count(self, selection: Selection) -> int:
        """Return how many chunks `selection` touches, without enumerating them."""
        return prod(axis.count() for axis in self.axes(selection))

    def parts(self, selection: Selection) -> Iterator[ChunkPart]:
        """Yield the part of each chunk that `selection` touches, in C order of the chunks."""
        for parts in _product([axis.parts() for axis in self.axes(selection)]):
            yield part_of(parts)

    def part(self, selection: Selection, coords: tuple[int, ...]) -> ChunkPart | None:
        """Return what `selection` takes of the chunk at `coords`, or None where it takes nothing."""
        if coords not in self:
            return None
        axes = self.axes(selection)
        parts = [axis.part(at) for axis, at in zip(axes, coords, strict=True)]
        found = tuple(part for part in parts if part is not None)
        return part_of(found) if len(found) == len(parts) else None

    def whole_part(self, coords: tuple[int, ...]) -> ChunkPart:
        """Return the chunk at `coords` as a part: all of it that lies in the array."""
        extent = self.extent(coords)
        all_ = tuple(slice(0, size, 1) for size in extent)
        return ChunkPart(coords, all_, all_, extent == self.chunk_shape)

    def coords(self, selection: Selection) -> npt.NDArray[np.int64]:
        """Return the coordinates of the chunks that `selection` touches, C order, shape (n, ndim)."""
        columns = [axis.column() for axis in self.axes(selection)]
        if not columns:
            return np.zeros((1, 0), np.int64)
        return np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, len(columns))

    def axes(self, selection: Selection) -> list[SelectedAxis]:
        """Return what `selection` takes of the chunks along each axis."""
        return [
            SelectedAxis(taken, side, size)
            for taken, side, size in zip(selection.axes, self.chunk_shape, self.shape, strict=True)
        ]


class AxisPart(NamedTuple):
    """One axis of a part."""

    at: int
    inside: slice
    target: slice
    whole: bool


@dataclass(frozen=True, slots=True)
class SelectedAxis:
    """One axis of a selection over chunks of `side`: by arithmetic, however many they are."""

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

    def column(self, places: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int64]:
        """Return the chunk numbers touched, ascending; those at `places` where they are given."""
        if places is None:
            places = np.arange(self.count(), dtype=np.int64)
        if self.taken.step >= self.side:
            return (self.taken.start + places * self.taken.step) // self.side
        return self.taken.start // self.side + places

    def part(self, at: int) -> AxisPart | None:
        """Return what is taken of chunk number `at`, or None where it is nothing."""
        start, step = self.taken.start, self.taken.step
        low = at * self.side
        first = max(0, -(-(low - start) // step))
        stop = min(len(self.taken), -(-(low + self.side - start) // step))
        if first >= stop:
            return None
        begin = start + first * step - low
        last = begin + (stop - first - 1) * step
        count = stop - first
        inside = slice(begin, last + 1, step if count > 1 else 1)
        return AxisPart(at, inside, slice(first, stop), count == self.side)

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


def _product(axes: list[Iterable[AxisPart]]) -> Iterator[tuple[AxisPart, ...]]:
    """Like itertools.product, which would hold every axis in memory."""
    if not axes:
        yield ()
        return
    for head in axes[0]:
        for tail in _product(axes[1:]):
            yield (head, *tail)


def part_of(parts: tuple[AxisPart, ...]) -> ChunkPart:
    """Return the part that has these parts along its axes."""
    # Without parts `zip` gives no columns.
    at, inside, target, whole = zip(*parts, strict=True) if parts else ((), (), (), ())
    return ChunkPart(at, inside, target, False not in whole)
