"""Opening and exporting documents."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from refbrowser.app.actions.file import FLAVOURS
from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.views.hierarchy import ItemKind, takes_rules

#: The actions that read a store by the rules of a flavour, with its value; empty to find it out.
_WAYS = {
    "open_as_found": "",
    **{f"open_as_{name.replace('-', '_')}": name for name, _title in FLAVOURS},
}


class FileCommands(CommandGroup):
    """The commands of the menu File that open and export."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        own = (self.open_files, self.open_store, self.open_url, self.open_sample, self.clear_recent)
        ways = {way: partial(self.open_as, flavour) for way, flavour in _WAYS.items()}
        return {**by_name(*own, self.export), **ways}

    def conditions(self) -> dict[str, bool]:
        """Return what can be done with the current document."""
        document = self._current
        can_open_as = document is not None and (document.store.is_here or document.error is not None)
        chosen = document.store.flavour if document is not None and can_open_as else None
        return {
            **{way.replace("open_", "is_"): flavour == chosen for way, flavour in _WAYS.items()},
            "can_open_as": can_open_as,
            "has_document": document is not None,
            "has_recent": bool(self._window.settings.recent()),
            "is_open": document is not None and document.is_open,
            "takes_rules": document is not None and takes_rules(document),
            "has_hierarchy": document is not None and document.hierarchy is not None,
        }

    # Opening and closing

    def open_files(self) -> None:
        """Ask for documents and open them."""
        self._window.questions.open_files(self._window.open_all)

    def open_store(self) -> None:
        """Ask for the folder of a store and open it."""
        self._window.questions.open_store(self._window.open_path)

    def open_as(self, flavour: str) -> None:
        """Read the current store by the rules of a flavour, a value of `Flavour`; found out when empty."""
        document = self._current
        if document is None or flavour == document.store.flavour:
            self._window.update_actions()
        elif document.is_pending:
            self._window.questions.reload(document, lambda: document.store.open_as(flavour))
            self._window.update_actions()
        else:
            document.store.open_as(flavour)
            self._window.centre.update_state()
            self._window.update_actions()

    def open_url(self) -> None:
        """Ask for a URL and open it."""
        self._window.questions.open_url(
            lambda url, flavour: self._window.open_path(url, flavour=flavour),
            self._window.commands.permissions.connect_origin,
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

    def look_for_references(self, to_open: bool) -> None:
        """Look for references to the file of data that the card shows, and offer or open them."""
        from refbrowser.formats.making import references_beside

        shown = self._current
        if shown is None:
            return
        path = shown.path
        name = os.path.basename(path)
        opened = [each.path for each in self._window.documents.all() if each.refers_to(name)]

        def done(beside: tuple[str, ...]) -> None:
            card = self._window.centre.found
            if card is not None and self._current is shown:
                card.set_references(opened, beside, to_open=to_open)

        self._window.tasks.run(
            shown.owner("beside"),
            f"Look for references to {name}",
            lambda control: references_beside(path, control.token.check),
            done,
            lambda _error: done(()),
        )

    # Exporting

    def export(self) -> None:
        """Show the export dialog for the current document."""
        self.export_as("")

    def export_as(self, name: str) -> None:
        """Show the export dialog with a format chosen, by its name; the first one when empty."""
        from refbrowser.app.dialogs.export_dialog import ExportDialog

        document = self._current
        if document is not None and document.dataset is not None:
            item = self._window.navigation.item()
            chosen = str(item.place) if item is not None and item.kind is ItemKind.ARRAY else None
            dialog = ExportDialog(document, chosen, self._window)
            if name:
                dialog.choose_format(name)
            dialog.openPath.connect(self._window.open_path)
            dialog.show()
