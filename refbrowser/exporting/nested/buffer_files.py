"""Files that buffers grow in, before the chunks of a store are made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.pieces import PieceState
from refbrowser.exporting.block_reading import BlockState
from refbrowser.exporting.blocks import Box
from refbrowser.exporting.nested.growing import BufferName


class BufferFiles:
    """The buffers of one nested array, each in a file of its plain elements.

    Parameters
    ----------
    folder
        Made here, and empty.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        #: Elements of each buffer so far.
        self.lengths: dict[str, int] = {}

    def put(self, name: BufferName, values: npt.NDArray[Any]) -> None:
        """Add elements to a buffer.

        Raises
        ------
        OSError
            They cannot be written.
        """
        # Buffers may be more than files that can be open.
        with self._path(name).open("ab", buffering=0) as file:
            left = np.ascontiguousarray(values, name.dtype).view(np.uint8).data
            while left:
                left = left[file.write(left) :]
        self.lengths[name.name] = self.lengths.get(name.name, 0) + len(values)

    def spool(self, name: BufferName, dtype: np.dtype[Any], unit: tuple[int, ...]) -> BufferSpool:
        """Return what gives the bytes of a buffer as elements of a type; `unit` is encoded by itself."""
        return BufferSpool(self._path(name), dtype, unit)

    def _path(self, name: BufferName) -> Path:
        return self._folder / name.name


class BufferSpool:
    """Gives blocks of a buffer to what encodes chunks; all of it is there."""

    def __init__(self, path: Path, dtype: np.dtype[Any], unit: tuple[int, ...]) -> None:
        self._path = path
        self._dtype = dtype
        self._unit = unit

    def take(self, box: Box) -> tuple[npt.NDArray[Any], BlockState]:
        """Return the elements of a block, zero over the edge of the buffer.

        Raises
        ------
        OSError
            They cannot be read.
        """
        (part,) = box
        values = np.zeros(part.stop - part.start, self._dtype)
        with self._path.open("rb") as file:
            file.seek(part.start * self._dtype.itemsize)
            file.readinto(values.view(np.uint8).data)
        state = BlockState(box, self._unit)
        state.note((slice(0, len(values)),), PieceState.DONE, None)
        return values, state
