"""Chunk grids: which chunks a selection touches, and which part of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_axes import (
    AxisPart,
    ChunkAxis,
    EdgeAxis,
    Ints,
    RegularAxis,
    SelectedAxis,
    SelectedSides,
)
from refbrowser.model.selection import Selection

#: Runs of equal sides that a text tells of.
_TOLD_RUNS = 6


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


class ChunkGrid(ABC):
    """How an array is divided into chunks: one of `RegularChunkGrid` and `RectilinearChunkGrid`.

    Attributes
    ----------
    shape
        Of the array.
    """

    __slots__ = ()

    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    @abstractmethod
    def regular(self) -> RegularChunkGrid:
        """The grid itself where its chunks are equal; asking another one raises `RefbrowserError`."""

    @property
    @abstractmethod
    def is_regular(self) -> bool:
        """Whether its chunks are equal."""

    @property
    @abstractmethod
    def dimensions(self) -> tuple[ChunkAxis, ...]:
        """How each dimension is divided."""

    @property
    @abstractmethod
    def grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each dimension; () for a 0-d array, which has one chunk."""

    @property
    @abstractmethod
    def largest(self) -> tuple[int, ...]:
        """The longest side of a chunk along each dimension: no chunk is larger as it is stored."""

    @property
    @abstractmethod
    def spelling(self) -> list[int | list[int | list[int]]]:
        """The sides along each dimension as Zarr v3 spells them: one for all, or edges and runs."""

    @property
    def written_out(self) -> tuple[int | tuple[int, ...], ...]:
        """The side of the chunks along each dimension, or the extents of all of them where they are unequal.

        Asking for more of them than are written out raises `RefbrowserError`.
        """
        if any(
            not isinstance(axis, RegularAxis) and axis.count > LIMITS.write_out_question
            for axis in self.dimensions
        ):
            raise RefbrowserError(
                ErrorKind.BUDGET,
                f"a dimension is divided into more than {LIMITS.write_out_question} unequal chunks "
                "(write_out_question)",
            )
        return tuple(
            axis.largest
            if isinstance(axis, RegularAxis)
            else tuple(axis.extents(np.arange(axis.count)).tolist())
            for axis in self.dimensions
        )

    def agrees(self, other: ChunkGrid) -> bool:
        """Tell whether chunks are divided alike as far as both arrays reach."""
        if self.ndim != other.ndim:
            return False
        return all(map(ChunkAxis.agrees, self.dimensions, other.dimensions))

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

    @abstractmethod
    def stored_shape(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the chunk at `coords` as it is stored."""

    @abstractmethod
    def extent(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of what the chunk at `coords` gives to the array: cut at the array's edge."""

    @abstractmethod
    def origin(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the array index of the first element of the chunk at `coords`."""

    @abstractmethod
    def chunk_of(self, index: Sequence[int]) -> tuple[int, ...]:
        """Return the coordinates of the chunk that holds the element at `index`."""

    @abstractmethod
    def axes(self, selection: Selection) -> list[SelectedAxis]:
        """Return what `selection` takes of the chunks along each axis."""

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
        return ChunkPart(coords, all_, all_, extent == self.stored_shape(coords))

    def coords(self, selection: Selection) -> npt.NDArray[np.int64]:
        """Return the coordinates of the chunks that `selection` touches, C order, shape (n, ndim)."""
        columns = [axis.column() for axis in self.axes(selection)]
        if not columns:
            return np.zeros((1, 0), np.int64)
        return np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, len(columns))

    def by_stored_shape(self, coords: Ints) -> Iterator[tuple[tuple[int, ...], Ints]]:
        """Yield each stored shape of the chunks at `coords`, shape (n, ndim), with the rows that have it."""
        if not len(coords):
            return
        sides = self._by_axis(coords, lambda axis, column: axis.sides(column))
        shapes, which = np.unique(sides, axis=0, return_inverse=True)
        which = which.reshape(-1)
        order = np.argsort(which, kind="stable")
        ends = np.cumsum(np.bincount(which, minlength=len(shapes)))[:-1]
        for shape, rows in zip(shapes.tolist(), np.split(order, ends), strict=True):
            yield tuple(shape), rows

    def extents(self, coords: Ints) -> Ints:
        """Return what `extent` does for the chunks at `coords`, both of shape (n, ndim)."""
        return self._by_axis(coords, lambda axis, column: axis.extents(column))

    def origins(self, coords: Ints) -> Ints:
        """Return what `origin` does for the chunks at `coords`, both of shape (n, ndim)."""
        return self._by_axis(coords, lambda axis, column: axis.starts(column))

    def _by_axis(self, coords: Ints, ask: Callable[[ChunkAxis, Ints], Ints]) -> Ints:
        found = np.empty(coords.shape, np.int64)
        for axis, dimension in enumerate(self.dimensions):
            found[:, axis] = ask(dimension, coords[:, axis])
        return found


@dataclass(frozen=True, slots=True)
class RegularChunkGrid(ChunkGrid):
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
    def regular(self) -> RegularChunkGrid:
        """The grid itself."""
        return self

    @property
    def is_regular(self) -> bool:
        """Whether its chunks are equal: they are."""
        return True

    @property
    def dimensions(self) -> tuple[ChunkAxis, ...]:
        """How each dimension is divided."""
        return tuple(map(RegularAxis, self.shape, self.chunk_shape))

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each dimension; () for a 0-d array, which has one chunk."""
        return tuple(-(-size // side) for size, side in zip(self.shape, self.chunk_shape, strict=True))

    @property
    def largest(self) -> tuple[int, ...]:
        """The shape of each chunk."""
        return self.chunk_shape

    @property
    def spelling(self) -> list[int | list[int | list[int]]]:
        """The sides of each chunk."""
        return list(self.chunk_shape)

    @property
    def written_out(self) -> tuple[int, ...]:
        """The sides of each chunk."""
        return self.chunk_shape

    def stored_shape(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of each chunk."""
        return self.chunk_shape

    def extent(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the chunk at `coords`, cut at the array's edge."""
        return tuple(
            min(side, size - at * side)
            for at, side, size in zip(coords, self.chunk_shape, self.shape, strict=True)
        )

    def origin(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the array index of the first element of the chunk at `coords`."""
        return tuple(at * side for at, side in zip(coords, self.chunk_shape, strict=True))

    def chunk_of(self, index: Sequence[int]) -> tuple[int, ...]:
        """Return the coordinates of the chunk that holds the element at `index`."""
        return tuple(at // side for at, side in zip(index, self.chunk_shape, strict=True))

    def axes(self, selection: Selection) -> list[SelectedAxis]:
        """Return what `selection` takes of the chunks along each axis."""
        return [
            SelectedSides(taken, side, size)
            for taken, side, size in zip(selection.axes, self.chunk_shape, self.shape, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class RectilinearChunkGrid(ChunkGrid):
    """Chunks whose sides along a dimension differ; each is as long as those beside it in the other ones.

    Make it by `grid_of`: a grid of equal chunks is a regular one, however it was written.

    Attributes
    ----------
    dimensions
        How each dimension is divided.
    """

    shape: tuple[int, ...]
    dimensions: tuple[ChunkAxis, ...]

    @property
    def regular(self) -> RegularChunkGrid:
        """None: asking raises why."""
        raise RefbrowserError(
            ErrorKind.META,
            f"the chunks have unequal sides, {sides_text(self)} (a rectilinear grid): "
            "this needs chunks of one shape",
            advice="export the array with chunks of one shape (--chunks)",
        )

    @property
    def is_regular(self) -> bool:
        """Whether its chunks are equal: they are not."""
        return False

    @property
    def is_padded(self) -> bool:
        """Whether chunks within the array are stored with more elements than they give to it."""
        return any(axis.is_padded for axis in self.dimensions)

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each dimension."""
        return tuple(axis.count for axis in self.dimensions)

    @property
    def largest(self) -> tuple[int, ...]:
        """The longest side of a chunk along each dimension: no chunk is larger as it is stored."""
        return tuple(axis.largest for axis in self.dimensions)

    @property
    def spelling(self) -> list[int | list[int | list[int]]]:
        """The sides along each dimension as Zarr v3 spells them: one for all, or edges and runs."""
        return [axis.spelling for axis in self.dimensions]

    def stored_shape(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the chunk at `coords` as it is stored."""
        return tuple(axis.side(at) for axis, at in zip(self.dimensions, coords, strict=True))

    def extent(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of what the chunk at `coords` gives to the array: cut at the array's edge."""
        return tuple(axis.extent(at) for axis, at in zip(self.dimensions, coords, strict=True))

    def origin(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the array index of the first element of the chunk at `coords`."""
        return tuple(axis.start(at) for axis, at in zip(self.dimensions, coords, strict=True))

    def chunk_of(self, index: Sequence[int]) -> tuple[int, ...]:
        """Return the coordinates of the chunk that holds the element at `index`."""
        return tuple(axis.chunk_of(at) for axis, at in zip(self.dimensions, index, strict=True))

    def axes(self, selection: Selection) -> list[SelectedAxis]:
        """Return what `selection` takes of the chunks along each axis."""
        return [axis.selected(taken) for axis, taken in zip(self.dimensions, selection.axes, strict=True)]


def grid_of(dimensions: Sequence[ChunkAxis]) -> ChunkGrid:
    """Return the grid of chunks that are divided along each dimension in this way."""
    shape = tuple(axis.size for axis in dimensions)
    sides = [axis.regular_side for axis in dimensions]
    equal = tuple(side for side in sides if side is not None)
    if len(equal) == len(sides):
        return RegularChunkGrid(shape, equal)
    return RectilinearChunkGrid(shape, tuple(dimensions))


def sides_text(grid: ChunkGrid) -> str:
    """Return the sides of chunks, ``2×3`` or ``[31, 28, 31]×180``; of many unequal ones the first."""
    return "×".join(_axis_text(axis) for axis in grid.dimensions)


def _axis_text(axis: ChunkAxis) -> str:
    if not isinstance(axis, EdgeAxis):
        return str(axis.largest)
    shown = zip(
        axis.run_extents[:_TOLD_RUNS].tolist(),
        axis.run_sides[:_TOLD_RUNS].tolist(),
        np.diff(axis.run_chunks[: _TOLD_RUNS + 1]).tolist(),
        strict=True,
    )
    words = [
        (f"{count} of " if count > 1 else "")
        + (f"{given}" if given == side else f"{given} (stored as {side})")
        for given, side, count in shown
    ]
    if len(axis.run_sides) > _TOLD_RUNS:
        words.append(f"… {axis.count} chunks")
    return f"[{', '.join(words)}]"


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
