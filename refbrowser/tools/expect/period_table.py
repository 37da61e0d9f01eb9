"""What is there of what should be, as a table: variables by years or months."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refbrowser.engine.expectations.expected_results import ExpectedResult
from refbrowser.references.expectations.slots import Period, SlotState, run_words, unit_of
from refbrowser.words import plural

#: Columns that are shown; where there are more, those in which something is missing come first.
MOST_COLUMNS = 240


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
