"""What a codec is: bytes to bytes, with the size of the result known or bounded beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model import dtypes

#: A run of bytes, one-dimensional and contiguous.
Bytes = npt.NDArray[np.uint8]


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
    """One step from bytes to bytes. Instances are immutable and shared between threads."""

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


class Settings:
    """The configuration of one codec, read with checks.

    Every method takes the name of a member and what stands for it when it is absent.

    Raises
    ------
    RefbrowserError
        `META`, by every method: the member is not of the kind asked for.
    """

    def __init__(self, codec: str, values: Mapping[str, Any]) -> None:
        self.codec = codec
        self.values = values

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return an integer between `low` and `high`, both included."""
        value = self.values.get(name)
        if value is None:
            return default
        if type(value) is not int or not low <= value <= high:
            raise self.wrong(name, f"an integer from {low} to {high}")
        return value

    def number(self, name: str) -> float:
        """Return a finite number; there is no default."""
        value = self.values.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            raise self.wrong(name, "a finite number")
        return value

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        """Return one of `choices`."""
        value = self.values.get(name)
        if value is None:
            return default
        if value not in choices:
            raise self.wrong(name, f"one of {', '.join(choices)}")
        return str(value)

    def dtype(self, name: str, kinds: str, default: np.dtype[Any] | None = None) -> np.dtype[Any]:
        """Return a type of one of the numpy `kinds`; names as ``int16`` are taken too."""
        value = self.values.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self.wrong(name, "a type")
        try:
            dtype = dtypes.parse_v2(value)
        except RefbrowserError:
            dtype = dtypes.parse_v3(value)
        if dtype.kind not in kinds:
            raise self.wrong(name, f"a type of kind {' '.join(kinds)}")
        return dtype

    def wrong(self, name: str, wanted: str) -> RefbrowserError:
        """Return the error that member `name` is not `wanted`."""
        return RefbrowserError(
            ErrorKind.META,
            f"{quoted(name)} of codec {quoted(self.codec)} is {quoted(self.values.get(name))}, not {wanted}",
        )
