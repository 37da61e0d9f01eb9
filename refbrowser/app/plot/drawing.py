"""Draws pictures on the canvas: axes, visible range, levels, and what changed since the last time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QPointF, Signal

from refbrowser.app.plot.canvas import Extent, PlotCanvas, View
from refbrowser.app.plot.colour_bar import ColourBar
from refbrowser.app.plot.overlay_stack import OverlayStack, SwitchedOverlay
from refbrowser.app.plot.palette import Palette
from refbrowser.app.plot.reader import PlotSource
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.loading import load
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.longitudes import wrap_longitudes
from refbrowser.views.maps.layouts import ChosenProjection, ProjectionChoices
from refbrowser.views.maps.lookups import Lookup
from refbrowser.views.overlays.marks import USUAL_MARKS, Marks
from refbrowser.views.overlays.overlay import Overlay
from refbrowser.views.overlays.same_grid import GridArrays
from refbrowser.views.plot.coordinates import (
    AxisScale,
    Coordinate,
    plain_coordinate,
)
from refbrowser.views.plot.drawn_slice import DrawnSlice
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.levels import LevelKeeper, Levels, Scale, beyond, histogram
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.plot_kind import Control, PlotKind, Sought
from refbrowser.views.plot.plot_kinds import best
from refbrowser.views.plot.reading import ElementCoordinate
from refbrowser.views.plot.resolution import Backdrop
from refbrowser.views.plot.slicing import SliceState

#: Between two drawings while the user zooms or pans, in milliseconds.
FRAME = 16
#: Values that are looked at for the least and the greatest one.
_EXTREMES_OF = 4_000_000


_Part = TypeVar("_Part")


class DrawnKind:
    """Draws on the canvas of one drawing while its kind is shown; this one draws nothing.

    Parameters
    ----------
    drawing
        What is shown, and where.
    """

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing

    # What is shown

    def set_axes(self, values: str) -> None:
        """Show the axes of the slice; `values` names the values, with their units.

        Slices that are held at other indices alone have the same.
        """

    def set_pictures(self, base: Picture | None, detail: Picture | None) -> None:
        """Show a picture, and one of a part of it in more detail; None: nothing."""

    def draw(self, view: View) -> None:
        """Bring the canvas up to date."""

    def edges(self, picture: Picture) -> tuple[np.ndarray, np.ndarray] | None:
        """Return where the chunks of a picture begin and end: from the bottom up, and across.

        None where they are no rectangles: then `draw` marks those that did not come.
        """
        return picture.chunk_edges(0), picture.chunk_edges(1)

    @property
    def has_values(self) -> bool:
        """Whether any value has come that can be drawn."""
        return False

    @property
    def has_bar(self) -> bool:
        """Whether the bar of colours says what its colours mean."""
        return False

    @property
    def has_proportions(self) -> bool:
        """Whether it has proportions of its own, as maps and photographs have."""
        return False

    @property
    def lie(self) -> object:
        """How it lies, as coordinates of single elements may tell; None where they tell nothing."""
        return None

    # What is seen

    def turned(self, along: _Part, other: _Part) -> tuple[_Part, _Part]:
        """Return what lies across and what upwards, of what is along the first axis and of the other."""
        return along, other

    def spans(self, view: View) -> Sequence[tuple[AxisScale, Extent]]:
        """Return the scale along each axis of the slice, and what is visible of it."""
        return ()

    def margin(self, count: int) -> float:
        """Return how much is free around so many elements that are drawn at their indices."""
        return 0.5

    def reset_view(self, whole: Sequence[range], seen: Sequence[range]) -> None:
        """Make a part of the whole slice visible: indices along its axes."""

    def keep_view(self, view: View) -> None:
        """See what was visible of the slice before it got longer."""
        self._drawing.canvas.show_range(*view[:2])

    def outline(self, window: Sequence[range]) -> None:
        """Draw a frame around a part of the slice."""

    def place(self, element: tuple[int, ...], picture: Picture | None) -> tuple[float, float] | None:
        """Return where an element is drawn; None where it is not seen."""
        raise NotImplementedError

    def where(
        self, rows: npt.NDArray[Any], columns: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return where places of the slice are drawn, across and upwards; NaN where they are not.

        Parameters
        ----------
        rows, columns
            Positions along its axes, of one shape; whole numbers at the centres of elements.
        """
        raise NotImplementedError

    def moves(self, element: tuple[int, ...], across: int, upwards: int) -> tuple[int, ...]:
        """Return by how many indices along the axes an element is moved by cells on the screen."""
        return (across,) if len(element) == 1 else (upwards, across)

    def element_at(self, across: float, upwards: float) -> tuple[int, ...] | None:
        """Return the element at a position, by its indices along the axes of the slice; None outside."""
        drawing = self._drawing
        column = drawing.across.index_at(self.turned(across, upwards)[0])
        return None if column is None else (column,)

    # Where it is on the Earth

    def on_earth(
        self, longitudes: npt.NDArray[Any], latitudes: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
        """Return where places on the Earth (in degrees) are drawn, NaN where they are not seen.

        None where what is drawn is not on Earth, or it is not known yet where.
        """
        return None

    def earth_at(
        self, across: npt.NDArray[Any], upwards: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
        """Return the longitudes and latitudes that are drawn at positions, NaN where there is nothing.

        None where `on_earth` gives it.
        """
        return None

    @property
    def seam(self) -> float | None:
        """The meridian at which lines on the Earth are cut; None where they are cut at none."""
        return None

    @property
    def is_busy(self) -> bool:
        """Whether more of it is drawn in a moment, though no more is read."""
        return False

    @property
    def is_placing(self) -> bool:
        """Whether it is drawn elsewhere in a moment, and not at all until then."""
        return False

    def place_words(self, element: tuple[int, ...]) -> str:
        """Return where on the Earth an element is, where its coordinates do not say it; else nothing."""
        return ""

    @property
    def middle(self) -> tuple[float, float] | None:
        """The longitude and latitude in the middle of a map; None where it has none that can be set."""
        return None

    @property
    def is_indexed(self) -> bool:
        """Whether positions on the canvas are indices of elements."""
        return True

    @property
    def lookup(self) -> Lookup | None:
        """The element at each pixel of the view; None where elements are drawn at their indices."""
        return None

    @property
    def place_key(self) -> object:
        """What is another one when elements or places on the Earth are drawn elsewhere."""
        return None

    def notes(self) -> list[str]:
        """Return what is to be known about the axes."""
        return []

    # Numbers and levels

    def take_news(self, *, complete: bool) -> None:
        """Look at what has come, for levels or the range of an axis."""

    def recoded(self) -> None:
        """Take note that the values mean something else: coded otherwise, or on another scale."""

    def numbers(self) -> npt.NDArray[Any] | None:
        """Return numbers out of the picture as it is now; None where there are none."""
        return self._drawing.sampled_numbers()

    def follow_log(self) -> None:
        """Take note that logarithms are drawn from now on, or no longer."""

    @property
    def is_log_in_vain(self) -> bool:
        """Whether no value has a place on a logarithmic scale."""
        return False


class DrawnOverlay(SwitchedOverlay):
    """Draws over the picture of one drawing while it is switched on; this one draws nothing.

    What is drawn lies where `DrawnKind.where` puts the elements, and `DrawnKind.on_earth` the places. Where
    anything is still to come, `Drawing.overlaySettled` tells its end.

    Parameters
    ----------
    drawing
        What is shown, and where.
    """

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing


class Drawing(QObject):
    """The canvas and the colour bar, as one thing that shows a slice.

    Signals
    -------
    levelsChanged()
        The ends of the colours are other ones.
    overlaySettled()
        An overlay has ended what it did beside the window's thread.
    placed()
        It is drawn elsewhere, or it is known now where all of it is.
    """

    levelsChanged = Signal()
    overlaySettled = Signal()
    placed = Signal()

    def __init__(self, canvas: PlotCanvas, bar: ColourBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.canvas, self.bar = canvas, bar
        self.palette = Palette()
        #: Whether the values of a line stand on a logarithmic axis, and an image has logarithmic levels.
        self.log = False
        #: Whether images are photographs, which have proportions of their own as maps have.
        self.is_photograph = False
        #: Whether images are shown in their true proportions: maps, and others.
        self.proportional = {True: True, False: False}
        self.slice: SliceState | None = None
        #: What axes and bar were laid out for, beside the slice.
        self._meaning: tuple[object, ...] = ()
        self._label = ""
        self.shown: Interpretation | None = None
        self.coordinates: Sequence[Coordinate] = ()
        #: Coordinates of single elements, once they are read.
        self.auxiliary: Sequence[ElementCoordinate] = ()
        #: Why others did not come.
        self.lost_auxiliary: Sequence[str] = ()
        self.across = AxisScale(plain_coordinate("", 1))
        self.upwards: AxisScale | None = None
        self.projections = ProjectionChoices()
        #: Whose array is drawn, and the attributes of its grid mapping.
        self.source: PlotSource | None = None
        self.mapping: Mapping[str, Any] = {}
        #: What is seen behind the base picture where that is one of a part; set before that.
        self.backdrop: Backdrop | None = None
        self.base: Picture | None = None
        self.detail: Picture | None = None
        #: What draws the kind of plot that is shown, and its row in the table of kinds.
        self._nothing = DrawnKind(self)
        self.kind: DrawnKind = self._nothing
        self.row: PlotKind | None = None
        self._kinds: dict[str, DrawnKind] = {}
        #: Names of the switches of kinds that are on.
        self.switched: set[str] = set()
        self.overlays = OverlayStack(self._made_overlay, self._begin_overlay)
        self.marks = USUAL_MARKS
        self._neighbours = GridArrays()
        self._looked_at, self._looked_complete = 0, False
        self._told_levels: Levels | None = None
        self._timer = one_shot(self, FRAME, self.draw)

    @property
    def keeper(self) -> LevelKeeper:
        """The levels."""
        return self.palette.keeper

    @property
    def has_profiles(self) -> bool:
        """Whether a line can be drawn across, over which values are seen."""
        return self.row is not None and Control.PROFILE in self.row.controls

    @property
    def has_values(self) -> bool:
        """Whether any value has come that is a number."""
        return self.kind.has_values

    def turned(self, along: _Part, other: _Part) -> tuple[_Part, _Part]:
        """Return what lies across and what upwards, of what is along the first axis and of the other.

        It works both ways.
        """
        return self.kind.turned(along, other)

    def clear(self) -> None:
        """Draw nothing, and forget levels and range."""
        self.backdrop = None
        self.set_pictures(None, None)
        self.palette.forget()
        self.auxiliary = self.lost_auxiliary = ()
        self.slice = self.shown = self.row = self.source = None
        self._tell_overlays()
        self.kind = self._nothing

    def _turn_to(self, row: PlotKind) -> None:
        """Draw another kind of plot, or go on with the same."""
        if row is self.row:
            return
        self.kind.set_pictures(None, None)
        self.row = row
        if row.name not in self._kinds:
            self._kinds[row.name] = load(row.drawn_by)(self)
        self.kind = self._kinds[row.name]

    # Axes and range

    def drawn_slice(self) -> DrawnSlice:
        """Return what is known of the slice that is drawn."""
        assert self.shown is not None
        assert self.slice is not None
        others, mapping = self.others(), self.mapping
        return DrawnSlice(self.shown, self.slice, self.coordinates, self.auxiliary, others, mapping)

    def others(self) -> tuple[ArrayNode, ...]:
        """Return other arrays that lie on the grid of the one that is drawn."""
        hierarchy = None if self.source is None else self.source.hierarchy
        if self.slice is None or self.shown is None or hierarchy is None:
            return ()
        return self._neighbours.of(hierarchy, self.shown.node, self.slice)

    def set_marks(self, marks: Marks) -> None:
        """Draw other lines and arrows over the picture."""
        self.marks = marks
        self._tell_overlays()
        self.draw()

    def set_slice(
        self, state: SliceState, coordinates: Sequence[Coordinate], shown: Interpretation, label: str
    ) -> None:
        """Take axes and meaning of what is shown; `label` names the values."""
        meaning = shown, coordinates, label, self.log
        is_same = state.is_parallel(self.slice) and meaning == self._meaning
        self.slice, self.shown, self.coordinates, self._meaning = state, shown, coordinates, meaning
        if not is_same:
            self._lay_out(state, shown, label)
        self._tell_overlays()

    def look_for_kinds(self) -> None:
        """Choose anew what draws the next slice: there are more kinds."""
        self._meaning = ()

    def _lay_out(self, state: SliceState, shown: Interpretation, label: str) -> None:
        """Choose what draws the slice, and let it and the bar show their axes."""
        self._label = label
        note = shown.units or (shown.dates.note if shown.dates is not None else "")
        units = f"{label} [{note}]" if note else label
        self._turn_to(best(Sought(shown, state)))
        self.palette.by_flags, self.palette.bands = shown.flags is not None, state.bands
        self.kind.set_axes(units)
        self.canvas.box.turned = None if self.kind.middle is None else self.turn_map
        self.bar.set_wanted(self.kind.has_bar)
        self.bar.set_meaning(shown.units, shown.dates)
        self._show_table()

    def set_auxiliary(self, auxiliary: Sequence[ElementCoordinate], lost: Sequence[str], label: str) -> None:
        """Take coordinates of single elements; where they are those of a map, north is up."""
        before, is_indexed = self.kind.lie, self.kind.is_indexed
        window = None if self.sees_whole() else self.visible_window()
        self.auxiliary, self.lost_auxiliary = auxiliary, lost
        if self.slice is None or self.shown is None or before is None:
            return
        self._lay_out(self.slice, self.shown, label)
        self._tell_overlays()
        if is_indexed != self.kind.is_indexed:
            self.lay_out_again(window)
        elif window is None and before != self.kind.lie:
            self.reset_view()
            self.draw()

    def take_over(self, other: Drawing) -> None:
        """Draw what comes by the projection that another drawing has, with the same drawn over it."""
        self.projections.take_over(other.projections)
        self.overlays.chosen.update(other.overlays.chosen)

    def choose_projection(self, choice: ChosenProjection) -> None:
        """Draw by another projection, here and for what is shown later of its kind."""
        if self.slice is not None and self.shown is not None:
            window = None if self.sees_whole() else self.visible_window()
            if self.projections.choose(self.drawn_slice(), choice):
                self.lay_out_again(window)

    def turn_map(self, start: QPointF, end: QPointF) -> None:
        """Turn the map so that what was at one place comes to another one."""
        across, upwards = np.array([[start.x(), end.x()], [start.y(), end.y()]])
        middle, places = self.kind.middle, self.kind.earth_at(across, upwards)
        if middle is None or places is None or not np.isfinite(places).all():
            return
        longitude, latitude = (wrap_longitudes(float(first - last)) for first, last in places)
        choice = self.projections.of(self.drawn_slice())
        centre = middle[0] + longitude, float(np.clip(middle[1] + latitude, -90.0, 90.0))
        saw_all, view = self.sees_whole(), self.canvas.sought_view()
        self.projections.choose(self.drawn_slice(), replace(choice, centre=centre))
        self.lay_out_again(None)
        if not saw_all:
            self.canvas.show_range(*view[:2])
            self.draw()

    def lay_out_again(self, window: Sequence[range] | None) -> None:
        """Draw it elsewhere; a window of it stays visible, or the whole."""
        if self.slice is None or self.shown is None:
            return
        self._lay_out(self.slice, self.shown, self._label)
        self.kind.set_pictures(self.base, self.detail)
        self.mark_chunks(self.base)
        self.reset_view(window)
        self._tell_overlays()
        self.draw()
        self.placed.emit()

    def reset_view(self, window: Sequence[range] | None = None) -> None:
        """Make the whole slice visible, or a window of it (indices along the axes)."""
        state = self.slice
        self.canvas.set_outline(None)
        if state is None:
            return
        whole = [range(state.shape[axis]) for axis in state.axes]
        self.kind.reset_view(whole, list(window or whole))

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
        self.kind.keep_view(view)

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
        self.kind.outline(window)

    @property
    def aspect_locked(self) -> bool:
        """Whether the image is shown in its true proportions; it does not fill the view then."""
        return self.proportional[self.kind.has_proportions]

    def lock_aspect(self, locked: bool) -> None:
        """Show maps in their true proportions, or fill the view with them; or so with other images."""
        self.proportional[self.kind.has_proportions] = locked
        self.reset_view()

    def visible_window(self) -> list[range]:
        """Return the indices that are visible along the axes of the slice."""
        return [scale.indices(span) for scale, span in self.kind.spans(self.canvas.view())]

    def extent(self, scale: AxisScale, indices: range) -> Extent:
        """Return from where to where elements reach, with something around them."""
        if not len(indices):
            return 0.0, 1.0
        if not scale.by_value:
            margin = self.kind.margin(len(indices))
            return indices[0] - margin, indices[-1] + margin
        places = scale.positions(indices)
        low, high = float(places.min()), float(places.max())
        margin = (high - low) * 0.02 or max(abs(low) * 0.05, 0.5)
        return low - margin, high + margin

    # Levels

    def take_news(self, complete: bool) -> None:
        """Draw what has come; levels and range follow it, as little as may be."""
        if self.shown is None or self.base is None:
            return
        if self.backdrop is None or self.palette.colouring() is None:
            # A part of what is seen has the colours of the whole.
            self.kind.take_news(complete=complete)
        self.draw()

    def forget_levels(self) -> None:
        """Take levels anew, because the numbers mean something else."""
        self.palette.forget()
        self._looked_at, self._looked_complete = 0, False

    def is_time_to_look(self, complete: bool) -> bool:
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
        numbers = self.kind.numbers()
        if numbers is not None:
            self.palette.auto(numbers)
            self.describe(numbers)
            self.draw()

    def set_extremes(self, extremes: bool) -> None:
        """Take the least and the greatest value for levels, or percentiles, from the picture as it is now."""
        self.keeper.extremes = extremes
        self.auto_levels()

    def set_levels(self, levels: Levels, ends: tuple[str, str]) -> None:
        """Hold the levels that the user set; `ends` says what they are."""
        self.keeper.set_by_user(levels, ends)
        if self.shown is not None and self.base is not None and self.base.has_data:
            # Some are enough to tell what lies beyond, at each move of the pointer.
            self.describe(self.shown.numbers(self.base.sample()))
        self.draw()

    def hold_levels(self, levels: Levels, ends: tuple[str, str]) -> None:
        """Hold levels that are not the user's, until others are taken; `ends` says what they are."""
        self.keeper.set_by_user(levels, ends)
        numbers = self.kind.numbers()
        if numbers is not None:
            self.describe(numbers)
        self.draw()

    def set_scale(self, scale: Scale) -> None:
        """Lay the colours over the values otherwise."""
        numbers = self.kind.numbers()
        self.palette.set_scale(scale, numbers)
        if scale.both_signs and self.log:
            self.log = self.keeper.log = False
        if numbers is not None:
            self.describe(numbers)
        self.draw()

    def set_log(self, log: bool) -> None:
        """Use a logarithmic scale for colours, or for the values of a line; or a linear one."""
        self.log = self.keeper.log = log
        self.kind.follow_log()
        self.draw()

    @property
    def is_log_in_vain(self) -> bool:
        """Whether a logarithmic scale is wanted, but no value has a place on it."""
        if not self.log or self.palette.by_flags:
            return False
        return self.kind.is_log_in_vain

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
        numbers = self.kind.numbers()
        if numbers is not None:
            self.describe(numbers)

    def sampled_numbers(self) -> npt.NDArray[Any] | None:
        """Return numbers out of the picture as it is now; for extremes nearly all, else some."""
        if self.shown is None or self.base is None or not self.base.has_data:
            return None
        return self.shown.numbers(self.sample())

    def sample(self) -> npt.NDArray[Any]:
        """Return elements of the picture: for extremes nearly all, else some."""
        assert self.base is not None
        return self.base.sample(_EXTREMES_OF) if self.keeper.extremes else self.base.sample()

    def describe(self, numbers: npt.NDArray[Any]) -> None:
        """Say on the colour bar what its ends are, what lies beyond them, and how often values occur."""
        keeper, levels = self.keeper, self.keeper.levels
        if levels is None:
            return
        self.bar.set_ends(keeper.ends, beyond(levels, numbers), extremes=keeper.extremes)
        if self.bar.shows_histogram:
            self.bar.set_histogram(histogram(numbers, levels))
        if levels != self._told_levels:
            self._told_levels = levels
            self.levelsChanged.emit()

    # Drawing

    def set_pictures(self, base: Picture | None, detail: Picture | None) -> None:
        """Show a picture, and one of a part of it in more detail."""
        if base is not self.base:
            self._looked_at, self._looked_complete = 0, False
        self.base, self.detail = base, detail
        self.kind.set_pictures(base, detail)
        self.overlays.set_pictures(base, detail)
        self.mark_chunks(base)

    def _made_overlay(self, overlay: Overlay) -> DrawnOverlay:
        drawn: DrawnOverlay = load(overlay.drawn_by)(self)
        return drawn

    def _begin_overlay(self, drawn: SwitchedOverlay) -> None:
        drawn.set_slice()
        drawn.set_pictures(self.base, self.detail)
        drawn.draw(self.canvas.view())

    def _tell_overlays(self) -> None:
        is_known = self.slice is not None and self.shown is not None
        self.overlays.set_slice(self.drawn_slice() if is_known else None)

    def draw_soon(self) -> None:
        """Draw within a frame, however often it is asked."""
        if not self._timer.isActive():
            self._timer.start()

    def draw(self) -> None:
        """Bring the canvas up to date."""
        if self.base is None or self.shown is None:
            return
        view = self.canvas.view()
        self.kind.draw(view)
        self.overlays.draw(view)
        self.canvas.states.refresh()

    def mark_chunks(self, picture: Picture | None) -> None:
        """Mark what did not come of a picture."""
        edges = None if picture is None else self.kind.edges(picture)
        self.canvas.states.set_picture(None if edges is None else picture, edges)

    @staticmethod
    def wider(extent: Extent, part: float) -> Extent:
        """Return an extent with a part of it more on each side."""
        margin = (extent[1] - extent[0]) * part
        return extent[0] - margin, extent[1] + margin
