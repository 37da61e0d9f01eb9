"""Which message supplied each element of a slice: a picture, the section under the pointer, sliders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyqtgraph import InfiniteLine, ViewBox, mkPen
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QBrush, QColor, QKeyEvent, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QGraphicsRectItem, QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.plot.axes.axes_view import ARROWS, AxesView
from refbrowser.app.plot.sliders import DimensionSliders
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import hint_label, one_shot
from refbrowser.views.plot.coordinates import AxisScale, Coordinate, plain_coordinate
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.readout import readout
from refbrowser.views.plot.slicing import SliceState
from refbrowser.views.words import one_line
from refbrowser.wings.ncstream.views.supplied_sections import section_of, supplied_sections
from refbrowser.wings.ncstream.views.supply import (
    Supply,
    is_cut_off,
    is_lost,
    messages_of_element,
    supply_of,
    taken_for,
)
from refbrowser.wings.ncstream.views.supply_classes import ColouredSupply, Label, coloured, labels
from refbrowser.wings.ncstream.window.supply_picture import SupplyItem, SupplyLegend

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.views.plot.slicing import SliceState
    from refbrowser.wings.ncstream.reading.messages import StreamIndex
    from refbrowser.wings.ncstream.reading.sections import Sections


#: Messages that are named.
_NAMED = 4


def supplied_words(messages: Sequence[int]) -> str:
    """Return which message supplied an element and which ones it replaced; `messages` in their order."""
    if not messages:
        return "never sent: fill value"
    replaced = list(reversed(messages[:-1]))
    words = f"message {messages[-1]}"
    if replaced:
        more = f" and {len(replaced) - _NAMED} more" if len(replaced) > _NAMED else ""
        words += f", replaced {', '.join(map(str, replaced[:_NAMED]))}{more}"
    return words


#: How long it lights up, in milliseconds.
FLASH = 450
#: Above images and lines, below the cross.
_DEPTH = 14


class SectionMark:
    """The frame in one plot at a time."""

    def __init__(self, box: ViewBox) -> None:
        self._box = box
        #: A dark line under a light one, so that it is seen on every colour.
        self._frames = tuple(QGraphicsRectItem() for _ in range(2))
        self._fill = QGraphicsRectItem()
        self._fill.setPen(mkPen(None))
        for item in (self._fill, *self._frames):
            item.setZValue(_DEPTH)
            item.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
            item.hide()
            box.addItem(item, ignoreBounds=True)
        self._dim = one_shot(box, FLASH, self._fill.hide)
        self.restyle()

    def move_to(self, box: ViewBox) -> None:
        """Frame what is in another plot from now on; nothing at first."""
        self.show_at(None)
        for item in (self._fill, *self._frames):
            self._box.removeItem(item)
            box.addItem(item, ignoreBounds=True)
        self._box, self._dim = box, one_shot(box, FLASH, self._fill.hide)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        colors = theme.colors()
        for frame, color, width in zip(self._frames, (colors.surface, colors.accent), (5, 2.5), strict=True):
            frame.setPen(mkPen(color, width=width))
        light = QColor(colors.accent)
        light.setAlpha(110)
        self._fill.setBrush(QBrush(light))

    def show_at(self, part: QRectF | None) -> None:
        """Frame a part of the plot, in its coordinates; nothing where it is None."""
        for item in self._frames:
            item.setVisible(part is not None)
            item.setRect(part or QRectF())
        self._fill.setRect(part or QRectF())
        if part is None:
            self._fill.hide()

    def part(self) -> QRectF | None:
        """Return the part that has the frame, or None."""
        return self._frames[0].rect() if self._frames[0].isVisible() else None

    def flash(self) -> None:
        """Light up what is framed."""
        if self.part() is not None:
            self._fill.show()
            self._dim.start()

    def is_lit(self) -> bool:
        """Whether it lights up now."""
        return self._fill.isVisible()


_MARGINS = (2, 6, 16, 2)


class SupplyView(AxesView):
    """Shows what supplied each element of a slice.

    Signals
    -------
    pointed(object)
        The indices along the axes of the element under the pointer or the keyboard's cursor, or None.
    chosen(object)
        Those of the element that was clicked, or on which Return was pressed.
    """

    pointed = Signal(object)
    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("messagesPicture", "Picture of messages", _MARGINS, parent)
        self.setAccessibleDescription("Arrow keys move a cursor over the elements")
        self.setMinimumSize(160, 90)
        self.item = SupplyItem()
        self.box.addItem(self.item, ignoreBounds=True)
        self.mark = SectionMark(self.box)
        self._cross = tuple(InfiniteLine(angle=angle) for angle in (90, 0, 90, 0))
        for line in self._cross:
            line.setZValue(20)
            line.hide()
            self.box.addItem(line, ignoreBounds=True)
        self._slice: SliceState | None = None
        self._scales: tuple[AxisScale, AxisScale] | None = None
        self._labels = ("", "")
        self._supply: Supply | None = None
        self.element: tuple[int, ...] | None = None
        self.box.setMouseEnabled(x=True, y=True)
        self.box.setDefaultPadding(0)
        self.scene().sigMouseClicked.connect(self._mouse_clicked)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        super().restyle()
        for item, color, style in zip(self._cross, "kkww", ("Solid", "Solid", "Dash", "Dash"), strict=True):
            item.setPen(mkPen(color, width=1, style=Qt.PenStyle[f"{style}Line"]))
        self.mark.restyle()
        self.item.restyle()

    # What is shown

    def set_slice(self, state: SliceState | None, coordinates: Sequence[Coordinate]) -> None:
        """Take the axes of a slice; all of another one is seen."""
        before, self._slice = self._slice, state
        if state is None or not state.axes:
            self.set_supply(None)
            self._slice = None
            return
        across = AxisScale(coordinates[state.x])
        upwards = AxisScale(plain_coordinate("", 1) if state.y is None else coordinates[state.y])
        self._scales = (upwards, across)
        self.across.set_scale(across, coordinates[state.x].axis_label)
        self.upwards.set_scale(upwards, "" if state.y is None else coordinates[state.y].axis_label)
        self.upwards.setVisible(state.y is not None)
        self.box.invertX(across.runs_backwards(vertical=False))
        self.box.invertY(upwards.runs_backwards(vertical=True))
        if before is None or (before.axes, before.shape) != (state.axes, state.shape):
            self.set_cursor(None)
            self.reset_view()

    def set_supply(self, shown: ColouredSupply | None, labels: tuple[Label, ...] = ()) -> None:
        """Show what supplied the elements, or nothing."""
        self._supply = None if shown is None else shown.supply
        self.item.set_supply(shown, labels)
        if shown is None:
            self.mark.show_at(None)
            self.set_cursor(None)

    def reset_view(self) -> None:
        """See the whole slice again."""
        state = self._slice
        if state is None:
            return
        wide, high = state.shape[state.x], 1 if state.y is None else state.shape[state.y]
        limits = {"xMin": -0.5, "xMax": wide - 0.5, "yMin": -0.5, "yMax": high - 0.5}
        self.box.setLimits(**limits, minXRange=1, minYRange=1)
        self.box.setRange(xRange=(-0.5, wide - 0.5), yRange=(-0.5, high - 0.5), padding=0)

    def frame(self, section: Sequence[range] | None) -> None:
        """Frame the part of the slice that a section has, along every dimension; None: nothing."""
        self.mark.show_at(None if section is None else section_rect(self._slice, section))

    # The cursor

    def set_cursor(self, element: tuple[int, ...] | None) -> None:
        """Put the cursor on an element, or hide it."""
        self.element = element
        for line in self._cross:
            line.setVisible(element is not None)
        if element is not None:
            place = element[-1], (element[0] if len(element) > 1 else 0)
            for line, at in zip(self._cross, place * 2, strict=True):
                line.setPos(at)

    def say(self, text: str) -> None:
        """Tell screen readers of the element under the cursor."""
        if text and text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def element_at(self, place: QPointF | tuple[float, float]) -> tuple[int, ...] | None:
        """Return the element at a position of the plot."""
        state, scales = self._slice, self._scales
        if state is None or scales is None:
            return None
        x, y = (place.x(), place.y()) if isinstance(place, QPointF) else place
        column, row = scales[1].index_at(x), scales[0].index_at(y)
        if column is None or row is None:
            return None
        return (column,) if state.y is None else (row, column)

    # Events

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        place = self.position_of(event)
        self.pointed.emit(None if place is None else self.element_at(place))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointed.emit(None)

    def _mouse_clicked(self, event: Any) -> None:
        place = self.position_at(event.scenePos())
        if event.double():
            self.reset_view()
        elif place is not None and event.button() == Qt.MouseButton.LeftButton:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            element = self.element_at(place)
            self.set_cursor(element)
            if element is not None:
                self.chosen.emit(element)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in ARROWS and self._slice is not None:
            stride = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            across, upwards = ARROWS[key]
            self._move(across * stride, upwards * stride)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.element is not None:
            self.chosen.emit(self.element)
        elif key in (Qt.Key.Key_R, Qt.Key.Key_Home) and not event.modifiers():
            self.reset_view()
        else:
            event.ignore()
            return
        event.accept()

    def _move(self, across: int, upwards: int) -> None:
        """Move the cursor by elements; the first move puts it in the middle."""
        state = self._slice
        assert state is not None
        lengths = [state.shape[axis] for axis in state.axes]
        if self.element is None:
            self.set_cursor(tuple(length // 2 for length in lengths))
        else:
            across = -across if self.box.xInverted() else across
            upwards = -upwards if self.box.yInverted() else upwards
            moves = (across,) if state.y is None else (upwards, across)
            moved = (at + by for at, by in zip(self.element, moves, strict=True))
            held = (min(max(at, 0), length - 1) for at, length in zip(moved, lengths, strict=True))
            self.set_cursor(tuple(held))
        self.pointed.emit(self.element)


def section_rect(state: SliceState | None, section: Sequence[range]) -> QRectF | None:
    """Return what a section covers in a slice, in indices along its axes; None where it does not meet it."""
    if state is None or len(section) != len(state.shape) or not state.axes:
        return None
    if any(state.indices[axis] not in section[axis] for axis in state.sliders):
        return None
    across = section[state.x]
    upwards = range(1) if state.y is None else section[state.y]
    if not across or not upwards:
        return None
    return QRectF(QPointF(across[0] - 0.5, upwards[0] - 0.5), QPointF(across[-1] + 0.5, upwards[-1] + 0.5))


NOTHING = "Select an array in the hierarchy: which message supplied each of its elements appears here."
NO_AXES = "A single value has no picture."
#: An element of more messages than these is not looked for while the pointer moves.
_MESSAGES_MOST = 500_000


@dataclass(frozen=True, slots=True)
class Supplied:
    """What was found out about one slice; without a picture where the array has no axes."""

    path: str
    state: SliceState
    sections: Sections
    shown: ColouredSupply | None
    labels: tuple[Label, ...]


class SupplyPane(QWidget):
    """Follows a plot: the same array and slice.

    Signals
    -------
    messageWanted(int)
        The message that supplied an element, or of an entry of the legend, is wanted.
    changed()
        Another slice is shown, or other messages.
    """

    messageWanted = Signal(int)
    changed = Signal()

    def __init__(self, plot: PlotPane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messagesPicturePane")
        self._plot = plot
        self._document: OpenDocument | None = None
        self._index: StreamIndex | None = None
        self._until: int | None = None
        self._stale = True
        self._message: int | None = None
        self.found: Supplied | None = None
        self.view = SupplyView()
        self._looking = Latest(self, "supply")
        self.legend = SupplyLegend()
        self.sliders = DimensionSliders("messages_")
        self.status = ElidedLabel("messagesStatus", role="muted")
        self.status.setFont(theme.mono_font(-0.5))
        self._hint = hint_label(NOTHING)
        self._hint.setObjectName("messagesHint")
        self._pages = QStackedWidget()
        self._pages.addWidget(self._hint)
        self._pages.addWidget(self.view)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self._pages, 1)
        for widget in (self.legend, self.sliders, self.status):
            layout.addWidget(widget)
        self._soon = one_shot(self, 0, self._follow)
        self._follow_plot()
        self.legend.wanted.connect(self.messageWanted)
        self.view.pointed.connect(self._pointed)
        self.view.chosen.connect(self._chosen)

    # What is shown

    def set_stream(self, document: OpenDocument | None, index: StreamIndex | None, until: int | None) -> None:
        """Show another stream, or as it was after another message."""
        if (document, index, until) != (self._document, self._index, self._until):
            # What was looked for before would be taken for what the new stream has.
            self._looking.cancel()
            self._document, self._index, self._until = document, index, until
            self.found = None
            if document is None:
                # What was shown may be large.
                self._show(None)
            self._plot_changed()

    def frame(self, message: int | None) -> None:
        """Frame what a message gave of the array that is shown."""
        self._message = message
        self._place_frame()

    def path(self) -> str | None:
        """Return the array whose messages are known, or None."""
        return None if self.found is None else self.found.path

    def section(self, message: int) -> tuple[range, ...] | None:
        """Return what a message gave of the array that is shown; None where it is of another one."""
        return None if self.found is None else section_of(self.found.sections, message)

    def words_at(self, index: Sequence[int]) -> str:
        """Return which messages gave an element of the array that is shown, the one that counts first."""
        found = self.found
        if found is None or len(found.sections) > _MESSAGES_MOST or len(index) != len(found.state.shape):
            return ""
        messages = messages_of_element(found.sections, index)
        if not messages and is_cut_off(found.sections, index):
            return f"message {int(found.sections.numbers[-1])} was cut off before it"
        if not messages and is_lost(found.sections, index):
            return "lost: the message with it is damaged"
        return supplied_words(messages)

    # Following the plot

    def set_plot(self, plot: PlotPane) -> None:
        """Follow another plot from now on."""
        self._plot.viewChanged.disconnect(self._plot_changed)
        self.sliders.indexChanged.disconnect(self._plot.set_index)
        self._plot = plot
        self._follow_plot()
        self._plot_changed()

    def _follow_plot(self) -> None:
        self._plot.viewChanged.connect(self._plot_changed)
        self.sliders.indexChanged.connect(self._plot.set_index)

    def _plot_changed(self) -> None:
        self._stale = True
        node = self._plot.array()
        # Which messages an array has is of use in the plot too, the picture only where it is seen.
        if self.isVisible() or self.path() != (None if node is None else node.path):
            self._soon.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._soon.start()

    def _follow(self) -> None:
        """Find out about the slice of the plot, off the GUI thread."""
        document, index, until = self._document, self._index, self._until
        node, state = self._plot.array(), self._plot.slice_state()
        if document is None or index is None or node is None or state is None:
            self._stale = False
            self._show(None)
            self._say_hint(NOTHING)
            return
        is_plotted = self._plot.source() is document
        if not is_plotted:
            return
        known = self.found
        sections = known.sections if known is not None and known.path == node.path else None
        path, shape, is_seen = node.path, node.shape, self.isVisible()

        self._stale = not is_seen

        def find(control: TaskControl) -> Supplied:
            given = supplied_sections(index, path, shape, until) if sections is None else sections
            if not state.axes or 0 in shape or not is_seen:
                return Supplied(path, state, given, None, ())
            taken = taken_for([state.shape[axis] for axis in state.axes])
            supply = supply_of(given, state.indices, state.axes, taken, control.token)
            return Supplied(path, state, given, coloured(supply), labels(supply))

        title = f"Look for the messages of {one_line(path)}"
        self._looking.run(document, title, find, self._found)

    def _found(self, found: Supplied) -> None:
        node = self._plot.array()
        if node is None or node.path != found.path:
            # Another array was plotted meanwhile, which is looked at next.
            return
        self._show(found)
        if found.shown is None and not self._stale:
            self._say_hint(NO_AXES)

    def _show(self, found: Supplied | None) -> None:
        self.found = found
        shown = None if found is None else found.shown
        if found is not None and shown is not None:
            self._pages.setCurrentWidget(self.view)
            self.view.set_slice(found.state, self._plot.coordinates())
            self.view.set_supply(shown, found.labels)
        else:
            self.view.set_slice(None, ())
        self.legend.set_supply(shown)
        self.sliders.set_slice(None if found is None else found.state, self._plot.coordinates())
        self._place_frame()
        self._pointed(self.view.element)
        self.changed.emit()

    def _say_hint(self, text: str) -> None:
        self._hint.setText(text)
        self._pages.setCurrentWidget(self._hint)

    def _place_frame(self) -> None:
        section = None if self._message is None else self.section(self._message)
        self.view.frame(section)

    # The element under the pointer

    def _pointed(self, element: tuple[int, ...] | None) -> None:
        element = self.view.element if element is None else element
        text = "" if element is None else self._words(element)
        self.status.set_text(text)
        self.view.say(text)

    def _chosen(self, element: tuple[int, ...]) -> None:
        found = self.found
        if found is not None and found.shown is not None:
            given = messages_of_element(found.sections, self._full(found, element))
            if given:
                self.messageWanted.emit(given[-1])
        self._pointed(element)

    def _words(self, element: tuple[int, ...]) -> str:
        """Return where an element is, its value where it was read, and its messages."""
        found = self.found
        if found is None:
            return ""
        messages = self.words_at(self._full(found, element))
        picture, node = self._plot.picture(), self._plot.array()
        where = ""
        if picture is not None and node is not None and picture.plan.slice == found.state:
            shown = Interpretation(node, self._plot.is_decoded())
            where = readout(picture, shown, self._plot.coordinates(), element)
        if not where:
            names = [found.state.names[axis] for axis in found.state.axes]
            where = "   ".join(f"{name} [{at}]" for name, at in zip(names, element, strict=True))
        return f"{messages}   {where}"

    @staticmethod
    def _full(found: Supplied, element: tuple[int, ...]) -> tuple[int, ...]:
        """Return the index of an element along every dimension."""
        full = list(found.state.indices)
        for axis, at in zip(found.state.axes, element, strict=True):
            full[axis] = at
        return tuple(full)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "view"):
            self.view.restyle()
            self.legend.restyle()
