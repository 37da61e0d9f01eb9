"""Bars over an axis: how often numbers occur; each bar can be pointed at, or reached with the arrow keys."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pyqtgraph import BarGraphItem, mkBrush, mkPen
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from refbrowser.app.plot.axes_view import AxesView
from refbrowser.app.widgets import theme
from refbrowser.views.nested.nested_tally import NO_BARS, Bars
from refbrowser.views.numbers import DateScale, value_text
from refbrowser.views.plot.coordinates import AxisScale, Coordinate, plain_coordinate
from refbrowser.views.words import count_text

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
