"""The safety report of a file as rows, and in words; no Qt here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refbrowser.app.widgets.theme import count_text

FUNCTIONS, PICKLES, TARGETS = "Functions", "Pickles", "What they would have been given"


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
            parts.append(f"{count_text(count)} {one if count == 1 else many}")
    if not parts:
        return ""
    named = f"{' and '.join(parts)} that {_were(rows)} refused"
    return f"This file names {named}. Nothing of it was run; the rest is shown."


def _were(rows: Sequence[SafetyRow]) -> str:
    refused = sum(1 for row in rows if row.is_refused and row.section != TARGETS)
    return "was" if refused == 1 else "were"


def summary(rows: Sequence[SafetyRow]) -> str:
    """Return what stands over the report."""
    if not rows:
        return "The file names no function, no pickle, and nothing outside."
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
