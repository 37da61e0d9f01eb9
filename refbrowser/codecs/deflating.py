"""zlib and gzip: libdeflate where the size is known, the standard library where it is only bounded."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from refbrowser.codecs.base import Bytes, DecodeError, Room, as_bytes

#: Members of one gzip stream; each costs a copy of what follows it.
_MEMBERS = 1_000
_ZLIB_WINDOW, _GZIP_WINDOW = 15, 31


@dataclass(frozen=True, slots=True)
class Zlib:
    """The zlib format (RFC 1950): deflate with an Adler-32 checksum."""

    level: int

    def encoded(self, room: Room) -> Room:
        """Return the room of the compressed bytes."""
        return room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the decompressed bytes; the checksum must be the last four bytes of `data`."""
        import deflate

        if room.exact and len(data) >= 8:
            try:
                plain = deflate.zlib_decompress(data, room.exact)
            except deflate.DeflateError:
                return inflate(data, room, _ZLIB_WINDOW)
            # libdeflate does not say where the stream ended: bytes that follow it are found by this.
            if int.from_bytes(data[-4:].tobytes(), "big") == deflate.adler32(plain):
                return as_bytes(plain)
        return inflate(data, room, _ZLIB_WINDOW)

    def encode(self, data: Bytes) -> Bytes:
        """Return the compressed bytes."""
        import deflate

        if self.level < 1 or not len(data):
            return as_bytes(zlib.compress(data.data, self.level))
        return as_bytes(deflate.zlib_compress(data, self.level))


@dataclass(frozen=True, slots=True)
class GZip:
    """The gzip format (RFC 1952): one or more members with a CRC-32 each."""

    level: int

    def encoded(self, room: Room) -> Room:
        """Return the room of the compressed bytes."""
        return room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the decompressed bytes of all members."""
        import deflate

        # The last member's size stands at the end; with one member it is the whole.
        size = int.from_bytes(data[-4:].tobytes(), "little")
        if room.exact and len(data) >= 18 and size == room.exact & 0xFFFFFFFF:
            try:
                plain = deflate.gzip_decompress(data, room.exact)
            except deflate.DeflateError:
                return inflate(data, room, _GZIP_WINDOW)
            if int.from_bytes(data[-8:-4].tobytes(), "little") == deflate.crc32(plain):
                return as_bytes(plain)
        return inflate(data, room, _GZIP_WINDOW)

    def encode(self, data: Bytes) -> Bytes:
        """Return the compressed bytes, one member without a time stamp."""
        import deflate

        if self.level < 1 or not len(data):
            packer: Any = zlib.compressobj(self.level, wbits=_GZIP_WINDOW)
            return as_bytes(packer.compress(data) + packer.flush())
        return as_bytes(deflate.gzip_compress(data, self.level))


def inflate(data: Bytes, room: Room, window: int) -> Bytes:
    """Return at most ``room.most + 1`` bytes decompressed by the standard library.

    Raises
    ------
    DecodeError
        The stream is damaged or ends early, or something else follows it.
    """
    parts: list[bytes] = []
    rest: Any = data.data
    left = room.most + 1
    for _ in range(_MEMBERS):
        stream = zlib.decompressobj(window)
        try:
            parts.append(stream.decompress(rest, left))
        except zlib.error as error:
            raise DecodeError(str(error)) from None
        left -= len(parts[-1])
        if left <= 0:
            raise DecodeError(f"more than {room.most} bytes")
        if not stream.eof:
            raise DecodeError("the stream ends early")
        rest = stream.unused_data
        if not rest:
            return as_bytes(b"".join(parts))
        if window == _ZLIB_WINDOW:
            raise DecodeError(f"{len(rest)} bytes follow the stream")
    raise DecodeError(f"more than {_MEMBERS} members")


def zlib_flaw(portions: Iterable[bytes | memoryview], most: int) -> str:
    """Return what is wrong with a zlib stream (RFC 1950), however much it gives; empty where nothing is.

    Parameters
    ----------
    portions
        Its bytes, a few at a time: what these give is held at once. Bytes that follow it are not looked at.
    most
        So many bytes it may give.
    """
    stream, made = zlib.decompressobj(), 0
    for portion in portions:
        try:
            made += len(stream.decompress(portion))
        except zlib.error as error:
            return str(error)
        if made > most:
            return f"more than {most} bytes"
        if stream.eof:
            return ""
    return "the stream ends early"
