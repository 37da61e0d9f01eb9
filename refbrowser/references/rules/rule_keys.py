"""The key of a lowered rule as a pattern: a text matched against it gives its integers, and so its row.

A key that is not lowered as a whole may be once the values of a dimension are told apart: ``{{ 'a' if i < 5
else 'b' }}/{{ j }}`` is ``a/{{ j }}`` for some values of i and ``b/{{ j }}`` for the rest, two lowered keys
over parts of the space. The chunks of an array are matched as columns of coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.references.rules.dimensions import INT_ROOM, Int64, RowSpace, RuleDimension
from refbrowser.references.rules.integer_expressions import (
    IntegerExpression,
    Plan,
    Solution,
    bounds,
    evaluate,
    fits_int64,
    make_plan,
)
from refbrowser.references.rules.lowering import IntegerFragment, Text, lower_template, merge
from refbrowser.references.rules.rule_rows import print_text
from refbrowser.references.templates.evaluate import Compiled, Scope, compile_template
from refbrowser.references.templates.syntax import Template

if TYPE_CHECKING:
    from jinja2 import nodes


_DIGITS = frozenset("0123456789")
#: No integer of a template has more characters.
_LONGEST = 48
#: Integers of a key that may be cut in several ways, and how many cuts are tried.
_MOST_NUMBERS = 64
_MOST_SPLITS = 10_000
#: The last row that a column has room for.
_LARGEST = 2**63 - 1
#: Combinations of dimensions that arithmetic leaves open, looked at for one key.
_MOST_OPEN = 20_000_000
_BLOCK = 1 << 16


class UndecidedError(Exception):
    """A search reached its bound after `rows` rows."""

    def __init__(self, rows: int) -> None:
        super().__init__(rows)
        self.rows = rows


@dataclass(frozen=True)
class KeyPattern:
    """A lowered key over a space that is not empty."""

    fragments: Text
    space: RowSpace

    @cached_property
    def numbers(self) -> tuple[IntegerFragment, ...]:
        """The fragments that are integers, in order."""
        return tuple(fragment for fragment in self.fragments if isinstance(fragment, IntegerFragment))

    @cached_property
    def plan(self) -> Plan:
        """How the integers give the row."""
        equations = [(fragment.value, number) for number, fragment in enumerate(self.numbers)]
        return make_plan(self.space, equations, len(equations))

    @cached_property
    def prefix(self) -> str:
        """The text that every key begins with."""
        return self.fragments[0] if self.fragments and isinstance(self.fragments[0], str) else ""

    @cached_property
    def suffix(self) -> str:
        """The text that every key ends with; the whole of a constant key."""
        return self.fragments[-1] if self.fragments and isinstance(self.fragments[-1], str) else ""

    @cached_property
    def may_be_negative(self) -> bool:
        """Whether an integer of a key can have a sign."""
        ranges = [bounds(fragment.value, self.space) for fragment in self.numbers]
        return any(found is None or found[0] < 0 for found in ranges)

    @cached_property
    def fixed_widths(self) -> tuple[int | None, ...]:
        """Characters of each integer where they are the same at every row, else None."""
        return tuple(self._fixed_width(fragment) for fragment in self.numbers)

    def _fixed_width(self, fragment: IntegerFragment) -> int | None:
        found = bounds(fragment.value, self.space)
        if found is None or found[0] < 0:
            return None
        shortest = max(fragment.width, len(str(found[0])))
        longest = max(fragment.width, len(str(found[1])))
        return longest if shortest == longest else None

    @cached_property
    def digits_after(self) -> tuple[int | None, ...]:
        """Digits between the end of each integer and the end of the run of digits that it is in.

        None where that is not known: another integer of no fixed width follows in the same run.
        """
        found: list[int | None] = []
        widths = list(self.fixed_widths)
        after = 0
        varies = False
        for fragment in reversed(self.fragments):
            if isinstance(fragment, str):
                leading = len(fragment) - len(fragment.lstrip("0123456789"))
                is_run = leading == len(fragment)
                after, varies = (after + leading, varies) if is_run else (leading, False)
                continue
            width = widths.pop()
            found.append(None if varies and width is None else after)
            varies = varies or width is None
            after += width or 0
        return tuple(reversed(found))

    @property
    def separated(self) -> bool:
        """Whether a text can be cut into its integers in one way only."""
        return None not in self.digits_after

    @property
    def is_injective(self) -> bool:
        """Whether it is proved that no two rows have the same key."""
        return self.separated and not self.plan.open and not self.unused and not self.repeated

    @cached_property
    def unused(self) -> tuple[int, ...]:
        """Slots of dimensions of several values that the key does not name."""
        used = frozenset[int]().union(*(fragment.value.uses for fragment in self.numbers))
        return tuple(
            slot for slot, length in enumerate(self.space.lengths) if length > 1 and slot not in used
        )

    @cached_property
    def repeated(self) -> tuple[int, ...]:
        """Slots of dimensions that list a value more than once."""
        return tuple(slot for slot, each in enumerate(self.space.dimensions) if each.has_repeats)

    def find(self, key: str) -> int | None:
        """Return the last row with this key, or None.

        Raises
        ------
        UndecidedError
            There are too many ways to read the key, or too many combinations that arithmetic leaves open.
        """
        if not key.startswith(self.prefix) or not key.endswith(self.suffix):
            return None
        best: int | None = None
        for integers in self._splits(key):
            row = self._row(self.plan.run(integers))
            if row is None or (best is not None and row < best):
                continue
            if print_text(self.fragments, self.space.values(row)) == key:
                best = row
        return best

    def _row(self, state: Solution) -> int | None:
        if not state.good:
            return None
        if not self.plan.open:
            return self.space.row(state.positions)
        return self._search(state)

    def _splits(self, key: str) -> Iterable[list[int]]:
        """Return the integers of each way to read the key."""
        if self.separated:
            found = self._only_split(key)
            return [] if found is None else [found]
        if len(self.numbers) > _MOST_NUMBERS:
            raise UndecidedError(0)
        return self._all_splits(key, 0, 0, [_MOST_SPLITS])

    def _only_split(self, key: str) -> list[int] | None:
        integers: list[int] = []
        position = 0
        for fragment in self.fragments:
            if isinstance(fragment, str):
                if not key.startswith(fragment, position):
                    return None
                position += len(fragment)
                continue
            stop = next(self._stops(key, position, len(integers)), None)
            if stop is None:
                return None
            integers.append(int(key[position:stop]))
            position = stop
        return integers if position == len(key) else None

    def _all_splits(self, key: str, fragment: int, position: int, budget: list[int]) -> Iterator[list[int]]:
        """Yield the integers of each way to read the key from a position on; `budget` is shared."""
        while fragment < len(self.fragments) and isinstance(text := self.fragments[fragment], str):
            if not key.startswith(text, position):
                return
            position += len(text)
            fragment += 1
        if fragment == len(self.fragments):
            if position == len(key):
                yield []
            return
        number = sum(isinstance(each, IntegerFragment) for each in self.fragments[:fragment])
        for stop in self._stops(key, position, number):
            budget[0] -= 1
            if budget[0] < 0:
                raise UndecidedError(0)
            value = int(key[position:stop])
            for rest in self._all_splits(key, fragment + 1, stop, budget):
                yield [value, *rest]

    def _stops(self, key: str, position: int, number: int) -> Iterator[int]:
        start = position + (key[position : position + 1] == "-")
        stop = start
        while stop < len(key) and stop - start < _LONGEST and key[stop] in _DIGITS:
            stop += 1
        width = self.fixed_widths[number]
        if width is not None:
            if start == position and position + width <= stop:
                yield position + width
        elif (after := self.digits_after[number]) is not None:
            if stop - after > start:
                yield stop - after
        else:
            yield from range(stop, start, -1)

    def _search(self, state: Solution) -> int | None:
        """Look through the dimensions that arithmetic leaves open, the last combination first."""
        slots = sorted(self.plan.open)
        inner = RowSpace(tuple(self.space.dimensions[slot] for slot in slots))
        fits = all(fits_int64(expression, self.space) for expression, _ in self.plan.left)
        wanted = [state.inputs[source] for _, source in self.plan.left]
        if not fits or any(abs(value) > INT_ROOM for value in wanted):
            raise UndecidedError(0)
        values = list(state.values)
        for stop in range(inner.count, max(0, inner.count - _MOST_OPEN), -_BLOCK):
            start = max(0, stop - _BLOCK)
            columns = inner.index_window(start, stop)
            for slot, column in zip(slots, columns, strict=True):
                values[slot] = self.space.dimensions[slot].take(column)
            good = np.ones(stop - start, dtype=bool)
            for (expression, _), value in zip(self.plan.left, wanted, strict=True):
                good &= evaluate(expression, values) == value
            if good.any():
                last = int(np.flatnonzero(good)[-1])
                for slot, column in zip(slots, columns, strict=True):
                    state.positions[slot] = int(column[last])
                return self.space.row(state.positions)
        if inner.count > _MOST_OPEN:
            raise UndecidedError(_MOST_OPEN)
        return None


def rows_of(pattern: KeyPattern, equations: Plan, inputs: list[Int64], size: int) -> Int64:
    """Return the last row for columns of integers, -1 where there is none, -2 where it does not fit int64.

    The steps of `equations` must leave nothing open, and values must fit int64.
    """
    state = equations.run(inputs)
    good = np.broadcast_to(np.asarray(state.good), (size,))
    rows = np.zeros(size, dtype=np.int64)
    fits = np.ones(size, dtype=bool)
    is_large = pattern.space.count > INT_ROOM
    for position, length in zip(state.positions, pattern.space.lengths, strict=True):
        if length > 1:
            if is_large:
                fits &= rows <= (_LARGEST - np.maximum(position, 0)) // length
                rows[~fits] = 0
            rows *= length
            rows += position
    rows = rows if fits.all() else np.where(fits, rows, -2)
    return rows if good.all() else np.where(good, rows, -1)


#: Different texts that one dimension may be told apart by, and cases in all.
_MOST_CASES = 64
#: Values of a dimension that are looked at.
_MOST_VALUES = 1_000_000


@dataclass(frozen=True)
class KeyCase:
    """A lowered key over a part of the space.

    Attributes
    ----------
    positions
        For each dimension the positions in the whole space that belong to the part.
    """

    pattern: KeyPattern
    whole: RowSpace
    positions: tuple[Sequence[int], ...]

    def find(self, key: str) -> int | None:
        """Return the last row of the rule with this key within the case, or None; raises as `KeyPattern`."""
        row = self.pattern.find(key)
        if row is None:
            return None
        indices = self.pattern.space.indices(row)
        return self.whole.row(part[index] for part, index in zip(self.positions, indices, strict=True))

    def rows(self, rows: Int64) -> Int64:
        """Return rows of the rule for rows of the case; negative ones stay."""
        columns = self.pattern.space.index_columns(np.maximum(rows, 0))
        found = np.zeros_like(rows)
        for part, column, length in zip(self.positions, columns, self.whole.lengths, strict=True):
            place = (
                column + part.start if isinstance(part, range) else np.asarray(part, dtype=np.int64)[column]
            )
            found = found * length + place
        return np.where(rows < 0, rows, found)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the key: lowered, or a closure that depends on the dimension `slot`."""

    text: Text = ()
    compiled: Compiled | None = None
    slot: int = -1


def key_cases(template: Template, scope: Scope, space: RowSpace) -> tuple[KeyCase, ...] | None:
    """Return the cases of a key over a space that is not empty, or None where there are none or too many.

    Rows at which the key is faulty are in no case.
    """
    parts = _parts(template, scope, space)
    if parts is None:
        return None
    choices = []
    for slot in sorted({part.slot for part in parts if part.compiled is not None}):
        found = _tell_apart([part for part in parts if part.slot == slot], slot, space)
        if found is None:
            return None
        choices.append([(slot, *choice) for choice in found.items()])
    if np.prod([len(choice) for choice in choices]) > _MOST_CASES:
        return None
    return tuple(_case(parts, space, chosen) for chosen in product(*choices))


def _parts(template: Template, scope: Scope, space: RowSpace) -> list[_Part] | None:
    from jinja2 import nodes

    parts = []
    for body in _printed_nodes(template):
        if body[-1].find(nodes.Assign) is not None:
            # What it sets under a condition reaches the parts behind it.
            return None
        assert template.syntax is not None
        alone = replace(template, syntax=replace(template.syntax, body=body))
        compiled = compile_template(alone, scope)
        text = lower_template(alone, compiled, scope, space)
        if text is not None:
            parts.append(_Part(text))
        elif len(compiled.uses) == 1:
            (name,) = compiled.uses
            parts.append(_Part((), compiled, space.names.index(name)))
        else:
            return None
    return parts


def _printed_nodes(template: Template) -> Iterator[tuple[nodes.Node, ...]]:
    """Yield each node that prints, after the statements before it that set a name."""
    from jinja2 import nodes

    before: tuple[nodes.Node, ...] = ()
    for node in template.syntax.body if template.syntax is not None else ():
        if isinstance(node, nodes.Output):
            yield from ((*before, nodes.Output([item])) for item in node.nodes)
        else:
            if isinstance(node, nodes.Assign):
                before = (*before, node)
            else:
                yield (*before, node)


def _tell_apart(
    parts: Sequence[_Part], slot: int, space: RowSpace
) -> dict[tuple[str, ...], list[int]] | None:
    """Return the texts that parts give for the values of a dimension, each with its positions."""
    dimension = space.dimensions[slot]
    if dimension.length > _MOST_VALUES:
        return None
    found: dict[tuple[str, ...], list[int]] = {}
    values: list[Any] = [each.values[0] for each in space.dimensions]
    for position, value in enumerate(dimension.values):
        values[slot] = value
        try:
            texts = tuple(part.compiled.render(tuple(values)) for part in parts if part.compiled is not None)
        except RefbrowserError:
            continue
        if texts not in found and len(found) == _MOST_CASES:
            return None
        found.setdefault(texts, []).append(position)
    return found


def _case(
    parts: Sequence[_Part], space: RowSpace, chosen: Sequence[tuple[int, tuple[str, ...], list[int]]]
) -> KeyCase:
    texts = {slot: iter(found) for slot, found, _ in chosen}
    fragments = [
        fragment for part in parts for fragment in ((next(texts[part.slot]),) if part.compiled else part.text)
    ]
    positions: list[Sequence[int]] = [range(length) for length in space.lengths]
    dimensions = list(space.dimensions)
    for slot, _, found in chosen:
        whole = space.dimensions[slot]
        if found[-1] - found[0] + 1 == len(found):
            positions[slot] = range(found[0], found[-1] + 1)
            dimensions[slot] = RuleDimension(whole.name, whole.values[found[0] : found[-1] + 1])
        else:
            positions[slot] = found
            dimensions[slot] = RuleDimension(whole.name, tuple(whole.values[place] for place in found))
    return KeyCase(KeyPattern(merge(fragments), RowSpace(tuple(dimensions))), space, tuple(positions))


_RUNS = re.compile(r"[0-9]+|[^0-9]+")

MISSING = -1
UNDECIDED = -2


@dataclass(frozen=True, slots=True)
class ChunkMatch:
    """How the coordinates of an array's chunks meet the integers of a key.

    Attributes
    ----------
    constants
        (axis, coordinate) that the key fixes.
    equations
        (expression, axis): the expression has the value of that coordinate.
    fixed
        (expression, value) from digits in the prefix.
    widths
        (axis, width): digits that the key pads with zeros; a coordinate has none, so it must be as long.
    """

    constants: tuple[tuple[int, int], ...]
    equations: tuple[tuple[IntegerExpression, int], ...]
    fixed: tuple[tuple[IntegerExpression, int], ...]
    widths: tuple[tuple[int, int], ...]


def match_chunks(
    pattern: KeyPattern, prefix: str, ndim: int, encoding: ChunkKeyEncoding
) -> ChunkMatch | Literal[False] | None:
    """Return how keys ``prefix + encoding.encode(coords)`` meet a pattern.

    False where no key of the rule can be one of these, None where that cannot be read off the pattern.
    """
    if not pattern.separated or ndim == 0:
        return None
    tokens = _pattern_tokens(pattern)
    if tokens is None:
        return None
    target = _target_tokens(prefix, ndim, encoding)
    mismatch: Literal[False] | None = None if pattern.may_be_negative else False
    if len(tokens) != len(target):
        return mismatch
    constants, equations, fixed, widths = [], [], [], []
    for mine, other in zip(tokens, target, strict=True):
        if isinstance(other, int):
            if isinstance(mine, IntegerFragment):
                equations.append((mine.value, other))
                widths.append((other, mine.width))
            elif mine.isdecimal() and (mine == "0" or mine[0] != "0"):
                constants.append((other, int(mine)))
            else:
                return mismatch
        elif isinstance(mine, IntegerFragment):
            if not other.isdecimal() or f"{int(other):0{max(mine.width, 1)}d}" != other:
                return mismatch
            fixed.append((mine.value, int(other)))
        elif mine != other:
            return mismatch
    return ChunkMatch(tuple(constants), tuple(equations), tuple(fixed), tuple(widths))


def _pattern_tokens(pattern: KeyPattern) -> list[str | IntegerFragment] | None:
    """Return the key as runs of digits, other texts and integers; None where digits touch an integer."""
    tokens: list[str | IntegerFragment] = []
    for fragment in pattern.fragments:
        runs: list[str | IntegerFragment] = (
            _RUNS.findall(fragment) if isinstance(fragment, str) else [fragment]
        )
        if tokens and _is_number(tokens[-1]) and _is_number(runs[0]):
            return None
        tokens.extend(runs)
    return tokens


def _is_number(token: str | IntegerFragment) -> bool:
    return isinstance(token, IntegerFragment) or "0" <= token[0] <= "9"


def _target_tokens(prefix: str, ndim: int, encoding: ChunkKeyEncoding) -> list[str | int]:
    """Return the keys of chunks as runs of text and numbers of axes."""
    tokens: list[str | int] = []
    axis = 0
    for run in _RUNS.findall(encoding.encode((0,) * ndim)):
        if run == "0":
            tokens.append(axis)
            axis += 1
        else:
            tokens.append(run)
    runs: list[str] = _RUNS.findall(prefix)
    if runs and tokens and isinstance(tokens[0], str):
        tokens[0] = runs.pop() + tokens[0]
    return [*runs, *tokens]


def find_rows(pattern: KeyPattern, match: ChunkMatch, coords: Int64) -> Int64 | None:
    """Return the last row for each chunk, -1 where the rule gives none; None where numpy cannot decide it.

    A row beyond 2^63 is `UNDECIDED`: columns have no room for its number.
    """
    size = len(coords)
    plan = _plan(pattern, match)
    if plan.open or any(length > INT_ROOM for length in pattern.space.lengths):
        return None
    if not all(fits_int64(fragment.value, pattern.space) for fragment in pattern.numbers):
        return None
    good = np.ones(size, dtype=bool)
    for axis, value in match.constants:
        good &= coords[:, axis] == value
    for axis, width in match.widths:
        if width > 1:
            good &= coords[:, axis] >= 10 ** (width - 1)
    inputs = []
    for expression, axis in match.equations:
        inputs.append(_within(np.ascontiguousarray(coords[:, axis]), expression, pattern, good))
    for expression, value in match.fixed:
        limited = min(value, INT_ROOM)
        inputs.append(_within(np.full(size, limited, dtype=np.int64), expression, pattern, good))
    rows = rows_of(pattern, plan, inputs, size)
    return rows if good.all() else np.where(good, rows, MISSING)


def _within(
    column: Int64, expression: IntegerExpression, pattern: KeyPattern, good: npt.NDArray[np.bool_]
) -> Int64:
    """Mark the rows that no value of the expression has; what is left cannot wrap in any step."""
    low, high = bounds(expression, pattern.space) or (0, 0)
    if not len(column) or (int(column.min()) >= low and int(column.max()) <= high):
        return column
    good &= (column >= low) & (column <= high)
    return np.clip(column, low, high)


def _plan(pattern: KeyPattern, match: ChunkMatch) -> Plan:
    expressions = [expression for expression, _ in (*match.equations, *match.fixed)]
    return make_plan(
        pattern.space,
        [(expression, number) for number, expression in enumerate(expressions)],
        len(expressions),
    )
