"""Points between two axes: each of a few, and how dense they are where there are many."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pyqtgraph import ImageItem, PlotDataItem, ScatterPlotItem, mkPen
from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from refbrowser.app.facets.nested.bars_chart import plain_scale
from refbrowser.app.plot.axes_view import AxesView
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import one_shot
from refbrowser.views.nested.nested_tally import density, nearest
from refbrowser.views.numbers import DateScale

_MARGINS = (2, 8, 18, 2)
#: So many points are drawn one by one; of more how dense they are.
_EACH = 4_000
#: Side of a cell of the picture of densities, and how near the pointer must be to a point, in pixels.
_CELL, _REACH = 2, 8
#: Between two drawings, in milliseconds.
_FRAME = 16
_PADDING = 0.04
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}


class PointsChart(AxesView):
    """Paints the points; wheel and drag zoom and pan, a double click shows all.

    Signals
    -------
    pointed(object)
        The number of the point under the pointer, or at the keyboard's cursor; None for none.
    """

    pointed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("nestedPoints", "Values as points", _MARGINS, parent)
        self.setAccessibleDescription("Left and right move a cursor along the points")
        self._x: npt.NDArray[np.float64] = np.zeros(0)
        self._y: npt.NDArray[np.float64] = np.zeros(0)
        self._at: int | None = None
        self.box.setDefaultPadding(0)
        self._image = ImageItem()
        self._spots = ScatterPlotItem(pxMode=True)
        self._line = PlotDataItem(connect="finite", antialias=True)
        self._cursor = ScatterPlotItem(pxMode=True)
        self._joined = False
        for depth, item in enumerate((self._image, self._line, self._spots, self._cursor), 4):
            item.setZValue(depth)
            self.box.addItem(item, ignoreBounds=True)
        self._soon = one_shot(self, _FRAME, self._draw)
        self.box.sigRangeChanged.connect(lambda *_arguments: self._soon.start())
        self.box.sigResized.connect(lambda *_arguments: self._soon.start())
        self.scene().sigMouseClicked.connect(self._mouse_clicked)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        super().restyle()
        if hasattr(self, "_soon"):
            self._draw()

    def points(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the points shown."""
        return self._x, self._y

    def set_points(
        self,
        x: npt.NDArray[np.float64],
        y: npt.NDArray[np.float64],
        names: tuple[str, str],
        dates: tuple[DateScale | None, DateScale | None] = (None, None),
        joined: bool = False,
    ) -> None:
        """Show other points; `names` are those of the axes, `joined` draws a line through few of them."""
        self._x, self._y, self._joined, self._at = x, y, joined, None
        self.across.set_scale(plain_scale(dates[0]), names[0])
        self.upwards.set_scale(plain_scale(dates[1]), names[1])
        self.setAccessibleName(f"{names[1]} against {names[0]}")
        self.reset_view()
        self._draw()

    def reset_view(self) -> None:
        """See all points."""
        ranges = [_reach(numbers) for numbers in (self._x, self._y)]
        self.box.setRange(xRange=ranges[0], yRange=ranges[1], padding=0, disableAutoRange=True)

    # Drawing

    def _draw(self) -> None:
        color = theme.colors().accent
        few = len(self._x) <= _EACH
        self._spots.setVisible(few)
        self._image.setVisible(not few)
        self._line.setVisible(few and self._joined)
        if few:
            known = np.isfinite(self._x) & np.isfinite(self._y)
            soft = QColor(color)
            soft.setAlpha(190)
            size = 6 if len(self._x) <= 500 else 4
            self._spots.setData(self._x[known], self._y[known], size=size, brush=soft, pen=mkPen(None))
            if self._joined:
                self._line.setData(self._x, self._y, pen=mkPen(color, width=1.2))
        else:
            self._draw_density(QColor(color))
        self._draw_cursor()

    def _draw_density(self, color: QColor) -> None:
        (left, right), (low, high) = self.box.viewRange()
        cells = (max(2, int(self.box.width()) // _CELL), max(2, int(self.box.height()) // _CELL))
        shades = density(self._x, self._y, ((left, right), (low, high)), cells).shades
        picture = np.empty((*cells, 4), np.uint8)
        picture[..., :3] = color.red(), color.green(), color.blue()
        picture[..., 3] = (shades * 255).astype(np.uint8)
        self._image.setImage(picture, autoLevels=False, axisOrder="col-major")
        self._image.setRect(QRectF(left, low, right - left, high - low))

    def _draw_cursor(self) -> None:
        colors, at = theme.colors(), self._at
        if at is None or not (np.isfinite(self._x[at]) and np.isfinite(self._y[at])):
            self._cursor.setData([], [])
            return
        self._cursor.setData(
            self._x[at : at + 1], self._y[at : at + 1], size=11, brush=None, pen=mkPen(colors.text, width=2)
        )

    # Events

    def _point(self, number: int | None) -> None:
        if number != self._at:
            self._at = number
            self._draw_cursor()
            self.pointed.emit(number)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        position = self.position_of(event)
        if position is None or event.buttons():
            return
        wide, high = self.box.viewPixelSize()
        self._point(nearest(self._x, self._y, position, (wide * _REACH, high * _REACH)))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._point(None)

    def _mouse_clicked(self, event: Any) -> None:
        if event.double():
            self.reset_view()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is not None and len(self._x) and not event.modifiers():
            self._point(0 if self._at is None else max(0, min(len(self._x) - 1, self._at + step)))
        elif event.key() == Qt.Key.Key_Home and not event.modifiers():
            self.reset_view()
        else:
            event.ignore()
            return
        event.accept()


def _reach(numbers: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return what is to be seen of an axis: all finite numbers, and a little room."""
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    margin = (high - low) * _PADDING
    if not margin:
        margin = abs(low) * 0.05 or 0.5
    return low - margin, high + margin
