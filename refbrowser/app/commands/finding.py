"""Finding an action, a key or a node by a few letters."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.commands.group import CommandGroup, by_name


class FindCommands(CommandGroup):
    """The command palette, and going to a key."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.command_palette, self.go_to_key)

    def command_palette(self) -> None:
        """Show the palette."""
        from refbrowser.app.finding.command_palette import CommandPalette

        self._window.update_actions()
        CommandPalette(self._window.actions_, self._window).show()

    def go_to_key(self) -> None:
        """Ask for a key, a node or a row of the current document and go there."""
        from refbrowser.app.finding.go_to import GoToDialog

        document, window = self._current, self._window
        if document is None or not document.is_open:
            return
        dialog = GoToDialog(document, window)
        dialog.nodeChosen.connect(lambda path: window.navigation.go_to_node(document, path))
        dialog.keyChosen.connect(window.navigation.show_key)
        dialog.rowChosen.connect(window.navigation.show_row)
        dialog.show()
