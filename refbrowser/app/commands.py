"""What the actions of the window do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.hierarchy_model import ItemKind
from refbrowser.app.questions import Unsaved
from refbrowser.app.trust import TrustSheet, open_wants

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.main_window import MainWindow
    from refbrowser.app.recovery import RecoveryBar
    from refbrowser.engine.journal import Recovery


class Commands(QObject):
    """One method per action; they act on the current document."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._closing = False

    @property
    def _current(self) -> OpenDocument | None:
        return self._window.documents.current

    def table(self) -> dict[str, Callable[[], object]]:
        """Return the callback of each action."""
        window = self._window
        own = (
            self.open_files, self.open_url, self.open_sample, self.save, self.save_as, self.revert,
            self.export,
            self.close_document, self.undo, self.redo, self.copy_path, self.add_template, self.add_rule,
            self.add_reference, self.template_values, self.review_trust, self.go_to_key, self.show_jobs,
            self.about,
        )  # fmt: skip
        return {
            **{method.__name__: method for method in own},
            **window.tab_commands(),
            "quit": window.close,
            "find_node": self.find_node,
            "reset_layout": self.reset_layout,
            "cancel_newest": window.jobs.cancel_newest,
        }

    def conditions(self) -> dict[str, bool]:
        """Return when actions can be used."""
        document = self._current
        return {
            "has_document": document is not None,
            "is_open": document is not None and document.is_open,
            "has_hierarchy": document is not None and document.hierarchy is not None,
            "is_dirty": document is not None and document.is_dirty,
            "can_save": document is not None and document.is_dirty and not document.is_saving,
            "can_undo": document is not None and document.can_undo,
            "can_redo": document is not None and document.can_redo,
            "is_busy": any(not status.state.finished for status in self._window.tasks.statuses()),
        }

    # Opening and closing

    def open_files(self) -> None:
        """Ask for documents and open them."""
        self._window.questions.open_files(self._window.open_all)

    def open_url(self) -> None:
        """Ask for a URL and open it."""
        self._window.questions.open_url(self._window.open_path, self._connect)

    def open_sample(self) -> None:
        """Open the document that comes with the program."""
        from refbrowser.app.controller.work import sample_path

        self._window.open_path(sample_path())

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

    # Editing

    def undo(self) -> None:
        """Take back the last edit."""
        if self._current is not None:
            self._current.undo()

    def redo(self) -> None:
        """Make the last undone edit again."""
        if self._current is not None:
            self._current.redo()

    def add_template(self) -> None:
        """Edit templates; the editor adds one."""
        if self._current is not None:
            self._window.editors.add_template(self._current)
            self._window.docks.raise_("editorDock")

    def add_rule(self) -> None:
        """Begin a gen rule after the last one."""
        document = self._current
        if document is not None and document.document is not None:
            self._window.editors.add_rule(document, len(document.document.rules) - 1)
            self._window.docks.raise_("editorDock")
            self._window.docks.raise_("previewDock")

    def add_reference(self) -> None:
        """Begin a reference."""
        if self._current is not None:
            self._window.editors.add_reference(self._current)
            self._window.docks.raise_("editorDock")

    def template_values(self) -> None:
        """Ask for values of templates."""
        document = self._current
        if document is not None:
            self._window.questions.template_values(document, document.set_template_values)

    def copy_path(self) -> None:
        """Put the document's path, and that of the selected node, on the clipboard."""
        document, item = self._current, self._window.navigation.item()
        if document is not None:
            inside = item is not None and item.kind in (ItemKind.ARRAY, ItemKind.GROUP)
            node = f"::{item.place}" if item is not None and inside else ""
            QGuiApplication.clipboard().setText(document.path + node)

    # Permissions

    def review_trust(self) -> None:
        """Show what the current document wants to read."""
        document = self._current
        if document is None:
            return

        def chosen(sheet: TrustSheet) -> None:
            document.allow(sheet.chosen, always=sheet.always)

        self._window.questions.permissions(document, chosen, self._connect)

    def allow_this_time(self) -> None:
        """Allow all that the current document wants, until it is closed."""
        document = self._current
        if document is not None:
            document.allow(want for want in open_wants(document) if want.kind != "private")

    def _connect(self, url: str, parent: QWidget) -> None:
        """Ask how to connect to the origin of a URL; all documents use the answer from now on."""
        from refbrowser.io.origins import Origin
        from refbrowser.io.settings import ConnectionSettings

        documents, origin = self._window.documents, Origin.parse(url)
        settings = documents.settings.get(origin) or ConnectionSettings()
        self._window.questions.connection(
            origin, settings, parent, lambda given: documents.use_settings({origin: given})
        )

    # Unsaved edits of lost processes

    def connect_recovery(self, bar: RecoveryBar) -> None:
        """Carry out what the bar is asked for."""
        bar.preview.connect(self._preview_recovery)
        bar.restore.connect(self._restore)
        bar.discard.connect(self._discard_recovery)

    def _preview_recovery(self, recovery: Recovery) -> None:
        document = self._current
        if document is not None:
            restore = document.journal.restore
            self._window.questions.preview_recovery(document, recovery, lambda: restore(recovery))

    def _restore(self, recovery: Recovery) -> None:
        if self._current is not None:
            self._current.journal.restore(recovery)

    def _discard_recovery(self, recovery: Recovery) -> None:
        document = self._current
        if document is not None:
            discard = document.journal.discard
            self._window.questions.discard_recovery(recovery, lambda: discard(recovery))

    # Moving around

    def find_node(self) -> None:
        """Put the cursor in the tree's filter."""
        self._window.docks.raise_("hierarchyDock")
        self._window.hierarchy.focus_filter()

    def go_to_key(self) -> None:
        """Put the cursor in the field for a key."""
        from refbrowser.app.centre import REFERENCES

        self._window.centre.tabs.setCurrentIndex(REFERENCES)
        self._window.centre.references.focus_go_to()

    def reset_layout(self) -> None:
        """Put every dock where it began, with its first size."""
        self._window.docks.reset()
        self._window.docks.share_out()

    def show_jobs(self) -> None:
        """Bring the list of jobs to the front."""
        self._window.docks.raise_("jobsDock")
        self._window.docks.make_room_for_preview()

    def about(self) -> None:
        """Show the versions of the program and of what it stands on."""
        from refbrowser.app.controller.work import versions

        self._window.questions.about(versions())
