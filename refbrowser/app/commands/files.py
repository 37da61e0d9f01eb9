"""Opening, saving, exporting and closing documents."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer

from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.hierarchy_model import ItemKind
from refbrowser.app.questions import Unsaved


class FileCommands(CommandGroup):
    """The commands of the menu File."""

    _closing = False

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        own = (self.open_files, self.open_url, self.open_sample, self.save, self.save_as, self.revert)
        return {**by_name(*own, self.export, self.close_document), "quit": self._window.close}

    def conditions(self) -> dict[str, bool]:
        """Return what can be done with the current document."""
        document = self._current
        return {
            "has_document": document is not None,
            "is_open": document is not None and document.is_open,
            "has_hierarchy": document is not None and document.hierarchy is not None,
            "is_dirty": document is not None and document.is_dirty,
            "can_save": document is not None and document.is_dirty and not document.is_saving,
        }

    # Opening and closing

    def open_files(self) -> None:
        """Ask for documents and open them."""
        self._window.questions.open_files(self._window.open_all)

    def open_url(self) -> None:
        """Ask for a URL and open it."""
        self._window.questions.open_url(
            self._window.open_path, self._window.commands.permissions.connect_origin
        )

    def open_sample(self) -> None:
        """Open the document that comes with the program."""
        from refbrowser.app.controller.work import sample_path

        self._window.open_path(sample_path())

    def open_instead(self, paths: list[str]) -> None:
        """Open documents in place of the current one, which could not be opened."""
        failed = self._current
        if failed is not None and not failed.is_open:
            self._window.documents.close(failed)
        self._window.open_all(paths)

    def close_document(self) -> None:
        """Close the current document; edits that were not saved are asked about."""
        document = self._current
        if document is not None:
            self._settle(document, lambda: self._window.documents.close(document))

    def may_close(self) -> bool:
        """Tell whether the window may close now; else a question is asked, and closing goes on after it."""
        dirty = next((document for document in self._window.documents.all() if document.is_pending), None)
        if dirty is None:
            return True
        if not self._closing:
            self._closing = True
            self._window.documents.set_current(dirty)
            self._settle(dirty, lambda: self._close_on(dirty), self._stay)
        return False

    def _close_on(self, document: OpenDocument) -> None:
        self._closing = False
        self._window.documents.close(document)
        QTimer.singleShot(0, self._window.close)

    def _stay(self) -> None:
        self._closing = False

    def _settle(
        self, document: OpenDocument, go_on: Callable[[], object], stay: Callable[[], object] | None = None
    ) -> None:
        """Ask about pending edits, save or drop them, and go on."""
        if not document.is_pending:
            go_on()
            return

        def answered(answer: Unsaved) -> None:
            if answer is Unsaved.DISCARD:
                go_on()
            elif answer is Unsaved.SAVE:
                self._save_then(document, go_on, stay)
            elif stay is not None:
                stay()

        self._window.questions.unsaved(document, answered)

    def _save_then(
        self, document: OpenDocument, go_on: Callable[[], object], stay: Callable[[], object] | None
    ) -> None:
        from refbrowser.app.editors.unapplied import apply_drafts

        if not apply_drafts(document):
            if stay is not None:
                stay()
            return

        def saved(_path: str) -> None:
            disconnect()
            go_on()

        def failed(_error: object) -> None:
            disconnect()
            if stay is not None:
                stay()

        def disconnect() -> None:
            document.saved.disconnect(saved)
            document.saveFailed.disconnect(failed)

        document.saved.connect(saved)
        document.saveFailed.connect(failed)
        self._save(document)

    # Saving

    def save(self) -> None:
        """Write the current document to its file."""
        document = self._current
        if document is not None and document.is_dirty:
            self._save(document)

    def _save(self, document: OpenDocument) -> None:
        if document.can_save_in_place:
            document.save()
        else:
            self._ask_where(document)

    def save_as(self) -> None:
        """Ask where and in which version to write the current document."""
        if self._current is not None:
            self._ask_where(self._current)

    def _ask_where(self, document: OpenDocument) -> None:
        self._window.questions.save_as(document, lambda path, version: self._save_as(document, path, version))

    @staticmethod
    def _save_as(document: OpenDocument, path: str, version: int) -> None:
        """Go on with the new file, except where Version 0 leaves templates and rules out: that is a copy."""
        from refbrowser.references.edits import SetVersion

        state = document.document
        if state is None or (version == 1 and state.version == 0 and not document.apply(SetVersion(1))):
            return
        document.save(path, version)

    def save_failed(self, document: OpenDocument, error: BaseException) -> None:
        """Say that a save failed; a file that others changed is asked about."""
        from refbrowser.app.controller.work import is_changed_on_disk

        if is_changed_on_disk(error):
            self._window.questions.overwrite(document.path, lambda: document.save(overwrite=True))
            return
        self._window.documents.set_current(document)
        self._window.centre.error_bar.show_error(f"{document.title} was not saved", error, document.save)

    def revert(self) -> None:
        """Go back to the saved state, after a question."""
        document = self._current
        if document is not None and document.is_dirty:
            self._window.questions.revert(document, document.revert)

    def export(self) -> None:
        """Show the export dialog for the current document."""
        from refbrowser.app.export_dialog import ExportDialog

        document = self._current
        if document is not None and document.dataset is not None:
            item = self._window.navigation.item()
            chosen = str(item.place) if item is not None and item.kind is ItemKind.ARRAY else None
            dialog = ExportDialog(document, chosen, self._window)
            dialog.openPath.connect(self._window.open_path)
            dialog.show()
