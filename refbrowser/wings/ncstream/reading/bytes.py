"""A window that moves over the bytes of a stream, and the varints of the framing."""

from __future__ import annotations

from refbrowser.io.fetching.byte_sources import ByteSource
from refbrowser.wings.ncstream.reading.messages import FaultCode, FramingError

#: Bytes of the longest varint: 64 bits.
LONGEST = 10
_LARGEST = (1 << 64) - 1


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
            if value > _LARGEST:
                raise VarintError("a varint of more than 64 bits")
            return value, at + number + 1
    raise VarintError(f"a varint of more than {LONGEST} bytes")


def write_varint(value: int) -> bytes:
    """Return the shortest varint of a number of at most 64 bits."""
    if not 0 <= value <= _LARGEST:
        raise ValueError(f"{value} is not an unsigned number of 64 bits")
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


#: Bytes that are read at once: few after a jump, more while messages follow each other closely.
_LEAST, _MOST = 16 << 10, 4 << 20


class Window:
    """Bytes of a source around the position of the walk.

    Attributes
    ----------
    data, base
        The bytes that are in memory, and where they begin in the file.
    size
        Bytes of the file.
    spent
        Bytes that were asked for so far, those in memory already too: what work on them is bounded by.
    """

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._near = source.near
        self._block = _LEAST
        self.size = source.size
        self.data: bytes = b""
        self.base = 0
        self.spent = 0

    def load(self, offset: int, length: int) -> int:
        """Have bytes from `offset` on in memory, fewer at the end only; return where they begin in `data`."""
        self.spent += length
        at = offset - self.base
        if at >= 0 and (at + length <= len(self.data) or self.base + len(self.data) >= self.size >= offset):
            return at
        # Jumps over large payloads, whose bytes nobody wants, are no walk from message to message.
        follows = 0 <= at <= len(self.data) + self._near
        self._block = min(2 * self._block, _MOST) if follows else _LEAST
        self.data = bytes(self._source.read(offset, max(length, self._block)))
        self.base = offset
        return 0

    def bytes_at(self, offset: int, length: int) -> bytes:
        """Return bytes, fewer at the end only."""
        at = self.load(offset, length)
        return self.data[at : at + length]

    def varint(self, offset: int) -> tuple[int, int]:
        """Return the varint at `offset`, and the offset behind it.

        Raises
        ------
        FramingError
            The file ends within it, or it is none.
        """
        at = self.load(offset, LONGEST)
        try:
            value, end = read_varint(self.data, at)
        except ShortVarintError:
            raise FramingError(FaultCode.TRUNCATED, "the stream ends within a length") from None
        except VarintError as error:
            raise FramingError(FaultCode.BAD_VARINT, str(error)) from None
        return value, self.base + end
