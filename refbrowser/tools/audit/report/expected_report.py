"""What should be there, in the reports of an audit: a table by variable and period, and test cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refbrowser.engine.expectations.expected_results import ExpectedResult
from refbrowser.limits import LIMITS
from refbrowser.markup import Markup, element, folded
from refbrowser.references.expectations.slots import SlotState, run_words, unit_of
from refbrowser.views.reports.html_page import listing, soft
from refbrowser.views.reports.junit import Case, Passed
from refbrowser.words import counted, plural

_KIND = "expected"
#: Years or months with something missing that are shown at once.
_OPEN = 24


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
