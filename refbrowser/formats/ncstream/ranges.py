"""Where two ranges of numbers meet: a selection and a section, each with a stride."""

from __future__ import annotations

from math import gcd

Meeting = tuple[slice, slice]


def meeting(first: range, second: range) -> Meeting | None:
    """Return the positions in both ranges of the numbers that both have; None where there is none.

    Parameters
    ----------
    first, second
        With positive steps.
    """
    if not first or not second:
        return None
    low, high = max(first[0], second[0]), min(first[-1], second[-1])
    if low > high:
        return None
    common = gcd(first.step, second.step)
    if (second.start - first.start) % common:
        return None
    step = first.step // common * second.step
    start = _common(first, second, common)
    start += -(-max(low - start, 0) // step) * step
    if start > high:
        return None
    count = (high - start) // step + 1
    return _positions(first, start, step, count), _positions(second, start, step, count)


def _common(first: range, second: range, common: int) -> int:
    """Return the least number from both starts on that is in both, were they endless."""
    other = second.step // common
    times = 0 if other == 1 else (second.start - first.start) // common * pow(first.step // common, -1, other)
    step = first.step * other
    found = first.start + times % other * first.step
    return found + -(-max(second.start - found, 0) // step) * step


def _positions(numbers: range, start: int, step: int, count: int) -> slice:
    begin = (start - numbers.start) // numbers.step
    by = step // numbers.step if count > 1 else 1
    return slice(begin, begin + (count - 1) * by + 1, by)
