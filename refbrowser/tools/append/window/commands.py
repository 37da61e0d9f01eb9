"""Adding files to the current document."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.view import PreferenceCommands
from refbrowser.app.widgets.small_widgets import bring_up
from refbrowser.app.workspace.command_group import CommandGroup, by_name


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
        return {"can_append": state is not None and not state.rules_are_made}

    def append_files(self) -> None:
        """Show the sheet that adds files to the current document."""
        from refbrowser.tools.append.window.append_sheet import AppendSheet

        document = self._current
        if document is None or document.dataset is None:
            return
        shown = self._workspace.window().findChildren(AppendSheet)
        sheet = next((each for each in shown if each.document is document), None)
        if sheet is None:
            sheet = AppendSheet(document, self._workspace.documents, self._workspace.window())
            sheet.changeCompute.connect(self._workspace.groups[PreferenceCommands].compute)
            sheet.told.connect(self._workspace.say)
        bring_up(sheet)
