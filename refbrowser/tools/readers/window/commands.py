"""Shows which software reads the current document, and makes what helps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.tools.export.window.commands import ExportCommands

if TYPE_CHECKING:
    from refbrowser.engine.readers.rules import Remedy


class ReadersCommands(CommandGroup):
    """Shows the sheet of readers."""

    actions = (
        ActionSpec(
            "show_readers",
            "Which soft&ware reads it…",
            when="has_document",
            tip="Show which other software reads the arrays, why one does not, and what makes them readable",
            menu="&Tools",
            after="show_audit",
        ),
    )

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.show_readers)

    def show_readers(self) -> None:
        """Show the sheet for the current document."""
        from refbrowser.tools.readers.window.readers_sheet import ReadersSheet

        if self._current is not None:
            sheet = ReadersSheet(self._current, self._workspace.window())
            sheet.exportWanted.connect(self._export)
            sheet.show()

    def _export(self, remedy: Remedy) -> None:
        self._workspace.groups[ExportCommands].export_with(remedy.export, remedy.options)
