"""Draws lines of the Earth over a picture: coasts, borders, meridians and parallels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pyqtgraph import GraphicsObject, mkPen
from pyqtgraph.functions import arrayToQPath
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPainterPath, QPen, QPolygonF, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from refbrowser.app.plot.drawing import DrawnOverlay
from refbrowser.app.plot.overlays.scene_item import draw_text, text_size
from refbrowser.views.maps.earth_lines import (
    EarthLines,
    beside_each_other,
    degree_size,
    earth_lines,
    is_fine,
    net_lines,
    net_names,
    net_step,
    seen_lines,
)
from refbrowser.views.maps.layouts import seen_part
from refbrowser.views.plot.coordinates import AxisRole

if TYPE_CHECKING:
    from refbrowser.app.plot.canvas import View
    from refbrowser.app.plot.drawing import Drawing

Floats = npt.NDArray[np.float64]
#: Between a line and what is written beside it, in pixels.
_BESIDE = 3
#: Points that are farther apart than this part of the whole picture lie on both sides of a seam.
_JUMP = 0.25
#: What is seen is so many times as wide at most as what the step of its net suits.
_MOST_APART = 10


class LinesItem(GraphicsObject):
    """Lines in the colours that are seen on every picture: dark ones on light ones.

    Parameters
    ----------
    pens
        Of what is at both sides of the lines, and of the lines.
    """

    def __init__(self, pens: tuple[QPen, ...], z: float) -> None:
        super().__init__()
        self._pens = pens
        self.path = QPainterPath()
        #: Its lines one by one: with wider pens they take a fifth of the time that the path takes.
        self._lines: list[QPolygonF] = []
        self._view = QRectF()
        #: What is written: at which places of the plot, and which texts.
        self._names: tuple[QPolygonF, tuple[str, ...]] = (QPolygonF(), ())
        self.font = QFont()
        self.setZValue(z)

    def set_names(self, places: Floats, texts: Sequence[str]) -> None:
        """Write texts beside places of the plot, shape (n, 2)."""
        points = [QPointF(across, upwards) for across, upwards in places.tolist()]
        self._names = QPolygonF(points), tuple(texts)
        self.update()

    def set_path(self, path: QPainterPath, view: QRectF) -> None:
        """Show other lines, which are seen in a part of the plot."""
        self.prepareGeometryChange()
        self.path, self._view = path, view
        polygons = path.toSubpathPolygons(QTransform())
        self._lines = [line for line in polygons if not line.boundingRect().isNull()]
        self.update()

    def boundingRect(self) -> QRectF:
        return self._view

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        transform = painter.transform()
        if not transform.m11() or not transform.m22():
            return
        # In pixels, with pens as wide as these: so a PDF has the lines, not their outlines.
        lines = [transform.map(line) for line in self._lines]
        for pen, aside in zip(self._pens, (1.0, -1.0, 0.0), strict=True):
            # Pens of one pixel are drawn many times as fast as wider ones, which figures have.
            wide = QPen(pen)
            wide.setCosmetic(False)
            painter.setPen(wide)
            shift = aside * pen.widthF()
            painter.setTransform(QTransform.fromTranslate(shift, shift))
            for line in lines:
                painter.drawPolyline(line)
        painter.resetTransform()
        painter.setFont(self.font)
        places, texts = self._names
        written: list[QRectF] = []
        for place, text in zip(transform.map(places).toList(), texts, strict=True):
            width, height = text_size(self.font, text)
            box = QRectF(place.x() + _BESIDE, place.y() - height, width + _BESIDE, height)
            if not any(box.intersects(other) for other in written):
                written.append(box)
                draw_text(painter, text, box, Qt.AlignmentFlag.AlignLeft)
        painter.setTransform(transform)


def _pens(style: Qt.PenStyle = Qt.PenStyle.SolidLine, strength: int = 255) -> tuple[QPen, ...]:
    beside = mkPen(255, 255, 255, strength * 2 // 5, width=1.0)
    return beside, beside, mkPen(16, 21, 29, strength, width=1.0, style=style)


class DrawnLines(DrawnOverlay):
    """Draws lines of the Earth, anew only for another view or another place of the picture."""

    pens: tuple[QPen, ...] = _pens()
    z = 3.0

    def __init__(self, drawing: Drawing) -> None:
        super().__init__(drawing)
        self.item = LinesItem(self.pens, self.z)
        drawing.canvas.box.addItem(self.item, ignoreBounds=True)
        self._drawn: tuple[object, ...] = ()
        #: Lines, what tells where places are, the positions of their points, and which are joined.
        self._laid: Any = (None, None, None, None)

    def lines(self, degrees: float, view: View) -> EarthLines:
        """Return the lines for a view, in which so many degrees take a pixel."""
        raise NotImplementedError

    def clear(self) -> None:
        self._drawn = ()
        self.item.set_path(QPainterPath(), QRectF())

    def draw(self, view: View) -> None:
        kind = self._drawing.kind
        if self._drawn == (view, kind.place_key):
            return
        self._drawn = (view, kind.place_key)
        (left, right), (low, high), pixels = view
        places = kind.earth_at(*beside_each_other(view[:2], pixels))
        degrees = float("nan") if places is None else degree_size(*places)
        if not np.isfinite(degrees) or min(pixels) < 1:
            self.item.set_path(QPainterPath(), QRectF())
            return
        lines = self.lines(degrees, view)
        if self._laid[:2] != (lines, kind.place_key):
            cut = lines if kind.seam is None else lines.cut_at(kind.seam)
            self._laid = lines, kind.place_key, kind.on_earth(cut.longitudes, cut.latitudes), cut.joined
        _lines, _key, found, joined = self._laid
        if found is None:
            self.item.set_path(QPainterPath(), QRectF())
            return
        across, upwards, joined = seen_lines(found[0], found[1], joined, view[:2], pixels, self._jump())
        path = arrayToQPath(across, upwards, connect=joined.astype(np.int32))
        self.item.set_path(path, QRectF(left, low, right - left, high - low).normalized())

    def _jump(self) -> tuple[float, float]:
        ends = self._drawing.canvas.content()
        across, upwards = ((high - low) * _JUMP for low, high in ends)
        return across, upwards


class Coastlines(DrawnLines):
    """Draws coasts."""

    def lines(self, degrees: float, view: View) -> EarthLines:
        return earth_lines("coasts", is_fine=is_fine(degrees))


class Borders(DrawnLines):
    """Draws the borders of countries."""

    pens = _pens(Qt.PenStyle.DashLine, 200)
    z = 2.9

    def lines(self, degrees: float, view: View) -> EarthLines:
        return earth_lines("borders", is_fine=is_fine(degrees))


class Graticule(DrawnLines):
    """Draws meridians and parallels of round numbers."""

    pens = _pens(strength=120)
    z = 2.8

    def lines(self, degrees: float, view: View) -> EarthLines:
        kind = self._drawing.kind
        part = seen_part(kind.earth_at, view[:2])
        # Near a pole all meridians are seen, however near.
        step = net_step(max(part.width / _MOST_APART, min(part.width, degrees * max(view[2]))))
        self._name_lines(net_names(step, part))
        return net_lines(step, part.longitudes, part.latitudes)

    def _name_lines(self, names: Sequence[tuple[float, float, str]]) -> None:
        """Write the degrees beside the lines, where no axis tells them."""
        drawing = self._drawing
        scale = drawing.canvas.across.scale_shown
        east, north = (np.array([name[axis] for name in names], float) for axis in (0, 1))
        found = drawing.kind.on_earth(east, north)
        if found is None or (scale is not None and scale.coordinate.role is AxisRole.LONGITUDE):
            self.item.set_names(np.zeros((0, 2)), ())
            return
        places = np.stack(found, axis=-1)
        seen = np.isfinite(places).all(axis=1)
        self.item.font = drawing.canvas.across.style["tickFont"]
        texts = [name[2] for name, is_seen in zip(names, seen.tolist(), strict=True) if is_seen]
        self.item.set_names(places[seen], texts)

    def clear(self) -> None:
        super().clear()
        self.item.set_names(np.zeros((0, 2)), ())
