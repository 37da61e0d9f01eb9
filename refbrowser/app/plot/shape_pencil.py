"""Drawing over the picture of a plot, by clicks and drags: rectangles, polygons, lines of several corners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent

from refbrowser.app.plot.drawing import Drawing, DrawnKind
from refbrowser.views.regions.region_drawing import Corner, DrawnShape

#: A rectangle is drawn by a drag of at least so many pixels, or by two clicks.
_DRAG = 6
#: Places of each axis by which it is seen how far a picture reaches.
_LOOKED_AT = 25


def is_flat(kind: DrawnKind) -> bool:
    """Whether rows and columns are drawn as a plain grid, at their indices."""
    rows, columns = np.array([0.0, 1.0]), np.array([0.0, 2.0])
    try:
        across, upwards = kind.where(rows, columns)
    except NotImplementedError:
        return False
    return bool(np.array_equal(across, columns) and np.array_equal(upwards, rows))


def place_at(drawing: Drawing, across: float, upwards: float) -> Corner | None:
    """Return the row and column that are drawn at a position, held in the slice; None where nothing is.

    In a projection it is the middle of an element.
    """
    state = drawing.slice
    if state is None or state.y is None:
        return None
    if not is_flat(drawing.kind):
        element = drawing.kind.element_at(across, upwards)
        return None if element is None or len(element) != 2 else (float(element[0]), float(element[1]))
    sizes = [state.shape[axis] for axis in state.axes]
    row, column = (
        min(max(place, -0.5), size - 0.5) for place, size in zip((upwards, across), sizes, strict=True)
    )
    return row, column


def drawn_path(
    drawing: Drawing, points: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return where points (row, column) that follow each other closely are drawn, across and upwards.

    Where the path leaves the picture at one side and goes on at the other there is a gap.
    """
    state = drawing.slice
    if state is None or state.y is None or not len(points):
        return np.zeros(0), np.zeros(0)
    path = np.stack(drawing.kind.where(points[:, 0], points[:, 1]), axis=1).astype(np.float64)
    sides = [np.linspace(0, state.shape[axis] - 1, _LOOKED_AT) for axis in state.axes]
    grid = np.stack(drawing.kind.where(*(each.ravel() for each in np.meshgrid(*sides))), axis=1)
    known = grid[np.isfinite(grid).all(axis=1)]
    reach = np.ptp(known, axis=0) if len(known) else np.full(2, np.inf)
    with np.errstate(invalid="ignore"):
        jumps = (np.abs(np.diff(path, axis=0)) > reach / 2).any(axis=1)
    path = np.insert(path, np.flatnonzero(jumps) + 1, np.nan, axis=0)
    return path[:, 0], path[:, 1]


class ShapePencil(QObject):
    """Takes clicks and drags of the picture while something is drawn over it.

    Signals
    -------
    drawn(object)
        What was drawn: a `DrawnShape`.
    changed(object)
        What is drawn so far; None for nothing.
    ended()
        Drawing is over, whatever came of it.
    """

    drawn = Signal(object)
    changed = Signal(object)
    ended = Signal()

    def __init__(self, drawing: Drawing, parent: QObject) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._is_rectangle, self._least = True, 2
        self._corners: list[Corner] = []
        self._pressed: tuple[float, float] | None = None
        self.is_on = False

    def begin(self, least: int, *, is_rectangle: bool = False) -> None:
        """Let the next clicks draw a rectangle, or what has at least so many corners."""
        canvas = self._drawing.canvas
        if not self.is_on:
            canvas.viewport().installEventFilter(self)
            canvas.installEventFilter(self)
        canvas.viewport().setCursor(Qt.CursorShape.CrossCursor)
        self._is_rectangle, self._least, self._corners, self.is_on = is_rectangle, least, [], True
        canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def end(self) -> None:
        """Draw no more; what is not complete is forgotten."""
        if self.is_on:
            canvas = self._drawing.canvas
            self.is_on = False
            canvas.viewport().removeEventFilter(self)
            canvas.removeEventFilter(self)
            canvas.viewport().unsetCursor()
            self._corners = []
            self.changed.emit(None)
            self.ended.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not self.is_on:
            return False
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        if not isinstance(event, QMouseEvent) or watched is self._drawing.canvas:
            return False
        kind = event.type()
        if kind == QEvent.Type.MouseMove:
            place = self._place(event)
            if place is not None and self._corners:
                self._tell(place)
            return bool(event.buttons() & Qt.MouseButton.LeftButton)
        if event.button() != Qt.MouseButton.LeftButton:
            return False
        if kind == QEvent.Type.MouseButtonDblClick:
            self._close()
        elif kind == QEvent.Type.MouseButtonPress:
            self._press(event)
        elif kind == QEvent.Type.MouseButtonRelease:
            self._release(event)
        return True

    def _press(self, event: QMouseEvent) -> None:
        place = self._place(event)
        if place is None:
            return
        self._pressed = event.position().x(), event.position().y()
        self._corners.append(place)
        if self._is_rectangle and len(self._corners) == 2:
            self._close()
        else:
            self._tell(place)

    def _release(self, event: QMouseEvent) -> None:
        if self._pressed is None or not self._is_rectangle or len(self._corners) != 1:
            return
        far = max(abs(event.position().x() - self._pressed[0]), abs(event.position().y() - self._pressed[1]))
        place = self._place(event)
        if far >= _DRAG and place is not None:
            self._corners.append(place)
            self._close()

    def _key(self, event: QKeyEvent) -> bool:
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.end()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._close()
        elif key == Qt.Key.Key_Backspace and self._corners:
            self._corners.pop()
            self.changed.emit(self._shape(self._corners))
        else:
            return False
        return True

    def _place(self, event: QMouseEvent) -> Corner | None:
        found = self._drawing.canvas.position_of(event)
        return None if found is None else place_at(self._drawing, *found)

    def _tell(self, place: Corner) -> None:
        self.changed.emit(self._shape([*self._corners, place]))

    def _shape(self, corners: Sequence[Corner]) -> DrawnShape | None:
        if len(corners) < 2:
            return None
        if self._is_rectangle:
            return DrawnShape((corners[0], corners[-1]), is_rectangle=True)
        return DrawnShape(tuple(corners), is_rectangle=False)

    def _close(self) -> None:
        corners = list(dict.fromkeys(self._corners))
        shape = self._shape(corners) if len(corners) >= self._least else None
        self.end()
        if shape is not None:
            self.drawn.emit(shape)
