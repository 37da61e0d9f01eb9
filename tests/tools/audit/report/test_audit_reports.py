"""Reports of audits: what foreign text cannot do in them, and their stable shape."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from html import escape

from html_read import Read

from refbrowser.engine.audit.audit_plan import AuditCost, BlockedOrigin, Level
from refbrowser.engine.audit.audit_result import AuditResult, FindingGroup, Grouping
from refbrowser.engine.audit.reader_notes import ReaderNote
from refbrowser.errors import ErrorKind, Place, Severity
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import URL_DEAD
from refbrowser.tools.audit.report.audit_html import page_of
from refbrowser.tools.audit.report.audit_lines import result_lines
from refbrowser.tools.audit.report.audit_report import AuditReport
from refbrowser.tools.audit.report.audit_tables import COLUMNS, result_csv, result_json
from refbrowser.views.reports.html_page import Made, page_text

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    '=HYPERLINK("http://x")',
    "@SUM(1)",
    "+1",
    "-1",
    "\t=1",
    "a\x1b[31mb\u202ec\r\nd",
    "&lt;",
)


def result_of(texts: tuple[str, ...] = HOSTILE) -> AuditResult:
    grouping = Grouping()
    for text in texts:
        grouping.add(
            Finding(
                severity=Severity.FAULT,
                kind=ErrorKind.SOURCE,
                message=text,
                place=Place(document=text, key=text, url=text, start=1, stop=2),
                advice=text,
                what=URL_DEAD,
                count=3,
            )
        )
    return AuditResult(
        Level.STAT,
        groups=grouping.groups(),
        notes=(ReaderNote("gdal-length", "GDAL", "…", 2),),
        blocked=tuple(BlockedOrigin(text, 1, 2, text) for text in texts),
        urls=9,
        is_complete=True,
    )


def test_a_page_holds_foreign_text_as_text() -> None:
    page = page_text(page_of(AuditReport(HOSTILE[0], result_of(), AuditCost(urls=9))), Made(when=0))
    looked = Read(page)
    assert not {"script", "img", "link", "iframe", "a"} & set(looked.elements)
    assert not {"src", "href", "onerror", "style", "onload"} & looked.names
    assert HOSTILE[0] in looked.said
    assert HOSTILE[1] in looked.said
    assert "&lt;" in looked.said
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert 'http-equiv="Content-Security-Policy"' in page
    assert "1970-01-01" in page
    assert "prefers-color-scheme: dark" in page


def test_what_was_not_checked_is_not_good() -> None:
    sound = AuditResult(Level.STAT, is_complete=True)
    for result, state in ((sound, "good"), (replace(sound, blocked=result_of().blocked), "warning")):
        page = page_text(page_of(AuditReport("d.json", result, AuditCost(urls=9))), Made(when=0))
        assert f'<p class="verdict {state}">0 faults' in page


def test_cells_are_no_formulas() -> None:
    rows = list(csv.DictReader(io.StringIO(result_csv(result_of()))))
    assert list(rows[0]) == list(COLUMNS)
    assert len(rows) == len(HOSTILE)
    for row in rows:
        for cell in row.values():
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
            assert cell.isprintable()
    assert rows[0]["start"] == "1"


def test_the_shape_of_json() -> None:
    found = result_json("d.json", result_of(("a", "a")), AuditCost(urls=9), 2)
    assert json.loads(json.dumps(found)) == found
    first = "document level complete exit_code faults warnings counts cost read groups expected notes blocked"
    assert list(found) == first.split()
    (group,) = found["groups"]
    assert (group["code"], group["count"], len(group["findings"])) == ("url-dead", 6, 2)
    assert found["counts"] == {"url-dead": 6}
    assert set(group["findings"][0]) == set(COLUMNS)


def test_thousands_are_one_line() -> None:
    lines = list(result_lines(replace(result_of(("a",) * 5000), blocked=())))
    assert len(lines) < 12
    assert "15,000 places" in lines[0]
    assert any("14,991 more" in line for line in lines)
    # So are thousands of files.
    many = replace(result_of(tuple(f"f{number}" for number in range(3000))), blocked=())
    lines = list(result_lines(many))
    assert len(lines) < 50
    assert any("8,970 more places in 2,990 more files" in line for line in lines)
    page = page_text(page_of(AuditReport("d", many, AuditCost())))
    assert len(page) < 60_000
    # All of one kind stand in one table, file by file.
    assert page.count("<table") == 2
    assert "missing file: 9,000 places in 3,000 files" in page
    assert "and 8,850 more places in 2,950 more files" in page


def test_findings_of_one_file_are_folded() -> None:
    page = page_text(page_of(AuditReport("d", replace(result_of(("a",) * 150), blocked=()), AuditCost())))
    assert "<summary>92 more</summary>" in page
    assert "and 150 more" in page
    assert "missing file: 450 places <code>" in page


def test_what_to_do_is_said_once_where_findings_do_not_say_it() -> None:
    told = page_text(page_of(AuditReport("d", result_of(("a",)), AuditCost())))
    assert '<th scope="col" class="remedy">What to do</th>' in told
    assert "What to do: " not in told
    silent = AuditResult(Level.STAT, groups=[FindingGroup(URL_DEAD, Severity.FAULT)], is_complete=True)
    silent.groups[0].add(URL_DEAD.finding("it is gone"))
    page = page_text(page_of(AuditReport("d", silent, AuditCost())))
    assert "remedy" not in page.partition("</style>")[2]
    assert escape(f"What to do: {URL_DEAD.advice}") in page


def test_what_was_not_finished_says_so() -> None:
    page = page_text(page_of(AuditReport("d", AuditResult(Level.FULL), AuditCost())))
    assert "not finished" in page
