"""Fields that an index lists: one message of each kind is read, the others are what the index says they are.

It imports nothing of ours: the process that reads GRIB loads it by its path.

Heads of a message that is not read are those of one of its kind with another reference time, step, level or
member. That is how the fields of both come to lie in one array, as if all had been read.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from refbrowser.formats.library.grib_messages import GribField, GribMessages, Heads

#: What is done with a message: it is known by another one, it is read, it is read and known by another one.
KNOWN, READ, CHECKED = 0, 1, 2
#: Templates of products (code table 4.0) whose levels and steps stand where they stand in template 0.
_POINTS = (0, 1, 2, 5, 6)
#: Of templates of an interval, where its end begins.
_INTERVALS = {8: 34, 9: 47, 10: 35, 11: 37, 12: 36}
#: Templates of one member, and where its number is.
_MEMBERS, _MEMBER = (1, 11), 35
#: Where section 4 has its template, quantity, unit of steps, step, and the two surfaces of its level.
_TEMPLATE, _QUANTITY, _UNIT, _STEP = slice(7, 9), slice(9, 11), 17, slice(18, 22)
_FIRST, _SECOND = 22, 28
#: Behind the beginning of the end of an interval: how many there are, the unit of its length, its length.
_COUNT, _LENGTH_UNIT, _LENGTH = 7, 14, slice(15, 19)
#: Where section 1 has the reference time.
_START = slice(12, 19)
#: Seconds of units of time (code table 4.4) that are always as long.
_SECONDS = {0: 60, 1: 3600, 2: 86400, 10: 3 * 3600, 11: 6 * 3600, 12: 12 * 3600, 13: 1}
_NO_SURFACE, _MOST_DIGITS, _MOST = 255, 20, 1 << 31
#: Bytes of section 4 that these templates have at least; those with which a message begins.
_SHORTEST, _BEGINNING = 34, 16


class Row(NamedTuple):
    """What an index says of a field.

    Attributes
    ----------
    part
        Its number in its message, from 1 on; 0 of one that is alone there.
    kind
        Number of what is said of kinds.
    start
        Reference time, seconds since 1970.
    low, high
        The numbers of its level, as they are written; `high` alone where there is one.
    first, last
        Beginning and end of its interval in seconds from `start`; `last` alone of a moment.
    member
        Of an ensemble.
    """

    offset: int
    length: int
    part: int
    kind: int
    use: int
    start: int | None
    low: str | None
    high: str | None
    first: int | None
    last: int | None
    member: int | None


class IndexedMessages:
    """The fields of a file that an index lists.

    Parameters
    ----------
    messages
        Reads the file; is told what is wrong.
    index
        ``rows``, in the order of their places, as `Row` has them; ``kinds`` with ``edition``, 0 for any, and
        ``quantity``, discipline, category and number where these are known; ``is_length`` where the lengths
        are told, not reckoned by the place of the message behind.
    """

    def __init__(self, messages: GribMessages, index: dict[str, Any]) -> None:
        self._messages = messages
        self._rows = [Row(*each) for each in index["rows"]]
        self._kinds = index["kinds"]
        self._is_length = index["is_length"]
        self._samples: dict[int, tuple[Row, Heads]] = {}
        #: Others by which it is known what messages were that are lost, where the first of a kind is.
        self._deputies: dict[int, tuple[Row, Heads]] = {}
        #: Heads that were read, and lengths, by the number of the row; why a message is lost.
        self._read: dict[int, tuple[int, Heads] | None] = {}
        self._why: dict[int, str] = {}
        #: Kinds whose messages are not what the index and one of them tell, and those that nothing checks.
        self._doubted: set[int] = set()
        self._unchecked: set[int] = set()
        #: Whether something lies between messages that the index does not list.
        self._has_gaps = False

    def fields(self, most: int) -> Iterator[tuple[GribField, Heads]]:
        """Yield each field with the heads of its message, in the order of the file."""
        self._sample()
        number = 0
        while number < len(self._rows):
            row = self._rows[number]
            count = 1
            while row.part and number + count < len(self._rows):
                if self._rows[number + count].offset != row.offset:
                    break
                count += 1
            if self._messages.count >= most:
                self._messages.loss(f"only the first {most} messages are shown")
                return
            if row.part:
                self._messages.count += 1
                yield from self._parts(self._rows[number : number + count])
            elif (found := self._known(number)) is not None:
                self._messages.count += 1
                length, heads = found
                yield self._messages.field(row.offset, length), dict(heads)
            else:
                yield from self._lost(number)
            number += count
        self._tell_stale()

    def compare(self) -> None:
        """Read what all messages say of themselves; what is wrong is told to `GribMessages`."""
        for number, row in enumerate(self._rows):
            if row.part:
                for _ in self._parts([row]):
                    pass
            # With the end comes the head of the message behind it.
            elif (found := self._head_of(number)) is None:
                self._messages.loss(self._said(number))
            elif not self._messages.ends_at(row.offset + found[0]):
                self._wrong(row, "does not end where its length says")
        self._sample()
        self._tell_stale()
        for number, row in enumerate(self._rows):
            read, sample = self._read.get(number), self._samples.get(row.kind)
            if read is None or sample is None or row.use != KNOWN or row.kind in self._doubted:
                continue
            made = derived(sample[1], sample[0], row)
            if made is not None and _compared(made) != _compared(read[1]):
                self._wrong(row, "is not of the kind that the index says")

    # What is read

    def _sample(self) -> None:
        """Read a message of each kind, and one more of those that others are known by."""
        for number, row in enumerate(self._rows):
            if row.use != READ or row.part or row.kind in self._samples:
                continue
            found = self._head_of(number)
            if found is not None:
                self._samples[row.kind] = row, found[1]
        for number, row in enumerate(self._rows):
            if row.use != CHECKED:
                continue
            own = self._said_itself(number)
            if row.kind not in self._samples:
                if own is not None:
                    self._deputies[row.kind] = row, own
                continue
            sample, heads = self._samples[row.kind]
            made = derived(heads, sample, row)
            if own is None:
                self._unchecked.add(row.kind)
            elif made is None or _compared(made) != _compared(own):
                self._doubted.add(row.kind)

    def _tell_stale(self) -> None:
        """Tell that nothing is where the index says, if that is so."""
        is_found = self._samples or self._deputies or any(row.part for row in self._rows)
        if self._rows and not is_found:
            self._messages.loss(
                "no message is where the index says: it is of another file, or of another day"
            )

    # What is lost

    def _lost(self, number: int) -> Iterator[tuple[GribField, Heads]]:
        """Yield the field of a message that is lost, as it says itself what it was, or as the index does."""
        row, why = self._rows[number], self._said(number)
        heads = self._said_itself(number)
        known = self._samples.get(row.kind) or self._deputies.get(row.kind)
        if heads is None and known is not None and row.kind not in self._doubted:
            heads = derived(known[1], known[0], row)
        if heads is None:
            self._messages.loss(why)
            return
        self._messages.problem(why)
        yield self._messages.field(row.offset, 0, lost=why), dict(heads)

    def _said_itself(self, number: int) -> Heads | None:
        """Return the heads of a message, of one that is damaged too; None where they are not as listed."""
        if (found := self._head_of(number)) is not None:
            return found[1]
        row = self._rows[number]
        said = self._kinds[row.kind]
        for heads in self._messages.said_of_lost(row.offset)[0][:1]:
            edition = 2 if 0 in heads else 1
            if said["edition"] in (0, edition) and _differing(row, said["quantity"], heads) is None:
                return heads
        return None

    def _said(self, number: int) -> str:
        """Return why a message is lost."""
        return f"the message at byte {self._rows[number].offset} {self._why[number]}"

    def _known(self, number: int) -> tuple[int, Heads] | None:
        """Return the length of a message and its heads; None of one that is lost."""
        row = self._rows[number]
        is_read = row.use != KNOWN or self._has_gaps or row.kind in self._doubted | self._unchecked
        if is_read or row.kind not in self._samples:
            return self._head_of(number)
        if row.offset + max(row.length, _BEGINNING) > self._messages.size:
            self._why[number] = self._cut(row)
            return None
        sample, heads = self._samples[row.kind]
        made = derived(heads, sample, row)
        return self._head_of(number) if made is None else (row.length, made)

    def _head_of(self, number: int) -> tuple[int, Heads] | None:
        """Return the length and the heads that a message says itself; None where they are not as listed."""
        if number not in self._read:
            row = self._rows[number]
            self._read[number] = None
            try:
                self._read[number] = self._checked(row)
            except ValueError as error:
                self._why[number] = str(error)
        return self._read[number]

    def _checked(self, row: Row) -> tuple[int, Heads]:
        if row.offset + _BEGINNING > self._messages.size:
            raise ValueError(self._cut(row))
        try:
            edition, length, heads = self._messages.head(row.offset)
        except ValueError as error:
            raise ValueError(f"cannot be read: {error}") from None
        if length > row.length or (self._is_length and length != row.length):
            raise ValueError(f"has {length} bytes, and the index says {row.length}")
        self._has_gaps |= length < row.length
        said = self._kinds[row.kind]
        if said["edition"] and edition != said["edition"]:
            raise ValueError(f"is of edition {edition}, and the index lists edition {said['edition']}")
        if (wrong := _differing(row, said["quantity"], heads)) is not None:
            raise ValueError(wrong)
        return length, heads

    def _parts(self, rows: list[Row]) -> Iterator[tuple[GribField, Heads]]:
        """Yield the fields of one message that are listed."""
        wanted = {row.part: row for row in rows}
        try:
            _, length, _ = self._messages.head(rows[0].offset)
            for field, heads in self._messages.fields_of(rows[0].offset, length):
                row = wanted.pop(field.number + 1, None)
                if row is None:
                    continue
                if (wrong := _differing(row, self._kinds[row.kind]["quantity"], heads)) is not None:
                    self._wrong(row, wrong)
                else:
                    yield field, heads
        except ValueError as error:
            why = f"the message at byte {rows[0].offset} cannot be read: {error}"
            said, _ = self._messages.said_of_lost(rows[0].offset)
            for number, heads in enumerate(said):
                row = wanted.get(number + 1)
                if row is not None and not _differing(row, self._kinds[row.kind]["quantity"], heads):
                    del wanted[row.part]
                    yield self._messages.field(row.offset, 0, number, why), heads
            (self._messages.loss if wanted else self._messages.problem)(why)
            return
        for part in wanted:
            self._wrong(rows[0], f"has no field {part}, which the index lists")

    def _cut(self, row: Row) -> str:
        return f"is not there: the file has {self._messages.size} bytes, the index {row.offset + row.length}"

    def _wrong(self, row: Row, message: str) -> None:
        self._messages.loss(f"the message at byte {row.offset} {message}")


def _differing(row: Row, quantity: list[int] | None, heads: Heads) -> str | None:
    """Return in what a message of edition 2 is not what an index says; None where nothing differs."""
    if 0 not in heads:
        return None
    product = heads[4]
    if len(product) < _SHORTEST:
        return "describes no product"
    start = start_of(heads)
    if row.start is not None and start != row.start:
        return f"is of {_text_of(start)}, and the index says {_text_of(row.start)}"
    found = [heads[0][6], *product[_QUANTITY]]
    if quantity is not None and found != quantity:
        numbers = " ".join(map(str, found))
        return f"is of another quantity (discipline, category, number {numbers}) than the index says"
    template = int.from_bytes(product[_TEMPLATE], "big")
    if template in _POINTS and row.first is None and row.last is not None:
        step = _step(product)
        if step is not None and step != row.last:
            return f"is of another step ({step} s) than the index says ({row.last} s)"
    is_member = template in _MEMBERS and len(product) > _MEMBER
    if is_member and row.member is not None and product[_MEMBER] != row.member:
        return f"is of member {product[_MEMBER]}, and the index says {row.member}"
    return None


def derived(heads: Heads, mine: Row, wanted: Row) -> Heads | None:
    """Return the heads of a message of which the index tells, by those of another one of its kind.

    Returns
    -------
    Heads or None
        None where nobody can say what they are.
    """
    if 0 not in heads or wanted.part or mine.part or len(heads[4]) < _SHORTEST:
        return None
    product = bytearray(heads[4])
    template = int.from_bytes(product[_TEMPLATE], "big")
    if template not in _POINTS and template not in _INTERVALS:
        return None
    first = bytearray(heads[1])
    if wanted.start != mine.start:
        if wanted.start is None or mine.start is None:
            return None
        first[_START] = _date(wanted.start)
    is_alike = (
        _put_member(product, template, mine, wanted)
        and _put_step(product, template, mine, wanted)
        and _put_level(product, mine, wanted)
    )
    return {**heads, 1: bytes(first), 4: bytes(product)} if is_alike else None


def start_of(heads: Heads) -> int | None:
    """Return the reference time of a field of edition 2, in seconds since 1970; None where it is none."""
    first = heads[1][_START]
    try:
        month, day, hour, minute, second = first[2:]
        date = datetime(int.from_bytes(first[:2], "big"), month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return int(date.timestamp())


def _put_member(product: bytearray, template: int, mine: Row, wanted: Row) -> bool:
    if wanted.member == mine.member:
        return True
    if template not in _MEMBERS or len(product) <= _MEMBER or wanted.member is None:
        return False
    if product[_MEMBER] != mine.member or not 0 <= wanted.member < 256:
        return False
    product[_MEMBER] = wanted.member
    return True


def _put_step(product: bytearray, template: int, mine: Row, wanted: Row) -> bool:
    """Put a step to its place, or an interval and its end."""
    is_same = (wanted.first, wanted.last) == (mine.first, mine.last)
    unit = _SECONDS.get(product[_UNIT])
    if template in _POINTS:
        if is_same:
            return True
        if wanted.first is not None or mine.first is not None or unit is None or _step(product) != mine.last:
            return False
        return _put(product, _STEP, wanted.last, unit)
    if is_same and wanted.start == mine.start:
        return True
    at = _INTERVALS[template]
    units = unit, _SECONDS.get(product[at + _LENGTH_UNIT])
    told = mine.start, mine.first, mine.last, wanted.start, wanted.first, wanted.last
    if len(product) < at + 19 or product[at + _COUNT] != 1 or None in units or None in told:
        return False
    length = int.from_bytes(product[at + _LENGTH.start : at + _LENGTH.stop], "big") * (units[1] or 0)
    is_known = (
        _step(product) == mine.first
        and length == (mine.last or 0) - (mine.first or 0)
        and product[at : at + 7] == _date((mine.start or 0) + (mine.last or 0))
    )
    if not is_known:
        return False
    product[at : at + 7] = _date((wanted.start or 0) + (wanted.last or 0))
    inside = slice(at + _LENGTH.start, at + _LENGTH.stop)
    new = (wanted.last or 0) - (wanted.first or 0)
    return _put(product, _STEP, wanted.first, unit) and _put(product, inside, new, units[1])


def _put(product: bytearray, place: slice, seconds: int | None, unit: int | None) -> bool:
    if seconds is None or not unit or seconds % unit or not 0 <= seconds // unit < _MOST:
        return False
    product[place] = (seconds // unit).to_bytes(4, "big")
    return True


def _put_level(product: bytearray, mine: Row, wanted: Row) -> bool:
    """Put the numbers of a level to their places, in the unit that those of the other one have."""
    if (wanted.low, wanted.high) == (mine.low, mine.high):
        return True
    written = [(_FIRST, mine.high, wanted.high)]
    if mine.low is not None:
        written = [(_FIRST, mine.low, wanted.low), (_SECOND, mine.high, wanted.high)]
        if product[_FIRST] != product[_SECOND]:
            return False
    elif wanted.low is not None or product[_SECOND] != _NO_SURFACE:
        return False
    units: set[Fraction] = set()
    wanted_values: list[tuple[int, Fraction]] = []
    for at, old, new in written:
        value = _surface(product, at)
        if old is None or new is None or value is None:
            return False
        if Fraction(old):
            units.add(value / Fraction(old))
        elif value:
            return False
        wanted_values.append((at, Fraction(new)))
    return len(units) == 1 and all(_put_surface(product, at, each * min(units)) for at, each in wanted_values)


def _surface(product: bytes | bytearray, at: int) -> Fraction | None:
    """Return the value of a surface; None where it has none."""
    scale, value = product[at + 1], int.from_bytes(product[at + 2 : at + 6], "big")
    if scale == 255 or value == 0xFFFFFFFF:
        return None
    # The first bit is a sign.
    power = -(scale & 0x7F) if scale & 0x80 else scale
    number = -(value & 0x7FFFFFFF) if value & 0x80000000 else value
    return Fraction(number) / Fraction(10) ** power


def _put_surface(product: bytearray, at: int, value: Fraction) -> bool:
    for power in range(_MOST_DIGITS):
        number = value * 10**power
        if number.denominator == 1:
            break
    else:
        return False
    if not abs(number) < _MOST:
        return False
    sign = 0x80000000 if number < 0 else 0
    product[at + 1] = power
    product[at + 2 : at + 6] = (sign | abs(int(number))).to_bytes(4, "big")
    return True


def _step(product: bytes | bytearray) -> int | None:
    """Return the step of a product in seconds; None where its unit is of no fixed length."""
    unit = _SECONDS.get(product[_UNIT])
    value = int.from_bytes(product[_STEP], "big")
    return None if unit is None or value >= _MOST else value * unit


def _date(seconds: int) -> bytes:
    date = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return date.year.to_bytes(2, "big") + bytes([date.month, date.day, date.hour, date.minute, date.second])


def _compared(heads: Heads) -> Any:
    """Return what two fields have in common that are at one place of one array; how they are packed aside."""
    if 0 not in heads or len(heads[4]) < _SHORTEST:
        return heads
    product = bytes(heads[4])
    levels = [(product[at], _surface(product, at)) for at in (_FIRST, _SECOND)]
    return heads[0][6], heads[1], heads.get(2), heads[3], product[:_FIRST], levels, product[_SECOND + 6 :]


def _text_of(seconds: int | None) -> str:
    return "no time" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M")
