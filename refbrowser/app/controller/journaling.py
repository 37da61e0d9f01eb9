"""Keeping the unsaved edits of an opened document, and giving back those that a lost process left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.shell.tasks import TaskControl

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.engine.journal import JournalWriter, Keepable, Recovery


class DocumentJournal(QObject):
    """The journal of one `OpenDocument`: follows its edits, undo, redo and saves.

    Signals
    -------
    recoveriesChanged()
        `recoveries`, newest first, are other ones.
    typedRestored(object)
        What was typed and not applied is to be put back, as it was kept.
    failed(object)
        Edits cannot be kept any more until the next save: the exception.
    """

    recoveriesChanged = Signal()
    typedRestored = Signal(object)
    failed = Signal(object)

    def __init__(self, document: OpenDocument) -> None:
        super().__init__(document)
        self._document = document
        self._writer: JournalWriter | None = None
        self._replaced: Path | None = None
        self._typed: tuple[Keepable, ...] = ()
        self.recoveries: tuple[Recovery, ...] = ()
        document.documentChanged.connect(self._follow)
        document.saved.connect(lambda _path: self._saved())

    def search(self) -> None:
        """Look for what lost processes left; the document was just read or saved."""
        path, document = self._document.path, self._document.saved_document
        if document is None:
            return

        def find(control: TaskControl) -> tuple[Recovery, ...]:
            from refbrowser.engine.journal import find_recoveries

            return find_recoveries(path, document, control.token)

        def found(recoveries: tuple[Recovery, ...]) -> None:
            if recoveries != self.recoveries:
                self.recoveries = recoveries
                self.recoveriesChanged.emit()

        owner = self._document.owner("recovery")
        title = f"Look for unsaved edits of {self._document.title}"
        self._document.tasks.run(owner, title, find, found)

    def can_restore(self, recovery: Recovery) -> bool:
        """Tell whether the edits can be made now: on the state that they were made to, with no others."""
        return recovery.history is not None and not self._document.is_pending

    def restore(self, recovery: Recovery) -> None:
        """Make the edits again, so that undo works through them; the file is not written."""
        if recovery.history is None or not self.can_restore(recovery):
            return
        self._forget(recovery)
        self._replaced = recovery.path
        self._document.go_on_with(recovery.history)
        self.typedRestored.emit(recovery.typed)

    def discard(self, recovery: Recovery) -> None:
        """Give the edits up."""
        from refbrowser.io.journal import remove_journal

        def remove(_control: TaskControl) -> None:
            remove_journal(recovery.path)

        self._forget(recovery)
        # Not as work of the document, which ends when that is closed.
        self._document.tasks.run(f"discard {recovery.path.name}", "Discard unsaved edits", remove)

    def flush(self) -> None:
        """Have everything on the disk as soon as may be."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Remove the journal; what was found of lost processes stays."""
        if self._writer is not None:
            self._writer.close()

    def _forget(self, recovery: Recovery) -> None:
        self.recoveries = tuple(other for other in self.recoveries if other is not recovery)
        self.recoveriesChanged.emit()

    def _follow(self) -> None:
        history = self._document.history
        if history is None or (self._writer is None and not history.is_dirty and not self._typed):
            return
        if self._writer is None:
            from refbrowser.engine.journal import JournalWriter

            self._writer = JournalWriter(self.failed.emit)
        replaced, self._replaced = self._replaced, None
        self._writer.follow(self._document.path, history, replaced)

    def keep_typed(self, typed: Sequence[Keepable]) -> None:
        """Keep what is typed and not applied."""
        self._typed = tuple(typed)
        if self._writer is None:
            self._follow()
        if self._writer is not None:
            self._writer.type(self._typed)

    def _saved(self) -> None:
        self._follow()
        if self.recoveries:
            # They belong to the state before.
            self.recoveries = ()
            self.recoveriesChanged.emit()
            self.search()
