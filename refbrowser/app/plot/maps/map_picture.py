"""Draws a picture elsewhere than at its indices: each pixel has the value of the element there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pyqtgraph import ImageItem
from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPainterPath, QPolygonF

from refbrowser.app.plot.canvas import Extent, ShownScale, View
from refbrowser.app.plot.legends import ground_color, stale_brush, state_brush
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.model.multiscales.axis_transform import IndexMap
from refbrowser.views.maps.earth_grids import MeshGrid
from refbrowser.views.maps.layouts import Layout, MapLayout, ScaleLayout, extent
from refbrowser.views.maps.lookups import Lookup, Placed, coloured, look_up, placed
from refbrowser.views.maps.projections import PlateCarree
from refbrowser.views.plot.coordinates import AxisRole, AxisScale, Coordinate, plain_coordinate
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture

if TYPE_CHECKING:
    from PySide6.QtGui import QBrush

    from refbrowser.app.plot.drawing import Drawing
    from refbrowser.app.tasks.tasks import TaskControl

#: Pixels that are looked up at once by the window's thread, and by a job; more are drawn in larger squares.
_AT_ONCE, _MOST = 48_000, 1_500_000
#: In meshes a place takes three times as long.
_OF_MESH = 16_000
#: A view that stands still this long, in milliseconds, is looked up in full.
_REST = 60
#: Positions in the view that tell which elements are visible, along each side.
_SAMPLED = 65
#: Points along each side of an outline.
_ALONG = 33
#: How far a view may be moved and zoomed: parts of the picture around it, and of it.
_AROUND, _LEAST = 2.0, 1e-5
#: States of chunks that are marked.
_MARKED = (ChunkState.PENDING, ChunkState.MISSING, ChunkState.FAILED, ChunkState.FILLED)


class MapPicture(QObject):
    """What is drawn of one drawing by a layout.

    Signals
    -------
    came()
        The elements at all pixels are known: it is to be drawn again.
    """

    came = Signal()

    def __init__(self, drawing: Drawing) -> None:
        super().__init__(drawing)
        self._drawing = drawing
        self._latest = Latest(self, "plot-map")
        self._rest = one_shot(self, _REST, self._look_up_all)
        self._items = tuple(ImageItem(axisOrder="row-major") for _ in range(3))
        for item, z in zip(self._items, (-1.0, 0.0, 10.0), strict=True):
            item.setZValue(z)
            drawing.canvas.box.addItem(item, ignoreBounds=True)
        self.layout: Layout | None = None
        self._lookup: Lookup | None = None
        self._asked: tuple[object, ...] = ()
        self._drawn: tuple[object, ...] = ()
        self._placed: dict[int, Placed] = {}
        #: How far all of the slice reaches; looked for once.
        self._reach: tuple[Extent, Extent] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether elements are still looked up."""
        return self._rest.isActive() or self._latest.is_running

    @property
    def lookup(self) -> Lookup | None:
        """The elements at the pixels of the view, as far as they are known."""
        return self._lookup

    def set_layout(self, layout: Layout | None) -> None:
        """Draw by another layout; None: nothing."""
        self._latest.cancel()
        self._rest.stop()
        self.layout, self._lookup = layout, None
        self._asked = self._drawn = ()
        self._placed = {}
        if layout is None:
            self.clear()
        else:
            self._reach = extent(layout, self._whole())

    def clear(self) -> None:
        """Take everything off the canvas."""
        self._drawn = ()
        for item in self._items:
            item.clear()

    # What is seen

    def set_axes(self) -> None:
        """Show the axes of the map where numbers stand on straight lines."""
        across, upwards = self._scales()
        canvas = self._drawing.canvas
        canvas.set_scales(across, upwards)
        canvas.set_ground(None)

    def _scales(self) -> tuple[ShownScale, ShownScale]:
        drawing, layout = self._drawing, self.layout
        assert drawing.slice is not None
        if isinstance(layout, ScaleLayout):
            axes = drawing.slice.axes if layout.cells.is_turned else drawing.slice.axes[::-1]
            coordinates = [drawing.coordinates[axis] for axis in axes]
            across, upwards = (ShownScale(AxisScale(each, True), each.axis_label) for each in coordinates)
            return across, upwards
        if isinstance(layout, MapLayout) and isinstance(layout.plane, PlateCarree):
            middle = layout.plane.middle
            return (
                _degrees("longitude", AxisRole.LONGITUDE, (middle - 180.0, middle + 180.0)),
                _degrees("latitude", AxisRole.LATITUDE, (-90.0, 90.0)),
            )
        nothing = ShownScale(AxisScale(plain_coordinate("", 0), grows=True), "")
        return nothing, nothing

    def spans(self, view: View) -> list[Extent] | None:
        """Return the elements that are visible, along the axes of the slice; None where none is."""
        layout, whole = self.layout, self._reach
        if layout is None or whole is None:
            return None
        inside = all(
            min(seen) <= ends[0] and ends[1] <= max(seen) for seen, ends in zip(view[:2], whole, strict=True)
        )
        if inside:
            return [(part.start - 0.5, part.stop - 0.5) for part in self._whole()]
        across, upwards = (np.linspace(*ends, _SAMPLED) for ends in view[:2])
        found = layout.elements(*np.meshgrid(across, upwards))
        known = np.isfinite(found[0])
        if not known.any():
            return None
        return [(float(places[known].min()) - 0.5, float(places[known].max()) + 0.5) for places in found]

    def _whole(self) -> list[range]:
        state = self._drawing.slice
        assert state is not None
        return [range(state.shape[axis]) for axis in state.axes]

    def reset_view(self, seen: Sequence[range]) -> None:
        """Make a part of the slice visible."""
        drawing, canvas = self._drawing, self._drawing.canvas
        whole = self._reach
        if whole is None or self.layout is None:
            return
        is_part = list(seen) != self._whole() and all(map(len, seen))
        part = (extent(self.layout, seen) if is_part else None) or whole
        is_locked = drawing.aspect_locked
        limits = [drawing.wider(ends, 20.0 if is_locked else 0.05) for ends in whole]
        least = max(high - low for low, high in whole) * _LEAST
        canvas.set_limits(limits[0], limits[1], least)
        canvas.set_content(*whole)
        (left, right), (low, high) = whole
        canvas.set_aspect(1.0 if is_locked else None, (right - left) / max(high - low, 1e-300))
        canvas.show_range(*(drawing.wider(ends, 0.0 if part == whole else 0.02) for ends in part))

    def outline(self, window: Sequence[range]) -> QPainterPath:
        """Return the outline of a part of the slice."""
        assert self.layout is not None
        (top, bottom), (left, right) = ((part.start - 0.5, part.stop - 0.5) for part in window)
        down, along = np.linspace(top, bottom, _ALONG), np.linspace(left, right, _ALONG)
        rows = np.concatenate([np.full(_ALONG, top), down, np.full(_ALONG, bottom), down[::-1]])
        columns = np.concatenate([along, np.full(_ALONG, right), along[::-1], np.full(_ALONG, left)])
        across, upwards = self.layout.where(rows, columns)
        known = np.isfinite(across) & np.isfinite(upwards)
        path = QPainterPath()
        points = zip(across[known].tolist(), upwards[known].tolist(), strict=True)
        path.addPolygon(QPolygonF([QPointF(x, y) for x, y in points]))
        return path

    # Drawing

    def draw(
        self, view: View, pictures: Sequence[tuple[Picture, Interpretation, IndexMap, IndexMap]]
    ) -> None:
        """Bring the canvas up to date.

        Parameters
        ----------
        pictures
            Those that are drawn, the last uppermost: with what their elements mean, and where their rows and
            columns are along the axes of the slice.
        """
        self._look_up(view)
        lookup, palette = self._lookup, self._drawing.palette
        colouring, colours = palette.colouring(), palette.table()
        if lookup is None or not pictures:
            self.clear()
            return
        arrived = tuple((id(each[0]), each[0].arrived, each[0].stale_turns) for each in pictures)
        drawn = lookup, arrived, colouring, id(colours), ground_color().rgba()
        if drawn == self._drawn:
            return
        self._drawn = drawn
        ground, image, states = self._items
        (left, right), (low, high) = lookup.view
        rect = QRectF(left, low, right - left, high - low)
        layers = [(self._place(lookup, *each), each[1]) for each in pictures]
        color = ground_color().getRgb()
        table = np.array([[0, 0, 0, 0], color], np.uint8)
        there = np.logical_or.reduce([layer.inside for layer, _shown in layers]).astype(np.uint8)
        ground.setImage(there, autoLevels=False, levels=(0, 255), lut=np.repeat(table, [1, 255], axis=0))
        ground.setRect(rect)
        if colouring is None:
            image.clear()
        else:
            levels = None if colours is None else (0, 255)
            image.setImage(coloured(layers, colouring), autoLevels=False, levels=levels, lut=colours)
            image.setRect(rect)
        marks = _marks([layer for layer, _shown in layers])
        if marks is None:
            states.clear()
        else:
            states.setImage(marks, autoLevels=False)
            states.setRect(rect)

    def _place(
        self, lookup: Lookup, picture: Picture, shown: Interpretation, rows: IndexMap, columns: IndexMap
    ) -> Placed:
        known = self._placed.get(id(picture))
        if known is not None and known.picture is picture and known.inside.shape == lookup.rows.shape:
            return known
        if len(self._placed) > 4:
            self._placed = {}
        positions = []
        for indices, drawn in ((lookup.rows, rows), (lookup.columns, columns)):
            if drawn == IndexMap():
                positions.append(indices)
            else:
                back = drawn.inverse
                positions.append(np.floor(back.scale * indices + back.shift + 0.5).astype(np.int32))
        found = self._placed[id(picture)] = placed(lookup, picture, *positions)
        return found

    def _look_up(self, view: View) -> None:
        """Find the elements at the pixels of a view: of larger squares at once, of all by a job."""
        layout, state = self.layout, self._drawing.slice
        if layout is None or state is None or state.y is None or min(view[2]) < 1:
            return
        asked = layout, view
        if asked == self._asked:
            return
        self._asked = asked
        shape = (state.shape[state.y], state.shape[state.x])
        self._latest.cancel()
        # A figure is drawn once, and nobody waits for the window meanwhile.
        is_figure = self._drawing.canvas.testAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        is_mesh = isinstance(layout, MapLayout) and isinstance(layout.grid, MeshGrid)
        most = _MOST if is_figure else _OF_MESH if is_mesh else _AT_ONCE
        self._take(look_up(layout, view[:2], _size(view[2], most), shape))
        if not is_figure:
            self._rest.start()

    def _look_up_all(self) -> None:
        """Find the elements at all pixels of the view, now that it stands still."""
        layout, state, source = self.layout, self._drawing.slice, self._drawing.source
        view = self._drawing.canvas.view()
        size = _size(view[2], _MOST)
        if layout is None or state is None or state.y is None or source is None:
            return
        if self._asked != (layout, view) or self._lookup is None or self._lookup.size == size:
            self.came.emit()
            return
        shape = (state.shape[state.y], state.shape[state.x])

        def work(_control: TaskControl) -> Lookup:
            return look_up(layout, view[:2], size, shape)

        def done(lookup: Lookup) -> None:
            self._take(lookup)
            self.came.emit()

        self._latest.run(source, "Find what is at each pixel of the map", work, done)

    def _take(self, lookup: Lookup) -> None:
        self._lookup, self._placed = lookup, {}


def _degrees(name: str, role: AxisRole, ends: tuple[float, float]) -> ShownScale:
    """Return an axis of degrees."""
    coordinate = Coordinate(name=name, size=2, role=role, values=np.array(ends), label=name)
    return ShownScale(AxisScale(coordinate, by_value=True), "")


def _size(pixels: tuple[int, int], most: int) -> tuple[int, int]:
    """Return a size of the same proportions with no more pixels."""
    factor = max(1.0, (pixels[0] * pixels[1] / most) ** 0.5)
    return max(1, int(pixels[0] / factor)), max(1, int(pixels[1] / factor))


def _marks(layers: Sequence[Placed]) -> npt.NDArray[np.uint8] | None:
    """Return patterns over pixels whose chunks did not come, or are of stale files; None where all did."""
    height, width = layers[0].rows.shape
    marked: list[tuple[npt.NDArray[np.bool_], QBrush]] = []
    covered = np.zeros((height, width), bool)
    for layer in reversed(layers):
        if not layer.picture.all_done:
            states = layer.states()
            marked += [((states == state) & ~covered, state_brush(state)) for state in _MARKED]
        if layer.picture.stale_done.any():
            stale = layer.of_chunks(layer.picture.stale_done).astype(bool) & layer.inside
            marked.append((stale & ~covered, stale_brush()))
        covered |= layer.inside
    marked = [(where, brush) for where, brush in marked if where.any()]
    if not marked:
        return None
    found = np.zeros((height, width, 4), np.uint8)
    for where, brush in marked:
        found[where] = _pattern(brush, width, height)[where]
    return found


def _pattern(brush: QBrush, width: int, height: int) -> npt.NDArray[np.uint8]:
    """Return a brush as pixels, (height, width, 4)."""
    image = QImage(width, height, QImage.Format.Format_RGBA8888)
    image.fill(0)
    painter = QPainter(image)
    painter.fillRect(image.rect(), brush)
    painter.end()
    return np.frombuffer(image.constBits(), np.uint8).reshape(height, -1, 4)[:, :width].copy()
