"""What painted maps share: pointer, keyboard, cursor, words, and moving what is seen of them."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from PySide6.QtCore import QEvent, QPointF, Qt, Signal, SignalInstance
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from refbrowser.app.widgets import theme
from refbrowser.views.chunks.chunk_facts import GAP

Item = TypeVar("Item")


class _Painting(Protocol):
    """What paints a map."""

    def paint(self, painter: QPainter, widget: QWidget, cursor: Any, hover: Any) -> None: ...

    def restyle(self) -> None: ...


class _Viewport(Protocol):
    """Which part of a map is seen."""

    def fit(self) -> None: ...


class MapCanvas(QWidget, Generic[Item]):
    """A map of items, one of which may be under the pointer, and one under the cursor of the keyboard.

    Signals
    -------
    hovered(object)
        The item under the pointer, None when it leaves.
    cursorMoved(object)
        The keyboard, or a click, put the cursor on an item.
    chosen(object)
        An item was clicked, or Return was pressed on it.
    viewMoved()
        Another part is seen, or another size of items.
    copyAsked()
        The key under the cursor is to be copied.
    menuAsked(object)
        A menu for the item under the cursor is wanted at a global position.
    """

    hovered = Signal(object)
    cursorMoved = Signal(object)
    chosen = Signal(object)
    viewMoved = Signal()
    copyAsked = Signal()
    menuAsked = Signal(object)

    def __init__(
        self, name: str, title: str, viewport: _Viewport, painting: _Painting, parent: QWidget | None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setToolTip("")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport = viewport
        self.painting = painting
        self.cursor_item: Item | None = None
        self.hover_item: Item | None = None
        self._pressed: QPointF | None = None
        self._dragged: QPointF | None = None
        self._is_drag = False

    # What each map says of itself

    def has_map(self) -> bool:
        """Tell whether there is anything to move in."""
        raise NotImplementedError

    def item_at(self, position: QPointF) -> Item | None:
        """Return the item at a position of the widget."""
        raise NotImplementedError

    def put_cursor(self, position: QPointF) -> bool:
        """Put the cursor on the item at a position of the widget; whether there is one."""
        raise NotImplementedError

    def cursor_place(self) -> QPointF:
        """Return where the item under the cursor is, in the widget."""
        raise NotImplementedError

    def zoom_by(self, steps: float, at: QPointF | None = None) -> None:
        """Make items larger (or smaller), around a position of the widget, the cursor, or the middle."""
        raise NotImplementedError

    def _pan(self, step: QPointF) -> None:
        """Move what is seen with the pointer."""
        raise NotImplementedError

    def _fill(self, ratio: float) -> None:
        """Give the viewport the size of the widget, with so many device pixels for each of its pixels."""
        raise NotImplementedError

    # What is shown

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.painting.restyle()
        self.update()

    def say(self, text: str) -> None:
        """Tell screen readers, and the tool tip, of the item under pointer or cursor."""
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def fit(self) -> None:
        """See the whole map."""
        self.viewport.fit()
        self.moved()

    def moved(self) -> None:
        """Tell that another part is seen: the viewport is another one."""
        self.update()
        self.viewMoved.emit()

    def _point_at(self, position: QPointF) -> None:
        self._set_hover(self.item_at(position))

    def _set_hover(self, item: Item | None) -> None:
        if item != self.hover_item:
            self.hover_item = item
            self.hovered.emit(item)
            self.update()

    def _take(self, position: QPointF, told: SignalInstance) -> None:
        """Put the cursor on what lies at a position, and tell it."""
        if self.put_cursor(position):
            told.emit(self.cursor_item)

    # Events

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            facts = self.accessibleDescription() if self.hover_item is not None else ""
            QToolTip.showText(event.globalPos(), theme.plain_tooltip(facts.replace(GAP, "\n")), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.painting.paint(painter, self, self.cursor_item, self.hover_item)
            painter.restore()
            if self.hasFocus():
                painter.setPen(QColor(theme.colors().accent))
                painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        finally:
            # A painter that is left open ends the program with the widget.
            painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fill(self.devicePixelRatioF())
        self.moved()

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.angleDelta().x()
        if turned and self.has_map():
            self._turn_wheel(turned / 120, event)
            self._point_at(event.position())
        event.accept()

    def _turn_wheel(self, notches: float, event: QWheelEvent) -> None:
        self.zoom_by(notches, event.position())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed = self._dragged = event.position()
            self._is_drag = False
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None or self._dragged is None:
            self._point_at(event.position())
            return
        moved = (event.position() - self._pressed).manhattanLength()
        self._is_drag = self._is_drag or moved >= QApplication.startDragDistance()
        if self._is_drag:
            step = event.position() - self._dragged
            self._dragged = event.position()
            self._pan(step)
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.moved()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        # A drag that comes back to where it began is none the less a drag.
        clicked = self._pressed is not None and not self._is_drag
        self._pressed = self._dragged = None
        self.unsetCursor()
        if clicked and event.button() == Qt.MouseButton.LeftButton:
            self._take(event.position(), self.chosen)
        self._point_at(event.position())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._set_hover(None)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        place = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            self.put_cursor(QPointF(event.pos()))
        elif self.cursor_item is not None:
            place = self.mapToGlobal(self.cursor_place().toPoint())
        if self.cursor_item is not None:
            self.menuAsked.emit(place)
        event.accept()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.has_map() or not self._use_key(event):
            super().keyPressEvent(event)
            return
        event.accept()

    def _use_key(self, event: QKeyEvent) -> bool:
        """Do what a key means on every map; whether it means anything."""
        text = event.text()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copyAsked.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            if self.cursor_item is not None:
                self._choose(control=control)
        elif text in ("+", "="):
            self.zoom_by(1)
        elif text in ("-", "_"):
            self.zoom_by(-1)
        elif text.lower() == "r" and not control:
            self.fit()
        else:
            return False
        return True

    def _choose(self, *, control: bool) -> None:
        """Choose the item under the cursor, with Control pressed or not."""
        self.chosen.emit(self.cursor_item)
