"""The whole file as a thin line over its rows, with a frame around what is seen of it; a click goes there."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from refbrowser.app.bytes.byte_image import Patterns
from refbrowser.app.bytes.byte_map_view import ByteMapView
from refbrowser.app.widgets import theme
from refbrowser.views.bytes.byte_pixels import PixelLine, picture_of
from refbrowser.views.words import size_text

#: Its height, that of the bytes in it, and the least width of the frame.
_HEIGHT, _BYTES, _NARROW = 15, 9, 4
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
        self.setFixedHeight(_HEIGHT)
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
        return QRectF(rows.left(), (self.height() - _BYTES) / 2, max(rows.width(), 1), _BYTES)

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
        high, wide = round(_BYTES * ratio), max(round(self._area().width() * ratio), 1)
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
        self._tell()

    def _tell(self) -> None:
        """Tell that other bytes are seen."""
        self._view.update()
        self._view.viewMoved.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.angleDelta().x()
        # A notch moves by what is seen: in a large file rows would be no way to move.
        self._view.viewport.pan(turned / 120 * self._view.viewport.rows, 0)
        self._tell()
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
