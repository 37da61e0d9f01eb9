"""Base-128 varints of the framing: least significant group first, a high bit tells that more follows."""

from __future__ import annotations

#: Bytes of the longest varint: 64 bits.
LONGEST = 10
_MOST = (1 << 64) - 1


class VarintError(ValueError):
    """Bytes that are no varint of at most 64 bits."""


class ShortVarintError(VarintError):
    """The bytes end within a varint."""


def read_varint(data: bytes | memoryview, at: int = 0) -> tuple[int, int]:
    """Return the varint at position `at`, and the position behind it (wire notes, section 1).

    Padded forms (``85 80 00`` for 5) are legal.

    Raises
    ------
    ShortVarintError
        `data` ends within it.
    VarintError
        It has more than 10 bytes or 64 bits.
    """
    value = 0
    for number in range(LONGEST):
        if at + number >= len(data):
            raise ShortVarintError("the bytes end within a varint")
        byte = data[at + number]
        value |= (byte & 0x7F) << (7 * number)
        if byte < 0x80:
            if value > _MOST:
                raise VarintError("a varint of more than 64 bits")
            return value, at + number + 1
    raise VarintError(f"a varint of more than {LONGEST} bytes")


def write_varint(value: int) -> bytes:
    """Return the shortest varint of a number of at most 64 bits."""
    if not 0 <= value <= _MOST:
        raise ValueError(f"{value} is no unsigned number of 64 bits")
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
