"""The safety report of an opened file, as rows. Imported inside tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.app.awkward0.expression_graph import value_text
from refbrowser.app.awkward0.safety_rows import FUNCTIONS, PICKLES, TARGETS, SafetyRow
from refbrowser.errors import RefbrowserError
from refbrowser.formats.awkward0.allow_list import AllowList
from refbrowser.formats.awkward0.expressions import ExpressionKind
from refbrowser.formats.awkward0.functions import Standing, judge
from refbrowser.formats.awkward0.layouts import VirtualLayout
from refbrowser.formats.awkward0.pickles import globals_of, plain_value

if TYPE_CHECKING:
    from refbrowser.formats.awkward0.arrays import Awkward0Array
    from refbrowser.formats.awkward0.expressions import Expression
    from refbrowser.formats.awkward0.origin import Awkward0Origin

#: Names that are listed; a file may hold any number.
ROWS_MOST = 2_000


def safety_rows(origin: Awkward0Origin, check: Callable[[], object]) -> list[SafetyRow]:
    """Return what a file names: functions, pickles, and targets outside; each name once.

    Parameters
    ----------
    check
        Called between arrays; raises where nobody waits any more.
    """
    allowed = AllowList.of_texts(origin.options.allow_functions)
    found: dict[tuple[str, str, str], SafetyRow] = {}
    for array in origin.arrays:
        check()
        for row in _rows_of(array, allowed):
            key = (row.section, row.name, row.state)
            known = found.get(key)
            if known is not None:
                found[key] = replace(known, count=known.count + 1)
            elif len(found) < ROWS_MOST:
                found[key] = row
    order = (FUNCTIONS, PICKLES, TARGETS)
    return sorted(found.values(), key=lambda row: (order.index(row.section), not row.is_refused))


def _rows_of(array: Awkward0Array, allowed: AllowList) -> Iterator[SafetyRow]:
    if array.schema is None:
        return
    for each in array.schema.expressions:
        row = _row_of(each, allowed)
        if row is not None:
            where = f"{array.name or array.path} {each.pointer}"
            yield replace(row, where=where, path=array.path, number=each.number)
    layouts = {} if array.built is None else array.built.by_number
    for number, layout in layouts.items():
        for target in layout.target if isinstance(layout, VirtualLayout) else ():
            where = f"{array.name or array.path} {array.schema.expressions[number].pointer}"
            why = f"{layout.generator} would read it" if isinstance(layout, VirtualLayout) else ""
            yield SafetyRow(TARGETS, target, "not read", True, why, 1, where, array.path, number)


def _row_of(each: Expression, allowed: AllowList) -> SafetyRow | None:
    """Return the row of an expression that names a function or holds a pickle; None of any other."""
    if each.kind in (ExpressionKind.CALL, ExpressionKind.FUNCTION) and each.error is None:
        verdict = judge(each.value, allowed)
        is_refused = verdict.standing is Standing.REFUSED
        state, can_be = str(verdict.standing), verdict.can_be_allowed
        return SafetyRow(FUNCTIONS, verdict.name, state, is_refused, verdict.why, can_be_allowed=can_be)
    if each.kind is ExpressionKind.PYTHON and isinstance(each.value, str):
        return _pickle_row(each.value)
    return None


def _pickle_row(text: str) -> SafetyRow:
    try:
        return SafetyRow(PICKLES, value_text(plain_value(text)), "plain values", False)
    except RefbrowserError as error:
        name = ", ".join(globals_of(text)) or "a pickle"
        return SafetyRow(PICKLES, name, "refused", True, str(error.message))
