"""Saving one opened document: to its file, elsewhere, or into the store that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from refbrowser.app.shell.tasks import TaskControl

if TYPE_CHECKING:
    from collections.abc import Callable

    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.controller.work import Saved
    from refbrowser.exporting.saving.write import SaveOrder
    from refbrowser.references.document.document import ReferenceDocument


class DocumentSaving(QObject):
    """Writes one `OpenDocument`, whose signals `saved` and `saveFailed` tell the end.

    Attributes
    ----------
    is_running
        It is being written.
    """

    def __init__(self, document: OpenDocument) -> None:
        super().__init__(document)
        self._document = document
        self.is_running = False

    def save(self, order: SaveOrder | None = None) -> None:
        """Write the document to its file, or as ordered, atomically, off the GUI thread.

        What was written is then the document, unless a copy is ordered or the document was edited meanwhile
        and what was written is not one of its states.
        """
        from refbrowser.exporting.saving.write import SaveOrder

        opened = self._document
        document, dataset, before = opened.document, opened.dataset, opened.identity
        if document is None or dataset is None:
            return
        given = order or SaveOrder(opened.path)
        expected = None if given.overwrite or given.path != opened.path else before

        def write(control: TaskControl) -> Saved:
            from refbrowser.app.controller.work import save_document

            return save_document(document, dataset, given, expected, before, control)

        self._write(document, write, given.path, is_copy=given.is_copy)

    def save_into_store(self) -> None:
        """Write the metadata that changed into the store that was opened, off the GUI thread."""
        document, before = self._document.document, self._document.saved_document
        ours = self._document.store.ours
        if document is None or before is None:
            return

        def write(control: TaskControl) -> Saved:
            from refbrowser.app.controller.work import save_into_store

            return save_into_store(document, before, ours, control)

        self._write(document, write, self._document.path, is_copy=False)

    def _write(
        self, state: ReferenceDocument, write: Callable[[TaskControl], Saved], path: str, *, is_copy: bool
    ) -> None:
        opened = self._document
        if self.is_running:
            return
        self.is_running = True

        def done(saved: Saved) -> None:
            self.is_running = False
            opened.store.written = saved.into
            if saved.into is not None:
                opened.store.ours = {}
            if not is_copy:
                opened.take_saved(state, saved, path)
            opened.savedChanged.emit()
            opened.saved.emit(path)
            opened.saveLost.emit(saved.losses)

        def failed(error: BaseException) -> None:
            self.is_running = False
            opened.store.not_saved(error)
            opened.savedChanged.emit()
            opened.saveFailed.emit(error)

        opened.tasks.run(opened.owner("save"), f"Save {opened.title}", write, done, failed)
