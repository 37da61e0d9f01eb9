"""What is wrong with a gen rule: exactly where arithmetic tells, else by a bounded look at its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.rules.certainty import certain_integer, certain_text
from refbrowser.references.rules.dimensions import Int64, RuleDimension, member_pointer
from refbrowser.references.rules.gen_columns import RuleColumns
from refbrowser.references.rules.gen_counting import count_below_zero, first_below_zero
from refbrowser.references.rules.gen_fields import RuleField, below_zero, placed
from refbrowser.references.rules.gen_search import FieldSpace
from refbrowser.references.rules.integer_expressions import Affine, bounds, evaluate
from refbrowser.references.rules.search_time import SearchTime
from refbrowser.references.templates.frames import UndefinedNameError

if TYPE_CHECKING:
    from refbrowser.references.rules.gen import GenRule

_EXAMPLES = 3
_BLOCK = 1 << 16
#: Evaluation steps between two looks at the time, and rows that are looked at even where it is over.
_STEPS, _LEAST = 200_000, 64
#: Steps that one row of a numpy column counts for.
_COLUMN_STEPS = 8


def find_faults(
    rule: GenRule, steps: int = LIMITS.template_steps_job, left: SearchTime | None = None
) -> Iterator[Finding]:
    """Yield the findings of a rule; at most `steps` evaluation steps and the time `left` are spent."""
    left = left or SearchTime()
    yield from static_faults(rule)
    for dimension in rule.space.dimensions:
        if dimension.has_texts:
            yield _texts(rule.index, dimension)
    if rule.columns is None:
        return
    for name, field in rule.fields.items():
        if field.faults:
            continue
        if name in rule.columns.integers:
            yield from _integer(rule.columns, field, steps, left)
        elif not _is_certain(rule.columns, field):
            yield from _searched(rule.columns, field, steps, left)


def static_faults(rule: GenRule) -> Iterator[Finding]:
    """Yield what is wrong with a rule whatever its rows are: no row is looked at for it."""
    yield from map(_fault, (*rule.structure_faults, *rule.clashes))
    if not rule.is_object:
        return
    for field in rule.fields.values():
        if field.faults:
            yield from _static(rule, field)
        elif rule.columns is None:
            yield from _without_rows(rule, field)


def hidden_key(rule: GenRule, steps: int) -> RefbrowserError | None:
    """Return why some key of a rule is not known, as far as `steps` evaluation steps tell; else None."""
    if rule.structure_faults:
        return rule.structure_faults[0]
    if rule.columns is None:
        return None
    key = rule.fields["key"]
    if key.faults:
        return placed(key.faults[0], rule.index, "key", None)
    if _is_certain(rule.columns, key):
        return None
    found = _searched(rule.columns, key, steps, SearchTime())
    return next((each.error() for each in found if each.severity is Severity.FAULT), None)


def _texts(index: int, dimension: RuleDimension) -> Finding:
    position = next(place for place, value in enumerate(dimension.values) if isinstance(value, str))
    pointer = f"/gen/{index}{member_pointer(dimension.name)}/{position}"
    return Finding(
        severity=Severity.WARNING,
        kind=ErrorKind.SCHEMA,
        message=f"dimension {quoted(dimension.name)} lists texts, the specification has integers only",
        place=Place(rule=index, field="dimensions", pointer=pointer),
        count=sum(isinstance(value, str) for value in dimension.values),
    )


def _static(rule: GenRule, field: RuleField) -> Iterator[Finding]:
    for error in field.faults:
        if isinstance(error, UndefinedNameError) and rule.dimension_faults and not rule.space.dimensions:
            continue
        found = placed(error, rule.index, field.name, 0 if rule.count else None)
        yield replace(_fault(found), count=max(1, rule.count))


def _without_rows(rule: GenRule, field: RuleField) -> Iterator[Finding]:
    """Look at what does not depend on a dimension: it is wrong whether there are rows or not."""
    assert field.compiled is not None
    if field.compiled.uses:
        return
    try:
        field.evaluate([0] * len(rule.dimension_names))
    except RefbrowserError as error:
        yield _fault(placed(error, rule.index, field.name, None))


def _integer(columns: RuleColumns, field: RuleField, steps: int, left: SearchTime) -> Iterator[Finding]:
    value = columns.integers[field.name]
    found = bounds(value, columns.space)
    if found is not None and found[0] >= 0:
        return
    if not isinstance(value, Affine):
        yield from _searched(columns, field, steps, left)
        return
    first = first_below_zero(value, columns.space)
    if first is None:
        return
    count = count_below_zero(value, columns.space)
    error = below_zero(field.name, evaluate(value, columns.space.values(first)))
    examples = _next_below_zero(columns, field.name, first)
    yield _group(columns, field.name, _Group(error, [first, *examples], count))


def _next_below_zero(columns: RuleColumns, name: str, first: int) -> list[int]:
    stop = min(columns.space.count, first + 4096)
    column = columns.window(first + 1, stop).column(name)
    faults = column.faults if column is not None else {}
    return [first + 1 + position for position in list(faults)[: _EXAMPLES - 1]]


def _is_certain(columns: RuleColumns, field: RuleField) -> bool:
    """Whether it is proved that the field is good at every row."""
    if field.template is None or field.compiled is None:
        return False
    if field.name in ("key", "url") and field.name in columns.texts:
        return True
    if field.name in ("offset", "length"):
        return certain_integer(field.template, columns.scope, columns.space, field.compiled.steps)
    size = certain_text(field.template, columns.scope, columns.space, field.compiled.steps)
    return size is not None and size <= (LIMITS.key_length if field.name == "key" else LIMITS.url_length)


@dataclass
class _Group:
    """Faults of one field with the same cause; `count` None where it is not known."""

    error: RefbrowserError
    rows: list[int]
    count: int | None


class _Look:
    """A look at rows: how many there were, and whether there is time for more."""

    def __init__(self, left: SearchTime, row_steps: int) -> None:
        self._left = left
        self.block = min(max(_STEPS // row_steps, _LEAST), _BLOCK)
        self.rows = 0

    def take(self, rows: int) -> int:
        """Return how many of so many rows may be looked at now; 0 where the time is over."""
        if self.rows >= _LEAST and self._left.is_over:
            return 0
        taken = min(rows, self.block if self.rows else _LEAST)
        self.rows += taken
        return taken


def _searched(columns: RuleColumns, field: RuleField, steps: int, left: SearchTime) -> Iterator[Finding]:
    """Look at the combinations of the dimensions that the field depends on."""
    where = FieldSpace(columns.space, tuple(sorted(columns.slots(field.name))))
    groups: dict[Any, _Group] = {}
    each = _row_steps(columns, field)
    look = _Look(left, each)
    most = max(1, steps // each)
    count = where.inner.count
    if count <= most:
        found = _faulty_rows(columns, field, where, range(count), look)
    else:
        found = _sampled(columns, field, where, most, look)
    for fault in found:
        key = (fault.error.kind, fault.error.place.span)
        group = groups.setdefault(key, _Group(fault.error, [], 0))
        assert group.count is not None
        group.count += where.repeats * fault.count
        if len(group.rows) < _EXAMPLES:
            group.rows.append(where.first_row(fault.row))
    for group in groups.values():
        yield _group(columns, field.name, group)
    if look.rows < count:
        yield _not_decided(columns, field.name, look.rows)


def _row_steps(columns: RuleColumns, field: RuleField) -> int:
    if field.name in columns.by_numpy:
        return _COLUMN_STEPS
    return max(1, field.compiled.steps) if field.compiled is not None else 1


@dataclass(frozen=True, slots=True)
class _Fault:
    """An error at a combination, which stands for `count` combinations with the same cause."""

    row: int
    error: RefbrowserError
    count: int = 1


def _sampled(
    columns: RuleColumns, field: RuleField, where: FieldSpace, most: int, look: _Look
) -> Iterator[_Fault]:
    """Yield faults of the ends, of the first rows, and of the last rows."""
    start = most * 3 // 4
    stop = where.inner.count - (most - start)
    for row in where.probes():
        if start <= row < stop:
            if not look.take(1):
                return
            error = _error(field, where.values(row))
            if error is not None:
                yield _Fault(row, error)
    yield from _faulty_rows(columns, field, where, range(start), look)
    yield from _faulty_rows(columns, field, where, range(stop, where.inner.count), look)


def _faulty_rows(
    columns: RuleColumns, field: RuleField, where: FieldSpace, rows: range, look: _Look
) -> Iterator[_Fault]:
    begin = rows.start
    while begin < rows.stop:
        size = look.take(rows.stop - begin)
        if not size:
            return
        if columns.is_wide:
            for row in range(begin, begin + size):
                error = _error(field, where.values(row))
                if error is not None:
                    yield _Fault(row, error)
            begin += size
            continue
        positions = [np.zeros(size, dtype=np.int64)] * len(columns.space.dimensions)
        for slot, column in zip(where.slots, where.inner.index_window(begin, begin + size), strict=True):
            positions[slot] = column
        if field.name in columns.by_numpy:
            found = _negative_rows(columns, field, positions, size)
        else:
            faults = columns.column(field.name, positions, size).faults
            found = (_Fault(row, error) for row, error in faults.items())
        for fault in found:
            yield replace(fault, row=begin + fault.row)
        begin += size


def _negative_rows(
    columns: RuleColumns, field: RuleField, positions: Sequence[Int64], size: int
) -> Iterator[_Fault]:
    """Yield the first rows below 0, the last of them for all that follow."""
    values = columns.values(field.name, positions)
    found = np.broadcast_to(evaluate(columns.integers[field.name], values), (size,))
    rows = np.flatnonzero(found < 0)
    for number, row in enumerate(rows[:_EXAMPLES].tolist(), 1):
        count = 1 if number < _EXAMPLES else len(rows) - number + 1
        yield _Fault(row, below_zero(field.name, int(found[row])), count)


def _error(field: RuleField, values: list[int]) -> RefbrowserError | None:
    try:
        field.evaluate(values)
    except RefbrowserError as error:
        return error
    return None


def _group(columns: RuleColumns, name: str, group: _Group) -> Finding:
    error = placed(group.error, columns.index, name, group.rows[0])
    message = error.message
    if group.count is None:
        message += f"; the number of such rows was not decided, among them {_listed(group.rows)}"
    elif group.count > 1:
        message += f"; so are {group.count} rows, among them {_listed(group.rows)}"
    return replace(_fault(error), message=message, count=group.count or 1)


def _listed(rows: list[int]) -> str:
    return ", ".join(map(str, rows))


def _not_decided(columns: RuleColumns, name: str, checked: int) -> Finding:
    place = Place(rule=columns.index, field=name, pointer=f"/gen/{columns.index}/{name}")
    message = f"whether {quoted(name)[1:-1]} has other faults is not decided ({checked} rows checked)"
    return Finding(severity=Severity.WARNING, kind=ErrorKind.BUDGET, message=message, place=place)


def _fault(error: RefbrowserError) -> Finding:
    return Finding(
        severity=Severity.FAULT,
        kind=error.kind,
        message=error.message,
        place=error.place,
        advice=error.advice,
    )
