"""Which rows of an opened document differ from its saved state, looked for after each edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.shell.tasks import TaskControl
from refbrowser.engine.jobs import Priority

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.references.document.document import ReferenceDocument
    from refbrowser.views.changed_rows import ChangedRows, Difference


class DocumentChanges(QObject):
    """What differs in one `OpenDocument`; that of the state before until the new one is looked through.

    Signals
    -------
    changed()
        `rows` are other ones.
    """

    changed = Signal()

    def __init__(self, document: OpenDocument) -> None:
        super().__init__(document)
        self._document = document
        self._state: ReferenceDocument | None = None
        self.rows: ChangedRows | None = None
        document.savedChanged.connect(self._nothing_left)

    @property
    def is_known(self) -> bool:
        """Whether `rows` belong to the document as it is now."""
        return self.rows is not None and self._state is self._document.document

    def count_below(self, path: str) -> int | None:
        """Return how many keys at or below a path differ; 0 where it is not counted, None where none does."""
        return None if self.rows is None else self.rows.below.get(path.strip("/"))

    def look(self, difference: Difference | None) -> None:
        """Look for the rows that differ; None where nothing does."""
        if difference is None:
            self._nothing_left()
            return

        def find(control: TaskControl) -> ChangedRows:
            from refbrowser.app.editors.pace import Pace
            from refbrowser.views.changed_rows import changed_rows

            return changed_rows(difference, Pace(control.check))

        def found(rows: ChangedRows) -> None:
            self.rows, self._state = rows, difference.document
            self.changed.emit()

        document = self._document
        title = f"Look for what changed in {document.title}"
        document.tasks.run(document.owner("changes"), title, find, found, priority=Priority.STATISTICS)

    def _nothing_left(self) -> None:
        if self._document.is_dirty:
            return
        # Also where nothing was found yet: an answer for the edit that was undone would stay.
        self._document.tasks.cancel_owner(self._document.owner("changes"))
        if self.rows is not None:
            self.rows = self._state = None
            self.changed.emit()
