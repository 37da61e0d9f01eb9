"""What the window looked like: the tab in front and the columns that were drawn wider, kept between runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.widgets.virtual_table import VirtualTable

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.facets.stream.messages_pane import MessagesPane
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
