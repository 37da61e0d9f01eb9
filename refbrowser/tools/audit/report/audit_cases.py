"""What an audit found as test cases: they fail just where its exit code is not 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from refbrowser.tools.audit.report.audit_report import AuditReport
from refbrowser.tools.audit.report.expected_report import expected_cases
from refbrowser.views.reports.finding_cases import finding_case
from refbrowser.views.reports.junit import Case, Passed, Suite
from refbrowser.words import counted

#: What the codes of findings about what should be there begin with.
_EXPECTED = "expected-"


def suites_of(report: AuditReport) -> tuple[Suite, ...]:
    """Return the one suite of an audit."""
    result = report.result
    properties = (
        ("level", str(result.level)),
        ("complete", "yes" if result.is_complete else "no"),
        ("faults", str(result.faults)),
        ("warnings", str(result.warnings)),
        ("files asked about", str(result.urls)),
        ("chunks read", str(result.chunks)),
        ("exit code", str(report.exit_code)),
    )
    return (Suite(name=report.document, cases=_cases(report), properties=properties, seconds=result.seconds),)


def _cases(report: AuditReport) -> Iterator[Case]:
    result = report.result
    failing = set(map(id, report.failing))
    is_expected = any(group.code.startswith(_EXPECTED) for group in report.failing)
    for case in expected_cases(result.expected):
        # What is tolerated fails nowhere.
        is_tolerated = case.passed is Passed.NO and not is_expected
        yield replace(case, passed=Passed.WARNED) if is_tolerated else case
    for group in result.groups:
        fails = id(group) in failing
        for finding in group.findings:
            yield finding_case(finding, fails=fails)
        more = group.count - sum(finding.count for finding in group.findings)
        if more > 0:
            last = finding_case(group.findings[-1], fails=fails)
            where = f" in {group.url}" if group.url else ""
            words = f"{group.kind.title}: {counted(more, 'more place')}"
            yield replace(last, name=f"{group.code}: {counted(more, 'more place')}{where}", message=words)
    for each in result.blocked:
        yield Case(
            name=f"permission: {each.origin}",
            passed=Passed.UNKNOWN,
            kind="permission",
            message=f"not checked: {counted(each.urls, 'file')}, {counted(each.references, 'reference')}",
            detail=each.advice,
        )
    failing_notes = report.criteria.failing_notes(result)
    for note in result.notes:
        yield Case(
            name=f"{note.code}: {note.reader}",
            passed=Passed.NO if note.code in failing_notes else Passed.YES,
            kind=note.code,
            message=f"{note.reader} {note.message}",
        )
