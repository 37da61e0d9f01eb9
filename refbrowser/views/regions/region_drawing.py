"""Regions as they are drawn over a slice: from corners to a region, and from a region to its outlines.

Corners are positions along the two axes of the slice, (row, column); 0 is the middle of the first element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import floor, log10

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.views.longitudes import TURN
from refbrowser.views.plot.coordinates import AxisRole, Coordinate
from refbrowser.views.regions.region import Both, Bounds, Either, Outside, Polygon, Region
from refbrowser.views.regions.region_grid import RegionGrid

Floats = npt.NDArray[np.float64]
Corner = tuple[float, float]

#: Points of one side of an outline: in projections it is curved.
POINTS = 24
#: Corners that are dragged are told to this part of a step.
_FINE = 10


@dataclass(frozen=True, slots=True)
class DrawnShape:
    """What was drawn.

    Attributes
    ----------
    corners
        All of a polygon; two opposite ones of a rectangle.
    """

    corners: tuple[Corner, ...]
    is_rectangle: bool

    def with_corner(self, number: int, corner: Corner) -> DrawnShape:
        """Return it with another corner; those of a rectangle are numbered as `handles` are."""
        if not self.is_rectangle:
            return replace(self, corners=(*self.corners[:number], corner, *self.corners[number + 1 :]))
        opposite = self.handles[(number + 2) % 4]
        return replace(self, corners=(corner, opposite))

    @property
    def handles(self) -> tuple[Corner, ...]:
        """Where it is dragged: its corners, one after the other around it."""
        if not self.is_rectangle:
            return self.corners
        (top, left), (bottom, right) = self.corners
        return (top, left), (top, right), (bottom, right), (bottom, left)

    def moved(self, rows: float, columns: float) -> DrawnShape:
        """Return it elsewhere."""
        return replace(self, corners=tuple((row + rows, column + columns) for row, column in self.corners))


# From what is drawn to a region


def drawn_region(
    grid: RegionGrid, axes: Sequence[int], shape: DrawnShape, *, shortest: bool = False
) -> Region:
    """Return the region of what was drawn: by coordinates where these rise or fall, else by indices.

    Parameters
    ----------
    shortest
        Its sides go the shorter way around the Earth, as they are seen in a projection; else along the grid.
    """
    along = [grid.coordinates[axis] for axis in axes]
    if shape.is_rectangle:
        ends = zip(*shape.corners, strict=True)
        bounds = [_bounds(each, sorted(pair)) for each, pair in zip(along, ends, strict=True)]
        return Both(tuple(map(_turned_bounds, along, bounds)) if shortest else tuple(bounds))
    names = along[1].name, along[0].name
    if any(each.ascending is None or each.dates is not None for each in along):
        corners = tuple((round(column, 2), round(row, 2)) for row, column in shape.corners)
        return Polygon(corners, names, by_index=True)
    corners = tuple(
        (_rounded(along[1], value_at(along[1], column)), _rounded(along[0], value_at(along[0], row)))
        for row, column in shape.corners
    )
    is_map = along[0].role is AxisRole.LATITUDE and along[1].role is AxisRole.LONGITUDE
    if is_map and shortest:
        east = np.unwrap([x for x, _y in corners], period=360).tolist()
        corners = tuple((round(x, 6), y) for x, (_x, y) in zip(east, corners, strict=True))
    return Polygon(corners, () if is_map else names)


def _turned_bounds(coordinate: Coordinate, bounds: Bounds) -> Bounds:
    """Return bounds of longitudes that are less than half around the Earth apart."""
    low, high = bounds.low, bounds.high
    if coordinate.role is not AxisRole.LONGITUDE or bounds.by_index or low is None or high is None:
        return bounds
    return Bounds(bounds.name, high, low) if high - low > 180 else bounds


def _bounds(coordinate: Coordinate, ends: Sequence[float]) -> Bounds:
    if coordinate.ascending is None or coordinate.dates is not None:
        low, high = (max(0, min(coordinate.size, floor(end + 0.5))) for end in ends)
        return Bounds(coordinate.name, float(low), float(max(high, low + 1)), by_index=True)
    values = sorted(_rounded(coordinate, value_at(coordinate, end)) for end in ends)
    return Bounds(coordinate.name, values[0], values[1])


def replaced(region: Region, drawn: Region) -> Region:
    """Return a region with what was drawn in the place of its bounds and polygons; conditions stay."""
    parts = region.parts if isinstance(region, Both) else (region,)
    kept = tuple(part for part in parts if not isinstance(part, Bounds | Polygon))
    new = drawn.parts if isinstance(drawn, Both) else (drawn,)
    if not parts or len(kept) == len(parts) == 0:
        return drawn
    joined = (*new, *kept)
    return joined[0] if len(joined) == 1 else Both(joined)


def _rounded(coordinate: Coordinate, value: float) -> float:
    """Return a value with as many decimals as tell parts of a step apart."""
    decimals = -floor(log10(abs(coordinate.step) / _FINE)) if coordinate.step else 6
    return round(value, max(0, decimals))


# Positions and coordinates


def value_at(coordinate: Coordinate, position: float) -> float:
    """Return the coordinate at a position, also between elements and beyond the ends."""
    values = coordinate.values
    assert values is not None
    if len(values) == 1:
        return float(values[0])
    first = max(0, min(len(values) - 2, floor(position)))
    return float(values[first] + (position - first) * (values[first + 1] - values[first]))


def position_of(coordinate: Coordinate, value: float) -> float:
    """Return where a coordinate stands, also between elements and beyond the ends."""
    values = coordinate.values
    assert values is not None
    if len(values) == 1:
        return 0.0
    indices = np.arange(len(values), dtype=np.float64)
    if not coordinate.ascending:
        values, indices = values[::-1], indices[::-1]
    first = int(np.clip(np.searchsorted(values, value) - 1, 0, len(values) - 2))
    part = (value - values[first]) / (values[first + 1] - values[first])
    return float(indices[first] + part * (indices[first + 1] - indices[first]))


# From a region to what is drawn


def shape_of(region: Region, grid: RegionGrid, axes: Sequence[int]) -> DrawnShape | None:
    """Return what of a region can be dragged: one rectangle, or one polygon; None where there is neither."""
    parts = [region] if not isinstance(region, Both) else [*region.parts]
    polygons = [part for part in parts if isinstance(part, Polygon)]
    bounds = [part for part in parts if isinstance(part, Bounds)]
    try:
        if len(polygons) == 1 and not bounds:
            rings = [*_polygon_rings(polygons[0], grid, axes)]
            if len(rings) == 1:
                return DrawnShape(tuple(rings[0]), is_rectangle=False)
        elif len(bounds) == 2 and not polygons and {_axis(each, grid) for each in bounds} == set(axes):
            rings = [*_rectangle_rings(bounds, grid, axes)]
            if len(rings) == 1:
                return DrawnShape((rings[0][0], rings[0][2]), is_rectangle=True)
    except RefbrowserError:
        return None
    return None


def outlines_of(region: Region, grid: RegionGrid, axes: Sequence[int]) -> list[Floats]:
    """Return rings around a region, arrays of (row, column), with points along their sides.

    Across a seam of longitudes there are several. Conditions on values have none, nor have bounds of
    coordinates of single elements.
    """
    try:
        rings = [*_rings(region, grid, axes)]
    except RefbrowserError:
        return []
    return [_dense(ring) for ring in rings]


def _rings(region: Region, grid: RegionGrid, axes: Sequence[int]) -> Iterator[list[Corner]]:
    if isinstance(region, Both):
        bounds = [part for part in region.parts if isinstance(part, Bounds) and _axis(part, grid) in axes]
        if bounds:
            yield from _rectangle_rings(bounds, grid, axes)
        for part in region.parts:
            if not isinstance(part, Bounds):
                yield from _rings(part, grid, axes)
    elif isinstance(region, Either):
        for part in region.parts:
            yield from _rings(part, grid, axes)
    elif isinstance(region, Outside):
        yield from _rings(region.part, grid, axes)
    elif isinstance(region, Bounds):
        if _axis(region, grid) in axes:
            yield from _rectangle_rings([region], grid, axes)
    elif isinstance(region, Polygon):
        yield from _polygon_rings(region, grid, axes)


def _axis(bounds: Bounds, grid: RegionGrid) -> int | None:
    """Return the dimension of bounds; None of single elements."""
    found = grid.axis(bounds.name) if bounds.by_index else grid.place_of(bounds.name)
    return found if isinstance(found, int) else None


def _rectangle_rings(
    bounds: Sequence[Bounds], grid: RegionGrid, axes: Sequence[int]
) -> Iterator[list[Corner]]:
    spans = [[(-0.5, grid.shape[axis] - 0.5)] for axis in axes]
    for each in bounds:
        number = list(axes).index(_axis(each, grid) or 0)
        spans[number] = [
            (max(low, other[0]), min(high, other[1]))
            for low, high in spans[number]
            for other in _spans(each, grid.coordinates[axes[number]])
            if max(low, other[0]) < min(high, other[1])
        ]
    for top, bottom in spans[0]:
        for left, right in spans[1]:
            yield [(top, left), (top, right), (bottom, right), (bottom, left)]


def _spans(bounds: Bounds, coordinate: Coordinate) -> Iterator[tuple[float, float]]:
    """Yield from where to where bounds reach, as positions: several for longitudes."""
    size = coordinate.size
    if bounds.by_index:
        start, stop, _step = slice(
            None if bounds.low is None else int(bounds.low), None if bounds.high is None else int(bounds.high)
        ).indices(size)
        yield start - 0.5, stop - 0.5
        return
    if coordinate.ascending is None:
        return
    low, high = bounds.low, bounds.high
    if coordinate.role is AxisRole.LONGITUDE and low is not None and high is not None:
        if high - low >= TURN:
            yield -0.5, size - 0.5
            return
        reach = (high - low) % TURN
        for turn in _turns(coordinate, low, low + reach):
            yield _span(coordinate, low + turn, low + reach + turn)
        return
    yield _span(coordinate, low, high)


def _span(coordinate: Coordinate, low: float | None, high: float | None) -> tuple[float, float]:
    rises = bool(coordinate.ascending)
    ends = [-0.5, coordinate.size - 0.5] if rises else [coordinate.size - 0.5, -0.5]
    low_at = ends[0] if low is None else position_of(coordinate, low)
    high_at = ends[1] if high is None else position_of(coordinate, high)
    return min(low_at, high_at), max(low_at, high_at)


def _turns(coordinate: Coordinate, low: float, high: float) -> list[float]:
    """Return by how many degrees what lies between two longitudes has to be turned to be on the grid."""
    ends = sorted((value_at(coordinate, -0.5), value_at(coordinate, coordinate.size - 0.5)))
    first, last = floor((ends[0] - high) / TURN) + 1, floor((ends[1] - low) / TURN)
    near = [turn * TURN for turn in range(first, last + 1)]
    # A grid that has its last longitude twice.
    return [turn for turn in near if low + turn < ends[1] and high + turn > ends[0]]


def _polygon_rings(polygon: Polygon, grid: RegionGrid, axes: Sequence[int]) -> Iterator[list[Corner]]:
    across, upwards = grid.polygon_places(polygon)
    if not (isinstance(across, int) and isinstance(upwards, int)) or {across, upwards} != set(axes):
        return
    turned = across == axes[0]
    if polygon.by_index:
        yield [(x, y) if turned else (y, x) for x, y in polygon.corners]
        return
    one, other = grid.coordinates[across], grid.coordinates[upwards]
    if one.ascending is None or other.ascending is None:
        return
    ends = [x for x, _y in polygon.corners]
    turns = _turns(one, min(ends), max(ends)) if one.role is AxisRole.LONGITUDE else [0.0]
    for turn in turns:
        places = [(position_of(one, x + turn), position_of(other, y)) for x, y in polygon.corners]
        if one.role is AxisRole.LONGITUDE and len(turns) > 1:
            places = _clipped(places, -0.5, one.size - 0.5)
        if len(places) > 2:
            yield [(x, y) if turned else (y, x) for x, y in places]


def _clipped(ring: Sequence[Corner], low: float, high: float) -> list[Corner]:
    """Return the part of a ring between two positions across."""
    for edge, sign in ((low, 1.0), (high, -1.0)):
        kept: list[Corner] = []
        for one, other in pairwise([*ring, ring[0]] if ring else ()):
            inside, then = sign * (one[0] - edge) >= 0, sign * (other[0] - edge) >= 0
            if inside:
                kept.append(one)
            if inside != then:
                part = (edge - one[0]) / (other[0] - one[0])
                kept.append((edge, one[1] + part * (other[1] - one[1])))
        ring = kept
    return list(ring)


def _dense(ring: Sequence[Corner]) -> Floats:
    """Return a closed ring with points along its sides."""
    sides = [np.linspace(one, other, POINTS, endpoint=False) for one, other in pairwise([*ring, ring[0]])]
    return np.concatenate([*sides, [ring[0]]])


def first_shape(window: Sequence[range]) -> DrawnShape:
    """Return the rectangle to begin with: the middle of what is visible."""
    (top, bottom), (left, right) = (
        (part.start + len(part) * 0.3 - 0.5, part.start + len(part) * 0.7 - 0.5) for part in window
    )
    return DrawnShape(((round(top), round(left)), (round(bottom), round(right))), is_rectangle=True)
