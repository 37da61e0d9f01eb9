"""The plot alone in the window: everything else is put away, and comes back as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut

from refbrowser.app.shell.centre import PLOT

if TYPE_CHECKING:
    from PySide6.QtCore import QByteArray
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.shell.main_window import MainWindow


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
