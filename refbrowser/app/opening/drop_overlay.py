"""What a drop will do, over the whole window while something is dragged."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget

from refbrowser.app.widgets import icons, theme


class DropOverlay(QFrame):
    """What a drop will do, over the whole window while something is dragged."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("dropOverlay")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._lines: tuple[str, str] = ("", "")
        self._accepts = True
        self.hide()

    def show_for(self, heading: str, detail: str, accepts: bool) -> None:
        """Cover the parent and say what will happen."""
        self._lines, self._accepts = (heading, detail), accepts
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.rect())
        self.setAccessibleDescription(f"{heading}. {detail}")
        self.raise_()
        self.show()
        self.update()

    def text(self) -> str:
        """Return the words shown."""
        return "\n".join(self._lines)

    def paintEvent(self, event: QPaintEvent) -> None:
        scheme = theme.colors()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QColor(scheme.surface)
        ground.setAlpha(225)
        painter.fillRect(self.rect(), ground)
        mark = scheme.accent if self._accepts else scheme.fault
        painter.setPen(QPen(QColor(mark), 2, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(14, 14, -14, -14), 12, 12)
        middle = self.rect().center()
        picture = icons.pixmap("drop" if self._accepts else "cancel", 48, mark, self.devicePixelRatioF())
        painter.drawPixmap(middle.x() - 24, middle.y() - 80, picture)
        painter.setPen(QColor(scheme.text))
        painter.setFont(theme.heading_font(6))
        painter.drawText(self.rect().adjusted(40, 30, -40, 30), Qt.AlignmentFlag.AlignCenter, self._lines[0])
        painter.setPen(QColor(scheme.muted))
        painter.setFont(self.font())
        painter.drawText(self.rect().adjusted(40, 90, -40, 90), Qt.AlignmentFlag.AlignCenter, self._lines[1])
        painter.end()
