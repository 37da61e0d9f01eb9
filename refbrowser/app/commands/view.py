"""What is shown: panes, tabs, dialogs of finding, preferences and help."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from refbrowser.app.frame.keyboard import move_to_pane
from refbrowser.app.settings.preferences import THEMES
from refbrowser.app.widgets.small_widgets import bring_up
from refbrowser.app.workspace.command_group import CommandGroup, by_name

if TYPE_CHECKING:
    from refbrowser.app.dialogs.preferences_dialog import PreferencesDialog
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.workspace.workspace import Workspace


class ViewCommands(CommandGroup):
    """The commands of the menus View and Tools."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._docks = workspace.docks
        self._hierarchy = workspace.hierarchy
        self._jobs = workspace.jobs
        self._plot_alone = workspace.plot_alone
        self._layout_kept = workspace.layout_kept
        self._was_playing = False
        self._centre.plotMade.connect(self._plot_made)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        own = by_name(self.find_node, self.plot_alone, self.fold_bottom, self.reset_layout, self.show_jobs)
        own |= by_name(self.next_pane, self.previous_pane)
        return {**own, **self._centre.tab_commands(), **by_name(self.cancel_newest)}

    def conditions(self) -> dict[str, bool]:
        """Return whether the plot is alone, and whether anything runs."""
        return {
            "is_plot_alone": self._plot_alone.is_on,
            "is_bottom_folded": self._docks.is_folded,
            "is_busy": self._is_playing() or self._workspace.tasks.busy(),
        }

    def offer_actions(self) -> None:
        """Let the newest job be cancelled while there is one."""
        self._workspace.tasks.busyChanged.connect(self._workspace.actions_["cancel_newest"].setEnabled)

    def _plot_made(self, plot: PlotPane) -> None:
        plot.tools.changed.connect(self._follow_playing)

    def _follow_playing(self) -> None:
        """Let the animation be stopped while it plays, also between two frames."""
        playing, tasks = self._is_playing(), self._workspace.tasks
        if playing == self._was_playing:
            return
        self._was_playing = playing
        action = self._workspace.actions_["cancel_newest"]
        if playing:
            tasks.busyChanged.disconnect(action.setEnabled)
        else:
            tasks.busyChanged.connect(action.setEnabled)
        action.setEnabled(playing or tasks.busy())

    def cancel_newest(self) -> None:
        """Stop the animation; where none plays, cancel the newest job."""
        playing = [plot for plot in self._centre.plots() if plot.tools.is_playing]
        if playing:
            playing[-1].tools.animation.pause()
        else:
            self._jobs.cancel_newest()

    def _is_playing(self) -> bool:
        return any(plot.tools.is_playing for plot in self._centre.plots())

    def find_node(self) -> None:
        """Put the cursor in the tree's filter."""
        self._docks.raise_("hierarchyDock")
        self._hierarchy.focus_filter()

    def plot_alone(self) -> None:
        """Show nothing but the plot, or all again."""
        self._plot_alone.toggle()

    def fold_bottom(self) -> None:
        """Show nothing but the tabs of the panes below the plot, or unfold them."""
        self._docks.fold(is_folded=not self._docks.is_folded)

    def next_pane(self) -> None:
        """Put the keyboard in the next pane."""
        move_to_pane(self._workspace.window(), forward=True)

    def previous_pane(self) -> None:
        """Put the keyboard in the pane before."""
        move_to_pane(self._workspace.window(), forward=False)

    def reset_layout(self) -> None:
        """Put every dock where it began, with its first size, and columns too."""
        self._plot_alone.leave()
        self._docks.reset()
        self._docks.share_out()
        self._layout_kept.forget()

    def show_jobs(self) -> None:
        """Bring the list of jobs to the front."""
        self._docks.raise_("jobsDock")


class FindCommands(CommandGroup):
    """The command palette, and going to a key."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._docks = workspace.docks
        self._navigation = workspace.navigation
        self._actions = workspace.actions_

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.command_palette, self.go_to_key)

    def command_palette(self) -> None:
        """Show the palette."""
        from refbrowser.app.panes.quick_list import CommandPalette

        self._workspace.update_actions()
        panes = {
            dock.windowTitle(): partial(self._show_pane, dock.objectName()) for dock in self._docks.all()
        }
        CommandPalette(self._actions, panes, self._workspace.window()).show()

    def _show_pane(self, name: str) -> None:
        """Bring a dock to the front, with the keyboard in it."""
        self._docks.raise_(name)
        pane = self._docks[name].widget()
        inside = [each for each in pane.findChildren(QWidget) if each.focusPolicy() & Qt.FocusPolicy.TabFocus]
        for widget in inside:
            if widget.isVisible() and widget.isEnabled():
                widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
                break

    def go_to_key(self) -> None:
        """Ask for a key, a node or a row of the current document and go there."""
        from refbrowser.app.panes.quick_list import GoToDialog

        document, window = self._current, self._workspace.window()
        if document is None or not document.is_open:
            return
        dialog = GoToDialog(document, window)
        dialog.nodeChosen.connect(lambda path: self._navigation.go_to_node(document, path))
        dialog.keyChosen.connect(self._navigation.show_key)
        dialog.rowChosen.connect(self._navigation.show_row)
        dialog.show()


class PreferenceCommands(CommandGroup):
    """The preferences, and the themes of the menu View."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._preferences = workspace.preferences

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        themes = {f"theme_{theme}": partial(self._use_theme, theme) for theme, _title in THEMES}
        return {**by_name(self.preferences, self.toggle_internal), **themes}

    def conditions(self) -> dict[str, bool]:
        """Return which theme is in force, and what is ticked."""
        chosen = self._preferences.text("theme")
        themes = {f"is_{theme}_theme": theme == chosen for theme, _title in THEMES}
        return {**themes, "is_internal": self._preferences.is_on("internal")}

    def preferences(self) -> None:
        """Show the dialog of the preferences."""
        self._show()

    def compute(self) -> None:
        """Show where exports run, in the dialog of the preferences."""
        self._show().show_compute()

    def _show(self) -> PreferencesDialog:
        from refbrowser.app.dialogs.preferences_dialog import PreferencesDialog

        window = self._workspace.window()
        shown = window.findChild(PreferencesDialog)
        if shown is None:
            shown = PreferencesDialog(self._preferences, self._workspace.tasks, window)
        bring_up(shown)
        return shown

    def toggle_internal(self) -> None:
        """Show internal members among the attributes, or hide them."""
        self._preferences.set("internal", not self._preferences.is_on("internal"))
        self._workspace.update_actions()

    def _use_theme(self, theme: str) -> None:
        self._preferences.set("theme", theme)
        self._workspace.update_actions()


class HelpCommands(CommandGroup):
    """The commands of the menu Help."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._actions = workspace.actions_

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.manual, self.shortcuts, self.tour, self.about)

    def manual(self, page: str = "index") -> None:
        """Show a page of the manual."""
        from refbrowser.app.dialogs.manual_window import ManualWindow

        window = self._workspace.window()
        shown = window.findChild(ManualWindow) or ManualWindow(self._actions, window)
        shown.show_page(page)

    def shortcuts(self) -> None:
        """Show all keys."""
        from refbrowser.app.dialogs.shortcut_list import ShortcutList

        shown = self._workspace.window().findChild(ShortcutList) or ShortcutList(self._workspace.window())
        bring_up(shown)

    def offer_tour(self) -> None:
        """Offer the tour, once."""
        if not self._workspace.settings.was_toured():
            self.tour()

    def tour(self) -> None:
        """Show the cards of the tour over the window."""
        from refbrowser.app.frame.tour import Tour

        if (shown := self._workspace.window().findChild(Tour)) is not None:
            shown.end()
        self._workspace.settings.set_toured()
        tour = Tour(self._workspace.window(), self._workspace.centre, self._workspace.docks)
        tour.begun.connect(self._actions["open_sample"].trigger)

    def about(self) -> None:
        """Show the versions of the program and of what it stands on."""
        from refbrowser.app.dialogs.about import AboutDialog

        AboutDialog(self._workspace.window()).open()
