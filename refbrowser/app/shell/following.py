"""What the panes, the title and the bars do when opened documents change, or their files do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from refbrowser.app.actions.action_spec import Changed
from refbrowser.app.commands.findings import FindingCommands
from refbrowser.app.commands.saving import NOT_SAVED, SaveCommands
from refbrowser.app.controller.documents import DiskWatch, Titles
from refbrowser.app.controller.followers import DocumentConfirming
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.recovery import time_text
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.words import one_line
from refbrowser.words import size_text

if TYPE_CHECKING:
    from refbrowser.app.controller.document_reading import SizeQuestion
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.engine.journal import LostEdits
    from refbrowser.exporting.request import Loss
    from refbrowser.references.document.extent import Extent
    from refbrowser.views.editing.typed_input import Typed


class DocumentFollower(QObject):
    """Follows all documents of one window: each that is opened, until it is closed.

    Signals
    -------
    damaged()
        What is shown of the current document is to be read again: a part of it proved to be damaged.
    """

    damaged = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace
        self._centre = workspace.centre
        self._hierarchy = workspace.hierarchy
        self._attributes = workspace.attributes
        self._editors = workspace.editors
        self._findings = workspace.findings
        self._navigation = workspace.navigation
        self._chunk_map = workspace.chunk_map
        self._settings = workspace.settings
        self._status = workspace.status
        self._summary = workspace.summary
        self._prepare_plot = workspace.prepare_plot
        self._confirming: dict[OpenDocument, DocumentConfirming] = {}
        #: The document that was shown last.
        self._seen: OpenDocument | None = None
        self._status.confirmWanted.connect(self._confirm)
        self._workspace.documents.added.connect(self._added)
        self._workspace.documents.removed.connect(self._removed)
        self._workspace.documents.currentChanged.connect(self._show)
        documents = self._workspace.documents
        documents.setsChanged.connect(lambda: self._hierarchy.set_sets(documents.sets))
        documents.reordered.connect(lambda: self._hierarchy.set_order(documents.all()))
        self._hierarchy.model.moveWanted.connect(documents.move)
        self._hierarchy.fileWanted.connect(self._workspace.open_path)

    def _added(self, document: OpenDocument) -> None:
        self._hierarchy.add_document(document)
        self._centre.begin_document()
        document.firstRows.connect(lambda rows: self._centre.show_first_rows(document, rows))
        document.sizeAsked.connect(lambda question: self._ask_size(document, question))
        document.findings.changed.connect(self._hierarchy.update_titles)
        document.changes.changed.connect(lambda: self._changes_known(document))
        document.progressChanged.connect(
            lambda done, total: self._centre.show_progress(document, done, total)
        )
        document.stageChanged.connect(lambda stage: self._centre.show_stage(document, stage))
        document.openFailed.connect(lambda _error: self._open_ended(document))
        document.documentChanged.connect(lambda: self._document_changed(document))
        document.hierarchyChanged.connect(lambda extent: self._hierarchy_changed(document, extent))
        document.differenceChanged.connect(lambda: self._difference_changed(document))
        document.savedChanged.connect(lambda: self._saved_changed(document))
        document.saving.runningChanged.connect(lambda: self._workspace.update_actions(Changed.SAVED))
        document.trustChanged.connect(lambda: self._trust_changed(document))
        document.store.listed.connect(lambda: self._listed(document))
        confirming = self._confirming[document] = DocumentConfirming(document)
        confirming.changed.connect(self._show_unconfirmed)
        confirming.failed.connect(lambda: self._read_again(document))
        # What is damaged may turn out when it is read, or confirmed.
        document.findings.changed.connect(lambda: self._damage_changed(document))
        document.journal.recoveriesChanged.connect(lambda: self._recoveries_changed(document))
        document.journal.failed.connect(self._journal_failed)
        document.editFailed.connect(lambda error: self._edit_failed(document, error))

    def look_for_lost(self) -> None:
        """Offer what lost processes left unsaved on the start page."""
        start = self._centre.start

        def look(_control: TaskControl) -> tuple[LostEdits, ...]:
            from refbrowser.engine.journal import lost_documents

            return lost_documents()

        def found(lost: tuple[LostEdits, ...]) -> None:
            start.set_lost([(each.document, time_text(each.when)) for each in lost])

        self._workspace.tasks.run("lost edits", "Recover unsaved edits", look, found)

    def _removed(self, document: OpenDocument) -> None:
        self._confirming.pop(document, None)
        self._hierarchy.remove_document(document)
        self._workspace.update_actions()

    def _ask_size(self, document: OpenDocument, question: SizeQuestion) -> None:
        text = f"It has at least {size_text(question.size)}. Reading it takes time and memory."
        self._workspace.questions.large(document, text, question.answer)

    def _open_ended(self, document: OpenDocument) -> None:
        self._hierarchy.refresh(document)
        if document is self._workspace.documents.current:
            self._centre.update_state()
        self._prepare_plot()
        self._workspace.update_actions()

    def _show(self, document: OpenDocument | None) -> None:
        self._leave(self._seen)
        self._seen = document
        self._centre.set_document(document)
        self._findings.set_document(document)
        if document is None:
            self._centre.start.set_recent(self._settings.recent_entries())
            self.look_for_lost()
            self._attributes.set_item(None)
            self._editors.clear()
            self._summary.set_text("")
        elif self._editors.document() is not document:
            self._editors.clear()
        self._select(document)
        self._saved_changed(document)
        self._workspace.update_actions()

    def _leave(self, document: OpenDocument | None) -> None:
        """Take away what is nothing to be opened, once its card was seen."""
        is_seen = document is not None and getattr(document.error, "found", None) is not None

        def close() -> None:
            if (
                document in self._workspace.documents.all()
                and document is not self._workspace.documents.current
            ):
                self._workspace.documents.close(document)

        if is_seen:
            # Not within the change to another one.
            QTimer.singleShot(0, self, close)

    def _select(self, document: OpenDocument | None) -> None:
        """Select a document in the tree, where nothing of it is selected: all panes are about one."""
        item = self._hierarchy.current_item()
        if document is not None and (item is None or item.document is not document):
            root = (document.number, str(ItemKind.DOCUMENT), "")
            self._hierarchy.select_index(self._hierarchy.model.find_identity(root))

    def _document_changed(self, document: OpenDocument) -> None:
        if document.pending_count == 0 and document.dataset is not None and not document.can_redo:
            self._settings.add_recent(document.path)
            self._settings.set_flavour(document.path, document.store.flavour)
        if document is self._workspace.documents.current:
            self._centre.update_state()
            self._centre.references.refresh()
            self._centre.refresh_source()
            self._workspace.update_actions(Changed.HISTORY)

    def _difference_changed(self, document: OpenDocument) -> None:
        if document is self._workspace.documents.current:
            self._centre.references.show_marks()

    def _hierarchy_changed(self, document: OpenDocument, extent: Extent) -> None:
        if not extent.is_structure:
            self._hierarchy.take_nodes(document)
            # Its rows are shown already; which of them differ is known now.
            self._difference_changed(document)
            return
        self._hierarchy.refresh(document)
        if document is self._workspace.documents.current:
            self._centre.references.refresh()
            self._centre.cdl.refresh()
            self._centre.refresh_source()
            self._navigation.refresh_soon()
        self._workspace.update_actions()
        self._prepare_plot()

    def _trust_changed(self, document: OpenDocument) -> None:
        if document is self._workspace.documents.current:
            self._centre.trust_bar.set_document(document)
            self._centre.raw.refresh()

    def _changes_known(self, document: OpenDocument) -> None:
        self._hierarchy.update_marks()
        if document is self._workspace.documents.current:
            self._centre.references.show_changes()

    def _listed(self, document: OpenDocument) -> None:
        """Show which chunks of a store are missing: that is known now."""
        if document is self._workspace.documents.current:
            self._navigation.refresh()
            self._chunk_map.show_anew(document)

    def _show_unconfirmed(self) -> None:
        current = self._workspace.documents.current
        confirming = None if current is None else self._confirming.get(current)
        self._status.show_unconfirmed(() if confirming is None else confirming.waiting)

    def _confirm(self) -> None:
        current = self._workspace.documents.current
        if current is not None:
            self._confirming[current].confirm()

    def _read_again(self, document: OpenDocument) -> None:
        """Read again what is shown: a member of which it is a part proved to be damaged."""
        for plot in self._centre.plots():
            if plot.source() is document:
                plot.read_again()
        if document is not self._workspace.documents.current:
            return
        if self._centre.table is not None:
            self._centre.table.read_again()
        self.damaged.emit()

    def _damage_changed(self, document: OpenDocument) -> None:
        if document is self._workspace.documents.current:
            self._centre.damage_bar.set_document(document)

    def _recoveries_changed(self, document: OpenDocument) -> None:
        if document is self._workspace.documents.current:
            self._centre.recovery_bar.set_document(document)

    def _journal_failed(self, error: BaseException) -> None:
        what = "Unsaved edits are not kept in case the program ends unexpectedly"
        self._workspace.show_error(what, error)

    def _saved_changed(self, document: OpenDocument | None) -> None:
        current = self._workspace.documents.current
        if document is not None:
            self._hierarchy.update_title(document)
        if document is current:
            if current is not None and current.journal.recoveries:
                self._centre.recovery_bar.set_document(current)
            self._status.set_document(current)
            self._show_unconfirmed()
            title = "" if current is None else f"{one_line(current.title).replace('[*]', '[*][*]')}[*] - "
            self._workspace.window().setWindowTitle(f"{title}refbrowser")
            self._workspace.window().setWindowModified(current is not None and current.is_pending)
        self._workspace.update_actions(Changed.SAVED)

    def _edit_failed(self, document: OpenDocument, error: BaseException) -> None:
        self._workspace.documents.set_current(document)
        self._workspace.show_error("The edit could not be made", error)


class Filing(QObject):
    """Connects files, findings and histories with the panes that show them."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace
        self._centre = workspace.centre
        self._hierarchy = workspace.hierarchy
        self._attributes = workspace.attributes
        self._findings = workspace.findings
        self._history = workspace.history
        self._settings = workspace.settings
        self._finding_commands = workspace.groups[FindingCommands]
        self._status = workspace.status
        self._saving = workspace.groups[SaveCommands]
        self._actions = workspace.actions_
        documents = self._workspace.documents
        Titles(documents)
        self._watch = DiskWatch(documents)
        documents.added.connect(self._added)
        documents.currentChanged.connect(self._history.set_document)
        self._centre.disk_bar.compare.connect(self._saving.compare)
        self._centre.disk_bar.keep.connect(self._saving.keep_mine)
        self._centre.disk_bar.reload.connect(self._saving.reload)
        self._centre.damage_bar.wanted.connect(self._repair)
        self._centre.disk_bar.follow.connect(self._follow)
        self._centre.copy_bar.openPath.connect(self._workspace.open_path)
        self._findings.placeWanted.connect(self._finding_commands.go_to)
        self._findings.fixWanted.connect(self._finding_commands.fix)
        self._findings.counted.connect(self._counted)
        self._status.findingsWanted.connect(self._finding_commands.show_problems)
        self._centre.restyled.connect(self._findings.refresh)

    def close(self) -> None:
        """Watch no file any more."""
        self._watch.close()

    def _repair(self) -> None:
        """Write what is sound of the current file."""
        document = self._workspace.documents.current
        state = None if document is None else document.document
        if document is None or state is None or state.has_keys:
            return
        if document.part.repairing:
            self._actions[document.part.repairing].trigger()
        else:
            self._workspace.export_as(state.format)

    def _follow(self) -> None:
        """Follow the current file as it grows."""
        if self._workspace.documents.current is not None:
            self._workspace.documents.current.file.set_follows(True)

    def _follows_changed(self, document: OpenDocument) -> None:
        words = "read again whenever it grows" if document.file.follows else "not read again when it grows"
        self._workspace.say(f"{document.title} is {words}")
        self._workspace.update_actions()

    def _added(self, document: OpenDocument) -> None:
        document.saved.connect(lambda path: self._saved(document, path))
        document.saveLost.connect(lambda losses: self._lost(document, losses))
        document.saveFailed.connect(lambda error: self._saving.save_failed(document, error))
        document.file.followsChanged.connect(lambda: self._follows_changed(document))
        document.file.changed.connect(lambda: self._file_changed(document))
        document.savedChanged.connect(lambda: self._file_changed(document))
        document.file.failed.connect(lambda error: self._failed(document, "read again", error))
        document.reloadFailed.connect(lambda error: self._failed(document, "reloaded", error))
        document.reloaded.connect(lambda: self._reloaded(document))
        drafts = drafts_of(document)
        drafts.applied.connect(lambda typed: self._applied(document, typed))
        drafts.restored.connect(lambda: self._restored(document))

    def _saved(self, document: OpenDocument, path: str) -> None:
        words = self._saving.typed_words(document)
        typed = f"; {words}" if words else ""
        if path != document.path:
            self._workspace.documents.set_current(document)
            self._centre.copy_bar.show_copy(document, path)
            self._workspace.say(f"Saved a copy as {path}{typed}")
            return
        if document is self._workspace.documents.current:
            self._centre.error_bar.settle(NOT_SAVED)
        into = document.store.written
        if into is None:
            self._workspace.say(f"Saved {path}{typed}")
        else:
            named = ", ".join(map(one_line, into.keys[:3])) + (" …" if len(into.keys) > 3 else "")
            self._workspace.say(f"Written into {one_line(document.title)}: {named}{typed}")
        self._settings.add_recent(path)

    def _restored(self, document: OpenDocument) -> None:
        """Show the first of what was typed before the program ended, where it was typed."""
        from refbrowser.errors import NOWHERE

        typed = drafts_of(document).all()
        if typed:
            self._finding_commands.go_to_typed(document, typed[0], NOWHERE)

    def _applied(self, document: OpenDocument, typed: tuple[Typed, ...]) -> None:
        if document is self._workspace.documents.current:
            self._attributes.applied(typed)
            self._centre.references.applied(typed)

    def _lost(self, document: OpenDocument, losses: tuple[Loss, ...]) -> None:
        if document is self._workspace.documents.current:
            self._centre.loss_bar.show_losses(losses)

    def _file_changed(self, document: OpenDocument) -> None:
        if document is self._workspace.documents.current:
            self._centre.disk_bar.set_document(document)

    def _failed(self, document: OpenDocument, what: str, error: BaseException) -> None:
        self._workspace.documents.set_current(document)
        self._workspace.show_error(f"{document.title} could not be {what}", error)

    def _reloaded(self, document: OpenDocument) -> None:
        drafts_of(document).clear()
        size = document.part.size_words() if document.file.has_grown and document.file.follows else ""
        told = f"{one_line(document.title)} has {size} now" if size else f"Reloaded {document.path}"
        self._workspace.say(told)

    def _counted(self, faults: int, warnings: int) -> None:
        self._status.show_problems(faults, warnings)
        self._workspace.update_actions(Changed.FINDINGS)
