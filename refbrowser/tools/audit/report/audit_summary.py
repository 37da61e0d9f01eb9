"""What an audit found as a short text in Markdown: for the page of a run, a comment, a message."""

from __future__ import annotations

import re
from collections.abc import Iterator

from refbrowser.errors import RefbrowserError, sentence
from refbrowser.tools.audit.report.audit_lines import RestOfGroups, rolled
from refbrowser.tools.audit.report.audit_report import AuditReport
from refbrowser.views.reports.shareable import cut_text
from refbrowser.views.words import one_line
from refbrowser.words import counted

#: Groups of one code that have a line each, lines in all, and characters of a cell.
_OF_CODE, _LINES, _CELL = 3, 30, 200
#: What Markdown or HTML would take for more than text.
_SIGNS = re.compile(r"([\\`*_\[\]<>#|~&@]|:(?=//))")
#: How a run ended, by its exit code.
_ENDED = {0: "passed", 2: "failed", 3: "not checked everywhere, permissions are missing"}


def summary_of(report: AuditReport) -> str:
    """Return the summary of a report."""
    return "\n".join(_lines(report)) + "\n"


def summary_of_error(document: str, error: RefbrowserError) -> str:
    """Return the summary of what could not be audited."""
    told = sentence(error.message, error.advice, error.place)
    return f"### Audit of {_text(document)}: not done\n\n{_text(f'{error.kind}: {told}')}\n"


def _lines(report: AuditReport) -> Iterator[str]:
    result = report.result
    yield f"### Audit of {_text(report.document)}: {_ENDED[report.exit_code]}"
    yield ""
    looked = f", {counted(result.urls, 'file')} asked about, {counted(result.chunks, 'chunk')} read"
    yield (
        f"Level {result.level}: {counted(result.faults, 'fault')}, {counted(result.warnings, 'warning')}"
        f"{looked if result.level.asks else ''}."
    )
    failing = set(map(id, report.failing))
    # What it fails for stands first.
    groups = sorted(result.groups, key=lambda group: id(group) not in failing)
    if groups:
        yield ""
        yield "| | code | places | what was found |"
        yield "|---|---|---|---|"
    for number, group in enumerate(rolled(groups, _OF_CODE)):
        if number == _LINES:
            yield f"| | | | {counted(len(groups) - _LINES, 'more kind')} |"
            break
        if isinstance(group, RestOfGroups):
            yield f"| | {_text(group.code)} | {group.count} | {_text(group.words)} |"
            continue
        word = "**fails**" if id(group) in failing else "tolerated" if group.is_fault else "warning"
        first = group.findings[0]
        where = f"{first.place.path}: " if first.place.path else ""
        yield f"| {word} | {_text(group.code)} | {group.count} | {_text(where + first.message)} |"
    for each in result.blocked:
        yield ""
        yield f"Not checked, a permission is missing: {_text(str(each.origin))}"


def _text(text: str) -> str:
    """Return foreign text so that it is text alone in Markdown, in one line."""
    return _SIGNS.sub(r"\\\1", one_line(cut_text(" ".join(text.split()), _CELL)))
