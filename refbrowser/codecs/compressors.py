"""zstd, lz4, blosc, bz2 and lzma: announced sizes are compared before anything is allocated."""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.codecs import tiff_codes
from refbrowser.codecs.base import Bytes, DecodeError, Room, as_bytes, single_threaded_blosc
from refbrowser.limits import LIMITS

#: Streams one after the other in one chunk; each costs a copy of what follows it.
_STREAMS = 1_000
#: Decoded bytes up to which a copy costs less than how numcodecs makes its decompressor.
_SMALL_FRAME = 64 * 1024


@dataclass(frozen=True, slots=True)
class Zstd:
    """One Zstandard frame (RFC 8878)."""

    level: int
    checksum: bool

    def encoded(self, room: Room) -> Room:
        """Return the room of the compressed bytes."""
        return room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the decompressed bytes; nothing may follow the frame."""
        from numcodecs import zstd

        from refbrowser.zstd import ZstdError, announced_size

        try:
            announced = announced_size(data.data)
            if announced is None:
                return _whole_frame(data, room.most)
            room.check(announced)
            if announced <= _SMALL_FRAME:
                return _whole_frame(data, announced)
        except ZstdError as error:
            raise DecodeError(str(error)) from None
        target = np.empty(announced, np.uint8) if out is None else out
        zstd.decompress(data, target)
        return target

    def encode(self, data: Bytes) -> Bytes:
        """Return one frame that tells its size."""
        from refbrowser.zstd import compressed

        return as_bytes(compressed(data.data, self.level, checksum=self.checksum))


def _whole_frame(data: Bytes, most: int) -> Bytes:
    """Return what a frame holds, of which no more than one byte above `most` is made."""
    from refbrowser.zstd import ZstdDecompressor

    decoder = ZstdDecompressor()
    made = decoder.decompress(data.data, most + 1)
    if len(made) > most:
        raise DecodeError(f"more than {most} bytes")
    if not decoder.eof:
        raise DecodeError("the frame ends early")
    if decoder.unused_data:
        raise DecodeError("there are bytes after the frame")
    return as_bytes(made)


@dataclass(frozen=True, slots=True)
class LZ4:
    """One LZ4 block after its decoded size in four bytes, as numcodecs writes it."""

    acceleration: int

    def encoded(self, room: Room) -> Room:
        """Return the room of the compressed bytes."""
        return room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the decompressed bytes."""
        from numcodecs import lz4

        if len(data) < 4:
            raise DecodeError("the header is cut off")
        announced = int.from_bytes(data[:4].tobytes(), "little")
        room.check(announced)
        target = np.empty(announced, np.uint8) if out is None else out
        lz4.decompress(data, target)
        return target

    def encode(self, data: Bytes) -> Bytes:
        """Return the compressed bytes."""
        from numcodecs import lz4

        return as_bytes(lz4.compress(data, self.acceleration))


@dataclass(frozen=True, slots=True)
class Blosc:
    """One Blosc 1 buffer.

    Attributes
    ----------
    item_size
        Bytes of an element for the shuffle.
    """

    cname: str
    clevel: int
    shuffle: int
    blocksize: int
    item_size: int

    def encoded(self, room: Room) -> Room:
        """Return the room of the compressed bytes."""
        return room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the decompressed bytes; the header's sizes must be right."""
        blosc = single_threaded_blosc()
        if len(data) < 16:
            raise DecodeError("the header is cut off")
        announced, _, stored = (int(size) for size in data[4:16].view("<u4"))
        if stored != len(data):
            raise DecodeError(f"the header announces {stored} bytes, there are {len(data)}")
        room.check(announced)
        if announced == 0:
            return np.empty(0, np.uint8)
        target = np.empty(announced, np.uint8) if out is None else out
        blosc.decompress(data, target)
        return target

    def encode(self, data: Bytes) -> Bytes:
        """Return the compressed bytes."""
        blosc = single_threaded_blosc()
        whole = self.item_size > 0 and len(data) % self.item_size == 0
        # numcodecs takes the element's size from the array.
        elements = data.view(f"V{self.item_size}") if whole else data
        packed = blosc.compress(elements, self.cname.encode(), self.clevel, self.shuffle, self.blocksize)
        return as_bytes(packed)


@dataclass(frozen=True, slots=True)
class BZ2:
    """The bzip2 format."""

    level: int

    def encoded(self, room: Room) -> Room:
        """Return the room of the compressed bytes."""
        return room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the decompressed bytes of all streams."""
        return _streams(bz2.BZ2Decompressor, data, room)

    def encode(self, data: Bytes) -> Bytes:
        """Return the compressed bytes."""
        return as_bytes(bz2.compress(data.data, self.level))


@dataclass(frozen=True, slots=True)
class Runs:
    """A compression of TIFF, by its name in `tiff_codes`; it has no header."""

    name: str

    def encoded(self, room: Room) -> Room:
        """Return the room of the compressed bytes: of noise they are half as many again."""
        return Room(None, min(room.most + room.most // 2 + 65_536, LIMITS.chunk_size))

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the decompressed bytes."""
        made: Bytes = getattr(tiff_codes, f"{self.name}_decoded")(data, room.most + 1)
        return made

    def encode(self, data: Bytes) -> Bytes:
        """Return the compressed bytes."""
        return as_bytes(getattr(tiff_codes, f"{self.name}_encoded")(data))


@dataclass(frozen=True, slots=True)
class LZMA:
    """The xz, lzma and raw formats of the lzma library."""

    container: int
    check: int
    preset: int | None
    filters: tuple[dict[str, int], ...] | None

    def encoded(self, room: Room) -> Room:
        """Return the room of the compressed bytes."""
        return room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the decompressed bytes of all streams."""
        if self.container != lzma.FORMAT_RAW:
            return _streams(
                lambda: lzma.LZMADecompressor(self.container, memlimit=LIMITS.decoding_memory), data, room
            )
        decoder = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=self._chain())
        try:
            return as_bytes(decoder.decompress(data.data, room.most + 1))
        except lzma.LZMAError as error:
            raise DecodeError(str(error)) from None

    def encode(self, data: Bytes) -> Bytes:
        """Return the compressed bytes."""
        packed = lzma.compress(data.data, self.container, self.check, self.preset, self._chain())
        return as_bytes(packed)

    def _chain(self) -> Sequence[dict[str, int]] | None:
        return None if self.filters is None else list(self.filters)


def _streams(start: Callable[[], Any], data: Bytes, room: Room) -> Bytes:
    """Return at most ``room.most + 1`` bytes from streams that follow each other."""
    parts: list[bytes] = []
    rest: Any = data
    left = room.most + 1
    for _ in range(_STREAMS):
        stream = start()
        while not stream.eof:
            try:
                parts.append(stream.decompress(rest, left))
            except (OSError, lzma.LZMAError, ValueError) as error:
                raise DecodeError(str(error)) from None
            rest = b""
            left -= len(parts[-1])
            if left <= 0:
                raise DecodeError(f"more than {room.most} bytes")
            if stream.needs_input and not stream.eof:
                raise DecodeError("the stream ends early")
        rest = stream.unused_data
        if not rest:
            return as_bytes(b"".join(parts))
    raise DecodeError(f"more than {_STREAMS} streams")
