"""Codecs of Zarr v3 that are made of others: those that may be left out chunk by chunk, and blocks of N5."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from refbrowser.codecs.base import ByteCodec, Bytes, DecodeError, DType, Room
from refbrowser.limits import LIMITS


@dataclass(frozen=True, slots=True)
class Conditional:
    """Codecs of which a header says which ones were applied to a chunk (zarr-extensions, codecs/conditional).

    Attributes
    ----------
    header
        Bytes before the data: a bit for each codec, the first one's the lowest.
    """

    codecs: tuple[ByteCodec, ...]
    header: int

    def encoded(self, room: Room) -> Room:
        """Return the room of the most that they make of `room`."""
        most = room.most
        for codec in self.codecs:
            most = max(most, codec.encoded(Room(None, most)).most)
        return Room(None, most + self.header)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the bytes before the codecs that were applied."""
        if len(data) < self.header:
            raise DecodeError(f"{len(data)} bytes, which is less than the header of {self.header}")
        mask = int.from_bytes(data[: self.header].tobytes(), "little")
        if mask >> len(self.codecs):
            raise DecodeError(f"its header names more than the {len(self.codecs)} codecs that there are")
        applied = [codec for place, codec in enumerate(self.codecs) if mask >> place & 1]
        # What one gives is what the ones before it made of a chunk.
        rooms = [room]
        for codec in applied[:-1]:
            rooms.append(codec.encoded(rooms[-1]))
        made = data[self.header :]
        for codec, between in zip(reversed(applied), reversed(rooms[: len(applied)]), strict=True):
            made = codec.decode(made, between, None)
            between.check(len(made))
        return made

    def encode(self, data: Bytes) -> Bytes:
        """Return what all codecs make of the bytes, or these where that is not less."""
        made = data
        for codec in self.codecs:
            made = codec.encode(made)
        mask = (1 << len(self.codecs)) - 1
        if len(made) >= len(data):
            made, mask = data, 0
        header = np.frombuffer(mask.to_bytes(self.header, "little"), np.uint8)
        return np.concatenate([header, made])


@dataclass(frozen=True, slots=True)
class N5Blocks:
    """Blocks of N5, which say their shape; the first dimension is the fastest (zarr-extensions, n5_default).

    Attributes
    ----------
    shape
        Of a chunk.
    dtype
        Of the elements, which are stored with the highest byte first.
    compressor
        What packs them; None where nothing does.
    """

    shape: tuple[int, ...]
    dtype: DType
    compressor: ByteCodec | None

    stored: ClassVar[None] = None

    def encoded(self, room: Room) -> Room:
        """Return the room of a block."""
        packed = room if self.compressor is None else self.compressor.encoded(room)
        # A block at the edge may have fewer elements.
        return Room(None, packed.most + self._header)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the elements of a chunk in C order; behind the block they are zeros."""
        sides = self.shape_of(data)
        size = prod(sides) * self.dtype.itemsize
        if size > LIMITS.chunk_size:
            raise DecodeError(f"a block of {sides} where there is room for {self.shape}")
        packed = data[self._header :]
        if self.compressor is not None:
            packed = self.compressor.decode(packed, Room.of(size), None)
        Room.of(size).check(len(packed))
        block = packed.view(self.dtype.newbyteorder(">")).reshape(sides[::-1]).T
        made = np.zeros(self.shape, self.dtype)
        inside = tuple(slice(0, min(pair)) for pair in zip(sides, self.shape, strict=True))
        made[inside] = block[inside]
        return made.reshape(-1).view(np.uint8)

    def shape_of(self, data: Bytes) -> tuple[int, ...]:
        """Return the shape that a block says itself to have; raises `DecodeError` where it is none."""
        head = np.frombuffer(data[: self._header].tobytes(), ">u2")
        if len(data) < self._header or head[0] or head[1] != len(self.shape):
            raise DecodeError(f"it is no block of N5 in default mode with {len(self.shape)} dimensions")
        return tuple(np.frombuffer(data[4 : self._header].tobytes(), ">u4").tolist())

    def encode(self, data: Bytes) -> Bytes:
        """Return a whole block."""
        values = data.view(self.dtype).reshape(self.shape).astype(self.dtype.newbyteorder(">"))
        packed = np.ascontiguousarray(values.T).reshape(-1).view(np.uint8)
        if self.compressor is not None:
            packed = self.compressor.encode(packed)
        head = np.array([0, len(self.shape)], ">u2").tobytes() + np.array(self.shape, ">u4").tobytes()
        return np.concatenate([np.frombuffer(head, np.uint8), packed])

    @property
    def _header(self) -> int:
        return 4 + 4 * len(self.shape)
