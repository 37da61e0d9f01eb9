"""The lock of one opened document: written, and renewed for files whose new state is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.shell.latest import Latest
from refbrowser.app.shell.tasks import TaskControl

if TYPE_CHECKING:
    from refbrowser.app.controller.edited_document import EditedDocument
    from refbrowser.engine.locking import LockWritten
    from refbrowser.io.locks.lock import Stale


class DocumentLock(QObject):
    """Follows one `OpenDocument`; what is stale was found when files were touched.

    Signals
    -------
    written(object)
        A `LockWritten`: what is held against the lock is held against that from now on.
    failed(object)
        Why the lock could not be written.
    """

    written = Signal(object)
    failed = Signal(object)

    def __init__(self, document: EditedDocument) -> None:
        super().__init__(document)
        self._document = document
        self._latest = Latest(self, "lock")

    @property
    def stale(self) -> tuple[Stale, ...]:
        """The files that were touched and are not those of the lock, in the order of being found."""
        dataset = self._document.dataset
        locked = None if dataset is None else dataset.access.memory.locked
        return () if locked is None else tuple(locked.stale.values())

    def write(self) -> None:
        """Look at all files, and write the lock beside the document."""
        self._run(f"Write the lock of {self._document.title}", ())

    def accept(self, urls: Sequence[str]) -> None:
        """Take the new state of some files, as the document spells them, into the lock; nothing else."""
        self._run(f"Accept files of {self._document.title}", tuple(urls))

    def _run(self, title: str, accepted: tuple[str, ...]) -> None:
        dataset, path = self._document.dataset, self._document.path
        if dataset is None:
            return

        def work(control: TaskControl) -> LockWritten:
            from refbrowser.engine.locking import LockOrder, hold_against, write_lock_of

            order = LockOrder(accept=accepted)
            fetcher = dataset.session.fetcher
            written = write_lock_of(path, dataset.document, dataset.access, fetcher, order, control)
            if written.lock is not None:
                hold_against(dataset.access, written.lock)
            return written

        self._latest.run(self._document, title, work, self.written.emit, self.failed.emit)
