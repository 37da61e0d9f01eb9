"""What the panes, the title and the bars do when opened documents change, or their files do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from refbrowser.app.commands.saving import NOT_SAVED
from refbrowser.app.controller.documents import DiskWatch, Titles
from refbrowser.app.controller.followers import DocumentConfirming
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.recovery import time_text
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.shell.tasks import TaskControl
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.words import count_text, one_line, size_text

if TYPE_CHECKING:
    from refbrowser.app.controller.reading import SizeQuestion
    from refbrowser.app.editors.typed import Typed
    from refbrowser.app.shell.main_window import MainWindow
    from refbrowser.engine.journal import LostEdits
    from refbrowser.exporting.request import Loss


class DocumentFollower(QObject):
    """Follows all documents of one window: each that is opened, until it is closed."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._confirming: dict[OpenDocument, DocumentConfirming] = {}
        window.status.confirmWanted.connect(self._confirm)
        window.documents.added.connect(self._added)
        window.documents.removed.connect(self._removed)
        window.documents.currentChanged.connect(self._show)

    def _added(self, document: OpenDocument) -> None:
        window = self._window
        window.hierarchy.add_document(document)
        document.firstRows.connect(lambda rows: window.centre.show_first_rows(document, rows))
        document.sizeAsked.connect(lambda question: self._ask_size(document, question))
        document.problems.changed.connect(window.hierarchy.update_titles)
        document.changes.changed.connect(lambda: self._changes_known(document))
        document.progressChanged.connect(
            lambda done, total: window.centre.show_progress(document, done, total)
        )
        document.stageChanged.connect(lambda stage: window.centre.show_stage(document, stage))
        document.openFailed.connect(lambda _error: self._open_ended(document))
        document.documentChanged.connect(lambda: self._document_changed(document))
        document.hierarchyChanged.connect(lambda: self._hierarchy_changed(document))
        document.savedChanged.connect(lambda: self._saved_changed(document))
        document.trustChanged.connect(lambda: self._trust_changed(document))
        document.store.listed.connect(lambda: self._listed(document))
        confirming = self._confirming[document] = DocumentConfirming(document)
        confirming.changed.connect(self._show_unconfirmed)
        confirming.failed.connect(lambda: self._read_again(document))
        # What is damaged may turn out when it is read, or confirmed.
        document.problems.changed.connect(lambda: self._damage_changed(document))
        document.journal.recoveriesChanged.connect(lambda: self._recoveries_changed(document))
        document.journal.failed.connect(self._journal_failed)
        document.editFailed.connect(lambda error: self._edit_failed(document, error))

    def look_for_lost(self) -> None:
        """Offer what lost processes left unsaved on the start page."""
        start = self._window.centre.start

        def look(_control: TaskControl) -> tuple[LostEdits, ...]:
            from refbrowser.engine.journal import lost_documents

            return lost_documents()

        def found(lost: tuple[LostEdits, ...]) -> None:
            start.set_lost([(each.document, time_text(each.when)) for each in lost])

        self._window.tasks.run("lost edits", "Look for unsaved edits", look, found)

    def _removed(self, document: OpenDocument) -> None:
        window = self._window
        self._confirming.pop(document, None)
        window.hierarchy.remove_document(document)
        window.explain.forget(document)
        window.update_actions()

    def _ask_size(self, document: OpenDocument, question: SizeQuestion) -> None:
        window = self._window
        text = f"It has at least {size_text(question.size)}. Reading it takes time and memory."
        window.questions.large(document, text, question.answer)

    def _open_ended(self, document: OpenDocument) -> None:
        window = self._window
        window.hierarchy.refresh(document)
        if document is window.documents.current:
            window.centre.update_state()
        window.prepare_plot()
        window.update_actions()

    def _show(self, document: OpenDocument | None) -> None:
        window = self._window
        window.centre.set_document(document)
        window.problems.set_document(document)
        if document is None:
            window.centre.start.set_recent(window.settings.recent())
            self.look_for_lost()
            window.attributes.set_item(None)
            window.editors.clear()
            window.summary.set_text("")
        elif window.editors.document() is not document:
            window.editors.clear()
        self._select(document)
        self._saved_changed(document)

    def _select(self, document: OpenDocument | None) -> None:
        """Select a document in the tree, where nothing of it is selected: all panes are about one."""
        item = self._window.hierarchy.current_item()
        if document is not None and (item is None or item.document is not document):
            root = (document.number, str(ItemKind.DOCUMENT), "")
            self._window.hierarchy.select_index(self._window.hierarchy.model.find_identity(root))

    def _document_changed(self, document: OpenDocument) -> None:
        window = self._window
        if document.pending_count == 0 and document.dataset is not None and not document.can_redo:
            window.settings.add_recent(document.path)
            window.settings.set_flavour(document.path, document.store.flavour)
        if document is window.documents.current:
            window.centre.update_state()
            window.centre.references.refresh()

    def _hierarchy_changed(self, document: OpenDocument) -> None:
        window = self._window
        window.hierarchy.refresh(document)
        window.explain.refresh(document)
        if document is window.documents.current:
            window.centre.references.refresh()
            window.centre.cdl.refresh()
            window.navigation.refresh()
        window.update_actions()
        window.prepare_plot()

    def _trust_changed(self, document: OpenDocument) -> None:
        window = self._window
        if document is window.documents.current:
            window.centre.trust_bar.set_document(document)
            window.centre.raw.refresh()

    def _changes_known(self, document: OpenDocument) -> None:
        self._window.hierarchy.update_titles()
        if document is self._window.documents.current:
            self._window.centre.references.show_changes()

    def _listed(self, document: OpenDocument) -> None:
        """Show which chunks of a store are missing: that is known now."""
        if document is self._window.documents.current:
            self._window.navigation.refresh()
            self._window.chunk_map.show_anew(document)

    def _show_unconfirmed(self) -> None:
        current = self._window.documents.current
        confirming = None if current is None else self._confirming.get(current)
        self._window.status.show_unconfirmed(() if confirming is None else confirming.waiting)

    def _confirm(self) -> None:
        current = self._window.documents.current
        if current is not None:
            self._confirming[current].confirm()

    def _read_again(self, document: OpenDocument) -> None:
        """Read again what is shown: a member of which it is a part proved to be damaged."""
        window = self._window
        if document is not window.documents.current:
            return
        if window.centre.plot is not None:
            window.centre.plot.read_again()
        if window.centre.table is not None:
            window.centre.table.read_again()
        if window.nested.pane is not None:
            window.nested.pane.read_again()

    def _damage_changed(self, document: OpenDocument) -> None:
        if document is self._window.documents.current:
            self._window.centre.damage_bar.set_document(document)

    def _recoveries_changed(self, document: OpenDocument) -> None:
        window = self._window
        if document is window.documents.current:
            window.centre.recovery_bar.set_document(document)

    def _journal_failed(self, error: BaseException) -> None:
        window = self._window
        what = "Unsaved edits are not kept in case the program ends unexpectedly"
        window.centre.error_bar.show_error(what, error)

    def _saved_changed(self, document: OpenDocument | None) -> None:
        window = self._window
        window.hierarchy.update_titles()
        current = window.documents.current
        if document is current:
            window.centre.recovery_bar.set_document(current)
            window.status.set_document(current)
            self._show_unconfirmed()
            title = "" if current is None else f"{one_line(current.title).replace('[*]', '[*][*]')}[*] - "
            window.setWindowTitle(f"{title}refbrowser")
            window.setWindowModified(current is not None and current.is_pending)
        window.update_actions()

    def _edit_failed(self, document: OpenDocument, error: BaseException) -> None:
        window = self._window
        window.documents.set_current(document)
        window.centre.error_bar.show_error("The edit could not be made", error)


class Filing(QObject):
    """Connects files, problems and histories with the panes that show them."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        documents = window.documents
        Titles(documents)
        self._watch = DiskWatch(documents)
        documents.added.connect(self._added)
        documents.currentChanged.connect(window.history.set_document)
        centre, saving, problems = window.centre, window.commands.saving, window.commands.problems
        centre.disk_bar.compare.connect(saving.compare)
        centre.disk_bar.keep.connect(saving.keep_mine)
        centre.disk_bar.reload.connect(saving.reload)
        centre.damage_bar.repair.connect(self._repair)
        centre.disk_bar.follow.connect(lambda: self._window.commands.streams.set_follows(True))
        centre.copy_bar.openPath.connect(window.open_path)
        window.problems.placeWanted.connect(problems.go_to)
        window.problems.fixWanted.connect(problems.fix)
        window.problems.counted.connect(self._counted)
        window.status.problemsWanted.connect(problems.show_problems)
        centre.restyled.connect(window.problems.refresh)

    def close(self) -> None:
        """Watch no file any more."""
        self._watch.close()

    def _repair(self) -> None:
        """Write what is sound of the current file."""
        document, commands = self._window.documents.current, self._window.commands
        origin = None if document is None else document.awkward.origin
        if origin is not None:
            commands.files.export_as(origin.format)
        else:
            commands.streams.repair_stream()

    def _added(self, document: OpenDocument) -> None:
        document.saved.connect(lambda path: self._saved(document, path))
        document.saveLost.connect(lambda losses: self._lost(document, losses))
        document.saveFailed.connect(lambda error: self._window.commands.saving.save_failed(document, error))
        document.file.changed.connect(lambda: self._file_changed(document))
        document.savedChanged.connect(lambda: self._file_changed(document))
        document.file.failed.connect(lambda error: self._failed(document, "read again", error))
        document.reloadFailed.connect(lambda error: self._failed(document, "reloaded", error))
        document.reloaded.connect(lambda: self._reloaded(document))
        drafts = drafts_of(document)
        drafts.applied.connect(lambda typed: self._applied(document, typed))
        drafts.restored.connect(lambda: self._restored(document))

    def _saved(self, document: OpenDocument, path: str) -> None:
        window = self._window
        words = window.commands.saving.typed_words(document)
        typed = f"; {words}" if words else ""
        if path != document.path:
            window.documents.set_current(document)
            window.centre.copy_bar.show_copy(document, path)
            window.status.say(f"Saved a copy as {path}{typed}")
            return
        if document is window.documents.current:
            window.centre.error_bar.settle(NOT_SAVED)
        into = document.store.written
        if into is None:
            window.status.say(f"Saved {path}{typed}")
        else:
            named = ", ".join(map(one_line, into.keys[:3])) + (" …" if len(into.keys) > 3 else "")
            window.status.say(f"Written into {one_line(document.title)}: {named}{typed}")
        window.settings.add_recent(path)
        window.hierarchy.refresh(document)

    def _restored(self, document: OpenDocument) -> None:
        """Show the first of what was typed before the program ended, where it was typed."""
        from refbrowser.app.commands.problems import go_to_typed
        from refbrowser.errors import NOWHERE

        typed = drafts_of(document).all()
        if typed:
            go_to_typed(self._window, document, typed[0], NOWHERE)

    def _applied(self, document: OpenDocument, typed: tuple[Typed, ...]) -> None:
        if document is self._window.documents.current:
            self._window.attributes.applied(typed)
            self._window.centre.references.applied(typed)

    def _lost(self, document: OpenDocument, losses: tuple[Loss, ...]) -> None:
        if document is self._window.documents.current:
            self._window.centre.loss_bar.show_losses(losses)

    def _file_changed(self, document: OpenDocument) -> None:
        if document is self._window.documents.current:
            self._window.centre.disk_bar.set_document(document)

    def _failed(self, document: OpenDocument, what: str, error: BaseException) -> None:
        self._window.documents.set_current(document)
        self._window.centre.error_bar.show_error(f"{document.title} could not be {what}", error)

    def _reloaded(self, document: OpenDocument) -> None:
        drafts_of(document).clear()
        index = document.stream.index if document.file.has_grown and document.file.follows else None
        if index is None:
            self._window.status.say(f"Reloaded {document.path}")
        else:
            messages = count_text(len(index.table))
            self._window.status.say(f"{one_line(document.title)} has {messages} messages now")

    def _counted(self, faults: int, warnings: int) -> None:
        self._window.status.show_problems(faults, warnings)
        self._window.update_actions()
