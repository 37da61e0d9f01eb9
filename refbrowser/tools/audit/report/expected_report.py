"""What should be there, as it is reported: variables by years or months, a page, and test cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from refbrowser.engine.expectations.expected_results import ExpectedResult
from refbrowser.limits import LIMITS
from refbrowser.markup import Markup, element, folded
from refbrowser.references.expectations.slots import Period, SlotState, run_words, unit_of
from refbrowser.views.reports.html_page import listing, soft
from refbrowser.views.reports.junit import Case, Passed
from refbrowser.words import counted, plural

_KIND = "expected"
#: Years or months with something missing that are shown at once.
_OPEN = 24
#: Columns that are shown; where there are more, those in which something is missing come first.
MOST_COLUMNS = 240


def expected_sections(results: Sequence[ExpectedResult]) -> Iterator[Markup]:
    """Yield a table of what each variable and pattern of files has, and one of the periods that lack some."""
    if not results:
        return
    yield element("h2", "What should be there")
    rows = [(result.subject, *_counts(result), _words(result)) for result in results[: LIMITS.page_rows]]
    headings = ("What", "Expected", "Missing", "Not expected", "Which")
    yield listing(headings, rows, ("", "number", "number", "number"))
    if len(results) > LIMITS.page_rows:
        yield soft(f"and {counted(len(results) - LIMITS.page_rows, 'more variable')}")
    lacking = [
        (result.subject, period.text, f"{period.expected:,}", f"{period.wrong:,}")
        for result in results
        for period in result.periods()
        if period.wrong
    ]
    if lacking:
        shown = lacking[: LIMITS.page_rows]
        table = listing(("What", "When", "Expected", "Missing"), shown, ("", "", "number", "number"))
        words = f"By date: {counted(len(lacking), 'year or month', 'years or months')} with something missing"
        yield folded(words, table) if len(lacking) > _OPEN else table


def _counts(result: ExpectedResult) -> tuple[str, str, str]:
    unit = "chunk" if result.slots is None else unit_of(result.slots.axis.step)
    expected = f"{result.expected:,} {plural(result.expected, unit)}" if result.expected else ""
    return expected, f"{result.missing:,}", f"{result.extra:,}" if result.extra else ""


def _words(result: ExpectedResult) -> str:
    """Return which periods or rows lack something, or why that is not known."""
    if result.undecided:
        return result.undecided
    if result.slots is not None:
        runs = [run for run in result.runs if run.state is not SlotState.DOUBLED]
        return run_words(result.slots.axis, runs) if runs else "all there"
    return "all there" if not result.rows else f"in {counted(len(result.rows), 'run')} of rows of chunks"


def expected_cases(results: Sequence[ExpectedResult]) -> Iterator[Case]:
    """Yield a case for each variable, or pattern of files, and year or month: it fails if some is missing."""
    for result in results:
        periods = result.periods()
        if result.undecided or not periods:
            failed = result.lacks
            message = result.undecided or f"{result.missing:,} of {result.expected:,} missing"
            yield _case(result.subject, message, failed=failed)
        for period in periods:
            message = f"{period.wrong:,} of {period.expected:,} missing: {result.words_in(period)}"
            yield _case(f"{result.subject}: {period.text}", message, failed=bool(period.wrong))


def _case(name: str, message: str, *, failed: bool) -> Case:
    passed = Passed.NO if failed else Passed.YES
    return Case(name=f"{_KIND}: {name}", passed=passed, kind=_KIND, message=message if failed else "")


# Variables by years or months


@dataclass(frozen=True, slots=True)
class PeriodTable:
    """Variables by years or months.

    Attributes
    ----------
    columns
        The years or months, in their order.
    rows
        Of each variable its result, and what it has of each column; None where nothing is expected then.
    left_out
        Columns that are not shown.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[ExpectedResult, tuple[Period | None, ...]], ...] = ()
    left_out: int = 0


def period_table(results: Sequence[ExpectedResult]) -> PeriodTable:
    """Return the table of some results."""
    periods = [{period.text: period for period in result.periods()} for result in results]
    every = sorted({text for each in periods for text in each})
    wrong = {text for each in periods for text, period in each.items() if period.wrong}
    shown = every
    if len(every) > MOST_COLUMNS:
        others = [text for text in every if text not in wrong]
        shown = sorted((sorted(wrong) + others)[:MOST_COLUMNS])
    rows = tuple(
        (result, tuple(each.get(text) for text in shown))
        for result, each in zip(results, periods, strict=True)
    )
    return PeriodTable(tuple(shown), rows, len(every) - len(shown))


def cell_words(period: Period | None) -> str:
    """Return what a cell says: a mark, and how many are there where some are missing."""
    if period is None:
        return ""
    if not period.wrong:
        return "✓"
    if period.wrong == period.expected:
        return "✗ none"
    return f"▲ {period.expected - period.wrong:,} of {period.expected:,}"


def cell_about(result: ExpectedResult, period: Period | None) -> str:
    """Return all about a cell, in a sentence."""
    if period is None:
        return f"{result.subject}: nothing is expected then."
    unit = "" if result.slots is None else plural(period.expected, unit_of(result.slots.axis.step))
    if not period.wrong:
        return f"{result.subject}, {period.text}: all {period.expected:,} {unit} are there."
    which = result.words_in(period)
    return (
        f"{result.subject}, {period.text}: {period.wrong:,} of {period.expected:,} {unit} lack data: {which}."
    )


def row_words(result: ExpectedResult) -> str:
    """Return how a variable stands, in short: ``118 of 120``."""
    if result.undecided:
        return "not known"
    return f"{result.expected - result.missing:,} of {result.expected:,}"


def row_about(result: ExpectedResult) -> str:
    """Return all about a variable, in a sentence."""
    if result.undecided:
        return f"{result.subject}: {result.undecided}."
    if result.slots is None:
        return f"{result.subject}: {result.missing:,} of {result.expected:,} chunks are missing."
    runs = [run for run in result.runs if run.state is not SlotState.DOUBLED]
    if not runs:
        return f"{result.subject}: all that should be there is there."
    lacking = result.slots.words(sum(run.length for run in runs))
    return f"{result.subject}: {lacking} lack data: {run_words(result.slots.axis, runs)}."
