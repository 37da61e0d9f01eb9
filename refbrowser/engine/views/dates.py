"""Dates on an axis: round dates in any CF calendar, and their text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Seconds, and how many of the unit are between ticks.
_SHORT_STEPS = (
    *((1, n) for n in (1, 2, 5, 10, 15, 30)),
    *((60, n) for n in (1, 2, 5, 10, 15, 30)),
    *((3600, n) for n in (1, 2, 3, 6, 12)),
    *((86400, n) for n in (1, 2, 5, 10)),
)
_DAY = 86400.0
_MONTH, _YEAR = 30.4 * _DAY, 365.25 * _DAY


@dataclass(frozen=True, slots=True)
class DateScale:
    """Numbers of a time coordinate, as CF units and a calendar tell them (``days since 1961-01-01``)."""

    units: str
    calendar: str = "standard"

    def date(self, number: float) -> Any:
        """Return the date of a number as cftime has it.

        Raises
        ------
        ValueError, OverflowError
            The units or the calendar are not known, or the number is no date of it.
        """
        import cftime

        return cftime.num2date(number, self.units, self.calendar, only_use_cftime_datetimes=True)

    def number(self, *parts: int) -> float:
        """Return the number of a date (year, month, day, hour, minute, second)."""
        import cftime

        return float(
            cftime.date2num(cftime.datetime(*parts, calendar=self._calendar()), self.units, self._calendar())
        )

    def _calendar(self) -> str:
        return "standard" if self.calendar == "gregorian" else self.calendar

    def text(self, number: float) -> str:
        """Return a date as ISO 8601 text, without the parts that are zero; empty where it is none."""
        try:
            date = self.date(number)
        except (ValueError, OverflowError):
            return ""
        day = f"{date.year:04d}-{date.month:02d}-{date.day:02d}"
        if not (date.hour or date.minute or date.second or date.microsecond):
            return day
        seconds = f":{date.second:02d}" if date.second or date.microsecond else ""
        return f"{day} {date.hour:02d}:{date.minute:02d}{seconds}"

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
        except (ValueError, OverflowError):
            return []

    def _short_ticks(
        self, first: Any, span: float, count: int, low: float, high: float
    ) -> list[tuple[float, str]]:
        unit, many = next((s for s in _SHORT_STEPS if s[0] * s[1] >= span / count), (86400, 20))
        midnight = self.number(first.year, first.month, first.day)
        per_second = (high - low) / span
        step = unit * many * per_second
        start = midnight + step * -(-(low - midnight) // step)
        found = []
        for index in range(count * 4):
            number = start + index * step
            if number > high + step * 1e-6:
                break
            found.append((number, self._short_text(number, unit)))
        return found

    def _short_text(self, number: float, unit: int) -> str:
        # Half a millisecond more, so that a float just below a full second does not show the one before.
        date = self.date(number)
        if unit >= 86400 or not (date.hour or date.minute or date.second):
            return f"{date.year:04d}-{date.month:02d}-{date.day:02d}"
        if unit >= 60:
            return f"{date.hour:02d}:{date.minute:02d}"
        return f"{date.hour:02d}:{date.minute:02d}:{date.second:02d}"

    def _month_ticks(
        self, first: Any, last: Any, span: float, count: int, low: float, high: float
    ) -> list[tuple[float, str]]:
        from refbrowser.engine.views.numbers import nice_step

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
