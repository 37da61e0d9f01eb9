"""What installed readers made of a sample, held against what the rules say."""

from __future__ import annotations

from typing import NamedTuple

from refbrowser.engine.readers.matrix import Matrix, ReaderVersion, judge
from refbrowser.engine.readers.outcome import ReaderVerdict, Trial
from refbrowser.engine.readers.rules import rule_book
from refbrowser.tools.readers.report.matrix_words import MARKS, WORDS


class CheckedTrial(NamedTuple):
    """A trial, and what the rules say of the same version.

    Attributes
    ----------
    agrees
        Whether they say the same; None where they say nothing.
    """

    trial: Trial
    expected: ReaderVerdict
    agrees: bool | None


def checked_trials(matrix: Matrix) -> list[CheckedTrial]:
    """Return what readers that were tried made of arrays, each with what was to be expected."""
    groups = {path: group for group in matrix.groups for path in group.arrays}
    book, found = rule_book(), []
    for trial in matrix.tried:
        column = ReaderVersion(book.reader(trial.reader), trial.version)
        expected = judge(groups[trial.array].needs, column, book).verdict
        is_open = expected is ReaderVerdict.UNKNOWN
        found.append(CheckedTrial(trial, expected, None if is_open else expected is trial.verdict))
    return found


def trial_words(checked: CheckedTrial) -> str:
    """Return what became of a trial, and where it is not what the rules say."""
    trial, expected, agrees = checked
    reason = f": {trial.reason}" if trial.reason else ""
    said = f"{MARKS[trial.verdict]} {WORDS[trial.verdict]}{reason}"
    if agrees is None:
        return f"{said} (no rule tells of it)"
    return said if agrees else f"{said} — DIFFERS from the rules, which say: {WORDS[expected]}"
