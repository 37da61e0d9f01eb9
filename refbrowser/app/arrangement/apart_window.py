"""A window of its own for views that were taken out of the main one."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from refbrowser.app.arrangement.view_group import ViewGroup
from refbrowser.app.widgets import theme

#: A new window is so large at least, in pixels.
_LEAST = QSize(420, 340)


class ApartWindow(QWidget):
    """Holds one group of views; with the main window it is minimised and closed.

    Signals
    -------
    closed(object)
        The user closed it: its views go.
    """

    closed = Signal(object)

    def __init__(self, group: ViewGroup, main: QWidget) -> None:
        super().__init__(main, Qt.WindowType.Window)
        self.setObjectName("apartWindow")
        self.group = group
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.addWidget(group)
        group.show()

    def place_beside(self, place: QRect) -> None:
        """Be as large as a view was, near where it was or was dropped, on the screen."""
        room = self.screen().availableGeometry()
        size = place.size().expandedTo(_LEAST).boundedTo(room.size())
        left = max(room.left(), min(place.left(), room.right() - size.width()))
        top = max(room.top(), min(place.top(), room.bottom() - size.height()))
        self.setGeometry(left, top, size.width(), size.height())

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.closed.emit(self)
