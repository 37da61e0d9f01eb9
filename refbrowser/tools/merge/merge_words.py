"""What came of a merge in words: one line for each conflict, and what is to be done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from refbrowser.references.merging.merge import Choice, Conflict, Merged, MergePart
from refbrowser.references.merging.merged_members import ABSENT
from refbrowser.references.merging.merged_rules import ORDER
from refbrowser.references.text.typed_values import from_difference
from refbrowser.views.side_lines import Lines, side_lines
from refbrowser.words import counted, plural

#: Characters before the place where the sides part.
_LEAD = 24


def conflict_title(conflict: Conflict) -> str:
    """Return what a conflict is about."""
    if conflict.part is MergePart.RULE:
        if conflict.path == (ORDER,):
            return "the order of the gen rules"
        return f"gen rule {conflict.name}{_below(conflict)}"
    if conflict.part in (MergePart.TEMPLATE, MergePart.MEMBER):
        return f"{conflict.part} {conflict.name}{_below(conflict)}"
    return f"{conflict.name}{_below(conflict)}"


def _below(conflict: Conflict) -> str:
    return f", {' / '.join(conflict.path)}" if conflict.path else ""


def conflict_sides(conflict: Conflict) -> tuple[str, str, str]:
    """Return base, ours and theirs as text, whole but for what ours and theirs have in common at first."""
    base, ours, theirs = (side_text(conflict.value(choice)) for choice in Choice)
    if ABSENT not in (conflict.ours, conflict.theirs):
        ours, theirs = from_difference(ours, theirs, _LEAD)
    return base, ours, theirs


def three_sides(conflict: Conflict) -> tuple[Lines, Lines, Lines]:
    """Return base, ours and theirs as lines; what differs is marked against ours, in ours against theirs."""
    base, ours, theirs = (conflict.value(choice) for choice in Choice)
    left, right = _beside(ours, theirs)
    return _beside(base, ours)[0], left, right


def _beside(one: Any, other: Any) -> tuple[Lines, Lines]:
    both = ABSENT not in (one, other)
    texts = ("" if each is ABSENT else side_text(each) for each in (one, other))
    return side_lines(*texts, both=both)


def side_text(value: Any) -> str:
    """Return one side of a conflict as text, whole."""
    if value is ABSENT:
        return "(not there)"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def merge_lines(merged: Merged, target: str, *, are_marked: bool = False) -> Iterator[str]:
    """Yield what came of a merge: each conflict with its place and sides, warnings, and a summary."""
    for conflict in merged.conflicts:
        inner = f" {conflict.inner}" if conflict.inner else ""
        yield f"conflict: {conflict_title(conflict)} ({conflict.pointer}{inner})"
        for choice, text in zip(Choice, conflict_sides(conflict), strict=True):
            yield f"  {choice.value}: {text}"
    for each in merged.warnings:
        yield f"warning: {each.message}"
    yield summary_of_merge(merged, target, are_marked=are_marked)


def summary_of_merge(merged: Merged, target: str, *, are_marked: bool = False) -> str:
    """Return in one sentence what came of a merge.

    Parameters
    ----------
    are_marked
        The file has both sides of each conflict.
    """
    edits = f"{counted(len(merged.edits), 'edit')} of ours"
    if merged.conflicts:
        count = len(merged.conflicts)
        words = plural(count, "conflict")
        there = (
            "Both sides are marked in it: keep one of them"
            if are_marked
            else "Ours is in place: edit it where needed"
        )
        return f"{target}: {edits}, {count:,} {words} left. {there}, or merge again with --favor."
    settled = f", {len(merged.settled):,} settled" if merged.settled else ""
    return f"{target}: {edits}{settled}, no conflicts."
