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

#: Elements whose bits are taken apart at a time: each bit takes a byte then, and whole bytes hold them.
_PACKED = 1 << 16


def resized(room: Room, before: int, after: int) -> Room:
    """Return the room of as many elements of another size."""
    if room.exact is None:
        return Room(None, room.most // before * after)
    if room.exact % before:
        raise RefbrowserError(
            ErrorKind.META, f"{room.exact} bytes are not a whole number of elements of {before} bytes"
        )
    return Room.of(room.exact // before * after)


def elements_of(data: Bytes, dtype: DType) -> npt.NDArray[Any]:
    """Return bytes as elements of a type; raises `DecodeError` where they are not whole ones."""
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
        return resized(room, self.decoded.itemsize, self.stored.itemsize)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the elements as they were before encoding."""
        elements = elements_of(data, self.stored)
        room.check(elements.size * self.decoded.itemsize)
        with np.errstate(all="ignore"):
            return flat_bytes(np.ascontiguousarray(self.codec.decode(elements)))

    def encode(self, data: Bytes) -> Bytes:
        """Return the elements as they are stored."""
        with np.errstate(all="ignore"):
            return flat_bytes(np.ascontiguousarray(self.codec.encode(elements_of(data, self.decoded))))


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
        native = elements_of(data, self.dtype).astype(self.dtype.newbyteorder("="))
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
        values = elements_of(data, self.dtype)
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
class BitPacking:
    """Some bits of each element, one after another, the lowest first (zarr-extensions, codecs/packbits).

    Attributes
    ----------
    dtype
        Of the elements, which are numbers in little-endian order, or booleans of one bit.
    first, last
        Bits that are stored, both included; above them a number with a sign repeats its last one.
    padding
        Where a byte counts the bits of padding: ``first_byte``, ``last_byte`` or ``none``.
    """

    dtype: DType
    first: int
    last: int
    padding: str

    stored: ClassVar[None] = None

    def encoded(self, room: Room) -> Room:
        """Return the room of the bits."""
        return Room(None if room.exact is None else self._size(room.exact), self._size(room.most))

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the elements."""
        size = room.most if room.exact is None else room.exact
        count = size // self.dtype.itemsize
        if len(data) != self._size(size):
            raise DecodeError(f"{len(data)} bytes where {self._size(size)} are expected")
        data = self._checked(data, count)
        made = np.empty(size, np.uint8)
        for start in range(0, count, _PACKED):
            stop = min(start + _PACKED, count)
            part = data[start * self._width // 8 : -(-stop * self._width // 8)]
            bits = np.unpackbits(part, count=(stop - start) * self._width, bitorder="little")
            made[start * self.dtype.itemsize : stop * self.dtype.itemsize] = self._whole(bits)
        return made

    def encode(self, data: Bytes) -> Bytes:
        """Return the bits."""
        count = len(data) // self.dtype.itemsize
        parts = [np.zeros(0, np.uint8)]
        for start in range(0, count, _PACKED):
            part = data[start * self.dtype.itemsize : (start + _PACKED) * self.dtype.itemsize]
            bits = np.unpackbits(part, bitorder="little").reshape(-1, 8 * self.dtype.itemsize)
            parts.append(np.packbits(bits[:, self.first : self.last + 1], bitorder="little"))
        unused = np.array([-count * self._width % 8], np.uint8)
        before, after = [unused] * (self.padding == "first_byte"), [unused] * (self.padding == "last_byte")
        return np.concatenate([*before, *parts, *after])

    @property
    def _width(self) -> int:
        return self.last - self.first + 1

    def _size(self, size: int) -> int:
        """Return the bytes that store elements of so many bytes."""
        return -(-size // self.dtype.itemsize * self._width // 8) + (self.padding != "none")

    def _checked(self, data: Bytes, count: int) -> Bytes:
        """Return the bytes without that which counts the bits of padding."""
        if self.padding == "none":
            return data
        number, packed = (data[0], data[1:]) if self.padding == "first_byte" else (data[-1], data[:-1])
        if number != -count * self._width % 8:
            raise DecodeError("the count of padding bits is wrong")
        return packed

    def _whole(self, bits: Bytes) -> Bytes:
        """Return the bytes of elements of which the stored bits are given."""
        stored = bits.reshape(-1, self._width)
        whole = np.zeros((len(stored), 8 * self.dtype.itemsize), np.uint8)
        whole[:, self.first : self.last + 1] = stored
        if self.dtype.kind == "i":
            whole[:, self.last + 1 :] = stored[:, -1:]
        return np.packbits(whole, bitorder="little")


@dataclass(frozen=True, slots=True)
class Labels:
    """Texts of fixed length stored as numbers: 0 for none, else one more than the label's place."""

    labels: tuple[str, ...]
    decoded: DType
    stored: DType

    def encoded(self, room: Room) -> Room:
        """Return the room of the numbers."""
        return resized(room, self.decoded.itemsize, self.stored.itemsize)

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the labels that the numbers stand for."""
        numbers = elements_of(data, self.stored)
        room.check(numbers.size * self.decoded.itemsize)
        return flat_bytes(label_table(self.labels, self.decoded)[label_numbers(numbers, self.labels)])

    def encode(self, data: Bytes) -> Bytes:
        """Return the numbers of the labels."""
        return flat_bytes(numbers_of(elements_of(data, self.decoded), self.labels, self.stored))


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
        return flat_bytes(elements_of(data, self.dtype).byteswap())

    def encode(self, data: Bytes) -> Bytes:
        """Return the bytes of each number in reverse."""
        return self.decode(data, Room.of(len(data)), None)


@dataclass(frozen=True, slots=True)
class Turned:
    """Elements with the axes of a chunk in another order.

    Attributes
    ----------
    shape
        Of a chunk.
    order
        Its axes as they are stored, the slowest first.
    itemsize
        Bytes of an element.
    """

    shape: tuple[int, ...]
    order: tuple[int, ...]
    itemsize: int

    def encoded(self, room: Room) -> Room:
        """Return `room`: the size does not change."""
        return room

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the elements in the order of the chunk."""
        room.check(len(data))
        stored = data.reshape(*(self.shape[axis] for axis in self.order), self.itemsize)
        back = np.argsort(self.order).tolist()
        return np.ascontiguousarray(stored.transpose(*back, len(back))).reshape(-1)

    def encode(self, data: Bytes) -> Bytes:
        """Return the elements in the order in which they are stored."""
        values = data.reshape(*self.shape, self.itemsize)
        return np.ascontiguousarray(values.transpose(*self.order, len(self.order))).reshape(-1)


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
