"""Findings at their bytes in the text of a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from refbrowser.engine.findings.listed_finding import ListedFinding
from refbrowser.references.content.content import ReferenceText
from refbrowser.references.content.finding_places import Positions, position_of

#: Findings that are marked.
MOST = 10_000


@dataclass(frozen=True, slots=True)
class SourceMark:
    """What is wrong at a place of a text.

    Attributes
    ----------
    start, stop
        Its bytes; where they are the same, what stands there is meant.
    words
        What is wrong, and what to do.
    """

    start: int
    stop: int
    is_fault: bool
    words: str


def marks_of(
    document: ReferenceText,
    positions: Positions,
    findings: Iterable[ListedFinding],
    pause: Callable[[], None] = lambda: None,
) -> tuple[SourceMark, ...]:
    """Return the findings that have a place in the text of a document, in its order."""
    marks = []
    for number, finding in enumerate(findings):
        if number >= MOST:
            break
        pause()
        position = position_of(document, positions, finding.place)
        if position is not None:
            times = f" ({finding.count:,} times)" if finding.count > 1 else ""
            advice = f" {finding.advice[:1].upper()}{finding.advice[1:]}" if finding.advice else ""
            words = f"{finding.message[:1].upper()}{finding.message[1:]}{times}.{advice}"
            marks.append(SourceMark(position, position, finding.is_fault, words))
    return tuple(sorted(marks, key=lambda mark: mark.start))
