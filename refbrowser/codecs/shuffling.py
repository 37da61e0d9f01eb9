"""The byte shuffle of HDF5: all first bytes of the elements, then all second bytes, and so on."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.base import Bytes, Room, single_threaded_blosc

#: Pieces that are undone at a time: small ones stay in the processor's cache, but each gives the interpreter
#: lock away twice, so that there are about 16 of them.
_LEAST_PORTION, _MOST_PORTION, _PORTIONS = 256 * 1024, 2 * 1024 * 1024, 16
#: The largest element whose shuffle Blosc knows.
_BLOSC_ITEM = 255
_HEADER = struct.Struct("<BBBBIIIIi")
_SHUFFLED, _NOT_SPLIT = 0x01, 0x10


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
        planes, elements = self._planes(data), self._elements(target)
        if self.item_size <= _BLOSC_ITEM:
            _unshuffle(planes, elements)
        else:
            np.copyto(elements, planes.T)
        target[elements.size :] = data[elements.size :]
        return target

    def encode(self, data: Bytes) -> Bytes:
        """Return the bytes in the order of their place in the elements."""
        if self.item_size < 2:
            return data
        target = np.empty(len(data), np.uint8)
        elements = self._elements(data)
        np.copyto(self._planes(target), elements.T)
        target[elements.size :] = data[elements.size :]
        return target

    def _elements(self, data: Bytes) -> npt.NDArray[np.uint8]:
        count = len(data) // self.item_size
        return data[: count * self.item_size].reshape(count, self.item_size)

    def _planes(self, data: Bytes) -> npt.NDArray[np.uint8]:
        count = len(data) // self.item_size
        return data[: count * self.item_size].reshape(self.item_size, count)


def _unshuffle(planes: npt.NDArray[np.uint8], elements: npt.NDArray[np.uint8]) -> None:
    """Fill `elements`, shape (n, item), with the transpose of `planes`.

    Blosc undoes its own shuffle, which is the same, with vector instructions and without the interpreter
    lock: three times as fast as numcodecs' loop, which holds it. So each portion is handed over as a Blosc
    chunk of one block that is shuffled and stored, not compressed.
    """
    blosc = single_threaded_blosc()
    item, count = planes.shape
    step = max(1, min(max(_LEAST_PORTION, planes.size // _PORTIONS), _MOST_PORTION) // item)
    chunk = np.empty(_HEADER.size + min(step, count) * item, np.uint8)
    for start in range(0, count, step):
        portion = planes[:, start : start + step]
        stored = chunk[: _HEADER.size + portion.size]
        _HEADER.pack_into(
            stored.data,
            0,
            *(2, 1, _SHUFFLED | _NOT_SPLIT, item),  # versions of the format, flags, size of an element
            *(portion.size, portion.size, len(stored)),  # bytes of the whole, of a block, of the chunk
            *(_HEADER.size - 4, portion.size),  # where the block begins; its stored size
        )
        np.copyto(stored[_HEADER.size :].reshape(portion.shape), portion)
        blosc.decompress(stored, elements[start : start + step].reshape(-1))
