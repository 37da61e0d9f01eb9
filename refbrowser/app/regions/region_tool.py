"""Keeps the regions of one plot, what is drawn of them and what is known of their values in agreement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from refbrowser.app.plot.axes.chart import ChartLine, chart_line
from refbrowser.app.plot.series import MARKS, Mark, question_text
from refbrowser.app.plot.shape_pencil import ShapePencil, is_flat
from refbrowser.app.regions.region_items import RegionItems
from refbrowser.app.regions.region_pane import RegionColumn, RegionPane
from refbrowser.app.regions.region_reader import Asked, RegionReader, ShownRegion
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import Cancelled
from refbrowser.model.selection import Selection
from refbrowser.views.plot.coordinates import AxisScale, line_scale
from refbrowser.views.plot.picture import ChunkState
from refbrowser.views.regions.region import EVERYWHERE, Condition, Region, parsed_region, parts_of
from refbrowser.views.regions.region_drawing import (
    DrawnShape,
    drawn_region,
    first_shape,
    outlines_of,
    replaced,
    shape_of,
)
from refbrowser.views.regions.region_grid import RegionGrid
from refbrowser.views.regions.region_statistics import (
    MEASURES,
    QUANTILES,
    Value,
    parsed_quantiles,
    series_rows,
    table_rows,
)

if TYPE_CHECKING:
    from refbrowser.app.plot.presenter import Presenter
    from refbrowser.views.plot.slicing import SliceState
    from refbrowser.views.plot_states.plot_state import PlotState

#: A region that is dragged is read once it stands still so long, in milliseconds.
_STILL = 120


class RegionTool(QObject):
    """The regions of one plot.

    Signals
    -------
    toggled()
        They are shown from now on, or no longer.
    pythonAsked(object, object)
        Lines of Python are to be copied for a region (`Region`), along a dimension or of the slice (None).
    """

    toggled = Signal()
    pythonAsked = Signal(object, object)

    def __init__(self, presenter: Presenter, pane: RegionPane, parent: QObject) -> None:
        super().__init__(parent)
        self._presenter, self.pane = presenter, pane
        self._subject, self._drawing = presenter.subject, presenter.stage.drawing
        self.is_on = False
        self.regions: list[ShownRegion] = []
        self.chosen = 0
        #: The dimension over all of which values are looked at; None for the slice.
        self.over: int | None = None
        self.measure = ""
        self._drawn: DrawnShape | None = None
        #: Whether what is drawn or typed next is one more region.
        self._adds = False
        self._quantiles: tuple[float, ...] = QUANTILES
        self._followed: tuple[object, ...] = ()
        self._seen: object = None
        self.items = RegionItems(self._drawing, self)
        self.pencil = ShapePencil(self._drawing, self)
        self.reader = RegionReader(self)
        self._timer = one_shot(self, _STILL, self._read)
        self.reader.changed.connect(self.refresh)
        self.items.dragged.connect(self._dragged)
        self.pencil.drawn.connect(self._finish)
        self.pencil.changed.connect(self._sketched)
        self.pencil.ended.connect(lambda: pane.show_drawn(""))
        pane.chart.lineDragged.connect(self._line_dragged)
        presenter.changed.connect(self._follow)
        presenter.moved.connect(self._follow)
        presenter.stage.pictureEnded.connect(self._picture_ended)
        presenter.stage.valuesChanged.connect(self._redraw)
        presenter.look.changed.connect(self._redraw)
        pane.quantilesEntered.connect(self._take_quantiles)
        pane.closeRequested.connect(lambda: self.set_on(False))
        pane.drawAsked.connect(self.draw)
        pane.textEntered.connect(self._entered)
        pane.chosen.connect(self._choose)
        pane.addAsked.connect(self._add)
        pane.removeAsked.connect(self.remove)
        pane.overChosen.connect(self.set_over)
        pane.measureChosen.connect(self.set_measure)
        pane.cancelAsked.connect(self.reader.stop)
        pane.question.answered.connect(self._answered)
        pane.pythonAsked.connect(self._ask_python)

    def set_on(self, on: bool) -> None:
        """Show the regions, or take them away and stop reading."""
        if on == self.is_on:
            return
        self.is_on = on
        self.pane.setVisible(on)
        if on:
            self._follow()
        else:
            self.pencil.end()
            self._timer.stop()
            self.reader.stop()
        self.refresh()
        self.toggled.emit()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.pane.restyle()
        self.items.restyle()
        self.refresh()

    # Which regions

    def set_region(self, region: Region) -> None:
        """Let the chosen region be another one; the first where there is none, one more if that was asked."""
        if self._adds:
            self._adds = False
            self.pencil.end()
            self.add(region)
            return
        if self.regions:
            shown = self.regions[self.chosen]
            shown.region = region
            shown.is_allowed = False
            shown.forget()
        else:
            self.regions, self.chosen = [ShownRegion(MARKS[0], region)], 0
        self.pane.text.setModified(False)
        self.pane.set_fault("")
        self._timer.start()
        self.refresh()

    def add(self, region: Region) -> None:
        """Show one more region, the chosen one from now on; the oldest goes where there are too many."""
        if len(self.regions) >= len(MARKS):
            self.regions.pop(0)
        taken = {each.mark for each in self.regions}
        mark = next(mark for mark in MARKS if mark not in taken)
        self.regions.append(ShownRegion(mark, region))
        self.chosen = len(self.regions) - 1
        self.pane.text.setModified(False)
        self._timer.start()
        self.refresh()

    def told(self, state: PlotState) -> PlotState:
        """Return a state with what is shown."""
        slice_ = self._state
        over = "" if self.over is None or slice_ is None else slice_.names[self.over]
        regions = tuple(str(each.region) for each in self.regions)
        return replace(state, regions=regions, region_over=over, region_measure=self.measure)

    def restore(self, state: PlotState) -> None:
        """Show the regions that a state tells; what is no region is left out."""
        self.regions, self.chosen = [], 0
        for mark, text in zip(MARKS, state.regions, strict=False):
            with suppress(RefbrowserError):
                self.regions.append(ShownRegion(mark, parsed_region(text)))
        slice_ = self._state
        names = () if slice_ is None else slice_.names
        self.over = names.index(state.region_over) if state.region_over in names else None
        is_known = self.over is not None and state.region_measure in MEASURES
        self.measure = state.region_measure if is_known else ""
        self._seen = None
        self.set_on(True)
        self._follow()

    def remove(self) -> None:
        """Take the chosen region away."""
        if self.regions:
            gone = self.regions.pop(self.chosen)
            self.chosen = max(0, min(self.chosen, len(self.regions) - 1))
            if self.reader.current is gone:
                self.reader.stop()
            self.pane.text.setModified(False)
            self._timer.start()
            self.refresh()

    def draw(self, what: str) -> None:
        """Let a ``rectangle`` or a ``polygon`` be drawn on the picture; empty: no more."""
        self.pencil.end()
        self._adds = self._adds and bool(what)
        if what:
            self.pencil.begin(2 if what == "rectangle" else 3, is_rectangle=what == "rectangle")
            self.pane.show_drawn(what)

    def set_over(self, dimension: int | None) -> None:
        """Look at all of a dimension, or at the slice alone."""
        if dimension == self.over:
            return
        self.over = dimension
        self.measure = "" if dimension is None else self.measure or next(iter(MEASURES))
        self._forget_all()

    def set_measure(self, measure: str) -> None:
        """Let the chart show one of `MEASURES` along a dimension; empty: the histogram."""
        self.measure = measure
        if measure and self.over is None:
            self.over = self._presenter.first_slider(self._state) if self._state else None
            self._forget_all()
        self.refresh()

    def _add(self) -> None:
        """Let one more region be drawn or typed."""
        if self._state is not None and self._state.y is not None:
            self.draw("rectangle")
        self._adds = True
        self.pane.begin_entry()

    def _choose(self, number: int) -> None:
        self.chosen, self._adds = number, False
        self.pane.text.setModified(False)
        self.refresh()

    def _entered(self, text: str) -> None:
        try:
            region = parsed_region(text)
        except RefbrowserError as error:
            self.pane.set_fault(error.message)
            return
        self.set_region(region)

    def _take_quantiles(self, text: str) -> None:
        """Tell other quantiles; the usual ones where none are given."""
        try:
            self._quantiles = parsed_quantiles(text) if text.strip() else QUANTILES
        except RefbrowserError as error:
            self.pane.set_fault(f"{error.message}: {error.advice}")
            return
        self.pane.set_fault("")
        self._forget_all()

    def _line_dragged(self, place: float) -> None:
        """Move the slider to where the line across the chart was dragged."""
        if self.over is not None and self._state is not None:
            index = line_scale(self._presenter.coordinates.coordinates[self.over]).index_at(place)
            if index is not None and index != self._state.indices[self.over]:
                self._presenter.set_index(self.over, index)

    def _answered(self, yes: bool) -> None:
        for each in [each for each in self.regions if each.is_asked]:
            if yes:
                each.is_allowed = True
            else:
                each.forget()
                each.error, each.is_current = Cancelled(), True
        self._read()

    def _ask_python(self) -> None:
        if self.regions:
            self.pythonAsked.emit(self.regions[self.chosen].region, self.over)

    # Drawing

    def _grid(self) -> RegionGrid | None:
        """Return the grid of what is drawn."""
        node = self._subject.node
        if node is None:
            return None
        placed = self.regions[self.chosen].placed if self.regions else None
        if placed is not None and placed.grid.path == node.path:
            return placed.grid
        return RegionGrid(node.path, self._presenter.coordinates.coordinates)

    def _finish(self, shape: DrawnShape) -> None:
        grid, state = self._grid(), self._state
        if state is None or state.y is None or grid is None:
            return
        drawn = drawn_region(grid, state.axes, shape, shortest=not is_flat(self._drawing.kind))
        is_new = self._adds or not self.regions
        self.set_region(drawn if is_new else replaced(self.regions[self.chosen].region, drawn))

    def _sketched(self, shape: DrawnShape | None) -> None:
        self._drawn = shape
        self._draw()

    def _dragged(self, number: int, row: float, column: float) -> None:
        grid, state = self._grid(), self._state
        if grid is None or state is None or not self.regions:
            return
        shape = shape_of(self.regions[self.chosen].region, grid, state.axes)
        if shape is None or number >= len(shape.handles):
            return
        self._finish(shape.with_corner(number, (row, column)))

    def _redraw(self) -> None:
        if self.is_on:
            self._draw()

    def _draw(self) -> None:
        """Draw outlines, handles and shade."""
        grid, state = self._grid(), self._state
        drawn = self._drawing.slice
        is_image = drawn is not None and drawn.y is not None
        if not self.is_on or grid is None or state is None or not (is_image and self._is_current()):
            self.items.hide()
            return
        rings = [(each.mark.dark, outlines_of(each.region, grid, state.axes)) for each in self.regions]
        if self._drawn is not None:
            is_projected = not is_flat(self._drawing.kind)
            outline = [np.array([*self._drawn.handles, self._drawn.handles[0]], np.float64)]
            if is_projected and len(self._drawn.handles) > 2:
                region = drawn_region(grid, state.axes, self._drawn, shortest=True)
                outline = outlines_of(region, grid, state.axes)
            mark = self.regions[self.chosen].mark if self.regions else MARKS[0]
            rings[self.chosen : self.chosen + 1] = [(mark.dark, outline)]
        self.items.show_outlines(rings)
        if not self.regions:
            self.items.show_handles(None)
            self.items.show_shade(None)
            return
        chosen = self.regions[self.chosen]
        self.items.show_handles(
            None if self._drawn is not None else shape_of(chosen.region, grid, state.axes)
        )
        placed, is_shaded = chosen.placed, chosen.is_current and chosen.region != EVERYWHERE
        by_values = any(isinstance(part, Condition) for part in parts_of(chosen.region))
        is_shaded &= self._drawn is None
        if placed is not None and is_shaded and (placed.state == state or not by_values):
            self.items.show_shade(placed.inside, placed.ranges)
        else:
            self.items.show_shade(None)

    # Following the plot

    @property
    def _state(self) -> SliceState | None:
        return self._subject.slice

    def _is_current(self) -> bool:
        node, state = self._subject.node, self._state
        if node is None or state is None:
            return False
        return self._followed == (self._subject.document, node.path, state.x, state.y, state.shape)

    def _follow(self) -> None:
        """Follow array, slice and coding."""
        subject = self._subject
        node, state = subject.node, self._state
        if not self.is_on or node is None or state is None or not subject.is_drawn:
            if self.is_on:
                self.items.hide()
            return
        followed = (subject.document, node.path, state.x, state.y, state.shape)
        if followed != self._followed:
            self._followed = followed
            if self.over is not None and self.over not in state.sliders:
                self.over, self.measure = None, ""
            for each in self.regions:
                each.placed = each.found = None
        if not self.regions:
            self._begin()
        if self._looked_at() != self._seen:
            self._forget_all()
        self.refresh()

    def _looked_at(self) -> object:
        """Return what is asked of the array: while it is the same, what is known stays."""
        state, subject = self._state, self._subject
        assert state is not None
        held = tuple(state.indices[axis] for axis in state.sliders if axis != self.over)
        return self._followed, held, subject.node, subject.decoded, self._presenter.coordinates.coordinates

    def _begin(self) -> None:
        """Begin with a rectangle in the middle of what is seen; everywhere on a line."""
        state, node = self._state, self._subject.node
        window = self._drawing.visible_window() if self._drawing.base is not None else []
        if state is None or state.y is None or node is None or len(window) != 2 or not all(map(len, window)):
            self.regions = [ShownRegion(MARKS[0], EVERYWHERE)]
            return
        grid = RegionGrid(node.path, self._presenter.coordinates.coordinates)
        region = drawn_region(grid, state.axes, first_shape(window))
        self.regions, self.chosen = [ShownRegion(MARKS[0], region)], 0

    def _forget_all(self) -> None:
        for each in self.regions:
            each.forget()
        self._seen = self._looked_at() if self._state is not None else None
        if self.is_on:
            self._timer.start()
        self.refresh()

    def _picture_ended(self) -> None:
        """Shade what is outside by the values of a picture that is complete."""
        if self.is_on and any(each.placed is None for each in self.regions):
            self._forget_all()

    def _read(self) -> None:
        subject, state = self._subject, self._state
        if not self.is_on or subject.document is None or subject.node is None or state is None:
            return
        whole = {*state.axes} | ({self.over} if self.over is not None else set())
        axes = tuple(
            range(size) if axis in whole else range(at, at + 1)
            for axis, (size, at) in enumerate(zip(state.shape, state.indices, strict=True))
        )
        picture = self._drawing.base
        is_same = picture is not None and picture.plan.slice == state and state.y is not None
        asked = Asked(
            subject.document,
            subject.node,
            subject.decoded,
            Selection(axes),
            self.over,
            self._quantiles,
            picture if is_same else None,
        )
        self.reader.read(asked, self.regions)

    # What is shown

    def refresh(self) -> None:
        """Bring picture, table and chart up to date."""
        self._draw()
        if not self.is_on:
            return
        pane = self.pane
        pane.cancel.setVisible(self.reader.is_reading)
        pane.set_regions(
            [each.mark for each in self.regions], [str(each.region) for each in self.regions], self.chosen
        )
        self._offer()
        pane.model.set_columns(
            [RegionColumn(each.mark, str(each.region), self._rows(each)) for each in self.regions]
        )
        pane.question.ask(question_text([each.cost for each in self.regions if each.is_asked]))
        self._draw_chart()
        self._say()

    def _offer(self) -> None:
        state = self._state
        sliders = [] if state is None else [axis for axis in state.sliders if state.shape[axis] > 1]
        overs: list[tuple[int | None, str]] = [(None, "this slice")]
        overs += [] if state is None else [(axis, f"all of {state.names[axis]}") for axis in sliders]
        over = self.over if self.over in sliders else None
        along = sliders and state is not None and state.names[over if over is not None else sliders[0]]
        measures = [("", "histogram")]
        measures += [(name, f"{name} along {along}") for name in MEASURES] if sliders else []
        measure = self.measure if any(name == self.measure for name, _text in measures) else ""
        self.pane.set_choices(overs, over, measures, measure)

    def _rows(self, shown: ShownRegion) -> tuple[tuple[str, Value, str], ...]:
        if shown.found is not None:
            return tuple(shown.found.rows())
        if shown.error is not None and not isinstance(shown.error, Cancelled):
            return (("elements", "–", error_text(shown.error)),)
        return (("elements", "not read" if shown.is_asked or shown.is_current else "…", ""),)

    def _draw_chart(self) -> None:
        chart = self.pane.chart
        scale = None
        if self.measure and self.over is not None:
            scale = line_scale(self._presenter.coordinates.coordinates[self.over])
        chart.set_line(None)
        if scale is None:
            chart.set_axis(None, self._subject.shown.units or "value", None, "elements")
            lines = self._histogram_lines()
        else:
            chart.set_axis(scale, scale.coordinate.axis_label, None, self._subject.shown.units)
            lines = self._series_lines(scale)
        chart.set_lines(lines)
        if scale is not None and self.over is not None and self._state is not None and lines:
            here = self._state.indices[self.over]
            chart.set_line(float(scale.positions(range(here, here + 1))[0]))
        self.pane.show_hint("" if lines else self._emptiness())
        has_any = any(each.found is not None for each in self.regions)
        self.pane.copy.setEnabled(has_any)
        self.pane.export.setEnabled(has_any)

    def _series_lines(self, scale: AxisScale) -> list[ChartLine]:
        """Return the measure of each region along the dimension, as far as it is known."""
        lines = []
        for each in self.regions:
            series = None if each.found is None else each.found.series
            if series is not None and len(series.indices) and series.coordinate.name == scale.coordinate.name:
                states = np.where(series.lost > 0, ChunkState.FAILED, ChunkState.DONE).astype(np.uint8)
                places = scale.positions(series.indices)
                lines.append(_line(each.mark, places, series.of(self.measure), states))
        return lines

    def _histogram_lines(self) -> list[ChartLine]:
        """Return the outlines of the histograms of the regions."""
        lines = []
        for each in self.regions:
            if each.found is None:
                continue
            edges, counts = each.found.histogram
            if len(counts):
                lines.append(_line(each.mark, np.repeat(edges, 2), np.r_[0, np.repeat(counts, 2), 0]))
        return lines

    def _emptiness(self) -> str:
        if self.reader.is_reading:
            return "Reading…"
        errors = [each.error for each in self.regions if each.error is not None]
        if errors:
            return error_text(errors[0])
        if any(each.found is not None and not each.found.valid for each in self.regions):
            return "The region has no values"
        return ""

    def _say(self) -> None:
        if not self.regions:
            self.pane.said.set_text("")
            return
        chosen = self.regions[self.chosen]
        words = []
        if self.reader.current is not None:
            part = f" {round(100 * self.reader.current.part)} %" if self.reader.current.part else ""
            words.append(f"reading{part}")
        if chosen.found is not None:
            if chosen.found.failed:
                words.append(f"{chosen.found.failed} elements could not be read")
            if not chosen.found.is_whole:
                words.append("so far")
            words.append(chosen.found.weighting_text)
        self.pane.said.set_text(", ".join(words))

    def rows(self) -> Iterator[list[str]] | None:
        """Return what is known of all regions as rows of text; None where nothing is."""
        found = [each.found for each in self.regions if each.found is not None]
        if not found:
            return None
        return series_rows(found) if self.measure and self.over is not None else table_rows(found)


def _line(mark: Mark, places: np.ndarray, numbers: np.ndarray, states: np.ndarray | None = None) -> ChartLine:
    known = np.full(len(places), ChunkState.DONE, np.uint8) if states is None else states
    stale = np.zeros(len(places), bool)
    return chart_line(places, numbers.astype(np.float64), known, mark.color, mark.symbol, stale)


def region_tool(presenter: Presenter, parent: QObject) -> RegionTool:
    """Return the regions of a plot, with their pane."""
    return RegionTool(presenter, RegionPane(), parent)
