"""Regular axes of time, as words say them: ``time=2015-01-01:2024-12-31:1D``. Nothing is expanded.

Instants are microseconds from the beginning of 1970 in their calendar, so that all calendars count alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted, usage_error
from refbrowser.model.calendars import DAY, LENGTHS, calendar_dates, day_numbers, start_of
from refbrowser.model.cf import TimeUnits
from refbrowser.words import span_text

Ints = npt.NDArray[np.int64]

#: A date as words of axes have it, as far as somebody likes to write it.
DATE = r"\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d)?)?Z?)?)?)?"
_WORDS = re.compile(rf"(?P<name>[^=]+)=(?:(?P<begin>{DATE})?:(?P<end>{DATE})?:)?(?P<step>[^:]+)", re.ASCII)
_PARTS = re.compile(r"\d+")
_STEP = re.compile(r"(\d{1,9})? ?([A-Za-z]+)", re.ASCII)
#: As ISO 8601 writes durations, days and more, and parts of days.
_DURATION = re.compile(r"P(\d{1,9})([YMWD])", re.ASCII)
_CLOCK = re.compile(r"PT(\d{1,9})([HMS])", re.ASCII)
_CLOCK_UNITS = {"H": "hours", "M": "minutes", "S": "seconds"}
_SHOWN = 8
#: Years that a step has at most: no date is written that lies further from another.
_MOST_YEARS = 10_000
#: Digits of a year: instants of longer ones are larger than 64 bits.
_DIGITS = 5
#: The last day that each month of every calendar has.
_LAST_DAY = 28
_MONTHS = {
    **dict.fromkeys(("month", "months", "monthly", "M", "MS"), 1),
    **dict.fromkeys(("year", "years", "yearly", "annual", "Y", "YS", "A", "AS"), 12),
}
_LENGTHS = {
    **dict.fromkeys(("second", "seconds", "sec", "s", "S"), LENGTHS["seconds"]),
    **dict.fromkeys(("minute", "minutes", "min", "T"), LENGTHS["minutes"]),
    **dict.fromkeys(("hour", "hours", "hourly", "h", "H"), LENGTHS["hours"]),
    **dict.fromkeys(("day", "days", "daily", "d", "D"), DAY),
    **dict.fromkeys(("week", "weeks", "weekly", "W"), 7 * DAY),
}
#: What a part of a date that is not written is at its beginning.
_FIRST = (1, 1, 1, 0, 0, 0)
_STEPS = "for example 1D, 6h, 30min, month or year"
_EXAMPLE = "for example time=2015-01-01:2024-12-31:1D; either end may be left out, or both: time=month"


@dataclass(frozen=True, slots=True)
class TimeStep:
    """From one time of an axis to the next.

    Attributes
    ----------
    months
        How many; 0 for a step of a length.
    length
        In microseconds; 0 for months.
    text
        As it was said.
    """

    months: int
    length: int
    text: str

    @classmethod
    def parse(cls, text: str) -> TimeStep:
        """Return the step that ``1D``, ``6h``, ``month``, ``3 months``, ``MS`` or ``PT6H`` say.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is none.
        """
        clock = _CLOCK.fullmatch(text.strip())
        match = clock or _DURATION.fullmatch(text.strip()) or _STEP.fullmatch(text.strip())
        count = int(match[1] or 1) if match else 0
        word = _CLOCK_UNITS[match[2]] if match and clock else match[2] if match else ""
        for name in (word, word.lower()) if len(word) > 1 else (word,):
            months, length = count * _MONTHS.get(name, 0), count * _LENGTHS.get(name, 0)
            if months > 12 * _MOST_YEARS or length > 366 * _MOST_YEARS * DAY:
                raise usage_error(f"{quoted(text)} is more than {_MOST_YEARS:,} years", _STEPS)
            if months or length:
                return cls(months, length, text)
        message = f"{quoted(text)} is not a step of time"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=_STEPS)


@dataclass(frozen=True, slots=True)
class AxisWords:
    """A regular axis as it is said; what is left out follows from the times that are there.

    Attributes
    ----------
    name
        Of the dimension.
    begin, end
        Dates as they are written; the end is all of the day, month or year that it names. Empty for the first
        and the last time that is there.
    """

    name: str
    begin: str
    end: str
    step: TimeStep

    @classmethod
    def parse(cls, text: str) -> AxisWords:
        """Return what ``NAME=FROM:TO:STEP`` says, or ``NAME=STEP`` where both ends are left out.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is not of this form.
        """
        match = _WORDS.fullmatch(text.strip())
        if match is None:
            raise usage_error(f"{quoted(text)} is not of the form NAME=FROM:TO:STEP", _EXAMPLE)
        return cls(
            match["name"].strip(), match["begin"] or "", match["end"] or "", TimeStep.parse(match["step"])
        )

    def axis(self, calendar: str, there: Ints | None = None) -> TimeAxis:
        """Return the axis in a calendar.

        Parameters
        ----------
        there
            Instants of the times that are there.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: a date is not in the calendar; the end lies before the beginning; an end is left out
            and nothing is there.
        """
        begin = instant_of(self.begin, calendar) if self.begin else self._first(calendar, there)
        end = instant_behind(self.end, calendar) if self.end else self._last(there) + 1
        _check_day(begin, calendar, self.step)
        size = int(TimeAxis(calendar, begin, self.step, 0).positions(np.array([end - 1], np.int64))[0][0]) + 1
        if size < 1:
            raise usage_error(f"the axis {quoted(self.name)} ends before it begins", _EXAMPLE)
        return TimeAxis(calendar, begin, self.step, size)

    def _first(self, calendar: str, there: Ints | None) -> int:
        first = self._ends(there)[0]
        if not self.step.months:
            return first
        (year,), (month,), (day,) = calendar_dates(np.array([first // DAY]), calendar)
        own = TimeAxis(calendar, first, self.step, 0)
        if there is not None and day <= _LAST_DAY and bool(own.positions(there)[1].all()):
            return first
        # Times in the middle or at the end of months: they lie in these.
        return int(day_numbers(year, month, 1, calendar)) * DAY

    def _last(self, there: Ints | None) -> int:
        return self._ends(there)[1]

    def _ends(self, there: Ints | None) -> tuple[int, int]:
        if there is None or not len(there):
            raise usage_error(f"nothing tells where the axis {quoted(self.name)} begins or ends", _EXAMPLE)
        return int(there.min()), int(there.max())


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Times at regular distances; months are as long as the calendar has them.

    Attributes
    ----------
    start
        The first instant.
    size
        How many there are.
    """

    calendar: str
    start: int
    step: TimeStep
    size: int

    def instants(self, positions: Ints) -> Ints:
        """Return the instants at positions, shape (n,)."""
        at = np.asarray(positions, np.int64)
        if not self.step.months:
            return self.start + at * self.step.length
        year, month, day, rest = self._start_parts()
        months = year * 12 + month - 1 + at * self.step.months
        days = day_numbers(months // 12, months % 12 + 1, day, self.calendar)
        return days * DAY + rest

    def positions(self, instants: Ints, tolerance: int = 0) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Return the position of the last time that is not after each instant, and whether it is that time.

        Positions of what lies before or behind the axis are below 0 or not below its size.

        Parameters
        ----------
        tolerance
            Microseconds by which instants may be wrong.
        """
        there = np.asarray(instants, np.int64) + tolerance
        if not self.step.months:
            at, rest = np.divmod(there - self.start, self.step.length)
            return at, rest <= 2 * tolerance
        year, month, _, _ = self._start_parts()
        years, months, _ = calendar_dates(there // DAY, self.calendar)
        at = ((years * 12 + months) - (year * 12 + month)) // self.step.months
        # In its own month it may be early.
        at -= (self.instants(at) > there).astype(np.int64)
        return at, there - self.instants(at) <= 2 * tolerance

    def _start_parts(self) -> tuple[int, int, int, int]:
        number, rest = divmod(self.start, DAY)
        year, month, day = (int(part[0]) for part in calendar_dates(np.array([number]), self.calendar))
        return year, month, day, rest

    def texts(self, positions: Ints) -> list[str]:
        """Return the dates at positions, as far as the step needs them: ``2016-05``, ``2016-05-01T06:00``."""
        instants = self.instants(np.asarray(positions, np.int64))
        whole_days = self.start % DAY == 0 and self.step.length % DAY == 0
        first_days = bool(self.step.months) and whole_days and self._start_parts()[2] == 1
        return [instant_text(each, self.calendar)[: 7 if first_days else 10 if whole_days else 19] for each in
                instants.tolist()]  # fmt: skip

    def runs_text(self, positions: Ints, most: int = _SHOWN) -> str:
        """Return positions in words, neighbours as one: ``2016-05, 2017-01 to 2017-03 and 4 more``."""
        runs = [*runs_of(positions)]
        shown = list(islice(runs, most))
        firsts = self.texts(np.array([first for first, _ in shown], np.int64))
        lasts = self.texts(np.array([last for _, last in shown], np.int64))
        words = map(span_text, firsts, lasts)
        more = sum(last - first + 1 for first, last in runs[most:])
        return ", ".join(words) + (f" and {more} more" if more else "")


def runs_of(positions: Ints) -> Iterator[tuple[int, int]]:
    """Yield first and last of each run of neighbours among rising positions."""
    at = np.asarray(positions, np.int64)
    if not len(at):
        return
    breaks = np.flatnonzero(np.diff(at) != 1)
    firsts, lasts = at[np.r_[0, breaks + 1]], at[np.r_[breaks, len(at) - 1]]
    yield from zip(firsts.tolist(), lasts.tolist(), strict=True)


def instant_of(text: str, calendar: str) -> int:
    """Return the instant at which a date begins that is written as the axes of words have it.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is not in the calendar.
    """
    parts = _parts(text)
    return _instant([*parts, *_FIRST[len(parts) :]], text, calendar)


def instant_behind(text: str, calendar: str) -> int:
    """Return the instant behind all that a date names; raises as `instant_of`."""
    parts = _parts(text)
    begin = instant_of(text, calendar)
    if len(parts) > 2:
        return begin + (DAY, LENGTHS["hours"], LENGTHS["minutes"], LENGTHS["seconds"])[len(parts) - 3]
    year, month = parts[0], (parts[1] if len(parts) > 1 else 12)
    year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    return int(day_numbers(year, month, 1, calendar)) * DAY


def _parts(text: str) -> list[int]:
    parts: list[str] = _PARTS.findall(text)
    if any(len(each) > _DIGITS for each in parts):
        raise usage_error(f"{quoted(text)} is not a date: its numbers are too long")
    return [int(each) for each in parts]


def _instant(parts: list[int], text: str, calendar: str) -> int:
    year, month, day, hour, minute, second = parts
    try:
        number = day_numbers(year, month, day, calendar)
    except ValueError as error:
        raise usage_error(f"{quoted(text)} is not a date: {error}") from None
    if hour > 23 or minute > 59 or second > 59 or _date(int(number), calendar) != (year, month, day):
        raise usage_error(f"{quoted(text)} is not a date of the calendar {quoted(calendar)}")
    return int(number) * DAY + ((hour * 60 + minute) * 60 + second) * LENGTHS["seconds"]


def _date(number: int, calendar: str) -> tuple[int, int, int]:
    year, month, day = (int(each[0]) for each in calendar_dates(np.array([number]), calendar))
    return year, month, day


def instant_text(instant: int, calendar: str) -> str:
    """Return the date and time of an instant: ``2016-05-01T06:00:00``."""
    number, rest = divmod(instant, DAY)
    year, month, day = _date(number, calendar)
    seconds = rest // LENGTHS["seconds"]
    hour, minute, second = seconds // 3600, seconds // 60 % 60, seconds % 60
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}"


def _check_day(begin: int, calendar: str, step: TimeStep) -> None:
    day = _date(begin // DAY, calendar)[2]
    if step.months and day > _LAST_DAY:
        message = f"steps of months cannot begin on day {day}: not each month has it"
        raise usage_error(message, f"begin on one of the days 1 to {_LAST_DAY}")


def instants_of(values: npt.NDArray[Any], units: TimeUnits) -> tuple[Ints, int] | None:
    """Return instants of finite times that are numbers, and by how much they may be wrong, as floats are.

    None is returned of units of unequal length, dates that are written otherwise and unknown calendars.
    """
    length, start = LENGTHS.get(units.unit), start_of(units.since, units.calendar)
    if length is None or start is None or values.dtype.kind not in "iuf":
        return None
    if values.dtype.kind != "f" or not values.size:
        return values.astype(np.int64) * length + start, 0
    exact = np.rint(values.astype(np.longdouble) * length)
    return exact.astype(np.int64) + start, 1 + int(float(np.spacing(np.abs(values).max())) * length)
