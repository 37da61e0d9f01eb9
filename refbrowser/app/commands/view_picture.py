"""A picture of a view as it is on the screen now, to be written in several forms."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QPoint, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QImage,
    QImageWriter,
    QPageSize,
    QPaintDevice,
    QPainter,
    QPdfWriter,
    QPicture,
    QRegion,
)
from PySide6.QtWidgets import QGraphicsView, QWidget

from refbrowser.app.widgets import theme

#: Pixels of a picture for each of the screen.
SCALE = 2
_MARGIN = theme.LARGE


class ViewPicture:
    """Widgets side by side under two lines of text, as they are when this is made.

    Parameters
    ----------
    title, subtitle
        What is shown; the second line is left out where it is empty.
    parts
        The widgets, left to right, and how far below the top of the picture each is, in pixels.
    """

    def __init__(self, title: str, subtitle: str, parts: Sequence[tuple[QWidget, int]]) -> None:
        self._title, self._subtitle, self._parts = title, subtitle, parts
        self._heading, self._small = theme.heading_font(2), theme.mono_font(-0.5)
        self._top = _MARGIN + QFontMetrics(self._heading).height() + theme.SMALL
        if subtitle:
            self._top += QFontMetrics(self._small).height() + theme.SMALL
        self._size = self._whole_size()
        # Widgets go on: what is written later is what was seen now.
        self._recorded = QPicture()
        painter = QPainter(self._recorded)
        self._paint(painter)
        painter.end()

    def _whole_size(self) -> QSize:
        width = sum(part.width() for part, _top in self._parts) + theme.MEDIUM * (len(self._parts) - 1)
        height = max((top + part.height() for part, top in self._parts), default=0)
        return QSize(width + 2 * _MARGIN, self._top + height + _MARGIN)

    def image(self) -> QImage:
        """Return the picture in pixels, `SCALE` for each of the screen; its words are kept with it."""
        image = self._painted(SCALE)
        image = image.copy(0, 0, image.width(), _height_used(image, _MARGIN * SCALE))
        image.setText("Title", self._title)
        image.setText("Description", self._subtitle)
        return image

    def _painted(self, scale: int) -> QImage:
        image = QImage(self._size * scale, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(scale)
        painter = QPainter(image)
        self._recorded.play(painter)
        painter.end()
        return image

    def _size_used(self) -> QSize:
        """Return the size without what is empty at the end."""
        return QSize(self._size.width(), _height_used(self._painted(1), _MARGIN))

    def svg(self) -> bytes:
        """Return the picture as an SVG file: lines and text can be edited, an image is one picture in it."""
        from PySide6.QtSvg import QSvgGenerator

        buffer = _buffer()
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setResolution(self._recorded.logicalDpiX())
        size = self._size_used()
        generator.setSize(size)
        generator.setViewBox(QRect(QPoint(0, 0), size))
        generator.setTitle(self._title)
        generator.setDescription(self._subtitle)
        self._play(generator)
        return bytes(buffer.data().data())

    def pdf(self) -> bytes:
        """Return the picture as a PDF file of one page, as large as the picture is on the screen."""
        buffer = _buffer()
        writer = QPdfWriter(buffer)
        dots, size = self._recorded.logicalDpiX(), self._size_used()
        writer.setResolution(dots)
        writer.setTitle(f"{self._title}   {self._subtitle}".strip())
        writer.setCreator("refbrowser")
        inches = QSizeF(size) / dots
        page = QPageSize(inches, QPageSize.Unit.Inch, "", QPageSize.SizeMatchPolicy.ExactMatch)
        writer.setPageSize(page)
        writer.setPageMargins(QMarginsF())
        self._play(writer)
        return bytes(buffer.data().data())

    def _play(self, device: QPaintDevice) -> None:
        painter = QPainter(device)
        self._recorded.play(painter)
        painter.end()

    def _paint(self, painter: QPainter) -> None:
        colors, size = theme.colors(), self._size
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(QRect(QPoint(0, 0), size), QColor(colors.surface))
        left = _MARGIN
        for part, below in self._parts:
            top = self._top + below
            painter.save()
            if isinstance(part, QGraphicsView):
                part.render(painter, QRectF(left, top, part.width(), part.height()), part.viewport().rect())
            else:
                painter.translate(left, top)
                # Without the background: it is that of the picture.
                part.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
            painter.restore()
            left += part.width() + theme.MEDIUM
        # Last: what is free at the top of a part lies behind it.
        room = size.width() - 2 * _MARGIN
        line = QRect(_MARGIN, _MARGIN, room, QFontMetrics(self._heading).height())
        self._paint_text(painter, line, self._title, colors.text, heading=True)
        if self._subtitle:
            height = QFontMetrics(self._small).height()
            line = QRect(_MARGIN, line.bottom() + 1 + theme.SMALL, room, height)
            self._paint_text(painter, line, self._subtitle, colors.muted, heading=False)

    def _paint_text(self, painter: QPainter, line: QRect, text: str, color: str, *, heading: bool) -> None:
        font = self._heading if heading else self._small
        painter.setFont(font)
        painter.setPen(QColor(color))
        fitting = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, fitting)


def png_bytes(image: QImage) -> bytes:
    """Return an image as a PNG file; on any thread."""
    buffer = _buffer()
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def _buffer() -> QBuffer:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    return buffer


def _height_used(image: QImage, margin: int) -> int:
    """Return the height of an image without what is empty below a margin at its end."""
    import numpy as np

    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width())
    used = np.flatnonzero((pixels != pixels[-1, 0]).any(axis=1))
    return min(image.height(), int(used[-1]) + 1 + margin) if len(used) else image.height()
