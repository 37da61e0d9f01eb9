"""Readers by arrays as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.engine.readers.matrix import Matrix
from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.tools.readers.report.matrix_report import failed_trials, failures
from refbrowser.tools.readers.report.matrix_words import (
    MARKS,
    WORDS,
    GroupRun,
    arrays_words,
    cause_words,
    group_words,
    matrix_summary,
    needs_words,
    reader_rows,
    remedy_command,
)
from refbrowser.tools.readers.report.trial_words import checked_trials, trial_words

#: Causes of one verdict, and arrays of a row, that are told.
_CAUSES, _ARRAYS = 3, 3


def matrix_lines(matrix: Matrix) -> Iterator[str]:
    """Yield what becomes of all arrays, a line for each reader, and what makes them readable."""
    if not matrix.groups:
        yield "there are no arrays"
        return
    yield matrix_summary(matrix)
    for group in matrix.groups:
        yield f"  {group_words(group, _ARRAYS)}: {needs_words(group)}"
    rows = reader_rows(matrix)
    marks = [_mark(matrix, row) for row in rows]
    widths = max(map(len, marks)), max(len(row.label) for row in rows)
    for mark, row in zip(marks, rows, strict=True):
        yield f"{mark:{widths[0]}}  {row.label:{widths[1]}}  {_why(matrix, row)}".rstrip()
    yield from _remedy_lines(matrix, rows)
    if matrix.tried:
        yield "tried here"
    for each in checked_trials(matrix):
        yield f"  {each.trial.reader} {each.trial.version}, {each.trial.array}: {trial_words(each)}"


def _mark(matrix: Matrix, row: GroupRun) -> str:
    """Return the worst verdict of a row in words, with the number of arrays that it is about."""
    verdict = row.verdict
    sizes = [len(group.arrays) for group in matrix.groups]
    count = sum(size for size, cell in zip(sizes, row.cells, strict=True) if cell.verdict is verdict)
    of = "" if count == sum(sizes) else f" {count} of {sum(sizes)}"
    return f"{MARKS[verdict]} {WORDS[verdict]}{of}"


def _why(matrix: Matrix, row: GroupRun) -> str:
    """Return the causes of a row, each once, with the arrays where they are not all."""
    causes: dict[str, list[str]] = {}
    for group, cell in zip(matrix.groups, row.cells, strict=True):
        for cause in cell.causes:
            causes.setdefault(cause_words(cause), []).extend(group.arrays)
    count = sum(len(group.arrays) for group in matrix.groups)
    told = [
        words if len(arrays) == count else f"{arrays_words(arrays)}: {words}"
        for words, arrays in list(causes.items())[:_CAUSES]
    ]
    left = len(causes) - _CAUSES
    return "; ".join([*told, f"and {left} more"] if left > 0 else told)


def _remedy_lines(matrix: Matrix, rows: list[GroupRun]) -> Iterator[str]:
    """Yield each command once, with the readers that read what it writes."""
    helped: dict[str, list[str]] = {}
    for row in rows:
        remedy = row.remedy
        if remedy is not None and (command := remedy_command(remedy, matrix.document)):
            helped.setdefault(command, []).append(row.label)
    for command, labels in helped.items():
        yield f"to be read by {', '.join(labels)}:"
        yield f"  {command}"


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
