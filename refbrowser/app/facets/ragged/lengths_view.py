"""How many rows are how long, as bars; each can be pointed at, or reached with the arrow keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from refbrowser.app.widgets import theme
from refbrowser.views.words import count_text

if TYPE_CHECKING:
    from refbrowser.views.nested.element_parts import Bar

#: What the height of a bar counts.
_UP = "rows"
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


def bar_words(bar: Bar) -> str:
    """Return what a bar says."""
    rows = f"{count_text(bar.count)} row{'' if bar.count == 1 else 's'}"
    length = f"{bar.low}" if bar.low == bar.high else f"{bar.low} to {bar.high}"
    return f"length {length}: {rows}"


class LengthsView(QWidget):
    """Paints the histogram.

    Signals
    -------
    pointed(str)
        What the bar under the pointer, or the keyboard's cursor, says; empty for none.
    """

    pointed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("raggedLengths")
        self.setAccessibleName("Histogram of the lengths of rows")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(150, 90)
        self._bars: Sequence[Bar] = ()
        self._at: int | None = None
        self._of = ""

    def set_bars(self, bars: Sequence[Bar], of: str = "length of a row") -> None:
        """Show other bars; `of` says what they are of."""
        self._bars, self._at, self._of = tuple(bars), None, of
        most = max(self._bars, key=lambda bar: bar.count, default=None)
        self.setAccessibleDescription("" if most is None else f"Most frequent: {bar_words(most)}")
        self.update()

    def bars(self) -> Sequence[Bar]:
        """Return the bars shown."""
        return self._bars

    # Geometry and painting

    def _area(self) -> QRectF:
        line = self.fontMetrics().height()
        left = max(map(self.fontMetrics().horizontalAdvance, (self._top(), _UP))) + theme.MEDIUM
        whole = QRectF(self.rect())
        return whole.adjusted(left, line * 0.7, -theme.MEDIUM, -2 * line - theme.SMALL)

    def _top(self) -> str:
        return count_text(max((bar.count for bar in self._bars), default=0))

    def _rect(self, number: int) -> QRectF:
        area, bar = self._area(), self._bars[number]
        width = area.width() / len(self._bars)
        height = area.height() * bar.count / max(1, max(each.count for each in self._bars))
        # What is there is seen, however rare it is.
        height = max(height, 2.0) if bar.count else 0.0
        gap = min(2.0, width * 0.15)
        return QRectF(area.left() + number * width + gap / 2, area.bottom() - height, width - gap, height)

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.colors()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colors.surface))
        if self._bars:
            self._paint_bars(painter)
        border = QColor(colors.accent if self.hasFocus() else colors.border)
        painter.setPen(QPen(border, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()

    def _paint_bars(self, painter: QPainter) -> None:
        colors, area = theme.colors(), self._area()
        for number in range(len(self._bars)):
            chosen = number == self._at
            painter.fillRect(self._rect(number), QColor(colors.text if chosen else colors.accent))
        painter.setPen(QPen(QColor(colors.muted), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        line = self.fontMetrics().height()
        below = QRectF(area.left(), area.bottom() + 2, area.width(), line)
        low, high = str(self._bars[0].low), str(self._bars[-1].high)
        if low == high:
            painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, low)
        else:
            painter.drawText(below, Qt.AlignmentFlag.AlignLeft, low)
            painter.drawText(below, Qt.AlignmentFlag.AlignRight, high)
        painter.drawText(below.translated(0, line), Qt.AlignmentFlag.AlignHCenter, self._of)
        beside = QRectF(theme.SMALL, area.top() - line / 2, area.left() - theme.MEDIUM, line)
        for text in (self._top(), _UP):
            painter.drawText(beside, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            beside.translate(0, line)

    # Events

    def _point(self, number: int | None) -> None:
        if number != self._at:
            self._at = number
            self.pointed.emit("" if number is None else bar_words(self._bars[number]))
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        area, place = self._area(), event.position()
        inside = bool(self._bars) and area.left() <= place.x() < area.right()
        number = int((place.x() - area.left()) / area.width() * len(self._bars)) if inside else None
        self._point(number)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._point(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None or not self._bars or event.modifiers():
            event.ignore()
            return
        first = 0 if step > 0 else len(self._bars) - 1
        self._point(first if self._at is None else max(0, min(len(self._bars) - 1, self._at + step)))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()
