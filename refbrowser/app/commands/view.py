"""Which views are shown, and where the keyboard is."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.shell.centre import EXPRESSIONS, VALUES
from refbrowser.app.shell.keyboard import move_to_pane


class ViewCommands(CommandGroup):
    """The commands of the menus View and Tools."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        window = self._window
        own = by_name(self.find_node, self.plot_alone, self.reset_layout, self.show_jobs)
        own |= by_name(self.next_pane, self.previous_pane)
        return {**own, **window.centre.tab_commands(), "cancel_newest": window.jobs.cancel_newest}

    def conditions(self) -> dict[str, bool]:
        """Return whether anything runs, and which tabs that not every document has are there."""
        offered = self._window.centre.tabs.isTabVisible
        return {
            "is_plot_alone": self._window.plot_alone.is_on,
            "is_busy": self._window.tasks.busy(),
            "has_nested": offered(VALUES),
            "has_expressions": offered(EXPRESSIONS),
        }

    def find_node(self) -> None:
        """Put the cursor in the tree's filter."""
        self._window.docks.raise_("hierarchyDock")
        self._window.hierarchy.focus_filter()

    def plot_alone(self) -> None:
        """Show nothing but the plot, or all again."""
        self._window.plot_alone.toggle()

    def next_pane(self) -> None:
        """Put the keyboard in the next pane."""
        move_to_pane(self._window, forward=True)

    def previous_pane(self) -> None:
        """Put the keyboard in the pane before."""
        move_to_pane(self._window, forward=False)

    def reset_layout(self) -> None:
        """Put every dock where it began, with its first size, and columns too."""
        self._window.plot_alone.leave()
        self._window.docks.reset()
        self._window.docks.share_out()
        self._window.layout_kept.forget()

    def show_jobs(self) -> None:
        """Bring the list of jobs to the front."""
        self._window.docks.raise_("jobsDock")
