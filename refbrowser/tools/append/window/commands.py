"""Adding files to the current document."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.view import PreferenceCommands
from refbrowser.app.widgets.small_widgets import bring_up
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.formats.registry import facet, format_of

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.references.document.document import Document
    from refbrowser.tools.append.window.append_sheet import AppendSheet

#: The facet of formats that shows a sheet of its own.
_OWN_WAY = "append_files"


class AppendCommands(CommandGroup):
    """The command of the menu File that adds files."""

    actions = (
        ActionSpec(
            "append_files",
            "Append f&iles…",
            when="can_append",
            tip="Add files of data at the end of this document, as one step",
            menu="&File",
            after="combine_files",
        ),
    )

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.append_files)

    def conditions(self) -> dict[str, bool]:
        """Return whether files can be added to the current document."""
        state = None if self._current is None else self._current.document
        # Of a store or a file nobody wrote the references.
        return {"can_append": state is not None and (not state.rules_are_made or _has_own_way(state))}

    def append_files(self) -> None:
        """Show the sheet that adds files to the current document."""
        from refbrowser.tools.append.window.append_sheet import AppendSheet

        document = self._current
        if document is None or document.dataset is None or document.document is None:
            return
        if document.document.rules_are_made:
            facet(document.document, _OWN_WAY)(self._workspace, document)
        else:
            show_sheet(self._workspace, document, AppendSheet, self._workspace.say)


def _has_own_way(state: Document) -> bool:
    """Tell whether a format adds files to what a document was made from."""
    format = format_of(state)
    return format is not None and _OWN_WAY in format.facets


def show_sheet(
    workspace: Workspace, document: OpenDocument, kind: type[AppendSheet], say: Callable[[str], object]
) -> None:
    """Show the sheet of a document, a new one where there is none; `say` tells what it has done."""
    shown = workspace.window().findChildren(kind)
    sheet = next((each for each in shown if each.document is document), None)
    if sheet is None:
        sheet = kind(document, workspace.documents, workspace.window())
        sheet.changeCompute.connect(workspace.groups[PreferenceCommands].compute)
        sheet.told.connect(say)
    bring_up(sheet)
