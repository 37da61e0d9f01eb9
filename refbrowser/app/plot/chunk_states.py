"""The chunks of a picture that show no values, drawn over it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pyqtgraph import GraphicsObject
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from refbrowser.app.plot.patterns import draw_glyph, state_brush
from refbrowser.views.plot.colouring import boxes_of
from refbrowser.views.plot.picture import ChunkState, Picture

_SHOWN = (ChunkState.PENDING, ChunkState.MISSING, ChunkState.FAILED)
#: A glyph is drawn in failed cells at least this large, in pixels, and in at most so many.
_GLYPH_CELL, _GLYPHS_MOST = 24.0, 200


class ChunkStateItem(GraphicsObject):
    """Pending, missing and failed chunks of an image, or of a line as bands over the whole height."""

    def __init__(self) -> None:
        super().__init__()
        self._picture: Picture | None = None
        self._edges: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None
        self._seen = -1
        self._boxes: dict[ChunkState, npt.NDArray[np.int64]] = {}
        self._brushes = {state: state_brush(state) for state in _SHOWN}
        self.setZValue(10)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self._brushes = {state: state_brush(state) for state in _SHOWN}
        self.update()

    def set_picture(
        self, picture: Picture | None, edges: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None
    ) -> None:
        """Show the chunks of a picture; `edges` are their borders in the view, vertical axis first."""
        self.prepareGeometryChange()
        self._picture, self._edges = picture, edges
        self._seen = -1
        self.refresh()

    def refresh(self) -> None:
        """Look at the states again."""
        if self._picture is None:
            self._boxes = {}
        elif self._picture.arrived == self._seen:
            return
        else:
            self._seen = self._picture.arrived
            states = np.atleast_2d(self._picture.states)
            self._boxes = {state: boxes_of(states == state) for state in _SHOWN}
        self.update()

    def boxes(self, state: ChunkState) -> npt.NDArray[np.int64]:
        """Return the boxes of cells that are drawn for a state, shape (n, 4)."""
        return self._boxes.get(state, np.zeros((0, 4), np.int64))

    def boundingRect(self) -> QRectF:
        if self._edges is None:
            return QRectF()
        vertical, horizontal = self._edges
        if not len(vertical) or not len(horizontal):
            return QRectF()
        return QRectF(
            QPointF(float(horizontal.min()), float(vertical.min())),
            QPointF(float(horizontal.max()), float(vertical.max())),
        )

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        if self._edges is None or not any(len(boxes) for boxes in self._boxes.values()):
            return
        transform = painter.transform()
        clip = transform.mapRect(option.exposedRect)
        vertical, horizontal = self._edges
        y = transform.m22() * vertical + transform.dy()
        x = transform.m11() * horizontal + transform.dx()
        painter.save()
        painter.resetTransform()
        painter.setPen(Qt.PenStyle.NoPen)
        for state, boxes in self._boxes.items():
            if not len(boxes):
                continue
            rects = _device_rects(boxes, y, x, clip)
            painter.setBrush(self._brushes[state])
            painter.drawRects(rects)
            if state is ChunkState.FAILED:
                self._draw_glyphs(painter, y, x, clip)
        painter.restore()

    def _draw_glyphs(self, painter: QPainter, y: Any, x: Any, clip: QRectF) -> None:
        assert self._picture is not None
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        states = np.atleast_2d(self._picture.states)
        y = np.clip(y, clip.top(), clip.bottom())
        x = np.clip(x, clip.left(), clip.right())
        for row, column in np.argwhere(states == ChunkState.FAILED)[:_GLYPHS_MOST]:
            cell = QRectF(QPointF(x[column], y[row]), QPointF(x[column + 1], y[row + 1])).normalized()
            if min(cell.width(), cell.height()) >= _GLYPH_CELL:
                draw_glyph(painter, cell.center(), min(26.0, min(cell.width(), cell.height()) * 0.6))


def _device_rects(boxes: npt.NDArray[np.int64], y: Any, x: Any, clip: QRectF) -> list[QRectF]:
    top, bottom = y[boxes[:, 0]], y[boxes[:, 1]]
    left, right = x[boxes[:, 2]], x[boxes[:, 3]]
    top, bottom = np.minimum(top, bottom), np.maximum(top, bottom)
    left, right = np.minimum(left, right), np.maximum(left, right)
    # What is far outside is cut, so that no coordinate overflows the painter.
    top, bottom = np.maximum(top, clip.top() - 2), np.minimum(bottom, clip.bottom() + 2)
    left, right = np.maximum(left, clip.left() - 2), np.minimum(right, clip.right() + 2)
    seen = (bottom > top) & (right > left)
    return [
        QRectF(QPointF(a, b), QPointF(c, d))
        for a, b, c, d in zip(
            left[seen].tolist(), top[seen].tolist(), right[seen].tolist(), bottom[seen].tolist(), strict=True
        )
    ]
