"""The byte shuffle of HDF5: all first bytes of the elements, then all second bytes, and so on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.codecs.base import Bytes, Room

#: numcodecs' loops hold the interpreter lock: one call works on this many bytes, about a millisecond.
_PIECE = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Shuffle of elements of `item_size` bytes; what is left at the end stays as it is."""

    item_size: int

    def encoded(self, room: Room) -> Room:
        """Return `room`: the size does not change."""
        return room

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the bytes in the order of the elements."""
        if self.item_size < 2:
            return data
        room.check(len(data))
        target = np.empty(len(data), np.uint8) if out is None else out
        count = len(data) // self.item_size
        planes = data[: count * self.item_size].reshape(self.item_size, count)
        elements = target[: count * self.item_size].reshape(count, self.item_size)
        for start, stop in self._pieces(count):
            self._loops().decode(np.ascontiguousarray(planes[:, start:stop]), elements[start:stop])
        target[elements.size :] = data[elements.size :]
        return target

    def encode(self, data: Bytes) -> Bytes:
        """Return the bytes in the order of their place in the elements."""
        if self.item_size < 2:
            return data
        target = np.empty(len(data), np.uint8)
        count = len(data) // self.item_size
        elements = data[: count * self.item_size].reshape(count, self.item_size)
        planes = target[: count * self.item_size].reshape(self.item_size, count)
        for start, stop in self._pieces(count):
            piece = np.empty((self.item_size, stop - start), np.uint8)
            self._loops().encode(elements[start:stop], piece)
            planes[:, start:stop] = piece
        target[elements.size :] = data[elements.size :]
        return target

    def _pieces(self, count: int) -> list[tuple[int, int]]:
        step = max(1, _PIECE // self.item_size)
        return [(start, min(start + step, count)) for start in range(0, count, step)]

    def _loops(self) -> Any:
        from numcodecs import Shuffle as Loops

        return Loops(self.item_size)
