"""Readers by arrays as test cases: they fail just where the exit code is not 0."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.engine.readers.matrix import ArrayGroup, Cell, Matrix, ReaderVersion
from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.tools.readers.report.matrix_report import exit_code
from refbrowser.tools.readers.report.matrix_words import WORDS, cause_words, group_words, remedy_command
from refbrowser.tools.readers.report.trial_words import checked_trials, trial_words
from refbrowser.views.reports.junit import Case, Passed, Suite


def suites_of(report: Matrix) -> tuple[Suite, ...]:
    """Return the one suite of a dataset: a case for each reader and row of arrays."""
    properties = (("exit code", str(exit_code(report))),)
    return (Suite(name=report.document, cases=_cases(report), properties=properties),)


def _cases(matrix: Matrix) -> Iterator[Case]:
    for number, column in enumerate(matrix.columns):
        for group in matrix.groups:
            yield _case(matrix, column, group, group.cells[number])
    for each in checked_trials(matrix):
        trial = each.trial
        fails = matrix.is_asked and not trial.verdict.reads
        yield Case(
            name=f"tried: {trial.reader} {trial.version}: {trial.array}",
            passed=Passed.NO if fails else Passed.WARNED if each.agrees is False else Passed.YES,
            kind=str(trial.verdict),
            message=trial_words(each),
        )


def _case(matrix: Matrix, column: ReaderVersion, group: ArrayGroup, cell: Cell) -> Case:
    remedy = cell.remedy
    return Case(
        name=f"{column.label}: {group_words(group)}",
        passed=_passed(matrix, cell.verdict),
        kind=str(cell.verdict),
        message=f"{WORDS[cell.verdict]}: {'; '.join(map(cause_words, cell.causes))}" if cell.causes else "",
        detail="" if remedy is None else f"{remedy.words}. {remedy_command(remedy, matrix.document)}".strip(),
    )


def _passed(matrix: Matrix, verdict: ReaderVerdict) -> Passed:
    if verdict is ReaderVerdict.DECODES or not matrix.is_asked:
        return Passed.YES
    return Passed.UNKNOWN if verdict is ReaderVerdict.UNKNOWN else Passed.NO
