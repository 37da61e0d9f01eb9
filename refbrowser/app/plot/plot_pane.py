"""The plot of the selected array: header, picture or card, legend, sliders, and what is under the pointer."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.plot.canvas import PlotCanvas
from refbrowser.app.plot.colour_bar import ColourBar
from refbrowser.app.plot.header import PlotHeader
from refbrowser.app.plot.legends import FlagLegend, StateLegend
from refbrowser.app.plot.plot_cards import PlotCards
from refbrowser.app.plot.presenter import Presenter
from refbrowser.app.plot.reader import PlotSource
from refbrowser.app.plot.sliders import DimensionSliders
from refbrowser.app.plot.stage import PaneParts
from refbrowser.app.plot.told_plot import told_plot
from refbrowser.app.plot.tools import LEAST_PLOT, PlotTools
from refbrowser.app.plot.values_view import ChartsPage, ValuesView
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import push_button
from refbrowser.errors import ErrorKind, RefbrowserError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from refbrowser.app.plot.drawing import Drawing
    from refbrowser.app.plot.look import Look
    from refbrowser.app.plot.reader import PlotSource
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.model.selection import Selection
    from refbrowser.views.plot.coordinates import Coordinate
    from refbrowser.views.plot.drawn_slice import DrawnSlice
    from refbrowser.views.plot.levels import Levels
    from refbrowser.views.plot.picture import Picture
    from refbrowser.views.plot.plot_kind import PlotKind
    from refbrowser.views.plot.slicing import SliceState
    from refbrowser.views.plot_states.plot_state import PlotState


#: An axis at the side takes about so much, and one below, in pixels.
_AXIS_WIDTH, _AXIS_HEIGHT = 60, 40
#: Leaves out Shift, Alt and so on.
_KEY = ~int(Qt.KeyboardModifier.KeyboardModifierMask.value)


#: An array that is shown for a shorter time, in seconds, was only passed over on the way to another one.
_LOOKED_AT = 1.5


class PlotKeys:
    """The keys of one pane; parts of the pane can add their own."""

    def __init__(self, presenter: Presenter) -> None:
        self._presenter = presenter
        self._actions: dict[Qt.Key, Callable[[], object]] = {
            Qt.Key.Key_Left: lambda: presenter.step_slider(-1),
            Qt.Key.Key_Right: lambda: presenter.step_slider(1),
            Qt.Key.Key_Up: lambda: presenter.next_slider(-1),
            Qt.Key.Key_Down: lambda: presenter.next_slider(1),
            Qt.Key.Key_R: presenter.reset_view,
            Qt.Key.Key_Home: presenter.reset_view,
            Qt.Key.Key_C: presenter.look.next_map,
            Qt.Key.Key_L: self._toggle_log,
            Qt.Key.Key_H: self._toggle_histogram,
            Qt.Key.Key_A: self._toggle_aspect,
            Qt.Key.Key_B: self._toggle_colour,
            Qt.Key.Key_M: self._toggle_extremes,
            Qt.Key.Key_Escape: presenter.pointing.forget,
        }

    def add(self, key: Qt.Key, action: Callable[[], object]) -> None:
        """Let a key do something."""
        self._actions[key] = action

    def known(self) -> frozenset[Qt.Key]:
        """Return the keys that do something."""
        return frozenset(self._actions)

    def use(self, combined: int) -> None:
        """Do what a key means."""
        self._actions[Qt.Key(combined & _KEY)]()

    def _toggle_log(self) -> None:
        look = self._presenter.look
        if look.options.can_log:
            look.set_log(not look.options.log)

    def _toggle_histogram(self) -> None:
        look = self._presenter.look
        if look.options.has_levels:
            look.set_histogram(not look.options.histogram)

    def _toggle_extremes(self) -> None:
        look = self._presenter.look
        if look.options.has_levels:
            look.set_extremes(not look.options.extremes)

    def _toggle_colour(self) -> None:
        look = self._presenter.look
        if look.options.can_colour:
            look.set_colour(not look.options.colour)

    def _toggle_aspect(self) -> None:
        look = self._presenter.look
        if look.options.has_proportions:
            look.set_aspect(not look.options.aspect)


#: Keys of the plot that also work while one of its sliders or buttons has the keyboard.
_ALSO_FROM_CONTROLS = (Qt.Key.Key_Space, Qt.Key.Key_Escape, Qt.Key.Key_P, Qt.Key.Key_S)


class PlotPane(QWidget):
    """Shows one array of an opened document.

    Signals
    -------
    elementHovered(str)
        What is under the pointer or the keyboard's cursor, as one line; empty when nothing is.
    elementPointed(object)
        The index of that element along every dimension, or None.
    elementChosen(object)
        The index of the element that was clicked.
    chunkActivated(str)
        The key of the chunk that was clicked.
    trustReviewRequested()
        The user wants to review what the document may read.
    viewChanged()
        Array, slice, coordinates or coding are other ones.
    arrayChanged()
        The array is another one, or is none, or was changed.
    optionsChanged()
        The look of the plot was switched, or can be switched otherwise: `look().options` is another one.
    settled()
        What was asked for is on the screen: a finished picture, a value, or a card.
    restyled()
        Everything took the colours of another theme.
    used()
        The user does something here with a control that does not take the keyboard; before it is done.
    backWanted()
        The rest of the window is to be seen again: the plot is alone.
    """

    elementHovered = Signal(str)
    elementPointed = Signal(object)
    elementChosen = Signal(object)
    chunkActivated = Signal(str)
    trustReviewRequested = Signal()
    viewChanged = Signal()
    arrayChanged = Signal()
    optionsChanged = Signal()
    settled = Signal()
    restyled = Signal()
    used = Signal()
    backWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plotPane")
        self.header = PlotHeader()
        self.canvas = PlotCanvas()
        self.bar = ColourBar()
        self.flags = FlagLegend()
        self.flags.hide()
        self.cards = PlotCards()
        self.values = ValuesView()
        self.charts = ChartsPage(self.header)
        self.legend = StateLegend()
        self.sliders = DimensionSliders(playable=True)
        self.status = ElidedLabel("plotStatus", role="muted")
        self.status.setFont(theme.mono_font(-0.5))
        self.status.setMinimumHeight(self.status.fontMetrics().height() + 2)
        self._link_note = ElidedLabel("plotLinkNote", role="muted")
        self._link_note.hide()
        self._back = push_button("Show the whole window (F11)", "plotBackButton", self.backWanted.emit)
        self._is_alone = self._is_among_others = False
        self._asked: tuple[PlotSource, ArrayNode] | None = None
        #: What was looked at before that; and since when the array is shown.
        self._before: tuple[PlotSource, PlotState] | None = None
        self._since = 0.0
        self._lay_out()
        parts = PaneParts(
            self.header,
            self.canvas,
            self.bar,
            self.flags,
            self.cards,
            self.values,
            self.charts,
            self.legend,
            self.sliders,
            self._show_page,
            self._room,
        )
        self._presenter = Presenter(parts, self)
        self.tools = PlotTools(self._presenter, self._split, self)
        self._column.insertWidget(self._column.indexOf(self.sliders) + 1, self.tools.bar)
        self.keys = PlotKeys(self._presenter)
        self._add_tool_keys()
        self.canvas.pane_keys = self.keys.known
        self._connect()
        self._presenter.clear()

    # What is shown

    def set_array(self, document: PlotSource, node: ArrayNode, wanted: Selection | None = None) -> None:
        """Show an array, or what is `wanted` of it; else the slice stays where dimensions are the same."""
        self._note_before()
        self._asked = document, node
        self._presenter.set_array(document, node, wanted)

    def show_selection(self, selection: Selection) -> None:
        """Show a selection of the array that is shown."""
        self._presenter.show_selection(selection)

    def selection_text(self) -> str:
        """Return what is in sight as a selection: the slice, and the part that it is zoomed to."""
        state, picture = self.slice_state(), self.picture()
        if state is None:
            return ""
        drawing = self._presenter.drawing
        is_drawn = self.page() is self.canvas and picture is not None and state.is_parallel(drawing.slice)
        return state.text(drawing.visible_window() if is_drawn else None)

    def state(self) -> PlotState | None:
        """Return all that is shown as a value, see `restore`; None where no array is."""
        state = told_plot(self._presenter)
        return None if state is None else self.tools.told(state)

    def restore(self, document: PlotSource, state: PlotState) -> None:
        """Show an array of a document that is read as a state tells.

        Raises
        ------
        RefbrowserError
            `E_REF`: there is no such array, and the pane stays as it is. `E_USAGE`: the array has not what is
            selected of it, and is shown from its beginning.
        """
        found = None if document.hierarchy is None else document.hierarchy.find(state.node)
        if not hasattr(found, "shape"):
            raise RefbrowserError(ErrorKind.REF, f"there is no array {quoted(state.node)}")
        self._note_before()
        self._asked = document, cast("ArrayNode", found)
        self._presenter.restore(document, cast("ArrayNode", found), state)
        self.tools.restore(state)

    def _note_before(self) -> None:
        """Note what is shown now as what was looked at before, unless it was only passed over."""
        now, source = time.monotonic(), self.source()
        if source is not None and now - self._since >= _LOOKED_AT:
            state = self.state()
            self._before = None if state is None else (source, state)
        self._since = now

    def go_back(self) -> None:
        """Show again what was looked at before the array that is shown now."""
        before, self._before = self._before, None
        if before is not None:
            with suppress(RefbrowserError):
                # It may be gone, with an edit.
                self.restore(*before)

    def forget(self, document: PlotSource) -> None:
        """Hold nothing of a document that is closed."""
        if self._before is not None and self._before[0] is document:
            self._before = None

    def show_as(self, other: PlotPane) -> None:
        """Show what another view shows, as it does."""
        state, source = other.state(), other.source()
        if state is not None and source is not None:
            self.restore(source, state)

    def begin_like(self, other: PlotPane) -> None:
        """Draw what comes in the projection of another view, with the same drawn over pictures."""
        self._presenter.drawing.take_over(other._presenter.drawing)

    def clear(self) -> None:
        """Show nothing, and stop reading."""
        self._note_before()
        self._asked = None
        self._presenter.clear()

    def asked(self) -> tuple[PlotSource, ArrayNode] | None:
        """Return the array that was to be shown, and its document; of an image another level may be seen."""
        return self._asked

    def levels(self) -> Levels | None:
        """Return the levels of the colours; None before there are any."""
        return self._presenter.drawing.keeper.levels

    def waits_for_coordinates(self) -> bool:
        """Whether coordinates are still to come, which tell where the slice is."""
        return self._presenter.coordinates.is_reading

    def lost_coordinates(self) -> tuple[str, ...]:
        """Return which coordinates could not be read, in words: indices are shown for them."""
        return self._presenter.coordinates.errors

    def stepped(self) -> int | None:
        """Return the dimension that the keyboard steps along, and frames play."""
        return self._presenter.stepped

    def refine(self) -> None:
        """Read what is seen in more detail at once, where there is more."""
        self._presenter.refine()

    def redraw(self) -> None:
        """Draw everything again at once, in the colours that are in force."""
        self._presenter.stage.redraw()

    def draw(self) -> None:
        """Draw at once what has changed."""
        self._presenter.drawing.draw()

    def read_again(self) -> None:
        """Read again what is shown."""
        self._presenter.retry()
        self.charts.read_again()

    def array(self) -> ArrayNode | None:
        """Return the array that is shown."""
        return self._presenter.subject.node

    def kind(self) -> PlotKind | None:
        """Return the kind of plot that is shown."""
        return self._presenter.subject.kind

    def look_for_kinds(self) -> None:
        """Show what is shown as a kind that was not known before, where that suits it better."""
        self._presenter.look_for_kinds()

    def whole(self) -> ArrayNode | None:
        """Return the array of whose elements a part is plotted; the array that is shown where it is all."""
        return self._presenter.subject.whole

    def tabled(self) -> ArrayNode | None:
        """Return what a table shows: whole elements, but of complex numbers the part that is plotted."""
        whole = self.whole()
        is_complex = whole is not None and whole.dtype is not None and whole.dtype.kind == "c"
        return self.array() if is_complex else whole

    def part_names(self) -> tuple[str, ...]:
        """Return the parts of each element that can be plotted; none where elements have no parts."""
        return self._presenter.part_names()

    def choose_part(self, name: str) -> None:
        """Plot a part of each element (a field, the length of a row); the whole where the name is empty."""
        self._presenter.choose_part(name)

    def slice_state(self) -> SliceState | None:
        """Return the slice that is shown."""
        return self._presenter.subject.slice

    def source(self) -> PlotSource | None:
        """Return the document whose array is shown."""
        return self._presenter.subject.document

    def coordinates(self) -> Sequence[Coordinate]:
        """Return the coordinate of each dimension, as far as they have come."""
        return self._presenter.coordinates.coordinates

    def is_decoded(self) -> bool:
        """Whether scale, offset, missing values and times of the CF conventions are applied."""
        return self._presenter.subject.decoded

    def set_decoded(self, decoded: bool) -> None:
        """Apply the CF conventions, or show the elements as they are stored."""
        self._presenter.look.set_decoded(decoded)

    def set_prefetch(self, on: bool) -> None:
        """Read the slices beside the one that is shown before they are asked for, or do not."""
        self._presenter.reads_ahead = on

    def set_index(self, dimension: int, index: int) -> None:
        """Move along a dimension that is not on an axis."""
        self._presenter.set_index(dimension, index)

    def point_at(self, element: tuple[int, ...]) -> None:
        """Put the cursor on an element, or choose its row: its indices along the axes of the slice."""
        picture = self.picture()
        if self.page() is not self.values:
            self._presenter.pointing.choose(element)
        elif picture is not None:
            position = picture.position(element)
            self.values.table.set_current(position[0] if position else None)

    def set_note(self, note: Callable[[tuple[int, ...]], str]) -> None:
        """Say more of elements: `note` returns words for the index of one, or nothing."""
        self._presenter.pointing.note = note

    def element(self) -> tuple[int, ...] | None:
        """Return the index of the element that is meant: under the cursor, in the row, or of the slice."""
        state = self.slice_state()
        if state is None:
            return None
        if self.page() is self.canvas:
            return self._presenter.pointing.index()
        row = self.values.table.current() if self.page() is self.values else None
        if row is None or not state.axes:
            return tuple(state.indices)
        picture = self.picture()
        index = list(state.indices)
        index[state.x] = row if picture is None else picture.plan.ranges[0][row]
        return tuple(index)

    def kept_element(self) -> tuple[int, ...] | None:
        """Return the element that was clicked, or that the keyboard moved to, last: along the axes."""
        return self._presenter.pointing.kept

    def begin_cursor_at(self, element: tuple[int, ...] | None) -> None:
        """Let the keyboard's cursor begin at an element; None: in the middle of what is seen."""
        self._presenter.pointing.begin = element

    def lead_cursor(self, element: tuple[int, ...] | None) -> None:
        """Put the cursor where it is in a linked view: indices along the axes; None takes it away."""
        self._presenter.pointing.lead(element)

    def show_range(self, across: tuple[float, float], upwards: tuple[float, float]) -> None:
        """Make a part of the canvas visible."""
        if (across, upwards) != self.canvas.view()[:2]:
            self.canvas.show_range(across, upwards)

    def drawing(self) -> Drawing:
        """Return what draws the picture: axes, levels, colours."""
        return self._presenter.drawing

    def set_link_note(self, words: str) -> None:
        """Say what does not follow the linked views; nothing where all does."""
        self._link_note.set_text(words)
        self._link_note.setVisible(bool(words))

    def settle_cursor(self) -> tuple[int, ...] | None:
        """Return the index of the element that is meant; the cursor is put on one where it points at none."""
        if self.page() is self.canvas:
            return self._presenter.pointing.settle()
        return self.element()

    def stored(self) -> Any:
        """Return the element that is meant as it is stored; None where its chunk has not come."""
        picture, row = self.picture(), self.values.table.current()
        if self.page() is self.canvas or picture is None or (picture.values.ndim and row is None):
            return self._presenter.pointing.stored()
        position = () if row is None or not picture.values.ndim else (row,)
        return picture.values[position] if picture.has_value_at(position) else None

    def centre_map(self) -> None:
        """Put the element that is meant into the middle of the map."""
        pointing = self._presenter.pointing
        if pointing.settle() is not None and pointing.element is not None:
            self._presenter.look.centre_on(pointing.element)

    def show_chunk(self, coords: Sequence[int]) -> None:
        """Move to the slice that a chunk is part of, and zoom to it."""
        self._presenter.show_chunk(coords)

    def drawn_slice(self) -> DrawnSlice | None:
        """Return what is known of the slice on the canvas; None where nothing is drawn there."""
        drawing = self._presenter.drawing
        return None if drawing.slice is None or drawing.shown is None else drawing.drawn_slice()

    def look(self) -> Look:
        """Return the switches of coding, colours, levels and proportions."""
        return self._presenter.look

    def reset_view(self) -> None:
        """See the whole slice again."""
        self._presenter.reset_view()

    def set_defaults(self, colour_map: str, decoded: bool) -> None:
        """Use a colour map, and apply the CF conventions or not to arrays that were not shown before."""
        self._presenter.look.set_defaults(colour_map, decoded)

    def picture(self) -> Picture | None:
        """Return the picture on the screen."""
        return self._presenter.loader.current

    def look_at_lock(self) -> None:
        """Mark what is of files that are not those of the lock, which others are now."""
        self._presenter.stage.mark_stale()
        self.tools.mark_stale()

    def is_settled(self) -> bool:
        """Whether nothing is still being read for what is shown."""
        return self._presenter.stage.is_settled

    # Assembly

    def _show_page(self, page: QWidget) -> None:
        self._pages.setCurrentWidget(self._plot if page is self.canvas else page)
        is_card = page is self.cards
        self.legend.setVisible(not is_card and self.legend.isVisibleTo(self))
        self.header.show_tools(page is self.charts)
        self._show_status()

    def _room(self) -> QSize:
        """Return how large an image can be, in pixels of the screen: beside its axes and colours."""
        inside = self._pages.size() - QSize(self.bar.sizeHint().width() + _AXIS_WIDTH, _AXIS_HEIGHT)
        return inside * self.devicePixelRatioF()

    def set_alone(self, *, is_alone: bool) -> None:
        """Say what is under the pointer, which the window's status bar says where that is seen."""
        self._is_alone = is_alone
        self._back.setVisible(is_alone)
        self._show_status()

    def set_among_others(self, is_among: bool) -> None:
        """Say whether there are other views: then this one is named by its tab, and has its own readout."""
        self._is_among_others = is_among
        self.header.set_compact(is_among)
        margin = theme.SMALL if is_among else theme.LARGE
        self._column.setContentsMargins(margin, margin, margin, theme.SMALL if is_among else theme.MEDIUM)
        self._show_status()

    def _show_status(self) -> None:
        is_read = self.page() in (self.canvas, self.charts)
        self.status.setVisible((self._is_alone or self._is_among_others) and is_read)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.bar.set_room(event.size().width())
        self.tools.fit()

    def page(self) -> QWidget:
        """Return the page in front: `cards`, `canvas`, `values` or `charts`."""
        current = self._pages.currentWidget()
        return next((page for page in (self.cards, self.values, self.charts) if page is current), self.canvas)

    def drawn_parts(self) -> list[tuple[QWidget, int]]:
        """Return what a picture of the view is made of, left to right: without fields and buttons.

        With each widget comes how far below the top it is, in pixels: above for a canvas that is free at the
        top. Colours are as high as the image.
        """
        page = self.page()
        if page is self.charts:
            return [(self.charts.drawn_part(), 0)]
        if page is not self.canvas:
            return [(page, 0)]
        box = self.canvas.box_rect()
        box.translate(0, -self.canvas.free_above())
        parts: list[tuple[QWidget, int]] = [(self.canvas, -self.canvas.free_above())]
        if self.bar.isVisibleTo(self._plot):
            parts.append(self.bar.strip.beside(box))
        if self.flags.isVisibleTo(self._plot):
            parts.append((self.flags.list, box.top()))
        return parts

    def _lay_out(self) -> None:
        self._plot = QWidget()
        across = QHBoxLayout(self._plot)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(theme.MEDIUM)
        across.addWidget(self.canvas, 1)
        across.addWidget(self.bar)
        across.addWidget(self.flags)
        self._pages = QStackedWidget()
        for page in (self.cards, self._plot, self.values, self.charts):
            self._pages.addWidget(page)
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.LARGE, theme.LARGE, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self.header)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setObjectName("plotSplitter")
        self._split.setChildrenCollapsible(False)
        # Charts and strips below the picture must not make the window grow.
        self._split.setMinimumSize(LEAST_PLOT, LEAST_PLOT)
        self._split.addWidget(self._pages)
        layout.addWidget(self._split, 1)
        layout.addWidget(self.legend)
        layout.addWidget(self.sliders)
        below = QHBoxLayout()
        below.addWidget(self.status, 1)
        below.addWidget(self._link_note, 1)
        below.addWidget(self._back, 0, Qt.AlignmentFlag.AlignRight)
        self._back.hide()
        layout.addLayout(below)

    def _connect(self) -> None:
        self._tell_of_use()
        presenter = self._presenter
        self.header.xChosen.connect(presenter.choose_x)
        self.header.yChosen.connect(presenter.choose_y)
        self.header.partChosen.connect(presenter.choose_part)
        self.header.levelChosen.connect(presenter.choose_level)
        look = presenter.look
        self.header.codingToggled.connect(look.set_decoded)
        self.header.colourToggled.connect(look.set_colour)
        self.header.logToggled.connect(look.set_log)
        self.header.histogramToggled.connect(look.set_histogram)
        self.header.aspectToggled.connect(look.set_aspect)
        self.header.switchToggled.connect(look.set_switch)
        self.header.overlayToggled.connect(look.set_overlay)
        self.header.projectionChosen.connect(look.set_projection)
        self.header.mapChosen.connect(look.set_map)
        self.flags.flagChosen.connect(look.choose_flag)
        look.changed.connect(self.optionsChanged)
        self.header.resetRequested.connect(presenter.reset_view)
        self.sliders.indexChanged.connect(presenter.set_index)
        self.sliders.playAsked.connect(self._play)
        self.tools.animation.changed.connect(self._show_playing)
        self.tools.changed.connect(self.optionsChanged)
        self.tools.connect_buttons(self.header.profile, self.header.series, self.header.region)
        self.bar.levelsEdited.connect(look.set_levels)
        self.bar.autoRequested.connect(look.auto_levels)
        self.bar.extremesWanted.connect(look.set_extremes)
        self.legend.retry.clicked.connect(presenter.retry)
        self.cards.retryRequested.connect(presenter.retry)
        self.cards.trustReviewRequested.connect(self.trustReviewRequested)
        self.cards.choiceMade.connect(presenter.choose_size)
        self.charts.said.connect(self._say)
        self.charts.settled.connect(presenter.stage.tell_settled)
        self.charts.trustReviewRequested.connect(self.trustReviewRequested)
        self.canvas.viewMoved.connect(presenter.view_moved)
        pointing = presenter.pointing
        self.canvas.pointed.connect(pointing.point_at)
        self.canvas.clicked.connect(pointing.click_at)
        self.canvas.cursorMoved.connect(pointing.move)
        pointing.said.connect(self._say)
        pointing.pointed.connect(self.elementPointed)
        pointing.chosen.connect(self.elementChosen)
        pointing.chunkActivated.connect(self.chunkActivated)
        self.canvas.keyUsed.connect(self.keys.use)
        presenter.changed.connect(self.viewChanged)
        presenter.moved.connect(self.viewChanged)
        presenter.arrayChanged.connect(self.arrayChanged)
        presenter.stage.settled.connect(self.settled)

    def _tell_of_use(self) -> None:
        bar, sliders, tools = self.bar, self.sliders, self.tools
        for button in self.header.findChildren(QAbstractButton):
            button.pressed.connect(self.used)
        sliders.indexChanged.connect(lambda _dimension, _index: self.used.emit())
        sliders.playAsked.connect(lambda _dimension: self.used.emit())
        bar.levelsEdited.connect(lambda _levels: self.used.emit())
        bar.extremesWanted.connect(lambda _on: self.used.emit())
        bar.autoRequested.connect(self.used)
        tools.copyRequested.connect(lambda _what: self.used.emit())
        tools.exportRequested.connect(lambda _what: self.used.emit())

    def _add_tool_keys(self) -> None:
        tools, keys = self.tools, self.keys
        keys.add(Qt.Key.Key_P, tools.toggle_profile)
        keys.add(Qt.Key.Key_S, lambda: tools.series_here(extend=self.canvas.extends))
        keys.add(Qt.Key.Key_G, tools.toggle_region)
        keys.add(Qt.Key.Key_Space, tools.play)
        keys.add(Qt.Key.Key_Escape, tools.escape)
        self.canvas.shift_keys.add(Qt.Key.Key_S)

    def _play(self, dimension: int) -> None:
        self.tools.animation.toggle(dimension)
        # The keys that the button's tip names are those of the plot.
        self.page().setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Use the plot's own keys that a slider or a button has no use for."""
        key = Qt.Key(event.key())
        if key in _ALSO_FROM_CONTROLS and not event.modifiers():
            self.keys.use(event.keyCombination().toCombined())
        else:
            super().keyPressEvent(event)

    def _show_playing(self) -> None:
        animation = self.tools.animation
        self.sliders.set_playing(animation.dimension if animation.is_playing else None)

    def _say(self, text: str) -> None:
        if text != self.status.text():
            self.status.set_text(text)
            if not self._presenter.pointing.is_led:
                self.elementHovered.emit(text)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_presenter"):
            # Once, after the style sheet has reached every child.
            QTimer.singleShot(0, self, self._restyle)

    def _restyle(self) -> None:
        self.canvas.restyle()
        self.header.restyle()
        self.legend.restyle()
        self.bar.strip.update()
        self.values.restyle()
        self.charts.restyle()
        self.tools.restyle()
        self._show_playing()
        self._presenter.stage.redraw()
        self.restyled.emit()
