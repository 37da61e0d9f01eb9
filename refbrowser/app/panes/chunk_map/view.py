"""The map itself: paints cells, zooms and pans, and has a cursor that the keyboard moves."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
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

from refbrowser.app.panes.chunk_map.painting import MapPainter
from refbrowser.app.widgets import theme
from refbrowser.views.chunks.chunk_colouring import ColouredMap
from refbrowser.views.chunks.chunk_facts import GAP
from refbrowser.views.chunks.chunk_map import ChunkLayout
from refbrowser.views.chunks.chunk_pixels import Viewport

Cell = tuple[int, int]

#: One notch of the wheel, or one key, makes cells so many times larger.
ZOOM = 1.25
#: Cells that a step with Shift moves the cursor.
STRIDE = 10
_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class ChunkMapView(QWidget):
    """The cells of a chunk map.

    Signals
    -------
    hovered(object)
        Row and column of the cell under the pointer, None when it leaves.
    cursorMoved(object)
        The keyboard, or a click, put the cursor on a cell.
    chosen(object)
        A cell was clicked, or Return was pressed on it.
    viewMoved()
        Another part is seen, or another size of cells.
    copyAsked()
        The key under the cursor is to be copied.
    explainAsked()
        The chunk under the cursor is to be explained.
    nextAsked()
        The cursor is to go to the next chunk like the one under it.
    menuAsked(object)
        A menu for the cell under the cursor is wanted at a global position.
    """

    hovered = Signal(object)
    cursorMoved = Signal(object)
    chosen = Signal(object)
    viewMoved = Signal()
    copyAsked = Signal()
    explainAsked = Signal()
    nextAsked = Signal()
    menuAsked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chunkMapView")
        self.setAccessibleName("Chunk map")
        self.setToolTip("")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(120, 32)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport = Viewport()
        self.painting = MapPainter(self.viewport)
        self.layout_: ChunkLayout | None = None
        self.cursor_cell: Cell | None = None
        self.hover_cell: Cell | None = None
        self._pressed: QPointF | None = None
        self._dragged: QPointF | None = None
        self._is_drag = False

    # What is shown

    def set_layout(self, layout: ChunkLayout | None, same: bool = False) -> None:
        """Show another arrangement of chunks, all of it, nothing being known of them yet.

        The cells of the `same` array, after an edit, stay until they are looked at anew.
        """
        before = self.layout_
        self.layout_ = layout
        size = (0, 0) if layout is None else (layout.rows, layout.columns)
        if before is None or layout is None or (before.rows, before.columns) != size:
            self.viewport.set_cells(*size)
            self.cursor_cell = self.hover_cell = None
        if not (same and layout == before):
            self.painting.set_maps(())
        self.painting.outline = ()
        self.update()

    def set_maps(self, maps: Sequence[ColouredMap]) -> None:
        """Show coloured cells; later ones are of a part, in more detail."""
        self.painting.set_maps(maps)
        self.update()

    def set_outline(self, boxes: Sequence[tuple[int, int, int, int]]) -> None:
        """Outline boxes of cells (top, bottom, left, right): the chunks of the slice that is plotted."""
        if tuple(boxes) != self.painting.outline:
            self.painting.outline = tuple(boxes)
            self.update()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.painting.restyle()
        self.update()

    def place_cursor(self, cell: Cell | None) -> None:
        """Put the cursor on a cell and see it."""
        if cell is not None:
            self.viewport.show_cell(*cell)
        self._moved()
        self.cursor_cell = cell
        self.cursorMoved.emit(cell)

    def say(self, text: str) -> None:
        """Tell screen readers of the chunk under the cursor."""
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def fit(self) -> None:
        """See the whole map."""
        self.viewport.fit()
        self._moved()

    def zoom_by(self, steps: float, at: QPointF | None = None) -> None:
        """Make cells larger (or smaller), around a position of the widget, the cursor, or the middle."""
        ratio = self.devicePixelRatioF()
        if at is not None:
            x, y = at.x() * ratio, at.y() * ratio
        else:
            x, y = self._middle_of_cursor()
        self.viewport.zoom(ZOOM**steps, x, y)
        self._moved()

    def cell_at(self, position: QPointF) -> Cell | None:
        """Return the cell with a chunk at a position of the widget."""
        ratio = self.devicePixelRatioF()
        cell = self.viewport.cell_at(position.x() * ratio, position.y() * ratio)
        layout = self.layout_
        return cell if cell and layout is not None and layout.coords_at(*cell) is not None else None

    def centre_of(self, row: int, column: int) -> QPointF:
        """Return where the middle of a cell is, in the widget."""
        down, across = self.viewport.spans()
        ratio = self.devicePixelRatioF()
        return QPointF(across.edge(column + 0.5) / ratio, down.edge(row + 0.5) / ratio)

    # Events

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            facts = self.accessibleDescription() if self.hover_cell is not None else ""
            QToolTip.showText(event.globalPos(), theme.plain_tooltip(facts.replace(GAP, "\n")), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        self.painting.paint(self, self.cursor_cell, self.hover_cell)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QColor(theme.colors().accent))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
            painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        ratio = self.devicePixelRatioF()
        self.viewport.resize(round(self.width() * ratio), round(self.height() * ratio), ratio)
        self._moved()

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.angleDelta().x()
        if turned and self.layout_ is not None:
            self.zoom_by(turned / 120, event.position())
            self._point_at(event.position())
        event.accept()

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
            ratio = self.devicePixelRatioF()
            self._dragged = event.position()
            self.viewport.pan(step.x() * ratio, step.y() * ratio)
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._moved()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        # A drag that comes back to where it began is none the less a drag.
        clicked = self._pressed is not None and not self._is_drag
        self._pressed = self._dragged = None
        self.unsetCursor()
        if clicked and event.button() == Qt.MouseButton.LeftButton:
            cell = self.cell_at(event.position())
            if cell is not None:
                self.place_cursor(cell)
                self.chosen.emit(cell)
        self._point_at(event.position())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._set_hover(None)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            cell = self.cell_at(QPointF(event.pos()))
            if cell is not None:
                self.place_cursor(cell)
            place = event.globalPos()
        else:
            cell = self.cursor_cell or (0, 0)
            place = self.mapToGlobal(self.centre_of(*cell).toPoint())
        if self.cursor_cell is not None:
            self.menuAsked.emit(place)
        event.accept()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.layout_ is None or not self._use_key(event):
            super().keyPressEvent(event)
            return
        event.accept()

    def _use_key(self, event: QKeyEvent) -> bool:
        """Do what a key means; whether it means anything."""
        key, text = Qt.Key(event.key()), event.text()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copyAsked.emit()
        elif key in _MOVES:
            stride = STRIDE if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            self._step(*(part * stride for part in _MOVES[key]))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._go_to_end(key == Qt.Key.Key_End, whole=control)
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            seen = max(1, int(self.viewport.height / self.viewport.down))
            self._step(seen if key == Qt.Key.Key_PageDown else -seen, 0)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            if self.cursor_cell is not None:
                self.chosen.emit(self.cursor_cell)
        elif text in ("+", "="):
            self.zoom_by(1)
        elif text in ("-", "_"):
            self.zoom_by(-1)
        elif text.lower() == "r" and not control:
            self.fit()
        elif text.lower() == "e" and not control:
            self.explainAsked.emit()
        elif text.lower() == "n" and not control:
            self.nextAsked.emit()
        else:
            return False
        return True

    def _step(self, down: int, across: int) -> None:
        """Move the cursor; the first step puts it on the first chunk that is seen."""
        layout = self.layout_
        assert layout is not None
        if self.cursor_cell is None:
            rows, columns = self.viewport.visible()
            cell = (rows.start, columns.start)
        else:
            row, column = self.cursor_cell
            if layout.is_wrapped and abs(across) == 1 and not down:
                # Reading goes on in the next row.
                number = min(max(row * layout.columns + column + across, 0), layout.size - 1)
                row, column = divmod(number, layout.columns)
            cell = (
                min(max(row + down, 0), layout.rows - 1),
                min(
                    max(column + (0 if layout.is_wrapped and abs(across) == 1 else across), 0),
                    layout.columns - 1,
                ),
            )
        if layout.coords_at(*cell) is None:
            cell = divmod(layout.size - 1, layout.columns)
        self.place_cursor(cell)

    def _go_to_end(self, last: bool, whole: bool) -> None:
        layout = self.layout_
        assert layout is not None
        row = (self.cursor_cell or (0, 0))[0]
        if whole:
            row = layout.rows - 1 if last else 0
        cell = (row, layout.columns - 1 if last else 0)
        if layout.coords_at(*cell) is None:
            cell = divmod(layout.size - 1, layout.columns)
        self.place_cursor(cell)

    def _middle_of_cursor(self) -> tuple[float, float]:
        """Return the device pixel that stays in place when keys zoom."""
        rows, columns = self.viewport.visible()
        cell = self.cursor_cell
        if cell is not None and cell[0] in rows and cell[1] in columns:
            down, across = self.viewport.spans()
            return across.edge(cell[1] + 0.5), down.edge(cell[0] + 0.5)
        return self.viewport.width / 2, self.viewport.height / 2

    def _point_at(self, position: QPointF) -> None:
        self._set_hover(self.cell_at(position))

    def _set_hover(self, cell: Cell | None) -> None:
        if cell != self.hover_cell:
            self.hover_cell = cell
            self.hovered.emit(cell)
            self.update()

    def _moved(self) -> None:
        self.update()
        self.viewMoved.emit()
