"""What of regions is drawn over a picture: outlines, handles of one of them, and what is outside in shade."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pyqtgraph import ImageItem, PlotCurveItem, TargetItem, mkBrush, mkPen
from PySide6.QtCore import QObject, QRectF, Signal

from refbrowser.app.plot.drawing import Drawing
from refbrowser.app.plot.shape_pencil import drawn_path, is_flat, place_at
from refbrowser.app.widgets import theme
from refbrowser.views.regions.region_drawing import DrawnShape

#: Handles of a shape with more corners than these are left out.
HANDLES = 40
_SIZE = 11
#: How much of what is outside is covered: 0 to 255.
_SHADE = 118


class RegionItems(QObject):
    """Items on the picture.

    Signals
    -------
    dragged(int, float, float)
        A handle was dragged to a place of the slice: its number, row and column.
    """

    dragged = Signal(int, float, float)

    def __init__(self, drawing: Drawing, parent: QObject) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._box = drawing.canvas.box
        self._lines: list[tuple[PlotCurveItem, PlotCurveItem]] = []
        self._handles: list[TargetItem] = []
        self._shade = ImageItem(axisOrder="row-major")
        self._shade.setZValue(12)
        self._shade.hide()
        self._box.addItem(self._shade, ignoreBounds=True)

    def show_outlines(self, rings: Sequence[tuple[str, Sequence[npt.NDArray[np.float64]]]]) -> None:
        """Draw rings around regions, each in a colour; arrays of (row, column)."""
        while len(self._lines) < len(rings):
            pair = PlotCurveItem(connect="finite"), PlotCurveItem(connect="finite", antialias=True)
            for depth, item in enumerate(pair):
                item.setZValue(21 + depth)
                self._box.addItem(item, ignoreBounds=True)
            self._lines.append(pair)
        for number, pair in enumerate(self._lines):
            color, parts = rings[number] if number < len(rings) else ("", ())
            across, upwards = self._path(parts)
            for item in pair:
                item.setVisible(bool(len(across)))
                item.setData(across, upwards)
            if color:
                pair[0].setPen(mkPen("#10151d", width=4))
                pair[1].setPen(mkPen(color, width=1.8))

    def _path(
        self, rings: Sequence[npt.NDArray[np.float64]]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return rings as one line with gaps."""
        gap = np.full((1, 2), np.nan)
        whole = np.concatenate([part for ring in rings for part in (ring, gap)] or [np.zeros((0, 2))])
        return drawn_path(self._drawing, whole)

    def show_handles(self, shape: DrawnShape | None) -> None:
        """Show where a shape is dragged, or nothing."""
        corners = () if shape is None or len(shape.handles) > HANDLES else shape.handles
        places: list[tuple[float, float]] = []
        if corners:
            across, upwards = self._drawing.kind.where(*np.array(corners, np.float64).T)
            places = list(zip(across.tolist(), upwards.tolist(), strict=True))
        while len(self._handles) < len(corners):
            self._add_handle(len(self._handles))
        for number, handle in enumerate(self._handles):
            is_seen = number < len(corners) and bool(np.isfinite(places[number]).all())
            handle.setVisible(is_seen)
            if is_seen and not handle.moving:
                handle.blockSignals(True)
                handle.setPos(*places[number])
                handle.blockSignals(False)

    def _add_handle(self, number: int) -> None:
        handle = TargetItem(size=_SIZE, symbol="s", movable=True)
        handle.setZValue(30)
        handle.sigPositionChanged.connect(lambda item: self._dragged(number, item))
        self._box.addItem(handle, ignoreBounds=True)
        self._handles.append(handle)
        self.restyle()

    def _dragged(self, number: int, handle: TargetItem) -> None:
        place = place_at(self._drawing, float(handle.pos().x()), float(handle.pos().y()))
        if place is not None:
            self.dragged.emit(number, *place)

    def show_shade(
        self, inside: npt.NDArray[np.bool_] | None, ranges: tuple[range, range] | None = None
    ) -> None:
        """Cover what is not inside, (rows, columns) at indices; None: cover nothing."""
        is_shown = inside is not None and ranges is not None and is_flat(self._drawing.kind)
        self._shade.setVisible(is_shown and not bool(np.all(inside)))
        if inside is None or ranges is None or not is_shown:
            return
        ground = (13, 17, 23) if theme.colors().dark else (255, 255, 255)
        table = np.array([[*ground, _SHADE], [0, 0, 0, 0]], np.uint8)
        self._shade.setImage(inside.astype(np.uint8), autoLevels=False, levels=(0, 1), lut=table)
        rows, columns = ranges
        top, left = rows.start - 0.5, columns.start - 0.5
        self._shade.setRect(QRectF(left, top, len(columns) * columns.step, len(rows) * rows.step))

    def hide(self) -> None:
        """Draw nothing."""
        self.show_outlines(())
        self.show_handles(None)
        self.show_shade(None)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        for handle in self._handles:
            handle.setPen(mkPen("#10151d", width=1.5))
            handle.setHoverPen(mkPen(theme.colors().accent, width=3))
            handle.setBrush(mkBrush("#ffffff"))
            handle.setHoverBrush(mkBrush("#ffffff"))
