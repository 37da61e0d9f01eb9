"""A profile: the values along a line that is drawn across the picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from pyqtgraph import PlotCurveItem, ScatterPlotItem, TargetItem, TextItem, mkBrush, mkPen
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QToolButton, QWidget

from refbrowser.app.plot.axes.axes_view import ARROWS, PlotBox
from refbrowser.app.plot.axes.chart import ChartPane, chart_line, ringed_text
from refbrowser.app.plot.resolution import Turn, element_of
from refbrowser.app.plot.shape_pencil import ShapePencil, drawn_path
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.views.plot.picture import STALE_NAME, ChunkState, Picture, have_values
from refbrowser.views.plot.profile import (
    Element,
    Profile,
    first_line,
    held,
    length_text,
    place_text,
    profile_of,
    profile_rows,
    profile_through,
    read_profile,
)
from refbrowser.views.plot.profile_path import is_on_earth, path_through
from refbrowser.views.regions.region_drawing import DrawnShape
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.plot.presenter import Presenter


NAMES = ("A", "B")
_SIZE = 15


class ProfileLine(QObject):
    """Items on the picture.

    Signals
    -------
    moved(int, object)
        A handle was dragged to a position of the plot, a `QPointF`: those of the ends are 0 and 1, others
        those of the corners between them.
    """

    moved = Signal(int, object)

    def __init__(self, box: PlotBox, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._box = box
        self._active: int | None = None
        self._between: list[TargetItem] = []
        #: A dark line under a light one is seen on every colour.
        self._lines = tuple(PlotCurveItem(antialias=True) for _ in range(2))
        self._mark = ScatterPlotItem(pxMode=True, symbol="o", size=9)
        self.handles = tuple(TargetItem(size=_SIZE, symbol="o", movable=True) for _ in NAMES)
        self._texts = tuple(TextItem(name, anchor=(0.5, 0.5)) for name in NAMES)
        items = (*self._lines, self._mark, *self.handles, *self._texts)
        for depth, item in enumerate(items):
            item.setZValue(22 + depth)
            box.addItem(item, ignoreBounds=True)
        for text in self._texts:
            # The handle below takes the pointer.
            text.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
            font = QFont()
            font.setPixelSize(10)
            font.setBold(True)
            text.setFont(font)
        for number, handle in enumerate(self.handles):
            handle.sigPositionChanged.connect(lambda item, number=number: self._dragged(number, item))
        self._items = items
        self.restyle()
        self.hide()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        accent = theme.colors().accent
        self._lines[0].setPen(mkPen("#10151d", width=4))
        self._lines[1].setPen(mkPen("#ffffff", width=1.6))
        self._mark.setPen(mkPen("#10151d", width=1.5))
        self._mark.setBrush(mkBrush("#ffffff"))
        for handle in self._between:
            handle.setPen(mkPen("#10151d", width=1.5))
            handle.setBrush(mkBrush("#ffffff"))
        for number, handle in enumerate(self.handles):
            active = number == self._active
            handle.setPen(mkPen(accent if active else "#10151d", width=3 if active else 1.5))
            handle.setHoverPen(mkPen(accent, width=3))
            handle.setBrush(mkBrush("#ffffff"))
            handle.setHoverBrush(mkBrush("#ffffff"))
        for text in self._texts:
            text.setColor("#10151d")

    def hide(self) -> None:
        """Take it away."""
        for item in (*self._items, *self._between):
            item.hide()

    def show_way(self, way: tuple[np.ndarray, np.ndarray], corners: Sequence[QPointF]) -> None:
        """Draw it along a way, across and upwards, with a handle at each corner."""
        for line in self._lines:
            line.setData(*way, connect="finite")
            line.show()
        ends = (corners[0], corners[-1])
        for end, handle, text in zip(ends, self.handles, self._texts, strict=True):
            _put(handle, end)
            text.setPos(end)
            text.show()
        while len(self._between) < len(corners) - 2:
            self._add_handle(len(self._between) + 2)
        for number, handle in enumerate(self._between):
            if number < len(corners) - 2:
                _put(handle, corners[number + 1])
            else:
                handle.hide()

    def _add_handle(self, number: int) -> None:
        handle = TargetItem(size=_SIZE - 5, symbol="o", movable=True)
        handle.setZValue(24)
        handle.sigPositionChanged.connect(lambda item: self._dragged(number, item))
        self._box.addItem(handle, ignoreBounds=True)
        self._between.append(handle)
        self.restyle()

    def set_active(self, number: int | None) -> None:
        """Mark the handle that keys move."""
        if number != self._active:
            self._active = number
            self.restyle()

    def set_mark(self, element: Element | None) -> None:
        """Mark an element, or none."""
        self._mark.setVisible(element is not None)
        if element is not None:
            self._mark.setData([float(element[1])], [float(element[0])])

    def _dragged(self, number: int, handle: TargetItem) -> None:
        position = handle.pos()
        self.moved.emit(number, QPointF(position.x(), position.y()))


def _put(handle: TargetItem, place: QPointF) -> None:
    """Put a handle somewhere; it is not told."""
    handle.blockSignals(True)
    handle.setPos(place)
    handle.blockSignals(False)
    handle.show()


#: Between two drawings while a handle is dragged, in milliseconds.
FRAME = 16
#: Cells that a key moves a handle by with Shift or Ctrl.
_FAR = 10
#: A pane at least so wide, in pixels, says where the ends are.
_WORDY = 420


class ProfilePane(ChartPane):
    """The chart of a profile, with a button for each end that says where it is.

    Signals
    -------
    moveAsked(int, int, int)
        An end (0 or 1) is to be moved by so many cells across and upwards on the screen.
    endFocused(object)
        The end whose button has the keyboard, or None.
    drawAsked(bool), circleAsked(bool), fullAsked(bool)
        A line of several corners is to be drawn; the line is to go as the Earth is round; all elements of it
        are to be read where the picture has some alone.
    """

    moveAsked = Signal(int, int, int)
    endFocused = Signal(object)
    drawAsked = Signal(bool)
    circleAsked = Signal(bool)
    fullAsked = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("profile", "Profile", parent)
        self._places = ["", ""]
        self.ends = tuple(self._end(name) for name in NAMES)
        self.way = self._switch("Way", "Draw a line of several corners: click them, Enter ends it")
        self.circle = self._switch("Circle", "Great circle: the shortest path on the Earth")
        self.full = self._switch("Full", "Read every element along the line; the picture shows only some")
        self.full.setText("Full")
        for widget in (*self.ends, self.way, self.circle, self.full):
            self.controls.addWidget(widget)
        self.way.clicked.connect(self.drawAsked)
        self.circle.clicked.connect(self.circleAsked)
        self.full.clicked.connect(self.fullAsked)
        self.restyle()

    def restyle(self) -> None:
        super().restyle()
        if hasattr(self, "full"):
            self.way.setIcon(icons.icon("way"))
            self.circle.setIcon(icons.icon("url"))

    def _switch(self, name: str, tip: str) -> QToolButton:
        button = self.tool_button(name, tip)
        button.setCheckable(True)
        return button

    def set_end(self, number: int, place: str) -> None:
        """Say where an end is."""
        place = one_line(place)
        self._places[number] = place
        words = f"End {NAMES[number]} of the line: {place}"
        self.ends[number].setAccessibleName(words)
        keys = f"Arrow keys move it, with Shift by {_FAR} cells"
        self.ends[number].setToolTip(theme.plain_tooltip(f"{words}\n{keys}"))
        self._fit_ends()

    def _fit_ends(self) -> None:
        """Leave out where the ends are where there is no room to say it."""
        for end, name, place in zip(self.ends, NAMES, self._places, strict=True):
            end.setText(f"{name}  {place}" if self.width() >= _WORDY else name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_ends()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched in self.ends:
            number = self.ends.index(watched)
            if event.type() == QEvent.Type.FocusIn:
                self.endFocused.emit(number)
            elif event.type() == QEvent.Type.FocusOut:
                self.endFocused.emit(None)
            elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return self._key(number, event)
        return super().eventFilter(watched, event)

    def _key(self, number: int, event: QKeyEvent) -> bool:
        move = ARROWS.get(Qt.Key(event.key()))
        if move is None:
            return False
        far = event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier)
        by = _FAR if far else 1
        self.moveAsked.emit(number, move[0] * by, move[1] * by)
        return True

    def _end(self, name: str) -> QToolButton:
        end = QToolButton()
        end.setObjectName(f"profileEnd{name}")
        end.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        end.setMinimumWidth(24)
        end.setStyleSheet("padding: 3px 5px")
        end.setMaximumWidth(190)
        end.installEventFilter(self)
        return end


class ProfileTool(QObject):
    """Keeps line, chart and picture of one plot in agreement; nothing is read for it.

    Signals
    -------
    toggled()
        It is shown from now on, or no longer.
    """

    toggled = Signal()

    def __init__(self, presenter: Presenter, pane: ProfilePane, parent: QObject) -> None:
        super().__init__(parent)
        self._presenter, self.pane = presenter, pane
        self._drawing = presenter.stage.drawing
        self.line = ProfileLine(self._drawing.canvas.box, self)
        self.ends: tuple[Element, Element] | None = None
        #: The ends as positions, once another level of an image is shown than that on which they were put.
        self._places: tuple[tuple[float, float], tuple[float, float]] | None = None
        #: Corners between the ends; and whether the line goes on great circles from one to the next.
        self.between: list[Element] = []
        self.is_round = False
        self.profile: Profile | None = None
        self.is_on = False
        #: Whether all elements are read, for which way that was asked, and what has come.
        self.is_full = False
        self._asked: object = None
        self._read: Profile | None = None
        self._latest = Latest(self, "plot-profile")
        self.pencil = ShapePencil(self._drawing, self)
        self._axes: tuple[object, ...] = ()
        self._timer = one_shot(self, FRAME, self.refresh)
        self.line.moved.connect(self._dragged)
        pane.moveAsked.connect(self.move_end)
        pane.endFocused.connect(self.line.set_active)
        pane.chart.pointed.connect(self._pointed)
        pane.closeRequested.connect(lambda: self.set_on(False))
        pane.drawAsked.connect(self._draw)
        pane.circleAsked.connect(self._go_round)
        pane.fullAsked.connect(self._read_all)
        self.pencil.drawn.connect(self._drawn)
        self.pencil.changed.connect(self._sketched)
        self.pencil.ended.connect(lambda: pane.way.setChecked(False))
        presenter.stage.valuesChanged.connect(self.refresh_soon)
        presenter.changed.connect(self.refresh_soon)
        presenter.stage.turned.connect(self._turn)
        presenter.stage.resolution.beside = lambda: self.ends if self.is_on and self.ends else ()

    def set_on(self, on: bool) -> None:
        """Show the profile, or take it away."""
        if on == self.is_on:
            return
        self.is_on = on
        self.pane.setVisible(on)
        if not on:
            self.pencil.end()
            self._latest.cancel()
        self.refresh()
        self.toggled.emit()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.pane.restyle()
        self.line.restyle()
        self.refresh()

    # The ends

    def set_ends(self, start: Element, stop: Element) -> None:
        """Put the line between two elements (row, column)."""
        self.ends, self._places, self.between = (start, stop), None, []
        self.refresh()

    @property
    def corners(self) -> tuple[Element, ...]:
        """The ends, and what is between them."""
        return () if self.ends is None else (self.ends[0], *self.between, self.ends[1])

    def _draw(self, on: bool) -> None:
        self.pencil.end()
        if on:
            self.pencil.begin(2)
            self.pane.way.setChecked(True)

    def _drawn(self, shape: DrawnShape) -> None:
        """Let the line go through the corners that were drawn."""
        picture = self._drawing.base
        if picture is None:
            return
        first, *rest = (held(picture, (round(row), round(column))) for row, column in shape.corners)
        self.ends, self._places, self.between = (first, rest[-1]), None, rest[:-1]
        self.refresh()

    def _sketched(self, shape: DrawnShape | None) -> None:
        if shape is not None:
            self._show_way(np.array(shape.corners, np.float64), [shape.corners[0], shape.corners[-1]])

    def _go_round(self, on: bool) -> None:
        self.is_round = on
        self.refresh()

    def _read_all(self, on: bool) -> None:
        self.is_full = on
        self.refresh()

    def move_end(self, number: int, across: int, upwards: int) -> None:
        """Move an end by cells on the screen."""
        picture = self._picture()
        if picture is None or self.ends is None:
            return
        box, steps = self._drawing.canvas.box, picture.plan.steps
        across = -across if box.xInverted() else across
        upwards = -upwards if box.yInverted() else upwards
        row, column = self.ends[number]
        self._set_end(number, (row + upwards * steps[0], column + across * steps[1]))
        self.refresh()

    def _dragged(self, number: int, position: QPointF) -> None:
        element = self._drawing.kind.element_at(position.x(), position.y())
        if element is None or len(element) != 2:
            element = (round(position.y()), round(position.x()))
        self._set_end(number, (element[0], element[1]))
        if self.ends is not None and not self.is_round:
            self._show_way(np.array(self.corners, np.float64), self.corners)
        self.refresh_soon()

    def _set_end(self, number: int, element: Element) -> None:
        base, detail = self._drawing.base, self._drawing.detail
        if self.ends is None or base is None:
            return
        is_finer = detail is not None and detail.position(element) is not None
        fixed = held(detail if detail is not None and is_finer else base, element)
        if number > 1:
            self.between[number - 2] = fixed
            return
        self.ends = (fixed, self.ends[1]) if number == 0 else (self.ends[0], fixed)
        self._places = None

    # What is shown

    def refresh_soon(self) -> None:
        """Bring the chart up to date within a frame."""
        if self.is_on and not self._timer.isActive():
            self._timer.start()

    def refresh(self) -> None:
        """Bring line and chart up to date with the picture."""
        drawing, picture = self._drawing, None
        if self.is_on and drawing.base is not None and drawing.shown is not None and drawing.has_profiles:
            self._begin()
            picture = self._picture()
        if picture is None or self.ends is None or drawing.shown is None:
            self.profile = None
            self.line.hide()
            self.pane.chart.set_lines(())
            self.pane.said.set_text(
                "A line across an image of single values: none is shown" if self.is_on else ""
            )
            return
        coordinates, axes = drawing.coordinates, picture.plan.slice.axes
        y, x = (coordinates[axis] for axis in axes)
        is_round = self.is_round and is_on_earth(y, x)
        self.pane.circle.setVisible(is_on_earth(y, x))
        self.pane.full.setVisible(picture.plan.is_sampled)
        if is_round or self.between:
            profile = profile_through(
                picture, drawing.shown, coordinates, self.corners, great_circle=is_round
            )
        else:
            profile = profile_of(picture, drawing.shown, coordinates, *self.ends)
        if self.is_full and picture.plan.is_sampled:
            profile = self._every_element(picture, is_round=is_round) or profile
        self.profile = profile
        way = np.stack([profile.rows, profile.columns], axis=1).astype(np.float64)
        self._show_way(way if is_round else np.array(self.corners, np.float64), self.corners)
        label = profile.label if profile.scale is not None else f"{profile.label} [{profile.units}]"
        self.pane.chart.set_axis(profile.scale, label, drawing.shown.dates, drawing.shown.units)
        accent = theme.colors().accent
        self.pane.chart.set_lines(
            [chart_line(profile.places, profile.numbers, profile.states, accent, "o", profile.stale)]
        )
        for number, end in enumerate(self.ends):
            self.pane.set_end(number, place_text(coordinates, axes, end))
        self._say(None)

    def _show_way(self, way: np.ndarray, corners: Sequence[tuple[float, float]]) -> None:
        """Draw a way of rows and columns; it does not go back across the picture at a seam."""
        if len(way) < 64:
            sides = [np.linspace(one, other, 24) for one, other in pairwise(way)]
            way = np.concatenate(sides) if sides else way
        path = drawn_path(self._drawing, way)
        places = self._drawing.kind.where(*np.array(corners, np.float64).T)
        self.line.show_way(path, [QPointF(*each) for each in zip(*places, strict=True)])

    def _every_element(self, picture: Picture, *, is_round: bool) -> Profile | None:
        """Return the profile of all elements of the line, which are read now if they were not."""
        document, node, state = self._presenter.subject.document, picture.node, picture.plan.slice
        shown, coordinates = self._drawing.shown, self._drawing.coordinates
        assert shown is not None
        wanted = (node, state, shown, self.corners, is_round)
        if wanted == self._asked or document is None or document.dataset is None:
            return self._read
        self._asked, self._read = wanted, None
        y, x = (coordinates[axis] for axis in state.axes)
        whole = [range(state.shape[axis]) for axis in state.axes]
        path = path_through(y, x, self.corners, whole, great_circle=is_round)
        places: list[Any] = list(state.indices)
        for axis, indices in zip(state.axes, (path.rows, path.columns), strict=True):
            places[axis] = indices
        dataset = document.dataset

        def read(_control: TaskControl) -> Profile:
            from refbrowser.engine.dataset import Array

            array = Array(dataset.with_access(dataset.access.at_once()), node)
            return read_profile(path, np.asarray(array[tuple(places)]), shown)

        def came(profile: Profile) -> None:
            self._read = profile
            self.refresh()

        def failed(error: BaseException) -> None:
            self.is_full = False
            self.pane.full.setChecked(False)
            self.refresh()
            self.pane.said.set_text(error_text(error))

        self._latest.run(document, f"Profile of {node.path}", read, came, failed)
        return None

    def _begin(self) -> None:
        """Put the line across the middle, for the first picture of other axes."""
        state = self._drawing.slice
        assert state is not None
        axes = (state.x, state.y, state.shape)
        if self.ends is None or axes != self._axes:
            self._axes, self._places, self.between = axes, None, []
            window = self._drawing.visible_window()
            self.ends = first_line(window) if all(len(part) for part in window) else ((0, 0), (0, 0))

    def _turn(self, turn: Turn) -> None:
        """Let the line lie where it does on another level of the image."""
        state = self._drawing.slice
        if self.ends is not None and state is not None and state.y is not None:
            places = self._places or self.ends
            self._places = turn.place(places[0]), turn.place(places[1])
            between = (element_of(turn.place(corner), state) for corner in self.between)
            self.between = [(row, column) for row, column in between]
            (top, left), (bottom, right) = (element_of(place, state) for place in self._places)
            self.ends, self._axes = ((top, left), (bottom, right)), (state.x, state.y, state.shape)

    def _picture(self) -> Picture | None:
        """Return the picture that shows the whole line in most detail."""
        detail, ends = self._drawing.detail, self.corners
        if detail is not None and ends and all(detail.position(end) is not None for end in ends):
            return detail
        return self._drawing.base

    def _pointed(self, place: float | None) -> None:
        profile = self.profile
        if profile is None or place is None:
            self.line.set_mark(None)
            self._say(None)
            return
        number = profile.nearest(place)
        self.line.set_mark(profile.element(number))
        self._say(number)

    def _say(self, number: int | None) -> None:
        profile, drawing = self.profile, self._drawing
        if profile is None or drawing.shown is None or drawing.slice is None:
            return
        if number is None:
            units = drawing.shown.units
            words = [length_text(profile) + (f" in {units}" if units else "")]
            base = self._drawing.base
            if profile is not self._read and base is not None and base.plan.is_sampled:
                words.append("not every element: Full reads them")
            for state, text in _STATES.items():
                if count := profile.count(state):
                    words.append(f"{count_text(count)} {text}")
            if count := int(np.count_nonzero(profile.stale)):
                # First, as there is not always room for all.
                words.insert(0, ringed_text(count, "value"))
            self.pane.said.set_text(", ".join(words))
            return
        where = place_text(drawing.coordinates, drawing.slice.axes, profile.element(number))
        state = ChunkState(int(profile.states[number]))
        is_known = bool(have_values(profile.states[number]))
        value = drawing.shown.text_with_units(profile.raw[number]) if is_known else ""
        stale = f" ({STALE_NAME})" if profile.stale[number] else ""
        self.pane.said.set_text(f"{value or _STATES[state]}{stale}   {where}")

    def rows(self) -> Iterator[list[str]] | None:
        """Return the values with their places as rows of text, or None where there is nothing."""
        profile, drawing = self.profile, self._drawing
        if profile is None or drawing.shown is None or drawing.slice is None:
            return None
        name = drawing.shown.node.name or drawing.shown.node.path
        return profile_rows(profile, drawing.shown, drawing.coordinates, drawing.slice.axes, name)


_STATES = {
    ChunkState.PENDING: "still loading",
    ChunkState.MISSING: "in missing chunks",
    ChunkState.FILLED: "not stored: fill value",
    ChunkState.FAILED: "could not be read",
}
