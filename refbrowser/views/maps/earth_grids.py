"""Where on the Earth the elements of a slice are: by coordinates of its axes, or of single elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.views.maps.axis_cells import AxesCells, axes_cells
from refbrowser.views.maps.grid_mapping import is_rotated, is_usable, plane_of
from refbrowser.views.maps.mesh import Mesh
from refbrowser.views.maps.projections import Plane
from refbrowser.views.plot.coordinates import AxisRole, Coordinate
from refbrowser.views.plot.drawn_slice import DrawnSlice
from refbrowser.views.plot.reading import Auxiliary, ElementCoordinate
from refbrowser.views.plot.slicing import SliceState
from refbrowser.views.words import one_line

Floats = npt.NDArray[np.float64]
Pair = tuple[Floats, Floats]
_EARTH = (AxisRole.LATITUDE, AxisRole.LONGITUDE)
_PLANE = (AxisRole.NORTH, AxisRole.EAST)
#: A mesh has no more cells.
_CELLS_MOST = 1 << 21
#: Of a cell, in square degrees: less is rounding.
_LEAST_AREA = 1e-12
#: One of no more is made within a frame.
_CELLS_AT_ONCE = 10_000


class EarthGrid(Protocol):
    """Elements on the Earth.

    Attributes
    ----------
    seam
        The meridian between the last and the first column; None where there is none.
    is_round
        Whether they go once around the Earth.
    """

    @property
    def seam(self) -> float | None:
        """The meridian between the last and the first column."""

    @property
    def is_round(self) -> bool:
        """Whether they go once around the Earth."""

    def places(self, rows: Floats, columns: Floats) -> Pair:
        """Return the longitudes and latitudes of positions along the axes of the slice; NaN outside."""
        ...

    def find(self, longitudes: Floats, latitudes: Floats) -> Pair:
        """Return the rows and columns of places, whole numbers at centres of elements; NaN outside."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class AxesGrid:
    """Elements at longitudes and latitudes of the axes, or in a plane."""

    cells: AxesCells
    plane: Plane | None = None

    @property
    def seam(self) -> float | None:
        """Where the columns of longitudes end; of a plane, where that is cut."""
        return self.cells.across.begin if self.plane is None else self.plane.seam

    @property
    def is_round(self) -> bool:
        """Whether the longitudes go once around the Earth."""
        return self.plane is None and self.cells.across.is_round

    def places(self, rows: Floats, columns: Floats) -> Pair:
        """Return longitudes and latitudes."""
        across, upwards = self.cells.at(rows, columns)
        return (across, upwards) if self.plane is None else self.plane.inverse(across, upwards)

    def find(self, longitudes: Floats, latitudes: Floats) -> Pair:
        """Return rows and columns."""
        if self.plane is None:
            return self.cells.find(longitudes, latitudes)
        return self.cells.find(*self.plane.forward(longitudes, latitudes))


@dataclass(frozen=True, slots=True, eq=False)
class MeshGrid:
    """Elements that have a longitude and a latitude each, of which a mesh has every n-th.

    Attributes
    ----------
    rows, columns
        Those that the mesh has, along the axes of the slice.
    """

    mesh: Mesh
    rows: range
    columns: range

    @property
    def seam(self) -> float | None:
        """None: columns are no meridians."""
        return None

    @property
    def is_round(self) -> bool:
        """Whether the columns go once around."""
        return self.mesh.is_round

    def places(self, rows: Floats, columns: Floats) -> Pair:
        """Return longitudes and latitudes."""
        return self.mesh.places(
            (rows - self.rows.start) / self.rows.step, (columns - self.columns.start) / self.columns.step
        )

    def find(self, longitudes: Floats, latitudes: Floats) -> Pair:
        """Return rows and columns."""
        rows, columns = self.mesh.find(longitudes, latitudes)
        return self.rows.start + rows * self.rows.step, self.columns.start + columns * self.columns.step


def roles_on_earth(state: SliceState, coordinates: Sequence[Coordinate]) -> str:
    """Return ``earth`` where axes are longitudes and latitudes, ``plane`` where they lie in one; or empty."""
    if state.y is None:
        return ""
    roles = {coordinates[state.y].role, coordinates[state.x].role}
    return "earth" if roles == set(_EARTH) else "plane" if roles == set(_PLANE) else ""


def pair_of_elements(
    state: SliceState, auxiliary: Sequence[ElementCoordinate]
) -> tuple[Auxiliary, Auxiliary] | None:
    """Return the longitudes and the latitudes of single elements of a slice; None where there are none."""
    found: dict[AxisRole, Auxiliary] = {}
    for each in auxiliary:
        if isinstance(each, Auxiliary) and each.role in _EARTH and each.spans(state.axes):
            found.setdefault(each.role, each)
    return (found[AxisRole.LONGITUDE], found[AxisRole.LATITUDE]) if len(found) == 2 else None


def key_of(drawn: DrawnSlice) -> object:
    """Return what is the same for slices whose elements are at the same places."""
    state = drawn.state
    pair = pair_of_elements(state, drawn.auxiliary)
    mapping = tuple(sorted((name, repr(value)) for name, value in drawn.mapping.items()))
    of_axes = tuple(drawn.coordinates[axis] for axis in state.axes)
    return (state.axes, of_axes if pair is None else tuple(each.key for each in pair), mapping)


def may_lie_on_earth(drawn: DrawnSlice) -> bool:
    """Return whether coordinates tell where the elements of a slice are on the Earth, as their names say."""
    kind = roles_on_earth(drawn.state, drawn.coordinates)
    if kind == "plane" and drawn.mapping and is_usable(drawn.mapping):
        return True
    return kind == "earth" or pair_of_elements(drawn.state, drawn.auxiliary) is not None


def is_bent(drawn: DrawnSlice) -> bool:
    """Return whether parallels and meridians are bent where each element of a slice is drawn at its index."""
    state, kind = drawn.state, roles_on_earth(drawn.state, drawn.coordinates)
    if len(state.axes) != 2 or kind == "earth":
        return False
    is_turned = kind == "plane" and is_rotated(drawn.mapping)
    return is_turned or pair_of_elements(state, drawn.auxiliary) is not None


def is_quick(drawn: DrawnSlice) -> bool:
    """Return whether `earth_grid` takes no longer than a frame."""
    if roles_on_earth(drawn.state, drawn.coordinates) != "" or not may_lie_on_earth(drawn):
        return True
    shape = [drawn.state.shape[axis] for axis in drawn.state.axes]
    return prod(shape) <= _CELLS_AT_ONCE


def earth_grid(drawn: DrawnSlice) -> EarthGrid | None:
    """Return where the elements of a slice are on the Earth; None where nothing tells it.

    Raises
    ------
    RefbrowserError
        The grid mapping cannot be understood, or needs pyproj; or the places of elements span no area.
    """
    state, kind = drawn.state, roles_on_earth(drawn.state, drawn.coordinates)
    cells = axes_cells(state, drawn.coordinates) if kind else None
    if cells is not None and kind == "earth":
        return AxesGrid(cells)
    if cells is not None and drawn.mapping and is_usable(drawn.mapping):
        plane = plane_of(drawn.mapping, drawn.coordinates[state.x].units)
        if plane is not None:
            return AxesGrid(cells, plane)
    pair = pair_of_elements(state, drawn.auxiliary)
    return None if pair is None else mesh_grid(state, *pair)


def mesh_grid(state: SliceState, longitudes: Auxiliary, latitudes: Auxiliary) -> MeshGrid | None:
    """Return the grid of elements that have places of their own; None where there are too few.

    Raises
    ------
    RefbrowserError
        `E_META`: the places are missing, or span no area.
    """
    east, north = longitudes.over(state.axes), latitudes.over(state.axes)
    if east is None or north is None or east[1] != north[1] or min(east[0].shape) < 2:
        return None
    # Between every n-th place the others lie evenly.
    step = int(np.ceil(np.sqrt(east[0].size / _CELLS_MOST)))
    taken = tuple(slice(None, None, step if size > 2 * step else 1) for size in east[0].shape)
    rows, columns = (indices[part] for indices, part in zip(east[1], taken, strict=True))
    across, upwards = east[0][taken], north[0][taken]
    if not _have_area(across, upwards):
        names = f"{one_line(longitudes.name)} and {one_line(latitudes.name)}"
        message = f"{names} are missing everywhere, or span no area: drawn as it is stored"
        raise RefbrowserError(ErrorKind.META, message)
    return MeshGrid(Mesh(across, upwards), rows, columns)


def _have_area(across: Floats, upwards: Floats) -> bool:
    """Return whether any cell between places is more than a line."""
    (east, more_east), (north, more_north) = (
        (np.diff(each, axis=0)[:, :-1], np.diff(each, axis=1)[:-1]) for each in (across, upwards)
    )
    with np.errstate(invalid="ignore", over="ignore"):
        return bool((np.abs(east * more_north - north * more_east) > _LEAST_AREA).any())
