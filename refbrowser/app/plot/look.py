"""How a plot looks: coding, colours, levels and proportions, as the user chose them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from refbrowser.app.plot.colours.colour_maps import DEFAULT_MAP, SPECIAL_MAPS, all_maps
from refbrowser.app.plot.header import PlotOptions
from refbrowser.app.plot.reader import PlotSource
from refbrowser.app.plot.stage import PaneParts, Stage, Subject
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.maps.layouts import ChosenProjection, suited_projections
from refbrowser.views.overlays.marks import USUAL_MARKS, Marks
from refbrowser.views.overlays.overlay_table import of_array
from refbrowser.views.plot.bands import Bands
from refbrowser.views.plot.colouring import Quantity, quantity_of
from refbrowser.views.plot.drawn_slice import DrawnSlice
from refbrowser.views.plot.levels import BY_USER, USUAL_SCALE, Levels, Scale
from refbrowser.views.plot.plot_kind import Control
from refbrowser.views.plot.units import conversion_of
from refbrowser.views.plot_states.plot_state import PlotState

if TYPE_CHECKING:
    from refbrowser.model.expressions.conversions import Conversion

#: Arrays whose choices are remembered.
_REMEMBERED = 500


@dataclass(frozen=True, slots=True)
class _Kept:
    decoded: bool
    log: bool
    levels: Levels | None = None
    extremes: bool = False
    colour: bool | None = None
    #: Levels that nobody set, to begin with.
    fitted: Levels | None = None
    scale: Scale = USUAL_SCALE
    ends: tuple[str, str] = BY_USER
    marks: Marks = USUAL_MARKS
    #: Overlays of this array alone that are on.
    overlaid: frozenset[str] = frozenset()


class Look(QObject):
    """The switches of one pane.

    Coding, scale and levels of the user are kept for each array, the colour map for each kind of quantity,
    the proportions for maps and for other images, the rest for all.

    Signals
    -------
    changed()
        `options` is another one.
    codingChanged()
        The conventions are applied from now on, or no longer.
    unitsChanged()
        The array is to be shown in other units.
    colourChosen(bool)
        Bands are to be shown as colours, or one by one.
    """

    changed = Signal()
    codingChanged = Signal()
    unitsChanged = Signal()
    colourChosen = Signal(bool)

    def __init__(self, pane: PaneParts, subject: Subject, stage: Stage, parent: QObject) -> None:
        super().__init__(parent)
        self._pane, self._subject, self._stage, self._drawing = pane, subject, stage, stage.drawing
        self._kept: dict[tuple[str, str], _Kept] = {}
        self._units: dict[tuple[str, str], Conversion] = {}
        self._decoded = True
        self._quantity = Quantity.PLAIN
        self._default_map = DEFAULT_MAP
        self._maps = {Quantity.PLAIN: DEFAULT_MAP, **SPECIAL_MAPS}
        self._histogram = False
        self.options = PlotOptions()
        stage.controlsChanged.connect(self._tell)
        stage.drawing.placed.connect(self._tell)

    def set_defaults(self, colour_map: str, decoded: bool) -> None:
        """Use a colour map from now on, and the coding for arrays that were not shown before."""
        self._decoded = decoded
        title = colour_map if colour_map in all_maps() else DEFAULT_MAP
        if title != self._default_map:
            self._default_map = self._maps[Quantity.PLAIN] = title
            self._use_map(self._maps[self._quantity])

    def begin(self, document: PlotSource, node: ArrayNode) -> None:
        """Take the choices for another array."""
        self._quantity = quantity_of(node)
        # The ends of a cyclic map are one colour: they are to be the ends of the values.
        first = _Kept(self._decoded, False, extremes=self._quantity is Quantity.CYCLIC)
        kept = self._kept.get(_key(document, node), first)
        self._subject.decoded = kept.decoded
        self._drawing.log = self._drawing.keeper.log = kept.log
        self._drawing.keeper.extremes = kept.extremes
        if kept.levels is not None:
            self._drawing.keeper.set_by_user(kept.levels, kept.ends)
        elif kept.fitted is not None:
            self._drawing.keeper.begin_with(kept.fitted)
        self._drawing.keeper.set_scale(kept.scale, None)
        self._drawing.marks = kept.marks
        self._drawing.overlays.choose_for_array(kept.overlaid)
        self._use_map(self._maps[self._quantity])

    # As a value

    def told(self, state: PlotState) -> PlotState:
        """Return a state of the plot with how it looks."""
        drawing, keeper = self._drawing, self._drawing.keeper
        levels, choice = keeper.levels, drawing.projections.chosen(self._drawn_slice())
        return replace(
            state,
            in_colour=None if self._subject.bands is None else self._shows_bands(),
            decoded=self._subject.decoded,
            units="" if (conversion := self.conversion()) is None else conversion.units,
            colour_map=drawing.palette.map_title,
            reverse=drawing.palette.reverse,
            log=drawing.log,
            levels=None if levels is None else (levels.low, levels.high),
            are_levels_set=keeper.by_user,
            scale=keeper.scale.said(),
            marks=drawing.marks.said(),
            extremes=keeper.extremes,
            histogram=self._histogram,
            aspect=drawing.proportional[False],
            map_aspect=drawing.proportional[True],
            switches=tuple(sorted(drawing.switched)),
            overlays=dict(drawing.overlays.chosen),
            projection="" if choice is None else choice.name,
            centre=None if choice is None else choice.centre,
        )

    def expect(self, document: PlotSource, node: ArrayNode, state: PlotState) -> None:
        """Let an array look as a state tells once it is shown; all that is for other arrays, too, at once."""
        levels = state.levels and Levels(*state.levels, state.log and state.levels[0] > 0)
        held, fitted = (levels, None) if state.are_levels_set else (None, levels)
        kept = _Kept(
            state.decoded,
            state.log,
            held or None,
            state.extremes,
            state.in_colour,
            fitted or None,
            Scale.of(state.scale),
            marks=Marks.of(state.marks),
            overlaid=of_array(name for name, on in state.overlays.items() if on),
        )
        self._put(_key(document, node), kept)
        self._put_units(_key(document, node), conversion_of(node, state.units))
        if state.colour_map in all_maps():
            self._maps[quantity_of(node)] = state.colour_map
        self._drawing.set_map(self._drawing.palette.map_title, state.reverse)
        self.set_histogram(state.histogram)
        self._drawing.proportional = {False: state.aspect, True: state.map_aspect}
        self._drawing.switched = set(state.switches)
        for name, on in state.overlays.items():
            self._drawing.overlays.switch(name, on)
        choice = ChosenProjection(state.projection, state.centre) if state.projection else None
        self._drawing.projections.choose_for_all(choice)

    # Coding

    def set_decoded(self, decoded: bool) -> None:
        """Apply scale, offset and missing values, or show the elements as they are stored."""
        if decoded == self._subject.decoded or self._subject.node is None:
            self._tell()
            return
        self._subject.decoded = decoded
        self._drawing.forget_levels()
        self._keep()
        self._show_again()
        self.codingChanged.emit()

    # Units

    def units(self, document: PlotSource, node: ArrayNode) -> Conversion | None:
        """Return how the values of an array are put in other units; None where they are not."""
        return self._units.get(_key(document, node))

    def conversion(self) -> Conversion | None:
        """Return how the values that are shown are put in other units; None where they are not."""
        document, node = self._subject.document, self._subject.node
        return None if document is None or node is None else self.units(document, node)

    def set_units(self, conversion: Conversion | None) -> None:
        """Show the values of the array in other units; None for its own."""
        document, node = self._subject.document, self._subject.node
        if document is not None and node is not None:
            self._put_units(_key(document, node), conversion)
            # Levels are numbers in the units before.
            self._drawing.forget_levels()
            self.unitsChanged.emit()

    def keep_units(self, node: ArrayNode) -> Conversion | None:
        """Let another level of the image that is shown be in the same units, and return how."""
        conversion, document = self.conversion(), self._subject.document
        if document is not None:
            self._put_units(_key(document, node), conversion)
        return conversion

    def _put_units(self, key: tuple[str, str], conversion: Conversion | None) -> None:
        self._units.pop(key, None)
        if conversion is not None:
            self._units[key] = conversion
        if len(self._units) > _REMEMBERED:
            del self._units[next(iter(self._units))]

    # Colours

    def wants_colour(self, document: PlotSource, node: ArrayNode, bands: Bands) -> bool:
        """Whether the bands of an array are shown as colours: as was chosen, else where they are such."""
        kept = self._kept.get(_key(document, node))
        return bands.is_sure if kept is None or kept.colour is None else kept.colour

    def set_colour(self, colour: bool) -> None:
        """Show the bands of a picture as colours, or one of them."""
        if self._subject.bands is not None and self._subject.offers(Control.BANDS):
            self.colourChosen.emit(colour)
            self._keep()
        self._tell()

    def set_log(self, log: bool) -> None:
        """Use a logarithmic scale for the levels, or for the values of a line."""
        self._drawing.set_log(log)
        self._keep()
        self._show_again()

    def set_map(self, title: str) -> None:
        """Use another colour map, for all arrays of such quantities."""
        self._maps[self._quantity] = title
        self._use_map(title)

    def _use_map(self, title: str) -> None:
        if title != self._drawing.palette.map_title:
            self._pane.header.choose_map(title)
            self._drawing.set_map(title, self._drawing.palette.reverse)
        self._tell()

    def next_map(self) -> None:
        """Use the colour map after this one."""
        if self.options.has_levels:
            titles = list(all_maps())
            self.set_map(titles[(titles.index(self._drawing.palette.map_title) + 1) % len(titles)])

    def set_reverse(self, reverse: bool) -> None:
        """Run through the colour map from its other end."""
        self._drawing.set_map(self._drawing.palette.map_title, reverse)
        self._tell()

    def set_marks(self, marks: Marks) -> None:
        """Draw other lines and arrows over the picture."""
        self._drawing.set_marks(marks)
        self._stage.show_notes()
        self._keep()
        self._tell()

    def set_levels(self, levels: Levels, ends: tuple[str, str] = BY_USER) -> None:
        """Hold levels that the user set; `ends` says what they are."""
        self._drawing.set_levels(levels, ends)
        self._keep()
        self._tell()

    def set_scale(self, scale: Scale) -> None:
        """Lay the colours otherwise over the values: centred, in steps, the same for all slices."""
        self._drawing.set_scale(scale)
        self._keep()
        self._tell()

    def auto_levels(self) -> None:
        """Take the levels from the data again."""
        self._drawing.auto_levels()
        self._keep()
        self._tell()

    def set_extremes(self, extremes: bool) -> None:
        """Take the least and the greatest value as ends of the colours, or percentiles."""
        self._drawing.set_extremes(extremes)
        self._keep()
        self._tell()

    def set_histogram(self, shown: bool) -> None:
        """Show how often values occur beside the colours."""
        self._histogram = shown
        self._drawing.show_histogram(shown)
        self._tell()

    def choose_flag(self, number: int | None) -> None:
        """Colour one flag only, or all."""
        self._drawing.choose_flag(number)

    def _shows_bands(self) -> bool:
        state = self._subject.slice
        return self._subject.offers(Control.BANDS) and state is not None and state.bands is not None

    def set_switch(self, name: str, on: bool) -> None:
        """Switch something that the kind of plot alone has."""
        (self._drawing.switched.add if on else self._drawing.switched.discard)(name)
        self._drawing.draw()
        self._tell()

    def set_overlay(self, name: str, on: bool) -> None:
        """Draw something over the picture, and over those that it suits later, or do not."""
        self._drawing.overlays.switch(name, on)
        self._keep()
        self._stage.show_notes()
        self._tell()

    def set_projection(self, choice: ChosenProjection) -> None:
        """Draw by a projection, here and what is shown later of its kind."""
        self._drawing.choose_projection(choice)
        self._tell()

    def _drawn_slice(self) -> DrawnSlice | None:
        """Return what is known of the slice that is drawn; None where there is none."""
        drawing = self._drawing
        is_drawn = self._stage.shows_picture and drawing.slice is not None and drawing.shown is not None
        return drawing.drawn_slice() if is_drawn else None

    def centre_on(self, element: tuple[int, ...]) -> None:
        """Put an element (indices along the axes of the slice) in the middle of the map."""
        kind = self._drawing.kind
        place = kind.place(element, self._drawing.base)
        found = None if place is None else kind.earth_at(*(np.array([each]) for each in place))
        if found is None or np.isnan(found[0][0]) or self.options.middle is None:
            return
        centre = float(found[0][0]), float(found[1][0])
        self.set_projection(replace(self.options.projection, centre=centre))

    # Proportions

    def set_aspect(self, locked: bool) -> None:
        """Show an image in its true proportions, or fill the view with it."""
        self._drawing.lock_aspect(locked)
        self._tell()

    def _show_again(self) -> None:
        self._stage.present()
        self._drawing.kind.recoded()
        self._tell()

    def _keep(self) -> None:
        document, node = self._subject.document, self._subject.node
        if document is None or node is None:
            return
        keeper = self._drawing.keeper
        levels = keeper.levels if keeper.by_user or keeper.scale.is_fixed else None
        colour = None if self._subject.bands is None else self._shows_bands()
        kept = _Kept(
            self._subject.decoded,
            self._drawing.log,
            levels,
            keeper.extremes,
            colour,
            scale=keeper.scale,
            ends=keeper.ends,
            marks=self._drawing.marks,
            overlaid=of_array(self._drawing.overlays.on),
        )
        self._put(_key(document, node), kept)

    def _put(self, key: tuple[str, str], kept: _Kept) -> None:
        self._kept.pop(key, None)
        self._kept[key] = kept
        if len(self._kept) > _REMEMBERED:
            del self._kept[next(iter(self._kept))]

    def _tell(self) -> None:
        """Bring the header's switches up to date, and tell others."""
        subject, drawing = self._subject, self._drawing
        is_shown = self._stage.shows_picture
        before = self.options
        has_flags = is_shown and subject.shown.flags is not None
        is_dates = is_shown and subject.shown.dates is not None
        drawn = self._drawn_slice()
        offered = {control for control in Control if is_shown and subject.offers(control)}
        if has_flags and Control.LEVELS in offered:
            offered -= {Control.LEVELS, Control.LOG}
        self.options = PlotOptions(
            has_plot=is_shown and subject.is_drawn,
            has_proportions=Control.PROPORTIONS in offered,
            has_levels=Control.LEVELS in offered,
            can_log=Control.LOG in offered and not is_dates,
            can_colour=Control.BANDS in offered and subject.bands is not None,
            colour=is_shown and self._shows_bands(),
            has_coding=is_shown and subject.shown.has_coding,
            decoded=subject.decoded,
            log=drawing.log,
            extremes=drawing.keeper.extremes,
            scale=drawing.keeper.scale,
            marks=drawing.marks,
            histogram=self._histogram,
            aspect=drawing.aspect_locked,
            reverse=drawing.palette.reverse,
            map_title=drawing.palette.map_title,
            switches=subject.kind.switches if is_shown and subject.kind is not None else (),
            switched=frozenset(drawing.switched),
            overlays=drawing.overlays.suited if is_shown else (),
            overlaid=drawing.overlays.on,
            projections=() if drawn is None else suited_projections(drawn),
            projection=drawing.projections.of(drawn),
            middle=drawing.kind.middle if is_shown else None,
        )
        self._pane.header.set_options(self.options)
        if self.options != before:
            self.changed.emit()


def _key(document: PlotSource, node: ArrayNode) -> tuple[str, str]:
    return document.owner("plot"), node.path
