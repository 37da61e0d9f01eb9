"""The way of a profile: through several corners, straight on the picture or on great circles of the Earth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from refbrowser.views.longitudes import wrap_longitudes
from refbrowser.views.plot.coordinates import AxisRole, Coordinate

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: The mean radius of the earth, in kilometres.
EARTH = 6371.0088
#: Elements along one way; of a longer one every n-th is taken.
MOST = 8_192
#: Points of a way for each element that it passes, before those on the same element are joined.
_FINE = 3


@dataclass(frozen=True, slots=True, eq=False)
class ProfilePath:
    """The elements nearest to a way, one after the other.

    Attributes
    ----------
    rows, columns
        Indices of each along the axes of the slice.
    places
        How far each is from the beginning, along the way.
    units
        Of the distances: ``km`` on the Earth, those of both axes, or ``cells``.
    """

    rows: Ints
    columns: Ints
    places: Floats
    units: str


def is_on_earth(y: Coordinate, x: Coordinate) -> bool:
    """Whether the axes of a slice are latitude and longitude, which rise or fall."""
    roles = {y.role, x.role} == {AxisRole.LATITUDE, AxisRole.LONGITUDE}
    return roles and y.ascending is not None and x.ascending is not None


def path_through(
    y: Coordinate,
    x: Coordinate,
    corners: Sequence[tuple[float, float]],
    ranges: Sequence[range],
    *,
    great_circle: bool = False,
) -> ProfilePath:
    """Return the elements along a way through corners, positions of rows and columns.

    Parameters
    ----------
    ranges
        The rows and columns that may be taken: a picture can have every n-th alone.
    great_circle
        Go from corner to corner as the Earth is round; of axes of latitude and longitude only.
    """
    if great_circle and is_on_earth(y, x):
        return _great_circles(y, x, corners, ranges)
    rows, columns = _straight(corners, ranges)
    if is_on_earth(y, x):
        north, east = (y, x) if y.role is AxisRole.LATITUDE else (x, y)
        along = (rows, columns) if north is y else (columns, rows)
        places, units = distances(_values(north, along[0]), _values(east, along[1])), "km"
    elif y.units and y.units == x.units and y.ascending is not None and x.ascending is not None:
        steps = np.hypot(np.diff(_values(y, rows)), np.diff(_values(x, columns)))
        places, units = np.concatenate([[0.0], np.cumsum(steps)]), y.units
    else:
        steps = np.hypot(np.diff(rows), np.diff(columns))
        places, units = np.concatenate([[0.0], np.cumsum(steps)]), "cells"
    return _on_elements(rows, columns, places, ranges, units)


def distances(latitudes: Floats, longitudes: Floats) -> Floats:
    """Return the distance along a chain of places from the first, on great circles, in kilometres."""
    lat, lon = np.radians(latitudes), np.radians(longitudes)
    half = np.sin(np.diff(lat) / 2) ** 2 + np.cos(lat[:-1]) * np.cos(lat[1:]) * np.sin(np.diff(lon) / 2) ** 2
    steps = 2 * EARTH * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0)))
    return np.concatenate([[0.0], np.cumsum(steps)])


def _count(start: Sequence[float], stop: Sequence[float], ranges: Sequence[range], parts: int) -> int:
    """Return how many points a side has."""
    cells = max(
        abs(after - before) / taken.step for before, after, taken in zip(start, stop, ranges, strict=True)
    )
    return int(min(MOST * 2 // max(parts, 1), cells * _FINE)) + 2


def _straight(corners: Sequence[tuple[float, float]], ranges: Sequence[range]) -> tuple[Floats, Floats]:
    sides = [
        np.linspace(start, stop, _count(start, stop, ranges, len(corners)))
        for start, stop in pairwise(corners)
    ]
    points = np.concatenate(sides)
    return points[:, 0], points[:, 1]


def _great_circles(
    y: Coordinate, x: Coordinate, corners: Sequence[tuple[float, float]], ranges: Sequence[range]
) -> ProfilePath:
    north, east = (y, x) if y.role is AxisRole.LATITUDE else (x, y)
    is_upright = north is y
    latitudes, longitudes = [], []
    for start, stop in pairwise(corners):
        one, other = (corner if is_upright else (corner[1], corner[0]) for corner in (start, stop))
        lat = _values(north, np.array([one[0], other[0]], np.float64))
        lon = _values(east, np.array([one[1], other[1]], np.float64))
        sizes = [ranges[0], ranges[1]] if is_upright else [ranges[1], ranges[0]]
        # Near a pole a circle passes all longitudes.
        count = max(_count(one, other, sizes, len(corners)), sizes[1].stop // sizes[1].step)
        part = _circle(lat, lon, min(count, MOST * 2 // len(corners)))
        latitudes.append(part[0])
        longitudes.append(part[1])
    lat, lon = np.concatenate(latitudes), np.concatenate(longitudes)
    places = distances(lat, lon)
    up, across = _positions(north, lat), _positions(east, lon)
    rows, columns = (up, across) if is_upright else (across, up)
    return _on_elements(rows, columns, places, ranges, "km")


def _circle(lat: Floats, lon: Floats, count: int) -> tuple[Floats, Floats]:
    """Return points on the great circle between two places, in equal steps; degrees."""
    phi, lam = np.radians(lat), np.radians(lon)
    ends = np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=1)
    angle = float(np.arccos(np.clip(ends[0] @ ends[1], -1, 1)))
    parts = np.linspace(0, 1, count)[:, np.newaxis]
    if np.sin(angle) < 1e-9:
        # The same place; or its antipode, to which all ways are as long.
        points = ends[0] * (1 - parts) + ends[1] * parts
    else:
        points = (np.sin((1 - parts) * angle) * ends[0] + np.sin(parts * angle) * ends[1]) / np.sin(angle)
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)
    return np.degrees(np.arcsin(np.clip(points[:, 2], -1, 1))), np.degrees(
        np.arctan2(points[:, 1], points[:, 0])
    )


def _values(coordinate: Coordinate, positions: Floats) -> Floats:
    """Return coordinates at positions, also between elements."""
    values = coordinate.values
    assert values is not None
    return np.asarray(np.interp(positions, np.arange(len(values)), values))


def _positions(coordinate: Coordinate, values: Floats) -> Floats:
    """Return positions of coordinates, NaN beyond the grid; longitudes go round."""
    known = coordinate.values
    assert known is not None
    indices = np.arange(len(known), dtype=np.float64)
    if not coordinate.ascending:
        known, indices = known[::-1], indices[::-1]
    half = (known[-1] - known[0]) / max(len(known) - 1, 1) / 2
    if coordinate.role is AxisRole.LONGITUDE:
        values = wrap_longitudes(values, float(known[0] - half))
    beyond = (values < known[0] - half) | (values > known[-1] + half)
    return np.where(beyond, np.nan, np.interp(values, known, indices))


def _on_elements(
    rows: Floats, columns: Floats, places: Floats, ranges: Sequence[range], units: str
) -> ProfilePath:
    """Return the elements nearest to points; of points on the same one only the first."""
    inside = np.isfinite(rows) & np.isfinite(columns)
    rows, columns, places = rows[inside], columns[inside], places[inside]
    taken = [
        part.start + part.step * np.clip(np.rint((each - part.start) / part.step), 0, len(part) - 1)
        for each, part in zip((rows, columns), ranges, strict=True)
    ]
    down, across = (each.astype(np.int64) for each in taken)
    new = np.ones(len(down), bool)
    new[1:] = (np.diff(down) != 0) | (np.diff(across) != 0)
    if len(new):
        # The end is told to be where it is.
        last = int(np.flatnonzero(new)[-1])
        places = places.copy()
        places[last] = places[-1] if last else places[last]
    chosen = np.flatnonzero(new)
    chosen = chosen[:: max(1, -(-len(chosen) // MOST))]
    return ProfilePath(down[chosen], across[chosen], places[chosen], units)
