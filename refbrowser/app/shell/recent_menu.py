"""The submenu of the documents that were opened lately."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from refbrowser.app.widgets.theme import plain_tooltip
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.shell.main_window import MainWindow

#: Characters of a path that are shown.
_SHOWN = 72


class RecentMenu(QObject):
    """Fills the submenu whenever it is about to be shown."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._menu = window.actions_.menu("Open &recent")
        self._menu.setToolTipsVisible(True)
        self._clear = window.actions_["clear_recent"]
        self._made: list[QAction] = []
        self._menu.aboutToShow.connect(self.fill)
        self.fill()

    def fill(self) -> None:
        """List the documents, above the action that forgets them."""
        for action in self._made:
            self._menu.removeAction(action)
            action.deleteLater()
        self._made = []
        for number, path in enumerate(self._window.settings.recent()):
            name = one_line(path)
            shown = name if len(name) <= _SHOWN else f"…{name[1 - _SHOWN :]}"
            mark = f"&{number + 1}  " if number < 9 else ""
            action = QAction(mark + shown.replace("&", "&&"), self._menu)
            action.setObjectName(f"action_recent_{number}")
            action.setToolTip(plain_tooltip(path))
            action.triggered.connect(lambda _checked=False, path=path: self._window.open_recent(path))
            self._made.append(action)
        separator = QAction(self._menu)
        separator.setSeparator(True)
        self._made.append(separator)
        self._menu.insertActions(self._clear, self._made)
        self._window.update_actions()
