"""The safety report of an opened file, as rows. Imported inside tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.facets.awkward0.expression_graph import value_text
from refbrowser.app.facets.awkward0.safety_rows import FUNCTIONS, PICKLES, TARGETS, SafetyRow
from refbrowser.formats.awkward0.allow_list import AllowList
from refbrowser.formats.awkward0.functions import Standing
from refbrowser.formats.awkward0.safety import FunctionUse, PickleUse, Spot, TargetUse, report

if TYPE_CHECKING:
    from refbrowser.formats.awkward0.origin import Awkward0Origin


def safety_rows(origin: Awkward0Origin, check: Callable[[], object]) -> list[SafetyRow]:
    """Return what a file names: functions, pickles, and what they would have been given.

    Parameters
    ----------
    check
        Called between arrays; raises where nobody waits any more.
    """
    found = report(origin.arrays, AllowList.of_texts(origin.options.allow_functions), check)
    rows = [*map(_function, found.functions), *map(_pickle, found.pickles), *map(_target, found.targets)]
    if found.left_out:
        rows.append(SafetyRow(TARGETS, "… and more", "not listed", True, count=found.left_out))
    return rows


def _function(use: FunctionUse) -> SafetyRow:
    verdict, spot = use.verdict, use.spot
    is_refused = verdict.standing is Standing.REFUSED
    return SafetyRow(
        FUNCTIONS,
        verdict.name,
        str(verdict.standing),
        is_refused,
        verdict.why,
        use.count,
        _where(spot),
        spot.array,
        spot.number,
        verdict.can_be_allowed,
    )


def _pickle(use: PickleUse) -> SafetyRow:
    where, path, number = _where(use.spot), use.spot.array, use.spot.number
    if use.error is None:
        name = value_text(use.value)
        return SafetyRow(PICKLES, name, "plain values", False, "", 1, where, path, number)
    name = ", ".join(use.names) or "a pickle"
    return SafetyRow(PICKLES, name, "refused", True, use.error.message, 1, where, path, number)


def _target(use: TargetUse) -> SafetyRow:
    why, spot = f"{use.function} would have been given it", use.spot
    return SafetyRow(
        TARGETS, use.text, "not used", True, why, use.count, _where(spot), spot.array, spot.number
    )


def _where(spot: Spot) -> str:
    return f"{spot.array} {spot.pointer}"
