"""Charts of nested values: bars of how often values occur, and points of one field over another."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pyqtgraph import BarGraphItem, ImageItem, PlotDataItem, ScatterPlotItem, mkBrush, mkPen
from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from refbrowser.app.plot.axes.axes_view import AxesView
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.views.nested.nested_tally import NO_BARS, Bars, density, nearest
from refbrowser.views.numbers import DateScale, value_text
from refbrowser.views.plot.coordinates import AxisScale, Coordinate, plain_coordinate
from refbrowser.words import count_text

_MARGINS = (2, 8, 18, 2)
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}
#: Room over the highest bar, and left and right of all, as parts of what they take.
_ABOVE, _BESIDE = 0.06, 0.02
#: On a logarithmic axis a count of one stands so far over the axis.
_LEAST = 0.5
#: The part of the height that the lowest bar has: what is there is seen, however rare it is.
_SEEN = 0.008
#: Whole numbers up to this one are marked as such on the axis.
_WHOLE = 1_000_000


def plain_scale(dates: DateScale | None = None, is_whole: bool = False) -> AxisScale:
    """Return the scale of an axis of plain or whole numbers, or of dates."""
    if is_whole:
        return AxisScale(plain_coordinate("value", _WHOLE))
    return AxisScale(Coordinate(name="value", size=0, dates=dates), by_value=True)


class BarsChart(AxesView):
    """Paints the bars.

    Signals
    -------
    pointed(str)
        What the bar under the pointer, or the keyboard's cursor, says; empty for none.
    """

    pointed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("nestedBars", "How often values occur", _MARGINS, parent)
        self._bars, self._of, self._unit, self._is_log = NO_BARS, "", "", False
        self._dates: DateScale | None = None
        self._at: int | None = None
        self.box.setMouseEnabled(x=False, y=False)
        self.box.setDefaultPadding(0)
        self._all, self._one = (BarGraphItem(x0=[], x1=[], y0=0, height=[]) for _ in range(2))
        for item, depth in ((self._all, 5), (self._one, 6)):
            item.setZValue(depth)
            self.box.addItem(item, ignoreBounds=True)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        super().restyle()
        if hasattr(self, "_one"):
            self._mark()
            self._draw_all()

    def bars(self) -> Bars:
        """Return the bars shown."""
        return self._bars

    def set_bars(self, bars: Bars, of: str, unit: str, dates: DateScale | None = None) -> None:
        """Show other bars: `of` names the axis below them, `unit` what their height counts."""
        self._bars, self._of, self._unit, self._dates, self._at = bars, of, unit, dates, None
        if len(bars.counts):
            most = int(np.argmax(bars.counts))
            self.setAccessibleDescription(f"{of}; most frequent: {self.words(most)}")
        else:
            self.setAccessibleDescription(f"{of}; no values")
        self._draw()

    def set_log(self, is_log: bool) -> None:
        """Let heights be logarithms of the counts, so that rare values are seen beside frequent ones."""
        self._is_log = is_log
        self._draw()

    def words(self, number: int) -> str:
        """Return what a bar says."""
        low, high = self._bars.ends(number)
        ends = [self._end_text(low)] if low == high else [self._end_text(low), self._end_text(high)]
        return f"{' to '.join(ends)}: {count_text(int(self._bars.counts[number]))} {self._unit}"

    def _end_text(self, number: float) -> str:
        if self._dates is not None:
            return self._dates.text(number)
        return value_text(int(number) if self._bars.is_whole else number, 5)

    # Drawing

    def _heights(self) -> npt.NDArray[np.float64]:
        counts = self._bars.counts.astype(np.float64)
        if not self._is_log:
            return np.where(counts > 0, np.maximum(counts, _SEEN * counts.max(initial=0)), 0.0)
        return np.asarray(np.where(counts > 0, np.log10(np.maximum(counts, 1)) + _LEAST, 0))

    @property
    def _floor(self) -> float:
        return -_LEAST if self._is_log else 0.0

    def _draw(self) -> None:
        bars, heights = self._bars, self._heights()
        few = bars.is_whole and bars.edges[0] >= -0.5 and bars.edges[-1] <= _WHOLE
        self.across.set_scale(plain_scale(self._dates, few and self._dates is None), self._of)
        counts = None if self._is_log else plain_scale(is_whole=bars.counts.max(initial=0) <= _WHOLE)
        self.upwards.set_scale(counts, f"Number of {self._unit}", self._is_log)
        low, high = float(bars.edges[0]), float(bars.edges[-1])
        margin = (high - low) * _BESIDE or 0.5
        top = float(heights.max()) if len(heights) else 1.0
        self.box.setRange(
            xRange=(low - margin, high + margin),
            yRange=(self._floor, self._floor + (top or 1.0) * (1 + _ABOVE)),
            padding=0,
            disableAutoRange=True,
        )
        self._draw_all()
        self._mark()

    def _draw_all(self) -> None:
        self._fill(self._all, slice(None), theme.colors().accent)

    def _mark(self) -> None:
        chosen = slice(0) if self._at is None else slice(self._at, self._at + 1)
        self._fill(self._one, chosen, theme.colors().text)

    def _fill(self, item: BarGraphItem, chosen: slice, color: str) -> None:
        edges = self._bars.edges
        item.setOpts(
            x0=edges[:-1][chosen],
            x1=edges[1:][chosen],
            y0=self._floor,
            height=self._heights()[chosen],
            brush=mkBrush(color),
            pen=mkPen(theme.colors().surface, width=1),
        )

    # Events

    def _point(self, number: int | None) -> None:
        if number != self._at:
            self._at = number
            self._mark()
            self.pointed.emit("" if number is None else self.words(number))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        position = self.position_of(event)
        self._point(None if position is None else self._bars.at(position[0]))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._point(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step, last = _STEPS.get(Qt.Key(event.key())), len(self._bars.counts) - 1
        if step is None or last < 0 or event.modifiers():
            event.ignore()
            return
        first = 0 if step > 0 else last
        self._point(first if self._at is None else max(0, min(last, self._at + step)))
        event.accept()


#: So many points are drawn one by one; of more how dense they are.
_EACH = 4_000
#: Side of a cell of the picture of densities, and how near the pointer must be to a point, in pixels.
_CELL, _REACH = 2, 8
#: Between two drawings, in milliseconds.
_FRAME = 16
_PADDING = 0.04
_POINT_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}


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
        step = _POINT_STEPS.get(Qt.Key(event.key()))
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
