"""Numbers as people read them on axes, beside sliders and under the pointer."""

from __future__ import annotations

import math

import numpy as np

#: At or above the first, or below the second, numbers are written with an exponent.
LARGE, SMALL = 1e7, 1e-4
#: Elements of a row, or bytes, that are written as one text.
ITEMS_SHOWN = 32
#: The greatest power of ten of a float.
_GREATEST = 308
_MINUS = "\N{MINUS SIGN}"


def nice_step(span: float, count: int, steps: tuple[float, ...] = (1, 2, 2.5, 5, 10)) -> float:
    """Return the smallest of `steps` times a power of ten that cuts `span` into at most `count` parts."""
    if not span > 0 or not math.isfinite(span) or count < 1:
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
