"""An image of a picture: decimated to the screen, coloured, and repainted only where something changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pyqtgraph import ImageItem
from PySide6.QtCore import QRectF

from refbrowser.app.plot.colour_maps import Table
from refbrowser.views.plot.colouring import NO_VALUE, Colouring, boxes_of, decimation, window
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture

#: Chunks that come at once are coloured box by box up to so many boxes, else all cells around them.
BOXES_MOST = 16
#: The view as index ranges ((low, high) across, (low, high) upwards) and its size in pixels.
View = tuple[tuple[float, float], tuple[float, float], tuple[int, int]]


class ImageLayer:
    """One `ImageItem` that shows one picture.

    What is on the screen is a colour table and the position of each cell in it, so that new levels or another
    map need no more than one pass over the cells that are seen, and a chunk that comes one over its own.
    """

    def __init__(self, z: float) -> None:
        self.item = ImageItem(axisOrder="row-major")
        self.item.setZValue(z)
        self.picture: Picture | None = None
        self._drawn: tuple[Any, ...] | None = None
        self._states: npt.NDArray[np.uint8] = np.zeros((0, 0), np.uint8)
        self._windows: tuple[range, range] | None = None
        #: Positions in the colour table that are on the screen, (rows, columns).
        self.indices: npt.NDArray[np.uint8] = np.zeros((0, 0), np.uint8)

    def set_picture(self, picture: Picture | None) -> None:
        """Show another picture, or nothing."""
        self.picture = picture
        self._drawn = self._windows = None
        if picture is None:
            self.item.clear()
            self.indices = np.zeros((0, 0), np.uint8)

    def draw(self, view: View, shown: Interpretation, colouring: Colouring | None, colours: Table) -> bool:
        """Bring the item up to date; whether anything was drawn anew.

        `colours` is one of the tables of `colour_maps`; without a colouring there is no data yet.
        """
        picture = self.picture
        if picture is None or not picture.values.size:
            return False
        windows = self._windows_for(picture, view)
        if colouring is None:
            # Nothing but pending, missing and failed chunks.
            self.item.setVisible(False)
            return False
        cells = (windows, shown, colouring)
        arrived = picture.arrived
        if self._drawn == (cells, id(colours), arrived):
            return False
        if self._drawn is None or self._drawn[0] != cells:
            self.indices = np.full((len(windows[0]), len(windows[1])), NO_VALUE, np.uint8)
            self._states = np.zeros_like(picture.states)
        self._drawn = (cells, id(colours), arrived)
        self._take_news(picture, windows, shown, colouring)
        self.item.setImage(self.indices, autoLevels=False, levels=(0, 255), lut=colours)
        self.item.setRect(self._rect(picture, *windows))
        self.item.setVisible(True)
        return True

    def _take_news(
        self, picture: Picture, windows: tuple[range, range], shown: Interpretation, colouring: Colouring
    ) -> None:
        """Colour the chunks that have come since the last time."""
        # The states first: what they say is done is then certainly in the values.
        states = picture.states.copy()
        changed = states != self._states
        self._states = states
        if not changed.any():
            return
        boxes = boxes_of(changed)
        if len(boxes) > BOXES_MOST:
            low, high = boxes.min(axis=0), boxes.max(axis=0)
            boxes = np.array([[low[0], high[1], low[2], high[3]]])
        for top, bottom, left, right in boxes.tolist():
            rows, into_rows = _seen(windows[0], picture.cell_span(0, top, bottom))
            columns, into_columns = _seen(windows[1], picture.cell_span(1, left, right))
            if not len(rows) or not len(columns):
                continue
            # Several passes over one copy are quicker than over values that lie far apart.
            block = np.ascontiguousarray(picture.values[_slice(rows), _slice(columns)])
            coloured = colouring.positions(block, shown)
            if (states[top:bottom, left:right] != ChunkState.DONE).any():
                of_elements = picture.element_states([_positions(rows), _positions(columns)], states)
                coloured[of_elements != ChunkState.DONE] = NO_VALUE
            self.indices[into_rows, into_columns] = coloured

    def _windows_for(self, picture: Picture, view: View) -> tuple[range, range]:
        """Return the rows and columns of `values` to draw; those drawn already while they will do."""
        across, upwards, (width, height) = view
        found = []
        for axis, (span, pixels) in enumerate(((upwards, height), (across, width))):
            taken = picture.plan.ranges[axis]
            low, high = sorted(((span[0] - taken.start) / taken.step, (span[1] - taken.start) / taken.step))
            low, high = max(low, 0.0), min(high, float(len(taken)))
            step = decimation(int(max(0.0, high - low)), pixels)
            old = None if self._windows is None else self._windows[axis]
            if old is not None and old.step == step and old.start <= low and high <= old.stop:
                found.append(old)
            else:
                found.append(window(low, high, len(taken), step))
        self._windows = (found[0], found[1])
        return self._windows

    def _rect(self, picture: Picture, rows: range, columns: range) -> QRectF:
        """Return what the cells cover, in array indices; each is drawn as wide as what it stands for."""
        top, height = _extent(picture.plan.ranges[0], rows)
        left, width = _extent(picture.plan.ranges[1], columns)
        return QRectF(left, top, width, height)


def _seen(window: range, span: range) -> tuple[range, slice]:
    """Return the positions of `window` that lie in `span`, and where they are in it."""
    first = max(0, -(-(span.start - window.start) // window.step))
    stop = max(first, min(len(window), -(-(span.stop - window.start) // window.step)))
    return window[first:stop], slice(first, stop)


def _slice(cells: range) -> slice:
    return slice(cells.start, cells.stop, cells.step)


def _positions(cells: range) -> npt.NDArray[np.int64]:
    return np.arange(cells.start, cells.stop, cells.step, dtype=np.int64)


def _extent(taken: range, cells: range) -> tuple[float, float]:
    start = taken.start + (cells.start - 0.5) * taken.step
    return start, len(cells) * cells.step * taken.step
