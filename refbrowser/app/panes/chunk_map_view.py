"""The chunk map as a widget: painted, moved, enlarged, with a cursor for the keyboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from refbrowser.app.panes.chunk_map_controls import GLYPHS, ink_on, look_of, mark_colours, tiles
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.map_canvas import MapCanvas
from refbrowser.views.chunks.chunk_colouring import ColourBy, ColouredMap
from refbrowser.views.chunks.chunk_map import ChunkLayout
from refbrowser.views.chunks.chunk_pixels import Viewport, draw_lines, mark_few, painted, pooled

if TYPE_CHECKING:
    from refbrowser.views.chunks.chunk_colouring import ColouredMap
    from refbrowser.views.chunks.chunk_pixels import Viewport


Cell = tuple[int, int]
Box = tuple[int, int, int, int]

#: Cells of at least so many pixels have borders, a glyph, their number.
_BORDERED, _GLYPH = 6, 13
#: Cells of less are marked where they should not be missed.
_MARKED = 3
_GLYPH_SIZE, _LABEL_PAD = 11, 5
#: Cells of at least so many pixels have a mark in their corner where an edit changed them; its side.
_CORNERED, _CORNER = 9, 9
#: Patterns that need a plain ground under a text.
_DENSE = ("cross", "diagonal", "grid", "lines", "bars")
#: Glyphs and numbers that are drawn at most.
_TEXTS_MOST = 900


class MapPainter:
    """Keeps the image of the cells until they, their colours or the viewport change."""

    def __init__(self, viewport: Viewport) -> None:
        self._viewport = viewport
        self.maps: tuple[ColouredMap, ...] = ()
        self.outline: tuple[Box, ...] = ()
        self._key: tuple[object, ...] | None = None
        self._tiles: tuple[tuple[object, ...], np.ndarray] | None = None
        self._image: QImage | None = None
        self._pixels: np.ndarray | None = None
        self._numbers: np.ndarray | None = None

    def set_maps(self, maps: Sequence[ColouredMap]) -> None:
        """Paint other cells."""
        self.maps = tuple(maps)
        self._key = None

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self._key = None

    def shown(self) -> ColouredMap | None:
        """Return the map that is painted: the last one that has all that is seen, else the first."""
        rows, columns = self._viewport.visible()
        for each in reversed(self.maps):
            inside = not rows or (each.rows.start <= rows[0] and rows[-1] < each.rows.stop)
            inside &= not columns or (each.columns.start <= columns[0] and columns[-1] < each.columns.stop)
            if inside:
                return each
        return self.maps[0] if self.maps else None

    def paint(self, painter: QPainter, widget: QWidget, cursor: Cell | None, hover: Cell | None) -> None:
        """Paint everything on a widget."""
        colors, shown = theme.colors(), self.shown()
        painter.fillRect(widget.rect(), QColor(colors.surface))
        if shown is not None:
            self._make_image(shown, colors)
        if shown is not None and self._image is not None:
            ratio = widget.devicePixelRatioF()
            self._image.setDevicePixelRatio(ratio)
            painter.drawImage(0, 0, self._image)
            painter.scale(1 / ratio, 1 / ratio)
            self._draw_corners(painter, shown, colors, ratio)
            self._draw_texts(painter, widget, shown, ratio)
            self._draw_outline(painter, colors, ratio)
            self._draw_box(painter, hover, QColor(colors.text), 1.0 * ratio, colors)
            strong = QColor(colors.accent if widget.hasFocus() else colors.text)
            self._draw_box(painter, cursor, strong, 2.0 * ratio, colors)

    def _make_image(self, shown: ColouredMap, colors: theme.Colors) -> None:
        key = (id(shown), colors, *self._viewport.state())
        if key == self._key or not (self._viewport.width and self._viewport.height):
            return
        self._key = key
        down, across = self._viewport.spans()
        numbers = pooled(shown.classes, shown.rows, shown.columns, down, across)
        if self._tiles is None or self._tiles[0] != (shown.legend, colors):
            self._tiles = (shown.legend, colors), tiles(shown.legend)
        pixels = painted(numbers, self._tiles[1])
        if min(down.scale, across.scale) < _MARKED * self._viewport.ratio:
            mark_few(pixels, numbers, mark_colours(shown.legend))
        least = _BORDERED * self._viewport.ratio
        border = QColor(colors.surface).rgb()
        rows, columns = self._viewport.visible()
        ends_down = round(down.edge(rows.start)), round(down.edge(rows.stop))
        ends_across = round(across.edge(columns.start)), round(across.edge(columns.stop))
        if down.scale >= least:
            draw_lines(pixels, down, rows, ends_across, border, axis=0)
        if across.scale >= least:
            draw_lines(pixels, across, columns, ends_down, border, axis=1)
        # The image shares the memory of the array, which must live as long.
        self._pixels, self._numbers = pixels, numbers
        high, wide = pixels.shape
        self._image = QImage(pixels.data, wide, high, wide * 4, QImage.Format.Format_RGB32)

    # Over the cells

    def _draw_corners(
        self, painter: QPainter, shown: ColouredMap, colors: theme.Colors, ratio: float
    ) -> None:
        """Mark the corner of chunks that edits changed, whatever the cells are coloured by."""
        down, across = self._viewport.spans()
        rows, columns = self._viewport.visible()
        if shown.change is None or shown.by is ColourBy.CHANGE:
            return
        if min(down.scale, across.scale) < _CORNERED * ratio or len(rows) * len(columns) > _TEXTS_MOST:
            return
        side = min(_CORNER * ratio, down.scale / 2, across.scale / 2)
        painter.setPen(QPen(QColor(colors.surface), ratio))
        painter.setBrush(QColor(colors.changed))
        for row in rows:
            for column in columns:
                if shown.is_changed(row, column):
                    corner = self._rect((row, row + 1, column, column + 1)).topRight()
                    left, below = corner - QPointF(side, 0), corner + QPointF(0, side)
                    painter.drawPolygon([left, corner, below])

    def _draw_texts(self, painter: QPainter, widget: QWidget, shown: ColouredMap, ratio: float) -> None:
        """Draw glyphs, and the number of each chunk where there is room."""
        down, across = self._viewport.spans()
        rows, columns = self._viewport.visible()
        if min(down.scale, across.scale) < _GLYPH * ratio or len(rows) * len(columns) > _TEXTS_MOST:
            return
        font = widget.font()
        font.setPixelSize(round(_GLYPH_SIZE * ratio))
        painter.setFont(font)
        measure = QFontMetricsF(font)
        last = shown.layout.coords_at(rows[-1], columns[-1]) or shown.layout.coords_at(rows[0], columns[-1])
        widest = measure.horizontalAdvance(_label(shown, last) if last is not None else "0000")
        has_room = (
            across.scale >= widest + 2 * _LABEL_PAD * ratio and down.scale >= measure.height() + 2 * ratio
        )
        room_for_both = across.scale >= widest + (2 * _LABEL_PAD + _GLYPH_SIZE + 4) * ratio
        for row in rows:
            for column in columns:
                coords = shown.layout.coords_at(row, column)
                if coords is None:
                    continue
                entry = shown.class_at(row, column)
                glyph = GLYPHS.get(entry.style, "")
                text = _label(shown, coords) if has_room and (room_for_both or not glyph) else ""
                text = f"{glyph} {text}".strip()
                if text:
                    area = self._rect((row, row + 1, column, column + 1))
                    ground, _mark, pattern = look_of(entry)
                    if pattern in _DENSE:
                        # Between the lines of a pattern a text cannot be read.
                        around = measure.boundingRect(text).adjusted(-2 * ratio, 0, 2 * ratio, 0)
                        around.moveCenter(area.center())
                        painter.fillRect(around.intersected(area), ground)
                    painter.setPen(ink_on(entry))
                    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)

    def _draw_outline(self, painter: QPainter, colors: theme.Colors, ratio: float) -> None:
        """Draw a dashed line around the chunks of the slice that is plotted."""
        for box in self.outline:
            area = self._rect(box).adjusted(ratio, ratio, -ratio, -ratio)
            area = area.intersected(QRectF(-9, -9, self._viewport.width + 18, self._viewport.height + 18))
            if area.isEmpty():
                continue
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colors.surface), 3 * ratio))
            painter.drawRect(area)
            pen = QPen(QColor(colors.text), 1.5 * ratio)
            pen.setDashPattern([4, 3])
            painter.setPen(pen)
            painter.drawRect(area)

    def _draw_box(
        self, painter: QPainter, cell: Cell | None, color: QColor, width: float, colors: theme.Colors
    ) -> None:
        """Draw a frame around a cell; around a point that can be seen where the cell is smaller."""
        if cell is None:
            return
        area = self._rect((cell[0], cell[0] + 1, cell[1], cell[1] + 1))
        least = 7 * self._viewport.ratio
        if area.width() < least or area.height() < least:
            wide, high = max(area.width(), least), max(area.height(), least)
            area = QRectF(area.center().x() - wide / 2, area.center().y() - high / 2, wide, high)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colors.surface), width + 2 * self._viewport.ratio))
        painter.drawRect(area)
        painter.setPen(QPen(color, width))
        painter.drawRect(area)

    def _rect(self, box: Box) -> QRectF:
        top, bottom, left, right = box
        down, across = self._viewport.spans()
        return QRectF(
            across.edge(left), down.edge(top), (right - left) * across.scale, (bottom - top) * down.scale
        )


def _label(shown: ColouredMap, coords: tuple[int, ...]) -> str:
    """Return the number of a chunk along the axes of the map."""
    state = shown.layout.slice
    return ".".join(str(coords[axis]) for axis in sorted(state.axes)) or "0"


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


class ChunkMapView(MapCanvas[Cell]):
    """The cells of a chunk map; an item is row and column of a cell.

    Signals
    -------
    explainAsked()
        The chunk under the cursor is to be explained.
    """

    explainAsked = Signal()
    viewport: Viewport
    painting: MapPainter

    def __init__(self, parent: QWidget | None = None) -> None:
        viewport = Viewport()
        super().__init__("chunkMapView", "Chunk map", viewport, MapPainter(viewport), parent)
        self.setMinimumSize(120, 32)
        self.layout_: ChunkLayout | None = None

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
            self.cursor_item = self.hover_item = None
        if not (same and layout == before):
            self.painting.set_maps(())
        self.painting.outline = ()
        self.update()

    def set_maps(self, maps: Sequence[ColouredMap]) -> None:
        """Show coloured cells; later ones are of a part, in more detail."""
        self.painting.set_maps(maps)
        self.update()

    def coloured(self) -> ColouredMap | None:
        """Return the whole map as it is known now."""
        maps = self.painting.maps
        return maps[0] if maps else None

    def set_outline(self, boxes: Sequence[tuple[int, int, int, int]]) -> None:
        """Outline boxes of cells (top, bottom, left, right): the chunks of the slice that is plotted."""
        if tuple(boxes) != self.painting.outline:
            self.painting.outline = tuple(boxes)
            self.update()

    def place_cursor(self, cell: Cell | None) -> None:
        """Put the cursor on a cell and see it."""
        if cell is not None:
            self.viewport.show_cell(*cell)
        self.moved()
        self.cursor_item = cell
        self.cursorMoved.emit(cell)

    def go_to_class(self, number: int) -> None:
        """Go to the next chunk of an entry of the legend."""
        shown = self.coloured()
        cell = None if shown is None else shown.next_of(number, *(self.cursor_item or (0, -1)))
        if cell is not None:
            self.place_cursor(cell)

    def go_to_alike(self) -> None:
        """Go to the next chunk like the one under the cursor."""
        shown, cell = self.coloured(), self.cursor_item
        position = None if shown is None or cell is None else shown.position(*cell)
        if shown is not None and position is not None:
            self.go_to_class(int(shown.classes[position]))

    # Where items are

    def has_map(self) -> bool:
        return self.layout_ is not None

    def item_at(self, position: QPointF) -> Cell | None:
        """Return the cell with a chunk at a position of the widget."""
        ratio = self.devicePixelRatioF()
        cell = self.viewport.cell_at(position.x() * ratio, position.y() * ratio)
        layout = self.layout_
        return cell if cell and layout is not None and layout.coords_at(*cell) is not None else None

    def put_cursor(self, position: QPointF) -> bool:
        cell = self.item_at(position)
        if cell is not None:
            self.place_cursor(cell)
        return cell is not None

    def cursor_place(self) -> QPointF:
        return self.centre_of(*(self.cursor_item or (0, 0)))

    def centre_of(self, row: int, column: int) -> QPointF:
        """Return where the middle of a cell is, in the widget."""
        down, across = self.viewport.spans()
        ratio = self.devicePixelRatioF()
        return QPointF(across.edge(column + 0.5) / ratio, down.edge(row + 0.5) / ratio)

    # What is seen

    def zoom_by(self, steps: float, at: QPointF | None = None) -> None:
        ratio = self.devicePixelRatioF()
        x, y = self._middle_of_cursor() if at is None else (at.x() * ratio, at.y() * ratio)
        self.viewport.zoom(ZOOM**steps, x, y)
        self.moved()

    def _pan(self, step: QPointF) -> None:
        ratio = self.devicePixelRatioF()
        self.viewport.pan(step.x() * ratio, step.y() * ratio)

    def _fill(self, ratio: float) -> None:
        self.viewport.resize(round(self.width() * ratio), round(self.height() * ratio), ratio)

    def _middle_of_cursor(self) -> tuple[float, float]:
        """Return the device pixel that stays in place when keys zoom."""
        rows, columns = self.viewport.visible()
        cell = self.cursor_item
        if cell is not None and cell[0] in rows and cell[1] in columns:
            down, across = self.viewport.spans()
            return across.edge(cell[1] + 0.5), down.edge(cell[0] + 0.5)
        return self.viewport.width / 2, self.viewport.height / 2

    # Keys

    def _use_key(self, event: QKeyEvent) -> bool:
        key, text = Qt.Key(event.key()), event.text().lower()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key in _MOVES:
            stride = STRIDE if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            self._step(*(part * stride for part in _MOVES[key]))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._go_to_end(key == Qt.Key.Key_End, whole=control)
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            seen = max(1, int(self.viewport.height / self.viewport.down))
            self._step(seen if key == Qt.Key.Key_PageDown else -seen, 0)
        elif text == "e" and not control:
            self.explainAsked.emit()
        elif text == "n" and not control:
            self.go_to_alike()
        else:
            return super()._use_key(event)
        return True

    def _step(self, down: int, across: int) -> None:
        """Move the cursor; the first step puts it on the first chunk that is seen."""
        layout = self.layout_
        assert layout is not None
        if self.cursor_item is None:
            rows, columns = self.viewport.visible()
            cell = (rows.start, columns.start)
        else:
            row, column = self.cursor_item
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
        row = (self.cursor_item or (0, 0))[0]
        if whole:
            row = layout.rows - 1 if last else 0
        cell = (row, layout.columns - 1 if last else 0)
        if layout.coords_at(*cell) is None:
            cell = divmod(layout.size - 1, layout.columns)
        self.place_cursor(cell)
