"""How the elements of a slice are laid out on the canvas: at their indices, to scale, or on a map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.views.longitudes import wrap_longitudes
from refbrowser.views.maps.axis_cells import AxesCells, axes_cells
from refbrowser.views.maps.earth_grids import AxesGrid, EarthGrid, is_bent, may_lie_on_earth, roles_on_earth
from refbrowser.views.maps.grid_mapping import is_usable
from refbrowser.views.maps.mesh import degrees, vectors
from refbrowser.views.maps.projections import (
    INDEX,
    OWN,
    PLATE_CARREE,
    PROJECTIONS,
    SCALE,
    MapProjection,
    Plane,
    projection,
)
from refbrowser.views.plot.drawn_slice import DrawnSlice

Floats = npt.NDArray[np.float64]
Pair = tuple[Floats, Floats]
Extent = tuple[float, float]
#: So many places along each axis tell how far a picture reaches.
_LOOKED_AT = 129
#: A map is at least so long, in degrees, and no side is this many times as long as the other.
_LEAST, _NARROWEST = 1e-4, 20.0
#: So far from a cut, in degrees, is beside it.
_BESIDE = 1e-7


class Layout(Protocol):
    """Where elements are on the canvas, and what is where.

    Attributes
    ----------
    seam
        The meridian at which lines on the Earth are cut; None where they are cut at none.
    """

    @property
    def seam(self) -> float | None:
        """The meridian at which lines on the Earth are cut."""

    def where(self, rows: Floats, columns: Floats) -> Pair:
        """Return the positions of places among the elements, across and upwards; NaN where not seen."""
        ...

    def elements(self, across: Floats, upwards: Floats) -> Pair:
        """Return the rows and columns at positions, whole numbers at centres; NaN where no element is."""
        ...

    def on_earth(self, longitudes: Floats, latitudes: Floats) -> Pair | None:
        """Return the positions of places on the Earth, NaN where not seen; None where it is not on Earth."""
        ...

    def earth_at(self, across: Floats, upwards: Floats) -> Pair | None:
        """Return the longitudes and latitudes at positions; None where it is not on Earth."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class IndexLayout:
    """Each element alike, at its indices.

    Attributes
    ----------
    shape
        Number of rows and columns.
    grid
        Where the elements are on the Earth, or None.
    """

    shape: tuple[int, int]
    grid: EarthGrid | None = None

    @property
    def seam(self) -> float | None:
        """Where the columns end."""
        return None if self.grid is None else self.grid.seam

    def where(self, rows: Floats, columns: Floats) -> Pair:
        """Return columns and rows."""
        return columns, rows

    def elements(self, across: Floats, upwards: Floats) -> Pair:
        """Return rows and columns."""
        rows, columns = self.shape
        with np.errstate(invalid="ignore"):
            inside = (across >= -0.5) & (across < columns - 0.5) & (upwards >= -0.5) & (upwards < rows - 0.5)
        return np.where(inside, upwards, np.nan), np.where(inside, across, np.nan)

    def on_earth(self, longitudes: Floats, latitudes: Floats) -> Pair | None:
        """Return columns and rows of places."""
        if self.grid is None:
            return None
        rows, columns = self.grid.find(longitudes, latitudes)
        return columns, rows

    def earth_at(self, across: Floats, upwards: Floats) -> Pair | None:
        """Return the places of columns and rows."""
        return None if self.grid is None else self.grid.places(upwards, across)


@dataclass(frozen=True, slots=True, eq=False)
class ScaleLayout:
    """Elements where the coordinates of the axes are.

    Attributes
    ----------
    plane
        In which these coordinates are; None where they are not on Earth.
    """

    cells: AxesCells
    plane: Plane | None = None

    @property
    def seam(self) -> float | None:
        """Where the plane is cut."""
        return None if self.plane is None else self.plane.seam

    def where(self, rows: Floats, columns: Floats) -> Pair:
        """Return values of coordinates."""
        return self.cells.at(rows, columns)

    def elements(self, across: Floats, upwards: Floats) -> Pair:
        """Return rows and columns."""
        return self.cells.find(across, upwards)

    def on_earth(self, longitudes: Floats, latitudes: Floats) -> Pair | None:
        """Return positions in the plane."""
        return None if self.plane is None else self.plane.forward(longitudes, latitudes)

    def earth_at(self, across: Floats, upwards: Floats) -> Pair | None:
        """Return places of the plane."""
        return None if self.plane is None else self.plane.inverse(across, upwards)


@dataclass(frozen=True, slots=True, eq=False)
class MapLayout:
    """Elements on a map of the Earth.

    Attributes
    ----------
    centre
        The longitude and latitude in its middle.
    """

    projection: MapProjection
    centre: tuple[float, float]
    plane: Plane
    grid: EarthGrid

    @property
    def seam(self) -> float | None:
        """Where the map is cut."""
        return self.plane.seam

    def where(self, rows: Floats, columns: Floats) -> Pair:
        """Return positions of elements on the map."""
        return self.plane.forward(*self.grid.places(rows, columns))

    def elements(self, across: Floats, upwards: Floats) -> Pair:
        """Return the elements at positions of the map."""
        return self.grid.find(*self.plane.inverse(across, upwards))

    def on_earth(self, longitudes: Floats, latitudes: Floats) -> Pair | None:
        """Return positions of the map."""
        return self.plane.forward(longitudes, latitudes)

    def earth_at(self, across: Floats, upwards: Floats) -> Pair | None:
        """Return places of the map."""
        return self.plane.inverse(across, upwards)


def extent(layout: Layout, window: Sequence[range]) -> tuple[Extent, Extent] | None:
    """Return from where to where a part of a slice reaches, across and upwards; None where it is not seen."""
    rows, columns = (
        np.linspace(part.start - 0.5, part[-1] + 0.5, min(_LOOKED_AT, 2 * len(part) + 1)) for part in window
    )
    across, upwards = (places.ravel() for places in layout.where(*np.meshgrid(rows, columns, indexing="ij")))
    if isinstance(layout, MapLayout) and layout.seam is not None and layout.grid.is_round:
        # What lies at the cut is not among the places that were looked at.
        beside = np.array([[layout.seam - _BESIDE], [layout.seam + _BESIDE]])
        cut = np.broadcast_arrays(beside, np.linspace(-90.0, 90.0, _LOOKED_AT))
        inside = np.ones(cut[0].shape, bool)
        with np.errstate(invalid="ignore"):
            for places, part in zip(layout.grid.find(*cut), window, strict=True):
                inside &= (places >= part.start - 0.5) & (places <= part.stop - 0.5)
        more = layout.plane.forward(*(places[inside] for places in cut))
        across, upwards = map(np.append, (across, upwards), more)
    known = np.isfinite(across) & np.isfinite(upwards)
    if not known.any():
        return None
    ends = [(float(each[known].min()), float(each[known].max())) for each in (across, upwards)]
    if isinstance(layout, MapLayout):
        # Single places, and lines of them, are seen too.
        least = max(_LEAST, max(high - low for low, high in ends) / _NARROWEST)
        ends = [_widened(low, high, least) for low, high in ends]
    return _widened(*ends[0], 1e-12), _widened(*ends[1], 1e-12)


def _widened(low: float, high: float, least: float) -> Extent:
    """Return an extent that is at least so long."""
    more = max(0.0, least - (high - low), 1e-9 * max(abs(low), abs(high)) - (high - low)) / 2
    return low - more, high + more


def middle(grid: EarthGrid, shape: tuple[int, int]) -> tuple[float, float]:
    """Return the longitude and latitude in the middle of a grid, whole degrees; 0, 0 of the whole Earth."""
    if grid.is_round:
        return 0.0, 0.0
    rows, columns = (np.linspace(-0.49, size - 0.51, 33) for size in shape)
    points = vectors(*grid.places(*np.meshgrid(rows, columns, indexing="ij"))).reshape(-1, 3)
    points = points[np.isfinite(points[:, 0])]
    mean = points.mean(axis=0) if len(points) else np.zeros(3)
    if np.linalg.norm(mean) < 0.1:
        return 0.0, 0.0
    longitude, latitude = degrees(mean)
    return float(np.round(longitude)), float(np.round(latitude))


@dataclass(frozen=True, slots=True)
class EarthPart:
    """A part of the Earth, from meridian to meridian and from parallel to parallel, in degrees."""

    longitudes: Extent = (-180.0, 180.0)
    latitudes: Extent = (-90.0, 90.0)

    @property
    def width(self) -> float:
        """The longer side."""
        return max(self.longitudes[1] - self.longitudes[0], self.latitudes[1] - self.latitudes[0])


def seen_part(
    earth_at: Callable[[Floats, Floats], Pair | None], view: tuple[Extent, Extent], margin: float = 0.1
) -> EarthPart:
    """Return a part of the Earth that has all that is seen in a view, and a part of it more on each side."""
    ends = np.linspace(0.0, 1.0, 25)
    across, upwards = (low + ends * (high - low) for low, high in view)
    found = earth_at(*(positions.ravel() for positions in np.meshgrid(across, upwards)))
    if found is None:
        return EarthPart()
    longitudes, latitudes = (places[np.isfinite(found[0])] for places in found)
    if not len(longitudes):
        return EarthPart()
    turned = np.radians(longitudes)
    centre = np.degrees(np.arctan2(np.sin(turned).mean(), np.cos(turned).mean()))
    beside = wrap_longitudes(longitudes - centre)
    (west, east), (south, north) = ((float(each.min()), float(each.max())) for each in (beside, latitudes))
    more, higher = (east - west) * margin + 0.01, (north - south) * margin + 0.01
    # At a pole all meridians are seen.
    if max(abs(south), abs(north)) + higher > 89.0 or east - west + 2 * more > 300.0:
        west, east, more, centre = -180.0, 180.0, 0.0, 0.0
    return EarthPart(
        (centre + west - more, centre + east + more), (max(-90.0, south - higher), min(90.0, north + higher))
    )


@dataclass(frozen=True, slots=True)
class ChosenProjection:
    """What the user chose of a map.

    Attributes
    ----------
    name
        Of the projection.
    centre
        Longitude and latitude in its middle, in degrees; None for the middle of what is drawn.
    """

    name: str = INDEX
    centre: tuple[float, float] | None = None


def suited_projections(drawn: DrawnSlice) -> tuple[MapProjection, ...]:
    """Return the projections that make sense for a slice, where that is more than as it is stored."""
    state = drawn.state
    if len(state.axes) != 2:
        return ()
    is_on_earth = may_lie_on_earth(drawn)
    kind = roles_on_earth(state, drawn.coordinates)
    is_own = kind == "plane" and bool(drawn.mapping) and is_usable(drawn.mapping)
    is_scaled = not is_own and kind != "earth" and axes_cells(state, drawn.coordinates) is not None
    offered = {INDEX: True, SCALE: is_scaled, OWN: is_own}
    found = tuple(row for row in PROJECTIONS if offered.get(row.name, is_on_earth))
    return found if len(found) > 1 else ()


def usual_projection(drawn: DrawnSlice | None) -> ChosenProjection:
    """Return what a slice is drawn by unless the user chooses.

    Where each element is drawn at its index, meridians of elements with places of their own, and of a rotated
    pole, are bent: these are drawn as they lie on the Earth. All others are drawn as they are stored.
    """
    return ChosenProjection(PLATE_CARREE if drawn is not None and is_bent(drawn) else INDEX)


class ProjectionChoices:
    """What the user chose: one for arrays that lie on the Earth, one for others; None where nothing was."""

    def __init__(self) -> None:
        self._chosen: dict[bool, ChosenProjection | None] = {True: None, False: None}

    def chosen(self, drawn: DrawnSlice | None) -> ChosenProjection | None:
        """Return what was chosen for arrays such as that of a slice; None where nothing was."""
        return self._chosen[drawn is not None and may_lie_on_earth(drawn)]

    def of(self, drawn: DrawnSlice | None) -> ChosenProjection:
        """Return what a slice is drawn by: what was chosen, else what is usual for it."""
        return self.chosen(drawn) or usual_projection(drawn)

    def choose(self, drawn: DrawnSlice, choice: ChosenProjection) -> bool:
        """Choose for arrays such as that of a slice; whether that changes anything."""
        before = self.of(drawn)
        self._chosen[may_lie_on_earth(drawn)] = choice
        return before != choice

    def take_over(self, other: ProjectionChoices) -> None:
        """Choose what others are."""
        self._chosen = dict(other._chosen)

    def choose_for_all(self, choice: ChosenProjection | None) -> None:
        """Choose for all arrays, or for none; where it cannot be they are drawn as they are stored."""
        self._chosen = {True: choice, False: choice}


def made_layout(drawn: DrawnSlice, grid: EarthGrid | None, choice: ChosenProjection) -> Layout:
    """Return where the elements of a slice are for a choice; as they are stored where that cannot be.

    Raises
    ------
    RefbrowserError
        The projection needs pyproj, which is not installed.
    """
    state = drawn.state
    assert state.y is not None
    shape = (state.shape[state.y], state.shape[state.x])
    row = projection(choice.name)
    if row not in suited_projections(drawn):
        return IndexLayout(shape, grid)
    cells = axes_cells(state, drawn.coordinates) if row.name in (SCALE, OWN) else None
    if cells is not None:
        return ScaleLayout(cells, grid.plane if isinstance(grid, AxesGrid) else None)
    if grid is None or row.plane is None:
        return IndexLayout(shape, grid)
    centre = choice.centre or middle(grid, shape)
    return MapLayout(row, centre, row.plane(*centre), grid)
