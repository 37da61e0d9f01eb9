"""Search of rows where arithmetic does not decide: how long it may go on, and the folders of keys."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.rules.dimensions import RowSpace
from refbrowser.references.rules.lowering import Text
from refbrowser.references.rules.rule_keys import KeyPattern
from refbrowser.references.rules.rule_rows import RuleColumns, RuleField, print_text, slots_of


def _never() -> bool:
    return False


class SearchTime:
    """The time of a search, which may be shared by the searches of many rules.

    Parameters
    ----------
    cancelled
        Asked now and then; what it ends is not remembered.
    seconds
        The limit `search_time` when None.
    steps
        Evaluation steps between two looks at the time.
    """

    def __init__(
        self, cancelled: Callable[[], bool] = _never, seconds: float | None = None, steps: int = 200_000
    ) -> None:
        self.cancelled = cancelled
        self.steps = steps
        self._until = time.monotonic() + (LIMITS.search_time if seconds is None else seconds)

    @property
    def is_over(self) -> bool:
        """Whether the search has to end."""
        return self.cancelled() or time.monotonic() >= self._until


#: Rules up to this many different evaluations keep a table of what they give.
_TABLE_ROWS = 100_000
#: Steps of one look-up: a part of what a job may take, as look-ups are waited for.
_MOST_STEPS = LIMITS.template_steps_job // 10
#: Rows at each end of a rule, and of each dimension, that are looked at when not all can be.
_END_ROWS = 1_000


@dataclass(frozen=True)
class FieldSpace:
    """The dimensions that one field depends on, as a space of their own.

    Attributes
    ----------
    space
        The space of the rule.
    slots
        The dimensions that the field depends on.
    """

    space: RowSpace
    slots: tuple[int, ...]

    @cached_property
    def inner(self) -> RowSpace:
        """The product of these dimensions alone."""
        return RowSpace(tuple(self.space.dimensions[slot] for slot in self.slots))

    @cached_property
    def repeats(self) -> int:
        """Rows of the rule for each combination of these dimensions."""
        return self.space.count // self.inner.count

    def first_row(self, inner_row: int) -> int:
        """Return the first row of the rule with a combination."""
        return self._row(inner_row, last=False)

    def last_row(self, inner_row: int) -> int:
        """Return the last row of the rule with a combination."""
        return self._row(inner_row, last=True)

    def _row(self, inner_row: int, *, last: bool) -> int:
        positions = [length - 1 if last else 0 for length in self.space.lengths]
        for slot, position in zip(self.slots, self.inner.indices(inner_row), strict=True):
            positions[slot] = position
        return self.space.row(positions)

    def values(self, inner_row: int) -> list[int]:
        """Return a value for every dimension of the rule; those without effect have their first."""
        values = [dimension.values[0] for dimension in self.space.dimensions]
        for slot, value in zip(self.slots, self.inner.values(inner_row), strict=True):
            values[slot] = value
        return values

    def probes(self) -> Iterator[int]:
        """Yield combinations worth a look: the first and last, and the ends of each dimension."""
        count = self.inner.count
        seen = set()
        corners = range(2 ** min(len(self.slots), 10))
        for corner in corners:
            ends = [(length - 1) * (corner >> place & 1) for place, length in enumerate(self.inner.lengths)]
            row = self.inner.row(ends)
            seen.add(row)
            yield row
        for row in (*range(min(_END_ROWS, count)), *range(max(0, count - _END_ROWS), count)):
            if row not in seen:
                yield row


@dataclass(frozen=True)
class KeySearch:
    """The keys of a rule that is not lowered."""

    field: RuleField
    where: FieldSpace

    @cached_property
    def _table(self) -> dict[str, int] | None:
        if self.where.inner.count > _TABLE_ROWS:
            return None
        table = {}
        for row in range(self.where.inner.count):
            key = self._key(row)
            if key is not None:
                table[key] = self.where.last_row(row)
        return table

    def _key(self, inner_row: int) -> str | None:
        try:
            return str(self.field.evaluate(self.where.values(inner_row)))
        except RefbrowserError:
            return None

    def find(self, key: str, cancelled: Callable[[], bool]) -> tuple[int | None, int]:
        """Return the last row with a key that was found, and how many rows were looked at (-1 for all)."""
        assert self.field.template is not None
        if not key.startswith(self.field.template.static_prefix):
            return None, -1
        if self._table is not None:
            return self._table.get(key), -1
        assert self.field.compiled is not None
        count = self.where.inner.count
        most = min(count, _MOST_STEPS // max(1, self.field.compiled.steps))
        for checked, row in enumerate(range(count - 1, count - 1 - most, -1)):
            if checked % 1024 == 0 and cancelled():
                return None, checked
            if self._key(row) == key:
                return self.where.last_row(row), -1
        if most == count:
            return None, -1
        found = [row for row in self.where.probes() if self._key(row) == key]
        return (self.where.last_row(max(found)) if found else None), most


#: More directories than this are not listed.
_MOST = 1_000


def rule_directories(
    pattern: KeyPattern | None, columns: RuleColumns, search: KeySearch | None
) -> tuple[str, ...] | None:
    """Return what keys have before their last ``/`` in order of first use; None where that is not bounded."""
    if pattern is not None:
        return _of_pattern(pattern, columns)
    if search is None:
        return ()
    if search.where.inner.count > _MOST:
        return None
    found: dict[str, None] = {}
    for row in range(search.where.inner.count):
        try:
            key = str(search.field.evaluate(search.where.values(row)))
        except RefbrowserError:
            continue
        found[key.rpartition("/")[0]] = None
    return tuple(found)


def _of_pattern(pattern: KeyPattern, columns: RuleColumns) -> tuple[str, ...] | None:
    fragments = _before_last_slash(pattern.fragments)
    where = FieldSpace(columns.space, tuple(sorted(slots_of(fragments))))
    if where.inner.count > _MOST:
        return None
    return tuple(dict.fromkeys(print_text(fragments, where.values(row)) for row in range(where.inner.count)))


def _before_last_slash(fragments: Text) -> Text:
    for number in range(len(fragments) - 1, -1, -1):
        fragment = fragments[number]
        if isinstance(fragment, str) and "/" in fragment:
            return (*fragments[:number], fragment.rpartition("/")[0])
    return ()
