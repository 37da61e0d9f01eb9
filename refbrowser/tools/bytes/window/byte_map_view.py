"""The bytes of a file as widgets: rows that are moved and enlarged, with a cursor; and all of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QStaticText,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from refbrowser.app.panes.chunk_map_controls import ink_on, look_of
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.map_canvas import MapCanvas
from refbrowser.tools.bytes.report.byte_facts import offset_text
from refbrowser.tools.bytes.report.byte_map import ByteItem, OwnedRange, PlaceKind
from refbrowser.tools.bytes.report.byte_pixels import ByteViewport, PixelLine, picture_of
from refbrowser.tools.bytes.window.byte_image import (
    BETWEEN,
    BYTES,
    REQUESTS,
    USED,
    ByteImage,
    ByteSubject,
    Patterns,
)
from refbrowser.views.chunks.chunk_colouring import MapClass
from refbrowser.views.words import one_line
from refbrowser.words import count_text, size_text

if TYPE_CHECKING:
    from refbrowser.tools.bytes.report.byte_map import ByteMap
    from refbrowser.tools.bytes.report.byte_runs import Runs
    from refbrowser.tools.bytes.report.live_plan import LivePlan

#: Device independent pixels from one row to the next.
_PITCH = REQUESTS + BYTES + USED + BETWEEN
#: Before the rows, for offsets, and around them.
_OFFSETS, _MARGIN = 62, 2
#: Ranges that are so wide have their key written in them; and so many of them at most.
_LABELLED, _LABELS_MOST = 34, 160
#: Labels that are kept.
_LABELS_KEPT = 2000
#: Requests that are drawn as boxes; of more only which bytes they have is seen.
_BOXES_MOST = 600
#: One notch of the wheel, or one key, makes bytes so many times wider.
ZOOM = 1.4


class _Label(NamedTuple):
    """A text that is laid out once, and painted in each frame."""

    text: QStaticText
    area: QRectF


def _labels(key: str, font: QFont) -> Iterator[_Label]:
    """Yield a key, and its end for less room."""
    line = one_line(key)
    for each in dict.fromkeys((line, line.rsplit("/", 1)[-1])):
        text = QStaticText(each)
        # A key that looks like HTML is shown as it is.
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.prepare(font=font)
        yield _Label(text, QRectF(QPointF(), text.size()))


class BytePainter:
    """Paints the rows, and over them what changes with the pointer and is not in their image."""

    def __init__(self, viewport: ByteViewport) -> None:
        self._viewport = viewport
        self.rows = ByteImage(viewport)
        self.shown: ByteMap | None = None
        self.styles: tuple[MapClass, ...] = ()
        self.used: Runs | None = None
        self.plan: LivePlan | None = None
        self._requested: Runs | None = None
        self._labels: dict[tuple[int, int], tuple[_Label, ...]] = {}

    def set_map(self, shown: ByteMap | None, styles: Sequence[MapClass]) -> None:
        """Paint another file; a style for each of its classes."""
        self.shown, self.styles = shown, tuple(styles)
        self._labels.clear()

    def set_needs(self, used: Runs | None, plan: LivePlan | None) -> None:
        """Mark what the view needs, and how that would be requested."""
        self.used, self.plan = used, plan
        self._requested = None if plan is None else plan.runs

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.rows.restyle()
        self._labels.clear()

    def paint(
        self, painter: QPainter, widget: QWidget, cursor: ByteItem | None, hover: ByteItem | None
    ) -> None:
        """Paint everything on a widget."""
        colors, shown = theme.colors(), self.shown
        painter.fillRect(widget.rect(), QColor(colors.surface))
        if shown is None or not shown.end:
            return
        image = self.rows.image(ByteSubject(shown, self.styles, self.used, self._requested))
        painter.drawImage(QPointF(_OFFSETS, _MARGIN), image)
        self._draw_offsets(painter, widget, shown)
        area = QRectF(_OFFSETS, 0, self._viewport.width / self._viewport.ratio, widget.height())
        painter.setClipRect(area.adjusted(-3, 0, 3, 0))
        self._draw_keys(painter, widget, shown)
        self._draw_requests(painter, colors)
        for item, color, width in (
            (hover, QColor(colors.text), 1.0),
            (cursor, QColor(colors.accent if widget.hasFocus() else colors.text), 2.0),
        ):
            if item is not None:
                self._draw_frame(painter, item, color, width, colors)
        self._draw_end(painter, widget, shown)
        painter.setClipping(False)

    # Over the rows

    def band(self, row: int, left: float, right: float) -> QRectF:
        """Return where a part of a row of bytes is, in the widget."""
        ratio = self._viewport.ratio
        x = _OFFSETS + left / ratio
        return QRectF(x, _MARGIN + row * _PITCH + REQUESTS, max((right - left) / ratio, 0.5), BYTES)

    def _draw_offsets(self, painter: QPainter, widget: QWidget, shown: ByteMap) -> None:
        if shown.is_nominal:
            return
        font = theme.mono_font(-1.5)
        painter.setFont(font)
        painter.setPen(QColor(theme.colors().muted))
        viewport, end = self._viewport, shown.end
        for row in range(viewport.rows):
            byte = viewport.byte_at(row, 0)
            if byte >= end:
                break
            area = QRectF(0, _MARGIN + row * _PITCH + REQUESTS, _OFFSETS - 6, BYTES)
            text = offset_text(byte, viewport.row_bytes)
            painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _draw_keys(self, painter: QPainter, widget: QWidget, shown: ByteMap) -> None:
        """Write the keys of ranges in them, where there is room."""
        viewport = self._viewport
        low, high = int(viewport.first), int(min(viewport.stop, shown.end)) + 1
        least = _LABELLED * viewport.ratio * viewport.scale
        wide = shown.wide_within(low, high, least, _LABELS_MOST)
        if len(wide) > _LABELS_MOST:
            return
        font = widget.font()
        font.setPixelSize(10)
        painter.setFont(font)
        looks = {
            owner: (ink_on(style), *look_of(style))
            for each, style in zip(shown.classes, self.styles, strict=True)
            for owner in each.owners
        }
        if len(self._labels) > _LABELS_KEPT:
            self._labels.clear()
        size, absent = shown.facts.size, MapClass("past")
        past = ink_on(absent), *look_of(absent)
        has_overlaps = len(shown.overlaps) > 0
        # Those of one colour after each other: another pen costs as much as a text.
        for each in sorted(wide, key=lambda each: each.owner):
            look = past if size is not None and each.start >= size else looks.get(each.owner)
            if look is None or (has_overlaps and shown.overlaps.at(each.start) is not None):
                continue
            name = each.source, each.item
            labels = self._labels.get(name)
            if labels is None:
                labels = self._labels[name] = tuple(_labels(shown.key(each) or "", font))
            self._draw_key(painter, labels, each, look)

    def _draw_key(
        self,
        painter: QPainter,
        labels: tuple[_Label, ...],
        each: OwnedRange,
        look: tuple[QColor, QColor, QColor, str],
    ) -> None:
        # In the widest part, of several rows the first one.
        part = max(
            self._viewport.row_parts(each.start, each.stop),
            key=lambda part: (part[2] - part[1], -part[0]),
            default=None,
        )
        if part is None:
            return
        band = self.band(*part)
        label = next((one for one in labels if one.area.width() <= band.width() - 8), None)
        if label is None:
            return
        ink, ground, _, pattern = look
        around = QRectF(label.area)
        around.moveCenter(band.center())
        if pattern:
            painter.fillRect(around.adjusted(-3, 0, 3, 0).intersected(band), ground)
        if painter.pen().color() != ink:
            painter.setPen(ink)
        painter.drawStaticText(around.topLeft(), label.text)

    def _draw_end(self, painter: QPainter, widget: QWidget, shown: ByteMap) -> None:
        """Mark the end of a file that ranges go past."""
        viewport, size = self._viewport, shown.facts.size
        if size is None or not shown.past_end or not viewport.first <= size <= viewport.stop:
            return
        parts = viewport.row_parts(size, size + max(1.0, viewport.scale))
        if not parts:
            return
        band, color = self.band(*parts[0]), QColor(theme.colors().fault)
        painter.setPen(QPen(color, 2.0))
        painter.drawLine(
            QPointF(band.left(), band.top() - REQUESTS), QPointF(band.left(), band.bottom() + USED)
        )
        font = widget.font()
        font.setPixelSize(10)
        painter.setFont(font)
        text = f"end of the file: {count_text(size)} bytes"
        around = QRectF(painter.fontMetrics().boundingRect(text)).adjusted(-3, 0, 5, 0)
        around.setHeight(BYTES)
        around.moveTopLeft(QPointF(band.left() + 2, band.top()))
        if around.right() > _OFFSETS + viewport.width / viewport.ratio:
            around.moveRight(band.left() - 2)
        painter.fillRect(around, QColor(theme.colors().surface))
        painter.drawText(around, Qt.AlignmentFlag.AlignCenter, text)

    def _draw_requests(self, painter: QPainter, colors: theme.Colors) -> None:
        """Draw the requests in sight as boxes around what they bring."""
        plan, viewport = self.plan, self._viewport
        if plan is None or not len(plan.start):
            return
        first = int(plan.stop.searchsorted(viewport.first, side="right"))
        last = int(plan.start.searchsorted(viewport.stop))
        if last - first > _BOXES_MOST:
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colors.accent), 1.4))
        for number in range(first, last):
            start, stop = int(plan.start[number]), min(int(plan.stop[number]), viewport.size)
            if (stop - start) / viewport.scale < 3 * viewport.ratio:
                continue
            for row, left, right in viewport.row_parts(start, stop):
                band = self.band(row, left, right)
                box = QRectF(band.left(), band.top() - REQUESTS + 0.7, band.width(), BYTES + REQUESTS + 0.6)
                painter.drawLine(box.topLeft(), box.topRight())
                # A request that goes on in the next row is open there.
                if viewport.byte_at(row, left) <= start + viewport.scale:
                    painter.drawLine(box.topLeft(), box.bottomLeft())
                if viewport.byte_at(row, right) >= stop - viewport.scale:
                    painter.drawLine(box.topRight(), box.bottomRight())

    def _draw_frame(
        self, painter: QPainter, item: ByteItem, color: QColor, width: float, colors: theme.Colors
    ) -> None:
        """Draw a frame around an extent; around a few pixels where it is narrower."""
        extent = item.extent
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for row, left, right in self._viewport.row_parts(extent.start, extent.stop):
            band = self.band(row, left, right)
            if band.width() < 5:
                band = QRectF(band.center().x() - 2.5, band.top(), 5, band.height())
            painter.setPen(QPen(QColor(colors.surface), width + 2))
            painter.drawRect(band)
            painter.setPen(QPen(color, width))
            painter.drawRect(band)


class ByteMapView(MapCanvas[ByteItem]):
    """The rows of bytes of one file.

    Signals
    -------
    opened(object)
        An item was double-clicked, or Return was pressed on it with Control.
    """

    opened = Signal(object)
    viewport: ByteViewport
    painting: BytePainter

    def __init__(self, parent: QWidget | None = None) -> None:
        viewport = ByteViewport()
        super().__init__("byteMapView", "Byte map", viewport, BytePainter(viewport), parent)
        self.setMinimumSize(140, _PITCH + 2 * _MARGIN)
        #: The byte that the cursor is on, within its item.
        self.cursor_byte = 0
        #: Part of a row that a drag went down and that was not moved.
        self._rest = 0.0

    # What is shown

    def set_map(self, shown: ByteMap | None, styles: Sequence[MapClass], *, same: bool = False) -> None:
        """Show another file, all of it; of the `same` file, looked at anew, what is seen stays."""
        self.painting.set_map(shown, styles)
        size = 0 if shown is None else shown.end
        if same and shown is not None:
            self.viewport.size = size
            self.viewport.zoom(1.0, 0, 0)
            self.cursor_item = None if self.cursor_item is None else shown.at(self.cursor_byte)
        else:
            self.viewport.set_size(size)
            self.cursor_item, self.cursor_byte = None, 0
        self.hover_item = None
        self.moved()

    def set_needs(self, used: Runs | None, plan: LivePlan | None) -> None:
        """Mark what the view needs, and how that would be requested."""
        self.painting.set_needs(used, plan)
        self.update()

    def place_cursor(self, byte: int) -> None:
        """Put the cursor on what lies at a byte, and see it."""
        shown = self.painting.shown
        if shown is None or not shown.end:
            return
        self.cursor_byte = min(max(byte, 0), shown.end - 1)
        item = self.cursor_item = shown.at(self.cursor_byte)
        self.viewport.show(self.cursor_byte, item.extent.stop if item.extent.start == byte else None)
        self.moved()
        self.cursorMoved.emit(item)

    def go_to_next(self, *, overlap: bool) -> None:
        """Go to the next overlap, or to the next place like the one under the cursor."""
        shown, item = self.painting.shown, self.cursor_item
        if shown is None:
            return
        if overlap:
            place = shown.overlaps.next_run(self.cursor_byte)
            if place is not None:
                self.place_cursor(place.start)
            return
        owner = item.ranges[0].owner if item is not None and item.ranges else None
        number = next((at for at, each in enumerate(shown.classes) if owner in each.owners), None)
        if number is not None:
            self.go_to_class(number)

    def go_to_class(self, number: int) -> None:
        """Go to the next bytes of a class."""
        shown = self.painting.shown
        place = None if shown is None else shown.classes[number].next_place(self.cursor_byte)
        if place is not None:
            self.place_cursor(place.start)

    # Where items are

    def has_map(self) -> bool:
        return self.painting.shown is not None

    def item_at(self, position: QPointF) -> ByteItem | None:
        """Return the most telling item among the bytes of a pixel."""
        found = self.found_at(position)
        return None if found is None else found[1]

    def put_cursor(self, position: QPointF) -> bool:
        found = self.found_at(position)
        if found is not None:
            byte, item = found
            extent = item.extent
            self.place_cursor(byte if extent.start <= byte < extent.stop else extent.start)
        return found is not None

    def cursor_place(self) -> QPointF:
        return self.place_of(self.cursor_byte)

    def found_at(self, position: QPointF) -> tuple[int, ByteItem] | None:
        """Return the byte at a position of the widget, and what lies there."""
        shown = self.painting.shown
        row, x = self._pixel(position)
        inside = 0 <= row < self.viewport.rows and 0 <= x < self.viewport.width
        if shown is None or not inside:
            return None
        byte = int(self.viewport.byte_at(row, x))
        if not 0 <= byte < shown.end:
            return None
        item = shown.at(byte)
        return byte, self._widest(shown, item, byte)

    def _widest(self, shown: ByteMap, item: ByteItem, byte: int) -> ByteItem:
        """Return the most telling item among the bytes of a pixel: one that is narrower can be pointed at."""
        scale = self.viewport.scale
        if item.kind is PlaceKind.OVERLAP or scale < 2:
            return item
        low, high = int(byte - scale), int(byte + scale) + 1
        overlap = shown.overlaps.next_run(low - 1)
        if overlap is not None and low <= overlap.start < high:
            return shown.at(overlap.start)
        if not item.ranges:
            near = shown.within(low, high, 1)
            if near:
                return shown.at(max(near[0].start, low))
        return item

    def place_of(self, byte: int) -> QPointF:
        """Return where the middle of a byte is, in the widget."""
        row, x = self.viewport.place_of(byte)
        band = self.painting.band(row, x, x + 1 / self.viewport.scale)
        return QPointF(min(band.center().x(), band.left() + 6), band.center().y())

    def _pixel(self, position: QPointF) -> tuple[int, float]:
        """Return row and pixel of a position of the widget."""
        return int((position.y() - _MARGIN) // _PITCH), (position.x() - _OFFSETS) * self.viewport.ratio

    # What is seen

    def zoom_by(self, steps: float, at: QPointF | None = None) -> None:
        row, x = self._middle() if at is None else self._pixel(at)
        self.viewport.zoom(ZOOM**steps, row, x)
        self.moved()

    def zoom_to(self, item: ByteItem) -> None:
        """See an item as wide as fits."""
        self.viewport.zoom_to(item.extent.start, item.extent.stop)
        self.moved()

    def row_area(self) -> QRect:
        """Return where the rows are, in the widget."""
        wide = round(self.viewport.width / self.viewport.ratio)
        return QRect(_OFFSETS, _MARGIN, wide, self.viewport.rows * _PITCH)

    def _pan(self, step: QPointF) -> None:
        # Rows move as wholes.
        rows, self._rest = divmod(self._rest + step.y() / _PITCH, 1.0)
        self.viewport.pan(rows, step.x() * self.viewport.ratio)

    def _fill(self, ratio: float) -> None:
        wide = round((self.width() - _OFFSETS - 2 * _MARGIN) * ratio)
        self.viewport.resize(wide, (self.height() - 2 * _MARGIN) // _PITCH, ratio)

    def _middle(self) -> tuple[int, float]:
        """Return what stays in place when keys zoom: the cursor, else the middle."""
        if self.cursor_item is not None:
            row, x = self.viewport.place_of(self.cursor_byte)
            if 0 <= row < self.viewport.rows:
                return row, x
        return self.viewport.rows // 2, self.viewport.width / 2

    # Pointer and keys

    def _turn_wheel(self, notches: float, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.viewport.pan(notches, 0)
            self.moved()
        else:
            super()._turn_wheel(notches, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._rest = 0.0
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._take(event.position(), self.opened)
        event.accept()

    def _choose(self, *, control: bool) -> None:
        (self.opened if control else self.chosen).emit(self.cursor_item)

    def _use_key(self, event: QKeyEvent) -> bool:
        key, text = Qt.Key(event.key()), event.text().lower()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        viewport = self.viewport
        moves = {
            Qt.Key.Key_Up: -viewport.row_bytes,
            Qt.Key.Key_Down: viewport.row_bytes,
            Qt.Key.Key_PageUp: -viewport.row_bytes * viewport.rows,
            Qt.Key.Key_PageDown: viewport.row_bytes * viewport.rows,
        }
        if key in moves:
            self.place_cursor(int(self.cursor_byte + moves[key]) if self.cursor_item else int(viewport.first))
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step(key == Qt.Key.Key_Right)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.place_cursor(viewport.size - 1 if key == Qt.Key.Key_End else 0)
        elif text == "z" and not control and self.cursor_item is not None:
            self.zoom_to(self.cursor_item)
        elif text in ("n", "o") and not control:
            self.go_to_next(overlap=text == "o")
        else:
            return super()._use_key(event)
        return True

    def _step(self, forward: bool) -> None:
        """Move the cursor to the item before or behind; at first to the first one that is seen."""
        shown = self.painting.shown
        assert shown is not None
        item = self.cursor_item
        if item is None:
            self.place_cursor(int(self.viewport.first))
        elif forward:
            self.place_cursor(max(item.extent.stop, self.cursor_byte + 1))
        elif item.extent.start:
            self.place_cursor(shown.at(item.extent.start - 1).extent.start)
        else:
            self.place_cursor(0)


#: Height of the overview, that of the bytes in it, and the least width of the frame.
_STRIP, _THICK, _NARROW = 15, 9, 4
#: How much of what is not seen shows through, of 255.
_VEIL = 120


class ByteOverview(QWidget):
    """Shows which part of a file a byte map shows; its place stays free while that is all of it."""

    def __init__(self, view: ByteMapView) -> None:
        super().__init__()
        self.setObjectName("byteMapOverview")
        self.setAccessibleName("Overview of the file")
        self.setToolTip("The whole file: what is framed is seen below. Click or drag to go elsewhere.")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(_STRIP)
        self._view = view
        self._has_room = False
        self._patterns = Patterns()
        self._key: tuple[object, ...] | None = None
        self._pixels = np.zeros((0, 0), np.uint32)
        #: Bytes from the middle of what is seen to where it is held.
        self._held: float | None = None
        view.viewMoved.connect(self._follow)
        self.set_room(has_room=True)

    def set_room(self, *, has_room: bool) -> None:
        """Take a place over the rows, or none: in a low pane they need it."""
        if has_room != self._has_room:
            self._has_room = has_room
            policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            policy.setRetainSizeWhenHidden(has_room)
            self.setSizePolicy(policy)
            self._follow()

    def _follow(self) -> None:
        """Tell what is seen now."""
        shown, viewport = self._view.painting.shown, self._view.viewport
        is_part = shown is not None and not viewport.is_fitted
        self.setVisible(is_part and self._has_room)
        if shown is not None and is_part:
            stop = min(viewport.stop, shown.end)
            share = (stop - viewport.first) / shown.end
            self.setAccessibleDescription(
                f"{share:.1%} of {size_text(shown.end)} are seen, from {size_text(int(viewport.first))} on"
            )
            self.update()

    # Painting

    def _area(self) -> QRectF:
        """Return where the bytes are: over those of the rows."""
        rows = self._view.row_area()
        return QRectF(rows.left(), (self.height() - _THICK) / 2, max(rows.width(), 1), _THICK)

    def frame(self) -> QRectF:
        """Return where the frame is."""
        area, viewport = self._area(), self._view.viewport
        size = max(viewport.size, 1)
        left = area.left() + area.width() * viewport.first / size
        right = area.left() + area.width() * min(viewport.stop / size, 1.0)
        missing = max(_NARROW - (right - left), 0.0)
        return QRectF(left - missing / 2, area.top() - 2, right - left + missing, area.height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        colors, shown = theme.colors(), self._view.painting.shown
        painter = QPainter(self)
        try:
            if shown is not None and shown.end:
                area, frame = self._area(), self.frame()
                painter.drawImage(area, self._image())
                veil = QColor(colors.surface)
                veil.setAlpha(255 - _VEIL)
                painter.fillRect(QRectF(area.topLeft(), frame.bottomLeft()).normalized() & area, veil)
                painter.fillRect(QRectF(frame.topRight(), area.bottomRight()).normalized() & area, veil)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(QColor(colors.accent), 1.6))
                painter.drawRoundedRect(frame, 1.5, 1.5)
        finally:
            # A painter that is left open ends the program with the widget.
            painter.end()

    def _image(self) -> QImage:
        painting, ratio, colors = self._view.painting, self.devicePixelRatioF(), theme.colors()
        shown, styles = painting.shown, painting.styles
        assert shown is not None
        high, wide = round(_THICK * ratio), max(round(self._area().width() * ratio), 1)
        key = shown, styles, colors, high, wide
        if key != self._key:
            self._key = key
            low, past = PixelLine(0.0, shown.end / wide).edges(0, wide)
            picture = picture_of(shown, low, past, high, None, None)
            self._pixels = self._patterns.coloured(picture, styles, 0)
            self._pixels[:, picture.overlaps] = QColor(colors.fault).rgb()
        return QImage(self._pixels.data, wide, high, wide * 4, QImage.Format.Format_RGB32)

    # Going elsewhere

    def byte_at(self, x: float) -> float:
        """Return the byte at a place of the widget."""
        area = self._area()
        return (x - area.left()) / area.width() * self._view.viewport.size

    def _go(self, x: float) -> None:
        """See the byte at a place, which what is seen is held at."""
        self._view.viewport.look_at(self.byte_at(x) - (self._held or 0.0))
        self._view.moved()

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.angleDelta().x()
        # A notch moves by what is seen: in a large file rows would be no way to move.
        self._view.viewport.pan(turned / 120 * self._view.viewport.rows, 0)
        self._view.moved()
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            x, viewport = event.position().x(), self._view.viewport
            middle = (viewport.first + min(viewport.stop, viewport.size)) / 2
            is_inside = self.frame().contains(event.position())
            self._held = self.byte_at(x) - middle if is_inside else 0.0
            self._go(x)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._held is not None:
            self._go(event.position().x())
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._held = None
        event.accept()
