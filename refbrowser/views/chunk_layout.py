"""Where each chunk of a slice of the chunk grid stands on a map of rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import numpy.typing as npt

from refbrowser.model.nodes import ArrayNode
from refbrowser.views.slicing import SliceState, dimension_names

Ints = npt.NDArray[np.int64]

#: So many chunks of one dimension stand in one row; more are wrapped.
ONE_ROW = 48
#: A wrapped map is about so many times wider than high.
_WIDE = 4
#: A dimension with so many times more chunks than the other runs to the right, whatever their order.
_LONG = 4


@dataclass(frozen=True, slots=True)
class ChunkLayout:
    """A map of chunks: two dimensions of the grid, or one that is wrapped into rows like text.

    Attributes
    ----------
    slice
        Axes and indices as of a plot, counted in chunks: `slice.shape` is the grid's.
    columns
        Of the map.
    """

    slice: SliceState
    columns: int

    @classmethod
    def of(cls, state: SliceState) -> ChunkLayout:
        """Return the map of a slice of a grid."""
        if not state.shape:
            return cls(state, 1)
        across = state.shape[state.x]
        return cls(state, across if state.y is not None else wrapped_columns(across))

    @property
    def is_wrapped(self) -> bool:
        """Whether one dimension goes on in the next row."""
        return self.slice.y is None

    @property
    def rows(self) -> int:
        """Of the map."""
        if self.slice.y is not None:
            return self.slice.shape[self.slice.y]
        return ceil(self.size / self.columns) if self.columns else 0

    @property
    def size(self) -> int:
        """Number of chunks on the map."""
        state = self.slice
        across = state.shape[state.x] if state.shape else 1
        return across if state.y is None else across * state.shape[state.y]

    def with_slice(self, state: SliceState) -> ChunkLayout:
        """Return the map of another slice of the same grid."""
        return replace(self, slice=state) if state.axes == self.slice.axes else ChunkLayout.of(state)

    def coords_at(self, row: int, column: int) -> tuple[int, ...] | None:
        """Return the coordinates of the chunk in a cell, or None where there is none."""
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            return None
        state = self.slice
        if not state.shape:
            return ()
        coords = list(state.indices)
        if state.y is not None:
            coords[state.y], coords[state.x] = row, column
            return tuple(coords)
        number = row * self.columns + column
        if number >= state.shape[state.x]:
            return None
        coords[state.x] = number
        return tuple(coords)

    def cell_of(self, coords: Sequence[int]) -> tuple[int, int] | None:
        """Return row and column of a chunk, or None where it is in another slice."""
        state = self.slice
        if len(coords) != len(state.shape) or any(coords[at] != state.indices[at] for at in state.sliders):
            return None
        if not state.shape:
            return 0, 0
        if state.y is not None:
            return coords[state.y], coords[state.x]
        return divmod(coords[state.x], self.columns)

    def coords(self, rows: Ints, columns: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Return the coordinates of the chunks in all cells of rows and columns, in C order, shape (n, ndim).

        The second value tells which cells have a chunk, shape (rows, columns); only those have coordinates.
        """
        state = self.slice
        held = np.ones((len(rows), len(columns)), bool)
        if not state.shape:
            return np.zeros((held.size, 0), np.int64), held
        if state.y is None:
            numbers = rows[:, None] * self.columns + columns[None, :]
            held = numbers < state.shape[state.x]
            found = np.tile(np.array(state.indices, np.int64), (int(held.sum()), 1))
            found[:, state.x] = numbers[held]
            return found, held
        found = np.tile(np.array(state.indices, np.int64), (held.size, 1))
        found[:, state.y] = np.repeat(rows, len(columns))
        found[:, state.x] = np.tile(columns, len(rows))
        return found, held

    def cells(self, coords: Ints) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
        """Return row and column of those chunks that are on the map, and which these are."""
        state = self.slice
        on_map = np.ones(len(coords), bool)
        for axis in state.sliders:
            on_map &= coords[:, axis] == state.indices[axis]
        here = coords[on_map]
        if not state.shape:
            nothing = np.zeros(len(here), np.int64)
            return nothing, nothing, on_map
        if state.y is not None:
            return here[:, state.y], here[:, state.x], on_map
        rows, columns = np.divmod(here[:, state.x], self.columns)
        return rows, columns, on_map

    def boxes(self, parts: Sequence[range]) -> list[tuple[int, int, int, int]]:
        """Return the cells of a part of the grid (a range of chunks for each dimension) as boxes.

        A box is (top, bottom, left, right), ends excluded; there is none where the part is in another slice.
        """
        state = self.slice
        if any(state.indices[axis] not in parts[axis] for axis in state.sliders):
            return []
        if not state.shape:
            return [(0, 1, 0, 1)]
        across = parts[state.x]
        if not len(across):
            return []
        if state.y is not None:
            down = parts[state.y]
            return [(down.start, down.stop, across.start, across.stop)] if len(down) else []
        (top, left), (last, right) = divmod(across.start, self.columns), divmod(across.stop - 1, self.columns)
        if top == last:
            return [(top, top + 1, left, right + 1)]
        boxes = [(top, top + 1, left, self.columns)]
        if last > top + 1:
            boxes.append((top + 1, last, 0, self.columns))
        return [*boxes, (last, last + 1, 0, right + 1)]


def wrapped_columns(count: int) -> int:
    """Return how many chunks of one dimension stand in a row: a round number, so that rows can be counted."""
    if count <= ONE_ROW:
        return max(1, count)
    wanted = (count * _WIDE) ** 0.5
    power = 10
    while True:
        for step in (1, 2, 5):
            if step * power >= wanted:
                return step * power
        power *= 10


def first_chunk_slice(node: ArrayNode, before: SliceState | None = None) -> SliceState:
    """Return the slice of a node's chunk grid to begin with.

    Its axes are the two dimensions with the most chunks, in their order unless one is much longer; a single
    dimension of more than one chunk is wrapped. Where `before` is of the same grid it stays.
    """
    assert node.grid is not None
    shape, names = node.grid.grid_shape, dimension_names(node)
    if before is not None and before.shape == shape and before.names == names:
        return before
    long = sorted(
        (axis for axis, count in enumerate(shape) if count > 1), key=lambda axis: (shape[axis], axis)
    )
    indices = (0,) * len(shape)
    if len(long) < 2:
        return SliceState(shape, names, long[0] if long else max(0, len(shape) - 1), None, indices)
    y, x = sorted(long[-2:])
    # Neighbours, such as y and x, are known the way they are in the plot; others are not.
    if shape[y] >= (_LONG if x == y + 1 else 2) * shape[x]:
        y, x = x, y
    return SliceState(shape, names, x, y, indices)


def with_axes_of(state: SliceState, plotted: SliceState) -> SliceState:
    """Return a slice of a chunk grid with the axes of the array's plot.

    Along an axis with a single chunk a map would show nothing: then it keeps its own.
    """
    if not plotted.axes or any(state.shape[axis] < 2 for axis in plotted.axes):
        return state
    turned = state.with_x(plotted.x)
    return turned if plotted.y is None else turned.with_y(plotted.y)
