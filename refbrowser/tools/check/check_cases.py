"""Checks of documents as test cases: faults fail, and what could not be looked at is an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from refbrowser.tools.check.checked_documents import Checked
from refbrowser.views.reports.finding_cases import finding_case
from refbrowser.views.reports.junit import Case, Suite, error_case


def suites_of(report: Iterable[Checked]) -> Iterator[Suite]:
    """Yield the suite of each document."""
    for checked in report:
        counts = (("faults", str(len(checked.faults))), ("warnings", str(len(checked.warnings))))
        yield Suite(name=checked.path, cases=_cases(checked), properties=counts)


def _cases(checked: Checked) -> Iterator[Case]:
    if checked.error is not None:
        yield error_case(checked.error)
    for finding in (*checked.faults, *checked.warnings):
        yield finding_case(finding)
