"""The result of an audit as one page of HTML that needs nothing else: no scripts, no fonts, no network."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from html import escape

from refbrowser.engine.audit.audit_plan import AuditCost
from refbrowser.engine.audit.audit_result import AuditResult, FindingGroup
from refbrowser.findings.finding import Finding
from refbrowser.tools.audit.report.audit_lines import (
    RestOfGroups,
    cost_line,
    place_words,
    rolled,
    summary_line,
)
from refbrowser.words import counted

_STYLE = """
:root { color-scheme: light dark; --text: #1c1e21; --soft: #5a6169; --back: #ffffff; --card: #f5f6f8;
  --line: #d9dde2; --fault: #b3261e; --warning: #8a5a00; --good: #1b6e3c; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --soft: #a3abb5; --back: #16181b;
  --card: #1f2226; --line: #363b42; --fault: #ff8a80; --warning: #ffc668; --good: #7ad9a0; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 0 auto;
  max-width: 70rem; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; }
p { margin: .25rem 0; }
.soft { color: var(--soft); }
.sum { font-size: 1.1rem; font-weight: 600; margin-top: 1rem; }
.group { background: var(--card); border: 1px solid var(--line); border-left: .3rem solid var(--warning);
  border-radius: .4rem; padding: .75rem 1rem; margin: 0 0 1rem; }
.group.fault { border-left-color: var(--fault); }
.group h3 { font-size: 1rem; margin: 0; }
.mark { font-weight: 700; color: var(--warning); }
.fault .mark { color: var(--fault); }
.good { color: var(--good); }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; margin-top: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0;
  border-top: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td { overflow-wrap: anywhere; }
td:first-child { min-width: 9rem; }
summary { cursor: pointer; color: var(--soft); }
@media print { details { display: block; } }
"""
#: Findings of a group that are shown; those after the first few are folded.
_SHOWN, _OPEN = 100, 8
#: Files of one code that are shown one by one.
_FILES = 50


def result_html(document: str, result: AuditResult, cost: AuditCost, now: float | None = None) -> str:
    """Return the result of an audit as a page; all text from files is escaped.

    Parameters
    ----------
    document
        What was audited, as the user named it.
    now
        Seconds since 1970 that the page tells; the present when None.
    """
    return "\n".join(_page(document, result, cost, time.time() if now is None else now)) + "\n"


def _page(document: str, result: AuditResult, cost: AuditCost, now: float) -> Iterator[str]:
    title = f"Audit of {_plain(document)}"
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now))
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body>"
    yield f"<h1>{title}</h1>"
    asked = f"; planned: {cost_line(result.level, cost)}" if result.level.asks else ""
    yield f'<p class="soft">Level <b>{result.level}</b>, {when}{_plain(asked)}</p>'
    yield f'<p class="sum{"" if result.groups else " good"}">{_plain(summary_line(result))}</p>'
    if not result.is_complete:
        yield '<p class="mark">The audit was not finished: these are the findings so far.</p>'
    if result.blocked:
        yield from _blocked(result)
    for heading, is_fault in (("Faults", True), ("Warnings", False)):
        groups = [group for group in result.groups if group.is_fault is is_fault]
        if groups:
            yield f"<h2>{heading}</h2>"
            for group in rolled(groups, _FILES):
                if isinstance(group, RestOfGroups):
                    yield f'<p class="soft">{_plain(group.words)} {_code(group.code)}</p>'
                else:
                    yield from _group(group)
    if result.notes:
        yield from _notes(result)
    yield "</body></html>"


def _blocked(result: AuditResult) -> Iterator[str]:
    yield "<h2>Not checked</h2>"
    yield '<p class="soft">Reading from these places needs your permission.</p>'
    rows = [
        (
            _code(each.origin),
            counted(each.urls, "file"),
            counted(each.references, "reference"),
            _code(each.advice),
        )
        for each in result.blocked
    ]
    yield from _table(("Place", "Files", "References", "How to allow it"), rows)


def _notes(result: AuditResult) -> Iterator[str]:
    yield "<h2>Other software</h2>"
    yield '<p class="soft">How it reads this document differently. These are not faults.</p>'
    rows = [
        (_plain(note.reader), _plain(note.message), f"{note.count:,}", _code(note.code))
        for note in result.notes
    ]
    yield from _table(("Reader", "What it does", "References", "Code"), rows)


def _group(group: FindingGroup) -> Iterator[str]:
    word = "Fault" if group.is_fault else "Warning"
    yield f'<div class="group{" fault" if group.is_fault else ""}">'
    yield (
        f'<h3><span class="mark">{word}</span> {_plain(group.kind.title)}: '
        f"{counted(group.count, 'place')} {_code(group.code)}</h3>"
    )
    if group.url:
        yield f"<p>{_code(group.url)}</p>"
    if group.kind.meaning:
        yield f'<p class="soft">For readers: {_plain(group.kind.meaning)}</p>'
    if group.has_fix:
        yield '<p class="soft">Can be fixed in the window, as one step that can be undone.</p>'
    shown = group.findings[:_SHOWN]
    yield from _table(_HEADINGS, [_row(finding) for finding in shown[:_OPEN]])
    if len(shown) > _OPEN:
        yield f"<details><summary>{len(shown) - _OPEN} more</summary>"
        yield from _table(_HEADINGS, [_row(finding) for finding in shown[_OPEN:]])
        yield "</details>"
    more = group.count - sum(finding.count for finding in shown)
    if more > 0:
        yield f'<p class="soft">and {more:,} more</p>'
    yield "</div>"


_HEADINGS = ("Where", "What", "How many", "What to do")


def _row(finding: Finding) -> tuple[str, ...]:
    told = ("" if finding.fix is None else finding.fix.title, finding.advice)
    advice = ". ".join(text[:1].upper() + text[1:] for text in told if text)
    return _code(place_words(finding)), _plain(finding.message), f"{finding.count:,}", _plain(advice)


def _table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    yield '<div class="scroll"><table><thead><tr>'
    yield "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    yield "</tr></thead><tbody>"
    for cells in rows:
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table></div>"


def _plain(text: str) -> str:
    """Return foreign text for a page: escaped, and without characters that act on its layout."""
    return escape(
        "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text[:2000])
    )


def _code(text: str) -> str:
    return f"<code>{_plain(text)}</code>" if text else ""
