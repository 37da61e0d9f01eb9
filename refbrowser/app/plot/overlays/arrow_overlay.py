"""Draws arrows of two components over a picture, and one whose length is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from refbrowser.app.plot.drawing import DrawnOverlay
from refbrowser.app.plot.overlays.scene_item import (
    DARK,
    Floats,
    OtherField,
    SceneItem,
    SeenPart,
    draw_path,
    path_of,
    plot_size,
    text_size,
)
from refbrowser.views.overlays.arrows import (
    APART,
    ARROWS_MOST,
    ArrowScale,
    apart,
    arrow_strokes,
    chosen_components,
)
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.plot.canvas import View
    from refbrowser.app.plot.drawing import Drawing
    from refbrowser.views.overlays.arrows import Components

_WIDTH = 1.2
#: Around the arrow that is told, in pixels; it is at most so long.
_MARGIN, _TOLD_MOST = 6.0, 140.0
#: On a map so many elements for each arrow are looked at, along each axis.
_FINER = 3.0
#: Directions are taken over this part of an element, or of a degree.
_STEP = 0.25


class ArrowItem(SceneItem):
    """Arrows at places of the plot."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__(drawing, 5.0)
        self.feet: Floats = np.zeros((0, 2))
        #: Places a little farther along each component.
        self._east: Floats = np.zeros((0, 2))
        self._north: Floats = np.zeros((0, 2))
        self._values: tuple[Floats, Floats] = np.zeros(0), np.zeros(0)
        self.scale: ArrowScale | None = None
        self.units = ""

    def set_arrows(self, feet: Floats, east: Floats, north: Floats, values: tuple[Floats, Floats]) -> None:
        """Show arrows: where they stand, places along both components, (n, 2), and the components, (n,)."""
        self.feet, self._east, self._north, self._values = feet, east, north, values
        self.scale = ArrowScale.of(np.hypot(*values)) if len(feet) else None
        self.draw_anew()

    def strokes(self) -> tuple[Floats, Floats]:
        """Return the strokes of the arrows in pixels, and the places of those that are too short."""
        assert self.scale is not None
        feet = self.in_pixels(self.feet)
        east, north = self.in_pixels(self._east) - feet, self.in_pixels(self._north) - feet
        return arrow_strokes(feet, east, north, *self._values, self.scale)

    def paint_pixels(self, painter: QPainter) -> None:
        if self.scale is None:
            return
        strokes, dots = self.strokes()
        draw_path(painter, path_of(strokes), _WIDTH)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(DARK)
        for x, y in dots.tolist():
            painter.drawEllipse(QPointF(x, y), 1.0, 1.0)
        self._tell(painter, self.scale)

    @property
    def told(self) -> str:
        """What the arrow beside the others stands for."""
        return "" if self.scale is None else f"{self.scale.text} {self.units}".strip()

    def _tell(self, painter: QPainter, scale: ArrowScale) -> None:
        """Draw an arrow of a round number in the lower right corner."""
        area = self.area()
        width, height = text_size(self.font, self.told)
        length = min(scale.pixels * scale.told, _TOLD_MOST)
        box = QRectF(0, 0, length + width + 3 * _MARGIN, height + _MARGIN)
        box.moveBottomRight(area.bottomRight() - QPointF(_MARGIN, _MARGIN))
        if box.left() < area.left() or box.top() < area.top():
            return
        painter.setPen(QPen(QColor(16, 21, 29, 90), 1))
        painter.setBrush(QColor(255, 255, 255, 225))
        painter.drawRoundedRect(box, 3, 3)
        foot = np.array([[box.left() + _MARGIN + length / 2, box.center().y()]])
        one, other = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
        number = np.array([length / scale.pixels])
        strokes, _dots = arrow_strokes(foot, one, other, number, np.zeros(1), scale)
        draw_path(painter, path_of(strokes), _WIDTH)
        painter.setPen(DARK)
        beside = box.adjusted(length + 2 * _MARGIN, 0, 0, 0)
        painter.drawText(beside, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.told)


class DrawnArrows(DrawnOverlay):
    """Draws the arrows of two components on the grid of what is shown."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__(drawing)
        self.item = ArrowItem(drawing)
        self._fields = OtherField(drawing, "plot-arrows-u"), OtherField(drawing, "plot-arrows-v")
        for field in self._fields:
            field.changed.connect(self._came)
        self._components: Components | None = None
        self._drawn: tuple[object, ...] = ()
        self._is_on = False

    @property
    def is_settled(self) -> bool:
        """Whether nothing is still to come."""
        return not any(field.is_reading for field in self._fields)

    def notes(self) -> list[str]:
        names = [one_line(field.shown.node.name) for field in self._fields if field.shown is not None]
        return [f"arrows of {' and '.join(names)}"] if names else []

    def set_slice(self) -> None:
        self._is_on = True
        drawing = self._drawing
        assert drawing.shown is not None
        arrays = [drawing.shown.node, *drawing.others()]
        found = self._components = chosen_components(arrays, drawing.marks.arrows)
        paths = ("", "") if found is None else (found.across, found.upwards)
        for field, path in zip(self._fields, paths, strict=True):
            field.follow(path)

    def clear(self) -> None:
        self._is_on = False
        self._components = None
        for field in self._fields:
            field.drop()
        self._take_away()

    def _take_away(self) -> None:
        self._drawn = ()
        self.item.set_arrows(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, 2)), (np.zeros(0), np.zeros(0)))

    def _came(self) -> None:
        if self._is_on:
            self.draw(self._drawing.canvas.view())

    def draw(self, view: View) -> None:
        u, v = (field.picture for field in self._fields)
        first, second = (field.shown for field in self._fields)
        if u is None or v is None or first is None or second is None or not (u.has_data and v.has_data):
            self._take_away()
            return
        if u.plan.slice.indices != v.plan.slice.indices or u.plan.ranges != v.plan.ranges:
            # One of them is of the slice before.
            return
        # On a map elements lie closer at one place than at another: of many some are taken.
        is_looked_up = self._drawing.kind.lookup is not None
        cell = APART / _FINER if is_looked_up else APART
        size = plot_size(self._drawing)
        parts = [SeenPart.of(picture, self._drawing, size, cell) for picture in (u, v)]
        seen = (*view[:2], size) if is_looked_up else None
        drawn = (*(part.key for part in parts), self._drawing.kind.place_key, self._components, seen)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        values = [part.numbers(shown) for part, shown in zip(parts, (first, second), strict=True)]
        grid = np.indices(values[0].shape, float).reshape(2, -1)
        places = np.stack(parts[0].places(grid[0], grid[1]))
        known = np.flatnonzero(np.isfinite(values[0]).ravel() & np.isfinite(values[1]).ravel())
        if is_looked_up:
            known = known[apart(self._where(*places[:, known]), view[:2], size)]
        known = known[:ARROWS_MOST]
        rows, columns = places[:, known]
        feet = self._where(rows, columns)
        east, north = self._ways(feet, rows, columns)
        self.item.units = one_line(first.units)
        self.item.set_arrows(feet, east, north, (values[0].ravel()[known], values[1].ravel()[known]))

    def _where(self, rows: Floats, columns: Floats) -> Floats:
        return np.stack(self._drawing.kind.where(rows, columns), axis=-1)

    def _ways(self, feet: Floats, rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
        """Return places a little farther along both components: east and north, or along the axes."""
        kind = self._drawing.kind
        on_earth = self._components is not None and self._components.on_earth
        places = kind.earth_at(feet[:, 0], feet[:, 1]) if on_earth else None
        if places is not None:
            longitudes, latitudes = places
            east = self._beside(feet, [(longitudes + step, latitudes) for step in (_STEP, -_STEP)])
            north = self._beside(feet, [(longitudes, latitudes + step) for step in (_STEP, -_STEP)])
            if east is not None and north is not None:
                return east, north
        up, across = (_STEP if self._grows(axis) else -_STEP for axis in (0, 1))
        return self._where(rows, columns + across), self._where(rows + up, columns)

    def _beside(self, feet: Floats, sides: list[tuple[Floats, Floats]]) -> Floats | None:
        """Return places on the first side of feet; where that is not on the map, from those on the other."""
        found = [self._drawing.kind.on_earth(longitudes, latitudes) for longitudes, latitudes in sides]
        if found[0] is None or found[1] is None:
            return None
        first, second = (np.stack(places, axis=-1) for places in found if places is not None)
        # Beyond a pole there are no latitudes.
        is_there = np.isfinite(first).all(axis=1) & (np.abs(sides[0][1]) <= 90)
        return np.where(is_there[:, None], first, 2 * feet - second)

    def _grows(self, axis: int) -> bool:
        """Whether the coordinate along an axis of the slice grows with its index."""
        drawing = self._drawing
        assert drawing.slice is not None
        return drawing.coordinates[drawing.slice.axes[axis]].ascending is not False
