"""What indexes of GRIB files list: the inventories of wgrib2, and ECMWF's lines of JSON.

An inventory has a line ``1:0:d=2024010100:TMP:2 m above ground:anl:`` for each message: its number, where it
begins, reference time, quantity, level, forecast and what else tells it apart. Lines ``5.1:...`` and
``5.2:...`` are fields of one message. A line of ECMWF is an object with the keys of MARS, ``_offset`` and
``_length``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.limits import LIMITS
from refbrowser.references.content.origins import Fact

#: Bad lines that are told one by one.
_TOLD = 20
_MOST = 1 << 62
_LINE = re.compile(
    r"(\d{1,9})(?:\.(\d{1,6}))?:(\d{1,19}):[dD]=(\d{8,14}):([^:]*):([^:]*):([^:]*)(?::(.*))?\Z"
)
#: The numbers that a level or a time begins with, and what stands behind them.
_NUMBER = r"-?\d{1,12}(?:\.\d{1,12})?"
_LEVEL = re.compile(rf"({_NUMBER})(?:-({_NUMBER}))? (.*)\Z")
_STEPS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))? (min|hour|day)( .*)\Z")
_MEMBER = re.compile(r"(ENS=[+-])(\d{1,4})\Z")
_MARS_STEPS = re.compile(r"(?:(\d{1,9})-)?(\d{1,9})\Z")
_SECONDS = {"min": 60, "hour": 3600, "day": 86400}
#: Keys of ECMWF that tell where a field is in its array, not in which.
_PLACES = ("_offset", "_length", "date", "time", "step", "levelist", "number")
#: Discipline, category and number (code table 4.2 of WMO) of quantities whose names leave no doubt.
_QUANTITIES = {
    **dict.fromkeys(("TMP", "t", "2t"), (0, 0, 0)),
    **dict.fromkeys(("SPFH", "q"), (0, 1, 0)),
    **dict.fromkeys(("RH", "r"), (0, 1, 1)),
    **dict.fromkeys(("UGRD", "u", "10u", "100u"), (0, 2, 2)),
    **dict.fromkeys(("VGRD", "v", "10v", "100v"), (0, 2, 3)),
    **dict.fromkeys(("HGT", "gh"), (0, 3, 5)),
    "PRES": (0, 3, 0),
    "APCP": (0, 1, 8),
    "DZDT": (0, 2, 9),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What a line says of a field.

    Attributes
    ----------
    part
        Its number in its message, from 1 on; 0 of one that is alone there.
    length
        In bytes; None where that is not said.
    start
        Reference time, seconds since 1970; None where the line does not say it whole.
    told
        What it says of the field, as it is written: what a column of the table is called, and its text.
    kind
        What fields have in common that differ in time, step, level and member alone.
    low, high
        The numbers of its level as they are written; `high` alone where there is one.
    first, last
        Beginning and end of its interval in seconds from `start`; `last` alone of a moment.
    file
        Number of the file that it is in, in `Inventory.files`.
    """

    line: int
    message: int
    part: int
    offset: int
    length: int | None
    start: int | None
    told: Mapping[str, str]
    kind: tuple[Any, ...]
    quantity: tuple[int, int, int] | None = None
    low: str | None = None
    high: str | None = None
    first: int | None = None
    last: int | None = None
    member: int | None = None
    file: int = 0

    @property
    def place(self) -> tuple[Any, ...]:
        """Where it is among those of its kind."""
        return self.start, self.low, self.high, self.first, self.last, self.member


@dataclass(frozen=True, slots=True)
class Inventory:
    """What an index lists.

    Attributes
    ----------
    entries
        In the order of their places in the GRIB file.
    is_length
        Whether lengths are told; else a message ends where the next one begins.
    edition
        That all messages are of; 0 where nothing says it.
    findings
        Lines that are not as they should be.
    files
        URLs or paths of the GRIB files, where the index names them itself.
    meanings
        What columns of what it tells mean, by their names.
    """

    entries: tuple[Entry, ...]
    is_length: bool
    edition: int
    findings: tuple[Finding, ...] = ()
    files: tuple[str, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)

    @property
    def listed(self) -> Fact:
        """How many messages it lists."""
        return Fact("Messages listed", len({(each.file, each.offset) for each in self.entries}))


@dataclass(slots=True)
class _Reading:
    """What was read so far, and what is wrong."""

    name: str
    entries: list[Entry] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    bad: int = 0

    def wrong(self, line: int, message: str) -> None:
        """Note what is wrong with a line."""
        self.bad += 1
        if self.bad <= _TOLD:
            self.findings.append(_fault(message, Place(document=self.name, line=line, column=1)))

    def told(self) -> tuple[Finding, ...]:
        """Return what is wrong, with how much more there is of it."""
        more = self.bad - _TOLD
        if more <= 0:
            return tuple(self.findings)
        return (
            *self.findings,
            _fault(f"{more} more lines are not as they should be", Place(document=self.name)),
        )


def _fault(message: str, place: Place) -> Finding:
    return Finding(severity=Severity.FAULT, kind=ErrorKind.FORMAT, message=message, place=place)


def read_inventory(data: bytes, name: str) -> Inventory:
    """Return what an index lists; lines that cannot be read are told, and the others count.

    Parameters
    ----------
    name
        Of the index, for messages.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: it lists too many messages; `E_FORMAT`: it lists none.
    """
    reading = _Reading(name)
    is_json = data.lstrip()[:1] == b"{"
    read = _of_json if is_json else _of_text
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        if len(line) > LIMITS.index_line:
            reading.wrong(number, f"the line has more than {LIMITS.index_line} bytes (index_line)")
            continue
        try:
            reading.entries.append(read(line.decode(), number))
        except (ValueError, RecursionError) as error:
            reading.wrong(number, f"the line cannot be read: {error}")
        if len(reading.entries) > LIMITS.index_messages:
            message = f"the index lists more than {LIMITS.index_messages} messages (index_messages)"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(document=name))
    if not reading.entries:
        raise RefbrowserError(ErrorKind.FORMAT, "the index lists no message", Place(document=name))
    entries = _in_places(reading)
    # What wgrib2 lists is of edition 2; wgrib has dates of eight digits, and other columns.
    is_second = not is_json and all(each.start is not None for each in entries)
    return Inventory(tuple(entries), is_json, 2 if is_second else 0, reading.told())


def _in_places(reading: _Reading) -> list[Entry]:
    """Return the entries in the order of the GRIB file, each place once."""
    found: dict[tuple[int, int], Entry] = {}
    for each in reading.entries:
        first = found.setdefault((each.offset, each.part), each)
        if first is not each:
            reading.wrong(each.line, f"the line lists the message at byte {each.offset} again")
    entries = [found[key] for key in sorted(found)]
    for before, each in pairwise(entries):
        if before.length is not None and before.offset + before.length > each.offset:
            message = f"the message at byte {before.offset} reaches into that at byte {each.offset}"
            reading.wrong(before.line, message)
    return entries


def with_lengths(entries: Sequence[Entry], size: int | None) -> Iterator[Entry]:
    """Yield entries with the lengths that their places leave: up to the next message, the last to the end.

    Parameters
    ----------
    size
        Of the GRIB file, in bytes; None where nobody knows it.
    """
    ends: dict[int, int | None] = {}
    end = size
    for each in reversed(entries):
        if each.offset not in ends:
            ends[each.offset], end = end, each.offset
    for each in entries:
        behind = ends[each.offset]
        if each.length is None and behind is not None:
            yield replace(each, length=max(behind - each.offset, 0))
        else:
            yield each


# The inventory of wgrib2


def _of_text(text: str, line: int) -> Entry:
    found = _LINE.match(text)
    if found is None:
        raise ValueError("it is not NUMBER:OFFSET:d=DATE:QUANTITY:LEVEL:FORECAST")
    message, part, offset, date, quantity, level, forecast, more = found.groups()
    told = {"quantity": quantity, "level": level, "forecast": forecast, "more": (more or "").rstrip(":")}
    start = _start(date)
    if start is None:
        return Entry(line, int(message), int(part or 0), byte_number(offset), None, None, told, (text,))
    low, high, layer = _levels(level)
    first, last, time = _steps(forecast)
    member, group = _member(told["more"])
    return Entry(
        line,
        int(message),
        int(part or 0),
        byte_number(offset),
        None,
        start,
        told,
        (quantity, layer, low is None, high is None, time, first is None, group),
        _QUANTITIES.get(quantity),
        low,
        high,
        first,
        last,
        member,
    )


def _start(digits: str) -> int | None:
    """Return the seconds of a date; None of one of eight digits, which has no century."""
    if len(digits) < 10:
        return None
    fields = [int(digits[:4]), *(int(digits[at : at + 2]) for at in range(4, len(digits) - 1, 2))]
    return int(datetime(*fields, tzinfo=UTC).timestamp())  # type: ignore[arg-type, misc]


def _levels(text: str) -> tuple[str | None, str | None, str]:
    """Return the numbers that a level begins with, and what is left."""
    found = _LEVEL.match(text)
    if found is None:
        return None, None, text
    first, second, rest = found.groups()
    return (None, first, rest) if second is None else (first, second, rest)


def _steps(text: str) -> tuple[int | None, int | None, str]:
    """Return the times that a forecast begins with in seconds, and what is left."""
    found = _STEPS.match(text)
    if found is None:
        return None, None, text
    first, second, unit, rest = found.groups()
    seconds = _SECONDS[unit]
    if second is None:
        return None, int(first) * seconds, unit + rest
    return int(first) * seconds, int(second) * seconds, unit + rest


def _member(text: str) -> tuple[int | None, str]:
    """Return the number of a member, and what is left."""
    found = _MEMBER.match(text)
    return (None, text) if found is None else (int(found[2]), found[1])


def byte_number(value: Any) -> int:
    """Return a number of bytes of a file.

    Raises
    ------
    ValueError
        It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{quoted(str(value))} is no number of bytes")
    number = int(value)
    if not 0 <= number < _MOST:
        raise ValueError(f"{quoted(str(value))} is no number of bytes of a file")
    return number


# ECMWF's lines


def _of_json(text: str, line: int) -> Entry:
    found = json.loads(text)
    if not isinstance(found, dict) or not {"_offset", "_length"} <= found.keys():
        raise ValueError("it is no object with _offset and _length")
    offset, length = byte_number(found["_offset"]), byte_number(found["_length"])
    told = {str(key): _plain(value) for key, value in found.items() if not str(key).startswith("_")}
    # JSON may have halves of characters, which are no text: this raises.
    "".join((*told, *told.values())).encode()
    first, last = _mars_steps(told.get("step", ""))
    member = told.get("number", "")
    level = told.get("levelist", "")
    is_level = re.fullmatch(_NUMBER, level) is not None
    is_member = re.fullmatch(r"\d{1,4}", member) is not None
    kind = tuple((key, told[key]) for key in sorted(told) if key not in _PLACES)
    others = ("" if is_level else level, "" if is_member else member, first is None, last is None)
    return Entry(
        line,
        line,
        0,
        offset,
        length,
        _mars_start(told.get("date", ""), told.get("time", "")),
        told,
        (kind, others, is_level, is_member),
        _QUANTITIES.get(told.get("param", "")),
        None,
        level if is_level else None,
        first,
        last,
        int(member) if is_member else None,
    )


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _mars_start(date: str, time: str) -> int | None:
    date, time = date.replace("-", ""), time.replace(":", "")
    if not re.fullmatch(r"\d{8}", date) or not re.fullmatch(r"\d{1,4}(00)?", time):
        return None
    clock = int(time[:4] if len(time) > 4 else time)
    if len(time) <= 2:
        clock *= 100
    if clock // 100 > 23 or clock % 100 > 59:
        return None
    day = datetime.strptime(date, "%Y%m%d").replace(tzinfo=UTC)
    return int(day.timestamp()) + clock // 100 * 3600 + clock % 100 * 60


def _mars_steps(text: str) -> tuple[int | None, int | None]:
    """Return beginning and end of an interval of hours in seconds; the end alone of a moment."""
    found = _MARS_STEPS.match(text)
    if found is None:
        return None, None
    first, last = found.groups()
    return None if first is None else int(first) * 3600, int(last) * 3600
