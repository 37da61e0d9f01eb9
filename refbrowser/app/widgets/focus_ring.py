"""The ring around the combo box that has the keyboard; the style sheet rings the others."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QComboBox, QWidget

from refbrowser.app.widgets import theme

#: That of the corners of a combo box.
_RADIUS = 3


class FocusRing(QWidget):
    """Lies over a widget until it is taken away; the mouse and the layout know nothing of it.

    A border in the style sheet would take its arrow from a combo box.
    """

    def __init__(self, around: QWidget) -> None:
        super().__init__(around)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.resize(around.size())
        around.installEventFilter(self)
        self.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.resize(watched.size())
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(theme.colors().accent))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)
        painter.end()


def _moved(before: QWidget | None, now: QWidget | None) -> None:
    if isinstance(before, QComboBox):
        for ring in before.findChildren(FocusRing):
            ring.hide()
            ring.deleteLater()
    if isinstance(now, QComboBox):
        FocusRing(now)


def ring_focus(application: QApplication) -> None:
    """Ring each combo box that gets the keyboard, from now on."""
    application.focusChanged.connect(_moved)
