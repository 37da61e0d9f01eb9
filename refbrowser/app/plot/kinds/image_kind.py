"""Draws images: numbers over two dimensions as colours of a map, or bands as the colours that they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath

from refbrowser.app.plot.canvas import Extent, ShownScale, View
from refbrowser.app.plot.drawing import Drawing, DrawnKind
from refbrowser.app.plot.maps.grid_maker import GridMaker
from refbrowser.app.plot.maps.map_picture import MapPicture
from refbrowser.errors import RefbrowserError
from refbrowser.model.multiscales.axis_transform import IndexMap
from refbrowser.views.longitudes import wrap_longitudes
from refbrowser.views.maps.earth_grids import roles_on_earth
from refbrowser.views.maps.layouts import ChosenProjection, IndexLayout, Layout, MapLayout, made_layout
from refbrowser.views.maps.lookups import Lookup
from refbrowser.views.maps.projections import INDEX
from refbrowser.views.numbers import degrees_text
from refbrowser.views.plot.coordinates import AxisRole, AxisScale, are_on_map, cell_aspect, is_no_strip
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import Picture
from refbrowser.views.words import one_line

Floats = npt.NDArray[np.float64]
_ON_EARTH = (AxisRole.LATITUDE, AxisRole.LONGITUDE)
#: Decimals of places that are told.
_DECIMALS = 3
#: Values that are looked at for levels while a picture fills.
_SAMPLE = 10_000


class ImageKind(DrawnKind):
    """Draws the values of a slice with two axes as an image."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__(drawing)
        self._layout: Layout = IndexLayout((0, 0))
        self._grids = GridMaker(drawing)
        self._grids.came.connect(self._grid_came)
        #: Draws it by another layout than that of indices.
        self._map = MapPicture(drawing)
        self._map.came.connect(self._map_came)
        self._is_placing = False
        #: Why it is not drawn by the projection that was chosen.
        self._refused = ""

    @property
    def has_bar(self) -> bool:
        return not self._drawing.palette.by_flags

    def set_axes(self, values: str) -> None:
        drawing, state = self._drawing, self._drawing.slice
        assert state is not None
        assert state.y is not None
        drawing.across, drawing.upwards = self._scale(state.x), self._scale(state.y)
        self._lie()
        if self._is_map:
            self._map.set_axes()
            return
        drawing.canvas.set_scales(
            ShownScale(drawing.across, drawing.coordinates[state.x].axis_label),
            ShownScale(drawing.upwards, drawing.coordinates[state.y].axis_label),
        )
        drawing.canvas.set_ground(QRectF(-0.5, -0.5, state.shape[state.x], state.shape[state.y]))

    @property
    def _is_map(self) -> bool:
        """Whether elements are drawn elsewhere than at their indices."""
        return self._map.layout is not None

    def _scale(self, dimension: int) -> AxisScale:
        """Return the axis along a dimension; longitudes grow to the right, latitudes upwards."""
        drawing = self._drawing
        assert drawing.slice is not None
        runs = AxisRole.LONGITUDE if dimension == drawing.slice.x else AxisRole.LATITUDE
        grows = (each.grows(dimension) for each in drawing.auxiliary if each.role is runs)
        return AxisScale(drawing.coordinates[dimension], grows=next(grows, None))

    def set_pictures(self, base: Picture | None, detail: Picture | None) -> None:
        canvas, behind = self._drawing.canvas, self._drawing.backdrop
        if base is None:
            self._map.clear()
        if self._is_map or self._is_placing:
            for each in (canvas.backdrop, canvas.image, canvas.detail):
                each.set_picture(None)
            return
        layer = canvas.backdrop
        if base is None or behind is None:
            layer.set_picture(None)
        else:
            layer.rows, layer.columns = behind.rows, behind.columns
            layer.set_picture(behind.picture)
        canvas.image.set_picture(base)
        canvas.detail.set_picture(detail)

    def draw(self, view: View) -> None:
        drawing, palette = self._drawing, self._drawing.palette
        assert drawing.shown is not None
        if self._is_map:
            self._map.draw(view, self._pictures())
        else:
            colouring, colours = palette.colouring(), palette.table()
            if drawing.backdrop is not None:
                drawing.canvas.backdrop.draw(view, drawing.backdrop.shown, colouring, colours)
            drawing.canvas.image.draw(view, drawing.shown, colouring, colours)
            drawing.canvas.detail.draw(view, drawing.shown, colouring, colours)
        drawing.bar.set_levels(drawing.keeper.levels, drawing.keeper.edges)

    def _pictures(self) -> list[tuple[Picture, Interpretation, IndexMap, IndexMap]]:
        """Return what is drawn, the last uppermost, and where its elements are along the axes."""
        drawing, here = self._drawing, IndexMap()
        assert drawing.shown is not None
        behind = drawing.backdrop
        found = [] if behind is None else [(behind.picture, behind.shown, behind.rows, behind.columns)]
        return found + [
            (picture, drawing.shown, here, here)
            for picture in (drawing.base, drawing.detail)
            if picture is not None and picture.values.size
        ]

    def edges(self, picture: Picture) -> tuple[np.ndarray, np.ndarray] | None:
        return None if self._is_map else super().edges(picture)

    @property
    def has_values(self) -> bool:
        return self._drawing.palette.colouring() is not None

    # What is seen

    def spans(self, view: View) -> Sequence[tuple[AxisScale, Extent]]:
        assert self._drawing.upwards is not None
        rows, columns = view[1], view[0]
        if self._is_map:
            rows, columns = self._map.spans(view) or ((-1.0, -1.0), (-1.0, -1.0))
        return ((self._drawing.upwards, rows), (self._drawing.across, columns))

    def reset_view(self, whole: Sequence[range], seen: Sequence[range]) -> None:
        drawing, canvas = self._drawing, self._drawing.canvas
        assert drawing.upwards is not None
        if self._is_map:
            self._map.reset_view(seen)
            return
        across, upwards = drawing.extent(drawing.across, whole[-1]), drawing.extent(drawing.upwards, whole[0])
        # With a fixed aspect one side of the picture is narrower than the view.
        free = 20.0 if drawing.aspect_locked else 0.05
        canvas.set_limits(drawing.wider(across, free), drawing.wider(upwards, free))
        canvas.set_content(across, upwards)
        cells = cell_aspect(drawing.across.coordinate, drawing.upwards.coordinate)
        picture = cells * (across[1] - across[0]) / (upwards[1] - upwards[0])
        canvas.set_aspect(cells if drawing.aspect_locked else None, picture)
        canvas.show_range(drawing.extent(drawing.across, seen[1]), drawing.extent(drawing.upwards, seen[0]))

    def outline(self, window: Sequence[range]) -> None:
        path = self._map.outline(window) if self._is_map else QPainterPath()
        if not self._is_map:
            (top, bottom), (left, right) = ((part.start - 0.5, part.stop - 0.5) for part in window)
            path.addRect(QRectF(QPointF(left, top), QPointF(right, bottom)))
        self._drawing.canvas.set_outline(path)

    def place(self, element: tuple[int, ...], picture: Picture | None) -> tuple[float, float] | None:
        across, upwards = self._layout.where(np.array([float(element[0])]), np.array([float(element[-1])]))
        return (float(across[0]), float(upwards[0])) if np.isfinite(across[0] + upwards[0]) else None

    def moves(self, element: tuple[int, ...], across: int, upwards: int) -> tuple[int, ...]:
        if not self._is_map:
            return super().moves(element, across, upwards)
        # Along that axis which leads most into the direction of the key.
        rows = element[0] + np.array([-0.4, 0.4, 0.0, 0.0])
        columns = element[1] + np.array([0.0, 0.0, -0.4, 0.4])
        right, up = (each[1::2] - each[::2] for each in self._layout.where(rows, columns))
        length = np.hypot(right, up)
        if not np.isfinite(length).all() or not length.all():
            return super().moves(element, across, upwards)
        along = (across * right + upwards * up) / length
        axis = int(np.argmax(np.abs(along)))
        cells = max(abs(across), abs(upwards)) * int(np.sign(along[axis]))
        return (cells, 0) if axis == 0 else (0, cells)

    def where(self, rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
        return self._layout.where(rows, columns)

    def element_at(self, across: float, upwards: float) -> tuple[int, ...] | None:
        assert self._drawing.slice is not None
        rows, columns = self._layout.elements(np.array([across]), np.array([upwards]))
        if np.isnan(rows[0]):
            return None
        # What lies on the last edge is of the last element.
        shape = [self._drawing.slice.shape[axis] for axis in self._drawing.slice.axes]
        return min(int(rows[0] + 0.5), shape[0] - 1), min(int(columns[0] + 0.5), shape[1] - 1)

    # Maps

    def on_earth(self, longitudes: Floats, latitudes: Floats) -> tuple[Floats, Floats] | None:
        return self._layout.on_earth(longitudes, latitudes)

    def earth_at(self, across: Floats, upwards: Floats) -> tuple[Floats, Floats] | None:
        return self._layout.earth_at(across, upwards)

    @property
    def seam(self) -> float | None:
        return self._layout.seam

    @property
    def lookup(self) -> Lookup | None:
        return self._map.lookup if self._is_map else None

    @property
    def place_key(self) -> object:
        return self._layout

    def place_words(self, element: tuple[int, ...]) -> str:
        drawing = self._drawing
        assert drawing.slice is not None
        if roles_on_earth(drawing.slice, drawing.coordinates) == "earth":
            return ""
        index = list(drawing.slice.indices)
        for axis, at in zip(drawing.slice.axes, element, strict=True):
            index[axis] = at
        if any(each.role in _ON_EARTH and each.text(index) for each in drawing.auxiliary):
            return ""
        place = self.place(element, None)
        found = None if place is None else self.earth_at(*(np.array([each]) for each in place))
        if found is None or np.isnan(found[0][0]):
            return ""
        longitude = wrap_longitudes(float(found[0][0]))
        east, north = round(longitude, _DECIMALS), round(float(found[1][0]), _DECIMALS)
        return f"{degrees_text(north, None, 'N', 'S')} {degrees_text(east, None, 'E', 'W')}"

    @property
    def middle(self) -> tuple[float, float] | None:
        layout = self._layout
        return layout.centre if isinstance(layout, MapLayout) and layout.projection.has_longitude else None

    @property
    def is_indexed(self) -> bool:
        return not self._is_map

    @property
    def is_placing(self) -> bool:
        return self._is_placing

    @property
    def is_busy(self) -> bool:
        return self._map.is_busy or self._grids.is_busy

    def _lie(self) -> None:
        """Find where the elements are on the canvas and on the Earth."""
        drawing = self._drawing
        drawn = drawing.drawn_slice()
        grid, choice = self._grids.grid(drawing.source, drawn), drawing.projections.of(drawn)
        self._is_placing = grid is None and self._grids.is_busy and choice.name != INDEX
        try:
            layout, self._refused = made_layout(drawn, grid, choice), ""
        except RefbrowserError as error:
            layout, self._refused = made_layout(drawn, grid, ChosenProjection()), error.message
        self._layout = layout
        self._map.set_layout(None if isinstance(layout, IndexLayout) else layout)

    def _grid_came(self) -> None:
        """Draw it where it lies, now that this is known; and the lines of the Earth."""
        drawing = self._drawing
        if drawing.kind is self and drawing.slice is not None:
            drawing.lay_out_again(None if drawing.sees_whole() else drawing.visible_window())

    def _map_came(self) -> None:
        drawing = self._drawing
        if drawing.kind is self:
            drawing.draw()
            drawing.placed.emit()

    @property
    def has_proportions(self) -> bool:
        across, upwards = self._drawing.across, self._drawing.upwards
        assert upwards is not None
        if self._is_map:
            return self.on_earth(np.zeros(1), np.zeros(1)) is not None
        if self._drawing.is_photograph and is_no_strip(across.coordinate, upwards.coordinate):
            return True
        return are_on_map(across.coordinate, upwards.coordinate) or self._is_on_map_by_elements()

    def _is_on_map_by_elements(self) -> bool:
        """Whether each element has a latitude and a longitude of its own."""
        drawing = self._drawing
        assert drawing.upwards is not None
        axes = drawing.slice.axes if drawing.slice else ()
        roles = {each.role for each in drawing.auxiliary if each.spans(axes)}
        return set(_ON_EARTH) <= roles and is_no_strip(drawing.across.coordinate, drawing.upwards.coordinate)

    @property
    def lie(self) -> object:
        """Whether it is a map, and which way its axes grow."""
        across, upwards = self._drawing.across, self._drawing.upwards
        assert upwards is not None
        return self.has_proportions, across.grows, upwards.grows

    def notes(self) -> list[str]:
        drawing = self._drawing
        assert drawing.upwards is not None
        told = [text for text in (self._refused, self._grids.error, *drawing.lost_auxiliary) if text]
        return told if self._is_map else [*told, *self._index_notes()]

    def _index_notes(self) -> list[str]:
        """Return what is to be known of axes that are indices."""
        drawing = self._drawing
        assert drawing.upwards is not None
        if self._is_on_map_by_elements():
            names = " and ".join(one_line(each.name) for each in drawing.auxiliary if each.role in _ON_EARTH)
            axes = drawing.across.coordinate, drawing.upwards.coordinate
            are_indices = not any(each.texts or each.tells_cells_apart for each in axes)
            return [f"{'axes are indices: ' if are_indices else ''}point at an element to read its {names}"]
        return [
            f"{one_line(each.name)} is not to scale: its steps differ, each is drawn alike"
            for each in (drawing.across.coordinate, drawing.upwards.coordinate)
            if each.ascending is not None and not each.even
        ]

    # Levels

    def take_news(self, *, complete: bool) -> None:
        drawing = self._drawing
        assert drawing.base is not None
        assert drawing.shown is not None
        if drawing.base.has_data and drawing.is_time_to_look(complete):
            sample = drawing.sample() if complete else drawing.base.sample(_SAMPLE)
            self._take(drawing.shown.numbers(sample), complete)

    def _take(self, numbers: npt.NDArray[Any], complete: bool) -> None:
        self._drawing.palette.take(numbers, complete)
        self._drawing.describe(numbers)

    def follow_log(self) -> None:
        numbers = self.numbers()
        if numbers is not None:
            self._drawing.palette.set_log(self._drawing.log, numbers)
            self._drawing.describe(numbers)

    @property
    def is_log_in_vain(self) -> bool:
        levels = self._drawing.keeper.levels
        return levels is not None and not levels.log


class ColourKind(ImageKind):
    """Draws bands together, as the colours that they are."""

    @property
    def has_bar(self) -> bool:
        return False

    def _take(self, numbers: npt.NDArray[Any], complete: bool) -> None:
        base = self._drawing.base
        assert base is not None
        self._drawing.palette.take_white(numbers, base.values.dtype)

    def numbers(self) -> npt.NDArray[Any] | None:
        return None
