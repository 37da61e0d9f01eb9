"""How the window is laid out: tab and columns kept between runs, and the plot alone, which gives all back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut

from refbrowser.app.shell.centre import PLOT
from refbrowser.app.widgets.virtual_table import VirtualTable

if TYPE_CHECKING:
    from PySide6.QtCore import QByteArray
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.facets.messages_pane import MessagesPane
    from refbrowser.app.shell.main_window import MainWindow


_TAB, _MESSAGES = "centreTabs", "messagesLook"


class LayoutKept:
    """Restores and keeps what Qt's own state of a window leaves out."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        tab = window.settings.view(_TAB)
        tabs = window.centre.tabs
        if tab and tab[0] < tabs.count() and tabs.isTabVisible(tab[0]):
            tabs.setCurrentIndex(tab[0])
        self.restore_columns(window)

    def restore_messages(self, pane: MessagesPane) -> None:
        """Give the pane of messages, which is made late, what was kept of it."""
        pane.set_look(self._window.settings.view(_MESSAGES))
        self.restore_columns(pane)

    def restore_columns(self, parent: QWidget) -> None:
        """Give the tables below a widget the widths that were kept for them."""
        for table in parent.findChildren(VirtualTable):
            widths = self._window.settings.view(table.objectName())
            if widths:
                table.set_column_widths(widths)

    def keep(self) -> None:
        """Keep the tab in front, and the widths of columns that the user changed."""
        settings = self._window.settings
        settings.set_view(_TAB, [self._window.centre.tabs.currentIndex()])
        link = self._window.messages.link
        if link is not None:
            settings.set_view(_MESSAGES, link.pane.look())
        for table in self._window.findChildren(VirtualTable):
            if table.objectName() and not table.is_fitted():
                settings.set_view(table.objectName(), table.column_widths())

    def forget(self) -> None:
        """Let every table share out its room again."""
        self._window.settings.clear_views()
        for table in self._window.findChildren(VirtualTable):
            table.fit_columns()
        self._window.attributes.tree.name_column.forget()
        link = self._window.messages.link
        if link is not None:
            link.pane.set_look(())
        if self._window.centre.table is not None:
            self._window.centre.table.grid.keep_widths({})


class PlotAlone(QObject):
    """Puts away docks, menus, tool bar, tabs and status bar of one window, and brings them back.

    Signals
    -------
    changed()
        The plot is alone from now on, or no longer.
    """

    changed = Signal()

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._before: tuple[QByteArray, int, QWidget | None] | None = None
        self._escape = QShortcut(window)
        self._escape.activated.connect(self.leave)

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
        window, tabs = self._window, self._window.centre.tabs
        self._before = (window.saveState(), tabs.currentIndex(), window.focusWidget())
        for dock in window.docks.all():
            dock.hide()
        for part in self._frame():
            part.hide()
        if window.centre.plot is not None:
            window.centre.plot.keys.add(Qt.Key.Key_Escape, self._escape_in_plot)
        window.centre.show_tab(PLOT)
        tabs.currentChanged.connect(self._page_chosen)
        self._take_escape(taken=True)
        self.changed.emit()

    def leave(self) -> None:
        """Bring everything back; nothing happens where the plot is not alone."""
        if self._before is None:
            return
        window, (state, tab, focused) = self._window, self._before
        self._before = None
        window.centre.tabs.currentChanged.disconnect(self._page_chosen)
        self._take_escape(taken=False)
        for part in self._frame():
            part.show()
        window.restoreState(state)
        window.centre.tabs.setCurrentIndex(tab)
        if window.centre.plot is not None:
            window.centre.plot.keys.add(Qt.Key.Key_Escape, window.centre.plot.tools.escape)
        if focused is not None:
            focused.setFocus()
        self.changed.emit()

    def _page_chosen(self, number: int) -> None:
        """Bring everything back around another page: alone it would have no way out."""
        if self._before is not None:
            self._before = (self._before[0], number, None)
            self.leave()

    def _take_escape(self, *, taken: bool) -> None:
        """Let Esc leave; it stops what runs at all other times, and a key can only do one of both."""
        self._window.actions_["cancel_newest"].setShortcut(QKeySequence("" if taken else "Esc"))
        self._escape.setKey(QKeySequence("Esc" if taken else ""))

    def _frame(self) -> list[QWidget]:
        window = self._window
        return [window.menuBar(), window.tool_bar, window.statusBar(), window.centre.tabs.tabBar()]

    def _escape_in_plot(self) -> None:
        """Stop playing, where something plays; else leave."""
        plot = self._window.centre.plot
        if plot is not None and plot.tools.is_playing:
            plot.tools.escape()
        else:
            self.leave()
