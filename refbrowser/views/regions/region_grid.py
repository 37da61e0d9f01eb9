"""What the parts of a region mean on the grid of one array: which of its elements lie in them.

Longitudes go round: 350 and -10 are the same, and bounds from 350 to 10 hold 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.views.longitudes import wrap_longitudes
from refbrowser.views.plot.coordinates import AxisRole, Coordinate
from refbrowser.views.regions.polygons import Corners, grid_within, points_within
from refbrowser.views.regions.region import Both, Bounds, Condition, Either, Outside, Polygon, Region

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Box = tuple[range, ...]

#: A coordinate counts as a bound where it is as near as this, in parts of it: of single precision.
NEAR = 1e-6
_ROLES = {
    "lat": AxisRole.LATITUDE,
    "latitude": AxisRole.LATITUDE,
    "lon": AxisRole.LONGITUDE,
    "longitude": AxisRole.LONGITUDE,
}


@dataclass(frozen=True, slots=True, eq=False)
class ElementPlaces:
    """A coordinate of single elements, such as the latitude of each one of a curvilinear grid.

    Attributes
    ----------
    dimensions
        Those of the array that it depends on, ascending.
    values
        A number for each, NaN where there is none.
    """

    name: str
    role: AxisRole
    dimensions: tuple[int, ...]
    values: Floats


@dataclass(frozen=True, eq=False)
class RegionGrid:
    """The coordinates of an array, by which regions are understood.

    Attributes
    ----------
    path
        Of the array, for messages.
    coordinates
        One for each dimension.
    elements
        Coordinates of single elements.
    """

    path: str
    coordinates: Sequence[Coordinate]
    elements: Sequence[ElementPlaces] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return tuple(each.size for each in self.coordinates)

    @property
    def is_on_earth(self) -> bool:
        """Whether each element has a longitude and a latitude."""
        return all(self._by_role(role) is not None for role in (AxisRole.LONGITUDE, AxisRole.LATITUDE))

    # Coordinates by name

    def axis(self, name: str) -> int:
        """Return the dimension of a name, for indices.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is none.
        """
        for axis, each in enumerate(self.coordinates):
            if each.name == name:
                return axis
        found = self._by_role(_ROLES.get(name.lower()))
        if isinstance(found, int):
            return found
        raise self._unknown(name)

    def place_of(self, name: str) -> int | ElementPlaces:
        """Return the dimension that has the coordinate of a name, or the coordinate of single elements.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is none, or the dimension has no coordinate.
        """
        for axis, each in enumerate(self.coordinates):
            if each.name == name and each.values is not None:
                return axis
        found = next((each for each in self.elements if each.name == name), None)
        by_role = found if found is not None else self._by_role(_ROLES.get(name.lower()))
        if by_role is not None:
            return by_role
        if any(each.name == name for each in self.coordinates):
            message = f"the dimension {quoted(name)} has no coordinates"
            raise self._usage(message, f"give indices: {name}@0:10")
        raise self._unknown(name)

    def _by_role(self, role: AxisRole | None) -> int | ElementPlaces | None:
        if role is None:
            return None
        for axis, coordinate in enumerate(self.coordinates):
            if coordinate.role is role and coordinate.values is not None:
                return axis
        return next((each for each in self.elements if each.role is role), None)

    def _unknown(self, name: str) -> RefbrowserError:
        names = [each.name for each in self.coordinates] + [each.name for each in self.elements]
        return self._usage(f"there is no coordinate {quoted(name)}", f"there are {', '.join(names)}")

    def _usage(self, message: str, advice: str = "") -> RefbrowserError:
        return RefbrowserError(ErrorKind.USAGE, message, Place(path=self.path), advice)

    def polygon_places(self, polygon: Polygon) -> tuple[int | ElementPlaces, int | ElementPlaces]:
        """Return the coordinates that the corners of a polygon are given in.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there are no such.
        """
        if len(self.coordinates) < 2:
            raise self._usage("a polygon needs two dimensions")
        last = len(self.coordinates) - 1
        across: int | ElementPlaces
        upwards: int | ElementPlaces
        if polygon.by_index:
            across, upwards = map(self.axis, polygon.names) if polygon.names else (last, last - 1)
        elif polygon.names:
            across, upwards = map(self.place_of, polygon.names)
        elif self.is_on_earth:
            across, upwards = self.place_of("longitude"), self.place_of("latitude")
        else:
            across, upwards = (self.place_of(self.coordinates[axis].name) for axis in (last, last - 1))
        if across == upwards:
            raise self._usage("the corners of a polygon are given in one coordinate")
        return across, upwards

    # Which elements

    def bounded(self, bounds: Bounds) -> tuple[tuple[int, ...], Mask]:
        """Return the dimensions that bounds concern, and which of their elements lie within."""
        if bounds.by_index:
            axis = self.axis(bounds.name)
            size = self.shape[axis]
            ends = [None if end is None else int(end) for end in (bounds.low, bounds.high)]
            taken = np.zeros(size, bool)
            taken[slice(*ends)] = True
            return (axis,), taken
        place = self.place_of(bounds.name)
        if isinstance(place, int):
            coordinate = self.coordinates[place]
            assert coordinate.values is not None
            is_longitude = coordinate.role is AxisRole.LONGITUDE
            return (place,), _between(coordinate.values, bounds.low, bounds.high, is_longitude)
        is_longitude = place.role is AxisRole.LONGITUDE
        return place.dimensions, _between(place.values, bounds.low, bounds.high, is_longitude)

    def drawn(self, polygon: Polygon, box: Box) -> tuple[tuple[int, ...], Mask]:
        """Return the dimensions that a polygon concerns, and which elements of a box lie within."""
        across, upwards = self.polygon_places(polygon)
        corners = polygon.corners
        if isinstance(across, int) and isinstance(upwards, int):
            numbers = [
                _indices(box[axis]) if polygon.by_index else self._values(axis)[_slice(box[axis])]
                for axis in (across, upwards)
            ]
            is_longitude = not polygon.by_index and self.coordinates[across].role is AxisRole.LONGITUDE
            x = _turned(numbers[0], corners) if is_longitude else numbers[0]
            within = grid_within(x, numbers[1], corners)
            return ((upwards, across), within) if upwards < across else ((across, upwards), within.T)
        dimensions = tuple(sorted({*_dimensions(across), *_dimensions(upwards)}))
        parts = [self._spread(place, dimensions, box) for place in (across, upwards)]
        is_longitude = (
            self.coordinates[across].role if isinstance(across, int) else across.role
        ) is AxisRole.LONGITUDE
        x = _turned(parts[0], corners) if is_longitude else parts[0]
        shape = np.broadcast_shapes(x.shape, parts[1].shape)
        spread = np.broadcast_to(x, shape), np.broadcast_to(parts[1], shape)
        return dimensions, points_within(spread[0], spread[1], corners)

    def _values(self, axis: int) -> Floats:
        values = self.coordinates[axis].values
        assert values is not None
        return values

    def _spread(self, place: int | ElementPlaces, dimensions: tuple[int, ...], box: Box) -> Floats:
        """Return coordinates of a box, an axis for each of some dimensions."""
        own = _dimensions(place)
        values = self._values(place) if isinstance(place, int) else place.values
        part = values[tuple(_slice(box[axis]) for axis in own)]
        return part.reshape([len(box[axis]) if axis in own else 1 for axis in dimensions])

    def on_box(self, dimensions: tuple[int, ...], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what has an axis for some dimensions as what broadcasts to a box."""
        shape = [1] * len(self.coordinates)
        for axis, size in zip(dimensions, values.shape, strict=True):
            shape[axis] = size
        return values.reshape(shape)

    @cached_property
    def whole(self) -> Box:
        """All indices."""
        return tuple(map(range, self.shape))

    # Where a region reaches

    def reach(self, region: Region) -> tuple[Mask, ...]:
        """Return which indices along each dimension a region can have elements at: at others it has none."""
        if isinstance(region, Both):
            reach = self._all()
            for part in region.parts:
                reach = tuple(one & other for one, other in zip(reach, self.reach(part), strict=True))
            return reach
        if isinstance(region, Either):
            found = [self.reach(part) for part in region.parts]
            return tuple(np.logical_or.reduce(each) for each in zip(*found, strict=True))
        if isinstance(region, Outside | Condition):
            return self._all()
        if isinstance(region, Bounds):
            dimensions, mask = self.bounded(region)
            return self._along(dimensions, mask)
        return self._polygon_reach(region)

    def _all(self) -> tuple[Mask, ...]:
        return tuple(np.ones(size, bool) for size in self.shape)

    def _along(self, dimensions: tuple[int, ...], mask: Mask) -> tuple[Mask, ...]:
        reach = list(self._all())
        for number, axis in enumerate(dimensions):
            others = tuple(each for each in range(mask.ndim) if each != number)
            reach[axis] = np.asarray(mask.any(axis=others))
        return tuple(reach)

    def _polygon_reach(self, polygon: Polygon) -> tuple[Mask, ...]:
        across, upwards = self.polygon_places(polygon)
        if not (isinstance(across, int) and isinstance(upwards, int)):
            return self._along(*self.drawn(polygon, self.whole))
        reach = list(self._all())
        for axis, number in ((across, 0), (upwards, 1)):
            ends = [corner[number] for corner in polygon.corners]
            values = _indices(range(self.shape[axis])) if polygon.by_index else self._values(axis)
            is_longitude = not polygon.by_index and self.coordinates[axis].role is AxisRole.LONGITUDE
            reach[axis] = _between(values, min(ends), max(ends), is_longitude)
        return tuple(reach)


def boxes_of(reach: Sequence[Mask], wanted: Sequence[range]) -> list[Box]:
    """Return the boxes to be read: what is wanted as far as a region reaches.

    Along each dimension there are two parts where much lies between them, as on both sides of a seam.
    """
    boxes: list[Box] = [()]
    for mask, part in zip(reach, wanted, strict=True):
        found = np.flatnonzero(mask[part.start : part.stop]) + part.start
        if not len(found):
            return []
        cut = int(np.argmax(np.diff(found))) if len(found) > 1 else 0
        first, last = int(found[0]), int(found[-1]) + 1
        pieces = [range(first, last)]
        if len(found) > 1 and (found[cut + 1] - found[cut] - 1) * 4 > last - first:
            pieces = [range(first, int(found[cut]) + 1), range(int(found[cut + 1]), last)]
        boxes = [(*box, piece) for box in boxes for piece in pieces]
    return boxes


def _between(values: Floats, low: float | None, high: float | None, is_longitude: bool) -> Mask:
    if is_longitude and low is not None and high is not None:
        return _round(values, low, high)
    near = NEAR * np.maximum(np.abs(values), 1e-30)
    # Coordinates may fall, and so may bounds.
    if low is not None and high is not None and low > high:
        low, high = high, low
    with np.errstate(invalid="ignore"):
        taken = np.isfinite(values)
        taken &= True if low is None else values >= low - near
        taken &= True if high is None else values <= high + near
    return taken


def _round(values: Floats, low: float, high: float) -> Mask:
    """Return which longitudes lie between two, going east from the first to the second."""
    reach = high - low
    if reach >= 360:
        return np.isfinite(values)
    near = NEAR * 180
    with np.errstate(invalid="ignore"):
        far = np.mod(values - low, 360.0)
        return (far <= np.mod(reach, 360.0) + near) | (far >= 360 - near)


def _turned(longitudes: Floats, corners: Corners) -> Floats:
    """Return longitudes, each by so many turns that it lies east of the western end of a polygon."""
    west = min(x for x, _y in corners)
    with np.errstate(invalid="ignore"):
        return wrap_longitudes(longitudes, west)


def _dimensions(place: int | ElementPlaces) -> tuple[int, ...]:
    return (place,) if isinstance(place, int) else place.dimensions


def _indices(taken: range) -> Floats:
    return np.arange(taken.start, taken.stop, taken.step, dtype=np.float64)


def _slice(taken: range) -> slice:
    return slice(taken.start, taken.stop, taken.step)
