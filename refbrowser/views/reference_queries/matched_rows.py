"""The rows of a document that a query means; over gen rules by arithmetic where that tells, no row expanded.

A gen rule is looked at by blocks of its rows. Of a block that has the same answer everywhere, as bounds of
offset and length and the dimensions of key and URL tell, no row is made; the others are halved until they are
small enough to be made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.references.rules.dimensions import RowSpace, RuleDimension
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.integer_expressions import bounds
from refbrowser.references.rules.text_columns import TextColumn
from refbrowser.views.reference_queries.found_rows import (
    AnyPart,
    FoundRows,
    ListOfRows,
    RangeOfRows,
    RepeatedRows,
    merged,
)
from refbrowser.views.reference_queries.reference_query import (
    KINDS,
    Field,
    FromTerm,
    KindTerm,
    NumberTerm,
    ReferenceQuery,
    Term,
    TextTerm,
)
from refbrowser.views.reference_queries.rule_columns import columns_of, keys_of
from refbrowser.views.reference_queries.term_columns import RowsAsked, TermMatcher, is_from

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.layouts import Generated
    from refbrowser.references.rules.rule_rows import RuleColumns

Bools = npt.NDArray[np.bool_]
#: Returns which rows differ from the saved state, from one to before another.
Changed = Callable[[int, int], Bools]

#: Rows that are made at once; of rules that are not arithmetic.
BLOCK, SLOW_BLOCK = 65_536, 512
#: Blocks of which bounds of numbers alone are to tell are halved down to so many rows.
NUMBERS_BLOCK = 512
#: Rows of rules that are made in all, at most; a row that is not arithmetic counts for so many.
ROWS_MADE, SLOW_COST = 4_000_000, 100
#: Blocks of one rule that are looked at.
BLOCKS_SEEN = 100_000
#: Combinations of the fastest dimensions that are looked at as one period.
PERIOD_MOST = 262_144
#: Rows beyond have no place in columns.
_COUNTED = 2**62
#: Seconds after which no more rows of rules are made.
SECONDS = 10.0


@dataclass
class _Budget:
    """What may still be spent on rules."""

    check: Callable[[], None]
    rows: int = ROWS_MADE
    end: float = field(default_factory=lambda: time.monotonic() + SECONDS)
    is_spent: bool = False

    def takes(self, cost: int) -> bool:
        """Spend something; whether it could be."""
        self.check()
        self.is_spent |= self.rows < cost or time.monotonic() > self.end
        if not self.is_spent:
            self.rows -= cost
        return not self.is_spent


@dataclass(frozen=True, slots=True)
class _Condition:
    """A term with what tells of rows whether it holds."""

    term: Term
    matcher: TermMatcher

    def holds(self, rows: RowsAsked) -> Bools:
        """Return where it holds."""
        found = self.matcher.matches(rows)
        return ~found if self.term.is_negated else found

    def is_so(self, answer: bool | None) -> bool | None:
        """Return whether it holds where its term has this answer."""
        return None if answer is None else answer != self.term.is_negated


def matched_rows(
    document: Document,
    query: ReferenceQuery,
    changed: Changed | None,
    check: Callable[[], None] = lambda: None,
) -> FoundRows:
    """Return the rows of the Version 0 view that a query means, in their order.

    Parameters
    ----------
    changed
        Returns which rows of the Version 0 view differ from the saved state; None where nothing does.
    check
        Called often; raises to end the search.
    """
    # Keys last: making them costs most.
    terms = sorted(query.terms, key=lambda term: isinstance(term.asked, TextTerm) + _is_key(term))
    conditions = [_Condition(term, TermMatcher(term.asked)) for term in terms]
    parts = [*_of_refs(document, conditions, changed or _none, check)]
    budget, unsearched = _Budget(check), []
    for number, rule in enumerate(document.generated):
        search = _RuleSearch(document, number, rule, conditions, changed or _none, budget)
        parts += search.parts()
        if search.left:
            unsearched.append((number, search.left))
    return FoundRows(merged(parts), tuple(unsearched))


def _is_key(term: Term) -> bool:
    return isinstance(term.asked, TextTerm) and term.asked.field is Field.KEY


def _none(start: int, stop: int) -> Bools:
    return np.zeros(stop - start, bool)


def _which(conditions: Sequence[_Condition], rows: RowsAsked) -> Bools:
    found = np.ones(len(rows.columns), bool)
    for condition in conditions:
        found &= condition.holds(rows)
        if not found.any():
            break
    return found


# refs


def _of_refs(
    document: Document,
    conditions: Sequence[_Condition],
    changed: Changed,
    check: Callable[[], None],
) -> Iterator[AnyPart]:
    """Yield the entries of refs that are meant."""
    refs = document.refs
    if any(
        isinstance(condition.term.asked, FromTerm) and not condition.is_so(is_from(condition.term.asked, -1))
        for condition in conditions
    ):
        return
    for start in range(0, len(refs), BLOCK):
        check()
        stop = min(start + BLOCK, len(refs))
        slots = refs.slot_column(start, stop)

        rows = RowsAsked(
            document.view.columns(slots),
            partial(refs.keys, start, stop),
            -1,
            partial(changed, start, stop),
            partial(np.isin, slots, refs.table.duplicates),
        )
        found = _which(conditions, rows)
        if found.all():
            yield RangeOfRows(start, stop)
        else:
            yield ListOfRows(np.flatnonzero(found) + start)


# Gen rules


@dataclass(frozen=True, slots=True)
class _Block:
    """Neighbouring rows of a rule: its first dimensions are at one position, the next one at some."""

    first: tuple[int, ...]
    low: int
    high: int

    def halves(self, lengths: Sequence[int]) -> tuple[_Block, ...]:
        """Return what it is made of, in its order."""
        if self.high - self.low > 1:
            middle = (self.low + self.high) // 2
            return _Block(self.first, self.low, middle), _Block(self.first, middle, self.high)
        first = (*self.first, self.low)
        return (_Block(first, 0, lengths[len(first)]),)

    def space(self, whole: RowSpace) -> RowSpace:
        """Return its rows as a space of their own."""
        own: list[RuleDimension] = []
        for at, dimension in enumerate(whole.dimensions):
            if at < len(self.first):
                values = dimension.values[self.first[at] : self.first[at] + 1]
            elif at == len(self.first):
                values = dimension.values[self.low : self.high]
            else:
                values = dimension.values
            own.append(replace(dimension, values=values))
        return RowSpace(tuple(own))


class _RuleSearch:
    """Looks for the rows of one rule.

    Attributes
    ----------
    left
        How many rows were not looked at.
    """

    def __init__(
        self,
        document: Document,
        number: int,
        rule: Generated,
        conditions: Sequence[_Condition],
        changed: Changed,
        budget: _Budget,
    ) -> None:
        self._number, self._rule, self._changed, self._budget = number, rule, changed, budget
        self._begin = document.expansion.row_of(number, 0)
        self._conditions = conditions
        self.left = 0

    def parts(self) -> Iterator[AnyPart]:
        """Yield the rows that are meant, as rows of the Version 0 view."""
        rule, open_ones = self._rule, []
        for condition in self._conditions:
            asked = condition.term.asked
            answer = is_from(asked, self._number) if isinstance(asked, FromTerm) else None
            holds = condition.is_so(answer)
            if holds is False:
                return
            if holds is None:
                open_ones.append(condition)
        if not rule.count:
            return
        columns = rule.columns if isinstance(rule, GenRule) else None
        if columns is None:
            yield from self._made(open_ones, 0, rule.count)
            return
        period = self._period(columns, open_ones)
        if period is not None:
            yield period
        else:
            yield from self._by_blocks(columns, open_ones)

    def _by_blocks(self, columns: RuleColumns, conditions: Sequence[_Condition]) -> Iterator[AnyPart]:
        space = columns.space
        lengths = space.lengths
        waiting = [_Block((), 0, lengths[0])] if lengths else [_Block((), 0, 1)]
        seen = 0
        while waiting:
            block = waiting.pop()
            seen += 1
            self._budget.check()
            inner = prod(lengths[len(block.first) + 1 :])
            start = space.row((*block.first, block.low, *(0 for _ in lengths[len(block.first) + 1 :])))
            start = start if lengths else 0
            stop = start + (block.high - block.low) * inner
            own = block.space(space)
            answers = [self._decided(condition, columns, own, block) for condition in conditions]
            if False in answers:
                continue
            still = [each for each, answer in zip(conditions, answers, strict=True) if answer is None]
            if not still:
                yield RangeOfRows(self._begin + start, self._begin + stop)
            elif stop - start <= _made_at_once(still):
                yield from self._made(still, start, stop)
            elif seen >= BLOCKS_SEEN or self._budget.is_spent:
                self.left += stop - start
            else:
                waiting += reversed(block.halves(lengths))

    def _decided(
        self, condition: _Condition, columns: RuleColumns, own: RowSpace, block: _Block
    ) -> bool | None:
        """Return whether a condition holds for all rows of a block or for none; None: it has to be seen."""
        asked = condition.term.asked
        if not _are_sound(columns, own):
            return None
        if isinstance(asked, NumberTerm):
            return condition.is_so(_number_decided(asked, columns, own))
        if isinstance(asked, KindTerm):
            kind = "range" if "offset" in columns.fields else "whole"
            return condition.is_so(KINDS[asked.kind] == kind)
        if isinstance(asked, TextTerm):
            is_in_all = asked.is_in(self._statics[asked.field])
            return condition.is_so(is_in_all or _text_decided(condition, asked, columns, own, block))
        return None

    @cached_property
    def _statics(self) -> dict[Field, str]:
        """What all keys, and all URLs, begin with."""
        rule = self._rule
        assert isinstance(rule, GenRule)
        return {Field.KEY: rule.static_prefix, Field.URL: rule.static_origin()}

    def _made(self, conditions: Sequence[_Condition], start: int, stop: int) -> Iterator[AnyPart]:
        """Yield which of the rows are meant, each of which is made; as many as may be."""
        size, cost = (BLOCK, 1) if self._rule.is_quick else (SLOW_BLOCK, SLOW_COST)
        for first in range(start, stop, size):
            last = min(first + size, stop)
            if last > _COUNTED or not self._budget.takes(cost * (last - first)):
                self.left += stop - first
                return
            found = _which(conditions, self._asked(first, last))
            if found.all():
                yield RangeOfRows(self._begin + first, self._begin + last)
            else:
                yield ListOfRows(np.flatnonzero(found) + self._begin + first)

    def _asked(self, start: int, stop: int) -> RowsAsked:
        rule, begin = self._rule, self._begin
        rows = np.arange(start, stop, dtype=np.int64)
        return RowsAsked(
            columns_of(rule, rows),
            partial(keys_of, rule, rows),
            self._number,
            partial(self._changed, begin + start, begin + stop),
            partial(_none, start, stop),
        )

    def _period(self, columns: RuleColumns, conditions: Sequence[_Condition]) -> RepeatedRows | None:
        """Return the rows where all conditions depend on the fastest dimensions alone; else None."""
        lengths = columns.space.lengths
        used = [_slots(condition.term, columns) for condition in conditions]
        if not conditions or None in used or not lengths:
            return None
        slots = {slot for each in used for slot in each or ()}
        first = min(slots, default=len(lengths))
        size = prod(lengths[first:])
        is_short = first > 0 and size <= PERIOD_MOST
        if not is_short or not self._rule.is_quick or not _are_sound(columns, columns.space):
            return None
        if not self._budget.takes(size):
            return None
        found = np.flatnonzero(_which(conditions, self._asked(0, size)))
        periods = columns.space.count // size
        return RepeatedRows(self._begin, size, periods, tuple(found.tolist()))


def _made_at_once(conditions: Sequence[_Condition]) -> int:
    """Return how many rows a block has at most that is not halved any more, for what is open."""
    are_numbers = all(isinstance(condition.term.asked, NumberTerm) for condition in conditions)
    return min(BLOCK, NUMBERS_BLOCK) if are_numbers else BLOCK


def _slots(term: Term, columns: RuleColumns) -> frozenset[int] | None:
    """Return the dimensions that the answer to a term depends on; None where that is not known."""
    asked = term.asked
    if not isinstance(asked, TextTerm | NumberTerm):
        return None
    name = _field_of(asked)
    return columns.slots(name) if name in columns.fields else frozenset()


def _field_of(asked: TextTerm | NumberTerm) -> str:
    """Return the field of a gen rule that a term is about."""
    return "length" if asked.field is Field.SIZE else str(asked.field)


def _are_sound(columns: RuleColumns, own: RowSpace) -> bool:
    """Tell whether no row of a block can be faulty."""
    if any(name not in columns.by_numpy for name in columns.fields):
        return False
    ends = 0
    for name in ("offset", "length"):
        if name in columns.fields:
            found = bounds(columns.integers[name], own)
            if found is None or found[0] < 0:
                return False
            ends += found[1]
    return ends < 2**63


def _number_decided(asked: NumberTerm, columns: RuleColumns, own: RowSpace) -> bool | None:
    name = _field_of(asked)
    if name not in columns.fields:
        return False
    found = bounds(columns.integers[name], own)
    if found is None:
        return None
    if asked.low <= found[0] and found[1] <= asked.high:
        return True
    return False if found[1] < asked.low or found[0] > asked.high else None


def _text_decided(
    condition: _Condition, asked: TextTerm, columns: RuleColumns, own: RowSpace, block: _Block
) -> bool | None:
    """Decide where all rows of the block have the same text."""
    name = _field_of(asked)
    if any(own.lengths[slot] > 1 for slot in columns.slots(name)):
        return None
    at = [*block.first, block.low, *(0 for _ in own.lengths)][: len(own.lengths)]
    positions = [np.array([index], np.int64) for index in at]
    values = columns.column(name, positions, 1).values
    (text,) = values.texts if isinstance(values, TextColumn) else values
    return condition.matcher.is_meant(text) if isinstance(text, str) else None
