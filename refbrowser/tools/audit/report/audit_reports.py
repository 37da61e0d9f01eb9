"""The result of an audit as a file: a page, JSON, a table or a summary, by how its name ends."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.tools.audit.report.audit_html import page_of
from refbrowser.tools.audit.report.audit_summary import summary_of
from refbrowser.tools.audit.report.audit_tables import result_csv, result_json
from refbrowser.views.reports.html_page import Made, page_bytes

if TYPE_CHECKING:
    from refbrowser.tools.audit.report.audit_report import AuditReport

#: Forms of reports, by the end of their names.
REPORTS = (".html", ".json", ".csv", ".md")


def check_report(path: str) -> None:
    """Raise `E_USAGE` where a report of this name has no known form."""
    if os.path.splitext(path)[1].lower() not in REPORTS:
        raise RefbrowserError(
            ErrorKind.USAGE, f"the report {quoted(path)} is neither .html, .json, .csv nor .md"
        )


def report_bytes(path: str, report: AuditReport, made: Made | None = None) -> bytes:
    """Return a report as its file holds it.

    Parameters
    ----------
    path
        The name that the file is to have.
    made
        How it came about, which a page tells.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the name does not tell its form.
    """
    check_report(path)
    ending = os.path.splitext(path)[1].lower()
    if ending == ".html":
        return page_bytes(page_of(report), made)
    if ending == ".csv":
        text = result_csv(report.result)
    elif ending == ".md":
        text = summary_of(report)
    else:
        found = result_json(report.document, report.result, report.cost, report.exit_code)
        text = json.dumps(found, indent=1) + "\n"
    return text.encode("utf-8", "replace")
