"""Showing the export dialog."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from refbrowser.app.commands.files import PermissionCommands
from refbrowser.app.commands.view import PreferenceCommands
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.app.workspace.workspace import Workspace
from refbrowser.views.hierarchy import ItemKind

if TYPE_CHECKING:
    from refbrowser.tools.export.window.export_dialog import ExportDialog


class ExportCommands(CommandGroup):
    """The command that exports; its action is of the toolbar, which is painted before any tool is there."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        workspace.export_as = self.export_as

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.export)

    def export(self) -> None:
        """Show the export dialog for the current document."""
        self.export_as("")

    def export_with_chunks(self, path: str, chunks: str) -> None:
        """Show the export dialog with the chunks of an array filled in."""
        dialog = self.export_as("")
        if dialog is not None:
            dialog.choose_chunks(path, chunks)

    def export_with(self, name: str, options: Mapping[str, object]) -> None:
        """Show the export dialog with a format chosen by its name, and some of its options filled in."""
        dialog = self.export_as(name)
        if dialog is not None:
            dialog.options.choose(options)

    def export_as(self, name: str) -> ExportDialog | None:
        """Show the export dialog with a format chosen, by its name; the first one when empty."""
        from refbrowser.tools.export.window.export_dialog import ExportDialog

        document = self._current
        if document is not None and document.dataset is not None:
            item = self._workspace.navigation.item()
            chosen = str(item.place) if item is not None and item.kind is ItemKind.ARRAY else None
            groups = self._workspace.groups
            dialog = ExportDialog(document, chosen, self._workspace.window())
            if name:
                dialog.choose_format(name)
            dialog.openPath.connect(self._workspace.open_path)
            dialog.connectTarget.connect(lambda url: groups[PermissionCommands].connect_origin(url, dialog))
            dialog.changeCompute.connect(groups[PreferenceCommands].compute)
            self._workspace.documents.computeChanged.connect(dialog.refresh)
            dialog.show()
            return dialog
        return None
