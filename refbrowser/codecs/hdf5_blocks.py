"""Filters of HDF5 that pack a chunk block by block, with the sizes before each: LZ4, and bitshuffle.

The framing of LZ4 is that of the filter 32004 (HDF5Plugin_LZ4.pdf), that of bitshuffle, filter 32008, is told
by its README and by the settings that are kept with an array. Numbers have the highest byte first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from refbrowser.codecs.base import Bytes, DecodeError, Room, as_bytes

#: Bytes of a block where the writer of LZ4 chose none.
_LZ4_BLOCK = 1 << 30
#: Bytes that bitshuffle takes for a block, the fewest elements of one, and what divides their number.
_TARGET, _FEWEST, _EIGHT = 8192, 128, 8
#: How blocks are packed once their bits are shuffled, as settings of the filter number it.
PLAIN, BY_LZ4, BY_ZSTD = 0, 2, 3


@dataclass(frozen=True, slots=True)
class Lz4Blocks:
    """Blocks of LZ4; one that would grow is stored as it is."""

    def encoded(self, room: Room) -> Room:
        """Return the room of the packed bytes."""
        return room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the bytes."""
        total, block = _header(data, room)
        if block == 0 and total:
            raise DecodeError("its blocks have no size")
        made = np.empty(total, np.uint8)
        at = 12
        for start in range(0, total, block or 1):
            stop = min(start + block, total)
            packed, at = _next(data, at)
            if len(packed) == stop - start:
                made[start:stop] = packed
            else:
                made[start:stop] = _unpacked(packed, stop - start, BY_LZ4)
        return made

    def encode(self, data: Bytes) -> Bytes:
        """Return packed bytes: one block."""
        parts = [_told(len(data), 8), _told(min(len(data), _LZ4_BLOCK), 4)]
        for start in range(0, len(data), _LZ4_BLOCK):
            block = data[start : start + _LZ4_BLOCK]
            packed = _packed(block, BY_LZ4)
            packed = packed if len(packed) < len(block) else block
            parts += [_told(len(packed), 4), packed]
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class BitBlocks:
    """Blocks of elements whose first bits stand together, then the second ones; the last few are as they are.

    Attributes
    ----------
    size
        Bytes of an element.
    block
        Elements of a block; 0 where the filter chose it.
    packing
        `PLAIN`, `BY_LZ4` or `BY_ZSTD`.
    """

    size: int
    block: int
    packing: int

    def encoded(self, room: Room) -> Room:
        """Return the room of the packed bytes."""
        return room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the bytes of the elements."""
        if self.packing == PLAIN:
            total, block, at = len(data), self._usual, 0
        else:
            total, length = _header(data, room)
            block, at = length // self.size, 12
        room.check(total)
        if total % self.size or block <= 0 or block % _EIGHT:
            raise DecodeError(f"{total} bytes in blocks of {block} elements of {self.size} bytes")
        made = np.empty(total, np.uint8)
        shuffled, end = np.empty(total, np.uint8), 0
        for start, stop in self._blocks(total, block):
            if self.packing == PLAIN:
                shuffled[start:stop] = data[start:stop]
                at = stop
            else:
                packed, at = _next(data, at)
                shuffled[start:stop] = _unpacked(packed, stop - start, self.packing)
            end = stop
        whole = end // (block * self.size) * block * self.size
        made[:whole] = self._restored(shuffled[:whole], block)
        made[whole:end] = self._restored(shuffled[whole:end], (end - whole) // self.size)
        if len(data) - at != total - end:
            raise DecodeError(f"{len(data) - at} bytes at its end where {total - end} are expected")
        made[end:] = data[at:]
        return made

    def encode(self, data: Bytes) -> Bytes:
        """Return packed bytes."""
        block = self._usual
        parts = [] if self.packing == PLAIN else [_told(len(data), 8), _told(block * self.size, 4)]
        end = 0
        for start, stop in self._blocks(len(data), block):
            shuffled = self._shuffled(data[start:stop])
            packed = shuffled if self.packing == PLAIN else _packed(shuffled, self.packing)
            parts += [packed] if self.packing == PLAIN else [_told(len(packed), 4), packed]
            end = stop
        return np.concatenate([*parts, data[end:], np.empty(0, np.uint8)])

    @property
    def _usual(self) -> int:
        """Elements of a block where the bytes do not say it."""
        return self.block or max(_TARGET // self.size // _EIGHT * _EIGHT, _FEWEST)

    def _blocks(self, total: int, block: int) -> Iterator[tuple[int, int]]:
        """Yield where blocks begin and end: the last one may be shorter, by groups of eight elements."""
        count = total // self.size
        count -= count % _EIGHT
        for start in range(0, count, block):
            yield start * self.size, min(start + block, count) * self.size

    def _restored(self, shuffled: Bytes, block: int) -> Bytes:
        """Return the bytes of elements in blocks of one length."""
        if not len(shuffled):
            return shuffled
        rows = shuffled.reshape(-1, self.size, 8, block // _EIGHT)
        bits = np.unpackbits(rows, axis=-1, bitorder="little")
        return np.packbits(bits.transpose(0, 3, 1, 2), axis=-1, bitorder="little").reshape(-1)

    def _shuffled(self, data: Bytes) -> Bytes:
        bits = np.unpackbits(data.reshape(-1, self.size, 1), axis=-1, bitorder="little")
        return np.packbits(bits.transpose(1, 2, 0), axis=-1, bitorder="little").reshape(-1)


def _header(data: Bytes, room: Room) -> tuple[int, int]:
    """Return the bytes of all, and of a block."""
    if len(data) < 12:
        raise DecodeError("the header is cut off")
    total = int.from_bytes(data[:8].tobytes(), "big")
    room.check(total)
    return total, int.from_bytes(data[8:12].tobytes(), "big")


def _next(data: Bytes, at: int) -> tuple[Bytes, int]:
    """Return the next block as it is packed, and where the one after it begins."""
    if at + 4 > len(data):
        raise DecodeError("a block is missing")
    size = int.from_bytes(data[at : at + 4].tobytes(), "big")
    if size > len(data) - at - 4:
        raise DecodeError("a block is cut off")
    return data[at + 4 : at + 4 + size], at + 4 + size


def _unpacked(packed: Bytes, size: int, packing: int) -> Bytes:
    from refbrowser.codecs.compressors import LZ4, Zstd

    room = Room.of(size)
    if packing == BY_LZ4:
        return LZ4(1).decode(np.concatenate([_told(size, 4)[::-1], packed]), room, None)
    made = Zstd(0, False).decode(packed, room, None)
    room.check(len(made))
    return made


def _packed(data: Bytes, packing: int) -> Bytes:
    from refbrowser.codecs.compressors import LZ4, Zstd

    return LZ4(1).encode(data)[4:] if packing == BY_LZ4 else Zstd(3, False).encode(data)


def _told(number: int, size: int) -> Bytes:
    return as_bytes(number.to_bytes(size, "big"))
