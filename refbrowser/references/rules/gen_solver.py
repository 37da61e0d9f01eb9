"""From the integers in a key back to the row: equations over the dimensions, solved by arithmetic.

The same steps work on Python integers (one key) and on int64 columns (the chunks of an array).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from refbrowser.references.rules.dimensions import RowSpace, RuleDimension
from refbrowser.references.rules.integer_expressions import (
    Affine,
    Arithmetic,
    IntegerExpression,
    Lookup,
    bounds,
    combine,
    evaluate,
    positive_constant,
)
from refbrowser.references.templates.constant_lists import IntegerTable


@dataclass
class Solution:
    """What is known while the steps run: values and positions by slot, and which rows still hold."""

    inputs: list[Any]
    values: list[Any]
    positions: list[Any]
    good: Any = True


class Step(Protocol):
    """One step: finds dimensions, derives a number from others, or checks an equation."""

    def run(self, space: RowSpace, state: Solution) -> None:
        """Extend the solution, or mark it as not good."""
        ...


@dataclass(frozen=True, slots=True)
class Check:
    """All dimensions of an expression are known: it must have the value of its input."""

    expression: IntegerExpression
    source: int

    def run(self, space: RowSpace, state: Solution) -> None:
        """Compare."""
        found = evaluate(self.expression, state.values)
        state.good = state.good & (found == state.inputs[self.source])


@dataclass(frozen=True, slots=True)
class Shift:
    """A new input: ``sign * (input - constant)``, exactly divided by `factor`."""

    source: int
    constant: int
    factor: int

    def run(self, space: RowSpace, state: Solution) -> None:
        """Append the input."""
        rest = state.inputs[self.source] - self.constant
        quotient = rest // self.factor
        state.good = state.good & (quotient * self.factor == rest)
        state.inputs.append(quotient)


@dataclass(frozen=True, slots=True)
class Reverse:
    """A new input: the position of the input in a table that has no integer twice."""

    source: int
    table: IntegerTable

    def run(self, space: RowSpace, state: Solution) -> None:
        """Append the input."""
        position = self.table.last_position(state.inputs[self.source])
        state.good = state.good & (position >= 0)
        state.inputs.append(position)


@dataclass(frozen=True, slots=True)
class Join:
    """A new input: ``quotient * divisor + remainder`` of the same expression."""

    quotient: int
    remainder: int
    divisor: int

    def run(self, space: RowSpace, state: Solution) -> None:
        """Append the input."""
        remainder = state.inputs[self.remainder]
        state.good = state.good & (remainder >= 0) & (remainder < self.divisor)
        state.inputs.append(state.inputs[self.quotient] * self.divisor + remainder)


@dataclass(frozen=True, slots=True)
class Unmix:
    """An affine expression in which some dimensions are not known yet, each found like a digit.

    `digits` holds (slot, coefficient), the greatest first; for each, all that follow reach less than one step
    of it, so that there is at most one solution.
    """

    expression: Affine
    source: int
    digits: tuple[tuple[int, int], ...]

    def run(self, space: RowSpace, state: Solution) -> None:
        """Find the dimensions."""
        rest = state.inputs[self.source] - evaluate(self.expression, state.values)
        for slot, coefficient in self.digits:
            rest = rest - coefficient * _least(space.dimensions[slot], coefficient)
        for slot, coefficient in self.digits:
            position, rest = _digit(space.dimensions[slot], coefficient, rest)
            _set(space, state, slot, position)
        state.good = state.good & (rest == 0)


def _least(dimension: RuleDimension, coefficient: int) -> int:
    low, high = dimension.bounds
    return low if coefficient > 0 else high


def _digit(dimension: RuleDimension, coefficient: int, rest: Any) -> tuple[Any, Any]:
    """Return the position of one dimension and what is left; `rest` counts from the least value."""
    if isinstance(dimension.values, range):
        stride = abs(coefficient * dimension.values.step)
        steps = rest if stride == 1 else rest // stride
        upward = coefficient * dimension.values.step > 0
        return (steps if upward else dimension.length - 1 - steps), rest - steps * stride
    quotient = rest // abs(coefficient)
    value = quotient * (1 if coefficient > 0 else -1) + _least(dimension, coefficient)
    return _last_position(dimension, value), rest - quotient * abs(coefficient)


def _last_position(dimension: RuleDimension, value: Any) -> Any:
    if isinstance(value, int):
        found = dimension.last_index(value)
        return -1 if found is None else found
    return dimension.last_indices(value)


def _set(space: RowSpace, state: Solution, slot: int, position: Any) -> None:
    dimension = space.dimensions[slot]
    inside = (position >= 0) & (position < dimension.length)
    state.good = state.good & inside
    if isinstance(position, int):
        position = position if inside else 0
        value: Any = dimension.values[position]
    else:
        position = position if inside.all() else np.where(inside, position, 0)
        value = dimension.take(position)
    state.positions[slot] = position
    state.values[slot] = value


@dataclass(frozen=True)
class Plan:
    """Steps that find the last row for given integers.

    Attributes
    ----------
    open
        Slots that no step finds (their equations are in `left`): they are searched, not solved.
    left
        (expression, input) that hold only for some values of the open slots.
    """

    space: RowSpace
    steps: tuple[Step, ...]
    open: frozenset[int] = frozenset()
    left: tuple[tuple[IntegerExpression, int], ...] = ()

    def run(self, inputs: Sequence[Any]) -> Solution:
        """Return what the steps find for integers, or for int64 columns, one input per expression."""
        dimensions = self.space.dimensions
        # A dimension that the key does not name does not matter: its last value gives the last row.
        positions: list[Any] = [dimension.length - 1 for dimension in dimensions]
        values: list[Any] = [
            dimension.values[position] for dimension, position in zip(dimensions, positions, strict=True)
        ]
        state = Solution(list(inputs), values, positions)
        for step in self.steps:
            step.run(self.space, state)
        return state


@dataclass
class _Planner:
    space: RowSpace
    known: set[int]
    inputs: int
    steps: list[Step] = field(default_factory=list)
    waiting: list[tuple[IntegerExpression, int]] = field(default_factory=list)

    def plan(self) -> Plan:
        progress = True
        while progress and self.waiting:
            progress = False
            for item in list(self.waiting):
                if self._solve(*item):
                    self.waiting.remove(item)
                    progress = True
            progress = progress or self._join()
        used = frozenset[int]().union(*(expression.uses for expression, _ in self.waiting))
        return Plan(self.space, tuple(self.steps), used - self.known, tuple(self.waiting))

    def _solve(self, expression: IntegerExpression, source: int) -> bool:
        unknown = expression.uses - self.known
        if not unknown:
            self.steps.append(Check(expression, source))
            return True
        if isinstance(expression, Affine):
            return self._unmix(expression, source, unknown)
        if isinstance(expression, Lookup):
            return self._reverse(expression, source)
        peeled = _peeled(expression)
        if peeled is None:
            return False
        inner, constant, factor = peeled
        self.steps.append(Shift(source, constant, factor))
        self.waiting.append((inner, self.inputs))
        self.inputs += 1
        return True

    def _reverse(self, expression: Lookup, source: int) -> bool:
        """Find the position by the integer there, where no two positions have the same."""
        ends = bounds(expression.position, self.space)
        if ends is None or ends[0] < 0 or ends[1] > expression.last or not expression.table.is_distinct:
            return False
        self.steps.append(Reverse(source, expression.table))
        self.waiting.append((expression.position, self.inputs))
        self.inputs += 1
        return True

    def _unmix(self, expression: Affine, source: int, unknown: frozenset[int]) -> bool:
        digits = [(slot, coefficient) for slot, coefficient in expression.terms if slot in unknown]
        digits.sort(key=self._stride, reverse=True)
        for number, digit in enumerate(digits):
            if self._stride(digit) <= sum(self._reach(*each) for each in digits[number + 1 :]):
                return False
        kept = tuple(term for term in expression.terms if term[0] not in unknown)
        self.steps.append(Unmix(Affine(expression.constant, kept), source, tuple(digits)))
        self.known |= unknown
        return True

    def _stride(self, digit: tuple[int, int]) -> int:
        slot, coefficient = digit
        values = self.space.dimensions[slot].values
        if isinstance(values, range):
            return abs(coefficient * values.step)
        # Multiples of the coefficient; with anything smaller after it a list is not a digit.
        return abs(coefficient)

    def _reach(self, slot: int, coefficient: int) -> int:
        low, high = self.space.dimensions[slot].bounds
        return abs(coefficient) * (high - low)

    def _join(self) -> bool:
        """Replace ``e // k`` and ``e % k`` by ``e``."""
        for quotient in self.waiting:
            for remainder in self.waiting:
                modulo = remainder[0]
                if not isinstance(modulo, Arithmetic) or modulo.operator != "%":
                    continue
                divisor = positive_constant(modulo.right)
                if divisor is None or combine("//", modulo.left, modulo.right) != quotient[0]:
                    continue
                self.steps.append(Join(quotient[1], remainder[1], divisor))
                self.waiting = [item for item in self.waiting if item not in (quotient, remainder)]
                self.waiting.append((modulo.left, self.inputs))
                self.inputs += 1
                return True
        return False


def _peeled(expression: Arithmetic) -> tuple[IntegerExpression, int, int] | None:
    """Return (inner, constant, factor) with ``expression == constant + factor * inner``, where it is so."""
    left, right = expression.left, expression.right
    if expression.operator == "+" and isinstance(left, Affine) and not left.terms:
        return right, left.constant, 1
    if expression.operator == "+" and isinstance(right, Affine) and not right.terms:
        return left, right.constant, 1
    if expression.operator == "-" and isinstance(right, Affine) and not right.terms:
        return left, -right.constant, 1
    if expression.operator == "-" and isinstance(left, Affine) and not left.terms:
        return right, left.constant, -1
    if expression.operator == "*":
        for factor, inner in ((left, right), (right, left)):
            if isinstance(factor, Affine) and not factor.terms and factor.constant:
                return inner, 0, factor.constant
    return None


def make_plan(space: RowSpace, equations: Sequence[tuple[IntegerExpression, int]], inputs: int) -> Plan:
    """Return the steps that solve ``expression == inputs[k]`` for each (expression, k).

    The space must not be empty; `inputs` is the number of inputs that `Plan.run` is given.
    """
    known = {slot for slot, length in enumerate(space.lengths) if length == 1}
    planner = _Planner(space, known, inputs, waiting=list(equations))
    return planner.plan()
