"""The result of an audit as one page of HTML."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.engine.audit.audit_result import AuditResult, FindingGroup
from refbrowser.findings.finding import Finding
from refbrowser.markup import Content, Markup, element, folded, markup
from refbrowser.tools.audit.report.audit_lines import RestOfGroups, cost_line, rolled, summary_line
from refbrowser.tools.audit.report.audit_report import AuditReport
from refbrowser.views.reports.finding_words import place_words, remedy_words
from refbrowser.views.reports.html_page import ReportPage, code, listing, soft, verdict
from refbrowser.words import counted

#: Findings of a group that are shown; those after the first few are folded.
_SHOWN, _OPEN = 100, 8
#: Files of one code that are shown one by one.
_FILES = 50
_HEADINGS = ("Where", "What", "How many", "What to do")
_KINDS = ("", "", "number", "")


def page_of(report: AuditReport) -> ReportPage:
    """Return the result of an audit as a page."""
    level = report.result.level
    planned = f"; planned: {cost_line(level, report.cost)}" if level.asks else ""
    return ReportPage(
        title=f"Audit of {report.document}",
        about=(("Document", report.document), ("Level", f"{level}{planned}")),
        sections=_sections(report.result),
    )


def _sections(result: AuditResult) -> Iterator[Markup]:
    state = "fault" if result.faults else "warning" if result.warnings else "good"
    yield verdict(summary_line(result), state)
    if not result.is_complete:
        yield verdict("The audit was not finished: these are the findings so far.", "warning")
    if result.blocked:
        yield _blocked(result)
    for heading, is_fault in (("Faults", True), ("Warnings", False)):
        groups = [group for group in result.groups if group.is_fault is is_fault]
        if groups:
            yield element("h2", heading)
        for group in rolled(groups, _FILES):
            if isinstance(group, RestOfGroups):
                yield soft(f"{group.words} ", code(group.code))
            else:
                yield element("div", _group(group), class_=f"card is-{_state(group)}")
    if result.notes:
        yield _notes(result)


def _state(group: FindingGroup) -> str:
    return "fault" if group.is_fault else "warning"


def _blocked(result: AuditResult) -> Markup:
    rows = (
        (
            code(each.origin),
            counted(each.urls, "file"),
            counted(each.references, "reference"),
            code(each.advice),
        )
        for each in result.blocked
    )
    return markup(
        element("h2", "Not checked"),
        soft("Reading from these places needs your permission."),
        listing(("Place", "Files", "References", "How to allow it"), rows, ("", "number", "number")),
    )


def _notes(result: AuditResult) -> Markup:
    rows = ((note.reader, note.message, f"{note.count:,}", code(note.code)) for note in result.notes)
    return markup(
        element("h2", "Other software"),
        soft("How it reads this document differently. These are not faults."),
        listing(("Reader", "What it does", "References", "Code"), rows, ("", "", "number")),
    )


def _group(group: FindingGroup) -> Iterator[Markup]:
    state = _state(group)
    words = f" {group.kind.title}: {counted(group.count, 'place')} "
    yield element("h3", element("span", state.capitalize(), class_=state), words, code(group.code))
    if group.url:
        yield element("p", code(group.url))
    if group.kind.meaning:
        yield soft(f"For readers: {group.kind.meaning}")
    if group.has_fix:
        yield soft("Can be fixed in the window or with --fix, as one step that can be undone.")
    shown = group.findings[:_SHOWN]
    yield _table(shown[:_OPEN])
    if len(shown) > _OPEN:
        yield folded(f"{len(shown) - _OPEN} more", _table(shown[_OPEN:]))
    more = group.count - sum(finding.count for finding in shown)
    if more > 0:
        yield soft(f"and {more:,} more")


def _table(findings: list[Finding]) -> Markup:
    return listing(_HEADINGS, map(_row, findings), _KINDS)


def _row(finding: Finding) -> tuple[Content, ...]:
    return code(place_words(finding)), finding.message, f"{finding.count:,}", remedy_words(finding)
