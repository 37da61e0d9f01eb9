"""Draws a line: values over one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from refbrowser.app.plot.canvas import Extent, LineLayer, ShownScale, View
from refbrowser.app.plot.drawing import Drawing, DrawnKind
from refbrowser.views.plot.coordinates import AxisScale, Coordinate, line_scale
from refbrowser.views.plot.picture import Picture

#: Part of the values' range that is left free above and below a line.
_PADDING = 0.06
_Part = TypeVar("_Part")


class LineKind(DrawnKind):
    """Draws the values of a slice with one axis as a line; those over pressure, depth or height upright.

    Attributes
    ----------
    layer
        What is on the canvas.
    """

    layer: LineLayer

    def __init__(self, drawing: Drawing) -> None:
        super().__init__(drawing)
        self.layer = drawing.canvas.line
        self._value_range: tuple[float, float] | None = None

    def set_axes(self, values: str) -> None:
        drawing, state, shown = self._drawing, self._drawing.slice, self._drawing.shown
        assert state is not None
        assert shown is not None
        coordinate = drawing.coordinates[state.x]
        drawing.across, drawing.upwards = line_scale(coordinate), None
        heights = Coordinate(name="value", size=0, dates=shown.dates, named=shown.named_values)
        along = ShownScale(drawing.across, coordinate.axis_label)
        over = ShownScale(AxisScale(heights, True), values, drawing.log)
        drawing.canvas.set_scales(*self.turned(along, over))
        drawing.canvas.set_ground(None)

    def set_pictures(self, base: Picture | None, detail: Picture | None) -> None:
        self.layer.set_picture(base)
        if base is None:
            self._value_range = None

    def draw(self, view: View) -> None:
        drawing = self._drawing
        assert drawing.shown is not None
        self._choose_picture()
        pixels = self.turned(*view[2])[0]
        self.layer.draw(self._seen()[0], pixels, drawing.shown, drawing.across, drawing.log)

    def _choose_picture(self) -> None:
        """Draw the picture of a part where it holds all that is visible."""
        drawing = self._drawing
        fits = drawing.detail is not None and drawing.detail.plan.covers(drawing.visible_window())
        wanted = drawing.detail if fits else drawing.base
        if wanted is not self.layer.picture:
            self.layer.set_picture(wanted)
            drawing.mark_chunks(wanted)

    def edges(self, picture: Picture) -> tuple[np.ndarray, np.ndarray]:
        across, scale = picture.chunk_edges(0), self._drawing.across
        if scale.by_value and scale.coordinate.values is not None:
            values = scale.coordinate.values
            across = np.interp(across, np.arange(len(values)), values)
        # Bands that reach beyond whatever the value axis shows.
        horizontal, vertical = self.turned(across, np.array([-1e30, 1e30]))
        return vertical, horizontal

    @property
    def has_values(self) -> bool:
        return self.layer.value_range() is not None

    # What is seen

    def turned(self, along: _Part, other: _Part) -> tuple[_Part, _Part]:
        return (other, along) if self._drawing.across.is_upright else (along, other)

    def spans(self, view: View) -> Sequence[tuple[AxisScale, Extent]]:
        return ((self._drawing.across, self.turned(*view[:2])[0]),)

    def margin(self, count: int) -> float:
        return 0.02 * count

    def reset_view(self, whole: Sequence[range], seen: Sequence[range]) -> None:
        drawing = self._drawing
        across = drawing.extent(drawing.across, whole[-1])
        self._value_range = None
        drawing.canvas.set_aspect(None)
        drawing.canvas.set_limits(*self.turned(drawing.wider(across, 0.05), None))
        drawing.canvas.set_content(*self.turned(across, None))
        self._show(drawing.extent(drawing.across, seen[-1]), self._seen()[1])
        self._fit_values(complete=True)

    def keep_view(self, view: View) -> None:
        self._show(self.turned(*view[:2])[0], self._seen()[1])

    def place(self, element: tuple[int, ...], picture: Picture | None) -> tuple[float, float]:
        across = float(self._drawing.across.positions(range(element[-1], element[-1] + 1))[0])
        at = None if picture is None else picture.position(element)
        heights = self.layer.heights
        value = float(heights[at[0]]) if at is not None and at[0] < len(heights) else 0.0
        return self.turned(across, value)

    def _seen(self) -> tuple[Extent, Extent]:
        """Return what is visible: along the axis, and of the values."""
        across, upwards, _pixels = self._drawing.canvas.view()
        return self.turned(across, upwards)

    def _show(self, along: Extent, values: Extent) -> None:
        """Make exactly this part visible."""
        self._drawing.canvas.show_range(*self.turned(along, values))

    # The range of the values

    def take_news(self, *, complete: bool) -> None:
        self._drawing.draw()
        self._fit_values(complete)

    def recoded(self) -> None:
        self._drawing.reset_view()

    def _fit_values(self, complete: bool) -> None:
        """Give the value axis the range of the values; it shrinks for another line only."""
        found = self.layer.value_range()
        if found is None:
            if complete and self._value_range is None:
                self._show(self._seen()[0], (0.0, 1.0))
            return
        margin = (found.high - found.low) * _PADDING
        wanted = (found.low - margin, found.high + margin)
        now = self._value_range
        seen = self._seen()[1]
        if now is not None and not np.allclose(now, seen, rtol=1e-6):
            return
        if now is not None:
            fits = now[0] <= found.low and found.high <= now[1]
            if fits and (not complete or wanted[1] - wanted[0] > 0.25 * (now[1] - now[0])):
                return
            if not complete:
                wanted = (min(now[0], wanted[0]), max(now[1], wanted[1]))
        self._value_range = wanted
        drawing = self._drawing
        whole = drawing.extent(drawing.across, range(drawing.across.coordinate.size))
        drawing.canvas.set_content(*self.turned(whole, wanted))
        self._show(self._seen()[0], wanted)

    @property
    def is_log_in_vain(self) -> bool:
        return self.layer.value_range() is None and bool(np.isfinite(self.layer.numbers).any())
