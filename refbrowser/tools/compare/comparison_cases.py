"""A comparison as test cases: they fail where the datasets differ, and are errors where that is not known."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.engine.comparing.differences import ArrayComparison, Comparison, Difference, Equality
from refbrowser.references.edits.compare import Side
from refbrowser.tools.compare.comparison_words import (
    chunk_words,
    row_of,
    summary_of,
    untold_words,
    value_words,
)
from refbrowser.views.reports.junit import Case, Passed, Suite
from refbrowser.words import counted

_PASSED = {Equality.DIFFERENT: Passed.NO, Equality.NOT_COMPARED: Passed.UNKNOWN}


def suites_of(comparison: Comparison) -> tuple[Suite, ...]:
    """Return the one suite of a comparison."""
    properties = (
        ("here", f"{comparison.here} ({comparison.format_here})"),
        ("there", f"{comparison.there} ({comparison.format_there})"),
        ("verdict", str(comparison.verdict)),
        ("summary", summary_of(comparison)),
    )
    name = f"{comparison.here} and {comparison.there}"
    return (Suite(name=name, cases=_cases(comparison), properties=properties, file=comparison.there),)


def _cases(comparison: Comparison) -> Iterator[Case]:
    for difference in comparison.differences:
        yield _difference_case(difference)
    for array in comparison.arrays:
        yield _array_case(array)
    if comparison.unlooked:
        yield Case(
            name="references and keys that were not compared",
            passed=Passed.UNKNOWN,
            kind=str(Equality.NOT_COMPARED),
            message=f"{counted(comparison.unlooked, 'reference')} not decided",
        )


def _difference_case(difference: Difference) -> Case:
    row = row_of(difference)
    where = {Side.HERE: "only here", Side.THERE: "only there"}.get(row.side, "differs")
    told = (("here", row.here), ("there", row.there), ("note", row.note))
    return Case(
        name=f"{difference.kind}: {difference.path or 'the document'} {row.what}".rstrip(),
        passed=Passed.NO,
        kind=str(difference.kind),
        message=f"{row.what}: {where}",
        detail="\n".join(f"{name}: {text}" for name, text in told if text),
    )


def _array_case(array: ArrayComparison) -> Case:
    verdict = array.verdict
    values = "not read" if array.values is None else value_words(array.values)
    is_untold = verdict is Equality.NOT_COMPARED and array.values is None
    return Case(
        name=f"array: {array.path}",
        passed=_PASSED.get(verdict, Passed.YES),
        kind=str(verdict),
        message=untold_words(array.chunks) if is_untold else str(verdict),
        detail=f"references: {chunk_words(array.chunks)}\nvalues: {values}",
    )
