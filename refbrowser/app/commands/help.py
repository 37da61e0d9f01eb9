"""What helps."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.commands.group import CommandGroup, by_name


class HelpCommands(CommandGroup):
    """The commands of the menu Help."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.manual, self.shortcuts, self.about)

    def manual(self, page: str = "index") -> None:
        """Show a page of the manual."""
        from refbrowser.app.dialogs.manual_window import ManualWindow

        shown = self._window.findChild(ManualWindow) or ManualWindow(self._window)
        shown.show_page(page)

    def shortcuts(self) -> None:
        """Show all keys."""
        from refbrowser.app.dialogs.shortcut_list import ShortcutList

        shown = self._window.findChild(ShortcutList) or ShortcutList(self._window)
        shown.show()
        shown.raise_()
        shown.activateWindow()

    def about(self) -> None:
        """Show the versions of the program and of what it stands on."""
        from refbrowser.app.dialogs.about import AboutDialog

        AboutDialog(self._window).open()
