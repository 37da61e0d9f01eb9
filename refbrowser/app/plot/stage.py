"""The picture on the screen while it comes, ends or fails; and the cards in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtWidgets import QWidget

from refbrowser.app.plot.canvas import PlotCanvas, View
from refbrowser.app.plot.colour_bar import ColourBar
from refbrowser.app.plot.drawing import Drawing
from refbrowser.app.plot.header import PlotHeader
from refbrowser.app.plot.legends import FlagLegend, StateLegend
from refbrowser.app.plot.plot_cards import PlotCards
from refbrowser.app.plot.reader import CoordinateReader, PictureLoader, PlotSource
from refbrowser.app.plot.resolution import Refiner, Resolution, Turn, element_of
from refbrowser.app.plot.sliders import DimensionSliders
from refbrowser.app.plot.values_view import ChartsPage, PictureRows, ValuesView
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.bands import Bands
from refbrowser.views.plot.colouring import flag_shares
from refbrowser.views.plot.coordinates import attribute_text
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.plot_kind import Control, Page, PlotKind, Sought
from refbrowser.views.plot.plot_kinds import best
from refbrowser.views.plot.readout import chunk_key, notes_of, readout, value_at
from refbrowser.views.plot.slicing import SliceState


@dataclass(frozen=True, slots=True)
class PaneParts:
    """Widgets of one pane; `show_page` brings `cards`, `canvas`, `values` or `charts` to the front.

    `room` returns how large an image can be in it, in pixels of the screen.
    """

    header: PlotHeader
    canvas: PlotCanvas
    bar: ColourBar
    flags: FlagLegend
    cards: PlotCards
    values: ValuesView
    charts: ChartsPage
    legend: StateLegend
    sliders: DimensionSliders
    show_page: Callable[[QWidget], None]
    room: Callable[[], QSize]


class Subject:
    """What the parts of one pane share; the presenter changes it.

    Attributes
    ----------
    choice
        The answer to the question of size: ``middle``, ``sampled`` or ``all``; None where there was none.
    whole
        The array whose elements, or a part of each (`node`), are shown.
    is_charted
        Charts of nested values are shown, not the values themselves.
    decoded
        Whether the CF conventions are applied.
    view_is_new
        The next picture is to be seen as a whole.
    kept_view
        The next picture is to be seen where the one before was: the array got longer.
    window
        The part of the slice that is to be seen next, as indices along its axes; None for no certain one.
    is_framed
        That part is a chunk, which gets a frame and is seen with something around it.
    bands
        What of the array can be shown as colours; None where nothing can.
    image
        What the image is called that the array is a level of; empty where it is none.
    """

    def __init__(self) -> None:
        self.document: PlotSource | None = None
        self.node: ArrayNode | None = None
        self.whole: ArrayNode | None = None
        self.slice: SliceState | None = None
        self.choice: str | None = None
        self.is_charted = False
        self.decoded = True
        self.view_is_new = False
        self.kept_view: View | None = None
        self.window: tuple[range, ...] | None = None
        self.is_framed = False
        self.bands: Bands | None = None
        self.image = ""
        self._shown: Interpretation | None = None
        self._sought: Sought | None = None
        self._kind: PlotKind | None = None

    def forget(self) -> None:
        """Let go of the array."""
        self.document = self.node = self.whole = self.slice = None
        self.choice = self._shown = self.window = self.kept_view = self.bands = self._sought = None
        self.view_is_new = self.is_charted = self.is_framed = False
        self.image = ""

    @property
    def kind(self) -> PlotKind | None:
        """What shows it best; None where there is nothing."""
        if self.node is None:
            return None
        sought = Sought(self.shown, self.slice, self.is_charted)
        if not sought.is_like(self._sought):
            self._sought, self._kind = sought, best(sought)
        return self._kind

    @property
    def is_drawn(self) -> bool:
        """Whether it is drawn on the canvas; else values are a table or a text, or there are charts."""
        return self.kind is not None and self.kind.is_drawn

    def offers(self, control: Control) -> bool:
        """Whether a control does something for what is shown."""
        return self.kind is not None and control in self.kind.controls

    def look_for_kinds(self) -> None:
        """Choose anew what shows it best: there are more kinds."""
        self._sought = None

    @property
    def shown(self) -> Interpretation:
        """What the elements mean; the same object as long as the array and the coding are the same."""
        assert self.node is not None
        if self._shown is None or self._shown.node is not self.node or self._shown.decoded != self.decoded:
            self._shown = Interpretation(self.node, self.decoded)
        return self._shown

    @property
    def label(self) -> str:
        """What the array is called on the screen; a level as the image that it is of."""
        assert self.node is not None
        label = attribute_text(self.node.attributes, "long_name")
        label = label or self.image or self.node.name or self.node.path
        is_complex = self.node.dtype is not None and self.node.dtype.kind == "c"
        return f"{label}: magnitude" if is_complex else label


class Pointing(QObject):
    """Knows which element is pointed at, on the picture that shows it in most detail.

    Signals
    -------
    said(str)
        What the element is, as one line; empty when there is none.
    pointed(object)
        The index of that element along every dimension of the array, or None.
    chosen(object)
        The index of the element that was clicked.
    chunkActivated(str)
        Key of the chunk that was clicked.
    """

    said = Signal(str)
    pointed = Signal(object)
    chosen = Signal(object)
    chunkActivated = Signal(str)

    def __init__(self, drawing: Drawing, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._drawing = drawing
        #: Indices along the axes of the slice.
        self.element: tuple[int, ...] | None = None
        #: The one that was clicked, or that the keyboard moved to, last.
        self._kept: tuple[int, ...] | None = None
        #: The same as positions: levels of an image have elements of other sizes.
        self._place: tuple[float, ...] | None = None
        #: Whether others were told of an element, and not yet that there is none any more.
        self._is_told = False
        #: Where the keyboard's cursor begins, along the axes; None for the middle of what is seen.
        self.begin: tuple[int, ...] | None = None
        #: Whether the cursor is where it is in another plot, which tells of it.
        self.is_led = False
        #: Whether nothing is told: the array is another one already than that of the picture.
        self.waits = False
        #: Says more of an element by its index along every dimension; empty for nothing.
        self.note: Callable[[tuple[int, ...]], str] = lambda index: ""

    def point_at(self, across: float | None, upwards: float | None) -> None:
        """Take the element at a position of the plot; None: the pointer left."""
        self.is_led = False
        self._drawing.canvas.set_cross(None)
        self.element = None if across is None or upwards is None else self._indices_at(across, upwards)
        self.say()

    def click_at(self, across: float, upwards: float) -> None:
        """Tell which chunk is at a position."""
        element = self._indices_at(across, upwards)
        if element is None:
            return
        self.choose(element)
        picture = self._picture()
        if picture is not None and picture.position(element) is not None:
            self.chosen.emit(self.index())
            self.chunkActivated.emit(chunk_key(picture, element))

    @property
    def kept(self) -> tuple[int, ...] | None:
        """Indices along the axes of the element that was clicked, or that the keyboard moved to, last."""
        return self._kept

    def index(self) -> tuple[int, ...] | None:
        """Return the index of the element along every dimension; of a sampled picture, of the one drawn."""
        picture, element = self._picture(), self.element
        position = None if picture is None or element is None else picture.position(element)
        if picture is None or position is None:
            return None
        state = picture.plan.slice
        found = list(state.indices)
        for axis, taken, at in zip(state.axes, picture.plan.ranges, position, strict=True):
            found[axis] = taken[at]
        return tuple(found)

    def stored(self) -> Any:
        """Return the element as it is stored, a numpy scalar; None where its chunk has not come."""
        picture, element = self._picture(), self.element
        position = None if picture is None or element is None else picture.position(element)
        if picture is None or position is None or not picture.has_value_at(position):
            return None
        return picture.values[position]

    def settle(self) -> tuple[int, ...] | None:
        """Put the cursor on the element that is meant, and return its index along every dimension.

        That is the one pointed at, else the one clicked last, else the one in the middle of the view.
        """
        if self.element is None and self._drawing.base is not None:
            if self._kept is None:
                self.move(0, 0)
            else:
                self.choose(self._kept)
        return self.index()

    def move(self, across: int, upwards: int) -> None:
        """Move the element by cells; the first move puts it in the middle of the view."""
        state = self._drawing.slice
        if state is None or self._drawing.base is None:
            return
        if self.element is None or self.is_led:
            self.element = self.begin
        if self.element is None:
            window = self._drawing.visible_window()
            self.element = tuple(max(part.start, (part.start + part.stop - 1) // 2) for part in window)
        else:
            scale = self._drawing.across
            # Points of a line stand where their coordinate is: of a falling one the next is at the left.
            falls = scale.by_value and scale.coordinate.ascending is False
            along = self._drawing.turned(across, upwards)[0]
            along = -along if falls else along
            kind = self._drawing.kind
            moves = (along,) if len(state.axes) == 1 else kind.moves(self.element, across, upwards)
            self.element = tuple(
                min(max(index + move * self._step(axis), 0), state.shape[dimension] - 1)
                for axis, (index, move, dimension) in enumerate(
                    zip(self.element, moves, state.axes, strict=True)
                )
            )
        self.choose(self.element)

    def choose(self, element: tuple[int, ...]) -> None:
        """Put the cursor on an element."""
        if self._drawing.base is not None and self._drawing.slice is not None:
            self.is_led = False
            self.element = self._kept = self._place = element
            self._drawing.canvas.set_cross(self._position())
            self.say()

    def lead(self, element: tuple[int, ...] | None) -> None:
        """Put the cursor where it is in another plot, or nowhere; nobody is told but the readout."""
        if element is None and not self.is_led:
            return
        self.is_led = True
        self.element = element if self._drawing.base is not None else None
        self._drawing.canvas.set_cross(None if self.element is None else self._position())
        self.say()
        self.is_led = element is not None

    def follow_place(self) -> None:
        """Put the cross where the element is drawn now."""
        if self.element is not None and self.element == self._kept:
            self._drawing.canvas.set_cross(self._position())

    def forget(self) -> None:
        """Point at nothing."""
        self.is_led = False
        self.element = self._kept = self._place = None
        self._is_told = False
        self._drawing.canvas.set_cross(None)
        self.pointed.emit(None)
        self.said.emit("")

    def say(self) -> None:
        """Tell of the element again, because its value may have come; once where there is none."""
        if self.element is None and not self._is_told:
            return
        self._is_told = self.element is not None
        index = self.index()
        if not self.is_led:
            self.pointed.emit(index)
        drawing, picture = self._drawing, self._picture()
        if picture is None or self.element is None or drawing.shown is None:
            self.said.emit("")
        else:
            text = readout(picture, drawing.shown, drawing.coordinates, self.element, drawing.auxiliary)
            notes = (drawing.kind.place_words(self.element), "" if index is None else self.note(index))
            # The values that are seen first: what does not fit is cut.
            seen = drawing.overlays.value_words(self.element)
            self.said.emit("   ".join((*seen, text, *filter(None, notes))))

    def _indices_at(self, across: float, upwards: float) -> tuple[int, ...] | None:
        drawing = self._drawing
        if drawing.slice is None:
            return None
        return drawing.kind.element_at(across, upwards)

    def _position(self) -> tuple[float, float] | None:
        assert self.element is not None
        return self._drawing.kind.place(self.element, self._picture())

    def follow(self, turn: Turn, state: SliceState) -> None:
        """Point at the element of another level, in a slice of it, that lies at the same place."""
        is_kept = self.element is not None and self.element == self._kept
        if self.element is not None:
            self.element = element_of(turn.place(self.element), state)
        if self._place is not None:
            # Not from element to element: of a coarser level that would be another one on the way back.
            self._place = turn.place(self._place)
            self._kept = element_of(self._place, state)
        if is_kept:
            self.element = self._kept
            self._drawing.canvas.set_cross(self._position())

    def _picture(self) -> Picture | None:
        if self.waits:
            return None
        detail = self._drawing.detail
        if detail is not None and self.element is not None and detail.position(self.element) is not None:
            return detail
        return self._drawing.base

    def _step(self, axis: int) -> int:
        picture = self._picture()
        return 1 if picture is None else picture.plan.steps[axis]


_UNWRITTEN = "the default fill of netCDF: nothing was ever written"


class Stage(QObject):
    """Shows what the loader brings.

    Signals
    -------
    settled()
        Nothing is still being read for what is shown.
    pictureEnded()
        The picture on the screen is complete.
    controlsChanged()
        Something of another kind is shown: a line, an image, values or a card.
    valuesChanged()
        Other values are on the screen, or more of them.
    turned(object)
        Another level of the same image is drawn: the `Turn` from the one before.
    """

    settled = Signal()
    pictureEnded = Signal()
    controlsChanged = Signal()
    valuesChanged = Signal()
    turned = Signal(object)

    def __init__(
        self, pane: PaneParts, subject: Subject, coordinates: CoordinateReader, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._pane, self._subject, self._coordinates = pane, subject, coordinates
        self._page: QWidget = pane.cards
        #: What is seen, as far as the controls go by it.
        self._seen: tuple[object, ...] = ()
        #: The picture whose end is drawn already: most come as a whole.
        self._whole: Picture | None = None
        self.drawing = Drawing(pane.canvas, pane.bar, self)
        self.resolution = Resolution(self.drawing, pane.room)
        self.pointing = Pointing(self.drawing, self)
        self.loader = PictureLoader("plot", self)
        self.refiner = Refiner(self.drawing, self)
        self.loader.shown.connect(self._shown)
        self.loader.filled.connect(self._filled)
        self.loader.ended.connect(self._ended)
        self.refiner.changed.connect(self._refined)
        self.refiner.ended.connect(self.tell_settled)
        self.drawing.overlaySettled.connect(self.tell_settled)
        self.drawing.overlaySettled.connect(self.pointing.say)
        self.drawing.placed.connect(self._placed)

    def clear(self) -> None:
        """Show no picture, and stop reading."""
        self.loader.clear()
        self.refiner.drop()
        self.drawing.clear()
        self.pointing.forget()
        self._pane.values.clear()
        self._pane.charts.clear()
        self.valuesChanged.emit()

    @property
    def shows_picture(self) -> bool:
        """Whether the array is seen, not a card."""
        return self._page is not self._pane.cards

    @property
    def shows_canvas(self) -> bool:
        """Whether a picture is seen on the canvas."""
        return self._page is self._pane.canvas and self.loader.current is not None

    @property
    def is_settled(self) -> bool:
        """Whether nothing is still being read for what is shown."""
        charts = self._pane.charts
        if self._page is charts and not charts.is_settled():
            return False
        if self._page is self._pane.canvas and not self.drawing.overlays.is_settled:
            return False
        is_reading = self.loader.is_reading or self.refiner.is_reading or self._coordinates.waits
        return not (is_reading or self.drawing.kind.is_busy)

    def _placed(self) -> None:
        self.show_notes()
        self.pointing.follow_place()
        self.tell_settled()

    def tell_settled(self) -> None:
        """Tell it where it is so."""
        if self.is_settled:
            self.settled.emit()

    def redraw(self) -> None:
        """Draw everything again, for another theme."""
        if self.drawing.base is not None:
            self.drawing.set_pictures(self.drawing.base, self.drawing.detail)
            self.drawing.draw()

    def mark_stale(self) -> None:
        """Mark chunks of stale files in what is drawn already."""
        picture = self.loader.current
        if picture is not None and self.shows_picture and not self._coordinates.waits:
            self.drawing.canvas.states.refresh()
            self._tell(picture)

    def present(self) -> None:
        """Show what has come, as it is to be taken now."""
        picture = self.loader.current
        node = self._subject.node
        if picture is not None and node is not None and picture.node.path != node.path:
            # Of another level: it stays as it is until the one that is shown next has come.
            return
        if picture is None:
            if self._subject.kind is not None and self._subject.kind.page is Page.CHARTS:
                self.tell_settled()
            return
        self._shown(picture)
        if picture.finished and not self.loader.is_reading:
            self._ended(picture)

    # What the loader brings

    def _shown(self, picture: Picture) -> None:
        if self._coordinates.waits:
            return
        subject = self._subject
        if not subject.is_drawn:
            self._show_values(picture)
            return
        drawing, turn = self.drawing, self.resolution.take(picture, decoded=subject.decoded)
        if turn is not None and not subject.view_is_new:
            # A part of the whole stays in sight where it is.
            view = drawing.canvas.sought_view()
            subject.kept_view = turn.view(view) if drawing.kind.is_indexed else view
        # The slice that is drawn: the newest one may still be on its way.
        drawing.set_slice(picture.plan.slice, self._coordinates.coordinates, subject.shown, subject.label)
        drawing.set_pictures(picture, self.refiner.picture_for(picture))
        self.pointing.waits = False
        if turn is not None:
            self.pointing.follow(turn, picture.plan.slice)
            self.turned.emit(turn)
        self._show_page(self._pane.canvas)
        state = subject.slice
        if state is not None and picture.plan.slice.axes == state.axes:
            self._show_window(picture)
        self._filled()

    def _show_window(self, picture: Picture) -> None:
        """Show the part of the slice that is to be seen next: the whole of a new one, or a chunk."""
        subject, drawing = self._subject, self.drawing
        window, subject.window = subject.window, None
        if window is not None and picture.plan.slice != subject.slice:
            # The slice that the chunk is part of is still on its way.
            subject.window, window = window, None
        if subject.kept_view is not None:
            drawing.draw()
            drawing.keep_view(subject.kept_view)
            subject.kept_view = None
        elif window is not None:
            drawing.draw()
            (drawing.show_chunk if subject.is_framed else drawing.reset_view)(window)
        elif subject.view_is_new:
            drawing.draw()
            drawing.reset_view(picture.plan.ranges if subject.choice == "middle" else None)
        subject.view_is_new = False

    def _filled(self) -> None:
        picture = self.loader.current
        if picture is None or self._coordinates.waits:
            return
        if self._subject.is_drawn:
            self.drawing.take_news(complete=picture.finished)
        self._whole = picture if picture.finished else None
        self._tell(picture)

    def _tell(self, picture: Picture) -> None:
        """Say anew what is said of a picture."""
        if self._subject.is_drawn:
            self.pointing.say()
        elif picture.node.shape:
            self._pane.values.refresh()
        else:
            self._show_values(picture)
        self._show_notes(picture)
        self.valuesChanged.emit()

    def _ended(self, picture: Picture) -> None:
        if self._coordinates.waits or self._show_failure(picture):
            return
        if self._subject.is_drawn:
            if self._whole is not picture:
                self._filled()
            self.pictureEnded.emit()
        self.tell_settled()

    def _refined(self) -> None:
        base = self.drawing.base
        if base is not None:
            self.drawing.set_pictures(base, self.refiner.picture_for(base))
            self.drawing.draw()
            self._show_notes(base)
            self.valuesChanged.emit()

    def show_notes(self) -> None:
        """Say again what there is to know about the picture on the screen."""
        picture = self.loader.current
        if picture is not None and self.shows_picture and self._subject.is_drawn:
            self._show_notes(picture)

    def _show_notes(self, picture: Picture) -> None:
        """Show what the colours and patterns of a picture mean, and what else there is to know."""
        self._pane.legend.set_picture(picture, self._note(picture))
        self._pane.canvas.set_message(self._emptiness(picture))
        shown, flags = self._subject.shown, self._pane.flags
        colours = self.drawing.palette.table()
        flagged = self._subject.offers(Control.LEVELS) and shown.flags is not None
        flags.setVisible(flagged)
        if flagged and colours is not None:
            flags.set_flags(shown.flags, colours)
            if picture.finished:
                flags.set_shares(flag_shares(picture.sample(), shown))

    def _note(self, picture: Picture) -> str:
        """Return what else there is to know about a picture."""
        detailed, subject = self.refiner.picture_for(picture) is not None, self._subject
        notes = [*self._coordinates.errors, *notes_of(picture, detailed, subject.choice == "middle")]
        if subject.is_drawn:
            notes += [*self.drawing.kind.notes(), *self.drawing.overlays.notes()]
        if self._has_come(picture):
            if self.drawing.is_log_in_vain:
                notes.append("no value is above zero, where a logarithmic scale is")
            elif self.drawing.has_values and self._is_unwritten(picture):
                notes.append(f"every value is {_UNWRITTEN}")
        return "   ".join(notes)

    def _emptiness(self, picture: Picture) -> str:
        """Return why no value is seen although all have come; empty where any is seen."""
        subject, drawing = self._subject, self.drawing
        if not self._has_come(picture) or drawing.has_values or drawing.is_log_in_vain:
            return ""
        hint = "\nWithout CF the stored numbers are shown." if subject.shown.has_coding else ""
        return f"Every value here is {_UNWRITTEN if self._is_unwritten(picture) else 'missing'}.{hint}"

    def _has_come(self, picture: Picture) -> bool:
        return picture.finished and picture.has_data and self._subject.is_drawn

    def _is_unwritten(self, picture: Picture) -> bool:
        return picture.all_done and self._subject.shown.never_written(picture.values)

    def _show_values(self, picture: Picture) -> None:
        shown, pane = self._subject.shown, self._pane
        node = picture.node
        if not node.shape:
            pane.values.show_scalar(value_at(picture, shown, ()), node.path)
        else:
            coordinate = self._coordinates.coordinates[picture.plan.slice.x]
            pane.values.show_rows(PictureRows(picture, coordinate, shown))
        pane.legend.set_picture(picture, self._note(picture))
        self._show_page(pane.values)

    def show_charts(self, document: PlotSource, whole: ArrayNode) -> None:
        """Show charts of nested values in the place of the picture."""
        self._pane.charts.set_array(document, whole)
        self._pane.legend.set_picture(None, "")
        self._show_page(self._pane.charts)
        self.tell_settled()

    # Cards

    def show_hint(self, heading: str, text: str) -> None:
        """Say in the place of the picture why there is none."""
        self._pane.cards.show_hint(heading, text)
        self.show_card()

    def show_card(self) -> None:
        """Bring the card to the front."""
        self.pointing.forget()
        self._pane.legend.set_picture(None, "")
        self._show_page(self._pane.cards)
        self.tell_settled()

    def _show_page(self, page: QWidget) -> None:
        """Bring a page to the front, unless all that is new are values of the same."""
        subject = self._subject
        shown = None if subject.node is None else subject.shown
        slices = [
            state and (state.axes, state.bands, state.shape) for state in (subject.slice, self.drawing.slice)
        ]
        seen = page, subject.kind, shown, *slices
        if seen != self._seen:
            self._page, self._seen = page, seen
            self._pane.show_page(page)
            self.controlsChanged.emit()

    def _show_failure(self, picture: Picture) -> bool:
        """Show a card where nothing could be read; whether there is one."""
        if picture.has_data or picture.count(ChunkState.MISSING):
            return False
        error: BaseException | None = next(iter(picture.errors.values()), None) or picture.error
        if error is None:
            return False
        self._pane.cards.show_failure(picture.node.path, error)
        self.show_card()
        return True
