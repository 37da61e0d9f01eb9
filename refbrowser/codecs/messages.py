"""MessagePack to values and back: plain types only; every count is compared with the bytes that are left.

A decoder of our own, because the package msgpack makes room for a list by the count in its header: lists in
lists ask for gigabytes in a few bytes.
"""

from __future__ import annotations

import struct
from typing import Any

from refbrowser.codecs.base import DecodeError
from refbrowser.limits import LIMITS

#: First byte of a number, and how it is packed after it (MessagePack specification, "Formats").
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
#: First byte of what has a length, and how that is packed.
_TEXTS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_BYTES = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
_LISTS = {0xDC: ">H", 0xDD: ">I"}
_MAPS = {0xDE: ">H", 0xDF: ">I"}


def unpacked(data: bytes, raw: bool) -> Any:
    """Return the one value in `data`.

    Parameters
    ----------
    raw
        Text is given as bytes.

    Raises
    ------
    DecodeError
        Not MessagePack, of a type that is not plain, nested too deep, or something follows the value.
    """
    reader = _Unpacker(data, raw)
    value = reader.value(0)
    if reader.at != len(data):
        raise DecodeError(f"{len(data) - reader.at} bytes follow the value")
    return value


class _Unpacker:
    """Reads values one after the other."""

    def __init__(self, data: bytes, raw: bool) -> None:
        self.data = data
        self.raw = raw
        self.at = 0

    def value(self, depth: int) -> Any:
        """Return the next value, which lies in `depth` others."""
        if depth > LIMITS.json_nesting:
            raise DecodeError(f"values are nested more than {LIMITS.json_nesting} levels deep")
        first = self._take(1)[0]
        if first < 0x80:
            return first
        if first >= 0xE0:
            return first - 0x100
        if first < 0x90:
            return self._map(first & 0x0F, depth)
        if first < 0xA0:
            return self._list(first & 0x0F, depth)
        if first < 0xC0:
            return self._text(first & 0x1F)
        if first in _CONSTANTS:
            return _CONSTANTS[first]
        if first in _NUMBERS:
            return self._number(_NUMBERS[first])
        return self._sized(first, depth)

    def _sized(self, first: int, depth: int) -> Any:
        if first in _TEXTS:
            return self._text(self._number(_TEXTS[first]))
        if first in _BYTES:
            return self._take(self._number(_BYTES[first]))
        if first in _LISTS:
            return self._list(self._number(_LISTS[first]), depth)
        if first in _MAPS:
            return self._map(self._number(_MAPS[first]), depth)
        raise DecodeError(f"a value begins with {first:#04x}, which is not a plain type")

    def _take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            raise DecodeError(f"{size} bytes are announced where {len(self.data) - self.at} are left")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def _number(self, packing: str) -> Any:
        return struct.unpack(packing, self._take(struct.calcsize(packing)))[0]

    def _text(self, size: int) -> str | bytes:
        taken = self._take(size)
        return taken if self.raw else taken.decode()

    def _list(self, count: int, depth: int) -> list[Any]:
        self._check_count(count)
        return [self.value(depth + 1) for _ in range(count)]

    def _map(self, count: int, depth: int) -> dict[Any, Any]:
        self._check_count(2 * count)
        return {self.value(depth + 1): self.value(depth + 1) for _ in range(count)}

    def _check_count(self, count: int) -> None:
        if count > len(self.data) - self.at:
            raise DecodeError(f"{count} values are announced where {len(self.data) - self.at} bytes are left")


def packed(value: Any) -> bytes:
    """Return a value of plain types as MessagePack.

    Raises
    ------
    TypeError
        It is of another type.
    """
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return _packed_integer(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        data = value.encode()
        return _size(len(data), (0xD9, 0xDA, 0xDB)) + data
    if isinstance(value, bytes):
        return _size(len(value), (0xC4, 0xC5, 0xC6)) + value
    if isinstance(value, list | tuple):
        return _size(len(value), (None, 0xDC, 0xDD)) + b"".join(map(packed, value))
    if isinstance(value, dict):
        pairs = (packed(item) for pair in value.items() for item in pair)
        return _size(len(value), (None, 0xDE, 0xDF)) + b"".join(pairs)
    raise TypeError(f"a {type(value).__name__} cannot be MessagePack")


def _packed_integer(value: int) -> bytes:
    if value >= 0:
        return b"\xcf" + struct.pack(">Q", value)
    return b"\xd3" + struct.pack(">q", value)


def _size(size: int, firsts: tuple[int | None, int, int]) -> bytes:
    """Return the header of what has `size` parts, by its first byte for one, two and four bytes of size."""
    for first, packing, most in zip(firsts, (">B", ">H", ">I"), (0xFF, 0xFFFF, 0xFFFFFFFF), strict=True):
        if first is not None and size <= most:
            return bytes([first]) + struct.pack(packing, size)
    raise ValueError(f"{size} parts are more than MessagePack holds")
