"""What the plot pane shows and when: from an array and a slice to a picture on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from PySide6.QtCore import QObject, Signal

from refbrowser.app.plot.canvas import View
from refbrowser.app.plot.header import ElementChoice
from refbrowser.app.plot.look import Look
from refbrowser.app.plot.reader import (
    NEIGHBOURS,
    AuxiliaryReader,
    CoordinateReader,
    PlotSource,
    read_neighbours,
)
from refbrowser.app.plot.stage import PaneParts, Stage, Subject
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.references.document.extent import EVERYTHING, Extent
from refbrowser.views.maps.grid_mapping import grid_mapping
from refbrowser.views.plot.coordinates import AxisRole
from refbrowser.views.plot.plan import ViewPlan, first_values_plan, middle_plan, plan_view, sampled_plan
from refbrowser.views.plot.plot_kind import Control, Page
from refbrowser.views.plot.reading import (
    coordinate_nodes,
    groups_above,
    reads_the_same,
    same_packing,
)
from refbrowser.views.plot.series import choices
from refbrowser.views.plot.slicing import SliceMemory, SliceState, chunk_window, dimension_names, grown_slice
from refbrowser.views.plot.units import in_units
from refbrowser.views.plot_states.plot_state import PlotState
from refbrowser.views.words import one_line

#: A view that stands still this long, in milliseconds, is read in more detail where there is more.
IDLE = 200


class Presenter(QObject):
    """Decides what the pane shows, has it read, and keeps the parts of the pane in agreement.

    Signals
    -------
    changed()
        Array, axes, coordinates or coding are other ones, or may be.
    moved()
        The slice is held at another index; all else is as it was.
    turned(object)
        Another level of the same image is shown from now on; what is emitted returns where a place of the one
        before is in it: positions along all dimensions, whole numbers at the centres of elements.
    arrayChanged()
        The array is another one, or is none, or was changed.
    """

    changed = Signal()
    moved = Signal()
    turned = Signal(object)
    arrayChanged = Signal()

    def __init__(self, pane: PaneParts, parent: QObject) -> None:
        super().__init__(parent)
        self._pane = pane
        self.subject = Subject()
        #: Whether the coordinates that come next are those of another level of the same image.
        self._is_turned = False
        #: The dimension that the keyboard steps along.
        self.stepped: int | None = None
        self._roles: tuple[AxisRole, ...] = ()
        #: Whether the slices beside the one that is shown are read before anyone asks for them.
        self.reads_ahead = True
        #: Whether an animation moves the slider: it knows better what comes next.
        self.is_animated = False
        #: What is to be in sight of what was restored, until all is known that tells where it is.
        self._sought: View | None = None
        #: Where the user was in each document, by its name among the jobs.
        self._memories: dict[str, SliceMemory] = {}
        self._choice = ElementChoice()
        self.coordinates = CoordinateReader(self)
        self._auxiliary = AuxiliaryReader(self)
        self.stage = Stage(pane, self.subject, self.coordinates, self)
        self.drawing, self.pointing = self.stage.drawing, self.stage.pointing
        self.loader, self.refiner = self.stage.loader, self.stage.refiner
        self.look = Look(pane, self.subject, self.stage, self)
        self.look.codingChanged.connect(self.changed)
        self.look.unitsChanged.connect(self._follow)
        self.look.colourChosen.connect(self.choose_colour)
        self._auxiliary.came.connect(self._auxiliary_came)
        self.drawing.placed.connect(self._seek)
        self._neighbours = Latest(self, NEIGHBOURS)
        self.coordinates.came.connect(self._coordinates_came)
        self.stage.pictureEnded.connect(self._picture_ended)
        self._idle_timer = one_shot(self, IDLE, self._idle)

    # Which array

    def set_array(self, document: PlotSource, whole: ArrayNode, wanted: Selection | None = None) -> None:
        """Show another array, or the part that is chosen of its elements; the slice stays where it can.

        `wanted` is what of the array is to be seen; None for no certain part.
        """
        subject, stage = self.subject, self.stage
        self.clear()
        node = self._choice.node(document, whole)
        if node is whole and document.hierarchy is not None:
            is_part = wanted is not None and wanted.is_part(whole.shape)
            node = whole = stage.resolution.begin(document.hierarchy, whole, is_part=is_part)
        conversion = self.look.units(document, whole)
        node, whole = in_units(node, conversion), in_units(whole, conversion)
        subject.document, subject.node, subject.whole = document, node, whole
        subject.image = one_line(stage.resolution.name)
        subject.is_charted = self._choice.is_charted(document, whole)
        self._pane.header.set_parts(self._choice.names(whole), self._choice.name(document, whole))
        document.hierarchyChanged.connect(self._follow)
        self._pane.header.set_title(subject.label, node.path)
        finding = node.error or node.unreadable
        if finding is not None:
            self._pane.cards.show_error(f"{node.path} cannot be plotted", finding, can_retry=False)
            stage.show_card()
        elif node.dtype is None or not node.has_grid:
            stage.show_hint("Nothing to plot", f"The type of {node.path} is not known.")
        elif 0 in node.shape:
            why = f"no elements: its shape is {node.shape}" if node.nested is None else "no rows"
            stage.show_hint("Nothing to plot", f"{node.path} has {why}.")
        else:
            self._begin(document, node, None if wanted is None else stage.resolution.moved(wanted))
        self.changed.emit()
        self.arrayChanged.emit()

    def restore(self, document: PlotSource, whole: ArrayNode, state: PlotState) -> None:
        """Show an array as a state tells; what does not fit the array any more is as in the beginning.

        Raises
        ------
        RefbrowserError
            The selection does not fit the array, which is shown from its beginning.
        """
        self._choice.choose(document, whole, state.part)
        node = self._choice.node(document, whole)
        self.look.expect(document, node, state)
        try:
            wanted = Selection.from_text(state.selection, node.shape)
        except RefbrowserError:
            self.set_array(document, whole)
            raise
        if state.selection:
            memory = self._memories.setdefault(document.owner("plot"), SliceMemory())
            names = dimension_names(node)
            memory.keep(SliceState.of(node.shape, names, wanted, state.axes), node.dimensions)
        self.set_array(document, whole, wanted if state.selection else None)
        self.stage.resolution.is_fixed = state.is_level_fixed
        self._show_levels()
        if state.size_choice and self.subject.choice is None:
            self.choose_size(state.size_choice)
        if state.view is not None:
            left, right, low, high = state.view
            self.subject.kept_view = self._sought = (left, right), (low, high), (0, 0)

    def clear(self) -> None:
        """Show the hint, and stop reading."""
        document = self.subject.document
        if document is not None:
            document.hierarchyChanged.disconnect(self._follow)
            self._neighbours.cancel()
        self._idle_timer.stop()
        self.coordinates.clear()
        self._auxiliary.clear()
        self.stage.clear()
        self.stage.resolution.forget()
        self._is_turned = False
        self._sought = None
        self.subject.forget()
        self.stepped = None
        pane = self._pane
        pane.header.set_title("", "")
        pane.header.set_parts((), "")
        self._show_levels()
        pane.header.set_slice(None, has_axes=False)
        pane.sliders.set_slice(None, ())
        self.stage.show_hint("Nothing to plot yet", "Select an array in the hierarchy to see its picture.")
        self.changed.emit()
        self.arrayChanged.emit()

    def _begin(self, document: PlotSource, node: ArrayNode, wanted: Selection | None) -> None:
        assert document.hierarchy is not None
        memory = self._memories.setdefault(document.owner("plot"), SliceMemory())
        beside = coordinate_nodes(document.hierarchy, node)
        self._roles = self.stage.resolution.roles(beside)
        bands = self.subject.bands = self.stage.resolution.bands(node, beside)
        are_sure = bands is not None and bands.is_sure
        self.drawing.source, self.drawing.mapping = document, grid_mapping(document.hierarchy, node)
        self.drawing.is_photograph = are_sure or self.stage.resolution.is_photograph
        self.coordinates.begin(node, bands)
        state = memory.first(node, self._roles, bands)
        if bands is not None and self.look.wants_colour(document, node, bands):
            state = state.with_bands(bands)
        if wanted is not None:
            state, window = state.selected(wanted, bands)
            self._look_at(node, state, window)
        self.subject.slice = state
        if not self.subject.is_drawn:
            self.subject.slice = state.with_y(None)
        self.stepped = self.first_slider(state)
        self.subject.view_is_new = True
        self.look.begin(document, node)
        self._show_levels()
        self._read_coordinates()
        self._take_slice()
        self.read()

    def _look_at(self, node: ArrayNode, state: SliceState, window: tuple[range, ...] | None) -> None:
        """Let a part of a slice be seen once it has come; what is large is read around that part alone."""
        subject = self.subject
        subject.window, subject.is_framed = window, False
        if window is not None and plan_view(node, state).too_large:
            subject.choice = "middle"

    def show_selection(self, selection: Selection) -> None:
        """Show a selection of the array that is shown: its slice, and the part of that."""
        node, before = self.subject.node, self.subject.slice
        if node is None or before is None:
            return
        state, window = before.selected(selection, self.subject.bands)
        if not self.subject.is_drawn:
            state = state.with_y(None)
        self.stage.resolution.is_fixed |= window is not None and self.stage.resolution.has_levels
        self._show_levels()
        picture = self.loader.current
        is_drawn = picture is not None and picture.plan.slice == state and self.subject.is_drawn
        if picture is not None and is_drawn and picture.plan.covers(window or _whole(state)):
            self.drawing.reset_view(window)
            self.view_moved()
            return
        if state.bands != before.bands:
            self.drawing.forget_levels()
        self.subject.slice, self.subject.choice, self.subject.view_is_new = state, None, True
        self._look_at(node, state, window)
        self.stepped = self.first_slider(state)
        self.pointing.forget()
        self.refiner.drop()
        self._take_slice()
        self.read()

    def _read_coordinates(self) -> None:
        """Read the coordinates, again after an edit."""
        document, node = self.subject.document, self.subject.node
        if document is not None and node is not None:
            level = self.stage.resolution.view_of(self.subject.slice)
            self.coordinates.read(document, node, level)

    def _follow(self, extent: Extent = EVERYTHING) -> None:
        """Show the array as it is now, after an edit or a permission."""
        document, node = self.subject.document, self.subject.node
        hierarchy = None if document is None else document.hierarchy
        found = None if hierarchy is None or node is None else hierarchy.find(node.path)
        if document is None or hierarchy is None or node is None or not isinstance(found, ArrayNode):
            self.clear()
            return
        shown, state = self._choice.node(document, found), self.subject.slice
        resolution = self.stage.resolution
        image = resolution.levels
        followed = resolution.follow(hierarchy, found) if shown is found else shown
        if followed is None:
            self.set_array(document, found)
            return
        conversion = self.look.units(document, found)
        shown, found = in_units(followed, conversion), in_units(found, conversion)
        # Any array beside it may tell where its elements are.
        beside = [
            array.path for group in groups_above(hierarchy, node.path) for array in group.arrays.values()
        ]
        if image is not None:
            beside.append(image.group)
        if not extent.is_structure and not extent.concerns([node.path, *beside]):
            self.subject.whole, self.subject.node = found, shown
            return
        grown = None if state is None or shown.error else grown_slice(state, shown)
        if grown is not None and shown.dtype == node.dtype:
            self.subject.whole = found
            self._take_grown(document, shown, grown)
            self.arrayChanged.emit()
        elif state is None or shown.shape != node.shape or shown.dtype != node.dtype or shown.error:
            self.set_array(document, cast("ArrayNode", hierarchy.find(node.path)))
        else:
            self.subject.whole = found
            self._take_node(document, shown)
            self.arrayChanged.emit()

    def _take_grown(self, document: PlotSource, node: ArrayNode, state: SliceState) -> None:
        """Show more of the same array: slice and zoom stay, unless the whole of it was seen."""
        subject = self.subject
        if self.drawing.sees_whole():
            subject.view_is_new = True
        else:
            subject.kept_view = self.drawing.canvas.view()
        subject.node, subject.slice = node, state
        self._pane.header.set_title(subject.label, node.path)
        self.refiner.drop()
        self.coordinates.begin(node, subject.bands)
        self._read_coordinates()
        self._take_slice()
        self.read()

    def _take_node(self, document: PlotSource, node: ArrayNode) -> None:
        """Show the same array of a changed document; what it reads as before is not read again."""
        picture, before = self.loader.current, self.subject.node
        self.subject.node = node
        assert document.hierarchy is not None
        self.drawing.mapping = grid_mapping(document.hierarchy, node)
        self.subject.bands = self.stage.resolution.bands(node, coordinate_nodes(document.hierarchy, node))
        if self.subject.slice is not None and self.subject.bands is None:
            self.subject.slice = self.subject.slice.with_bands(None)
        self._pane.header.set_title(self.subject.label, node.path)
        state, names = self.subject.slice, dimension_names(node)
        is_renamed = state is not None and state.names != names
        if state is not None and is_renamed:
            self.subject.slice = replace(state, names=names)
        if before is not None and not same_packing(before, node) and not self.drawing.keeper.by_user:
            self.drawing.forget_levels()
        self._read_coordinates()
        self._take_slice()
        if is_renamed or picture is None or before is None or self.loader.is_reading or not picture.all_ended:
            self.read()
        elif picture.plan.chunks <= LIMITS.view_chunks and reads_the_same(
            before, node, picture.plan.selection
        ):
            self.stage.present()
        else:
            self.read()

    def look_for_kinds(self) -> None:
        """Show what is shown as a kind that was not known before, where that suits it better."""
        self.subject.look_for_kinds()
        self.drawing.look_for_kinds()
        if self.subject.slice is not None:
            self._take_slice()
            self.stage.present()

    def part_names(self) -> tuple[str, ...]:
        """Return the parts of each element that can be plotted."""
        whole = self.subject.whole
        return () if whole is None else self._choice.names(whole)

    def part_name(self) -> str:
        """Return the part of each element that is plotted; empty for the whole."""
        document, whole = self.subject.document, self.subject.whole
        return "" if document is None or whole is None else self._choice.name(document, whole)

    def choose_part(self, name: str) -> None:
        """Plot a part of each element of the array, or show the whole elements where the name is empty."""
        document, whole = self.subject.document, self.subject.whole
        if document is not None and whole is not None and name != self._choice.name(document, whole):
            self._choice.choose(document, whole, name)
            self.set_array(document, whole)

    # Which slice

    def first_slider(self, state: SliceState) -> int | None:
        """Return the dimension that is stepped, played and charted unless another one is chosen: time."""
        times = (
            axis for axis in choices(state) if axis < len(self._roles) and self._roles[axis] is AxisRole.TIME
        )
        return next(times, state.sliders[-1] if state.sliders else None)

    def choose_x(self, dimension: int) -> None:
        """Put a dimension on the x axis."""
        if self.subject.slice is not None:
            self._change_axes(self.subject.slice.with_x(dimension))

    def choose_y(self, dimension: int | None) -> None:
        """Put a dimension on the y axis; None: draw a line."""
        if self.subject.slice is not None:
            self._change_axes(self.subject.slice.with_y(dimension))

    def set_index(self, dimension: int, index: int) -> None:
        """Move along a dimension that is not on an axis."""
        state = self.subject.slice
        if state is None or dimension not in state.sliders:
            return
        self.subject.slice = state.with_index(dimension, index)
        self.stepped = dimension
        self._show_slice()
        self.moved.emit()
        self.refiner.drop()
        self.read()

    def choose_colour(self, colour: bool) -> None:
        """Show the bands together as colours, or one of them."""
        state = self.subject.slice
        if state is None or self.subject.bands is None:
            return
        self.subject.slice = state.with_bands(self.subject.bands if colour else None)
        if self.stepped not in self.subject.slice.sliders:
            self.stepped = self.first_slider(self.subject.slice)
        self.drawing.forget_levels()
        self.refiner.drop()
        self._take_slice()
        self.read()

    def _change_axes(self, state: SliceState) -> None:
        before, kept = self.subject.slice, self.pointing.kept
        if state == before:
            return
        if before is not None and kept is not None:
            # A line goes through the element that was chosen on the image.
            for axis, index in zip(before.axes, kept, strict=True):
                state = state.with_index(axis, index) if axis in state.sliders else state
        self.subject.slice, self.subject.choice, self.subject.view_is_new = state, None, True
        if self.stepped not in state.sliders:
            self.stepped = self.first_slider(state)
        self.pointing.forget()
        self.refiner.drop()
        self._take_slice()
        self.read()

    def _take_slice(self) -> None:
        self._show_slice()
        self.changed.emit()

    def _show_slice(self) -> None:
        """Show which slice it is, and remember it."""
        pane, state, node = self._pane, self.subject.slice, self.subject.node
        memory = (
            None if self.subject.document is None else self._memories.get(self.subject.document.owner("plot"))
        )
        if state is not None and node is not None and memory is not None:
            memory.keep(state, node.dimensions)
        # Charts are of all elements.
        kind = self.subject.kind
        seen = None if kind is not None and kind.page is Page.CHARTS else state
        pane.header.set_slice(seen, has_axes=self.subject.offers(Control.AXES))
        pane.sliders.set_slice(seen, self.coordinates.coordinates)
        pane.sliders.mark(self.stepped)

    def step_slider(self, by: int) -> None:
        """Move along the dimension that the keyboard steps."""
        if self.stepped is not None:
            self._pane.sliders.step(self.stepped, by)

    def next_slider(self, by: int) -> None:
        """Let the keyboard step another dimension."""
        sliders = () if self.subject.slice is None else self.subject.slice.sliders
        if sliders and self.stepped in sliders:
            self.stepped = sliders[(sliders.index(self.stepped) + by) % len(sliders)]
            self._pane.sliders.mark(self.stepped)

    # Reading

    def read(self) -> None:
        """Read what the slice shows, or ask first."""
        document, node = self.subject.document, self.subject.node
        if document is None or node is None or document.dataset is None:
            return
        self._idle_timer.stop()
        whole, kind = self.subject.whole, self.subject.kind
        if kind is not None and kind.page is Page.CHARTS and whole is not None:
            self.stage.show_charts(document, whole)
            return
        plan = self._plan()
        if plan is not None:
            self._read_places(document, node, plan)
            at_once = self.loader.current is None and not self.coordinates.waits
            self.loader.request(document, node, plan, at_once=at_once)

    def _read_places(self, document: PlotSource, node: ArrayNode, plan: ViewPlan) -> None:
        """Read the places of single elements with the first picture, which waits a moment for them."""
        if self.loader.current is None and self.subject.is_drawn and not self.stage.resolution.has_levels:
            self._auxiliary.read(document, node, plan)
            if self._auxiliary.is_reading and self._auxiliary.tells_places:
                self.coordinates.wait_for_places()

    def retry(self) -> None:
        """Read again what could not be read."""
        document, node = self.subject.document, self.subject.node
        if document is not None and node is not None and self.subject.slice is not None:
            self._auxiliary.clear()
            self._read_coordinates()
            self.read()

    def choose_size(self, choice: str) -> None:
        """Take the answer to the question of size: ``middle``, ``sampled`` or ``all``."""
        self.subject.choice, self.subject.view_is_new = choice, True
        self.read()

    def _plan(self) -> ViewPlan | None:
        node, state, choice = self.subject.node, self.subject.slice, self.subject.choice
        assert node is not None
        assert state is not None
        if not self.subject.is_drawn:
            return first_values_plan(node, state)
        is_part = choice is None and not self.subject.view_is_new
        part = self.stage.resolution.window(state) if is_part else None
        plan = plan_view(node, state, part)
        if not plan.too_large or choice == "all":
            return plan
        window = self.subject.window
        around = None if window is None else [(part.start + part.stop) // 2 for part in window]
        middle, sampled = middle_plan(node, state, around), sampled_plan(node, state)
        if choice is None:
            self.loader.clear()
            self.refiner.drop()
            self._pane.cards.show_question(plan, sampled, middle)
            self.stage.show_card()
        return {"middle": middle, "sampled": sampled}.get(choice or "")

    def _coordinates_came(self, first: bool) -> None:
        # Lines stand over their coordinates: what is visible is then another range.
        subject, state = self.subject, self.subject.slice
        if first and self._is_turned and state is not None and state.y is not None:
            # Those of another level of the image, of which the same part stays in sight.
            self._is_turned = False
            if not self.pointing.waits:
                subject.kept_view = self.drawing.canvas.sought_view()
        else:
            subject.view_is_new |= first
            if first and self._sought is not None:
                # The picture may have been shown without them.
                subject.kept_view = self._sought
        is_same = self._name_bands()
        self._take_slice()
        if is_same:
            self.stage.present()
        else:
            self.read()
        # Maps have proportions, which coordinates tell.
        self.stage.controlsChanged.emit()

    def _name_bands(self) -> bool:
        """Take the order of the bands from their names, where these have come; whether it is as before."""
        subject, before = self.subject, self.subject.bands
        if before is None or subject.slice is None:
            return True
        subject.bands = before.called(self.coordinates.coordinates[before.dimension].texts)
        if subject.slice.bands is not None:
            subject.slice = subject.slice.with_bands(subject.bands)
        return subject.bands == before

    # Detail where the view is small

    def view_moved(self) -> None:
        """Draw what is visible now, and look a little later whether there is more detail."""
        self.drawing.draw_soon()
        if self.loader.current is not None:
            self._idle_timer.start()

    def reset_view(self) -> None:
        """See the whole slice again."""
        self.drawing.reset_view()
        self.drawing.draw_soon()

    def _picture_ended(self) -> None:
        self._idle_timer.start()
        document, node, base = self.subject.document, self.subject.node, self.drawing.base
        if document is not None and node is not None and base is not None:
            self._auxiliary.read(document, node, base.plan, self.stage.resolution.turned_places)
            if self._auxiliary.tells_places and not self._auxiliary.is_reading:
                self._seek()

    def _auxiliary_came(self) -> None:
        self.drawing.set_auxiliary(self._auxiliary.found, self._auxiliary.lost, self.subject.label)
        self.coordinates.places_came()
        self._seek()
        self.stage.show_notes()
        self.stage.controlsChanged.emit()
        self.pointing.say()

    def _seek(self) -> None:
        """See what is to be in sight of what was restored, now that more is known of where it is."""
        if self._sought is not None and self.loader.current is not None:
            self.drawing.keep_view(self._sought)
            if not self.drawing.kind.is_placing:
                self._sought = None

    def refine(self) -> None:
        """Read at once what a view that stands still is read in."""
        if self._idle_timer.isActive():
            self._idle_timer.stop()
            self._idle()

    def _idle(self) -> None:
        subject, base = self.subject, self.drawing.base
        document, node, state = subject.document, subject.node, subject.slice
        if document is None or node is None or state is None or base is None or not base.finished:
            return
        if not self.is_animated and self._follow_view():
            return
        self.refiner.refine(document, base)
        if self.stepped is None or not self.reads_ahead or self.is_animated:
            return
        if subject.is_drawn and not self.loader.is_reading:
            read_neighbours(self._neighbours, document, node, state, self.stepped)

    # Which level of an image

    def choose_level(self, number: int | None) -> None:
        """Show a level of the image, or the one that fills the view; None for that."""
        resolution = self.stage.resolution
        resolution.is_fixed = number is not None
        if number is None:
            self._follow_view()
        elif number != resolution.level:
            self._turn_to(number)
        self._show_levels()

    def _follow_view(self) -> bool:
        """Show the level that fills the view, where that is another one; whether it is."""
        number = self.stage.resolution.wanted()
        if number is None or self.loader.is_reading:
            return False
        self._turn_to(number)
        return True

    def _turn_to(self, number: int) -> None:
        """Show the same part of the image on another level; what is on the screen stays until it comes."""
        subject, state = self.subject, self.subject.slice
        if state is None:
            return
        before = self.stage.resolution.view_of(state)
        assert before is not None
        node, subject.slice = self.stage.resolution.turn_to(number, state)
        node = subject.node = subject.whole = in_units(node, self.look.keep_units(node))
        subject.choice = subject.window = None
        self.pointing.waits = self._is_turned = True
        self.turned.emit(partial(before.place, number=number))
        self._pane.header.set_title(subject.label, node.path)
        self._show_levels()
        self.coordinates.begin(node, subject.bands)
        self._read_coordinates()
        self._take_slice()
        self.read()
        self.arrayChanged.emit()

    def _show_levels(self) -> None:
        resolution = self.stage.resolution
        self._pane.header.set_levels(resolution.titles, resolution.level, is_fixed=resolution.is_fixed)

    # One chunk

    def show_chunk(self, coords: Sequence[int]) -> None:
        """Move to the slice that a chunk is part of, and zoom to it."""
        node, state = self.subject.node, self.subject.slice
        places = None if node is None else chunk_window(node, coords)
        if node is None or state is None or places is None:
            return
        for dimension in state.sliders:
            if state.indices[dimension] not in places[dimension]:
                state = state.with_index(dimension, places[dimension].start)
        # The chunk is one of this level.
        self.stage.resolution.is_fixed = self.stage.resolution.has_levels
        self._show_levels()
        window = tuple(places[axis] for axis in state.axes)
        picture, moved = self.loader.current, state != self.subject.slice
        self.subject.slice = state
        self._take_slice()
        if not self.subject.is_drawn:
            self.read()
        elif moved or picture is None or not picture.plan.covers(window):
            if plan_view(node, state).too_large:
                self.subject.choice = "middle"
            self.subject.window, self.subject.is_framed = window, True
            self.refiner.drop()
            self.read()
        else:
            self.drawing.show_chunk(window)
            self.view_moved()


def _whole(state: SliceState) -> tuple[range, ...]:
    """Return all indices along the axes of a slice."""
    return tuple(range(state.shape[axis]) for axis in state.axes)
