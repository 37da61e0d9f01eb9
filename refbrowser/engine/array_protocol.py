"""What lets numpy, Dask and loops take an array that is read: its sizes, its rows, all of its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.model.grid import ChunkGrid
from refbrowser.model.selection import Selection

#: Bytes of rows that a loop over an array reads at once, unless one row has more.
BLOCK = 64 * 1024 * 1024


class ArrayProtocol(ABC):
    """An array with a shape and a type whose values are read when they are asked for."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Number of elements along each dimension."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any] | None:
        """Type of the elements as stored; None when it is not known."""

    @property
    @abstractmethod
    def _grid(self) -> ChunkGrid | None:
        """The chunks in which it is read; None where it has none."""

    @abstractmethod
    def _values(self, selection: Selection) -> npt.NDArray[Any]:
        """Return the values of a selection."""

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory, if they were read; of texts and rows, of what refers to them."""
        return self.size * (0 if self.dtype is None else self.dtype.itemsize)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __bool__(self) -> bool:
        # Its truth is not that of its values, which would have to be read.
        return True

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows along the first dimension; those of the same chunks are read together."""
        rows = len(self)
        start = 0
        while start < rows:
            stop = self._block_end(start)
            yield from self._values(Selection.from_index(slice(start, stop), self.shape))
            start = stop

    def _block_end(self, start: int) -> int:
        """Return where the rows end that are read together with the one at `start`."""
        rows = len(self)
        most = start + max(1, BLOCK // max(1, self.nbytes // rows))
        grid = self._grid
        if grid is None:
            return min(rows, most)
        axis = grid.dimensions[0]
        chunk = axis.chunk_of(start)
        return min(rows, most, int(axis.start(chunk)) + int(axis.extent(chunk)))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return all values; `numpy.asarray` and the functions of numpy ask for them.

        Raises
        ------
        ValueError
            `copy` is False: values that are read are always a copy.
        RefbrowserError
            A chunk could not be read.
        """
        if copy is False:
            raise ValueError("values are read, so an array without a copy cannot be given")
        values = self._values(Selection.whole(self.shape))
        return values if dtype is None else values.astype(dtype, copy=False)

    def astype(self, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return all values in another type."""
        return np.asarray(self).astype(dtype)
