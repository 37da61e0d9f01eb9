"""Numbers and dates as people read them on axes, beside sliders and under the pointer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.model.calendars import LENGTHS, USUAL, number_of
from refbrowser.model.cf import TimeUnits

#: At or above the first, or below the second, numbers are written with an exponent.
LARGE, SMALL = 1e7, 1e-4
#: Elements of a row, or bytes, that are written as one text.
ITEMS_SHOWN = 32
#: The greatest power of ten of a float.
_GREATEST = 308
_MINUS = "\N{MINUS SIGN}"


#: Below this numbers lose digits, down to none.
_LEAST_STEP = 1e-300


def nice_step(span: float, count: int, steps: tuple[float, ...] = (1, 2, 2.5, 5, 10)) -> float:
    """Return the smallest of `steps` times a power of ten that cuts `span` into at most `count` parts."""
    if not math.isfinite(span) or count < 1 or not span / count > _LEAST_STEP:
        return 1.0
    least = span / count
    power = 10.0 ** math.floor(math.log10(least))
    return next((step * power for step in steps if step * power >= least * (1 - 1e-9)), 10 * power)


def nice_numbers(low: float, high: float, count: int, degrees: bool = False) -> tuple[list[float], float]:
    """Return at most about `count` round numbers from `low` to `high`, and the step between them.

    With `degrees` the steps are parts of a circle (15, 30, 45, 60, 90) where they are that large.
    """
    step = nice_step(high - low, count)
    least = (high - low) / max(1, count)
    if degrees and least > 5:
        step = next((part for part in (10, 15, 30, 45, 60, 90, 180) if part >= least * (1 - 1e-9)), 360)
    if step < 1e-12 * max(abs(low), abs(high)):
        return [], step
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [index * step for index in range(first, min(last, first + 1000) + 1)], step


def log_ticks(low: float, high: float, count: int) -> list[tuple[float, str]]:
    """Return at most about `count` round numbers from `low` to `high` (above zero) for a logarithmic scale.

    They are powers of ten, with 2 and 5 times these where there is room; within less than a decade round
    numbers as on a linear scale.
    """
    if not 0 < low < high or not math.isfinite(high) or count < 1:
        return []
    first, last = math.log10(low), math.log10(high)
    exponents = range(math.floor(first + 1e-9), min(math.ceil(last - 1e-9), _GREATEST) + 1)
    inside = low * (1 - 1e-9), high * (1 + 1e-9)
    if (last - first) * 3 <= count:
        found = [part * 10.0**exponent for exponent in exponents for part in (1, 2, 5)]
    else:
        step = max(1, math.ceil((last - first) / count))
        found = [10.0**exponent for exponent in exponents if exponent % step == 0]
    found = [number for number in found if inside[0] <= number <= inside[1]]
    if len(found) >= 2:
        return [(number, _plain_text(number)) for number in found]
    numbers, step_between = nice_numbers(low, high, count)
    return [(number, stepped_text(number, step_between, high)) for number in numbers if number > 0]


def both_signs_ticks(low: float, high: float, linear: float, count: int) -> list[tuple[float, str]]:
    """Return about `count` round numbers, rising, for a scale that is logarithmic on both sides of zero.

    Those are farther from zero than `linear`, but for zero itself.
    """
    if not linear > 0 or not low < high:
        return []
    above = log_ticks(max(linear, low), high, count) if high > linear else []
    below = log_ticks(max(linear, -high), -low, count) if -low > linear else []
    negative = [(-number, f"{_MINUS}{text}") for number, text in reversed(below)]
    return [*negative, *([(0.0, "0")] if low <= 0 <= high else []), *above]


def _plain_text(number: float) -> str:
    """Return a round number, with an exponent only where it would be long."""
    if SMALL <= number < LARGE:
        return f"{number:.10f}".rstrip("0").rstrip(".")
    return _short_exponent(f"{number:.0e}")


def decimals_for(step: float) -> int:
    """Return how many decimals tell numbers `step` apart."""
    if not step > 0 or not math.isfinite(step):
        return 0
    return max(0, -_last_place(step))


def _last_place(step: float) -> int:
    """Return the power of ten of the last digit that numbers `step` apart need."""
    exponent = math.floor(math.log10(step) + 1e-9)
    first = step / 10.0**exponent
    return exponent if abs(first - round(first)) < 1e-6 else exponent - 1


def stepped_text(value: float, step: float, greatest: float | None = None) -> str:
    """Return `value` with the decimals that `step` needs.

    `greatest` is the largest magnitude beside it, so that all numbers of one axis are written alike.
    """
    magnitude = abs(value) if greatest is None else abs(greatest)
    if value == 0:
        return "0"
    if magnitude >= LARGE or (0 < magnitude < SMALL):
        digits = min(15, max(0, math.floor(math.log10(abs(value)) + 1e-9) - _last_place(step)))
        return _short_exponent(f"{value:.{digits}e}")
    return f"{value:.{min(decimals_for(step), 15)}f}".replace("-", _MINUS)


def _short_exponent(text: str) -> str:
    mantissa, exponent = text.split("e")
    return f"{mantissa}e{int(exponent)}".replace("-", _MINUS)


def resolved_text(value: float, step: float) -> str:
    """Return `value` so that values `step` apart differ, without the digits that are but rounding errors."""
    if not math.isfinite(value) or abs(value) >= 1e12 or not 1e-9 < step < 1e12:
        return value_text(value)
    decimals = max(0, 2 - math.floor(math.log10(step)))
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text.replace("-", _MINUS)


def value_text(value: object, digits: int = 7) -> str:
    """Return one element (number, bool, text, bytes, date, structure) as text; numbers are shortened."""
    if isinstance(value, np.void) and value.dtype.names is not None:
        return ", ".join(f"{name}: {value_text(value[name], digits)}" for name in value.dtype.names)
    if isinstance(value, np.void):
        return f"0x{value.tobytes().hex()}"
    if isinstance(value, np.ndarray):
        return _array_text(value.ravel(), digits)
    if type(value) is bytes:
        return hex_text(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return str(value)
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, complex):
        sign = _MINUS if plain.imag < 0 else "+"
        return f"{value_text(plain.real, digits)} {sign} {value_text(abs(plain.imag), digits)}i"
    if isinstance(plain, float):
        return f"{plain:.{digits}g}".replace("-", _MINUS)
    if isinstance(plain, bytes):
        return plain.decode("utf-8", "backslashreplace").rstrip("\0")
    return str(plain).replace("-", _MINUS) if isinstance(plain, int) else str(plain)


def _array_text(values: np.ndarray, digits: int) -> str:
    shown = ", ".join(value_text(item, digits) for item in values[:ITEMS_SHOWN])
    return f"[{shown}]" if len(values) <= ITEMS_SHOWN else f"[{shown}, …] {len(values):,} values"


def hex_text(value: bytes) -> str:
    """Return bytes without a meaning as hexadecimal digits; of many the first ones and how many there are."""
    shown = f"0x{value[:ITEMS_SHOWN].hex()}" if value else "no bytes"
    return shown if len(value) <= ITEMS_SHOWN else f"{shown}… {len(value):,} bytes"


def degrees_text(value: float, step: float | None, positive: str, negative: str) -> str:
    """Return a latitude or longitude with its hemisphere (``45.5°N``); 0 has none.

    It has the decimals that `step` needs, or its own when None.
    """
    size = value_text(abs(value)) if step is None else stepped_text(abs(value), step)
    side = "" if float(size) == 0 else positive if value > 0 else negative
    return f"{size}°{side}"


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
    """The numbers of a time coordinate as dates, and round dates as numbers."""

    units: TimeUnits

    @property
    def note(self) -> str:
        """The calendar, where dates in it are not those that everybody uses; else empty."""
        if self.units.calendar in USUAL:
            return ""
        note = f"{self.units.calendar} calendar"
        return note if find_spec("cftime") is not None else f"{note}: its dates need cftime"

    def date(self, number: float) -> Any:
        """Return the date of a number, as `TimeUnits.dates` does.

        Raises
        ------
        RefbrowserError
            The calendar or date is not known, or the number is beyond what the calendar can hold.
        """
        return self.units.dates(np.array([number]))[0]

    def number(self, year: int, month: int, day: int) -> float:
        """Return the number of a date."""
        return number_of(year, month, day, self.units.unit, self.units.since, self.units.calendar)

    def text(self, number: float) -> str:
        """Return a date to the second as ISO 8601 text, without a time of zero; empty where it is none."""
        try:
            return _text(self.date(number))
        except (RefbrowserError, ValueError, OverflowError):
            return ""

    def texts(self, numbers: npt.NDArray[Any]) -> list[list[str]]:
        """Return the dates of a block of numbers (two axes), each as `text` has it, or the number."""
        try:
            dates = self.units.dates(numbers)
        except (RefbrowserError, ValueError, OverflowError):
            return [[self.text(number) or _plain(number) for number in line] for line in numbers.tolist()]
        return [[_text(date) for date in line] for line in dates]

    def ticks(self, low: float, high: float, count: int) -> list[tuple[float, str]]:
        """Return at most about `count` round dates from `low` to `high` as (number, text)."""
        try:
            # Asked for together, they are of one class.
            first, last = self.units.dates(np.array([low, high]))
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


@dataclass(frozen=True, slots=True)
class DurationScale:
    """Durations in a larger unit than they are stored in.

    Attributes
    ----------
    unit
        Its name.
    size
        How many of the stored unit it has.
    """

    unit: str
    size: float

    @classmethod
    def of(cls, unit: str, numbers: npt.NDArray[Any]) -> DurationScale | None:
        """Return the largest unit of which all durations are whole numbers; None where it is not larger.

        Parameters
        ----------
        unit
            In which they are stored, by its full name. Whoever stores hours means hours.
        """
        known = numbers[np.isfinite(numbers)]
        if unit not in LENGTHS or LENGTHS[unit] >= LENGTHS["hours"] or not known.any():
            return None
        for name in ("days", "hours", "minutes", "seconds"):
            size = LENGTHS[name] / LENGTHS[unit]
            if size > 1 and not (known % size).any():
                return cls(name, size)
        return None

    def text(self, number: float) -> str:
        """Return a duration with its unit."""
        shown = value_text(number / self.size)
        return f"{shown} {self.unit.removesuffix('s') if shown == '1' else self.unit}"

    def ticks(self, low: float, high: float, count: int) -> list[tuple[float, str]]:
        """Return at most about `count` round durations from `low` to `high` as (number, text)."""
        low, high = low / self.size, high / self.size
        numbers, step = nice_numbers(low, high, count)
        greatest = max(abs(low), abs(high))
        return [(number * self.size, stepped_text(number, step, greatest)) for number in numbers]


def _plain(number: float) -> str:
    return value_text(number) if math.isfinite(number) else ""


def _text(date: Any) -> str:
    if date is None:
        return ""
    date = (date + timedelta(milliseconds=500)).replace(microsecond=0)
    day = f"{date.year:04d}-{date.month:02d}-{date.day:02d}"
    if not (date.hour or date.minute or date.second):
        return day
    seconds = f":{date.second:02d}" if date.second else ""
    return f"{day} {date.hour:02d}:{date.minute:02d}{seconds}"
