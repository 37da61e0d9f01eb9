"""What a gen rule gives differently from another one, row by row of the same key: counted by arithmetic.

Where key and templates stay and the key tells the rows apart, rows of the same dimension values have the same
key: they differ where the difference of their integers is not 0, which is solved, not searched. Anything else
is compared by looking, up to a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import gcd

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.references.rules.dimensions import RowSpace, RuleDimension
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.integer_expressions import (
    Affine,
    IntegerExpression,
    combine,
    count_below_zero,
    evaluate,
    fits_int64,
)
from refbrowser.references.rules.lowering import IntegerFragment, Text

#: Rows that are compared by looking when arithmetic does not decide.
COMPARED_ROWS = 200_000
#: Combinations of dimension values whose differences are computed by numpy.
COMPUTED_ROWS = 20_000_000
_BLOCK = 1 << 14
_WINDOW = 64
_FIELDS = ("url", "offset", "length")


@dataclass(frozen=True, slots=True)
class RowCount:
    """How many rows, the first of them, and how many were looked at; None for all."""

    count: int = 0
    first: int | None = None
    checked: int | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    """How far rows are looked at one by one, and what is called between them."""

    most: int
    pause: Callable[[], None]


@dataclass(frozen=True, slots=True)
class RuleChanges:
    """Rows of a rule against those of the rule before it.

    Attributes
    ----------
    changed
        Rows whose key was given before, with another reference.
    added
        Rows whose key was not given before.
    removed
        Rows of the rule before whose key is not given any more; `first` is a row of that rule.
    """

    changed: RowCount
    added: RowCount
    removed: RowCount


def rule_changes(
    rule: GenRule,
    before: GenRule,
    pause: Callable[[], None] = lambda: None,
    most: int = COMPARED_ROWS,
) -> RuleChanges:
    """Compare a rule with the one before it.

    Parameters
    ----------
    pause
        Called often, between rows; may raise to end the work.
    most
        Rows of each rule that are looked at where arithmetic does not decide.
    """
    look = _Look(most, pause)
    if same_keys(rule, before) and rule.count and before.count:
        if rule.space == before.space:
            return RuleChanges(_aligned(rule, before, rule.space, look), RowCount(), RowCount())
        if _tells_apart(rule) and _tells_apart(before):
            return _overlapping(rule, before, look)
    return _by_looking(rule, before, look)


# The same keys in the same dimensions


def _tells_apart(rule: GenRule) -> bool:
    """Whether it is proved that rows have the same key only where every dimension has the same value."""
    pattern = rule.pattern
    if pattern is None or not pattern.is_injective:
        return False
    used = frozenset[int]().union(*(fragment.value.uses for fragment in pattern.numbers))
    return len(used) == len(rule.space.dimensions)


def _overlapping(rule: GenRule, before: GenRule, look: _Look) -> RuleChanges:
    """Compare rules whose dimensions have other values."""
    pairs = zip(rule.space.dimensions, before.space.dimensions, strict=True)
    common = RowSpace(tuple(_common(new, old) for new, old in pairs))
    changed = _aligned(rule, before, common, look) if common.count else RowCount()
    if changed.first is not None:
        changed = RowCount(changed.count, _row_in(rule.space, common, changed.first), changed.checked)
    return RuleChanges(changed, _outside(rule.space, common), _outside(before.space, common))


def _common(new: RuleDimension, old: RuleDimension) -> RuleDimension:
    """Return the values of `new` that `old` has too."""
    if isinstance(new.values, range) and isinstance(old.values, range):
        return RuleDimension(new.name, _common_range(new.values, old.values))
    if isinstance(new.values, range) and isinstance(old.values, tuple):
        kept = {value for value in old.values if new.last_index(value) is not None}
        return RuleDimension(new.name, tuple(sorted(kept, reverse=new.values.step < 0)))
    kept_values = tuple(value for value in new.values if old.last_index(value) is not None)
    return RuleDimension(new.name, kept_values)


def _common_range(new: range, old: range) -> range:
    """Return the values of `new` that `old` has too, in the order of `new`."""
    steps = gcd(new.step, old.step)
    if not new or not old or (old.start - new.start) % steps:
        return range(0)
    stride = abs(new.step * old.step) // steps
    # new.start + k * new.step = old.start (mod |old.step|), solved for k.
    modulus = abs(old.step) // steps
    turns = (
        (old.start - new.start) // steps * pow(new.step // steps, -1, modulus) % modulus if modulus > 1 else 0
    )
    meeting = new.start + turns * new.step
    low = max(min(new[0], new[-1]), min(old[0], old[-1]))
    high = min(max(new[0], new[-1]), max(old[0], old[-1]))
    first = low + (meeting - low) % stride
    if first > high:
        return range(0)
    last = high - (high - first) % stride
    return range(first, last + 1, stride) if new.step > 0 else range(last, first - 1, -stride)


def _row_in(space: RowSpace, inner: RowSpace, row: int) -> int:
    """Return the row of `space` with the dimension values of a row of `inner`."""
    positions = []
    for dimension, value in zip(space.dimensions, inner.values(row), strict=True):
        position = dimension.last_index(value)
        assert position is not None
        positions.append(position)
    return space.row(positions)


def _outside(space: RowSpace, common: RowSpace) -> RowCount:
    """Return the rows of a space that are not in a part of it."""
    count = space.count - common.count
    if not count:
        return RowCount()
    rows = []
    for slot, (dimension, part) in enumerate(zip(space.dimensions, common.dimensions, strict=True)):
        position = _first_outside(dimension, part)
        if position is not None:
            rows.append(space.row([position if at == slot else 0 for at in range(len(space.lengths))]))
    return RowCount(count, min(rows))


def _first_outside(dimension: RuleDimension, part: RuleDimension) -> int | None:
    """Return the first position whose value is not in `part`, or None."""
    if part.length == dimension.length:
        return None
    if not isinstance(part.values, range):
        kept = frozenset(part.values)
        return next(at for at, value in enumerate(dimension.values) if value not in kept)
    # A range within a range: if it has the first two values, it has all up to its end.
    for position in range(2):
        if part.last_index(dimension.values[position]) is None:
            return position
    return part.length


def _aligned(rule: GenRule, before: GenRule, space: RowSpace, look: _Look) -> RowCount:
    """Compare the references at each point of a space that both rules cover."""
    different = [name for name in _FIELDS if _source(rule, name) != _source(before, name)]
    if not different:
        return RowCount()
    if ("offset" in rule.fields) != ("offset" in before.fields):
        return RowCount(space.count, 0)
    differences: list[Affine] = []
    for name in different:
        found = _differences(rule, before, name)
        if found is None:
            return _compared(rule, before, space, look)
        differences += found
    if any(not each.terms and each.constant for each in differences):
        return RowCount(space.count, 0)
    differences = [each for each in differences if each.terms]
    return _solved(differences, space, look.pause) or _compared(rule, before, space, look)


def same_keys(rule: GenRule, before: GenRule) -> bool:
    """Whether rows of the same dimension values have the same key in both rules."""
    return rule.space.names == before.space.names and _source(rule, "key") == _source(before, "key")


def _source(rule: GenRule, name: str) -> tuple[str | None, tuple[object, ...]]:
    """Return the text of a field and of the templates that it names."""
    field = rule.fields.get(name)
    if field is None or field.template is None:
        return (None if field is None else field.text, ())
    names = (*field.template.names, *field.template.calls)
    return field.text, tuple(rule.templates.texts.get(each) for each in names)


def _differences(rule: GenRule, before: GenRule, name: str) -> list[Affine] | None:
    """Return sums that are all 0 exactly where a field has the same value; None where there are none."""
    if rule.columns is None or before.columns is None:
        return None
    broken = [name in each.fields and bool(each.fields[name].faults) for each in (rule, before)]
    if any(broken):
        return [] if all(broken) else [Affine(1)]
    new, old = rule.columns.integers.get(name), before.columns.integers.get(name)
    if new is not None and old is not None:
        return _difference(new, old)
    texts = rule.columns.texts.get(name), before.columns.texts.get(name)
    if name != "url" or texts[0] is None or texts[1] is None:
        return None
    return _text_differences(texts[0], texts[1])


def _difference(new: IntegerExpression, old: IntegerExpression) -> list[Affine] | None:
    if new == old:
        return []
    found = combine("-", new, old)
    return [found] if isinstance(found, Affine) else None


def _text_differences(new: Text, old: Text) -> list[Affine] | None:
    if new == old:
        return []
    if all(isinstance(fragment, str) for fragment in (*new, *old)):
        return [Affine(1)]
    if len(new) != len(old):
        return None
    found: list[Affine] = []
    for fragment, other in zip(new, old, strict=True):
        if (
            isinstance(fragment, IntegerFragment)
            and isinstance(other, IntegerFragment)
            and fragment.width == other.width
        ):
            difference = _difference(fragment.value, other.value)
            if difference is None:
                return None
            found += difference
        elif fragment != other:
            return _different_ends(new, old)
    return found


def _different_ends(new: Text, old: Text) -> list[Affine] | None:
    """Texts that begin or end differently are never the same."""
    for at in (0, -1):
        fragment, other = new[at], old[at]
        if isinstance(fragment, str) and isinstance(other, str):
            size = min(len(fragment), len(other))
            ends = (fragment[:size], other[:size]) if at == 0 else (fragment[-size:], other[-size:])
            if ends[0] != ends[1]:
                return [Affine(1)]
    return None


def _solved(differences: list[Affine], space: RowSpace, pause: Callable[[], None]) -> RowCount | None:
    """Count the points where a sum is not 0; None where there are too many to compute."""
    if not differences:
        return RowCount()
    slots = sorted(frozenset().union(*(each.uses for each in differences)))
    inner = RowSpace(tuple(space.dimensions[slot] for slot in slots))
    sums = {_reduced(each, slots) for each in differences}
    found = _counted(sums.copy().pop(), inner) if len(sums) == 1 else None
    if found is None:
        if inner.count > COMPUTED_ROWS or not all(fits_int64(each, inner) for each in sums):
            return None
        found = _computed(sums, inner, pause)
    changed, first = found
    if not changed:
        return RowCount()
    positions = [0] * len(space.lengths)
    for slot, position in zip(slots, inner.indices(first), strict=True):
        positions[slot] = position
    return RowCount(changed * (space.count // inner.count), space.row(positions))


def _reduced(value: Affine, slots: list[int]) -> Affine:
    """Return a sum over the slots of a smaller space that is 0 at the same points, in one spelling of it."""
    factor = gcd(value.constant, *(by for _, by in value.terms))
    factor *= -1 if value.terms[0][1] < 0 else 1
    terms = tuple((slots.index(slot), by // factor) for slot, by in value.terms)
    return Affine(value.constant // factor, terms)


def _counted(value: Affine, inner: RowSpace) -> tuple[int, int] | None:
    """Return at how many points a sum is not 0, and the first of them; None where that takes too long."""
    below = count_below_zero(value, inner)
    not_above = None if below is None else count_below_zero(Affine(value.constant - 1, value.terms), inner)
    if below is None or not_above is None:
        return None
    return inner.count - (not_above - below), _first_not_zero(value, inner)


def _first_not_zero(value: Affine, inner: RowSpace) -> int:
    """Return the first point where a sum is not 0, provided that there is one."""
    if evaluate(value, inner.values(0)):
        return 0
    rows = []
    for slot, dimension in enumerate(inner.dimensions):
        other = next((at for at, each in enumerate(dimension.values) if each != dimension.values[0]), None)
        if other is not None:
            rows.append(inner.row([other if at == slot else 0 for at in range(len(inner.lengths))]))
    return min(rows, default=0)


def _computed(differences: Iterable[Affine], inner: RowSpace, pause: Callable[[], None]) -> tuple[int, int]:
    """Return at how many points a sum is not 0, and the first of them."""
    changed, first = 0, -1
    for start in range(0, inner.count, _BLOCK):
        pause()
        stop = min(start + _BLOCK, inner.count)
        positions = inner.index_window(start, stop)
        values = [each.take(at) for each, at in zip(inner.dimensions, positions, strict=True)]
        different = np.zeros(stop - start, dtype=bool)
        for each in differences:
            different |= evaluate(each, values) != 0
        if first < 0 and different.any():
            first = start + int(np.argmax(different))
        changed += int(np.count_nonzero(different))
    return changed, max(first, 0)


# By looking


def _compared(rule: GenRule, before: GenRule, space: RowSpace, look: _Look) -> RowCount:
    """Compare the points of a space one by one, up to a bound."""
    changed, first = 0, None
    most = min(space.count, look.most)
    for row in range(most):
        look.pause()
        values = space.values(row)
        if any(_value(rule, name, values) != _value(before, name, values) for name in _FIELDS):
            changed += 1
            first = row if first is None else first
    return RowCount(changed, first, None if most == space.count else most)


def _value(rule: GenRule, name: str, values: list[int]) -> str | int | None:
    """Return a field at dimension values; None where it is faulty or absent."""
    field = rule.fields.get(name)
    if field is None:
        return None
    try:
        return field.evaluate(values)
    except RefbrowserError:
        return None


def _by_looking(rule: GenRule, before: GenRule, look: _Look) -> RuleChanges:
    """Compare by key, up to a bound of rows of each rule."""
    new, old = _Table.of(rule, look), _Table.of(before, look)
    changed, fresh = RowCount(), RowCount()
    for key, (row, value) in new.rows.items():
        look.pause()
        other = old.value(key)
        if other is None:
            fresh = _with(fresh, row)
        elif other is not _UNKNOWN and other != value:
            changed = _with(changed, row)
    gone = RowCount()
    for key, (row, _value_of_row) in old.rows.items():
        look.pause()
        if new.value(key) is None:
            gone = _with(gone, row)
    checked = None if new.is_whole and old.is_whole else look.most
    return RuleChanges(*(replace(each, checked=checked) for each in (changed, fresh, gone)))


def _with(count: RowCount, row: int) -> RowCount:
    first = row if count.first is None else min(row, count.first)
    return RowCount(count.count + 1, first)


#: Stands for a reference that cannot be found by arithmetic.
_UNKNOWN = ("unknown",)


@dataclass(frozen=True, slots=True)
class _Table:
    """The first rows of a rule by key, whether these are all, and the rest by arithmetic where that works."""

    rule: GenRule
    rows: dict[str, tuple[int, tuple[object, ...]]]
    is_whole: bool

    @classmethod
    def of(cls, rule: GenRule, look: _Look) -> _Table:
        most = min(rule.count, look.most)
        table: dict[str, tuple[int, tuple[object, ...]]] = {}
        for start in range(0, most, _WINDOW):
            look.pause()
            rows = rule.rows(start, min(start + _WINDOW, most))
            none: list[int | None] = [None] * len(rows)
            columns = zip(rows.keys, rows.urls, rows.offsets or none, rows.lengths or none, strict=True)
            for place, (key, *value) in enumerate(columns):
                if key is not None:
                    table[key] = (start + place, tuple(value))
        return cls(rule, table, most == rule.count)

    def value(self, key: str) -> tuple[object, ...] | None:
        """Return the reference of a key, None where there is none, `_UNKNOWN` where that takes too long."""
        if key in self.rows:
            return self.rows[key][1]
        if self.is_whole:
            return None
        pattern = self.rule.pattern
        if pattern is None or not pattern.separated or pattern.plan.open:
            return _UNKNOWN
        row = self.rule.find(key)
        if not isinstance(row, int):
            return None if row is None else _UNKNOWN
        values = self.rule.space.values(row)
        return tuple(_value(self.rule, name, values) for name in _FIELDS)
