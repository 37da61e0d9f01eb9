"""Dates on an axis: round dates in any CF calendar, and their text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.model.cf import TimeUnits
from refbrowser.views.numbers import nice_step

#: Seconds, and how many of the unit are between ticks.
_SHORT_STEPS = (
    *((1, n) for n in (1, 2, 5, 10, 15, 30)),
    *((60, n) for n in (1, 2, 5, 10, 15, 30)),
    *((3600, n) for n in (1, 2, 3, 6, 12)),
    *((86400, n) for n in (1, 2, 5, 10)),
)
_USUAL_CALENDARS = ("standard", "gregorian", "proleptic_gregorian")
_DAY = 86400.0
_MONTH, _YEAR = 30.4 * _DAY, 365.25 * _DAY


@dataclass(frozen=True, slots=True)
class DateScale:
    """The numbers of a time coordinate as dates, and round dates as numbers."""

    units: TimeUnits

    @property
    def note(self) -> str:
        """The calendar, where dates in it are not those that everybody uses; else empty."""
        return "" if self.units.calendar in _USUAL_CALENDARS else f"{self.units.calendar} calendar"

    def date(self, number: float) -> Any:
        """Return the date of a number as cftime has it.

        Raises
        ------
        RefbrowserError
            The calendar or date is not known, or the number is beyond what the calendar can hold.
        """
        return self.units.dates(np.array([number]))[0]

    def number(self, *parts: int) -> float:
        """Return the number of a date (year, month, day)."""
        import cftime

        date = cftime.datetime(*parts, calendar=self.units.calendar)
        return float(cftime.date2num(date, str(self.units), self.units.calendar))

    def text(self, number: float) -> str:
        """Return a date to the second as ISO 8601 text, without a time of zero; empty where it is none."""
        try:
            return _text(self.date(number))
        except (RefbrowserError, ValueError, OverflowError):
            return ""

    def texts(self, numbers: npt.NDArray[Any]) -> list[list[str]]:
        """Return the dates of a block of numbers (two axes), each as `text` has it."""
        try:
            dates = self.units.dates(numbers)
        except (RefbrowserError, ValueError, OverflowError):
            return [[self.text(number) for number in line] for line in numbers.tolist()]
        return [[_text(date) for date in line] for line in dates]

    def ticks(self, low: float, high: float, count: int) -> list[tuple[float, str]]:
        """Return at most about `count` round dates from `low` to `high` as (number, text)."""
        try:
            first, last = self.date(low), self.date(high)
            span = (last - first).total_seconds()
            if span <= 0 or count < 1:
                return []
            if span / count > 20 * _DAY:
                return self._month_ticks(first, last, span, count, low, high)
            return self._short_ticks(first, span, count, low, high)
        except (RefbrowserError, ValueError, OverflowError):
            return []

    def _short_ticks(
        self, first: Any, span: float, count: int, low: float, high: float
    ) -> list[tuple[float, str]]:
        unit, many = next((s for s in _SHORT_STEPS if s[0] * s[1] >= span / count), (86400, 20))
        midnight = self.number(first.year, first.month, first.day)
        per_second = (high - low) / span
        step = unit * many * per_second
        start = midnight + step * -(-(low - midnight) // step)
        numbers = start + step * np.arange(count * 4)
        numbers = numbers[numbers <= high + step * 1e-6]
        # A thousandth of a second more: a float just below a round time must not show the second before.
        texts = [self._short_text(self.date(number + per_second / 1000), unit) for number in numbers]
        if texts and not any("-" in text for text in texts):
            # Within one day: its date stands once, before the first time.
            texts[0] = f"{self.text(numbers[0])[:10]} {texts[0]}"
        return list(zip(numbers.tolist(), texts, strict=True))

    @staticmethod
    def _short_text(date: Any, unit: int) -> str:
        if unit >= 86400 or not (date.hour or date.minute or date.second):
            return f"{date.year:04d}-{date.month:02d}-{date.day:02d}"
        return f"{date.hour:02d}:{date.minute:02d}" + ("" if unit >= 60 else f":{date.second:02d}")

    def _month_ticks(
        self, first: Any, last: Any, span: float, count: int, low: float, high: float
    ) -> list[tuple[float, str]]:
        months = next((n for n in (1, 2, 3, 6) if n * _MONTH >= span / count), 0)
        if not months:
            months = 12 * max(1, round(nice_step(span / _YEAR, count, (1, 2, 5, 10))))
        start = (first.year * 12 + first.month - 1) // months * months
        stop = last.year * 12 + last.month
        found = []
        for month in range(start, stop + 1, months):
            year, inside = divmod(month, 12)
            number = self.number(year, inside + 1, 1)
            if low <= number <= high:
                found.append((number, f"{year:04d}" if months >= 12 else f"{year:04d}-{inside + 1:02d}"))
        return found


def _text(date: Any) -> str:
    if date is None:
        return ""
    date = (date + timedelta(milliseconds=500)).replace(microsecond=0)
    day = f"{date.year:04d}-{date.month:02d}-{date.day:02d}"
    if not (date.hour or date.minute or date.second):
        return day
    seconds = f":{date.second:02d}" if date.second else ""
    return f"{day} {date.hour:02d}:{date.minute:02d}{seconds}"
