"""Findings as a table of a page."""

from __future__ import annotations

from collections.abc import Iterable

from refbrowser.findings.finding import Finding
from refbrowser.markup import Markup, element
from refbrowser.views.reports.finding_words import place_words, remedy_words
from refbrowser.views.reports.html_page import code, listing

#: The style of the table: its columns stand alike wherever it is.
FINDING_STYLE = """
.found { table-layout: fixed; min-width: 42rem; }
.found th.state { width: 6.5rem; } .found th.where { width: 27%; } .found th.remedy { width: 30%; }
"""


def finding_table(findings: Iterable[Finding]) -> Markup:
    """Return findings, a row for each: how bad, what, where, and what to do."""
    rows = (
        (
            element("span", str(each.severity).capitalize(), class_=str(each.severity)),
            f"{each.message} [{each.count:,} times]" if each.count > 1 else each.message,
            code(place_words(each)),
            remedy_words(each),
        )
        for each in findings
    )
    headings = ("Severity", "What", "Where", "What to do")
    return listing(headings, rows, ("state", "", "where", "remedy"), class_="found")
