"""Readers by arrays as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.engine.readers.matrix import ArrayGroup, Matrix
from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.tools.readers.report.matrix_report import failed_trials, failures
from refbrowser.tools.readers.report.matrix_words import (
    MARKS,
    WORDS,
    VersionRun,
    cause_words,
    group_words,
    needs_words,
    remedy_command,
    version_runs,
)
from refbrowser.tools.readers.report.trial_words import checked_trials, trial_words
from refbrowser.words import counted

#: Causes of one verdict, and arrays of a row, that are told.
_CAUSES, _ARRAYS = 3, 3
_WIDTH = max(map(len, WORDS.values()))


def matrix_lines(matrix: Matrix) -> Iterator[str]:
    """Yield what becomes of arrays in readers, row by row, and what makes them readable."""
    if not matrix.groups:
        yield "there are no arrays"
    for group in matrix.groups:
        yield from _group_lines(matrix, group)
    if matrix.tried:
        yield "tried here"
    for each in checked_trials(matrix):
        yield f"  {each.trial.reader} {each.trial.version}, {each.trial.array}: {trial_words(each)}"


def _group_lines(matrix: Matrix, group: ArrayGroup) -> Iterator[str]:
    of = f"{counted(len(group.arrays), 'array')}: " if len(group.arrays) > 1 else ""
    yield f"{of}{group_words(group, _ARRAYS)}"
    yield f"  needs: {needs_words(group)}"
    runs = version_runs(matrix, group)
    width = max(len(run.label) for run in runs)
    for run in runs:
        yield f"  {_mark(run.cell.verdict)}  {run.label:{width}}{_why(run)}".rstrip()
    yield from _remedy_lines(matrix, runs)


def _mark(verdict: ReaderVerdict) -> str:
    return f"{MARKS[verdict]} {WORDS[verdict]:{_WIDTH}}"


def _why(run: VersionRun) -> str:
    causes = run.cell.causes
    told = "; ".join(map(cause_words, causes[:_CAUSES]))
    left = len(causes) - _CAUSES
    return f"  {told}{f'; and {left} more' if left > 0 else ''}" if told else ""


def _remedy_lines(matrix: Matrix, runs: list[VersionRun]) -> Iterator[str]:
    """Yield each command once, with the readers that read what it writes."""
    helped: dict[str, list[str]] = {}
    for run in runs:
        remedy = run.cell.remedy
        if remedy is not None and (command := remedy_command(remedy, matrix.document)):
            helped.setdefault(command, []).append(run.label)
    for command, labels in helped.items():
        yield f"  to be read by {', '.join(labels)}:"
        yield f"    {command}"


def failure_lines(matrix: Matrix) -> Iterator[str]:
    """Yield what readers that were asked for do not read, each array row with its cause."""
    for column, group, cell in failures(matrix):
        why = "; ".join(map(cause_words, cell.causes[:_CAUSES]))
        if cell.verdict is ReaderVerdict.UNKNOWN:
            yield f"{column.label}: it is not known whether it reads {group_words(group)}: it {why}"
        else:
            yield f"{column.label} {WORDS[cell.verdict]} {group_words(group)}: {why}"
    for each in failed_trials(matrix):
        trial = each.trial
        said = f"{WORDS[trial.verdict]} {trial.array}: {trial.reason}"
        yield f"{trial.reader} {trial.version}, tried here, {said}"
