"""The safety report of an Awkward 0 file as rows, and in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.wings.awkward0.layouts.functions import AllowList, Standing
from refbrowser.wings.awkward0.reading.safety import FunctionUse, PickleUse, SafetySpot, TargetUse, report
from refbrowser.wings.awkward0.views.expressions import value_text
from refbrowser.words import count_text, counted_spaced, plural

if TYPE_CHECKING:
    from refbrowser.wings.awkward0.reading.opening import Awkward0Origin


FUNCTIONS, PICKLES, TARGETS = "Functions", "Pickles", "The arguments they would have received"


@dataclass(frozen=True, slots=True)
class SafetyRow:
    """One name in a file.

    Attributes
    ----------
    section
        `FUNCTIONS`, `PICKLES` or `TARGETS`.
    name
        As the file spells it.
    state
        ``allowed``, ``opened by the user``, ``refused``, ``plain values``, ``not used``.
    why
        For people; empty where there is nothing to say.
    count
        How often the file has it.
    where
        Name of the first array, and the pointer in its schema.
    path
        Of that array in the tree.
    number
        Of the expression there; None where it is not known.
    """

    section: str
    name: str
    state: str
    is_refused: bool
    why: str = ""
    count: int = 1
    where: str = ""
    path: str = ""
    number: int | None = None
    can_be_allowed: bool = False


def refused_words(rows: Sequence[SafetyRow]) -> str:
    """Return in a sentence what was refused; empty where nothing was."""
    parts = []
    for section, one, many in ((FUNCTIONS, "function", "functions"), (PICKLES, "pickle", "pickles")):
        count = sum(1 for row in rows if row.section == section and row.is_refused)
        if count:
            parts.append(counted_spaced(count, one, many))
    if not parts:
        return ""
    named = f"{' and '.join(parts)} that {_were(rows)} refused"
    return f"This file names {named}. Nothing of it was run; the rest is shown."


def _were(rows: Sequence[SafetyRow]) -> str:
    refused = sum(1 for row in rows if row.is_refused and row.section != TARGETS)
    return plural(refused, "was", "were")


def summary(rows: Sequence[SafetyRow]) -> str:
    """Return what stands over the report."""
    if not rows:
        return "The file names no function, no pickle and no external target."
    return refused_words(rows) or "Nothing was refused: all that the file names is in the table."


def report_text(name: str, rows: Sequence[SafetyRow]) -> str:
    """Return the whole report as lines of text."""
    lines = [f"Safety report of {name}", summary(rows)]
    for section in dict.fromkeys(row.section for row in rows):
        lines += ["", f"{section}:"]
        for row in rows:
            if row.section == section:
                used = f" ({count_text(row.count)} times)" if row.count > 1 else ""
                why = f": {row.why}" if row.why else ""
                where = f" [{row.where}]" if row.where else ""
                lines.append(f"  {row.name}  {row.state}{why}{used}{where}")
    return "\n".join(lines)


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
    why, spot = f"{use.function} would have received it", use.spot
    return SafetyRow(
        TARGETS, use.text, "not used", True, why, use.count, _where(spot), spot.array, spot.number
    )


def _where(spot: SafetySpot) -> str:
    return f"{spot.array} {spot.pointer}"
