"""The element under the pointer or the keyboard's cursor: its text, its cross, and its chunk when clicked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from refbrowser.app.plot.drawing import Drawing
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.readout import chunk_key, readout


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
        #: Says more of an element by its index along every dimension; empty for nothing.
        self.note: Callable[[tuple[int, ...]], str] = lambda index: ""

    def point_at(self, across: float | None, upwards: float | None) -> None:
        """Take the element at a position of the plot; None: the pointer left."""
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
        if picture is None or position is None or picture.state_at(position) is not ChunkState.DONE:
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
        if self.element is None:
            window = self._drawing.visible_window()
            self.element = tuple(max(part.start, (part.start + part.stop - 1) // 2) for part in window)
        else:
            scale = self._drawing.across
            # Points of a line stand where their coordinate is: of a falling one the next is at the left.
            falls = scale.by_value and scale.coordinate.ascending is False
            across = -across if falls else across
            moves = (across,) if state.y is None else (upwards, across)
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
            self.element = self._kept = element
            self._drawing.canvas.set_cross(self._position())
            self.say()

    def forget(self) -> None:
        """Point at nothing."""
        self.element = self._kept = None
        self._drawing.canvas.set_cross(None)
        self.pointed.emit(None)
        self.said.emit("")

    def say(self) -> None:
        """Tell of the element again, because its value may have come."""
        index = self.index()
        self.pointed.emit(index)
        drawing, picture = self._drawing, self._picture()
        if picture is None or self.element is None or drawing.shown is None:
            self.said.emit("")
        else:
            text = readout(picture, drawing.shown, drawing.coordinates, self.element, drawing.auxiliary)
            note = "" if index is None else self.note(index)
            self.said.emit(f"{text}   {note}" if note else text)

    def _indices_at(self, across: float, upwards: float) -> tuple[int, ...] | None:
        drawing = self._drawing
        column = drawing.across.index_at(across)
        if column is None or drawing.slice is None:
            return None
        if drawing.upwards is None:
            return (column,)
        row = drawing.upwards.index_at(upwards)
        return None if row is None else (row, column)

    def _position(self) -> tuple[float, float]:
        drawing, element = self._drawing, self.element
        assert element is not None
        column = element[-1]
        across = float(drawing.across.positions(range(column, column + 1))[0])
        if drawing.upwards is not None:
            return across, float(element[0])
        picture = self._picture()
        at = None if picture is None else picture.position(element)
        heights = drawing.canvas.line.heights
        return across, float(heights[at[0]]) if at is not None and at[0] < len(heights) else 0.0

    def _picture(self) -> Picture | None:
        detail = self._drawing.detail
        if detail is not None and self.element is not None and detail.position(self.element) is not None:
            return detail
        return self._drawing.base

    def _step(self, axis: int) -> int:
        picture = self._picture()
        return 1 if picture is None else picture.plan.steps[axis]
