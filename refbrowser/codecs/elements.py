"""Codecs that change elements: differences, scale and offset, precision, type, bits and byte order."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from refbrowser.codecs import tiff_codes
from refbrowser.codecs.base import Bytes, DecodeError, DType, Room, as_bytes, flat_bytes
from refbrowser.errors import ErrorKind, RefbrowserError


def _resized(room: Room, before: int, after: int) -> Room:
    """Return the room of as many elements of another size."""
    if room.exact is None:
        return Room(None, room.most // before * after)
    if room.exact % before:
        raise RefbrowserError(
            ErrorKind.META, f"{room.exact} bytes are not a whole number of elements of {before} bytes"
        )
    return Room.of(room.exact // before * after)


def _elements(data: Bytes, dtype: DType) -> npt.NDArray[Any]:
    if len(data) % dtype.itemsize:
        raise DecodeError(f"{len(data)} bytes are not a whole number of {dtype.str} elements")
    return data.view(dtype)


@dataclass(frozen=True, slots=True)
class NumcodecsElements:
    """An element codec of numcodecs whose configuration was checked.

    Attributes
    ----------
    codec
        The instance.
    decoded, stored
        Types of the elements before encoding and after.
    """

    codec: Any
    decoded: DType
    stored: DType

    def encoded(self, room: Room) -> Room:
        """Return the room of as many elements of the stored type."""
        return _resized(room, self.decoded.itemsize, self.stored.itemsize)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the elements as they were before encoding."""
        elements = _elements(data, self.stored)
        room.check(elements.size * self.decoded.itemsize)
        with np.errstate(all="ignore"):
            return flat_bytes(np.ascontiguousarray(self.codec.decode(elements)))

    def encode(self, data: Bytes) -> Bytes:
        """Return the elements as they are stored."""
        with np.errstate(all="ignore"):
            return flat_bytes(np.ascontiguousarray(self.codec.encode(_elements(data, self.decoded))))


@dataclass(frozen=True, slots=True)
class BitRound:
    """Rounding of floats to `keep` bits of the mantissa; decoding changes nothing.

    Integers are as they are: numcodecs does not round them, and some writers name the codec all the same.
    """

    keep: int
    dtype: DType

    def encoded(self, room: Room) -> Room:
        """Return `room`: the size does not change."""
        return room

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return `data`."""
        return data

    def encode(self, data: Bytes) -> Bytes:
        """Return the rounded floats."""
        if self.dtype.kind != "f":
            return data
        from numcodecs import BitRound as Rounding

        # It works in place, and only in the machine's byte order.
        native = _elements(data, self.dtype).astype(self.dtype.newbyteorder("="))
        return flat_bytes(
            np.asarray(Rounding(self.keep).encode(native)).view(native.dtype).astype(self.dtype)
        )


@dataclass(frozen=True, slots=True)
class Predicted:
    """Elements of which a predictor of TIFF has the differences along each row.

    Attributes
    ----------
    shape
        Of a chunk.
    axis
        Along which rows go, from the last one.
    of_bytes
        Whether these are differences of the bytes of floats, the highest of a row first.
    """

    shape: tuple[int, ...]
    dtype: DType
    axis: int
    of_bytes: bool

    def encoded(self, room: Room) -> Room:
        """Return `room`: the size does not change."""
        return room

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the elements."""
        function = tiff_codes.floats_restored if self.of_bytes else tiff_codes.summed
        return flat_bytes(function(self._elements(data), self.axis))

    def encode(self, data: Bytes) -> Bytes:
        """Return the differences."""
        function = tiff_codes.floats_prepared if self.of_bytes else tiff_codes.differences
        return flat_bytes(function(self._elements(data), self.axis))

    def _elements(self, data: Bytes) -> npt.NDArray[Any]:
        values = _elements(data, self.dtype)
        if values.size != prod(self.shape):
            raise DecodeError(f"{values.size} elements do not make a chunk of {self.shape}")
        return values.reshape(self.shape)


@dataclass(frozen=True, slots=True)
class PackBits:
    """Eight booleans in a byte, after one byte that counts the bits of padding."""

    stored: ClassVar[None] = None

    def encoded(self, room: Room) -> Room:
        """Return the room of the bits."""
        return Room(None if room.exact is None else 1 + -(-room.exact // 8), 1 + -(-room.most // 8))

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return one byte, 0 or 1, for each bit."""
        if not len(data) or data[0] > 7 or (len(data) == 1 and data[0]):
            raise DecodeError("the count of padding bits is wrong")
        size = (len(data) - 1) * 8 - int(data[0])
        room.check(size)
        return np.unpackbits(data[1:], count=size)

    def encode(self, data: Bytes) -> Bytes:
        """Return the bits."""
        packed = np.packbits(data.view(bool))
        return np.concatenate([np.array([-len(data) % 8], np.uint8), packed])


@dataclass(frozen=True, slots=True)
class Labels:
    """Texts of fixed length stored as numbers: 0 for none, else one more than the label's place."""

    labels: tuple[str, ...]
    decoded: DType
    stored: DType

    def encoded(self, room: Room) -> Room:
        """Return the room of the numbers."""
        return _resized(room, self.decoded.itemsize, self.stored.itemsize)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the labels that the numbers stand for."""
        numbers = _elements(data, self.stored)
        room.check(numbers.size * self.decoded.itemsize)
        return flat_bytes(label_table(self.labels, self.decoded)[label_numbers(numbers, self.labels)])

    def encode(self, data: Bytes) -> Bytes:
        """Return the numbers of the labels."""
        return flat_bytes(numbers_of(_elements(data, self.decoded), self.labels, self.stored))


def label_table(labels: tuple[str, ...], dtype: DType) -> npt.NDArray[Any]:
    """Return the text of each number: nothing for 0, then the labels."""
    table = np.full(len(labels) + 1, "", dtype)
    table[1:] = labels
    return table


def label_numbers(numbers: npt.NDArray[Any], labels: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """Return `numbers` as places in `label_table`.

    Raises
    ------
    DecodeError
        A number stands for no label.
    """
    if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) <= len(labels):
        raise DecodeError(f"a number is not one of the {len(labels)} labels")
    return numbers.astype(np.int64)


def numbers_of(values: npt.NDArray[Any], labels: tuple[str, ...], stored: DType) -> npt.NDArray[Any]:
    """Return the number that stands for each text."""
    places = {label: place for place, label in enumerate(labels, 1)}
    return np.array([places.get(value, 0) for value in values.tolist()], stored)


@dataclass(frozen=True, slots=True)
class SwapBytes:
    """Elements of `dtype` stored in the other byte order."""

    dtype: DType

    def encoded(self, room: Room) -> Room:
        """Return `room`: the size does not change."""
        return room

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the bytes of each number in reverse."""
        return flat_bytes(_elements(data, self.dtype).byteswap())

    def encode(self, data: Bytes) -> Bytes:
        """Return the bytes of each number in reverse."""
        return self.decode(data, Room.of(len(data)), None)


@dataclass(frozen=True, slots=True)
class Base64:
    """The bytes as base64 text (RFC 4648)."""

    def encoded(self, room: Room) -> Room:
        """Return the room of the text."""
        return Room(None if room.exact is None else -(-room.exact // 3) * 4, -(-room.most // 3) * 4)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the bytes of the text."""
        import binascii

        plain = binascii.a2b_base64(data.data, strict_mode=True)
        return as_bytes(plain)

    def encode(self, data: Bytes) -> Bytes:
        """Return the text."""
        import base64

        return as_bytes(base64.b64encode(data.data))
