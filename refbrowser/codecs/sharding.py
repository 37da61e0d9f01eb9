"""Shards of Zarr v3: many inner chunks in one object, found by an index in it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.base import Bytes, Room, flat_bytes
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.selection import Selection

#: Offset and length of an inner chunk that is not stored.
_EMPTY = 2**64 - 1
#: A shard may be so many times as large as all its chunks: writers leave what they replaced where it lies.
_DEAD = 4


class ChunkCodec(Protocol):
    """What decodes and encodes one inner chunk or the index: a pipeline."""

    @property
    def stored_most(self) -> int:
        """Bytes of the largest encoded array."""
        ...

    def decode(self, data: Any, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Return the array in `data`."""
        ...

    def encode(self, chunk: npt.NDArray[Any]) -> bytes:
        """Return the bytes of `chunk`."""
        ...


@dataclass(frozen=True, slots=True)
class ShardLayout:
    """Where the inner chunks of a shard are.

    Attributes
    ----------
    grid
        Inner chunks in the shard.
    inner
        The pipeline of an inner chunk.
    index
        The pipeline of the index.
    index_size
        Bytes of the encoded index.
    index_at_end
        Where the index stands.
    fill_value
        Of inner chunks that are not stored.
    """

    grid: RegularChunkGrid
    inner: ChunkCodec
    index: ChunkCodec
    index_size: int
    index_at_end: bool
    fill_value: Any

    @property
    def stored_most(self) -> int:
        """Bytes of the largest shard: its index and chunks, and chunks that others replaced."""
        return self.index_size + _DEAD * self.grid.size * self.inner.stored_most

    def index_range(self, length: int) -> tuple[int, int]:
        """Return the first byte of the index in a shard of `length` bytes, and the byte after it.

        Raises
        ------
        RefbrowserError
            `DECODE`: the shard is too short.
        """
        if length < self.index_size:
            raise _damaged(f"{length} bytes cannot hold the index of {self.index_size} bytes")
        return (length - self.index_size, length) if self.index_at_end else (0, self.index_size)

    def inner_ranges(self, index: Any, length: int) -> npt.NDArray[np.int64]:
        """Return offset and length of each inner chunk in the shard.

        Parameters
        ----------
        index
            The bytes of `index_range`.
        length
            Bytes of the shard.

        Returns
        -------
        array
            Shape (number of inner chunks, 2), C order; (-1, 0) where a chunk is not stored.

        Raises
        ------
        RefbrowserError
            `DECODE`: the index is damaged, or points outside the shard.
        """
        table = self.index.decode(index).reshape(-1, 2).astype(np.uint64)
        stored = ~(table == _EMPTY).all(axis=1)
        offsets, sizes = table[:, 0], table[:, 1]
        inside = (offsets <= length) & (sizes <= length)
        # Both are small here, so that the sum cannot wrap.
        inside &= np.where(inside, offsets, 0) + np.where(inside, sizes, 0) <= length
        if not inside[stored].all():
            raise _damaged("the index points outside the shard")
        ranges = np.full((len(table), 2), (-1, 0), np.int64)
        ranges[stored] = table[stored].astype(np.int64)
        return ranges

    def decode(self, data: Bytes, target: npt.NDArray[Any]) -> None:
        """Fill `target`, of the shard's shape, from the bytes of a whole shard."""
        start, stop = self.index_range(len(data))
        ranges = self.inner_ranges(data[start:stop], len(data))
        for part, (offset, size) in zip(self._parts(), ranges.tolist(), strict=True):
            if offset < 0:
                target[part.target] = filled((), target.dtype, self.fill_value)[()]
            else:
                place = target[part.target]
                decoded = self.inner.decode(data[offset : offset + size], place)
                if decoded is not place:
                    place[...] = decoded

    def encode(self, values: npt.NDArray[Any]) -> Bytes:
        """Return the bytes of a shard; inner chunks of fill values only are not stored."""
        count = self.grid.size
        table = np.full((count, 2), _EMPTY, np.uint64)
        chunks: list[bytes] = []
        at = 0 if self.index_at_end else self.index_size
        for row, part in enumerate(self._parts()):
            chunk = np.ascontiguousarray(values[part.target])
            if is_filled(chunk, self.fill_value):
                continue
            chunks.append(self.inner.encode(chunk))
            table[row] = at, len(chunks[-1])
            at += len(chunks[-1])
        index = self.index.encode(table.reshape(*self.grid.grid_shape, 2))
        body = [*chunks, index] if self.index_at_end else [index, *chunks]
        return np.frombuffer(b"".join(body), np.uint8)

    def _parts(self) -> Any:
        return self.grid.parts(Selection.whole(self.grid.shape))


@dataclass(frozen=True, slots=True)
class ShardBytes:
    """Shards as a step from bytes to bytes: codecs before them need all elements of a shard at once.

    Attributes
    ----------
    layout
        Of the shard.
    dtype
        Of the elements that it stores.
    """

    layout: ShardLayout
    dtype: np.dtype[Any]

    stored: ClassVar[None] = None

    def encoded(self, room: Room) -> Room:
        """Return the room of a shard."""
        return Room(None, min(self.layout.stored_most, LIMITS.chunk_size))

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the elements of a shard."""
        values = np.empty(self.layout.grid.shape, self.dtype)
        self.layout.decode(data, values)
        return flat_bytes(values)

    def encode(self, data: Bytes) -> Bytes:
        """Return a shard of elements."""
        return self.layout.encode(data.view(self.dtype).reshape(self.layout.grid.shape))


def _damaged(message: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.DECODE, f"codec 'sharding_indexed' cannot decode: {message}")


def filled(shape: tuple[int, ...], dtype: np.dtype[Any], fill_value: Any) -> npt.NDArray[Any]:
    """Return an array of the fill value; of zeros, or of empty text, where there is none."""
    if fill_value is None:
        return np.full(shape, "", dtype) if dtype.hasobject else np.zeros(shape, dtype)
    result = np.empty(shape, dtype)
    if dtype.hasobject:
        for place in range(prod(shape)):
            result.reshape(-1)[place] = fill_value
    else:
        result[...] = fill_value
    return result


def is_filled(chunk: npt.NDArray[Any], fill_value: Any) -> bool:
    """Whether every element is the fill value, bit by bit; False for objects and where there is none."""
    if fill_value is None or chunk.dtype.hasobject:
        return False
    pattern = filled((1,), chunk.dtype, fill_value).tobytes()
    return chunk.tobytes() == pattern * chunk.size
