"""A profile: the values along a line that is drawn across the picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from pyqtgraph import PlotCurveItem, ScatterPlotItem, TargetItem, TextItem, mkBrush, mkPen
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QToolButton, QWidget

from refbrowser.app.plot.axes.axes_view import ARROWS, PlotBox
from refbrowser.app.plot.axes.chart import ChartPane, chart_line, ringed_text
from refbrowser.app.plot.resolution import Turn, element_of
from refbrowser.app.widgets import theme
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
)
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
        A handle (0 or 1) was dragged to a position of the plot, a `QPointF`.
    """

    moved = Signal(int, object)

    def __init__(self, box: PlotBox, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._active: int | None = None
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
        for item in self._items:
            item.hide()

    def show_between(self, start: Element, stop: Element) -> None:
        """Draw it between two elements (row, column)."""
        ends = [QPointF(column, row) for row, column in (start, stop)]
        for line in self._lines:
            line.setData([end.x() for end in ends], [end.y() for end in ends])
            line.show()
        for end, handle, text in zip(ends, self.handles, self._texts, strict=True):
            handle.blockSignals(True)
            handle.setPos(end)
            handle.blockSignals(False)
            text.setPos(end)
            handle.show()
            text.show()

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
    """

    moveAsked = Signal(int, int, int)
    endFocused = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("profile", "Profile", parent)
        self._places = ["", ""]
        self.ends = tuple(self._end(name) for name in NAMES)
        for end in self.ends:
            self.controls.addWidget(end)

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
        self.profile: Profile | None = None
        self.is_on = False
        self._axes: tuple[object, ...] = ()
        self._timer = one_shot(self, FRAME, self.refresh)
        self.line.moved.connect(self._dragged)
        pane.moveAsked.connect(self.move_end)
        pane.endFocused.connect(self.line.set_active)
        pane.chart.pointed.connect(self._pointed)
        pane.closeRequested.connect(lambda: self.set_on(False))
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
        self.ends, self._places = (start, stop), None
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
        self._set_end(number, (round(position.y()), round(position.x())))
        if self.ends is not None:
            self.line.show_between(*self.ends)
        self.refresh_soon()

    def _set_end(self, number: int, element: Element) -> None:
        base, detail = self._drawing.base, self._drawing.detail
        if self.ends is None or base is None:
            return
        is_finer = detail is not None and detail.position(element) is not None
        fixed = held(detail if detail is not None and is_finer else base, element)
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
        profile = self.profile = profile_of(picture, drawing.shown, coordinates, *self.ends)
        self.line.show_between(*self.ends)
        label = profile.label if profile.scale is not None else f"{profile.label} [{profile.units}]"
        self.pane.chart.set_axis(profile.scale, label, drawing.shown.dates, drawing.shown.units)
        accent = theme.colors().accent
        self.pane.chart.set_lines(
            [chart_line(profile.places, profile.numbers, profile.states, accent, "o", profile.stale)]
        )
        for number, end in enumerate(self.ends):
            self.pane.set_end(number, place_text(coordinates, axes, end))
        self._say(None)

    def _begin(self) -> None:
        """Put the line across the middle, for the first picture of other axes."""
        state = self._drawing.slice
        assert state is not None
        axes = (state.x, state.y, state.shape)
        if self.ends is None or axes != self._axes:
            self._axes, self._places = axes, None
            window = self._drawing.visible_window()
            self.ends = first_line(window) if all(len(part) for part in window) else ((0, 0), (0, 0))

    def _turn(self, turn: Turn) -> None:
        """Let the line lie where it does on another level of the image."""
        state = self._drawing.slice
        if self.ends is not None and state is not None and state.y is not None:
            places = self._places or self.ends
            self._places = turn.place(places[0]), turn.place(places[1])
            (top, left), (bottom, right) = (element_of(place, state) for place in self._places)
            self.ends, self._axes = ((top, left), (bottom, right)), (state.x, state.y, state.shape)

    def _picture(self) -> Picture | None:
        """Return the picture that shows the whole line in most detail."""
        detail, ends = self._drawing.detail, self.ends
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
