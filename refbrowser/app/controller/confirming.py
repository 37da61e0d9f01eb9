"""Confirms in the background the members of archives of which parts are shown already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.shell.tasks import TaskControl
from refbrowser.app.widgets.timers import one_shot
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.errors import RefbrowserError
    from refbrowser.io.zip_directory import ZipMember

#: What is confirmed sooner than this, in milliseconds, is not marked before.
PATIENCE = 300


class DocumentConfirming(QObject):
    """Follows the reads of one `OpenDocument`: views get parts at once, and all is confirmed after that.

    Large members of servers are confirmed when the user wants it (`confirm`).

    Signals
    -------
    changed()
        Other members wait to be confirmed.
    failed()
        A member has another checksum: what is shown of it is to be read again, and fails then.
    """

    changed = Signal()
    failed = Signal()

    def __init__(self, document: OpenDocument) -> None:
        super().__init__(document)
        self._document = document
        self.is_running = False
        self._waiting: tuple[ZipMember, ...] = ()
        self._given_up: set[tuple[str, int]] = set()
        self._soon = one_shot(self, PATIENCE, self._tell)
        document.tasks.statusChanged.connect(self._look)

    @property
    def waiting(self) -> tuple[ZipMember, ...]:
        """Members of which parts are shown that are not confirmed yet."""
        return self._waiting

    def confirm(self) -> None:
        """Confirm all members that wait, however large."""
        self._given_up.clear()
        self._run(far=True)

    def _unconfirmed(self) -> dict[tuple[str, int], ZipMember]:
        dataset = self._document.dataset
        return {} if dataset is None else dataset.access.memory.archives.unconfirmed

    def _look(self, _statuses: object = None) -> None:
        unconfirmed = self._unconfirmed()
        if not unconfirmed:
            self._tell()
            return
        if tuple(unconfirmed.values()) != self._waiting and not self._soon.isActive():
            self._soon.start()
        if not self.is_running:
            from refbrowser.engine.found_members import is_far

            new = [key for key, each in unconfirmed.items() if not is_far(key[0], each)]
            if not self._given_up.issuperset(new):
                self._run(far=False)

    def _tell(self) -> None:
        self._soon.stop()
        waiting = tuple(self._unconfirmed().values())
        if waiting != self._waiting:
            self._waiting = waiting
            self.changed.emit()

    def _run(self, *, far: bool) -> None:
        from refbrowser.engine.jobs import Priority

        document, dataset = self._document, self._document.dataset
        if dataset is None:
            return

        def work(control: TaskControl) -> list[RefbrowserError]:
            from refbrowser.engine.fetching import confirm_later

            return confirm_later(dataset.session.fetcher, dataset.access, control.token, far=far)

        self.is_running = True
        document.tasks.run(
            document.owner("confirm"),
            f"Compare checksums of {one_line(document.title)}",
            work,
            self._done,
            self._failed,
            priority=Priority.STATISTICS,
        )

    def _done(self, errors: list[RefbrowserError]) -> None:
        self.is_running = False
        self._given_up |= set(self._unconfirmed())
        self._tell()
        if errors and self._document.dataset is not None:
            # Parts of servers' members may be kept, which were good when they came.
            self._document.dataset.session.cache.clear()
            self.failed.emit()

    def _failed(self, _error: BaseException) -> None:
        self.is_running = False
        self._given_up |= set(self._unconfirmed())
        self._tell()
