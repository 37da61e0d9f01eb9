"""Dates of times that are numbers: those of the usual calendars by Python's own, all others by cftime."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.loading import require

#: Microseconds of units of equal length.
LENGTHS = {
    "microseconds": 1,
    "milliseconds": 10**3,
    "seconds": 10**6,
    "minutes": 60 * 10**6,
    "hours": 3600 * 10**6,
    "days": 86400 * 10**6,
}
DAY = LENGTHS["days"]
#: The days of the Julian calendar end with it; ten dates before it are none.
_BEGIN = (1582, 10, 15)
_EPOCH = datetime(1970, 1, 1)
_DATE = re.compile(
    r"(\d{1,4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6})\d*)?)?)?"
    r"(?: ?(?:Z|UTC|GMT|([+-])(\d\d):?(\d\d)?))?\Z"
)


def _length(duration: timedelta) -> int:
    """Return the microseconds of a duration, which floats would not hold."""
    return (duration.days * 86400 + duration.seconds) * 10**6 + duration.microseconds


_LAST = _length(datetime.max - _EPOCH)
#: The first instant whose date is Python's own, by calendar.
_FIRST = {
    "standard": _length(datetime(*_BEGIN) - _EPOCH),
    "gregorian": _length(datetime(*_BEGIN) - _EPOCH),
    "proleptic_gregorian": _length(datetime.min - _EPOCH),
}
#: Calendars whose dates are Python's own from that instant on.
USUAL = tuple(_FIRST)
_LENGTHS = (31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
#: Days before each month of a year of 365 days, and of 366.
_BEFORE = {year: np.cumsum([0, 31, year - 337, *_LENGTHS]) for year in (365, 366)}
#: Days of each year of calendars whose years are equal.
_EQUAL = {"noleap": 365, "365_day": 365, "all_leap": 366, "366_day": 366, "360_day": 360}
#: Days from March of the year 0 to 1970, in the calendar of that name.
_GREGORIAN_EPOCH, _JULIAN_EPOCH = 719468, 719483
#: Days that the Julian calendar is behind in 1970.
_BEHIND = 13
#: Calendars whose days are counted here.
KNOWN = (*USUAL, "julian", *_EQUAL)


@lru_cache(maxsize=4096)
def start_of(since: str, calendar: str) -> int | None:
    """Return the microseconds from 1970 to a date as it is written; None where it takes cftime to know."""
    match = _DATE.match(since)
    if calendar not in KNOWN or match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    if hour > 23 or minute > 59 or second > 59:
        return None
    days = _days(year, month, day, calendar)
    if days is None:
        return None
    seconds = (hour * 60 + minute) * 60 + second
    if match[8]:
        seconds -= int(f"{match[8]}1") * (int(match[9]) * 60 + int(match[10] or 0)) * 60
    return days * DAY + seconds * 10**6 + int((match[7] or "").ljust(6, "0"))


def _days(year: int, month: int, day: int, calendar: str) -> int | None:
    """Return the days from 1970 to a date; None where there is none."""
    if year < 1 or not 1 <= month <= 12:
        return None
    number = int(day_numbers(year, month, day, calendar))
    return number if tuple(map(int, calendar_dates(number, calendar))) == (year, month, day) else None


def day_numbers(year: Any, month: Any, day: Any, calendar: str) -> Any:
    """Return the days from the beginning of 1970 to dates in a calendar, of numbers or arrays of them.

    Dates that the calendar lacks give the number of another one: `calendar_dates` tells.

    Raises
    ------
    ValueError
        The calendar is not known.
    """
    if calendar in _EQUAL:
        length = _EQUAL[calendar]
        before = 30 * (month - 1) if length == 360 else _BEFORE[length][month - 1]
        return (year - 1970) * length + before + day - 1
    early = np.less_equal(month, 2)
    years = year - early
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    julian = 365 * years + years // 4 + of_year - _JULIAN_EPOCH
    gregorian = 365 * years + years // 4 - years // 100 + years // 400 + of_year - _GREGORIAN_EPOCH
    if calendar == "julian":
        return julian
    if calendar == "proleptic_gregorian":
        return gregorian
    if calendar not in USUAL:
        raise ValueError(f"the calendar {calendar!r} is not known")
    is_julian = (year * 100 + month) * 100 + day < 1582_10_15
    return np.where(is_julian, julian + _BEHIND, gregorian)[()]


def calendar_dates(numbers: Any, calendar: str) -> tuple[Any, Any, Any]:
    """Return years, months and days of the dates so many days from the beginning of 1970.

    Raises
    ------
    ValueError
        The calendar is not known.
    """
    number = np.asarray(numbers, np.int64)
    if calendar in _EQUAL:
        length = _EQUAL[calendar]
        years, of_year = np.divmod(number, length)
        if length == 360:
            return years + 1970, of_year // 30 + 1, of_year % 30 + 1
        months = np.searchsorted(_BEFORE[length], of_year, side="right")
        return years + 1970, months, of_year - _BEFORE[length][months - 1] + 1
    if calendar == "julian":
        return _dates_from_march(*_julian_years(number + _JULIAN_EPOCH))
    gregorian = _dates_from_march(*_gregorian_years(number + _GREGORIAN_EPOCH))
    if calendar == "proleptic_gregorian":
        return gregorian
    if calendar not in USUAL:
        raise ValueError(f"the calendar {calendar!r} is not known")
    julian = _dates_from_march(*_julian_years(number - _BEHIND + _JULIAN_EPOCH))
    first = day_numbers(*_BEGIN, "proleptic_gregorian")
    year, month, day = (np.where(number < first, *pair) for pair in zip(julian, gregorian, strict=True))
    return year, month, day


def _julian_years(number: Any) -> tuple[Any, Any]:
    """Return years that begin in March, and days in them."""
    years = (4 * number + 3) // 1461
    return years, number - 365 * years - years // 4


def _gregorian_years(number: Any) -> tuple[Any, Any]:
    cycles, day = np.divmod(number, 146097)
    years = (day - day // 1460 + day // 36524 - day // 146096) // 365
    return years + 400 * cycles, day - (365 * years + years // 4 - years // 100)


def _dates_from_march(years: Any, of_year: Any) -> tuple[Any, Any, Any]:
    months = (5 * of_year + 2) // 153
    days = of_year - (153 * months + 2) // 5 + 1
    month = np.where(months < 10, months + 3, months - 9)
    return years + (month <= 2), month, days


def dates_of(numbers: npt.NDArray[Any], unit: str, since: str, calendar: str) -> npt.NDArray[np.object_]:
    """Return the dates of finite numbers, all as `datetime.datetime` or all as `cftime.datetime`.

    Raises
    ------
    ValueError, OverflowError, TypeError
        The calendar or date is not known, or a date is beyond what the calendar can hold.
    NotInstalledError
        It takes cftime to know them, which is not installed.
    """
    micros = _micros(numbers, unit, since, calendar)
    if micros is not None:
        return micros.astype("datetime64[us]").astype(object)
    require("cftime")
    import cftime

    text = f"{unit} since {since}"
    found = cftime.num2date(numbers, text, calendar=calendar, only_use_cftime_datetimes=True)
    return np.asarray(found, object)


def _micros(numbers: npt.NDArray[Any], unit: str, since: str, calendar: str) -> npt.NDArray[np.int64] | None:
    """Return the microseconds from 1970 to each time; None where the dates of some are not Python's own."""
    start, length = start_of(since, calendar), LENGTHS.get(unit)
    if calendar not in USUAL or start is None or length is None or numbers.dtype.kind not in "iuf":
        return None
    least, most = ((each - start) / length for each in (_FIRST[calendar], _LAST))
    # Rounded numbers at the ends are looked at once more below.
    if not ((numbers >= least - 1) & (numbers <= most)).all():
        return None
    if numbers.dtype.kind == "f":
        # As exactly as the machine can, as cftime does.
        counted = np.rint(numbers.astype(np.longdouble) * length).astype(np.int64)
    else:
        counted = numbers.astype(np.int64) * length
    made = counted + start
    return made if ((made >= _FIRST[calendar]) & (made <= _LAST)).all() else None


def number_of(year: int, month: int, day: int, unit: str, since: str, calendar: str) -> float:
    """Return the number of a date.

    Raises as `dates_of` does.
    """
    start, length = start_of(since, calendar), LENGTHS.get(unit)
    days = _days(year, month, day, calendar) if calendar in KNOWN else None
    if start is not None and length is not None and days is not None:
        return (days * DAY - start) / length
    require("cftime")
    import cftime

    date = cftime.datetime(year, month, day, calendar=calendar)
    return float(cftime.date2num(date, f"{unit} since {since}", calendar))


def between(since: str, other: str, calendar: str) -> int:
    """Return the microseconds from the second date to the first.

    Raises as `dates_of` does.
    """
    starts = start_of(since, calendar), start_of(other, calendar)
    if starts[0] is not None and starts[1] is not None:
        return starts[0] - starts[1]
    require("cftime")
    import cftime

    begin, base = (
        cftime.num2date(0, f"seconds since {each}", calendar=calendar, only_use_cftime_datetimes=True)
        for each in (since, other)
    )
    return _length(begin - base)
