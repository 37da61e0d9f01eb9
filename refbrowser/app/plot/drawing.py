"""Draws pictures on the canvas: axes, visible range, levels, and what changed since the last time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QPointF, QRectF, Signal

from refbrowser.app.plot.canvas import Extent, PlotCanvas, ShownScale, View
from refbrowser.app.plot.colour_bar import DEFAULT_MAP, MAPS, ColourBar, Table, flag_table, table
from refbrowser.app.plot.reader import PictureLoader, PlotSource
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import one_shot
from refbrowser.views.plot.bands import Bands, TrueColouring, white_of
from refbrowser.views.plot.colouring import Colouring, FlagColouring, LevelColouring
from refbrowser.views.plot.coordinates import (
    AxisRole,
    AxisScale,
    Coordinate,
    cell_aspect,
    is_map,
    is_no_strip,
    line_scale,
    plain_coordinate,
)
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.levels import LevelKeeper, Levels, beyond, histogram
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.plan import plan_view, widened
from refbrowser.views.plot.reading import Auxiliary
from refbrowser.views.plot.slicing import SliceState
from refbrowser.views.words import one_line


class Palette:
    """The colours of one plot: what the user chose of them, and the levels that they are kept at."""

    def __init__(self) -> None:
        self.keeper = LevelKeeper()
        self.map_title = DEFAULT_MAP
        self.reverse = False
        #: Whether values are named by flags, which then have the colours.
        self.by_flags = False
        #: The bands that are colours, and the number that is full intensity, None before any is known.
        self.bands: Bands | None = None
        self.white: float | None = None
        #: The number of the only flag that is coloured, None for all.
        self.chosen_flag: int | None = None

    def forget(self) -> None:
        """Begin anew with another variable."""
        self.keeper.forget()
        self.chosen_flag = self.white = None

    @property
    def is_diverging(self) -> bool:
        """Whether the colour map has a middle, which stands for zero."""
        return MAPS[self.map_title].diverging

    def colouring(self) -> Colouring | None:
        """Return how elements are coloured; None before there is any."""
        if self.bands is not None:
            return None if self.white is None else TrueColouring(self.bands, self.white)
        if self.by_flags:
            return FlagColouring(self.chosen_flag)
        return None if self.keeper.levels is None else LevelColouring(self.keeper.levels)

    def table(self) -> Table | None:
        """Return the colours, the same object for the same ones; None where the values are colours."""
        if self.bands is not None:
            return None
        if self.by_flags:
            return flag_table(theme.colors().surface)
        return table(self.map_title, self.reverse)

    def take(self, numbers: npt.NDArray[Any], complete: bool) -> None:
        """Look at numbers that have come, for levels."""
        self.keeper.symmetric = self.is_diverging
        self.keeper.take(numbers, complete)

    def take_white(self, numbers: npt.NDArray[Any], dtype: np.dtype[Any]) -> None:
        """Look at numbers of bands that have come; white stays as long as none is greater."""
        self.white = max(self.white or 0.0, white_of(numbers, dtype))

    def auto(self, numbers: npt.NDArray[Any]) -> None:
        """Take the levels from these numbers."""
        self.keeper.symmetric = self.is_diverging
        self.keeper.auto(numbers)

    def set_log(self, log: bool, numbers: npt.NDArray[Any]) -> None:
        """Use logarithmic levels, or linear ones."""
        self.keeper.symmetric = self.is_diverging
        self.keeper.set_log(log, numbers)

    def set_levels(self, levels: Levels) -> None:
        """Hold the levels that the user set."""
        self.keeper.set_by_user(levels)


#: Between two drawings while the user zooms or pans, in milliseconds.
FRAME = 16
#: Part of the values' range that is left free above and below a line.
_PADDING = 0.06
#: Values that are looked at for levels while a picture fills.
_SAMPLE = 10_000
#: Values that are looked at for the least and the greatest one.
_EXTREMES_OF = 4_000_000


_ON_EARTH = (AxisRole.LATITUDE, AxisRole.LONGITUDE)
_Part = TypeVar("_Part")


class Drawing(QObject):
    """The canvas and the colour bar, as one thing that shows a slice."""

    def __init__(self, canvas: PlotCanvas, bar: ColourBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.canvas, self.bar = canvas, bar
        self.palette = Palette()
        #: Whether the values of a line stand on a logarithmic axis, and an image has logarithmic levels.
        self.log = False
        #: Whether images are photographs, which have proportions of their own as maps have.
        self.is_photograph = False
        #: Whether images are shown in their true proportions: maps, and others.
        self._proportional = {True: True, False: False}
        self.slice: SliceState | None = None
        self.shown: Interpretation | None = None
        self.coordinates: Sequence[Coordinate] = ()
        #: Coordinates of single elements, once they are read.
        self.auxiliary: Sequence[Auxiliary] = ()
        self.across = AxisScale(plain_coordinate("", 1))
        self.upwards: AxisScale | None = None
        self.base: Picture | None = None
        self.detail: Picture | None = None
        self._value_range: tuple[float, float] | None = None
        self._looked_at, self._looked_complete = 0, False
        self._timer = one_shot(self, FRAME, self.draw)

    @property
    def keeper(self) -> LevelKeeper:
        """The levels."""
        return self.palette.keeper

    @property
    def is_line(self) -> bool:
        """Whether a line is drawn, not an image."""
        return self.slice is not None and self.slice.y is None

    @property
    def has_profiles(self) -> bool:
        """Whether each element drawn is one value of an image, not a line's or a colour."""
        return self.slice is not None and self.slice.y is not None and self.slice.bands is None

    def turned(self, along: _Part, other: _Part) -> tuple[_Part, _Part]:
        """Return what lies across and what upwards, of what is along a line's axis and of its values.

        It works both ways. Lines over pressure, depth or height are upright.
        """
        return (other, along) if self.is_line and self.across.is_upright else (along, other)

    @property
    def has_values(self) -> bool:
        """Whether any value has come that is a number."""
        if self.is_line:
            return self.canvas.line.value_range() is not None
        return self.palette.colouring() is not None

    def clear(self) -> None:
        """Draw nothing, and forget levels and range."""
        self.set_pictures(None, None)
        self.palette.forget()
        self.auxiliary = ()
        self.slice = self.shown = None
        self._value_range = None

    # Axes and range

    def set_slice(
        self, state: SliceState, coordinates: Sequence[Coordinate], shown: Interpretation, label: str
    ) -> None:
        """Take axes and meaning of what is shown; `label` names the values."""
        self.slice, self.coordinates, self.shown = state, coordinates, shown
        note = shown.units or (shown.dates.note if shown.dates is not None else "")
        units = f"{label} [{note}]" if note else label
        if state.y is None:
            self.across, self.upwards = line_scale(coordinates[state.x]), None
            values = Coordinate(name="value", size=0, dates=shown.dates, named=shown.named_values)
            along = ShownScale(self.across, coordinates[state.x].axis_label)
            self.canvas.set_scales(*self.turned(along, ShownScale(AxisScale(values, True), units, self.log)))
            self.canvas.set_ground(None)
        else:
            self.across, self.upwards = self._scale(state.x), self._scale(state.y)
            self.canvas.set_scales(
                ShownScale(self.across, coordinates[state.x].axis_label),
                ShownScale(self.upwards, coordinates[state.y].axis_label),
            )
            self.canvas.set_ground(QRectF(-0.5, -0.5, state.shape[state.x], state.shape[state.y]))
        self.palette.by_flags, self.palette.bands = shown.flags is not None, state.bands
        self.bar.setVisible(not self.is_line and not self.palette.by_flags and state.bands is None)
        self.bar.set_meaning(shown.units, shown.dates)
        self._show_table()

    def _scale(self, dimension: int) -> AxisScale:
        """Return the axis of an image along a dimension; longitudes grow to the right, latitudes upwards."""
        assert self.slice is not None
        runs = AxisRole.LONGITUDE if dimension == self.slice.x else AxisRole.LATITUDE
        grows = (each.grows(dimension) for each in self.auxiliary if each.role is runs)
        return AxisScale(self.coordinates[dimension], grows=next(grows, None))

    def set_auxiliary(self, auxiliary: Sequence[Auxiliary], label: str) -> None:
        """Take coordinates of single elements; where they are those of a map, north is up."""
        before = self._is_map, self.across.grows, None if self.upwards is None else self.upwards.grows
        self.auxiliary = auxiliary
        if self.slice is None or self.shown is None or self.slice.y is None:
            return
        saw_all = self.sees_whole()
        self.set_slice(self.slice, self.coordinates, self.shown, label)
        assert self.upwards is not None
        if saw_all and before != (self._is_map, self.across.grows, self.upwards.grows):
            self.reset_view()
            self.draw()

    def reset_view(self, window: Sequence[range] | None = None) -> None:
        """Make the whole slice visible, or a window of it (indices along the axes)."""
        state = self.slice
        self.canvas.set_outline(None)
        if state is None:
            return
        whole = [range(state.shape[axis]) for axis in state.axes]
        seen = list(window or whole)
        across = self._extent(self.across, whole[-1])
        if state.y is None:
            self._value_range = None
            self.canvas.set_aspect(None)
            self.canvas.set_limits(*self.turned(_wider(across, 0.05), None))
            self.canvas.set_content(*self.turned(across, None))
            self._show_line(self._extent(self.across, seen[-1]), self._line_view()[1])
            self._fit_values(complete=True)
            return
        assert self.upwards is not None
        upwards = self._extent(self.upwards, whole[0])
        # With a fixed aspect one side of the picture is narrower than the view.
        free = 20.0 if self.aspect_locked else 0.05
        self.canvas.set_limits(_wider(across, free), _wider(upwards, free))
        self.canvas.set_content(across, upwards)
        cells = cell_aspect(self.across.coordinate, self.upwards.coordinate)
        picture = cells * (across[1] - across[0]) / (upwards[1] - upwards[0])
        self.canvas.set_aspect(cells if self.aspect_locked else None, picture)
        self.canvas.show_range(self._extent(self.across, seen[1]), self._extent(self.upwards, seen[0]))

    def notes_of_axes(self) -> list[str]:
        """Return which axes of an image are not to scale, or are none of the earth."""
        shown = [self.across.coordinate] + ([] if self.upwards is None else [self.upwards.coordinate])
        if self._is_map_by_elements():
            names = " and ".join(one_line(each.name) for each in self.auxiliary if each.role in _ON_EARTH)
            return [f"axes are indices: point at an element to read its {names}"]
        return [
            f"{one_line(each.name)} is not to scale: its steps differ, each is drawn alike"
            for each in shown
            if each.ascending is not None and not each.even
        ]

    def sees_whole(self) -> bool:
        """Whether the whole slice is visible."""
        state = self.slice
        if state is None:
            return True
        seen = self.visible_window()
        return all(part == range(state.shape[axis]) for part, axis in zip(seen, state.axes, strict=True))

    def keep_view(self, view: View) -> None:
        """See what was visible of the slice before it got longer."""
        self.reset_view()
        if self.is_line:
            self._show_line(self.turned(*view[:2])[0], self._line_view()[1])
        else:
            self.canvas.show_range(*view[:2])

    def show_chunk(self, window: Sequence[range]) -> None:
        """Zoom to the part of the slice that a chunk holds, with something around it, and outline it."""
        state = self.slice
        if state is None:
            return
        sizes = [state.shape[axis] for axis in state.axes]
        around = [
            range(max(0, part.start - margin), min(size, part.stop + margin))
            for part, size in zip(window, sizes, strict=True)
            for margin in [max(1, len(part) // 4)]
        ]
        self.reset_view(around)
        if state.y is not None:
            (top, bottom), (left, right) = ((part.start - 0.5, part.stop - 0.5) for part in window)
            self.canvas.set_outline(QRectF(QPointF(left, top), QPointF(right, bottom)))

    @property
    def _is_map(self) -> bool:
        if self.upwards is None:
            return False
        if self.is_photograph and is_no_strip(self.across.coordinate, self.upwards.coordinate):
            return True
        return is_map(self.across.coordinate, self.upwards.coordinate) or self._is_map_by_elements()

    def _is_map_by_elements(self) -> bool:
        """Whether each element of the image has a latitude and a longitude of its own."""
        assert self.upwards is not None
        roles = {each.role for each in self.auxiliary if each.spans(self.slice.axes if self.slice else ())}
        is_map_shaped = is_no_strip(self.across.coordinate, self.upwards.coordinate)
        return set(_ON_EARTH) <= roles and is_map_shaped

    @property
    def aspect_locked(self) -> bool:
        """Whether the image is shown in its true proportions; it does not fill the view then."""
        return self._proportional[self._is_map]

    def lock_aspect(self, locked: bool) -> None:
        """Show maps in their true proportions, or fill the view with them; or so with other images."""
        self._proportional[self._is_map] = locked
        self.reset_view()

    def visible_window(self) -> list[range]:
        """Return the indices that are visible along the axes of the slice."""
        assert self.slice is not None
        across, upwards, _pixels = self.canvas.view()
        spans = [self._line_view()[0]] if self.slice.y is None else [upwards, across]
        scales = [self.across] if self.upwards is None else [self.upwards, self.across]
        return [_indices(scale, span) for scale, span in zip(scales, spans, strict=True)]

    def _line_view(self) -> tuple[Extent, Extent]:
        """Return what is visible of a line: along its axis, and of the values."""
        across, upwards, _pixels = self.canvas.view()
        return self.turned(across, upwards)

    def _show_line(self, along: Extent, values: Extent) -> None:
        """Make exactly this part of a line visible."""
        self.canvas.show_range(*self.turned(along, values))

    def _extent(self, scale: AxisScale, indices: range) -> tuple[float, float]:
        if not len(indices):
            return 0.0, 1.0
        if not scale.by_value:
            if self.is_line:
                return indices[0] - 0.02 * len(indices), indices[-1] + 0.02 * len(indices)
            return indices[0] - 0.5, indices[-1] + 0.5
        places = scale.positions(indices)
        low, high = float(places.min()), float(places.max())
        margin = (high - low) * 0.02 or max(abs(low) * 0.05, 0.5)
        return low - margin, high + margin

    # Levels

    def take_news(self, complete: bool) -> None:
        """Draw what has come; levels and range follow it, as little as may be."""
        if self.shown is None or self.base is None:
            return
        if self.is_line:
            self.draw()
            self._fit_values(complete)
        elif self.base.has_data and self._is_time_to_look(complete):
            sample = self._sample() if complete else self.base.sample(_SAMPLE)
            numbers = self.shown.numbers(sample)
            if self.palette.bands is not None:
                self.palette.take_white(numbers, self.base.values.dtype)
            else:
                self.palette.take(numbers, complete)
                self._describe(numbers)
        self.draw()

    def forget_levels(self) -> None:
        """Take levels anew, because the numbers mean something else."""
        self.palette.forget()
        self._looked_at, self._looked_complete = 0, False

    def _is_time_to_look(self, complete: bool) -> bool:
        """Whether to look at the values for levels: at each doubling of what has come, and at the end."""
        assert self.base is not None
        if self._looked_at == self.base.arrived and complete == self._looked_complete:
            return False
        if not complete and self.base.arrived < 2 * self._looked_at:
            return False
        self._looked_at, self._looked_complete = self.base.arrived, complete
        return True

    def auto_levels(self) -> None:
        """Take levels from the picture as it is now."""
        numbers = self._numbers()
        if numbers is not None:
            self.palette.auto(numbers)
            self._describe(numbers)
            self.draw()

    def set_extremes(self, extremes: bool) -> None:
        """Take the least and the greatest value for levels, or percentiles, from the picture as it is now."""
        self.keeper.extremes = extremes
        self.auto_levels()

    def set_levels(self, levels: Levels) -> None:
        """Hold the levels that the user set."""
        self.palette.set_levels(levels)
        if self.shown is not None and self.base is not None and self.base.has_data:
            # Some are enough to tell what lies beyond, at each move of the pointer.
            self._describe(self.shown.numbers(self.base.sample()))
        self.draw()

    def set_log(self, log: bool) -> None:
        """Use a logarithmic scale for colours, or for the values of a line; or a linear one."""
        self.log = self.keeper.log = log
        numbers = self._numbers()
        if numbers is not None and not self.is_line:
            self.palette.set_log(log, numbers)
            self._describe(numbers)
        self.draw()

    @property
    def is_log_in_vain(self) -> bool:
        """Whether a logarithmic scale is wanted, but no value has a place on it."""
        if not self.log or self.palette.by_flags:
            return False
        if self.is_line:
            return self.canvas.line.value_range() is None and bool(
                np.isfinite(self.canvas.line.numbers).any()
            )
        return self.keeper.levels is not None and not self.keeper.levels.log

    def set_map(self, title: str, reverse: bool) -> None:
        """Use another colour map; a diverging one is centred on zero where there are values on both sides."""
        before = self.palette.is_diverging
        self.palette.map_title, self.palette.reverse = title, reverse
        self._show_table()
        if before != self.palette.is_diverging and not self.keeper.by_user:
            self.auto_levels()
        self.draw()

    def _show_table(self) -> None:
        colours = self.palette.table()
        if colours is not None:
            self.bar.set_table(colours)

    def choose_flag(self, number: int | None) -> None:
        """Colour one flag only; None: all of them."""
        self.palette.chosen_flag = number
        self.draw()

    def show_histogram(self, shown: bool) -> None:
        """Show how often values occur beside the colours, or not."""
        self.bar.show_histogram(shown)
        numbers = self._numbers()
        if numbers is not None:
            self._describe(numbers)

    def _numbers(self) -> npt.NDArray[Any] | None:
        """Return numbers out of the picture as it is now; for extremes nearly all, else some."""
        if self.shown is None or self.base is None or not self.base.has_data:
            return None
        if self.palette.bands is not None:
            return None
        return self.shown.numbers(self._sample())

    def _sample(self) -> npt.NDArray[Any]:
        assert self.base is not None
        return self.base.sample(_EXTREMES_OF) if self.keeper.extremes else self.base.sample()

    def _describe(self, numbers: npt.NDArray[Any]) -> None:
        """Say on the colour bar what its ends are, what lies beyond them, and how often values occur."""
        keeper, levels = self.keeper, self.keeper.levels
        if levels is None:
            return
        self.bar.set_ends(keeper.ends, beyond(levels, numbers), extremes=keeper.extremes)
        if self.bar.shows_histogram:
            self.bar.set_histogram(histogram(numbers, levels))

    def _fit_values(self, complete: bool) -> None:
        """Give the value axis of a line the range of its values; it shrinks for another line only."""
        found = self.canvas.line.value_range()
        if found is None:
            if complete and self._value_range is None:
                self._show_line(self._line_view()[0], (0.0, 1.0))
            return
        margin = (found.high - found.low) * _PADDING
        wanted = (found.low - margin, found.high + margin)
        now = self._value_range
        seen = self._line_view()[1]
        if now is not None and not np.allclose(now, seen, rtol=1e-6):
            return
        if now is not None:
            fits = now[0] <= found.low and found.high <= now[1]
            if fits and (not complete or wanted[1] - wanted[0] > 0.25 * (now[1] - now[0])):
                return
            if not complete:
                wanted = (min(now[0], wanted[0]), max(now[1], wanted[1]))
        self._value_range = wanted
        whole = self._extent(self.across, range(self.across.coordinate.size))
        self.canvas.set_content(*self.turned(whole, wanted))
        self._show_line(self._line_view()[0], wanted)

    # Drawing

    def set_pictures(self, base: Picture | None, detail: Picture | None) -> None:
        """Show a picture, and one of a part of it in more detail."""
        if base is not self.base:
            self._looked_at, self._looked_complete = 0, False
        self.base, self.detail = base, detail
        self.canvas.image.set_picture(None if self.is_line else base)
        self.canvas.detail.set_picture(None if self.is_line else detail)
        self.canvas.line.set_picture(base if self.is_line else None)
        self._mark_chunks(base)

    def draw_soon(self) -> None:
        """Draw within a frame, however often it is asked."""
        if not self._timer.isActive():
            self._timer.start()

    def draw(self) -> None:
        """Bring the canvas up to date."""
        if self.base is None or self.shown is None:
            return
        view = self.canvas.view()
        if self.is_line:
            self._choose_line()
            pixels = self.turned(*view[2])[0]
            self.canvas.line.draw(self._line_view()[0], pixels, self.shown, self.across, self.log)
        else:
            colouring, colours = self.palette.colouring(), self.palette.table()
            self.canvas.image.draw(view, self.shown, colouring, colours)
            self.canvas.detail.draw(view, self.shown, colouring, colours)
            self.bar.set_levels(self.keeper.levels)
        self.canvas.states.refresh()

    def _choose_line(self) -> None:
        """Draw the picture of a part where it holds all that is visible."""
        fits = self.detail is not None and self.detail.plan.covers(self.visible_window())
        wanted = self.detail if fits else self.base
        if wanted is not self.canvas.line.picture:
            self.canvas.line.set_picture(wanted)
            self._mark_chunks(wanted)

    def _mark_chunks(self, picture: Picture | None) -> None:
        self.canvas.states.set_picture(picture, None if picture is None else self._edges(picture))

    def _edges(self, picture: Picture) -> tuple[np.ndarray, np.ndarray]:
        if not self.is_line:
            return picture.chunk_edges(0), picture.chunk_edges(1)
        across = picture.chunk_edges(0)
        if self.across.by_value and self.across.coordinate.values is not None:
            values = self.across.coordinate.values
            across = np.interp(across, np.arange(len(values)), values)
        # Bands that reach beyond whatever the value axis shows.
        horizontal, vertical = self.turned(across, np.array([-1e30, 1e30]))
        return vertical, horizontal


def _wider(extent: tuple[float, float], part: float) -> tuple[float, float]:
    margin = (extent[1] - extent[0]) * part
    return extent[0] - margin, extent[1] + margin


def _indices(scale: AxisScale, span: tuple[float, float]) -> range:
    size = scale.coordinate.size
    if scale.by_value:
        ends = sorted(scale.coordinate.nearest(value) for value in span)
        return range(max(0, ends[0] - 1), min(size, ends[1] + 2))
    low, high = sorted(span)
    return range(max(0, int(np.floor(low + 0.5))), min(size, int(np.ceil(high + 0.5))))


class Refiner(QObject):
    """Keeps a second picture, of the visible part, over the first one.

    Signals
    -------
    changed()
        Another picture of a part is shown, or none.
    ended()
        It is read.
    """

    changed = Signal()
    ended = Signal()

    def __init__(self, drawing: Drawing, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._loader = PictureLoader("plot-detail", self)
        self._loader.shown.connect(self._shown)
        self._loader.filled.connect(drawing.draw)
        self._loader.ended.connect(self._ended)

    @property
    def is_reading(self) -> bool:
        """Whether anything is still to come."""
        return self._loader.is_reading

    def picture_for(self, base: Picture) -> Picture | None:
        """Return the picture of a part of what `base` shows, or None."""
        found = self._loader.current
        return found if found is not None and _same_slice(found, base) else None

    def refine(self, document: PlotSource, base: Picture) -> None:
        """Read the visible part where that shows more than `base` does and needs no question."""
        window = self._drawing.visible_window()
        if not all(len(part) for part in window):
            return
        plan = plan_view(base.node, base.plan.slice, window)
        enough = base.plan.covers(window) and not plan.finer_than(base.plan)
        if enough or plan.too_large:
            self.drop()
            return
        now = self.picture_for(base)
        if now is None or not now.plan.covers(window) or plan.finer_than(now.plan):
            wide = plan_view(base.node, base.plan.slice, widened(window, base.plan.slice))
            self._loader.request(document, base.node, plan if wide.too_large else wide)

    def drop(self) -> None:
        """Show no detail."""
        had = self._loader.current is not None
        self._loader.clear()
        if had:
            self.changed.emit()

    def _shown(self, picture: Picture) -> None:
        base = self._drawing.base
        if base is not None and _same_slice(picture, base):
            self.changed.emit()

    def _ended(self, _picture: Picture) -> None:
        self.ended.emit()


def _same_slice(detail: Picture, base: Picture) -> bool:
    return detail.node is base.node and detail.plan.slice == base.plan.slice
