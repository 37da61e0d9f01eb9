"""Integer expressions over the dimensions of a rule: affine sums, the rest of ``+ - * // %``, and tables.

They are the same numbers that the closures give, known as algebra: with exact bounds, as numpy columns where
the bounds allow it, and (affine ones) solvable for the dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from refbrowser.references.rules.dimensions import INT_ROOM, Int64, RowSpace, RuleDimension
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


@dataclass
class Solution:
    """What is known while the steps run: values and positions by slot, and which rows still hold."""

    inputs: list[Any]
    values: list[Any]
    positions: list[Any]
    good: Any = True


class ExpressionStep(Protocol):
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
    steps: tuple[ExpressionStep, ...]
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
    steps: list[ExpressionStep] = field(default_factory=list)
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
