"""The picture of messages between its axes: zoom, pan, a cursor, and the message that is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyqtgraph import InfiniteLine, mkPen
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from refbrowser.app.facets.stream.section_mark import SectionMark
from refbrowser.app.facets.stream.supply_item import SupplyItem
from refbrowser.app.plot.axes_view import AxesView
from refbrowser.exporting.streams.supply import Supply
from refbrowser.exporting.streams.supply_classes import ColouredSupply, Label
from refbrowser.views.plot.coordinates import AxisScale, Coordinate, plain_coordinate
from refbrowser.views.plot.slicing import SliceState

_MARGINS = (2, 6, 16, 2)
_MOVES = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}


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
        if key in _MOVES and self._slice is not None:
            stride = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            across, upwards = _MOVES[key]
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
