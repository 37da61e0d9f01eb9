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
_DAY = LENGTHS["days"]
#: The days of the Julian calendar end with it; ten dates before it are none.
_BEGIN, _JULIAN_END = (1582, 10, 15), (1582, 10, 4)
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


@lru_cache(maxsize=4096)
def start_of(since: str, calendar: str) -> int | None:
    """Return the microseconds from 1970 to a date as it is written; None where it takes cftime to know."""
    match = _DATE.match(since)
    if calendar not in USUAL or match is None:
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
    return days * _DAY + seconds * 10**6 + int((match[7] or "").ljust(6, "0"))


def _days(year: int, month: int, day: int, calendar: str) -> int | None:
    """Return the days from 1970 to a date; None where there is none."""
    if calendar == "proleptic_gregorian" or (year, month, day) >= _BEGIN:
        try:
            return (datetime(year, month, day) - _EPOCH).days
        except ValueError:
            return None
    # In the Julian calendar each fourth year is a leap year, as all are from 1901 to 2099.
    cycles = (2096 - year) // 4
    try:
        like = datetime(year + 4 * cycles, month, day)
    except ValueError:
        return None
    if year < 1 or (year, month, day) > _JULIAN_END:
        return None
    # It is 13 days behind in these years.
    return (like - _EPOCH).days + 13 - cycles * 1461


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
    if start is None or length is None or numbers.dtype.kind not in "iuf":
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
    days = _days(year, month, day, calendar) if start is not None else None
    if start is not None and length is not None and days is not None:
        return (days * _DAY - start) / length
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
