"""The view of a plot: the left button pans, the wheel zooms, and the right button draws what to zoom to."""

from __future__ import annotations

from typing import Any

from pyqtgraph import ViewBox
from PySide6.QtCore import QRectF, Qt

#: A rectangle smaller than this, in pixels, was no more than a click.
_LEAST = 6


class PlotBox(ViewBox):
    """A `ViewBox` whose right button zooms to the rectangle that is dragged."""

    def mouseDragEvent(self, ev: Any, axis: int | None = None) -> None:
        if ev.button() != Qt.MouseButton.RightButton or axis is not None:
            super().mouseDragEvent(ev, axis)
            return
        ev.accept()
        start, end = ev.buttonDownPos(ev.button()), ev.pos()
        if not ev.isFinish():
            self.updateScaleBox(start, end)
            return
        self.rbScaleBox.hide()
        dragged = QRectF(start, end).normalized()
        if min(dragged.width(), dragged.height()) >= _LEAST:
            self.setRange(self.childGroup.mapRectFromParent(dragged), padding=0)
