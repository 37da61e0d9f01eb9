"""A line through the values of a picture, drawn by its extremes where it has more points than pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pyqtgraph import PlotDataItem, mkPen

from refbrowser.app.widgets import theme
from refbrowser.views.plot.colouring import extremes
from refbrowser.views.plot.coordinates import AxisScale
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.levels import FARTHEST, Levels, finite
from refbrowser.views.plot.picture import ChunkState, Picture

#: Lines of at most so many points show each of them.
_MARKED_POINTS = 80


class LineLayer:
    """One line that shows one picture."""

    def __init__(self) -> None:
        self.item = PlotDataItem(connect="finite", antialias=True)
        self.item.setZValue(5)
        self.picture: Picture | None = None
        self._drawn: tuple[Any, ...] | None = None
        #: The numbers of the whole picture, NaN where there is none.
        self.numbers: npt.NDArray[Any] = np.zeros(0)
        #: Where they are drawn: the numbers, or their logarithms.
        self.heights: npt.NDArray[Any] = np.zeros(0)
        self._places: npt.NDArray[np.float64] = np.zeros(0)

    def set_picture(self, picture: Picture | None) -> None:
        """Show another picture, or nothing."""
        self.picture = picture
        self._drawn = None
        if picture is None:
            self.item.clear()
            self.numbers = self.heights = self._places = np.zeros(0)

    def draw(
        self,
        span: tuple[float, float],
        pixels: int,
        shown: Interpretation,
        scale: AxisScale,
        log: bool = False,
    ) -> bool:
        """Bring the item up to date for a view from ``span[0]`` to ``span[1]``; whether it was drawn anew.

        With `log` the heights are decimal logarithms.
        """
        picture = self.picture
        if picture is None:
            return False
        content = (picture.arrived, shown, scale, log)
        if self._drawn is None or self._drawn[0] != content:
            self._take(picture, shown, scale, log)
        view = self._view(span)
        if self._drawn == (content, view, pixels):
            return False
        self._drawn = (content, view, pixels)
        x, y = extremes(self._places[view], self.heights[view], pixels)
        known = np.isfinite(y)
        if not known.any():
            x, y = x[:0], y[:0]
        marked = len(x) <= _MARKED_POINTS
        accent = theme.colors().accent
        self.item.setData(
            x,
            y,
            pen=mkPen(accent, width=1.6),
            symbol="o" if marked else None,
            symbolSize=5,
            symbolBrush=accent,
            symbolPen=None,
        )
        return True

    def value_range(self) -> Levels | None:
        """Return the least and greatest finite height so far, or None where there is none."""
        numbers = self.heights
        if not len(numbers):
            return None
        low, high = float(np.fmin.reduce(numbers)), float(np.fmax.reduce(numbers))
        if not (abs(low) <= FARTHEST and abs(high) <= FARTHEST):
            known = finite(numbers)
            if not len(known):
                return None
            low, high = float(known.min()), float(known.max())
        if low < high:
            return Levels(low, high)
        reach = max(abs(low) * 0.05, 1e-12) if low else 1.0
        return Levels(low - reach, low + reach)

    def _take(self, picture: Picture, shown: Interpretation, scale: AxisScale, log: bool) -> None:
        numbers = shown.numbers(picture.values)
        if not picture.all_done:
            states = picture.element_states([np.arange(len(numbers), dtype=np.int64)])
            numbers[states != ChunkState.DONE] = np.nan
        self.numbers = self.heights = numbers
        if log:
            with np.errstate(divide="ignore", invalid="ignore"):
                self.heights = np.where(numbers > 0, np.log10(numbers), np.nan)
        self._places = scale.positions(picture.plan.ranges[0])

    def _view(self, span: tuple[float, float]) -> slice:
        """Return the points from one before the view to one after it."""
        places = self._places
        if len(places) < 2:
            return slice(None)
        low, high = sorted(span)
        if places[0] > places[-1]:
            first = len(places) - int(np.searchsorted(places[::-1], high, "right"))
            last = len(places) - int(np.searchsorted(places[::-1], low, "left"))
        else:
            first = int(np.searchsorted(places, low, "left"))
            last = int(np.searchsorted(places, high, "right"))
        return slice(max(0, first - 1), last + 1)
