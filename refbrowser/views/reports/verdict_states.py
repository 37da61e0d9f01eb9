"""How the verdicts of reports are marked, in pages and notebooks alike: good, warning or fault."""

from __future__ import annotations

from refbrowser.engine.audit.audit_result import AuditResult
from refbrowser.engine.comparing.differences import Comparison


def audit_state(result: AuditResult) -> str:
    """Return how an audit is marked: what was not checked is not good."""
    if result.faults:
        return "fault"
    return "warning" if result.warnings or result.blocked else "good"


def comparison_state(comparison: Comparison) -> str:
    """Return how a comparison is marked."""
    if comparison.is_equal is None:
        return "warning"
    return "good" if comparison.is_equal else "fault"
