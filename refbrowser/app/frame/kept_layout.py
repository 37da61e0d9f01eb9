"""How the window is laid out: tab and columns kept between runs, and the plot alone, which gives all back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence, QShortcut

from refbrowser.app.frame.centre import PLOT
from refbrowser.app.widgets.virtual_table import VirtualTable

if TYPE_CHECKING:
    from PySide6.QtCore import QByteArray
    from PySide6.QtWidgets import QMainWindow, QToolBar, QWidget

    from refbrowser.app.actions.actions import Actions
    from refbrowser.app.frame.centre import Centre
    from refbrowser.app.panes.attributes_pane import AttributesPane
    from refbrowser.app.settings.settings import Settings
    from refbrowser.app.widgets.docks import Docks


_TAB, _DOCKS = "centreTabs", "docks"


@runtime_checkable
class WindowLook(Protocol):
    """A pane that tells in numbers what it looks like."""

    def look(self) -> Sequence[int]:
        """Return how it looks."""

    def set_look(self, look: Sequence[int]) -> None:
        """Look so again; as in the beginning where nothing is given."""


class LayoutKept:
    """Restores and keeps what Qt's own state of a window leaves out."""

    def __init__(
        self,
        window: QWidget,
        *,
        centre: Centre,
        docks: Docks,
        attributes: AttributesPane,
        settings: Settings,
    ) -> None:
        self._window = window
        self._centre, self._docks, self._attributes = centre, docks, attributes
        self._settings = settings
        self._looks: dict[str, WindowLook] = {}

    def restore(self) -> None:
        """Bring back tab and columns as they were kept."""
        tab = self._settings.view(_TAB)
        tabs = self._centre.tabs
        if tab and tab[0] < tabs.count() and tabs.isTabVisible(tab[0]):
            tabs.setCurrentIndex(tab[0])
        self.restore_columns(self._window)
        self._docks.set_look(self._settings.view(_DOCKS))

    def restore_look(self, name: str, pane: WindowLook) -> None:
        """Give a pane that is made late what was kept of it under a name, and keep it from now on."""
        self._looks[name] = pane
        pane.set_look(self._settings.view(name))

    def restore_columns(self, parent: QWidget) -> None:
        """Give the tables below a widget the widths that were kept for them."""
        for table in parent.findChildren(VirtualTable):
            widths = self._settings.view(table.objectName())
            if widths:
                table.set_column_widths(widths)

    def keep(self) -> None:
        """Keep the tab in front, and the widths of columns that the user changed."""
        settings = self._settings
        settings.set_view(_TAB, [self._centre.tabs.currentIndex()])
        settings.set_view(_DOCKS, self._docks.look())
        for name, pane in self._looks.items():
            settings.set_view(name, pane.look())
        for table in self._window.findChildren(VirtualTable):
            if table.objectName() and not table.is_fitted():
                settings.set_view(table.objectName(), table.column_widths())

    def forget(self) -> None:
        """Let every table share out its room again."""
        self._settings.clear_views()
        for table in self._window.findChildren(VirtualTable):
            table.fit_columns()
        self._attributes.tree.name_column.forget()
        for pane in self._looks.values():
            pane.set_look(())
        if self._centre.table is not None:
            self._centre.table.grid.keep_widths({})


class PlotAlone(QObject):
    """Puts away docks, menus, tool bar, tabs and status bar of one window, and brings them back.

    Signals
    -------
    changed()
        The plot is alone from now on, or no longer.
    """

    changed = Signal()

    def __init__(
        self,
        window: QMainWindow,
        *,
        centre: Centre,
        docks: Docks,
        actions: Actions,
        tool_bar: QToolBar,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._centre = centre
        self._docks = docks
        self._actions = actions
        self._tool_bar = tool_bar
        self._before: tuple[QByteArray, int, QWidget | None] | None = None
        centre.plotChosen.connect(lambda _plot: self.tell_plots())
        self._escape = QShortcut(window)
        self._escape.activated.connect(self._stop_or_leave)

    @property
    def is_on(self) -> bool:
        """Whether the plot is alone."""
        return self._before is not None

    def toggle(self) -> None:
        """Show the plot alone, or all again."""
        if self.is_on:
            self.leave()
        else:
            self._enter()

    def _enter(self) -> None:
        tabs = self._centre.tabs
        self._before = (
            self._window.saveState(),
            tabs.currentIndex(),
            self._window.focusWidget(),
        )
        for dock in self._docks.all():
            dock.hide()
        for part in self._frame():
            part.hide()
        self._centre.show_tab(PLOT)
        self.tell_plots()
        tabs.currentChanged.connect(self._page_chosen)
        self._take_escape(taken=True)
        self.changed.emit()

    def leave(self) -> None:
        """Bring everything back; nothing happens where the plot is not alone."""
        if self._before is None:
            return
        state, tab, focused = self._before
        self._before = None
        self._centre.tabs.currentChanged.disconnect(self._page_chosen)
        self._take_escape(taken=False)
        for part in self._frame():
            part.show()
        self._window.restoreState(state)
        self._centre.tabs.setCurrentIndex(tab)
        if focused is not None:
            focused.setFocus()
        self.tell_plots()
        self.changed.emit()

    def tell_plots(self) -> None:
        """Let the active view have the way back, where it is alone with the others."""
        for plot in self._centre.plots():
            plot.set_alone(is_alone=self.is_on and plot is self._centre.plot)

    def _page_chosen(self, number: int) -> None:
        """Bring everything back around another page: alone it would have no way out."""
        if self._before is not None:
            self._before = (self._before[0], number, None)
            self.leave()

    def _take_escape(self, *, taken: bool) -> None:
        """Let Esc leave; it stops what runs at all other times, and a key can only do one of both."""
        self._actions["cancel_newest"].setShortcut(QKeySequence("" if taken else "Esc"))
        self._escape.setKey(QKeySequence("Esc" if taken else ""))

    def _frame(self) -> list[QWidget]:
        return [
            self._window.menuBar(),
            self._tool_bar,
            self._window.statusBar(),
            self._centre.tabs.tabBar(),
        ]

    def _stop_or_leave(self) -> None:
        """Stop playing, where something plays; else leave."""
        plot = self._centre.plot
        if plot is not None and plot.tools.is_playing:
            plot.tools.escape()
        else:
            self.leave()
