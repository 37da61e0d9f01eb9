"""The report of an audit: what was found, of which document, and how its exit code comes about."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from refbrowser.engine.audit.audit_plan import AuditCost
from refbrowser.engine.audit.audit_result import WARNING, AuditResult, FindingGroup
from refbrowser.engine.audit.reader_notes import note_codes
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.findings.kinds import KINDS


@dataclass(frozen=True, slots=True, eq=False)
class AuditReport:
    """What an audit found, and of what.

    Attributes
    ----------
    document
        What was audited, as the user named it.
    cost
        What the audit was to take.
    fail_on
        Codes that count as faults for the exit code.
    """

    document: str
    result: AuditResult
    cost: AuditCost
    fail_on: Collection[str] = ()

    @property
    def exit_code(self) -> int:
        """The exit code of the command line."""
        return self.result.exit_code(self.fail_on)

    def fails(self, group: FindingGroup) -> bool:
        """Whether the audit fails because of a group of findings."""
        return group.is_fault or WARNING in self.fail_on or group.code in self.fail_on


def check_codes(codes: Iterable[str]) -> None:
    """Raise `E_USAGE` for a code that nothing an audit finds has."""
    for code in codes:
        if code != WARNING and code not in KINDS and code not in note_codes():
            raise RefbrowserError(
                ErrorKind.USAGE, f"there are no findings of the code {quoted(code)}",
                advice="refbrowser audit --json prints the codes of its findings; the manual lists them all",
            )  # fmt: skip
