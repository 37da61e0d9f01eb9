"""Saving, reading again, comparing, closing and locking documents; nothing is lost without a question."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from refbrowser.app.actions.action_spec import Changed
from refbrowser.app.commands.findings import FindingCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.questions import Unsaved
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.workspace.command_group import CommandGroup, by_name

if TYPE_CHECKING:
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.exporting.saving.save import StoreChange
    from refbrowser.views.editing.typed_input import Refused

#: What to do where a path is that of what is open.
#: In the heading of each save that failed.
NOT_SAVED = "was not saved"
_OUTSIDE = "Its keys are no place for references: choose a place outside it."


class SaveCommands(CommandGroup):
    """The commands of the menu File that write, or give edits up."""

    follows = Changed.SAVED | Changed.FORMAT | Changed.OTHER
    _closing = False

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._finding_commands = workspace.groups[FindingCommands]
        self._typed_words: dict[int, str] = {}
        #: Numbers of the documents whose typing is being applied.
        self._applying: set[int] = set()

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        own = (self.save, self.save_as, self.save_copy, self.revert, self.reload, self.compare)
        closing = (self.close_document, self.close_others, self.close_all, self.close_set)
        return {**by_name(*own, *closing), "quit": self._workspace.window().close}

    def conditions(self) -> dict[str, bool]:
        """Return what can be done with the current document."""
        document = self._current
        is_open = document is not None and document.is_open
        return {
            # What is in no file has nothing to go back to.
            "has_others": len(self._workspace.documents.all()) > 1,
            "can_revert": document is not None and document.is_dirty and not document.is_new,
            "can_reload": document is not None and not document.is_new,
            "can_save": document is not None and document.is_pending and not document.saving.is_running,
            "can_save_as": document is not None and is_open and not document.saving.is_running,
            "can_compare": document is not None and is_open and document.can_compare,
        }

    # Closing

    def close_document(self) -> None:
        """Close the current document, or the set that is selected; unsaved edits are asked about."""
        document, row = self._current, self._workspace.hierarchy.current_files()
        if row is not None and not row.path:
            self.close_set()
        elif document is not None:
            self._settle(document, lambda: self._workspace.documents.close(document))

    def close_others(self) -> None:
        """Close all documents but the current one; those with edits that were not saved are asked about."""
        self._close_several(
            [document for document in self._workspace.documents.all() if document is not self._current]
        )

    def close_all(self, then: Callable[[], object] = lambda: None) -> None:
        """Close all documents and sets; edits that were not saved are asked about. Go on after that."""
        documents = self._workspace.documents

        def go_on() -> None:
            for files in list(documents.sets):
                documents.remove_set(files)
            then()

        self._close_several(documents.all(), go_on)

    def close_set(self) -> None:
        """Close the selected set with those of its files that are open."""
        documents, files = self._workspace.documents, self._workspace.hierarchy.chosen_set()
        if files is not None:
            self._close_several(documents.opened_of(files), lambda: documents.remove_set(files))

    def _close_several(self, gone: list[OpenDocument], then: Callable[[], object] = lambda: None) -> None:
        documents, kept = self._workspace.documents, self._current

        def close() -> None:
            self._closing = False
            if kept is not None and kept not in gone:
                # Saving shows what is saved.
                documents.set_current(kept)
            # What is shown comes last: none of the others is shown on the way.
            for document in sorted(gone, key=lambda each: each is documents.current):
                if document in documents.all():
                    documents.close(document)
            then()

        dirty = [document for document in gone if document.is_pending]
        if self._closing:
            return
        if not dirty:
            close()
            return
        self._closing = True
        self._workspace.questions.unsaved_documents(
            dirty, lambda chosen: self._save_all(chosen, close), self._stay
        )

    def may_close(self) -> bool:
        """Tell whether the window may close now; else a question is asked, and closing goes on after it."""
        dirty = [document for document in self._workspace.documents.all() if document.is_pending]
        if not dirty:
            return True
        if self._closing:
            return False
        self._closing = True
        if len(dirty) == 1:
            self._workspace.documents.set_current(dirty[0])
            self._settle(dirty[0], lambda: self._close_on(dirty), self._stay)
        else:
            self._workspace.questions.unsaved_documents(
                dirty, lambda chosen: self._save_all(chosen, lambda: self._close_on(dirty)), self._stay
            )
        return False

    def _save_all(self, documents: list[OpenDocument], go_on: Callable[[], object]) -> None:
        """Save one document after the other, and go on where all went well."""
        if not documents:
            go_on()
            return
        self._workspace.documents.set_current(documents[0])
        self._save_then(documents[0], lambda: self._save_all(documents[1:], go_on), self._stay)

    def _close_on(self, documents: list[OpenDocument]) -> None:
        self._closing = False
        for document in documents:
            self._workspace.documents.close(document)
        QTimer.singleShot(0, self._workspace.window().close)

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

        self._workspace.questions.unsaved(document, answered)

    def _save_then(
        self, document: OpenDocument, go_on: Callable[[], object], stay: Callable[[], object] | None
    ) -> None:
        def refused() -> None:
            if stay is not None:
                stay()

        def give_up() -> None:
            disconnect()
            refused()

        def saved(_path: str) -> None:
            disconnect()
            go_on()

        def disconnect() -> None:
            document.saved.disconnect(saved)
            document.saveFailed.disconnect(give_up)

        def applied() -> None:
            if not document.is_dirty:
                go_on()
                return
            document.saved.connect(saved)
            document.saveFailed.connect(give_up)
            self._save(document, give_up)

        self._applied(document, applied, refused)

    # What is typed and not applied

    def _applied(
        self,
        document: OpenDocument,
        go_on: Callable[[], object],
        refused: Callable[[], object] = lambda: None,
    ) -> None:
        """Make one step of all that is typed in editors, and go on; what is not valid is shown instead."""
        from refbrowser.app.editors.drafts import apply_typed
        from refbrowser.views.editing.typed_input import Typed, named

        if document.number in self._applying:
            refused()
            return
        self._applying.add(document.number)

        def failed(error: BaseException) -> None:
            self._applying.discard(document.number)
            document.editFailed.emit(error)
            refused()

        def done(applied: tuple[Typed, ...], left: tuple[Refused, ...]) -> None:
            self._applying.discard(document.number)
            # Of a save that was given up since nothing is told with this one.
            self._typed_words.pop(document.number, None)
            if applied:
                self._typed_words[document.number] = f"what was typed in {named(applied)} was applied"
            if not left:
                go_on()
                return
            self._refuse(document, left)
            refused()

        apply_typed(document, done, failed)

    def _refuse(self, document: OpenDocument, left: tuple[Refused, ...]) -> None:
        """Show the first of what is typed and not valid."""
        from refbrowser.errors import RefbrowserError

        words = self.typed_words(document)
        more = f" ({len(left) - 1} more like it)" if len(left) > 1 else ""
        heading = f"{document.title} {NOT_SAVED}{more}"
        self._finding_commands.go_to_typed(document, left[0].typed, left[0].error.place)
        error = left[0].error
        # Its words name the field, and the keyboard is in it.
        shown = RefbrowserError(error.kind, error.message, advice=error.advice)
        self._workspace.show_error(heading, shown)
        if words:
            self._workspace.say(f"{words[0].upper()}{words[1:]}; Undo takes it back")

    def typed_words(self, document: OpenDocument) -> str:
        """Return, once, that typing was applied before the document was saved; nothing where none was."""
        return self._typed_words.pop(document.number, "")

    # Saving

    def save(self) -> None:
        """Write the current document to its file, with what is typed in its editors."""
        document = self._current
        if document is not None and document.is_pending:
            self._applied(document, lambda: self._save(document) if document.is_dirty else None)

    def _save(self, document: OpenDocument, given_up: Callable[[], object] = lambda: None) -> None:
        if document.can_save_in_place:
            document.saving.save()
        elif document.store.is_folder:
            self._save_store(document, given_up)
        elif (own := self._own_saving(document)) is not None:
            own(self._workspace, document, given_up)
        else:
            self._ask_where(document, given_up=given_up)

    def _own_saving(self, document: OpenDocument) -> Callable[..., object] | None:
        """Return how the format of what is open saves edits, where it does; not once they are in a file."""
        from refbrowser.formats.registry import facet

        state = document.document
        if state is None or document.is_new:
            return None
        found: Callable[..., object] | None = facet(state, "save")
        return found

    def _save_store(self, document: OpenDocument, given_up: Callable[[], object]) -> None:
        """Write into the opened store, or references beside it; asked once for each store that is open."""
        store = document.store

        def answered(into: bool) -> None:
            store.is_written = into
            if into:
                document.saving.save_into_store()
            else:
                self._ask_where(document, given_up=given_up)

        def looked(change: StoreChange) -> None:
            if store.is_written and not change.obstacle:
                document.saving.save_into_store()
            else:
                self._workspace.questions.save_store(document, change, answered, given_up)

        store.look_at_change(looked, document.saveFailed.emit)

    def save_as(self) -> None:
        """Ask where and in which form to write the current document, and go on with the new file."""
        document = self._current
        if document is not None:
            self._applied(document, lambda: self._ask_where(document))

    def save_copy(self) -> None:
        """Ask where and in which form to write a copy; the document stays what it is."""
        document = self._current
        if document is not None:
            self._applied(document, lambda: self._ask_where(document, is_copy=True))

    def _ask_where(
        self,
        document: OpenDocument,
        *,
        is_copy: bool = False,
        given_up: Callable[[], object] = lambda: None,
    ) -> None:
        def chosen(path: str, version: int) -> None:
            self.save_to(document, path, version, is_copy=is_copy, given_up=given_up)

        self._workspace.questions.save_as(document, chosen, given_up, is_copy=is_copy)

    def save_to(
        self,
        document: OpenDocument,
        path: str,
        version: int,
        *,
        is_copy: bool = False,
        given_up: Callable[[], object] = lambda: None,
    ) -> None:
        """Write a document to a path, after saying what that means where it means more."""
        from refbrowser.exporting.saving.save import SaveOrder
        from refbrowser.exporting.saving.save_preview import SavePreview, save_preview

        state, access = document.document, document.access
        path = os.path.abspath(path)
        if (
            state is None
            or access is None
            or self._is_taken(document, path)
            or self._is_store(document, path)
        ):
            given_up()
            return
        base, folder = access.base, str(Path(path).parent)
        copy = is_copy and path != document.path

        def look(control: TaskControl) -> SavePreview:
            return save_preview(state, version, base, folder, control.check)

        def looked(preview: SavePreview) -> None:
            self._workspace.questions.preview(
                document,
                path,
                preview,
                lambda keeps: document.saving.save(
                    SaveOrder(path, version, preview.prefix if keeps and preview.relative else "", copy)
                ),
                given_up,
            )

        title = f"Look at what saving {document.title} means"
        failed = document.saveFailed.emit
        document.tasks.run(document.owner("preview"), title, look, looked, failed)

    def _is_taken(self, document: OpenDocument, path: str) -> bool:
        """Tell, and say, that a path belongs to another document of this window."""
        from refbrowser.errors import ErrorKind, Place, RefbrowserError

        others = (other for other in self._workspace.documents.all() if other is not document)
        if all(other.path != path for other in others):
            return False
        error = RefbrowserError(
            ErrorKind.USAGE,
            "the file is open in this window",
            Place(path=path),
            "Close it first, or choose another name.",
        )
        self._workspace.show_error(f"{document.title} {NOT_SAVED}", error)
        return True

    def _is_store(self, document: OpenDocument, path: str) -> bool:
        """Tell, and say, that a path is that of the opened file, or lies in the opened store."""
        from refbrowser.errors import ErrorKind, Place, RefbrowserError

        state = document.document
        if state is None or not state.holds(os.path.realpath(path)):
            return False
        if state.has_keys:
            what, advice = "would be in the store itself", _OUTSIDE
        else:
            what, advice = f"would take the place of {document.part.called}", document.part.advice
        error = RefbrowserError(ErrorKind.USAGE, f"the file {what}", Place(path=path), advice)
        self._workspace.show_error(f"{document.title} {NOT_SAVED}", error)
        return True

    def save_failed(self, document: OpenDocument, error: BaseException) -> None:
        """Say that a save failed; a file that others changed is asked about."""
        from refbrowser.app.controller.work import is_changed_on_disk

        if is_changed_on_disk(error):
            from refbrowser.exporting.saving.save import SaveOrder

            order = SaveOrder(document.path, overwrite=True)
            self._workspace.questions.overwrite(document, lambda: document.saving.save(order), self.compare)
            return
        self._workspace.documents.set_current(document)
        heading = f"{document.title} {NOT_SAVED}"
        self._workspace.show_error(heading, error, lambda: self._save(document))

    # The saved state and the file

    def revert(self) -> None:
        """Go back to the saved state, after a question."""
        document = self._current
        if document is not None and document.is_dirty:
            self._workspace.questions.revert(document, document.revert)

    def reload(self) -> None:
        """Read the current document again; unsaved edits are asked about."""
        document = self._current
        if document is None:
            return
        if not document.is_open:
            document.open()
            self._centre.update_state()
        elif document.is_pending:
            self._workspace.questions.reload(document, document.reload)
        else:
            document.reload()

    def keep_mine(self) -> None:
        """Go on with the current document, whatever is in its file."""
        if self._current is not None:
            self._current.file.keep_mine()

    def compare(self) -> None:
        """Show what differs between the current document and its file."""
        document = self._current
        if document is not None and document.is_open:
            self._workspace.questions.compare(document, self.reload, self.keep_mine)
