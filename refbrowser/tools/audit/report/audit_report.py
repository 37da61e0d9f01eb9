"""The report of an audit: what was found, of which document, and how its exit code comes about."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.engine.audit.audit_plan import AuditCost
from refbrowser.engine.audit.audit_result import AuditResult, FindingGroup
from refbrowser.tools.audit.report.audit_criteria import Criteria


@dataclass(frozen=True, slots=True, eq=False)
class AuditReport:
    """What an audit found, and of what.

    Attributes
    ----------
    document
        What was audited, as the user named it.
    cost
        What the audit was to take.
    criteria
        What it fails for.
    """

    document: str
    result: AuditResult
    cost: AuditCost
    criteria: Criteria = field(default_factory=Criteria)

    @property
    def exit_code(self) -> int:
        """The exit code of the command line."""
        return self.criteria.exit_code(self.result)

    @property
    def failing(self) -> list[FindingGroup]:
        """The groups of findings because of which the audit fails."""
        return self.criteria.failing(self.result)
