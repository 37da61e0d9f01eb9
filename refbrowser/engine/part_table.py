"""The parts of chunks that a selection takes, numbered: each is made when it is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.model.grid import AxisPiece, ChunkPart, RegularChunkGrid, part_of
from refbrowser.model.selection import Selection

Ints = npt.NDArray[np.int64]
#: Pieces of one axis that are kept.
_KEPT_PIECES = 65_536


class Parts(Protocol):
    """Parts of chunks by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> ChunkPart: ...

    def coords(self, start: int, stop: int) -> Ints:
        """Return the coordinates of the chunks from `start` to `stop`, shape (n, ndim)."""
        ...

    def all_whole(self, start: int, stop: int) -> bool:
        """Tell whether every part from `start` to `stop` is a whole chunk."""
        ...


class PartTable(Sequence[ChunkPart]):
    """The parts that a selection takes, in C order of the chunks; each is made when it is asked for."""

    def __init__(self, grid: RegularChunkGrid, selection: Selection) -> None:
        self._axes = grid.axes(selection)
        self._shape = tuple(axis.count() for axis in self._axes)
        self._count = prod(self._shape)
        #: Pieces of each axis by their place: parts that follow each other share most of them.
        self._pieces: tuple[dict[int, AxisPiece], ...] = tuple({} for _ in self._axes)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < self._count:
            raise IndexError(number)
        pieces = []
        for axis in range(len(self._axes) - 1, -1, -1):
            number, place = divmod(number, self._shape[axis])
            piece = self._pieces[axis].get(place)
            pieces.append(self._made(axis, place) if piece is None else piece)
        pieces.reverse()
        return part_of(tuple(pieces))

    def coords(self, start: int, stop: int) -> Ints:
        """Return the coordinates of the chunks from `start` to `stop`, shape (n, ndim)."""
        made = np.empty((stop - start, len(self._axes)), np.int64)
        numbers = np.arange(start, stop, dtype=np.int64)
        for axis in range(len(self._axes) - 1, -1, -1):
            numbers, places = np.divmod(numbers, self._shape[axis])
            made[:, axis] = self._axes[axis].column(places)
        return made

    def all_whole(self, start: int, stop: int) -> bool:
        """Tell whether every part from `start` to `stop` is a whole chunk; may be pessimistic."""
        return all(axis.all_whole for axis in self._axes)

    def _made(self, axis: int, place: int) -> AxisPiece:
        kept = self._pieces[axis]
        if len(kept) >= _KEPT_PIECES:
            kept.clear()
        piece = self._axes[axis].piece(self._axes[axis].at(place))
        assert piece is not None
        kept[place] = piece
        return piece
