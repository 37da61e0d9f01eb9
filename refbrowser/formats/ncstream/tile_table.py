"""Which messages give elements of each tile of a grid."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream.tiles import Sections
from refbrowser.model.grid import RegularChunkGrid

Ints = npt.NDArray[np.int64]
#: Messages that touch more tiles are looked at one by one for each tile.
_FEW = 64
#: Tiles of grids that have more cannot be numbered.
_NUMBERED = 2**62


class TileTable:
    """Finds the sections that touch a tile.

    Parameters
    ----------
    sections
        Of the messages of a variable.
    grid
        Its tiles.
    """

    def __init__(self, sections: Sections, grid: RegularChunkGrid) -> None:
        self._grid = grid
        sides = np.asarray(grid.chunk_shape, np.int64)
        #: First tile that each section touches along each axis, and how many from there on.
        self._low = sections.starts // sides
        self._spans = sections.lasts // sides - self._low + 1
        counts = np.ones(len(sections), np.float64)
        for axis in range(grid.ndim):
            counts *= self._spans[:, axis]
        few = counts <= _FEW if grid.size < _NUMBERED else np.zeros(len(sections), bool)
        self._small, self._large = np.flatnonzero(few), np.flatnonzero(~few)

    def rows(self, coords: tuple[int, ...]) -> Ints:
        """Return the rows of the sections that touch a tile, ascending."""
        at = np.asarray(coords, np.int64).reshape(1, -1)
        low, spans = self._low[self._large], self._spans[self._large]
        large = self._large[((low <= at) & (at < low + spans)).all(axis=1)]
        if not len(self._small):
            return large
        tiles, rows = self._entries
        number = self._number(at)[0]
        first, stop = np.searchsorted(tiles, [number, number + 1])
        return np.sort(np.concatenate([rows[first:stop], large]))

    def touches(self, coords: Ints) -> npt.NDArray[np.bool_]:
        """Tell of each of some tiles, shape (n, ndim), whether any section touches it."""
        found = np.zeros(len(coords), bool)
        if len(self._small):
            tiles, numbers = self._entries[0], self._number(coords)
            at = np.minimum(np.searchsorted(tiles, numbers), len(tiles) - 1)
            found |= tiles[at] == numbers
        for row in self._large.tolist():
            if found.all():
                break
            low = self._low[row]
            found |= ((low <= coords) & (coords < low + self._spans[row])).all(axis=1)
        return found

    def touched(self) -> npt.NDArray[np.bool_]:
        """Return which tiles any section touches, in the shape of the grid: it must fit memory."""
        found = np.zeros(self._grid.grid_shape, bool)
        if len(self._small):
            found.reshape(-1)[self._entries[0]] = True
        for row in self._large.tolist():
            ends = zip(self._low[row].tolist(), self._spans[row].tolist(), strict=True)
            found[tuple(slice(low, low + span) for low, span in ends)] = True
        return found

    def count(self) -> int | None:
        """Return how many tiles are touched; None where that is not known."""
        if self._grid.size <= 1 << 24:
            return int(np.count_nonzero(self.touched()))
        return None if len(self._large) else len(np.unique(self._entries[0]))

    @cached_property
    def _entries(self) -> tuple[Ints, Ints]:
        """The numbers of tiles, ascending, and the row of a small section that touches each."""
        spans = self._spans[self._small]
        totals = spans.prod(axis=1)
        rows = np.repeat(self._small, totals)
        left = np.arange(len(rows)) - np.repeat(np.cumsum(totals) - totals, totals)
        coords = np.empty((len(rows), self._grid.ndim), np.int64)
        for axis in reversed(range(self._grid.ndim)):
            span = self._spans[rows, axis]
            coords[:, axis] = self._low[rows, axis] + left % span
            left = left // span
        tiles = self._number(coords)
        order = np.argsort(tiles, kind="stable")
        return tiles[order], rows[order]

    def _number(self, coords: Ints) -> Ints:
        numbers = np.zeros(len(coords), np.int64)
        for axis, count in enumerate(self._grid.grid_shape):
            numbers = numbers * count + coords[:, axis]
        return numbers
