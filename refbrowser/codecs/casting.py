"""The codecs of Zarr v3 that scale values and cast them to another type, in the arithmetic of the types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.base import Bytes, DecodeError, DType, Room, flat_bytes
from refbrowser.codecs.elements import elements_of, resized

Values = npt.NDArray[Any]
#: What a value becomes whatever its type would make of it; the first of a value counts.
Mapped = tuple[tuple[Any, Any], ...]


@dataclass(frozen=True, slots=True)
class ScaleOffset:
    """Values less an offset, times a scale (zarr-extensions, codecs/scale_offset).

    Integers are divided without remainder, and no step leaves their type; floats are rounded as ever.
    """

    dtype: DType
    offset: Any
    scale: Any

    def encoded(self, room: Room) -> Room:
        """Return `room`: the size does not change."""
        return room

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the values."""
        stored = elements_of(data, self.dtype)
        if self.dtype.kind != "f" and stored.size:
            if (stored % self.scale).any():
                raise DecodeError(f"values that are no multiples of its scale {self.scale}")
            ends = [end // int(self.scale) for end in _ends(stored)]
            self._check([*ends, *(end + int(self.offset) for end in ends)])
            return self._bytes(stored // self.scale + self.offset)
        with np.errstate(all="ignore"):
            return self._bytes(stored / self.scale + self.offset if self.dtype.kind == "f" else stored)

    def encode(self, data: Bytes) -> Bytes:
        """Return the scaled values."""
        values = elements_of(data, self.dtype)
        if self.dtype.kind != "f" and values.size:
            ends = [end - int(self.offset) for end in _ends(values)]
            self._check([*ends, *(end * int(self.scale) for end in ends)])
        with np.errstate(all="ignore"):
            return self._bytes((values - self.offset) * self.scale)

    def _check(self, ends: list[int]) -> None:
        """Raise where the least or the greatest of a step is not of the type: all others lie between them."""
        limits = np.iinfo(self.dtype)
        if not all(limits.min <= end <= limits.max for end in ends):
            raise DecodeError(f"values that are out of the range of {self.dtype.name}")

    def _bytes(self, values: Values) -> Bytes:
        return flat_bytes(np.ascontiguousarray(values, self.dtype))


@dataclass(frozen=True, slots=True)
class CastValue:
    """The same numbers in another type (zarr-extensions, codecs/cast_value).

    Attributes
    ----------
    decoded, stored
        Types of the elements before encoding and after.
    rounding
        A key of `ROUNDINGS`.
    out_of_range
        ``clamp``, ``wrap``, or empty: values that the type cannot hold are errors.
    when_encoding, when_decoding
        What certain values become.
    """

    decoded: DType
    stored: DType
    rounding: str
    out_of_range: str
    when_encoding: Mapped
    when_decoding: Mapped

    def encoded(self, room: Room) -> Room:
        """Return the room of as many elements of the stored type."""
        return resized(room, self.decoded.itemsize, self.stored.itemsize)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the values in the type of the array."""
        values = elements_of(data, self.stored)
        room.check(values.size * self.decoded.itemsize)
        return self._cast(values, self.decoded, self.when_decoding)

    def encode(self, data: Bytes) -> Bytes:
        """Return the values in the stored type."""
        return self._cast(elements_of(data, self.decoded), self.stored, self.when_encoding)

    def _cast(self, values: Values, dtype: DType, mapped: Mapped) -> Bytes:
        plain = np.ones(values.shape, bool)
        made = np.zeros(values.shape, dtype)
        for value, becomes in mapped:
            same = plain & (np.isnan(values) if value != value else values == value)
            made[same] = becomes
            plain &= ~same
        if plain.all():
            return flat_bytes(cast(values, dtype, self.rounding, self.out_of_range))
        made[plain] = cast(values[plain], dtype, self.rounding, self.out_of_range)
        return flat_bytes(made)


@np.errstate(all="ignore")
def cast(values: Values, dtype: DType, rounding: str, out_of_range: str) -> Values:
    """Return values as nearly as another type has them.

    Parameters
    ----------
    values
        Of one dimension, integers or floats.
    dtype
        Integers or floats.
    rounding, out_of_range
        As `CastValue` has them.

    Raises
    ------
    DecodeError
        A value is out of the range of `dtype`, or is none of its numbers.
    """
    if dtype.kind == "f":
        return _to_floats(values, dtype, rounding, out_of_range)
    if values.dtype.kind == "f":
        # Each float of 16 and 32 bits is one of 64, of which all bounds of integers are at hand.
        values = values.astype(np.float64)
        if not np.isfinite(values).all():
            raise DecodeError(f"NaN or infinity, which {dtype.name} has not")
        values = ROUNDINGS[rounding](values)
    return _to_integers(values, dtype, out_of_range)


def _to_integers(values: Values, dtype: DType, out_of_range: str) -> Values:
    """Return whole numbers, integers or floats of 64 bits, as integers of a type."""
    limits = np.iinfo(dtype)
    is_float = values.dtype.kind == "f"
    low, high = (limits.min, limits.max) if is_float else _common(values.dtype, dtype)
    # The upper bound of 64 bits is no float; the next integer is, and is out of range.
    below, above = values < low, (values >= float(limits.max + 1)) if is_float else (values > high)
    outside = below | above
    if not outside.any():
        return values.astype(dtype)
    if not out_of_range:
        raise DecodeError(f"{values[outside][0]} is out of the range of {dtype.name}")
    if out_of_range == "wrap":
        return _wrapped(values, dtype)
    made = np.zeros(values.shape, dtype)
    made[~outside] = values[~outside].astype(dtype)
    made[below], made[above] = limits.min, limits.max
    return made


def _common(one: DType, other: DType) -> tuple[int, int]:
    """Return the least and the greatest integer that both types have."""
    mine, its = np.iinfo(one), np.iinfo(other)
    return max(mine.min, its.min), min(mine.max, its.max)


def _wrapped(values: Values, dtype: DType) -> Values:
    """Return whole numbers modulo two to the bits of a type of integers."""
    if values.dtype.kind == "f":
        whole = float(2**64)
        values = np.fmod(values, whole)
        # Both differences are exact: what is so large is a multiple of many.
        values = np.where(values >= whole / 2, values - whole, values)
        values = np.where(values < -whole / 2, values + whole, values).astype(np.int64)
    return values.astype(dtype)


def _to_floats(values: Values, dtype: DType, rounding: str, out_of_range: str) -> Values:
    # Integers that floats of 16 bits can hold are all floats of 32: they are not rounded twice.
    made = (values.astype(np.float32) if dtype.itemsize == 2 else values).astype(dtype)
    if rounding != "nearest-even":
        made = _rounded(values, made, rounding)
    lost = np.isinf(made) if values.dtype.kind != "f" else np.isinf(made) & np.isfinite(values)
    if lost.any() and out_of_range != "clamp":
        raise DecodeError(f"{values[lost][0]} is out of the range of {dtype.name}")
    return made


def _rounded(values: Values, nearest: Values, rounding: str) -> Values:
    """Return for each value one of the two floats beside it, of which the nearest, or even one is at hand."""
    gap = _gap(values, nearest)
    other = np.nextafter(nearest, np.where(gap > 0, np.inf, -np.inf).astype(nearest.dtype))
    if rounding == "nearest-away":
        is_tie = 2 * np.abs(gap) == np.abs(other.astype(np.float64) - nearest.astype(np.float64))
        takes_other = is_tie & (np.abs(other) > np.abs(nearest))
    else:
        is_upwards = {"towards-positive": True, "towards-negative": False}.get(rounding, nearest < 0)
        takes_other = np.where(is_upwards, gap > 0, gap < 0)
    return np.where(takes_other & (gap != 0), other, nearest)


def _gap(values: Values, nearest: Values) -> Values:
    """Return exactly how far values are above the floats they were rounded to; 0 where these are infinite."""
    if values.dtype.kind == "f":
        gap = values.astype(np.float64) - nearest.astype(np.float64)
    else:
        # Modulo 2 to the 64: the true difference is far below.
        whole = _wrapped(nearest.astype(np.float64), np.dtype(np.uint64))
        gap = (values.astype(np.uint64) - whole).view(np.int64).astype(np.float64)
    return np.where(np.isfinite(nearest), gap, 0.0)


def _away(values: Values) -> Values:
    whole = np.trunc(values)
    found: Values = whole + np.copysign(np.abs(values - whole) >= 0.5, values)
    return found


#: How floats become whole numbers.
ROUNDINGS: dict[str, Callable[[Values], Values]] = {
    "nearest-even": np.rint,
    "towards-zero": np.trunc,
    "towards-positive": np.ceil,
    "towards-negative": np.floor,
    "nearest-away": _away,
}


def _ends(values: Values) -> tuple[int, int]:
    return int(values.min()), int(values.max())
