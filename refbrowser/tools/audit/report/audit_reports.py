"""The result of an audit as a file: a page, JSON or a table, by how its name ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.tools.audit.report.audit_html import result_html
from refbrowser.tools.audit.report.audit_tables import result_csv, result_json

if TYPE_CHECKING:
    from refbrowser.engine.audit.audit_plan import AuditCost
    from refbrowser.engine.audit.audit_result import AuditResult

#: Forms of reports, by the end of their names.
REPORTS = (".html", ".json", ".csv")


def check_report(path: str) -> None:
    """Raise `E_USAGE` where a report of this name has no known form."""
    if os.path.splitext(path)[1].lower() not in REPORTS:
        raise RefbrowserError(ErrorKind.USAGE, f"the report {quoted(path)} is neither .html, .json nor .csv")


def report_bytes(
    path: str, document: str, result: AuditResult, cost: AuditCost, fail_on: Iterable[str] = ()
) -> bytes:
    """Return a report as its file holds it.

    Parameters
    ----------
    path
        The name that the file is to have.
    document
        What was audited, as the user named it.
    fail_on
        Codes that count as faults for the exit code that JSON tells.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the name does not tell its form.
    """
    check_report(path)
    ending = os.path.splitext(path)[1].lower()
    if ending == ".html":
        text = result_html(document, result, cost)
    elif ending == ".csv":
        text = result_csv(result)
    else:
        text = json.dumps(result_json(document, result, cost, result.exit_code(fail_on)), indent=1) + "\n"
    return text.encode("utf-8", "replace")
