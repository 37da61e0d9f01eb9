"""Committing the edits of the repository that is shown; Save does so, too. Files that are added to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec, Changed
from refbrowser.app.commands.saving import SaveCommands
from refbrowser.app.widgets.small_widgets import bring_up
from refbrowser.app.workspace.command_group import CommandGroup, by_name

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace


class CommitCommands(CommandGroup):
    """The command of the menu File that commits."""

    follows = Changed.SAVED | Changed.FORMAT | Changed.OTHER
    actions = (
        ActionSpec(
            "commit",
            "Co&mmit…",
            when="can_commit",
            tip="Commit the edits to a branch of the repository, merged with what others have committed",
            menu="&File",
            after="save_copy",
        ),
    )

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.commit)

    def conditions(self) -> dict[str, bool]:
        """Return whether there is something to commit."""
        document = self._current
        return {"can_commit": document is not None and document.is_pending and is_repository(document)}

    def commit(self) -> None:
        """Commit the current document, with what is typed in its editors."""
        self._workspace.groups[SaveCommands].save()


def is_repository(document: OpenDocument) -> bool:
    """Tell whether an open document is a snapshot, not references that were made of one."""
    state = document.document
    if state is None or state.format != "icechunk":
        return False
    # What opens repositories takes longer to load than the first rows of a document.
    from refbrowser.wings.icechunk.reading.opening import IcechunkOrigin

    is_made = state.made_from(IcechunkOrigin) is not None
    return is_made and not document.can_save_in_place and not document.is_new


def say_when_reloaded(workspace: Workspace, document: OpenDocument, words: str) -> None:
    """Say something after what is said of each document that is read again."""

    def say() -> None:
        document.reloaded.disconnect(say)
        workspace.say(words)

    document.reloaded.connect(say)


def save(workspace: Workspace, document: OpenDocument, given_up: Callable[[], object]) -> None:
    """Show the sheet that commits the edits of a document."""
    from refbrowser.wings.icechunk.window.commit_sheet import CommitSheet

    shown = workspace.window().findChildren(CommitSheet)
    sheet = next((each for each in shown if each.document is document), None)
    if sheet is None:
        sheet = CommitSheet(document, workspace.window())
        sheet.told.connect(partial(say_when_reloaded, workspace, document))
    sheet.rejected.connect(given_up)
    bring_up(sheet)


def append_files(workspace: Workspace, document: OpenDocument) -> None:
    """Show the sheet that adds files to a branch, or say why they cannot be added."""
    from refbrowser.tools.append.window.commands import show_sheet
    from refbrowser.wings.icechunk.window.repository_append import RepositoryAppendSheet, append_fault

    if not is_repository(document):
        workspace.say("These are references made of a repository: open the repository itself")
    elif append_fault(document):
        workspace.say(append_fault(document))
    else:
        say = partial(say_when_reloaded, workspace, document)
        show_sheet(workspace, document, RepositoryAppendSheet, say)
