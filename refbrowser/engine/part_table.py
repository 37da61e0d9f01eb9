"""The parts of chunks that a selection takes, numbered: each is made when it is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.model.grid import ChunkPart, RegularChunkGrid
from refbrowser.model.selection import Selection

Ints = npt.NDArray[np.int64]
#: Above this, sums of indices are made of Python integers.
_SAFE = 2**62


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


class ListedParts:
    """Parts that were made beforehand."""

    def __init__(self, parts: Sequence[ChunkPart]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, number: int) -> ChunkPart:
        return self._parts[number]

    def coords(self, start: int, stop: int) -> Ints:
        """Return the coordinates of the chunks from `start` to `stop`, shape (n, ndim)."""
        rows = [part.coords for part in self._parts[start:stop]]
        return np.array(rows, np.int64).reshape(stop - start, -1)

    def all_whole(self, start: int, stop: int) -> bool:
        """Tell whether every part from `start` to `stop` is a whole chunk."""
        return all(part.whole for part in self._parts[start:stop])


class PartTable:
    """The parts that a selection takes, in C order of the chunks; a few numbers for each axis."""

    def __init__(self, grid: RegularChunkGrid, selection: Selection) -> None:
        self._axes = [
            _Axis(taken, side, size)
            for taken, side, size in zip(selection.axes, grid.chunk_shape, grid.shape, strict=True)
        ]
        self._shape = tuple(len(axis.at) for axis in self._axes)

    def __len__(self) -> int:
        return prod(self._shape)

    def __getitem__(self, number: int) -> ChunkPart:
        pieces = []
        for axis, count in zip(reversed(self._axes), reversed(self._shape), strict=True):
            number, place = divmod(number, count)
            pieces.append(axis.piece(place))
        pieces.reverse()
        if not pieces:
            return ChunkPart((), (), (), True)
        coords, inside, target, whole = zip(*pieces, strict=True)
        return ChunkPart(coords, inside, target, False not in whole)

    def coords(self, start: int, stop: int) -> Ints:
        """Return the coordinates of the chunks from `start` to `stop`, shape (n, ndim)."""
        if not self._axes:
            return np.zeros((stop - start, 0), np.int64)
        places = np.unravel_index(np.arange(start, stop), self._shape)
        columns = [axis.at[place] for axis, place in zip(self._axes, places, strict=True)]
        return np.stack(columns, axis=1).astype(np.int64)

    def all_whole(self, start: int, stop: int) -> bool:
        """Tell whether every part from `start` to `stop` is a whole chunk; may be pessimistic."""
        return all(axis.all_whole for axis in self._axes)


Piece = tuple[int, slice, slice, bool]


class _Axis:
    """One axis of a selection over chunks of `side`."""

    def __init__(self, taken: range, side: int, size: int) -> None:
        at = RegularChunkGrid((size,), (side,)).coords(Selection((taken,)))[:, 0]
        kind = np.int64 if size + side < _SAFE else object
        low = at.astype(kind) * side
        start, step = taken.start, taken.step
        first = np.maximum(-((start - low) // step), 0)
        stop = np.minimum(-((start - low - side) // step), len(taken))
        held = stop > first
        self.at = at[held]
        self._first, self._stop = first[held], stop[held]
        self._begin = start + self._first * step - low[held]
        self._step, self._side = step, side
        self.all_whole = bool(np.all(self._stop - self._first == side))
        self._made: list[Piece | None] = [None] * len(self.at)

    def piece(self, place: int) -> Piece:
        """Return chunk number, what is taken of it, where that goes, and whether it is all of it."""
        piece = self._made[place]
        if piece is None:
            first, stop, begin = int(self._first[place]), int(self._stop[place]), int(self._begin[place])
            count = stop - first
            end = begin + (count - 1) * self._step + 1
            inside = slice(begin, end, self._step if count > 1 else 1)
            piece = (int(self.at[place]), inside, slice(first, stop), count == self._side)
            self._made[place] = piece
        return piece
