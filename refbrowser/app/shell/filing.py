"""What one window does about the files of its documents: watches, names and lists them; their problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from refbrowser.app.commands.saving import NOT_SAVED
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.controller.titles import Titles
from refbrowser.app.controller.watching import DiskWatch
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.views.words import count_text, one_line

if TYPE_CHECKING:
    from refbrowser.app.editors.typed import Typed
    from refbrowser.app.shell.main_window import MainWindow
    from refbrowser.exporting.request import Loss


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
        from refbrowser.app.panes.problems.going import go_to_typed
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
