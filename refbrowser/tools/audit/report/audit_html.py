"""The result of an audit as one page of HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from refbrowser.engine.audit.audit_result import AuditResult, FindingGroup
from refbrowser.findings.finding import Finding
from refbrowser.markup import Content, Markup, element, folded, markup
from refbrowser.tools.audit.report.audit_lines import cost_line, summary_line
from refbrowser.tools.audit.report.audit_report import AuditReport
from refbrowser.tools.audit.report.expected_report import expected_sections
from refbrowser.views.reports.finding_words import place_words, remedy_words
from refbrowser.views.reports.html_page import ReportPage, code, listing, soft, verdict
from refbrowser.views.reports.verdict_states import audit_state
from refbrowser.views.reports.window_link import window_link
from refbrowser.words import counted

#: Findings of one file that are shown; those after the first few are folded.
_SHOWN, _OPEN = 100, 8
#: Files of one kind that are shown, and findings of each where they are many.
_FILES, _OF_EACH = 50, 2
_STYLE = """
.findings { table-layout: fixed; min-width: 42rem; }
.findings th.file { width: 24%; } .findings th.where { width: 26%; }
.findings th.number { width: 7.5rem; } .findings th.remedy { width: 30%; }
.findings .number { padding-right: 1.5rem; }
"""
#: Columns: what they are called, and their classes.
_COLUMNS = (("Where", "where"), ("What", ""), ("How many", "number"), ("What to do", "remedy"))


def page_of(report: AuditReport) -> ReportPage:
    """Return the result of an audit as a page."""
    level = report.result.level
    planned = f"; planned: {cost_line(level, report.cost)}" if level.asks else ""
    return ReportPage(
        title=f"Audit of {report.document}",
        about=(
            ("Document", report.document),
            *window_link(report.document),
            ("Level", f"{level}{planned}"),
        ),
        sections=_sections(report.result),
        style=_STYLE,
    )


def _sections(result: AuditResult) -> Iterator[Markup]:
    yield verdict(summary_line(result), audit_state(result))
    if not result.is_complete:
        yield verdict("The audit was not finished: these are the findings so far.", "warning")
    if result.blocked:
        yield _blocked(result)
    yield from expected_sections(result.expected)
    for heading, is_fault in (("Faults", True), ("Warnings", False)):
        groups = [group for group in result.groups if group.is_fault is is_fault]
        if groups:
            yield element("h2", heading)
        for _, same in groupby(groups, lambda group: group.code):
            card = list(same)
            yield element("div", _card(card), class_=f"card is-{_state(card[0])}")
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


def _card(groups: Sequence[FindingGroup]) -> Iterator[Markup]:
    """Yield all of one kind: what it is, and where."""
    first, state = groups[0], _state(groups[0])
    of = f" in {counted(len(groups), 'file')}" if len(groups) > 1 else ""
    words = f" {first.kind.title}: {counted(sum(group.count for group in groups), 'place')}{of} "
    yield element("h3", element("span", state.capitalize(), class_=state), words, code(first.code))
    if not of and first.url:
        yield element("p", code(first.url))
    if first.kind.meaning:
        yield soft(f"For readers: {first.kind.meaning}")
    if first.kind.advice and not any(finding.advice for group in groups for finding in group.findings):
        yield soft(f"What to do: {first.kind.advice}")
    if any(group.has_fix for group in groups):
        yield soft("Can be fixed in the window or with --fix, as one step that can be undone.")
    yield from _files(groups) if of else _places(first)


def _places(group: FindingGroup) -> Iterator[Markup]:
    """Yield the findings about one file, or about the document."""
    shown = group.findings[:_SHOWN]
    yield _table(shown[:_OPEN])
    if len(shown) > _OPEN:
        yield folded(f"{len(shown) - _OPEN} more", _table(shown[_OPEN:]))
    more = group.count - sum(finding.count for finding in shown)
    if more > 0:
        yield soft(f"and {more:,} more")


def _files(groups: Sequence[FindingGroup]) -> Iterator[Markup]:
    """Yield the first findings about each of many files."""
    rows: list[tuple[Content, ...]] = []
    for group in groups[:_FILES]:
        shown = group.findings[:_OF_EACH]
        names = [code(group.url), *[Markup()] * (len(shown) - 1)]
        rows += [(name, *_row(finding)) for name, finding in zip(names, shown, strict=True)]
        more = group.count - sum(finding.count for finding in shown)
        if more > 0:
            rows.append(("", f"and {more:,} more", "", "", ""))
    yield _listing((("File", "file"), *_COLUMNS), rows)
    if len(groups) > _FILES:
        count = sum(group.count for group in groups[_FILES:])
        yield soft(f"and {counted(count, 'more place')} in {counted(len(groups) - _FILES, 'more file')}")


def _table(findings: Sequence[Finding]) -> Markup:
    return _listing(_COLUMNS, list(map(_row, findings)))


def _listing(columns: Sequence[tuple[str, str]], rows: Sequence[tuple[Content, ...]]) -> Markup:
    if not any(row[-1] for row in rows):
        # Nothing is said of what to do about single ones.
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    headings, kinds = zip(*columns, strict=True)
    return listing(headings, rows, kinds, class_="findings")


def _row(finding: Finding) -> tuple[Content, ...]:
    return code(place_words(finding)), finding.message, f"{finding.count:,}", remedy_words(finding)
