"""Reads of elements that are no box: chosen places along each axis, or points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.parts import Ints, ReadOptions
from refbrowser.engine.session import readable_grid, room_for
from refbrowser.model.chunk_axes import AxisPart, ChunkAxis
from refbrowser.model.grid import ChunkPart, part_of
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.model.nodes import ArrayNode

#: Elements that are read for points at once, about: of each chunk a box around its points is read.
_TOGETHER = 4_194_304


def read_outer(session: Session, node: ArrayNode, access: Access, index: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Return the elements at chosen places of each axis, the axes taken for themselves.

    Parameters
    ----------
    index
        For each axis an integer, whose axis is not in the result, a slice, or places, shape (n,).

    Raises
    ------
    IndexError
        A place is not in the array.
    RefbrowserError
        A chunk cannot be read; `E_BUDGET`: no memory holds the elements.
    """
    if not any(isinstance(item, np.ndarray) for item in index):
        return session.read(node, access, Selection.from_index(index, node.shape))
    grid = readable_grid(node)
    axes = [_chosen(item, axis) for item, axis in zip(index, grid.dimensions, strict=True)]
    box = room_for(Selection.whole(tuple(axis.length for axis in axes)), node)
    parts = _Product([axis.parts for axis in axes])
    session.read_parts(node, access, [parts], box, ReadOptions(), total=len(parts))
    for axis in range(len(axes) - 1, -1, -1):
        box = box[(*[slice(None)] * axis, axes[axis].taken)]
    return np.asarray(box)


def read_points(
    session: Session, node: ArrayNode, access: Access, index: tuple[Any, ...]
) -> npt.NDArray[Any]:
    """Return the elements at points: axes of the points first, then those of slices.

    Parameters
    ----------
    index
        For each axis a slice, or the places of the points, which are broadcast against each other.

    Raises
    ------
    IndexError
        A point is not in the array.
    RefbrowserError
        A chunk cannot be read; `E_BUDGET`: no memory holds the elements.
    """
    grid = readable_grid(node)
    sliced = [axis for axis, item in enumerate(index) if isinstance(item, slice)]
    pointed = [axis for axis in range(grid.ndim) if axis not in sliced]
    if not pointed:
        return read_outer(session, node, access, index)
    places = np.broadcast_arrays(*(_positive(index[axis], grid.shape[axis]) for axis in pointed))
    shape = places[0].shape
    points = np.stack([each.reshape(-1) for each in places], axis=-1)
    others = [_chosen(index[axis], grid.dimensions[axis]) for axis in sliced]
    lengths = tuple(axis.length for axis in others)
    values = room_for(Selection.whole((len(points), *lengths)), node)
    dimensions = [grid.dimensions[axis] for axis in pointed]
    for batch in _batches(points, dimensions, prod(lengths)):
        box_shape = [0] * grid.ndim
        for axis, length in zip(pointed, batch.shape, strict=True):
            box_shape[axis] = length
        for axis, other in zip(sliced, others, strict=True):
            box_shape[axis] = other.length
        box = np.empty(box_shape, values.dtype)
        parts = _List(
            [
                part_of(_in_order(pointed, group, sliced, rest))
                for group in batch.parts
                for rest in product(*(other.parts for other in others))
            ]
        )
        session.read_parts(node, access, [parts], box, ReadOptions(), total=len(parts))
        by_point = box.transpose((*pointed, *sliced))
        values[batch.rows] = by_point[tuple(batch.places.T)]
    values = values.reshape(shape + lengths)
    return np.asarray(values[(..., *(other.taken for other in others))])


class _ChosenAxis(NamedTuple):
    """What is read along an axis, one part after the other, and what of that is wanted."""

    parts: list[AxisPart]
    length: int
    taken: Any


def _positive(places: Any, size: int) -> Ints:
    """Return places counted from the front."""
    found = np.asarray(places)
    outside = (found < -size) | (found >= size)
    if outside.any():
        raise IndexError(f"index {found[outside].flat[0]} is out of bounds for a dimension of size {size}")
    return np.where(found < 0, found + size, found).astype(np.int64)


def _chosen(item: Any, axis: ChunkAxis) -> _ChosenAxis:
    if isinstance(item, slice):
        taken = range(*item.indices(axis.size))
        backwards = taken.step < 0
        ascending = taken[::-1] if backwards else taken
        parts = list(axis.selected(ascending).parts())
        return _ChosenAxis(parts, len(taken), slice(None, None, -1 if backwards else None))
    places = _positive(item, axis.size)
    wanted, back = np.unique(places, return_inverse=True)
    chunks = axis.find(wanted)
    starts = np.flatnonzero(np.diff(chunks, prepend=-1))
    first = wanted[starts]
    last = wanted[np.append(starts[1:], len(wanted)) - 1] if len(wanted) else first
    ends = np.cumsum(last - first + 1)
    begins = ends - (last - first + 1)
    parts = [
        AxisPart(at, slice(low, low + end - begin, 1), slice(begin, end), end - begin == side)
        for at, low, begin, end, side in zip(
            chunks[starts].tolist(),
            (first - axis.starts(chunks[starts])).tolist(),
            begins.tolist(),
            ends.tolist(),
            axis.sides(chunks[starts]).tolist(),
            strict=True,
        )
    ]
    of_chunk = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(wanted))))
    found = (begins[of_chunk] + wanted - first[of_chunk])[back.reshape(-1)].reshape(places.shape)
    return _ChosenAxis(parts, int(ends[-1]) if len(ends) else 0, found if found.ndim else int(found))


class _Batch(NamedTuple):
    """Points that are read at once: their rows, the chunks' parts, the box for these, and where they are."""

    rows: Ints
    parts: list[tuple[AxisPart, ...]]
    shape: tuple[int, ...]
    places: Ints


def _batches(points: Ints, dimensions: Sequence[ChunkAxis], each: int) -> Iterator[_Batch]:
    """Yield points by the chunks that they are in; boxes lie in a row along the first axis.

    Parameters
    ----------
    each
        Elements of the slices at each point.
    """
    if not len(points):
        return
    found = [axis.find(points[:, at]) for at, axis in enumerate(dimensions)]
    chunks, of_chunk = np.unique(np.stack(found, axis=1), axis=0, return_inverse=True)
    rows = np.argsort(of_chunk.reshape(-1), kind="stable")
    starts = np.searchsorted(of_chunk.reshape(-1)[rows], np.arange(len(chunks)))
    ends = np.append(starts[1:], len(rows))
    low = np.minimum.reduceat(points[rows], starts, axis=0)
    extents = np.maximum.reduceat(points[rows], starts, axis=0) - low + 1
    along = list(enumerate(dimensions))
    starts_of = np.stack([axis.starts(chunks[:, at]) for at, axis in along], axis=1)
    sides = np.stack([axis.sides(chunks[:, at]) for at, axis in along], axis=1)
    begin = 0
    while begin < len(chunks):
        end = begin + 1
        shape = extents[begin].copy()
        while end < len(chunks):
            wider = np.maximum(shape, extents[end])
            wider[0] = shape[0] + extents[end][0]
            if prod(wider.tolist()) * each > _TOGETHER:
                break
            shape, end = wider, end + 1
        offsets = np.zeros((end - begin, len(dimensions)), np.int64)
        offsets[1:, 0] = np.cumsum(extents[begin : end - 1, 0])
        parts = [
            tuple(
                AxisPart(at, slice(start, start + size, 1), slice(to, to + size), size == side)
                for at, start, to, size, side in zip(*columns, strict=True)
            )
            for columns in zip(
                chunks[begin:end].tolist(),
                (low[begin:end] - starts_of[begin:end]).tolist(),
                offsets.tolist(),
                extents[begin:end].tolist(),
                sides[begin:end].tolist(),
                strict=True,
            )
        ]
        taken = rows[starts[begin] : ends[end - 1]]
        group = of_chunk.reshape(-1)[taken]
        places = points[taken] - low[group] + offsets[group - begin]
        yield _Batch(taken, parts, tuple(shape.tolist()), places)
        begin = end


def _in_order(
    pointed: list[int], group: tuple[AxisPart, ...], sliced: list[int], rest: tuple[AxisPart, ...]
) -> tuple[AxisPart, ...]:
    """Return the parts of the axes in the order of the array."""
    both = sorted([*zip(pointed, group, strict=True), *zip(sliced, rest, strict=True)])
    return tuple(part for _, part in both)


class _Product(Sequence[ChunkPart]):
    """The parts of chunks that have these parts along their axes (`Parts`); each is made when asked for."""

    def __init__(self, axes: list[list[AxisPart]]) -> None:
        self._axes = axes
        self._shape = tuple(map(len, axes))

    def __len__(self) -> int:
        return prod(self._shape)

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < len(self):
            raise IndexError(number)
        at = np.unravel_index(number, self._shape)
        return part_of(tuple(axis[place] for axis, place in zip(self._axes, at, strict=True)))

    def coords(self, start: int, stop: int) -> Ints:
        """Return the coordinates of the chunks from `start` to `stop`, shape (n, ndim)."""
        at = np.unravel_index(np.arange(start, stop), self._shape)
        numbers = [np.array([part.at for part in axis], np.int64) for axis in self._axes]
        return np.stack([each[places] for each, places in zip(numbers, at, strict=True)], axis=-1)

    def all_whole(self, start: int, stop: int) -> bool:
        """Tell whether every part is a whole chunk."""
        return all(part.whole for axis in self._axes for part in axis)


class _List(list[ChunkPart]):
    """Parts of chunks that were made (`Parts`)."""

    def coords(self, start: int, stop: int) -> Ints:
        """Return the coordinates of the chunks from `start` to `stop`, shape (n, ndim)."""
        return np.array([part.coords for part in self[start:stop]], np.int64)

    def all_whole(self, start: int, stop: int) -> bool:
        """Tell whether every part from `start` to `stop` is a whole chunk."""
        return all(part.whole for part in self[start:stop])
