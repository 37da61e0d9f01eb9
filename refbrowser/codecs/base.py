"""What a codec is: bytes to bytes, with the size of the result known or bounded beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.limits import LIMITS

#: A run of bytes, one-dimensional and contiguous.
Bytes = npt.NDArray[np.uint8]
DType = np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Room:
    """How many bytes there will be: `exact` where that is known, never more than `most`."""

    exact: int | None
    most: int

    @classmethod
    def of(cls, size: int) -> Room:
        """Return the room for exactly `size` bytes."""
        return cls(size, size)

    def compressed(self) -> Room:
        """Return the room that the compressed form may take: no compressor adds an eighth."""
        return Room(None, min(self.most + self.most // 8 + 65_536, LIMITS.chunk_size))

    def check(self, size: int) -> None:
        """Raise `DecodeError` where `size` does not fit."""
        if self.exact is not None and size != self.exact:
            raise DecodeError(f"{size} bytes where {self.exact} are expected")
        if size > self.most:
            raise DecodeError(f"more than {self.most} bytes")


class DecodeError(ValueError):
    """Bytes are not what a codec expects; becomes an error with the codec's name."""


class ByteCodec(Protocol):
    """One step from bytes to bytes. Instances are immutable and shared between threads.

    One that makes elements of another type has that type as `stored`, which is None where it makes none.
    """

    def encoded(self, room: Room) -> Room:
        """Return the room of what `encode` makes of `room` bytes.

        Raises
        ------
        RefbrowserError
            `META`: the codec cannot take that many bytes.
        """
        ...

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the decoded bytes: in `out` where it is given and of use, else in an array of their own.

        Never more than ``room.most + 1`` bytes are made. `out` is given only where `room.exact` is known,
        and holds that many. The caller compares the size with `room`.
        """
        ...

    def encode(self, data: Bytes) -> Bytes:
        """Return the encoded bytes."""
        ...


def as_bytes(data: Any) -> Bytes:
    """Return a contiguous buffer as bytes, without a copy."""
    return np.frombuffer(data, np.uint8)


def flat_bytes(values: npt.NDArray[Any]) -> Bytes:
    """Return a contiguous array as bytes, without a copy."""
    return values.reshape(-1).view(np.uint8)


@cache
def single_threaded_blosc() -> Any:
    """Return numcodecs' Blosc, set to one thread."""
    from numcodecs import blosc

    # The pool decodes several chunks at once: threads inside one only take turns.
    blosc.set_nthreads(1)
    return blosc
