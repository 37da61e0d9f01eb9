"""Small widgets that every pane is made of."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton, QWidget

from refbrowser.app import icons, theme


class IconLabel(QWidget):
    """An icon beside words, in a colour of the scheme that is in force when it is painted."""

    def __init__(self, name: str, role: str, size: int = 18) -> None:
        super().__init__()
        self._name, self._role, self._size = name, role, size
        self.setFixedSize(size, size)

    def paintEvent(self, event: QPaintEvent) -> None:
        color = getattr(theme.colors(), self._role)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, icons.pixmap(self._name, self._size, color, self.devicePixelRatioF()))
        painter.end()


def plain_label(text: str = "", *, role: str = "", wrap: bool = True) -> QLabel:
    """Return a label that shows text as it stands and lets it be selected."""
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    label.setWordWrap(wrap)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        label.setProperty("role", role)
    return label


def push_button(text: str, name: str, clicked: Callable[[], object], *, flat: bool = False) -> QPushButton:
    """Return a named button; screen readers read its text."""
    button = QPushButton(text)
    button.setObjectName(name)
    button.setAccessibleName(text.replace("&", "").rstrip("…"))
    button.setFlat(flat)
    button.setAutoDefault(False)
    button.clicked.connect(lambda _checked=False: clicked())
    return button


def tool_button(name: str, tip: str, text: str = "") -> QToolButton:
    """Return a named button for a tool bar; screen readers read its tool tip."""
    button = QToolButton()
    button.setObjectName(name)
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    return button


def hint_label(text: str) -> QLabel:
    """Return the words of a pane that has nothing to show yet."""
    # Not one that can be selected: what Qt loads for that would take a tenth of the time to the first paint.
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setProperty("role", "muted")
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
    return label
