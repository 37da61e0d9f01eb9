"""Opening and exporting documents."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.hierarchy.hierarchy_model import ItemKind


class FileCommands(CommandGroup):
    """The commands of the menu File that open and export."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        own = (self.open_files, self.open_url, self.open_sample, self.clear_recent)
        return by_name(*own, self.export)

    def conditions(self) -> dict[str, bool]:
        """Return what can be done with the current document."""
        document = self._current
        return {
            "has_document": document is not None,
            "has_recent": bool(self._window.settings.recent()),
            "is_open": document is not None and document.is_open,
            "has_hierarchy": document is not None and document.hierarchy is not None,
        }

    # Opening and closing

    def open_files(self) -> None:
        """Ask for documents and open them."""
        self._window.questions.open_files(self._window.open_all)

    def open_url(self) -> None:
        """Ask for a URL and open it."""
        self._window.questions.open_url(
            self._window.open_path, self._window.commands.permissions.connect_origin
        )

    def open_sample(self) -> None:
        """Open the document that comes with the program."""
        from refbrowser.app.controller.work import sample_path

        self._window.open_path(sample_path())

    def clear_recent(self) -> None:
        """Forget the documents that were opened lately."""
        self._window.settings.clear_recent()
        self._window.centre.start.set_recent([])
        self._window.update_actions()

    def open_instead(self, paths: list[str]) -> None:
        """Open documents in place of the current one, which could not be opened."""
        failed = self._current
        if failed is not None and not failed.is_open:
            self._window.documents.close(failed)
        self._window.open_all(paths)

    # Exporting

    def export(self) -> None:
        """Show the export dialog for the current document."""
        from refbrowser.app.dialogs.export_dialog import ExportDialog

        document = self._current
        if document is not None and document.dataset is not None:
            item = self._window.navigation.item()
            chosen = str(item.place) if item is not None and item.kind is ItemKind.ARRAY else None
            dialog = ExportDialog(document, chosen, self._window)
            dialog.openPath.connect(self._window.open_path)
            dialog.show()
