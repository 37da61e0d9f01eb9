"""Readers by arrays as one page of HTML."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.engine.readers.matrix import ArrayGroup, Matrix, worst
from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.markup import Content, Markup, element, folded, markup
from refbrowser.tools.readers.report.matrix_words import (
    MARKS,
    WORDS,
    VersionRun,
    cause_words,
    group_words,
    matrix_summary,
    needs_words,
    remedy_command,
    version_runs,
)
from refbrowser.tools.readers.report.trial_words import checked_trials, trial_words
from refbrowser.views.reports.html_page import ReportPage, code, listing, soft, verdict
from refbrowser.views.reports.window_link import window_link
from refbrowser.words import counted

#: Arrays of a row that are named.
_NAMED = 1_000
#: What each verdict is, as pages mark it.
STATES = {
    ReaderVerdict.DECODES: "good",
    ReaderVerdict.OPENS: "fault",
    ReaderVerdict.REFUSES: "fault",
    ReaderVerdict.WRONG: "fault",
    ReaderVerdict.UNKNOWN: "warning",
}


def page_of(report: Matrix) -> ReportPage:
    """Return which readers read a dataset as a page."""
    return ReportPage(
        title=f"Readers of {report.document}",
        about=(("Document", report.document), *window_link(report.document)),
        sections=_sections(report),
    )


def _sections(matrix: Matrix) -> Iterator[Markup]:
    found = worst(matrix.verdict(number) for number in range(len(matrix.columns)))
    yield verdict(matrix_summary(matrix), STATES[found] if matrix.is_asked else "")
    for group in matrix.groups:
        yield element("h2", group_words(group))
        yield soft(f"Needs: {needs_words(group)}")
        if len(group.arrays) > 1:
            yield folded(counted(len(group.arrays), "array"), code(", ".join(group.arrays[:_NAMED])))
        yield _table(matrix, group)
    if matrix.tried:
        yield markup(element("h2", "Tried where this was made"), _trials(matrix))


def _table(matrix: Matrix, group: ArrayGroup) -> Markup:
    rows = (_row(matrix, run) for run in version_runs(matrix, group))
    return listing(("Reader", "Verdict", "Why", "What makes it readable"), rows)


def _row(matrix: Matrix, run: VersionRun) -> tuple[Content, ...]:
    cell, remedy = run.cell, run.cell.remedy
    state = element("span", f"{MARKS[cell.verdict]} {WORDS[cell.verdict]}", class_=STATES[cell.verdict])
    command = "" if remedy is None else remedy_command(remedy, matrix.document)
    return run.label, state, "; ".join(map(cause_words, cell.causes)), code(command) if command else ""


def _trials(matrix: Matrix) -> Markup:
    rows = (
        (f"{each.trial.reader} {each.trial.version}", code(each.trial.array), trial_words(each))
        for each in checked_trials(matrix)
    )
    return listing(("Reader", "Array", "What came of it"), rows)
