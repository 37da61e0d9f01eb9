"""What the plot pane shows and when: from an array and a slice to a picture on the screen."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from refbrowser.app.plot import background
from refbrowser.app.plot.drawing import Drawing
from refbrowser.app.plot.loader import PictureLoader
from refbrowser.app.plot.parts import PaneParts
from refbrowser.app.plot.pointing import Pointing
from refbrowser.app.plot.refiner import Refiner
from refbrowser.app.plot.source import PlotSource
from refbrowser.app.plot.values_view import PictureRows
from refbrowser.engine.views.coordinates import Coordinate, attribute_text, plain_coordinate
from refbrowser.engine.views.interpretation import Interpretation
from refbrowser.engine.views.levels import Levels
from refbrowser.engine.views.picture import ChunkState, Picture
from refbrowser.engine.views.plan import ViewPlan, first_values_plan, middle_plan, plan_view, sampled_plan
from refbrowser.engine.views.reading import CoordinateSet, coordinate_nodes, reads_the_same, roles_of
from refbrowser.engine.views.readout import notes_of, value_at
from refbrowser.engine.views.slicing import SliceState, dimension_names, first_slice
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode

#: The first picture waits so long for its coordinates, in milliseconds, so that it does not turn over.
COORDINATES_WAIT = 300
#: A view that stands still this long, in milliseconds, is read in more detail where there is more.
IDLE = 200


class Presenter(QObject):
    """Decides what the pane shows, reads it, and keeps the parts of the pane in agreement.

    Signals
    -------
    changed()
        Array, slice, coordinates or coding are other ones.
    settled()
        Nothing is still being read for what is shown.
    """

    changed = Signal()
    settled = Signal()

    def __init__(self, pane: PaneParts, parent: QObject) -> None:
        super().__init__(parent)
        self._pane = pane
        self.document: PlotSource | None = None
        self.node: ArrayNode | None = None
        self.slice: SliceState | None = None
        self.coordinates: tuple[Coordinate, ...] = ()
        self._coordinate_errors: tuple[str, ...] = ()
        self.decoded = True
        self._choice: str | None = None
        self._stepped: int | None = None
        self._waits = self._view_is_new = False
        self.drawing = Drawing(pane.canvas, pane.bar, self)
        self.pointing = Pointing(self.drawing, self)
        self.loader = PictureLoader("plot", self)
        self.refiner = Refiner(self.drawing, self)
        self.loader.shown.connect(self._shown)
        self.loader.filled.connect(self._filled)
        self.loader.ended.connect(self._ended)
        self.refiner.changed.connect(self._refined)
        self.refiner.ended.connect(self._tell_settled)
        self._wait_timer = self._single_shot(COORDINATES_WAIT, self._waited)
        self._idle_timer = self._single_shot(IDLE, self._idle)

    # Which array

    def set_array(self, document: PlotSource, node: ArrayNode) -> None:
        """Show another array; the slice stays where it has the same dimensions."""
        before = self.slice
        self.clear()
        self.document, self.node = document, node
        document.hierarchyChanged.connect(self._follow)
        self._pane.header.set_title(self._label(), node.path)
        problem = node.error or node.unreadable
        if problem is not None:
            self._pane.cards.show_error(f"{node.path} cannot be plotted", problem, can_retry=False)
            self._show_card()
        elif node.dtype is None or node.grid is None:
            self._show_hint("Nothing to plot", f"The type of {node.path} is not known.")
        elif 0 in node.shape:
            self._show_hint("Nothing to plot", f"{node.path} has no elements: its shape is {node.shape}.")
        else:
            self._begin(before)
        self.changed.emit()

    def clear(self) -> None:
        """Show the hint, and stop reading."""
        if self.document is not None:
            self.document.hierarchyChanged.disconnect(self._follow)
            background.cancel(self.document)
        self._wait_timer.stop()
        self._idle_timer.stop()
        self.loader.clear()
        self.refiner.drop()
        self.drawing.clear()
        self.document = self.node = self.slice = self._choice = self._stepped = None
        self.coordinates, self._coordinate_errors = (), ()
        self._waits, self.decoded = False, True
        self.pointing.forget()
        pane = self._pane
        pane.header.set_title("", "")
        pane.header.set_slice(None, image_possible=False)
        pane.header.set_kind(image=False, coded=False, plot=False)
        pane.sliders.set_slice(None, ())
        pane.values.clear()
        self._show_hint("Nothing to plot yet", "Select an array in the hierarchy to see its picture.")
        self.changed.emit()

    def is_settled(self) -> bool:
        """Whether nothing is still being read for what is shown."""
        return not (self.loader.is_reading or self.refiner.is_reading or self._waits)

    def redraw(self) -> None:
        """Draw everything again, for another theme."""
        if self.drawing.base is not None:
            self.drawing.set_pictures(self.drawing.base, self.drawing.detail)
            self.drawing.draw()

    def _begin(self, before: SliceState | None) -> None:
        node, document = self.node, self.document
        assert node is not None
        assert document is not None
        assert document.hierarchy is not None
        arrays = coordinate_nodes(document.hierarchy, node)
        self.coordinates = tuple(
            plain_coordinate(name, size) for name, size in zip(dimension_names(node), node.shape, strict=True)
        )
        self.slice = first_slice(node, roles_of(arrays), before)
        self._stepped = self.slice.sliders[-1] if self.slice.sliders else None
        if not self._is_plot:
            self.slice = self.slice.with_y(None)
        self._view_is_new = True
        self._read_coordinates()
        self._take_slice()
        self.read()

    def _follow(self) -> None:
        """Show the array as it is now, after an edit or a permission."""
        document, node = self.document, self.node
        hierarchy = None if document is None else document.hierarchy
        found = None if hierarchy is None or node is None else hierarchy.find(node.path)
        if document is None or node is None or not isinstance(found, ArrayNode):
            self.clear()
        elif self.slice is None or found.shape != node.shape or found.dtype != node.dtype or found.error:
            self.set_array(document, found)
        else:
            self._take_node(found)

    def _take_node(self, node: ArrayNode) -> None:
        """Show the same array of a changed document; what it reads as before is not read again."""
        picture, before = self.loader.current, self.node
        self.node = node
        self._read_coordinates()
        self._take_slice()
        if picture is None or before is None or self.loader.is_reading or not picture.all_ended:
            self.read()
        elif picture.plan.chunks <= LIMITS.view_chunks and reads_the_same(
            before, node, picture.plan.selection
        ):
            self._present()
        else:
            self.read()

    @property
    def _is_plot(self) -> bool:
        """Whether a line or an image is drawn; else the values are a table or a single text."""
        return self.node is not None and bool(self.node.shape) and Interpretation(self.node, True).is_number

    # Which slice

    def choose_x(self, dimension: int) -> None:
        """Put a dimension on the x axis."""
        if self.slice is not None:
            self._change_axes(self.slice.with_x(dimension))

    def choose_y(self, dimension: int | None) -> None:
        """Put a dimension on the y axis; None: draw a line."""
        if self.slice is not None:
            self._change_axes(self.slice.with_y(dimension))

    def set_index(self, dimension: int, index: int) -> None:
        """Move along a dimension that is not on an axis."""
        if self.slice is None or dimension not in self.slice.sliders:
            return
        self.slice = self.slice.with_index(dimension, index)
        self._stepped = dimension
        self._take_slice()
        self.refiner.drop()
        self.read()

    def _change_axes(self, state: SliceState) -> None:
        if state == self.slice:
            return
        self.slice, self._choice, self._view_is_new = state, None, True
        if self._stepped not in state.sliders:
            self._stepped = state.sliders[-1] if state.sliders else None
        self.pointing.forget()
        self.refiner.drop()
        self._take_slice()
        self.read()

    def _take_slice(self) -> None:
        pane, state = self._pane, self.slice
        pane.header.set_slice(state, image_possible=self._is_plot)
        pane.sliders.set_slice(state, self.coordinates)
        pane.sliders.mark(self._stepped)
        self.changed.emit()

    def _show_controls(self) -> None:
        header, state = self._pane.header, self.slice
        image = self._is_plot and state is not None and state.y is not None
        header.set_kind(image=image, coded=self._interpretation().has_coding, plot=self._is_plot)
        header.coding.setChecked(self.decoded)

    def _label(self) -> str:
        """Return what the array is called on the screen."""
        node = self.node
        assert node is not None
        return attribute_text(node.attributes, "long_name") or node.name or node.path

    def _interpretation(self) -> Interpretation:
        assert self.node is not None
        return Interpretation(self.node, self.decoded)

    # Reading

    def read(self) -> None:
        """Read what the slice shows, or ask first."""
        document, node = self.document, self.node
        if document is None or node is None or document.dataset is None:
            return
        self._idle_timer.stop()
        plan = self._plan()
        if plan is not None:
            self.loader.request(document, node, plan, at_once=self.loader.current is None and not self._waits)

    def retry(self) -> None:
        """Read again what could not be read."""
        if self.node is not None and self.slice is not None:
            self._read_coordinates()
            self.read()

    def choose_size(self, choice: str) -> None:
        """Take the answer to the question of size: ``middle``, ``sampled`` or ``all``."""
        self._choice, self._view_is_new = choice, True
        self.read()

    def _plan(self) -> ViewPlan | None:
        node, state = self.node, self.slice
        assert node is not None
        assert state is not None
        if not self._is_plot:
            return first_values_plan(node, state)
        plan = plan_view(node, state)
        if not plan.too_large or self._choice == "all":
            return plan
        middle, sampled = middle_plan(node, state), sampled_plan(node, state)
        if self._choice is None:
            self.loader.clear()
            self.refiner.drop()
            self._pane.cards.show_question(plan, sampled, middle)
            self._show_card()
        return {"middle": middle, "sampled": sampled}.get(self._choice or "")

    def _read_coordinates(self) -> None:
        document, node = self.document, self.node
        assert document is not None
        assert node is not None
        assert document.hierarchy is not None
        arrays = coordinate_nodes(document.hierarchy, node)
        if not any(arrays):
            return
        self._waits = all(coordinate.values is None for coordinate in self.coordinates)
        self._wait_timer.start()
        background.read_coordinates(document, node, arrays, self._coordinates_came)

    def _coordinates_came(self, found: CoordinateSet | None) -> None:
        if found is not None:
            # Lines stand over their coordinates: what is visible is then another range.
            self._view_is_new |= not any(coordinate.values is not None for coordinate in self.coordinates)
            self.coordinates = found.coordinates
            self._coordinate_errors = tuple(
                f"{name} shows indices: {getattr(error, 'message', error)}"
                for name, error in found.errors.items()
            )
        self._wait_timer.stop()
        self._take_slice()
        self._waits = False
        self._present()

    def _waited(self) -> None:
        self._waits = False
        self._present()

    def _present(self) -> None:
        """Show what has come, with the coordinates as they are known now."""
        picture = self.loader.current
        if picture is None:
            return
        self._shown(picture)
        if picture.finished and not self.loader.is_reading:
            self._ended(picture)

    # The picture on the screen

    def _shown(self, picture: Picture) -> None:
        if not self._waits:
            self._show_picture(picture)

    def _show_picture(self, picture: Picture) -> None:
        if not self._is_plot:
            self._show_values(picture)
            return
        drawing, shown = self.drawing, self._interpretation()
        label = self._label()
        # The slice that is drawn: the newest one may still be on its way.
        drawing.set_slice(picture.plan.slice, self.coordinates, shown, label)
        drawing.set_pictures(picture, self.refiner.picture_for(picture))
        self._show_controls()
        self._pane.show_page(self._pane.canvas)
        if self._view_is_new and self.slice is not None and picture.plan.slice.axes == self.slice.axes:
            self._view_is_new = False
            drawing.draw()
            drawing.reset_view(picture.plan.ranges if self._choice == "middle" else None)
        self._filled()

    def _filled(self) -> None:
        picture = self.loader.current
        if picture is None or self._waits:
            return
        if self._is_plot:
            self.drawing.take_news(complete=picture.finished)
            self.pointing.say()
        elif picture.node.shape:
            self._pane.values.refresh()
        else:
            self._show_values(picture)
        self._pane.legend.set_picture(picture, self._note(picture))

    def _ended(self, picture: Picture) -> None:
        if self._waits:
            return
        if self._show_failure(picture):
            return
        if self._is_plot:
            self.drawing.take_news(complete=True)
            self.pointing.say()
            self._pane.legend.set_picture(picture, self._note(picture))
            self._idle_timer.start()
        self._tell_settled()

    def _show_failure(self, picture: Picture) -> bool:
        """Show a card where nothing could be read; whether there is one."""
        if picture.has_data or picture.count(ChunkState.MISSING):
            return False
        error: BaseException | None = next(iter(picture.errors.values()), None) or picture.error
        if error is None:
            return False
        self._pane.cards.show_failure(picture.node.path, error)
        self._show_card()
        return True

    def _note(self, picture: Picture) -> str:
        """Return what else there is to know about a picture."""
        detailed = self.refiner.picture_for(picture) is not None
        notes = [*self._coordinate_errors, *notes_of(picture, detailed, self._choice == "middle")]
        if picture.finished and picture.has_data and self._is_plot:
            if not self.drawing.has_values:
                notes.append("every value here is missing")
            elif picture.all_done and self._interpretation().never_written(picture.values):
                notes.append("every value is the default fill of netCDF: nothing was ever written here")
        return "   ".join(notes)

    def _show_values(self, picture: Picture) -> None:
        shown, pane = self._interpretation(), self._pane
        node = picture.node
        if not node.shape:
            pane.values.show_scalar(value_at(picture, shown, ()), node.path)
        else:
            pane.values.show_rows(PictureRows(picture, self.coordinates[picture.plan.slice.x], shown))
        pane.legend.set_picture(picture, self._note(picture))
        self._show_controls()
        pane.show_page(pane.values)

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

    def _idle(self) -> None:
        document, node, base = self.document, self.node, self.drawing.base
        if document is None or node is None or base is None or not base.finished or self.slice is None:
            return
        self.refiner.refine(document, base)
        if self._stepped is not None and self._is_plot and not self.loader.is_reading:
            background.read_neighbours(document, node, self.slice, self._stepped)

    def _refined(self) -> None:
        base = self.drawing.base
        if base is not None:
            self.drawing.set_pictures(base, self.refiner.picture_for(base))
            self.drawing.draw()
            self._pane.legend.set_picture(base, self._note(base))

    def _tell_settled(self) -> None:
        if self.is_settled():
            self.settled.emit()

    # Colours

    def set_decoded(self, decoded: bool) -> None:
        """Apply scale, offset and fill value, or show the elements as they are stored."""
        self.decoded = decoded
        self._pane.header.coding.setChecked(decoded)
        self.drawing.forget_levels()
        picture = self.loader.current
        if picture is not None:
            self._show_picture(picture)
            if picture.finished and self._is_plot:
                if self.drawing.is_line:
                    self.drawing.reset_view()
                self._ended(picture)
        self.changed.emit()

    def set_map(self, title: str) -> None:
        """Use another colour map."""
        self.drawing.set_map(title)

    def set_levels(self, levels: Levels) -> None:
        """Hold levels that the user set."""
        self.drawing.set_levels(levels)

    def auto_levels(self) -> None:
        """Take the levels from the data again."""
        self.drawing.auto_levels()

    # Keys

    def use_key(self, combined: int) -> None:
        """Do what a key means while the plot has the focus."""
        key = Qt.Key(combined & ~int(Qt.KeyboardModifier.KeyboardModifierMask.value))
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step_slider(-1 if key == Qt.Key.Key_Left else 1)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._next_slider(-1 if key == Qt.Key.Key_Up else 1)
        elif key == Qt.Key.Key_R:
            self.reset_view()
        elif key == Qt.Key.Key_C and self.slice is not None and self.slice.y is not None:
            self._pane.header.next_map()
        elif key == Qt.Key.Key_Escape:
            self.pointing.forget()

    def _step_slider(self, by: int) -> None:
        if self._stepped is not None:
            self._pane.sliders.step(self._stepped, by)

    def _next_slider(self, by: int) -> None:
        sliders = () if self.slice is None else self.slice.sliders
        if sliders and self._stepped in sliders:
            self._stepped = sliders[(sliders.index(self._stepped) + by) % len(sliders)]
            self._pane.sliders.mark(self._stepped)

    # Cards

    def _show_hint(self, heading: str, text: str) -> None:
        self._pane.cards.show_hint(heading, text)
        self._show_card()

    def _show_card(self) -> None:
        self.pointing.forget()
        self._pane.header.set_kind(image=False, coded=False, plot=False)
        self._pane.legend.set_picture(None, "")
        self._pane.show_page(self._pane.cards)
        self._tell_settled()

    def _single_shot(self, interval: int, slot: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval)
        timer.timeout.connect(slot)
        return timer
