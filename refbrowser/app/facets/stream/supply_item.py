"""Draws the picture of messages: patterns in device pixels, so that zooming changes none of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pyqtgraph import GraphicsObject
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from refbrowser.app.facets.stream.supply_looks import ground_of, ink_on, tiles_of
from refbrowser.app.widgets import theme
from refbrowser.exporting.streams.supply_classes import ColouredSupply, Label
from refbrowser.views.chunks.chunk_pixels import painted

#: Free around the number of a message, in pixels.
_PAD = 3.0
#: Numbers that are drawn at most.
_NUMBERS_MOST = 120


class SupplyItem(GraphicsObject):
    """The elements of a slice in the patterns of their classes; large areas have their number."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: ColouredSupply | None = None
        self._labels: tuple[Label, ...] = ()
        self._patterns: npt.NDArray[np.uint32] = np.zeros((2, 1, 1), np.uint32)
        self._image: tuple[object, QImage, npt.NDArray[np.uint32], QPointF] | None = None

    def set_supply(self, shown: ColouredSupply | None, labels: tuple[Label, ...] = ()) -> None:
        """Show what supplied the elements of a slice, or nothing."""
        self.prepareGeometryChange()
        self._shown, self._labels = shown, labels
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self._image = None
        if self._shown is not None:
            self._patterns = tiles_of(self._shown.legend, theme.colors().dark)
        self.update()

    def boundingRect(self) -> QRectF:
        """Return what is covered, in indices along the axes: a cell is centred on its index."""
        if self._shown is None or not self._shown.classes.size:
            return QRectF()
        down, across = _both(self._shown.supply.ranges)
        return QRectF(
            QPointF(across.start - across.step / 2, down.start - down.step / 2),
            QPointF(across[-1] + across.step / 2, down[-1] + down.step / 2),
        )

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        shown = self._shown
        if shown is None or not shown.classes.size:
            return
        transform = QTransform(painter.transform())
        ratio = 1.0 if widget is None else widget.devicePixelRatioF()
        clip = transform.mapRect(self.boundingRect()).intersected(QRectF(painter.viewport()))
        if clip.isEmpty():
            return
        image, corner = self._image_for(shown, transform, clip, ratio)
        painter.save()
        painter.resetTransform()
        painter.drawImage(corner, image)
        self._draw_numbers(painter, shown, transform, clip)
        painter.restore()

    def _image_for(
        self, shown: ColouredSupply, transform: QTransform, clip: QRectF, ratio: float
    ) -> tuple[QImage, QPointF]:
        state = (*(getattr(transform, name)() for name in ("m11", "m22", "dx", "dy")), clip.getRect(), ratio)
        if self._image is not None and self._image[0] == state:
            return self._image[1], self._image[3]
        down, across = _both(shown.supply.ranges)
        left, top = np.floor(clip.left()), np.floor(clip.top())
        wide = int((np.ceil(clip.right()) - left) * ratio)
        high = int((np.ceil(clip.bottom()) - top) * ratio)
        columns = _cells((left + (np.arange(wide) + 0.5) / ratio - transform.dx()) / transform.m11(), across)
        rows = _cells((top + (np.arange(high) + 0.5) / ratio - transform.dy()) / transform.m22(), down)
        numbers = np.atleast_2d(shown.classes)[np.ix_(rows, columns)]
        pixels = painted(numbers, self._patterns)
        image = QImage(pixels.data, wide, high, wide * 4, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        corner = QPointF(left, top)
        # The image shares the memory of the array, which must live as long.
        self._image = (state, image, pixels, corner)
        return image, corner

    def _draw_numbers(
        self, painter: QPainter, shown: ColouredSupply, transform: QTransform, clip: QRectF
    ) -> None:
        """Draw the numbers of messages into what they supplied, where there is room."""
        measure, dark, drawn = QFontMetricsF(painter.font()), theme.colors().dark, 0
        down, across = _both(shown.supply.ranges)
        for label in self._labels:
            rows, columns = _both_slices(label.box)
            area = transform.mapRect(
                QRectF(
                    QPointF(across[columns.start] - across.step / 2, down[rows.start] - down.step / 2),
                    QPointF(across[columns.stop - 1] + across.step / 2, down[rows.stop - 1] + down.step / 2),
                )
            ).intersected(clip)
            text = str(label.number)
            room = measure.boundingRect(text).adjusted(-_PAD, -_PAD / 2, _PAD, _PAD / 2)
            if area.width() < room.width() or area.height() < room.height() or drawn == _NUMBERS_MOST:
                continue
            drawn += 1
            place = (label.centre[0] if len(label.centre) > 1 else 0, label.centre[-1])
            centre = transform.map(QPointF(across[place[1]], down[place[0]]))
            room.moveCenter(centre if clip.contains(centre) else area.center())
            number = int(np.atleast_2d(shown.classes)[place])
            ground = ground_of(shown.legend[number // 2], dark)
            # Between the lines of a pattern a text cannot be read.
            painter.fillRect(room, ground)
            painter.setPen(ink_on(ground))
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)


def _both(ranges: tuple[range, ...]) -> tuple[range, range]:
    """Return the indices down and across; those of a line are one row."""
    return (ranges[0], ranges[1]) if len(ranges) > 1 else (range(1), ranges[0])


def _both_slices(box: tuple[slice, ...]) -> tuple[slice, slice]:
    return (box[0], box[1]) if len(box) > 1 else (slice(0, 1, 1), box[0])


def _cells(places: npt.NDArray[np.float64], taken: range) -> npt.NDArray[np.int64]:
    """Return the positions in `taken` that are at places along an axis."""
    found = np.floor((places - taken.start) / taken.step + 0.5).astype(np.int64)
    return np.clip(found, 0, len(taken) - 1)
