"""Rows at which an affine expression is below 0: the first, and how many, by arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refbrowser.references.rules.dimensions import RowSpace, RuleDimension
from refbrowser.references.rules.integer_expressions import Affine

#: Parts of the space that are looked at one by one before a count is given up.
_MOST_PARTS = 20_000


def first_below_zero(value: Affine, space: RowSpace) -> int | None:
    """Return the first row at which `value` is below 0, or None; the space must not be empty."""
    coefficients = dict(value.terms)
    reaches = [_ends(dimension, coefficients.get(slot, 0)) for slot, dimension in enumerate(space.dimensions)]
    least = value.constant + sum(low for low, _ in reaches)
    if least >= 0:
        return None
    positions = []
    for slot, dimension in enumerate(space.dimensions):
        if slot not in coefficients:
            # Its values do not matter; they may be texts.
            positions.append(0)
            continue
        # With this dimension free and all that follow at their least.
        rest = least - reaches[slot][0]
        position = _first_position(dimension, coefficients[slot], rest)
        positions.append(position)
        least = rest + coefficients[slot] * dimension.values[position]
    return space.row(positions)


def _ends(dimension: RuleDimension, coefficient: int) -> tuple[int, int]:
    if not coefficient:
        return 0, 0
    ends = [end * coefficient for end in dimension.bounds]
    return min(ends), max(ends)


def _first_position(dimension: RuleDimension, coefficient: int, rest: int) -> int:
    """Return the first position with ``rest + coefficient * value < 0``; there is one."""
    values = dimension.values
    if not isinstance(values, range):
        return next(place for place, value in enumerate(values) if rest + coefficient * value < 0)
    first = rest + coefficient * values.start
    if first < 0:
        return 0
    return first // -(coefficient * values.step) + 1


@dataclass(frozen=True, slots=True)
class _Axis:
    """A dimension as ``stride * x`` for x in [0, size), or as any numbers."""

    stride: int
    size: int
    numbers: tuple[int, ...] | None = None

    @property
    def reach(self) -> int:
        return self.stride * (self.size - 1) if self.numbers is None else max(self.numbers)


def count_below_zero(value: Affine, space: RowSpace) -> int | None:
    """Return at how many rows `value` is below 0; None where that would take too long."""
    coefficients = dict(value.terms)
    limit = -value.constant
    others = 1
    axes = []
    for slot, dimension in enumerate(space.dimensions):
        coefficient = coefficients.get(slot, 0)
        if not coefficient:
            others *= dimension.length
            continue
        low, _ = _ends(dimension, coefficient)
        limit -= low
        if isinstance(dimension.values, range):
            axes.append(_Axis(abs(coefficient * dimension.values.step), dimension.length))
        else:
            numbers = tuple(coefficient * each - low for each in dimension.values)
            axes.append(_Axis(0, len(numbers), numbers))
    axes.sort(key=lambda axis: axis.reach, reverse=True)
    try:
        return others * _Counter().count(axes, limit)
    except OverflowError:
        return None


class _Counter:
    """Counts the points of a box at which a sum of non-negative parts is below a limit."""

    def __init__(self) -> None:
        self._left = _MOST_PARTS

    def count(self, axes: Sequence[_Axis], limit: int) -> int:
        self._left -= 1
        if self._left < 0:
            raise OverflowError
        if limit <= 0:
            return 0
        if sum(axis.reach for axis in axes) < limit:
            return _product(axes)
        axis, rest = axes[0], axes[1:]
        if axis.numbers is not None:
            return sum(self.count(rest, limit - number) for number in axis.numbers)
        reach = sum(each.reach for each in rest)
        # x below `full` count whatever the rest is, x from `none` on do not count at all.
        full = max(0, min(axis.size, (limit - 1 - reach) // axis.stride + 1))
        none = max(full, min(axis.size, -(-limit // axis.stride)))
        total = full * _product(rest)
        if len(rest) == 1 and rest[0].numbers is None:
            return total + _staircase(limit, axis.stride, rest[0].stride, full, none)
        for place in range(full, none):
            total += self.count(rest, limit - axis.stride * place)
        return total


def _product(axes: Sequence[_Axis]) -> int:
    total = 1
    for axis in axes:
        total *= axis.size
    return total


def _staircase(limit: int, outer: int, inner: int, start: int, stop: int) -> int:
    """Return the sum over x in [start, stop) of ``ceil((limit - outer * x) / inner)``."""
    # Counted from the far end, so that the coefficient is positive.
    first = limit - outer * (stop - 1) + inner - 1
    return floor_sum(stop - start, inner, outer, first) if stop > start else 0


def floor_sum(count: int, divisor: int, slope: int, start: int) -> int:
    """Return the sum over x in [0, count) of ``(slope * x + start) // divisor`` in logarithmic time."""
    total = 0
    while True:
        total += (count - 1) * count // 2 * (slope // divisor) + count * (start // divisor)
        slope %= divisor
        start %= divisor
        top = slope * count + start
        if top < divisor:
            return total
        count, start = divmod(top, divisor)
        divisor, slope = slope, divisor
