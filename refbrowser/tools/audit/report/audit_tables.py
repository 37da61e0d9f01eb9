"""The result of an audit for programs: as JSON of a stable shape, and as a table for spreadsheets."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import Any

from refbrowser.engine.audit.audit_plan import AuditCost
from refbrowser.engine.audit.audit_result import AuditResult, FindingGroup
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import kind_of

#: The columns of the table.
COLUMNS = (
    "severity", "code", "count", "document", "path", "key", "pointer", "line", "column", "rule", "row",
    "url", "start", "stop", "message", "advice", "fix",
)  # fmt: skip
#: A cell that begins so is a formula to spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def cost_json(cost: AuditCost) -> dict[str, Any]:
    """Return what an audit costs, as a value of JSON's types."""
    return {
        "files": cost.urls,
        "chunks": cost.chunks,
        "requests": cost.requests,
        "bytes": cost.size,
        "seconds": round(cost.seconds, 3),
        "exact": cost.is_exact,
    }


def result_json(document: str, result: AuditResult, cost: AuditCost, exit_code: int) -> dict[str, Any]:
    """Return the result of an audit as one object of JSON's types.

    Parameters
    ----------
    document
        What was audited, as the user named it.
    exit_code
        Of the command line.
    """
    return {
        "document": document,
        "level": str(result.level),
        "complete": result.is_complete,
        "exit_code": exit_code,
        "faults": result.faults,
        "warnings": result.warnings,
        "counts": result.counts(),
        "cost": cost_json(cost),
        "read": {
            "files": result.urls,
            "chunks": result.chunks,
            "requests": result.requests,
            "bytes": result.size,
            "seconds": round(result.seconds, 3),
        },
        "groups": [_group_json(group) for group in result.groups],
        "expected": [each.to_json() for each in result.expected],
        "notes": [asdict(note) for note in result.notes],
        "blocked": [asdict(each) for each in result.blocked],
    }


def _group_json(group: FindingGroup) -> dict[str, Any]:
    return {
        "code": group.code,
        "severity": str(group.severity),
        "title": group.kind.title,
        "meaning": group.kind.meaning,
        "url": group.url or None,
        "count": group.count,
        "fixable": group.has_fix,
        "findings": [row(finding) for finding in group.findings],
    }


def row(finding: Finding) -> dict[str, Any]:
    """Return a finding as one row, by column."""
    place = finding.place
    in_document = place.is_in_document
    return {
        "severity": str(finding.severity),
        "code": kind_of(finding).code,
        "count": finding.count,
        "document": place.document,
        "path": place.path,
        "key": place.key,
        "pointer": place.pointer,
        "line": place.line if in_document else None,
        "column": place.column if in_document else None,
        "rule": place.rule,
        "row": place.row,
        "url": place.url,
        "start": place.start,
        "stop": place.stop,
        "message": finding.message,
        "advice": finding.advice,
        "fix": None if finding.fix is None else finding.fix.title,
    }


def result_csv(result: AuditResult) -> str:
    """Return all findings as comma-separated values (RFC 4180), each in a row.

    Cells that a spreadsheet would take for formulas begin with an apostrophe.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for finding in result.findings:
        cells = row(finding)
        writer.writerow([_cell(cells[name]) for name in COLUMNS])
    return text.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return "" if value is None else value
    plain = "".join(each if each.isprintable() else " " for each in value)
    return f"'{plain}" if value.startswith(_FORMULA) or plain.lstrip().startswith(_FORMULA) else plain
