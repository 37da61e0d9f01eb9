"""What views share that paint their rows or cells themselves."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QColor, QFocusEvent, QHelpEvent, QPainter
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from refbrowser.app.widgets import theme

_STYLES = (QEvent.Type.FontChange, QEvent.Type.StyleChange, QEvent.Type.PaletteChange)


class PaintedView(QAbstractScrollArea):
    """Words where there is nothing to paint, and what fonts, the keyboard and screen readers ask for."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._placeholder = ""
        self.setCornerWidget(QWidget())
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)

    def current_rect(self) -> QRect | None:
        """Return where what is current is painted, in the viewport's coordinates."""
        raise NotImplementedError

    def restyle(self) -> None:
        """Measure again: fonts or colours are other ones."""
        raise NotImplementedError

    def show_tool_tip(self, event: QHelpEvent) -> None:
        """Show the tool tip of what the pointer is on, or none."""
        raise NotImplementedError

    def set_placeholder(self, text: str) -> None:
        """Set the sentence shown where there is nothing to paint."""
        self._placeholder = text
        self.viewport().update()

    def paint_placeholder(self, painter: QPainter) -> None:
        """Paint that sentence."""
        painter.setPen(QColor(theme.colors().muted))
        area = self.viewport().rect().adjusted(theme.HUGE, theme.HUGE, -theme.HUGE, -theme.HUGE)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(area, flags, self._placeholder)

    def describe_current(self, words: str) -> None:
        """Let screen readers say what is current."""
        self.setAccessibleDescription(words)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def inputMethodQuery(self, query: Qt.InputMethodQuery) -> Any:
        place = self.current_rect() if query == Qt.InputMethodQuery.ImCursorRectangle else None
        if place is not None:
            # Where the menu goes that a key asks for.
            return place.intersected(self.viewport().rect())
        return super().inputMethodQuery(query)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in _STYLES:
            self.restyle()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self.show_tool_tip(event)
            return True
        return super().viewportEvent(event)
