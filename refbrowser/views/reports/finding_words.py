"""Findings as reports and lines have them: where one is, what to do about it, and as a test case."""

from __future__ import annotations

from refbrowser.errors import NOWHERE, Severity
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import kind_of
from refbrowser.views.reports.junit import Case, Passed
from refbrowser.words import counted


def place_words(finding: Finding) -> str:
    """Return where a finding is: key or pointer, line, bytes."""
    place = finding.place
    parts = []
    if place.rule is not None:
        row = f", row {place.row}" if place.row is not None else ""
        parts.append(f"rule {place.rule}{f' {place.field}' if place.field else ''}{row}")
    if place.key is not None:
        parts.append(place.key)
    elif place.path is not None:
        parts.append(place.path)
    elif place.pointer and place.rule is None:
        parts.append(place.pointer)
    if place.line is not None and place.is_in_document:
        parts.append(f"line {place.line}")
    if place.start is not None:
        parts.append(f"bytes {place.start} to {'the end' if place.stop is None else place.stop}")
    return ", ".join(parts)


def remedy_words(finding: Finding) -> str:
    """Return what repairs a finding, and what else can be done about it, in sentences without a full stop."""
    told = ("" if finding.fix is None else finding.fix.title, finding.advice)
    return ". ".join(text[:1].upper() + text[1:] for text in told if text)


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
