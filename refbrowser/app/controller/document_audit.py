"""The audit of one opened document: what it would cost, how far it is, and what it found so far."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, Signal

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.engine.jobs import JobHandle, Priority
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.edited_document import EditedDocument
    from refbrowser.engine.audit.audit_plan import AuditCost, AuditRequest
    from refbrowser.engine.audit.audit_result import AuditResult, FindingGroup
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobStatus

#: What was found so far is told this often, in seconds.
PACE = 0.3


@dataclass(frozen=True, slots=True)
class AskedCost:
    """What an audit would cost, and how many of its steps an interrupted one left done."""

    request: AuditRequest
    cost: AuditCost
    kept: int = 0


class Given(NamedTuple):
    """What an audit gave, what its plan said that it costs, and of which state of the document it was."""

    result: AuditResult
    cost: AuditCost
    dataset: Dataset


class DocumentAudit(QObject):
    """Audits one `OpenDocument`, and follows its edits with what was found.

    Attributes
    ----------
    request
        What was asked for last; None before.
    cost
        What the plan said that it costs; None before.
    result
        What it found so far, or what edits left of that; None before anything was found.
    status
        How far it is, while it runs.
    error
        Why the last audit ended early; None where it did not, or was cancelled.
    states
        Of each file that was asked about, as the document spells it: the code of what is worst about it
        (``url-dead``...), empty where it is as it should be.

    Signals
    -------
    changed()
        Any of these is another one.
    settled()
        An audit ended, or an edit was followed: `result` stays for a while.
    statesChanged()
        `states` are other ones.
    asked(object)
        What an audit would cost (`AskedCost`), or the exception that tells why it cannot be told.
    fixed(int)
        So many places were repaired by one edit.
    """

    changed = Signal()
    settled = Signal()
    statesChanged = Signal()
    asked = Signal(object)
    fixed = Signal(int)

    def __init__(self, document: EditedDocument) -> None:
        super().__init__(document)
        self._document = document
        self.request: AuditRequest | None = None
        self.cost: AuditCost | None = None
        self.result: AuditResult | None = None
        self.status: JobStatus | None = None
        self.error: BaseException | None = None
        self.states: Mapping[str, str] = MappingProxyType({})
        self._given: Given | None = None
        self._handle: JobHandle | None = None
        self._running = Latest(self, "audit")
        self._asking = Latest(self, "audit-cost")
        self._following = Latest(self, "audit-follow")
        self._fixing = Latest(self, "audit-fix")
        document.hierarchyChanged.connect(self._follow)

    @property
    def is_running(self) -> bool:
        """Whether an audit is under way."""
        return self._handle is not None

    def asked_groups(self) -> list[FindingGroup]:
        """Return what asking and reading told: all but what the list of findings tells by itself."""
        return [] if self.result is None else self.result.asked

    def ask(self, request: AuditRequest) -> None:
        """Find out what an audit would cost; `asked` tells. Nothing is read for it."""
        dataset = self._document.dataset
        if dataset is None:
            return

        def look(_control: TaskControl) -> AskedCost:
            from refbrowser.tools.audit.planned_audit import PlannedAudit

            planned = PlannedAudit(dataset, request)
            return AskedCost(request, planned.cost, planned.answers_kept())

        title = f"Find out what an audit of {self._document.title} costs"
        self._asking.run(
            self._document, title, look, self.asked.emit, self.asked.emit, priority=Priority.STATISTICS
        )

    def start(self, request: AuditRequest) -> None:
        """Audit the document as it is now, where the preferences say; what ran before is cancelled."""
        dataset, choice = self._document.dataset, self._document.shared.compute
        if dataset is None:
            return

        def work(control: TaskControl) -> Given:
            from refbrowser.tools.audit.planned_audit import PlannedAudit

            planned = PlannedAudit(dataset, request, choice.compute())
            told = time.monotonic()
            try:
                with closing(planned.findings(control)) as found:
                    for _ in found:
                        if time.monotonic() - told >= PACE:
                            control.send(Given(planned.result(), planned.cost, dataset))
                            told = time.monotonic()
            except BaseException:
                # Also of one that was cancelled: what was found is true.
                control.send(Given(planned.result(), planned.cost, dataset))
                raise
            return Given(planned.result(), planned.cost, dataset)

        self._following.cancel()
        self.request, self.error, self.status = request, None, None
        self._handle = self._running.run(
            self._document,
            f"Audit {one_line(self._document.title)} ({request.level})",
            work,
            self._ended,
            self._failed,
            received=self.take,
            followed=self._went_on,
            priority=Priority.EXPORT,
        )
        self.changed.emit()

    def cancel(self) -> None:
        """End the audit that runs; what it found stays."""
        if self._handle is not None:
            self._document.tasks.cancel(self._handle.number)

    # Reactions

    def take(self, given: Given) -> None:
        """Show what an audit gave."""
        self._given, self.cost = given, given.cost
        self._show(given.result)

    def _ended(self, given: Given) -> None:
        self._handle = self.status = None
        self.take(given)
        self._settle()

    def _failed(self, error: BaseException) -> None:
        self._handle = self.status = None
        self.error = error
        self.changed.emit()
        self._settle()

    def _settle(self) -> None:
        """Tell that what was found stays; what was edited meanwhile is followed first."""
        self.settled.emit()
        if self._given is not None and self._given.dataset is not self._document.dataset:
            self._follow()

    def _show(self, result: AuditResult) -> None:
        self.result = result
        if dict(self.states) != result.states:
            self.states = MappingProxyType(result.states)
            self.statesChanged.emit()
        self.changed.emit()

    def _went_on(self, status: JobStatus) -> None:
        if status.state == "cancelled":
            # Neither its end nor its failure is told.
            self._handle = self.status = None
            self._settle()
        elif not status.state.finished:
            self.status = status
        self.changed.emit()

    def _follow(self) -> None:
        """Leave out what went with an edit, and look anew for what needs no reading."""
        now, given = self._document.dataset, self._given
        if now is None or given is None or self.is_running:
            return
        result, before = given.result, given.dataset

        def work(control: TaskControl) -> Any:
            from refbrowser.tools.audit.followed_audit import followed

            return result if now is before else followed(result, before, now, control)

        def done(left: AuditResult) -> None:
            self._show(left)
            self.settled.emit()

        title = f"Follow the edit of {self._document.title}"
        self._following.run(self._document, title, work, done, priority=Priority.STATISTICS)

    def fix_all(self, code: str) -> None:
        """Repair all findings of one code by one edit that can be undone; `fixed` tells how many."""
        dataset, result = self._document.dataset, self.result
        if dataset is None or result is None:
            return

        def work(control: TaskControl) -> tuple[Any, int]:
            from refbrowser.tools.audit.followed_audit import fix_all

            return fix_all(dataset, result, code, control)

        def done(found: tuple[Any, int]) -> None:
            edit, count = found
            if edit is not None and self._document.document is dataset.document:
                self._document.apply_later(edit, lambda: self.fixed.emit(count))

        self._fixing.run(self._document, f"Repair {code} in {self._document.title}", work, done)
