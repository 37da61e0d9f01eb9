"""A small chart below the picture: lines over one axis, what could not be read, a line to drag, a cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pyqtgraph import InfiniteLine, PlotDataItem, ScatterPlotItem, mkPen
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from refbrowser.app.plot.axes.axes_view import AxesView, points_in_view
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import one_shot, plain_label
from refbrowser.views.numbers import DateScale
from refbrowser.views.plot.colouring import extremes
from refbrowser.views.plot.coordinates import AxisScale, Coordinate
from refbrowser.views.plot.levels import FARTHEST, finite
from refbrowser.views.plot.picture import STALE_NAME, ChunkState
from refbrowser.words import counted_spaced

#: Around the axes: left, top, right, bottom.
_MARGINS = (2, 6, 26, 2)
#: A chart at least so high, in pixels, has the name of its axis.
_LABELLED = 140
#: And none is lower.
_LEAST = 60
#: Lines of at most so many points show each of them; of several longer ones each shows some.
_MARKED, _SOME = 60, 9
#: Among more points no single one is looked for.
_CROWDED = 100_000
#: Parts of the values' range: free above and below, and between the marks of what has no value.
_PADDING, _BASE = 0.08, 0.05
#: Pixels between the rings around points of stale files.
_RINGS = 9
#: Between two drawings, in milliseconds.
_FRAME = 16
_PLAIN = AxisScale(Coordinate(name="value", size=0), by_value=True)
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}
_STEPS_UPRIGHT = {Qt.Key.Key_Down: -1, Qt.Key.Key_Up: 1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}


@dataclass(frozen=True, slots=True, eq=False)
class ChartLine:
    """One line: where its points are, and how it looks.

    Attributes
    ----------
    places, numbers
        Along the axis, rising or falling, and from it; NaN is a gap.
    failed
        Where the points are that could not be read.
    stale
        Positions of the points that are of files that are not those of the lock, rising.
    color, symbol
        Its look; the symbol is one of the plotting library.
    span
        The least and the greatest number, None where there is none.
    """

    places: npt.NDArray[np.float64]
    numbers: npt.NDArray[Any]
    failed: npt.NDArray[np.float64]
    stale: npt.NDArray[np.int64]
    color: str
    symbol: str
    span: tuple[float, float] | None


def chart_line(
    places: npt.NDArray[np.float64],
    numbers: npt.NDArray[Any],
    states: npt.NDArray[np.uint8],
    color: str,
    symbol: str,
    stale: npt.NDArray[np.bool_],
) -> ChartLine:
    """Return a line; `states` are the `ChunkState` of each point, `stale` tells of the file it came from."""
    failed = places[states == ChunkState.FAILED]
    low, high = (
        float(reduce(numbers)) if len(numbers) else np.nan for reduce in (np.fmin.reduce, np.fmax.reduce)
    )
    if not (abs(low) <= FARTHEST and abs(high) <= FARTHEST):
        known = finite(numbers)
        low, high = (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)
    span = None if np.isnan(low) else (low, high)
    return ChartLine(places, numbers, failed, np.flatnonzero(stale), color, symbol, span)


class LineChart(AxesView):
    """Lines over one axis; the values have the room that they need.

    Over pressure, depth or height the chart is upright: that axis is at the side, values are below.

    Signals
    -------
    pointed(object)
        The place along the axis under the pointer or the keyboard's cursor; None: nowhere.
    lineDragged(float)
        The line across the chart was dragged to a place along the axis.
    """

    pointed = Signal(object)
    lineDragged = Signal(float)

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(name, title, _MARGINS, parent)
        self.setMinimumHeight(_LEAST)
        self.is_upright = False
        self.box.setMouseEnabled(x=True, y=False)
        self.box.setDefaultPadding(0)
        self._items: list[tuple[PlotDataItem, ScatterPlotItem, ScatterPlotItem]] = []
        #: What each item was drawn from.
        self._drawn: list[tuple[Any, ...]] = []
        self.lines: Sequence[ChartLine] = ()
        self.place: float | None = None
        self._extent: tuple[float, float] | None = None
        self._heights = (0.0, 1.0)
        self._marks = ScatterPlotItem(pxMode=True)
        self._line = InfiniteLine(angle=90, movable=True)
        self._line.sigDragged.connect(lambda line: self.lineDragged.emit(float(line.value())))
        self._cursor = InfiniteLine(angle=90)
        for item, depth in ((self._marks, 6), (self._line, 8), (self._cursor, 7)):
            item.setZValue(depth)
            self.box.addItem(item, ignoreBounds=True)
        self._line.hide()
        self._cursor.hide()
        self._timer = one_shot(self, _FRAME, self.draw)
        self.set_axis(None, "")
        self._turn(is_upright=False)
        self.box.sigRangeChanged.connect(self._draw_soon)
        self.box.sigResized.connect(self._draw_soon)
        self.scene().sigMouseClicked.connect(self._mouse_clicked)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        super().restyle()
        colors = theme.colors()
        self._line.setPen(mkPen(colors.text, width=1.4))
        self._line.setHoverPen(mkPen(colors.accent, width=3))
        self._cursor.setPen(mkPen(colors.muted, width=1, style=Qt.PenStyle.DashLine))

    # What is shown

    def set_axis(
        self, scale: AxisScale | None, label: str, dates: DateScale | None = None, units: str = ""
    ) -> None:
        """Show a dimension, or plain numbers where it is None.

        Parameters
        ----------
        dates
            How the values become dates, where they are times.
        units
            Of the values.
        """
        scale = scale or _plain_scale(None)
        if scale.is_upright != self.is_upright:
            self._turn(is_upright=scale.is_upright)
        along, values = (self.upwards, self.across) if self.is_upright else (self.across, self.upwards)
        along.set_scale(scale, label)
        values.set_scale(_plain_scale(dates), units)
        self.box.invertY(self.is_upright and scale.runs_backwards(vertical=True))
        self._fit_label()

    def _turn(self, *, is_upright: bool) -> None:
        """Let the axis run upwards, or across."""
        self.is_upright = is_upright
        self.setAccessibleDescription(
            f"{'Up and down' if is_upright else 'Left and right'} move a cursor along the values"
        )
        self.box.setMouseEnabled(x=not is_upright, y=is_upright)
        self.box.setLimits(xMin=None, xMax=None, yMin=None, yMax=None)
        for line in (self._line, self._cursor):
            line.setAngle(0 if is_upright else 90)
        self._line.setCursor(Qt.CursorShape.SizeVerCursor if is_upright else Qt.CursorShape.SizeHorCursor)
        self._drawn = [() for _ in self._drawn]
        self._extent = None

    def _turned(self, places: Any, values: Any) -> tuple[Any, Any]:
        """Return what lies across and what upwards, of places along the axis and of values."""
        return (values, places) if self.is_upright else (places, values)

    def _fit_label(self) -> None:
        """Name the axis where there is room for it."""
        self.across.showLabel(self.height() >= _LABELLED)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if hasattr(self, "across"):
            self._fit_label()

    def set_lines(self, lines: Sequence[ChartLine]) -> None:
        """Show these lines; what is visible stays while they run over the same places."""
        if lines and tuple(lines) == self.lines:
            return
        while len(self._items) < len(lines):
            line = PlotDataItem(connect="finite", antialias=True)
            drawn = line, ScatterPlotItem(pxMode=True), ScatterPlotItem(pxMode=True, symbol="o", size=11)
            for item in drawn:
                item.setZValue(5)
                self.box.addItem(item, ignoreBounds=True)
            self._items.append(drawn)
            self._drawn.append(())
        while len(self._items) > len(lines):
            self._drawn.pop()
            for item in self._items.pop():
                self.box.removeItem(item)
        self.lines = tuple(lines)
        extent = _extent(self.lines)
        if extent != self._extent:
            self._extent = extent
            self.reset_view()
        self._fit_heights()
        self.draw()

    def twin(self) -> LineChart:
        """Return a chart that shows the same, for a figure."""
        chart = LineChart(self.objectName(), self.accessibleName())
        if self.is_upright:
            chart._turn(is_upright=True)
        for own, other in ((self.across, chart.across), (self.upwards, chart.upwards)):
            other.set_scale(own.scale_shown, own.named, own.log)
        chart.box.invertY(self.box.yInverted())
        chart.set_lines(self.lines)
        return chart

    def ringed_places(self) -> list[npt.NDArray[np.float64]]:
        """Return where along the axis rings are drawn, for each line."""
        return [self._turned(*rings.getData())[0] for _item, _markers, rings in self._items]

    def set_line(self, place: float | None) -> None:
        """Put the line across the chart at a place, or hide it."""
        self._line.setVisible(place is not None)
        if place is not None and not self._line.moving:
            self._line.setValue(place)

    def line_place(self) -> float | None:
        """Return where the line across the chart is, or None where it is hidden."""
        return float(self._line.value()) if self._line.isVisible() else None

    def set_cursor(self, place: float | None) -> None:
        """Show the cursor at a place, or hide it; it is not told."""
        self.place = place
        self._cursor.setVisible(place is not None)
        if place is not None:
            self._cursor.setValue(place)

    def reset_view(self) -> None:
        """See the whole lines again."""
        low, high = self._extent or (0.0, 1.0)
        # Upright there are fewer pixels: the marks at both ends are to be whole.
        margin = (high - low) * (0.05 if self.is_upright else 0.02) or max(abs(low) * 0.02, 0.5)
        ends = low - margin, high + margin
        name = "y" if self.is_upright else "x"
        self.box.setLimits(**{f"{name}Min": ends[0], f"{name}Max": ends[1]})
        self.box.setRange(**{f"{name}Range": ends}, padding=0, disableAutoRange=True, update=True)

    def _fit_heights(self) -> None:
        """Show all values, and free room below for the marks of what has none."""
        spans = [line.span for line in self.lines if line.span is not None]
        low = min((span[0] for span in spans), default=0.0)
        high = max((span[1] for span in spans), default=1.0)
        if not low < high:
            reach = max(abs(low) * 0.05, 1e-12) if low else 1.0
            low, high = low - reach, high + reach
        reach = high - low
        marked = sum(bool(len(line.failed)) for line in self.lines)
        base = low - reach * (_PADDING + (marked and _BASE * (marked + 1)))
        self._heights = base, high + reach * _PADDING
        self.box.setRange(**{"xRange" if self.is_upright else "yRange": self._heights}, padding=0)

    # Drawing

    def _draw_soon(self, *_arguments: Any) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def draw(self) -> None:
        """Bring the lines up to date with what is visible."""
        (left, right), _heights = self._turned(*self.box.viewRange())
        length, _other = self._turned(self.box.width(), self.box.height())
        pixels = max(1, int(length * self.devicePixelRatioF()))
        spots: list[dict[str, Any]] = []
        row = 0
        several = len(self.lines) > 1
        for number, (line, (item, markers, rings)) in enumerate(zip(self.lines, self._items, strict=True)):
            view = points_in_view(line.places, left, right)
            if len(line.failed):
                row += 1
                seen = line.failed[(line.failed >= left) & (line.failed <= right)]
                spots += self._failed_spots(seen, row, line.color, pixels)
            around = theme.colors().stale
            if self._drawn[number] == (line, view, pixels, several, around):
                continue
            self._drawn[number] = (line, view, pixels, several, around)
            places, numbers = line.places[view], line.numbers[view]
            x, y = extremes(places, numbers, pixels)
            item.setData(*self._turned(x, y), pen=mkPen(line.color, width=1.6))
            at = _marked(numbers, number) if several or len(numbers) <= _MARKED else _alone(numbers)
            marked = self._turned(places[at], numbers[at])
            markers.setData(*marked, symbol=line.symbol, size=7, brush=line.color, pen=mkPen(line.color))
            ringed = _ringed(line, view, pixels)
            around_them = self._turned(line.places[ringed], line.numbers[ringed])
            rings.setData(*around_them, pen=mkPen(around, width=1.6), brush=None)
        self._marks.setData(spots)

    def _failed_spots(
        self, places: npt.NDArray[np.float64], row: int, color: str, pixels: int
    ) -> list[dict[str, Any]]:
        """Return crosses at the least value of the chart, no more than are told apart."""
        low, high = self._heights
        step = max(1, len(places) * 6 // pixels)
        height = low + (high - low) * _BASE * row
        pen = mkPen(theme.colors().fault, width=1.2)
        return [
            {"pos": self._turned(place, height), "symbol": "x", "size": 7, "pen": pen, "brush": color}
            for place in places[::step].tolist()
        ]

    # Events

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        position = self.position_of(event)
        self._point(None if position is None else self._turned(*position)[0])

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._point(None)

    def _point(self, place: float | None) -> None:
        self.set_cursor(place)
        self.pointed.emit(place)

    def _mouse_clicked(self, event: Any) -> None:
        if event.double():
            self.reset_view()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = (_STEPS_UPRIGHT if self.is_upright else _STEPS).get(Qt.Key(event.key()))
        if step is not None and self.lines and not event.modifiers():
            self._step(step)
        elif event.key() == Qt.Key.Key_Home and not event.modifiers():
            self.reset_view()
        else:
            event.ignore()
            return
        event.accept()

    def _step(self, step: int) -> None:
        """Move the cursor by points of the longest line."""
        places = max((line.places for line in self.lines), key=len)
        if not len(places):
            return
        middle = len(places) // 2
        # Right goes right where the coordinate falls, too, and up goes up where the axis grows downwards.
        step = -step if (places[0] > places[-1]) != self.box.yInverted() else step
        at = middle if self.place is None else int(np.nanargmin(np.abs(places - self.place))) + step
        self._point(float(places[max(0, min(len(places) - 1, at))]))


def _plain_scale(dates: DateScale | None) -> AxisScale:
    if dates is None:
        return _PLAIN
    return AxisScale(Coordinate(name="value", size=0, dates=dates), by_value=True)


def _extent(lines: Sequence[ChartLine]) -> tuple[float, float] | None:
    ends = [line.places for line in lines if len(line.places)]
    if not ends:
        return None
    both = [float(each[end]) for each in ends for end in (0, -1)]
    return min(both), max(both)


def _marked(numbers: npt.NDArray[np.float64], number: int) -> npt.NDArray[np.int64]:
    """Return the points that have a marker: all of a few, else some, each line's at places of its own."""
    if len(numbers) <= _MARKED:
        found = np.arange(len(numbers))
    else:
        gap = len(numbers) / _SOME
        found = (gap * (np.arange(_SOME) + 0.3 + 0.07 * number)).astype(np.int64)
        found = np.union1d(found[found < len(numbers)], _alone(numbers))
    return found[np.isfinite(numbers[found])]


def _alone(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the values between two gaps: they have no line to be seen by."""
    if len(numbers) > _CROWDED:
        return np.zeros(0, np.int64)
    known = np.isfinite(numbers)
    alone = known & ~np.r_[False, known[:-1]] & ~np.r_[known[1:], False]
    return np.flatnonzero(alone)[: 10 * _MARKED]


def _ringed(line: ChartLine, view: slice, pixels: int) -> npt.NDArray[np.int64]:
    """Return the points of stale files in view: one of those that are not told apart."""
    start, stop, _step = view.indices(len(line.places))
    first, last = np.searchsorted(line.stale, (start, stop))
    points = line.stale[first:last]
    points = points[np.isfinite(line.numbers[points])]
    apart = max(1, (stop - start) * _RINGS // pixels)
    return points[np.unique(points // apart, return_index=True)[1]]


def ringed_text(count: int, what: str) -> str:
    """Return how many values, or what they are counted by, have rings around them, and why."""
    return f"{counted_spaced(count, what)} ringed: {STALE_NAME}"


class ChartPane(QWidget):
    """A chart with its title, what is under its cursor, and Copy, Export and Close.

    Parameters
    ----------
    name
        Begins the object names (``profile``: ``profileView``, ``profileCopy`` and so on).
    title
        What stands over it.

    Signals
    -------
    copyRequested(), exportRequested()
        The values are to be put on the clipboard, or into a file.
    closeRequested()
        The pane is to be hidden.
    """

    copyRequested = Signal()
    exportRequested = Signal()
    closeRequested = Signal()

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.setObjectName(f"{name}Pane")
        self.chart = LineChart(f"{name}View", title)
        self.title = plain_label(title, role="paneTitle", wrap=False)
        self.said = ElidedLabel(f"{name}Readout", role="muted")
        self.said.setMinimumWidth(1)
        self.copy = self.tool_button("Copy", f"Copy the values of the {name}")
        self.export = self.tool_button("Export", f"Write the values of the {name} to a file (CSV)")
        self.close_ = self.tool_button("Close", f"Hide the {name}")
        #: Where the pane's own controls go, between title and words.
        self.controls = QHBoxLayout()
        self.controls.setSpacing(theme.SMALL)
        head = QHBoxLayout()
        head.setSpacing(theme.SMALL)
        head.addWidget(self.title)
        head.addLayout(self.controls)
        head.addWidget(self.said, 1)
        for button in (self.copy, self.export, self.close_):
            head.addWidget(button)
        #: Strips between the line of words and the chart.
        self.strips = QVBoxLayout()
        #: The chart, and what the pane has beside it.
        self.body = QHBoxLayout()
        self.body.setSpacing(theme.MEDIUM)
        self.body.addWidget(self.chart, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SMALL, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(head)
        layout.addLayout(self.strips)
        layout.addLayout(self.body, 1)
        self.copy.clicked.connect(lambda _checked=False: self.copyRequested.emit())
        self.export.clicked.connect(lambda _checked=False: self.exportRequested.emit())
        self.close_.clicked.connect(lambda _checked=False: self.closeRequested.emit())
        self.restyle()

    def line_names(self) -> list[str]:
        """Return what each line of the chart is of; nothing where its title says it."""
        return []

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.copy.setIcon(icons.icon("copy"))
        self.export.setIcon(icons.icon("export"))
        self.close_.setIcon(icons.icon("cancel"))
        self.chart.restyle()

    def tool_button(self, name: str, tip: str) -> QToolButton:
        """Return a named button without text."""
        button = QToolButton()
        button.setObjectName(f"{self._name}{name}")
        button.setAccessibleName(tip)
        button.setToolTip(tip)
        # Narrow, so that the words beside it have the room.
        button.setStyleSheet("padding: 3px 4px")
        return button
