"""Values that leave the window: the table, the view as a file, values and pictures on the clipboard."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.commands.group import CommandGroup, by_name


class ValueCommands(CommandGroup):
    """What is done with the values on the screen."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name()

    def connect_table(self) -> None:
        """Carry out what the table asks for."""
        window, table = self._window, self._window.centre.table
        if table is None:
            return
        table.said.connect(window.status.say)
        table.failed.connect(window.centre.error_bar.show_error)
        table.cellActivated.connect(self._show_plot)
        table.trustReviewRequested.connect(window.commands.permissions.review_trust)

    def _show_plot(self) -> None:
        from refbrowser.app.centre import PLOT

        self._window.centre.show_tab(PLOT)
