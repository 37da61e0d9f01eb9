"""Text, bytes and other values of varying length: arrays of Python objects and back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.base import Bytes, DecodeError, DType, as_bytes, flat_bytes
from refbrowser.codecs.elements import label_numbers, label_table, numbers_of
from refbrowser.codecs.messages import packed, unpacked
from refbrowser.errors import ErrorKind, RefbrowserError, quoted

Objects = npt.NDArray[np.object_]


class ObjectCodec(Protocol):
    """The step between an array of objects and bytes. Instances are immutable."""

    def decode(self, data: Bytes, count: int) -> Objects:
        """Return `count` objects, shape (count,).

        Raises
        ------
        DecodeError
            The bytes hold another number of objects, or are damaged.
        """
        ...

    def encode(self, values: Objects) -> Bytes:
        """Return the bytes of `values`, shape (count,)."""
        ...


@dataclass(frozen=True, slots=True)
class VLenBytes:
    """A count, then each value after its length; the numbers take four bytes, little-endian."""

    def decode(self, data: Bytes, count: int) -> Objects:
        """Return `count` values of type bytes."""
        from numcodecs import VLenBytes as Loops

        if len(data) < 4:
            raise DecodeError("the count is cut off")
        announced = int.from_bytes(data[:4].tobytes(), "little")
        if announced != count:
            raise DecodeError(f"{announced} values where {count} are expected")
        if len(data) < 4 * (count + 1):
            raise DecodeError(f"{len(data)} bytes cannot hold {count} values")
        values: Objects = Loops().decode(data)
        used = 4 * (count + 1) + sum(map(len, values))
        if used != len(data):
            raise DecodeError(f"{len(data) - used} bytes follow the last value")
        return values

    def encode(self, values: Objects) -> Bytes:
        """Return the bytes of `values`."""
        from numcodecs import VLenBytes as Loops

        return as_bytes(Loops().encode(values)) if len(values) else np.zeros(4, np.uint8)


@dataclass(frozen=True, slots=True)
class VLenText:
    """Text as UTF-8, stored like `VLenBytes`."""

    def decode(self, data: Bytes, count: int) -> Objects:
        """Return `count` values of type str."""
        return _filled([value.decode() for value in VLenBytes().decode(data, count)])

    def encode(self, values: Objects) -> Bytes:
        """Return the bytes of `values`.

        Raises
        ------
        RefbrowserError
            `META`: one of them is no Unicode text: bytes, or half of a character.
        """
        return VLenBytes().encode(_filled([_utf8(value) for value in values]))


def _utf8(value: Any) -> bytes:
    try:
        if not isinstance(value, bytes):
            return str(value).encode()
    except UnicodeEncodeError:
        pass
    raise RefbrowserError(ErrorKind.META, f"{quoted(value)} is not Unicode text, which the array requires")


@dataclass(frozen=True, slots=True)
class VLenArray:
    """One-dimensional arrays of one type, stored like `VLenBytes`."""

    dtype: DType

    def decode(self, data: Bytes, count: int) -> Objects:
        """Return `count` arrays of varying length."""
        return _filled([np.frombuffer(value, self.dtype) for value in VLenBytes().decode(data, count)])

    def encode(self, values: Objects) -> Bytes:
        """Return the bytes of `values`."""
        return VLenBytes().encode(_filled([np.asarray(value, self.dtype).tobytes() for value in values]))


@dataclass(frozen=True, slots=True)
class Json:
    """The values as one JSON list, followed by numpy's name of the type and the shape."""

    encoding: str

    def decode(self, data: Bytes, count: int) -> Objects:
        """Return `count` JSON values."""
        return _from_list(json.loads(data.tobytes().decode(self.encoding)), count)

    def encode(self, values: Objects) -> Bytes:
        """Return the bytes of `values`."""
        items = [*values.tolist(), "|O", [len(values)]]
        return as_bytes(json.dumps(items, separators=(",", ":"), sort_keys=True).encode(self.encoding))


@dataclass(frozen=True, slots=True)
class MessagePack:
    """The values as one list of MessagePack, followed by numpy's name of the type and the shape.

    Attributes
    ----------
    raw
        Text is read as bytes.
    """

    raw: bool

    def decode(self, data: Bytes, count: int) -> Objects:
        """Return `count` values of plain types."""
        items = unpacked(data.tobytes(), self.raw)
        if self.raw and isinstance(items, list) and len(items) > 1 and items[-2] == b"|O":
            items[-2] = "|O"
        return _from_list(items, count)

    def encode(self, values: Objects) -> Bytes:
        """Return the bytes of `values`."""
        return as_bytes(packed([*values.tolist(), "|O", [len(values)]]))


def _from_list(items: Any, count: int) -> Objects:
    """Return the values in a list that ends with their type and their shape."""
    if not isinstance(items, list) or len(items) < 2:
        raise DecodeError("not a list that ends with a type and a shape")
    shape = items.pop()
    if items.pop() != "|O":
        raise DecodeError("the type is not '|O'")
    if shape == [] and count == 1 and len(items) == 1:
        return _filled(items)
    if not isinstance(shape, list) or not all(type(side) is int and side >= 0 for side in shape):
        raise DecodeError("the shape is not a list of integers")
    values = _flattened(items, shape)
    if len(values) != count:
        raise DecodeError(f"{len(values)} values where {count} are expected")
    return _filled(values)


def _flattened(items: list[Any], shape: list[int]) -> list[Any]:
    """Return the innermost items of lists nested as `shape` says, C order."""
    for depth, side in enumerate(shape):
        if depth:
            items = [value for item in items for value in (item if isinstance(item, list) else [])]
        expected = int(np.prod(shape[: depth + 1], dtype=object))
        if len(items) != expected:
            raise DecodeError(f"{len(items)} items along a side of {side}")
    return items


@dataclass(frozen=True, slots=True)
class LabelObjects:
    """Texts stored as numbers, see `refbrowser.codecs.elements.Labels`."""

    labels: tuple[str, ...]
    stored: DType

    def decode(self, data: Bytes, count: int) -> Objects:
        """Return `count` labels."""
        if len(data) != count * self.stored.itemsize:
            raise DecodeError(f"{len(data)} bytes where {count * self.stored.itemsize} are expected")
        table = label_table(self.labels, np.dtype(object))
        return table[label_numbers(data.view(self.stored), self.labels)]

    def encode(self, values: Objects) -> Bytes:
        """Return the numbers of the labels."""
        return flat_bytes(numbers_of(values, self.labels, self.stored))


def _filled(values: list[Any]) -> Objects:
    result = np.empty(len(values), object)
    for place, value in enumerate(values):
        result[place] = value
    return result
