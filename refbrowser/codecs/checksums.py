"""Four bytes beside the data that tell whether it was damaged; always verified."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.codecs.base import Bytes, DecodeError, Room

_SIZE = 4


@dataclass(frozen=True, slots=True)
class Checksum:
    """A 32-bit checksum, little-endian, before or after the bytes.

    Attributes
    ----------
    compute
        The checksum of bytes.
    at_end
        Where it stands.
    """

    compute: Callable[[Any], int]
    at_end: bool

    def encoded(self, room: Room) -> Room:
        """Return `room` with the checksum."""
        return Room(None if room.exact is None else room.exact + _SIZE, room.most + _SIZE)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the bytes without the checksum."""
        if len(data) < _SIZE:
            raise DecodeError("the checksum is cut off")
        stored = data[-_SIZE:] if self.at_end else data[:_SIZE]
        plain = data[:-_SIZE] if self.at_end else data[_SIZE:]
        wanted, found = int.from_bytes(stored.tobytes(), "little"), self.compute(plain)
        if wanted != found:
            raise DecodeError(f"the checksum is {found:#010x}, stored is {wanted:#010x}")
        return plain

    def encode(self, data: Bytes) -> Bytes:
        """Return the bytes with the checksum."""
        stored = np.frombuffer(self.compute(data).to_bytes(_SIZE, "little"), np.uint8)
        return np.concatenate([data, stored] if self.at_end else [stored, data])


def crc32(data: Bytes) -> int:
    """Return the CRC-32 of zlib."""
    return zlib.crc32(data.data)


def adler32(data: Bytes) -> int:
    """Return the Adler-32 of zlib."""
    return zlib.adler32(data.data)


def crc32c(data: Bytes) -> int:
    """Return the CRC-32 with Castagnoli's polynomial (RFC 3720)."""
    import google_crc32c

    frozen = data.view()
    frozen.flags.writeable = False  # The library takes nothing else.
    return int(google_crc32c.value(frozen))


def fletcher32(data: Bytes) -> int:
    """Return the Fletcher checksum of HDF5."""
    from numcodecs import Fletcher32

    if not len(data):
        return 0
    encoded: bytes = Fletcher32().encode(data)
    return int.from_bytes(encoded[-_SIZE:], "little")


def lookup3(data: Bytes, seed: int) -> int:
    """Return Jenkins' lookup3 checksum of HDF5's metadata."""
    from numcodecs.jenkins import jenkins_lookup3

    return int(jenkins_lookup3(data, seed))
