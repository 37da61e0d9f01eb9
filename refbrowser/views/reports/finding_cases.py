"""Findings as test cases."""

from __future__ import annotations

from refbrowser.errors import NOWHERE, Severity
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import kind_of
from refbrowser.views.reports.finding_words import place_words, remedy_words
from refbrowser.views.reports.junit import Case, Passed
from refbrowser.words import counted


def finding_case(finding: Finding, *, fails: bool | None = None) -> Case:
    """Return a finding as a test case: its name is its kind and where it is.

    Parameters
    ----------
    fails
        Whether the case fails; where None, whether it is a fault.
    """
    kind, place = kind_of(finding), place_words(finding)
    is_failure = finding.severity is Severity.FAULT if fails is None else fails
    where = finding.place if finding.place.is_in_document else NOWHERE
    remedy, times = remedy_words(finding), counted(finding.count, "place") if finding.count > 1 else ""
    told = (
        ("What it is", f"{finding.severity}, {kind.title}"),
        ("How often", times),
        ("For readers", kind.meaning),
        ("What to do", remedy or kind.advice),
    )
    return Case(
        name=f"{kind.code}: {place}" if place else kind.code,
        passed=Passed.NO if is_failure else Passed.WARNED,
        kind=kind.code,
        message=finding.message,
        detail="\n".join(f"{name}: {text}" for name, text in told if text),
        line=where.line,
        column=where.column,
    )
