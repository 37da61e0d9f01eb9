"""Checks of documents as one page of HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refbrowser.errors import sentence
from refbrowser.markup import Markup, element, markup
from refbrowser.tools.check.checked_documents import Checked
from refbrowser.views.reports.finding_table import FINDING_STYLE, finding_table
from refbrowser.views.reports.html_page import ReportPage, verdict
from refbrowser.words import counted


def page_of(report: Sequence[Checked]) -> ReportPage:
    """Return what was found in documents as a page."""
    of = report[0].path if len(report) == 1 else counted(len(report), "document")
    return ReportPage(title=f"Check of {of}", sections=_sections(report), style=FINDING_STYLE)


def _sections(report: Sequence[Checked]) -> Iterator[Markup]:
    faults = sum(len(each.faults) for each in report)
    warnings = sum(len(each.warnings) for each in report)
    unseen = sum(each.error is not None for each in report)
    told = [counted(faults, "fault"), counted(warnings, "warning")]
    told += [f"{counted(unseen, 'document')} not looked at"] if unseen else []
    yield verdict(", ".join(told), "fault" if faults or unseen else "warning" if warnings else "good")
    for each in report:
        yield markup(element("h2", each.path), _found(each))


def _found(checked: Checked) -> Markup:
    if (error := checked.error) is not None:
        return element("p", sentence(error.message, error.advice, error.place), class_="fault")
    if not checked.findings:
        return element("p", "No faults, no warnings.", class_="good")
    return finding_table((*checked.faults, *checked.warnings))
