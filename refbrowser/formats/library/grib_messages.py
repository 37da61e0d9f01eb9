"""Messages of GRIB in a file, and the fields in them: found by their lengths, none of which is trusted.

It imports nothing of ours: the process that reads GRIB loads it by its path.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

#: Bytes in which the beginning of a message is looked for at a time.
_BLOCK = 1 << 16
#: Bytes that are read where a head is wanted; at most where heads are as near to each other as `_NEAR`.
_WINDOW, _WIDEST, _NEAR = 1 << 12, 1 << 20, 1 << 14
_END = b"7777"
#: Bytes of a message that is decoded, and of a section that says something of it, at most.
_LARGEST, _LARGEST_HEAD = 256 << 20, 16 << 20
#: Editions that are read, and others whose heads look alike.
_EDITIONS, _OTHERS = (1, 2), (0, 3)
#: Edition 1: which sections there are, beginnings of the data, lengths that are told in units of bytes.
_GRID, _BITMAP, _MORE_FLAGS, _HEAD_OF_DATA, _LARGE, _UNIT = 0x80, 0x40, 0x10, 64, 0x800000, 120
#: Edition 1: bytes that say what section 3 is, and grids whose points are counted by their values.
_HEAD_OF_BITMAP, _GAUSSIAN, _UNCOUNTED = 6, (4, 14, 24, 34), 0xFFFFFF
#: Fields of one message, and things that are wrong and told one by one.
_FIELDS, _NAMED = 100_000, 100
#: Sections of messages that are lost, and bytes of these, in which it is looked what they were.
_LOST_SECTIONS, _LOST_BYTES = 100_000, 64 << 20
#: What stands for a section that says how values are packed, where that is lost: by edition.
_PACKED = {1: b"\0\0\x0b" + bytes(8), 2: b"\0\0\0\x15\5" + bytes(16)}
#: Surfaces that have the same names at every level, alone: of pressure, of models.
_LEVELS, _NO_SURFACE = (100, 105), 255
#: Of templates of products: steps, members and ends of intervals, as bytes of section 4.
_UNNAMED = {
    0: ((18, 22),),
    1: ((18, 22), (35, 36)),
    8: ((18, 22), (34, 41)),
    11: ((18, 22), (35, 36), (37, 44)),
    12: ((18, 22), (36, 43)),
}


class GribField(NamedTuple):
    """A field: where its message is, and its number there; of others than the first where each section is.

    Attributes
    ----------
    lost
        Why its values are; empty where they are not.
    """

    offset: int
    length: int
    number: int
    sections: dict[int, tuple[int, int]]
    lost: str = ""


#: The first bytes of a message of edition 2 (as 0), and its sections without data, by their numbers.
Heads = dict[int, bytes]


class GribHead(NamedTuple):
    """What a message says of itself: its edition, its length in bytes, and its first field."""

    edition: int
    length: int
    heads: Heads


class GribBytes:
    """The bytes of a file, by windows: small ones where what is wanted lies far apart."""

    def __init__(self, place: Any) -> None:
        self._file: Any = io.FileIO(place) if isinstance(place, str) else place
        self.size: int = self._file.seek(0, io.SEEK_END)
        self._window, self._at, self._next = b"", 0, _WINDOW

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes; those behind them are read with them, as the head of a message follows an end."""
        if length > self.size - offset:
            raise ValueError("the file ends early")
        end = self._at + len(self._window)
        if not self._at <= offset <= offset + length <= end:
            is_near = 0 <= offset - self._at <= len(self._window) + _NEAR
            self._next = min(2 * self._next, _WIDEST) if is_near else _WINDOW
            self._window = self.alone(offset, min(max(length, self._next), self.size - offset))
            self._at = offset
        return self._window[offset - self._at : offset - self._at + length]

    def alone(self, offset: int, length: int) -> bytes:
        """Return bytes, and keep none."""
        if length > self.size - offset:
            raise ValueError("the file ends early")
        if not isinstance(self._file, io.FileIO):
            found: bytes = self._file.fetched(offset, length)
            return found
        self._file.seek(offset)
        data = bytearray(length)
        room, at = memoryview(data), 0
        while at < length:
            count = self._file.readinto(room[at:])
            if not count:
                raise ValueError("the file ends early")
            at += count
        return bytes(data)


class GribMessages:
    """The messages of one file.

    Attributes
    ----------
    problems
        What is wrong with them, one by one as long as these are few.
    lost
        Why a message was lost of which nobody knows where it belongs; empty while none was.
    count
        How many there are.
    """

    def __init__(self, place: Any) -> None:
        self._bytes = GribBytes(place)
        self._size = self._bytes.size
        self.problems: list[str] = []
        self._unnamed = 0
        self.lost = ""
        self.count = 0
        #: What may still be read of messages that are lost, and how the last one that is not is packed.
        self._sections_left, self._bytes_left = _LOST_SECTIONS, _LOST_BYTES
        self._packed: bytes | None = None

    def problem(self, message: str) -> None:
        """Note what is wrong."""
        if message[:500] in self.problems:
            return
        if len(self.problems) < _NAMED:
            self.problems.append(message[:500])
            return
        # The last line stands for all that follow, and for what it said before.
        self._unnamed += 1 if self._unnamed else 2
        self.problems[-1] = f"{self._unnamed} more of its messages are lost or not shown"

    def loss(self, message: str) -> None:
        """Note that a message is lost of which nobody knows what it was."""
        self.lost = self.lost or message[:200]
        self.problem(message)

    def fields(self, most: int) -> Iterator[tuple[GribField, Heads]]:
        """Yield each field with what is read of its message: no data.

        So are those of messages that are damaged, as long as these still say what they are.
        """
        at = 0
        while at + 16 <= self._size:
            first = self._bytes.read(at, 16)
            if first[:4] != b"GRIB":
                block = self._bytes.read(at, min(_BLOCK, self._size - at))
                found = block.find(b"GRIB")
                at += found if found >= 0 else max(len(block) - 3, 1)
                continue
            edition, length = self._length_said(at, first)
            if edition not in _EDITIONS or length < 20:
                if edition in _OTHERS:
                    self.loss(f"the message at byte {at} is of edition {edition}, which is not read")
                elif edition in _EDITIONS:
                    self.loss(f"the message at byte {at} claims {length} bytes, fewer than any message has")
                at += 4
                continue
            if at + length > self._size:
                why = f"the message at byte {at} was cut: {self._size - at} of its {length} bytes are there"
                yield from self.lost_fields(at, why)
                at += 4
                continue
            fields: list[tuple[GribField, Heads]] = []
            try:
                fields += (self._of_edition_1 if edition == 1 else self._of_sections)(at, length)
            except ValueError as error:
                wrong = str(error)
            else:
                wrong = ""
            # With the end comes the head of the message behind it.
            if self._bytes.read(at + length - 4, 4) != _END:
                yield from self.lost_fields(
                    at, f"the message at byte {at} does not end where its length says"
                )
                at += 4
                continue
            self.count += 1
            if self.count > most:
                self.loss(f"only the first {most} messages are shown")
                return
            yield from fields
            if wrong:
                yield from self.lost_fields(
                    at, f"the message at byte {at} cannot be read: {wrong}", at + length, len(fields)
                )
            elif edition == 2 and fields:
                self._packed = fields[-1][1][5]
            at += length
        rest = self._bytes.read(at, max(self._size - at, 0))
        if b"GRIB" in rest or (rest and b"GRIB".startswith(rest)):
            self.loss(f"the message at byte {at} was cut")

    def head(self, offset: int) -> GribHead:
        """Return what is said of a message whose place is known, without its bits and its data.

        Raises
        ------
        ValueError
            None begins there, or it cannot be read.
        """
        first = self._bytes.read(offset, 16)
        if first[:4] != b"GRIB":
            raise ValueError("none begins there")
        edition, length = self._length_said(offset, first)
        if edition not in _EDITIONS or length < 20:
            raise ValueError(f"it is of edition {edition} and claims {length} bytes")
        if offset + length > self._size:
            raise ValueError(f"it was cut: {self._size - offset} of its {length} bytes are there")
        if edition == 1:
            return GribHead(edition, length, next(self._of_edition_1(offset, length))[1])
        heads: Heads = {0: first[:8]}
        at, end = offset + 16, offset + length - 4
        while 5 not in heads:
            number, size, _ = self._section(at, end)
            if number > 5 or (number == 5 and not {1, 3, 4} <= set(heads)):
                raise ValueError("a section is missing")
            heads[number] = self._read_section(number, at, size)
            at += size
        return GribHead(edition, length, heads)

    def lost_fields(
        self, offset: int, why: str, end: int | None = None, after: int = 0
    ) -> Iterator[tuple[GribField, Heads]]:
        """Yield the fields of a damaged message, as far as it still says what they are, and note the loss.

        Parameters
        ----------
        end
            Where it ends; None where that is not known.
        after
            How many of its fields are not lost: the first ones.
        """
        found, is_all = self.said_of_lost(offset, end)
        if is_all and len(found) > after:
            self.problem(why)
        else:
            self.loss(why)
        for number, heads in enumerate(found[after:], after):
            yield self.field(offset, 0, number, why), heads

    def said_of_lost(self, offset: int, end: int | None = None) -> tuple[list[Heads], bool]:
        """Return what is read of the fields of a damaged message, and whether these are all that it had."""
        found: list[Heads] = []
        try:
            is_all = self._look_at_lost(offset, self._size if end is None else end, found)
        except ValueError:
            is_all = False
        return found, is_all

    def field(self, offset: int, length: int, number: int = 0, lost: str = "") -> GribField:
        """Return a field of a message whose place is known, without its sections."""
        return GribField(offset, length, number, {}, lost)

    def fields_of(self, offset: int, length: int) -> Iterator[tuple[GribField, Heads]]:
        """Yield the fields of a message whose place is known, of edition 2."""
        return self._of_sections(offset, length)

    def ends_at(self, end: int) -> bool:
        """Return whether a message ends there."""
        return bool(self._bytes.read(end - len(_END), len(_END)) == _END)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._size

    def _length_said(self, at: int, first: bytes) -> tuple[int, int]:
        """Return the edition of a message and the length that its first 16 bytes tell."""
        edition = first[7]
        length = int.from_bytes(first[8:16] if edition == 2 else first[4:7], "big")
        if edition == 1 and length & _LARGE:
            length = self._length_of_large(at, length)
        return edition, length

    def _section(self, at: int, end: int) -> tuple[int, int, int]:
        """Return the number and the size of a section of edition 2, and its first byte behind these."""
        number, size, bits = self._section_said(at)
        if size < 5 or at + size > end or not 1 <= number <= 7:
            raise ValueError(f"section {number} at byte {at} is outside it")
        return number, size, bits

    def _section_said(self, at: int) -> tuple[int, int, int]:
        head = self._bytes.read(at, 6)
        return head[4], int.from_bytes(head[:4], "big"), head[5]

    def _read_section(self, number: int, at: int, size: int) -> bytes:
        """Return a section that says something of a message."""
        if size > _LARGEST_HEAD:
            raise ValueError(f"section {number} has more than {_LARGEST_HEAD} bytes")
        return self._bytes.read(at, size)

    def _length_of_large(self, at: int, said: int) -> int:
        """Return the length of a message of edition 1 that may be too long for the bytes that tell it.

        As ECMWF writes them the length is one of 120 bytes, and that of the data tells how many are too many.
        """
        try:
            first = self._bytes.read(at + 8, 8)
            behind = at + 8 + int.from_bytes(first[:3], "big")
            for flag in (_GRID, _BITMAP):
                if first[7] & flag:
                    behind += int.from_bytes(self._bytes.read(behind, 3), "big")
            over = int.from_bytes(self._bytes.read(behind, 3), "big")
        except ValueError:
            return said
        return said if over >= _UNIT else (said & ~_LARGE) * _UNIT - over + len(_END)

    def _of_edition_1(self, offset: int, length: int) -> Iterator[tuple[GribField, Heads]]:
        """Yield the field of a message of edition 1."""
        at, end = offset + 8, offset + length - 4
        flags = self._bytes.read(at, 8)[7]
        kinds = [1, *([2] if flags & _GRID else ()), *([3] if flags & _BITMAP else ()), 4]
        heads: Heads = {}
        for kind in kinds:
            size = end - at if kind == 4 else int.from_bytes(self._bytes.read(at, 3), "big")
            if size < (28 if kind == 1 else 11 if kind == 4 else 6) or at + size > end:
                raise ValueError(f"section {kind} at byte {at} is outside it")
            known = {3: _HEAD_OF_BITMAP, 4: _HEAD_OF_DATA}.get(kind, size)
            heads[kind] = self._bytes.read(at, min(size, known))
            at += size
        # That of one that is too long is told in another way.
        heads[4] = min(size, _UNCOUNTED).to_bytes(3, "big") + heads[4][3:]
        yield GribField(offset, length, 0, {}), heads

    def _of_sections(self, offset: int, length: int) -> Iterator[tuple[GribField, Heads]]:
        """Yield the fields of a message of edition 2: some sections are told once for several."""
        at, end, number = offset + 16, offset + length - 4, 0
        known: dict[int, tuple[int, int]] = {}
        heads: Heads = {0: self._bytes.read(offset, 8)}
        bitmap: tuple[int, int] | None = None
        while at < end:
            kind, size, bits = self._section(at, end)
            known[kind] = at, size
            if kind < 6:
                heads[kind] = self._read_section(kind, at, size)
            elif kind == 6 and bits == 0:
                bitmap = at, size
            elif kind == 6 and bits == 254 and bitmap is not None:
                # The bits are those of the field before.
                known[6] = bitmap
            elif kind == 7:
                if not {1, 3, 4, 5, 6} <= set(known):
                    raise ValueError("a section is missing")
                if number >= _FIELDS:
                    raise ValueError(f"it has more than {_FIELDS} fields")
                # That of the first one is the message.
                yield GribField(offset, length, number, dict(known) if number else {}), dict(heads)
                number += 1
            at += size

    # What damaged messages say

    def _look_at_lost(self, offset: int, end: int, found: list[Heads]) -> bool:
        """Add what is read of the fields of a damaged message; tell whether these are all that it had.

        Raises
        ------
        ValueError
            It cannot be followed to its end.
        """
        first = self._bytes.read(offset, 16)
        edition, length = self._length_said(offset, first)
        if edition == 1:
            found.append(self._lost_of_edition_1(offset, length, end))
            return True
        heads: Heads = {0: first[:8]}
        at, said = offset + 16, offset + length - len(_END)
        is_begun = False
        try:
            while at != said and self._bytes.read(at, len(_END)) != _END:
                number, size, _ = self._section_said(at)
                self._count_lost(size if number < 6 else 0)
                if number == 7:
                    found.append(self._completed(heads))
                    is_begun = False
                    if at + size > end:
                        # Its values were cut, and no other field came behind them.
                        return at + size == said
                _, size, _ = self._section(at, end)
                if number < 6:
                    heads[number] = self._read_section(number, at, size)
                is_begun |= number == 4
                at += size
        except ValueError:
            if is_begun:
                found.append(self._completed(heads))
            raise
        return True

    def _lost_of_edition_1(self, offset: int, length: int, end: int) -> Heads:
        """Return what is read of the field of a damaged message of edition 1."""
        at = offset + 8
        heads: Heads = {}
        for kind, flag in ((1, 0), (2, _GRID), (3, _BITMAP)):
            if flag and not heads[1][7] & flag:
                continue
            size = _size(self._bytes.read(at, 3))
            self._count_lost(size)
            if size < (28 if kind == 1 else 6) or at + size > end:
                if kind < 3:
                    raise ValueError(f"section {kind} is lost")
                at = end
                break
            heads[kind] = self._bytes.read(at, min(size, _HEAD_OF_BITMAP) if kind == 3 else size)
            at += size
        left = min(_HEAD_OF_DATA, end - at)
        data = self._bytes.read(at, left) if left >= len(_PACKED[1]) else b""
        if data:
            # Of a message that is too long this is not its size.
            size = _size(data) if _size(data) >= _UNIT else max(offset + length - len(_END) - at, 0)
            heads[4] = min(size, _UNCOUNTED).to_bytes(3, "big") + data[3:]
        else:
            heads[4] = _PACKED[1]
            heads.pop(3, None)
            if _is_counted(heads):
                raise ValueError("the points of its grid are counted by its values, which are lost")
        return self._whole(heads, (1, 2))

    def _completed(self, heads: Heads) -> Heads:
        """Return what is read of a field of edition 2, with how it is packed where that is lost."""
        if not {1, 3, 4} <= set(heads):
            raise ValueError("a section is missing")
        return self._whole({5: self._packed or _PACKED[2], **heads}, (1, 3, 4))

    def _whole(self, heads: Heads, sections: tuple[int, ...]) -> Heads:
        """Return what is read of a field, unless another message begins in it."""
        if any(b"GRIB" in heads.get(number, b"") for number in sections):
            raise ValueError("it was cut before it says what it is")
        return dict(heads)

    def _count_lost(self, size: int) -> None:
        """Count a section that is read; messages may seem to begin anywhere in a file that is damaged."""
        self._sections_left -= 1
        self._bytes_left -= size
        if self._sections_left < 0 or self._bytes_left < 0:
            raise ValueError("too much was read of messages that are lost")

    def message(self, found: GribField) -> bytes:
        """Return a field as a message of its own."""
        if not found.number:
            if found.length > _LARGEST:
                raise ValueError(f"it has more than {_LARGEST} bytes")
            data = self._bytes.alone(found.offset, found.length)
            _, length = self._length_said(found.offset, data[:16])
            if data[:4] != b"GRIB" or data[: max(length, 0)][-len(_END) :] != _END:
                raise ValueError(f"the message at byte {found.offset} does not end where its length says")
            return data
        if sum(size for _, size in found.sections.values()) > _LARGEST:
            raise ValueError(f"it has more than {_LARGEST} bytes")
        parts = [self._bytes.alone(*found.sections[number]) for number in sorted(found.sections)]
        return message_of(parts, self._bytes.read(found.offset, 8))


def message_of(sections: list[bytes], first: bytes) -> bytes:
    """Return a message of edition 2 of its sections, and the first bytes of one like it."""
    body = b"".join(sections)
    return first[:8] + (16 + len(body) + len(_END)).to_bytes(8, "big") + body + _END


def message_without_data(heads: Heads) -> bytes:
    """Return a message that says of itself what one does of which the heads are."""
    if 0 in heads:
        # No bits that say which values are there, and no values.
        empty = b"\0\0\0\6\6\xff", b"\0\0\0\5\7"
        return message_of([*(heads[number] for number in sorted(heads) if number), *empty], heads[0])
    product, data = heads[1], heads[4]
    if _is_counted(heads):
        # Zeros take the place of its bits and values: eccodes counts the points by them.
        bitmap = _padded(heads[3]) if 3 in heads else b""
        body = product + heads.get(2, b"") + bitmap + _padded(data)
    else:
        plain = product[:7] + bytes([product[7] & ~_BITMAP]) + product[8:]
        body = plain + heads.get(2, b"") + len(data).to_bytes(3, "big") + data[3:]
    return b"GRIB" + (8 + len(body) + len(_END)).to_bytes(3, "big") + b"\1" + body + _END


def _is_counted(heads: Heads) -> bool:
    """Return whether the values of a field of edition 1 say how many points its grid has.

    Those of Gaussian grids do, as eccodes has it for areas of old files; others have the number of a grid
    that is described elsewhere. Those of a message that is too long for its lengths are not counted.
    """
    return (2 not in heads or heads[2][5] in _GAUSSIAN) and _size(heads[4]) < _UNCOUNTED


def _size(section: bytes) -> int:
    return int.from_bytes(section[:3], "big")


def _padded(head: bytes) -> bytes:
    """Return a section of edition 1 of which only the head is known, with zeros behind."""
    return head + bytes(max(_size(head) - len(head), 0))


def start_of(heads: Heads) -> int | None:
    """Return the reference time of a field in seconds since 1970; None where it is none."""
    first = heads[1]
    try:
        if 0 in heads:
            year, rest = int.from_bytes(first[12:14], "big"), first[14:18]
        else:
            year, rest = 100 * (first[24] - 1) + first[12], first[13:17]
        month, day, hour, minute = rest
        return int(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp())
    except (ValueError, IndexError, TypeError, OverflowError):
        return None


def alike(heads: Heads) -> tuple[bytes, ...]:
    """Return what is the same of fields that differ in reference time and values only."""
    first = heads[1]
    if 0 in heads:
        packing = heads[5][9:11]
        return heads[0][6:7], first[:12] + first[19:], heads.get(2, b""), heads[3], heads[4], packing
    flags = heads[4][3:4]
    more = heads[4][13:14] if flags[0] & _MORE_FLAGS else b""
    lengths = heads.get(3, b"")[:4] + heads[4][:4] + heads[4][10:11] if _is_counted(heads) else b""
    return first[:12] + first[17:24] + first[25:], heads.get(2, b""), flags + more, lengths


def named_alike(heads: Heads) -> tuple[bytes, ...]:
    """Return what is the same of fields that have one name: they may differ in step and member too."""
    found = list(alike(heads))
    if 0 not in heads:
        found[0] = found[0][:13] + found[0][15:]
        return tuple(found)
    product = bytearray(heads[4])
    unnamed = _UNNAMED.get(int.from_bytes(product[7:9], "big"), ())
    if unnamed and product[22] in _LEVELS and product[28] == _NO_SURFACE:
        unnamed = (*unnamed, (23, 28))
    for start, stop in unnamed:
        product[start:stop] = bytes(len(product[start:stop]))
    found[4] = bytes(product)
    return tuple(found)
