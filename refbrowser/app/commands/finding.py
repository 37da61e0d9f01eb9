"""Finding an action, a key or a node by a few letters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from refbrowser.app.commands.group import CommandGroup, by_name


class FindCommands(CommandGroup):
    """The command palette, and going to a key."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.command_palette, self.go_to_key)

    def command_palette(self) -> None:
        """Show the palette."""
        from refbrowser.app.panes.finding.command_palette import CommandPalette

        window = self._window
        window.update_actions()
        panes = {
            dock.windowTitle(): partial(self._show_pane, dock.objectName()) for dock in window.docks.all()
        }
        CommandPalette(window.actions_, panes, window).show()

    def _show_pane(self, name: str) -> None:
        """Bring a dock to the front, with the keyboard in it."""
        self._window.docks.raise_(name)
        pane = self._window.docks[name].widget()
        inside = [each for each in pane.findChildren(QWidget) if each.focusPolicy() & Qt.FocusPolicy.TabFocus]
        for widget in inside:
            if widget.isVisible() and widget.isEnabled():
                widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
                break

    def go_to_key(self) -> None:
        """Ask for a key, a node or a row of the current document and go there."""
        from refbrowser.app.panes.finding.go_to import GoToDialog

        document, window = self._current, self._window
        if document is None or not document.is_open:
            return
        dialog = GoToDialog(document, window)
        dialog.nodeChosen.connect(lambda path: window.navigation.go_to_node(document, path))
        dialog.keyChosen.connect(window.navigation.show_key)
        dialog.rowChosen.connect(window.navigation.show_row)
        dialog.show()
