"""The problems of one opened document, looked for off the window's thread whenever something changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.shell.tasks import Priority, TaskControl
from refbrowser.app.widgets.timers import one_shot
from refbrowser.engine.problems.problem import Fix, Problem, Problems, Remedy

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument

#: Failed chunks are looked for after this pause, in milliseconds: they come in crowds.
PAUSE = 300


class DocumentProblems(QObject):
    """Follows one `OpenDocument`.

    Signals
    -------
    changed()
        `found` is another one.
    """

    changed = Signal()

    def __init__(self, document: OpenDocument) -> None:
        super().__init__(document)
        self._document = document
        self._turns = 0
        self.found = Problems()
        self._pause = one_shot(self, PAUSE, self._look_at_reads)
        document.hierarchyChanged.connect(self.look_again)
        document.trustChanged.connect(self.look_again)
        document.store.listed.connect(self.look_again)
        document.openFailed.connect(lambda _error: self._take_error())
        document.tasks.statusChanged.connect(self._statuses_changed)

    def look_again(self) -> None:
        """Look for problems; nothing is read for it."""
        dataset, wants = self._document.dataset, self._document.wants
        if dataset is None:
            return

        def find(control: TaskControl) -> tuple[Problems, int]:
            from refbrowser.engine.problems.collect import collect
            from refbrowser.engine.problems.failures import failures_of, turns_of

            turns, failures = turns_of(dataset), failures_of(dataset)

            def cancelled() -> bool:
                return control.token.cancelled

            found = collect(dataset.document, dataset.hierarchy, wants, failures, cancelled, dataset.access)
            control.check()
            return found, turns

        owner, title = self._document.owner("problems"), f"Check for problems of {self._document.title}"
        self._document.tasks.run(owner, title, find, self._take, priority=Priority.STATISTICS)

    def _take(self, answer: tuple[Problems, int]) -> None:
        self.found, self._turns = answer
        self.changed.emit()
        self._reads_went_on()

    def _take_error(self) -> None:
        """Take over why the document could not be opened: that is its one fault."""
        from refbrowser.engine.problems.problem import problem_of_opening
        from refbrowser.errors import RefbrowserError

        error = self._document.error
        if self._document.is_open or not isinstance(error, RefbrowserError):
            return
        self.found = Problems.of([problem_of_opening(error)])
        self.changed.emit()

    def _statuses_changed(self, _statuses: object) -> None:
        self._reads_went_on()

    def _reads_went_on(self) -> None:
        if self._document.dataset is not None and not self._pause.isActive():
            self._pause.start()

    def _look_at_reads(self) -> None:
        from refbrowser.engine.problems.failures import turns_of

        dataset = self._document.dataset
        if dataset is not None and turns_of(dataset) != self._turns:
            self._turns = turns_of(dataset)
            self.look_again()

    def fix(self, problem: Problem) -> bool:
        """Make the edit that repairs a problem one step of the history; whether it could be made."""
        fix: Fix | None = problem.fix
        return fix is not None and fix.remedy is Remedy.EDIT and self._document.apply(fix.edit)
