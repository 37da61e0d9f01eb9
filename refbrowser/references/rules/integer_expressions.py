"""Integer expressions over the dimensions of a rule: affine sums, the rest of ``+ - * // %``, and tables.

They are the same numbers that the closures give, known as algebra: with exact bounds, as numpy columns where
the bounds allow it, and (affine ones) solvable for the dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from refbrowser.references.rules.dimensions import INT_ROOM, Int64, RowSpace
from refbrowser.references.templates.constant_lists import IntegerTable

Operator = Literal["+", "-", "*", "//", "%"]
Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Affine:
    """A constant plus coefficients times dimension values.

    Attributes
    ----------
    constant
        Any Python integer.
    terms
        (slot of the dimension, coefficient), by slot, no coefficient 0.
    """

    constant: int
    terms: tuple[tuple[int, int], ...] = ()

    @property
    def uses(self) -> frozenset[int]:
        """Slots of the dimensions that it depends on."""
        return frozenset(slot for slot, _ in self.terms)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """An operation whose result is not affine."""

    operator: Operator
    left: IntegerExpression
    right: IntegerExpression

    @property
    def uses(self) -> frozenset[int]:
        """Slots of the dimensions that it depends on."""
        return self.left.uses | self.right.uses


@dataclass(frozen=True, slots=True)
class Lookup:
    """The integer of a table at a position; positions before the first and behind the last mean those."""

    table: IntegerTable
    position: IntegerExpression

    @property
    def uses(self) -> frozenset[int]:
        """Slots of the dimensions that it depends on."""
        return self.position.uses

    @property
    def last(self) -> int:
        """The last position."""
        return len(self.table.column) - 1


IntegerExpression = Affine | Arithmetic | Lookup


def dimension(slot: int) -> Affine:
    """Return the value of one dimension."""
    return Affine(0, ((slot, 1),))


def combine(operator: Operator, left: IntegerExpression, right: IntegerExpression) -> IntegerExpression:
    """Return ``left operator right``, affine where that is so whatever the dimensions are."""
    if isinstance(left, Affine) and isinstance(right, Affine):
        if operator == "+":
            return _sum(left, right, 1)
        if operator == "-":
            return _sum(left, right, -1)
        if operator == "*" and not right.terms:
            return _scaled(left, right.constant)
        if operator == "*" and not left.terms:
            return _scaled(right, left.constant)
    if operator == "//" and isinstance(left, Arithmetic) and left.operator == "//":
        inner = positive_constant(left.right)
        outer = positive_constant(right)
        if inner is not None and outer is not None:
            return Arithmetic("//", left.left, Affine(inner * outer))
    return Arithmetic(operator, left, right)


def positive_constant(value: IntegerExpression) -> int | None:
    """Return the number that an expression is, where it is one above 0."""
    if isinstance(value, Affine) and not value.terms and value.constant > 0:
        return value.constant
    return None


def _scaled(value: Affine, factor: int) -> Affine:
    if not factor:
        return Affine(0)
    return Affine(value.constant * factor, tuple((slot, each * factor) for slot, each in value.terms))


def _sum(left: Affine, right: Affine, sign: int) -> Affine:
    terms = dict(left.terms)
    for slot, coefficient in right.terms:
        terms[slot] = terms.get(slot, 0) + sign * coefficient
    kept = tuple(sorted((slot, each) for slot, each in terms.items() if each))
    return Affine(left.constant + sign * right.constant, kept)


def bounds(value: IntegerExpression, space: RowSpace) -> Bounds | None:
    """Return bounds of the value over all rows (exact for affine ones); None where a divisor may be 0.

    The space must not be empty.
    """
    if isinstance(value, Affine):
        low = high = value.constant
        for slot, coefficient in value.terms:
            ends = [end * coefficient for end in space.dimensions[slot].bounds]
            low += min(ends)
            high += max(ends)
        return low, high
    if isinstance(value, Lookup):
        positions = bounds(value.position, space)
        if positions is None:
            return None
        low, high = (min(max(end, 0), value.last) for end in positions)
        return value.table.bounds(low, high)
    left = bounds(value.left, space)
    right = bounds(value.right, space)
    if left is None or right is None:
        return None
    return interval(value.operator, left, right)


def interval(operator: Operator, left: Bounds, right: Bounds) -> Bounds | None:
    """Return bounds of ``left operator right`` for values within bounds; None where a divisor may be 0."""
    if operator == "+":
        return left[0] + right[0], left[1] + right[1]
    if operator == "-":
        return left[0] - right[1], left[1] - right[0]
    if operator == "*":
        corners = [a * b for a in left for b in right]
        return min(corners), max(corners)
    if right[0] <= 0 <= right[1]:
        return None
    if operator == "//":
        corners = [a // b for a in left for b in right]
        return min(corners), max(corners)
    if right[0] > 0:
        inside = left[0] >= 0 and left[1] < right[0]
        return left if inside else (0, right[1] - 1)
    return right[0] + 1, 0


def fits_int64(value: IntegerExpression, space: RowSpace) -> bool:
    """Whether every step of the value can be computed by numpy without wrapping, over all rows."""
    if isinstance(value, Affine):
        reach = abs(value.constant)
        for slot, coefficient in value.terms:
            if not space.dimensions[slot].fits_int64 or abs(coefficient) > INT_ROOM:
                return False
            reach += abs(coefficient) * max(map(abs, space.dimensions[slot].bounds))
        return reach <= INT_ROOM
    if isinstance(value, Lookup):
        return fits_int64(value.position, space)
    found = bounds(value, space)
    if found is None or max(map(abs, found)) > INT_ROOM:
        return False
    return fits_int64(value.left, space) and fits_int64(value.right, space)


def evaluate(value: IntegerExpression, columns: Sequence[Any]) -> Any:
    """Return the value for dimension values given by slot: integers, or numpy columns where it fits.

    A constant gives a Python integer in either case.
    """
    if isinstance(value, Affine):
        result: Any = value.constant
        for slot, coefficient in value.terms:
            term = columns[slot] if coefficient == 1 else columns[slot] * coefficient
            result = term if result is value.constant and not result else result + term
        return result
    if isinstance(value, Lookup):
        position = evaluate(value.position, columns)
        if isinstance(position, int):
            return int(value.table.column[min(max(position, 0), value.last)])
        return value.table.column.take(position, mode="clip")
    left = evaluate(value.left, columns)
    right = evaluate(value.right, columns)
    match value.operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//":
            return left // right
    return left % right


def as_column(value: Any, size: int) -> Int64:
    """Return what `evaluate` gave as a column of `size` rows."""
    if isinstance(value, int):
        return np.full(size, value, dtype=np.int64)
    return value
