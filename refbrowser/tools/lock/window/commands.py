"""Locks of documents: written, and the new state of files accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec, Changed
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced

if TYPE_CHECKING:
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.io.locks.lock_made import LockWritten


class LockCommands(CommandGroup):
    """The commands of the menu Tools about locks, and the bar that tells of stale files."""

    actions = (
        ActionSpec(
            "write_lock",
            "Write loc&k",
            when="can_lock",
            tip="Record the size, ETag or time and digests of all files beside the document (DOC.lock.json)",
            menu="&Tools",
            after="previous_problem",
            apart=True,
        ),
        ActionSpec(
            "accept_stale",
            "&Accept the new state…",
            when="has_stale",
            tip="Show the files that differ from the lock, and accept their new state",
            menu="&Tools",
            after="write_lock",
        ),
    )

    follows = Changed.FINDINGS | Changed.OTHER

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre, self._preferences = workspace.centre, workspace.preferences
        workspace.documents.added.connect(self._follow)
        workspace.centre.lock_bar.wanted.connect(self.accept_stale)
        workspace.accept_stale = self.accept_stale

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.write_lock, self.accept_stale)

    def conditions(self) -> dict[str, bool]:
        """Return whether there is a document that can have a lock, and whether files are stale."""
        document = self._current
        return {
            "can_lock": document is not None and _can_lock(document),
            "has_stale": document is not None and bool(document.lock.stale),
        }

    def write_lock(self) -> None:
        """Look at all files of the current document and write its lock."""
        if self._current is not None and _can_lock(self._current):
            self._current.lock.write()

    def accept_stale(self, document: OpenDocument | None = None, url: str = "") -> None:
        """Show the files that are not those of the lock, one of them ticked, to accept some as they are."""
        from refbrowser.tools.lock.window.accept_sheet import AcceptSheet

        shown = document or self._current
        if shown is not None and shown.lock.stale:
            AcceptSheet(shown, url, self._workspace.window()).open()

    def _follow(self, document: OpenDocument) -> None:
        document.lock.written.connect(lambda written: self._written(document, written))
        document.lock.failed.connect(
            lambda error: self._workspace.show_error(
                f"The lock of {one_line(document.title)} was not written", error
            )
        )
        document.findings.changed.connect(lambda: self._changed(document))
        document.lock.staleChanged.connect(lambda: self._changed(document))
        document.saved.connect(lambda _path: self._saved(document))

    def _saved(self, document: OpenDocument) -> None:
        if self._preferences.is_on("lock_on_save") and _can_lock(document):
            document.lock.write()

    def _changed(self, document: OpenDocument) -> None:
        if document is self._current:
            self._centre.lock_bar.set_document(document)
            self._workspace.update_actions(Changed.FINDINGS)

    def _written(self, document: OpenDocument, written: LockWritten) -> None:
        errors = written.made.errors
        if errors:
            more = f" and {count_text(len(errors) - 1)} more" if len(errors) > 1 else ""
            lock = "was not written" if written.lock is None else "was written without them"
            what = f"{one_line(errors[0].place.url or '')}{more} could not be checked: the lock {lock}"
            self._workspace.show_error(what, errors[0])
        elif written.lock is not None:
            count = len(written.made.lock.entries)
            self._workspace.say(f"{counted_spaced(count, 'file')} locked in {one_line(written.path)}")
        document.findings.look_again()
        if document is self._current:
            self._centre.lock_bar.set_document(document)
            for plot in self._centre.plots():
                plot.look_at_lock()
            if self._centre.table is not None:
                self._centre.table.look_at_lock()
        self._workspace.update_actions()


def _can_lock(document: OpenDocument) -> bool:
    state = document.document
    return state is not None and not state.layouts and "://" not in document.path
