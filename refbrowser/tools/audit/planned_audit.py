"""An audit as a value: what it costs, carrying it out, and what it found so far."""

from __future__ import annotations

from collections.abc import Generator
from functools import cached_property
from typing import TYPE_CHECKING

from refbrowser.api import Progress, control_of
from refbrowser.engine.audit.audit_plan import AuditCost, AuditRequest, plan_audit
from refbrowser.engine.compute import HERE, Compute
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.engine.audit.audit_result import AuditResult
    from refbrowser.engine.audit.audit_run import AuditRun
    from refbrowser.findings.finding import Finding


class PlannedAudit:
    """An audit that is not made yet, or is made as far as `findings` were asked for.

    Parameters
    ----------
    compute
        Where files are asked about and chunks are read.

    Attributes
    ----------
    dataset
        What is audited; it is left open.
    plan
        What is asked about and read.
    """

    def __init__(self, dataset: Dataset, request: AuditRequest, compute: Compute = HERE) -> None:
        self.dataset = dataset
        self.plan = plan_audit(dataset, request)
        self._compute = compute

    @property
    def cost(self) -> AuditCost:
        """Files, chunks, bytes and requests that it takes, and where it may not look."""
        return self.plan.cost

    def answers_kept(self) -> int:
        """Return how many of its steps an interrupted audit left done: those that `resume` leaves out."""
        from refbrowser.engine.audit.audit_journal import answers_kept

        return answers_kept(self.dataset, self.plan) if self.plan.request.level.asks else 0

    def findings(self, progress: Progress | None = None) -> Generator[Finding, None, None]:
        """Carry it out, once: yield each finding as it comes, what needs no reading first.

        Closing the generator ends the audit; what was found is kept for `resume`.

        Parameters
        ----------
        progress
            As `audit` has it.

        Raises
        ------
        RefbrowserError
            There is nobody left who works on it; what is found is no error.
        """
        with native_errors():
            yield from self._run.findings(control_of(progress))

    def result(self) -> AuditResult:
        """Return what was found so far; complete once `findings` has ended."""
        return self._run.result()

    @cached_property
    def _run(self) -> AuditRun:
        from refbrowser.engine.audit.audit_run import AuditRun

        return AuditRun(self.dataset, self.plan, self._compute)
