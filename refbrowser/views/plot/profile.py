"""The values along a straight line across a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.model.chunk_axes import ChunkAxis
from refbrowser.views.numbers import value_text
from refbrowser.views.plot.coordinates import AxisRole, AxisScale, Coordinate, line_scale
from refbrowser.views.plot.interpretation import Interpretation, coordinate_text, coordinate_title
from refbrowser.views.plot.picture import STALE_NAME, ChunkState, Picture, have_values
from refbrowser.views.plot.series import element_text, known_texts, stale_title

#: The mean radius of the earth, in kilometres.
EARTH = 6371.0088
#: Values along one line; of a longer one every n-th cell is taken.
MOST = 8_192

#: An element: its indices along the axes of a picture, row and column.
Element = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """What stands along a line from one element to another, as far as the picture has come.

    Attributes
    ----------
    rows, columns
        Array indices of each value along the axes of the picture.
    places
        Where each value stands: a coordinate or index where the line runs along one dimension, else the
        distance from its beginning.
    scale
        That dimension; None for distances.
    label, units
        What the places are.
    raw
        The elements as they are stored.
    numbers
        What is drawn, NaN where there is no value.
    states
        `ChunkState` of the chunk of each value.
    stale
        Which values are of files that are not those of the lock.
    """

    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    places: npt.NDArray[np.float64]
    scale: AxisScale | None
    label: str
    units: str
    raw: npt.NDArray[Any]
    numbers: npt.NDArray[Any]
    states: npt.NDArray[np.uint8]
    stale: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rows)

    def count(self, state: ChunkState) -> int:
        """Return how many values are in chunks of a state."""
        return int(np.count_nonzero(self.states == state))

    @property
    def length(self) -> float:
        """The distance between the ends, in `units`; 0 where the line runs along one dimension."""
        return float(self.places[-1]) if self.scale is None and len(self) else 0.0

    def element(self, number: int) -> Element:
        """Return the indices of one value along the axes of the picture."""
        return int(self.rows[number]), int(self.columns[number])

    def nearest(self, place: float) -> int:
        """Return the number of the value that stands nearest to a place."""
        return int(np.argmin(np.abs(self.places - place)))


def profile_of(
    picture: Picture, shown: Interpretation, coordinates: Sequence[Coordinate], start: Element, stop: Element
) -> Profile:
    """Return the values of a picture nearest to a line between two elements; nothing is read."""
    rows, columns = elements_between(picture, start, stop)
    steps, ranges = picture.plan.steps, picture.plan.ranges
    at = ((rows - ranges[0].start) // steps[0], (columns - ranges[1].start) // steps[1])
    cells = [
        np.searchsorted(numbers, axis.find(indices))
        for numbers, indices, axis in zip(
            picture.chunk_numbers, (rows, columns), _dimensions(picture), strict=True
        )
    ]
    states, stale = picture.states[tuple(cells)], picture.stale_done[tuple(cells)]
    raw = picture.values[at]
    numbers = shown.numbers(raw).astype(np.float64)
    numbers[~have_values(states)] = np.nan
    y, x = (coordinates[axis] for axis in picture.plan.slice.axes)
    places, scale, label, units = _places(y, x, rows, columns)
    return Profile(rows, columns, places, scale, label, units, raw, numbers, states, stale)


def elements_between(
    picture: Picture, start: Element, stop: Element
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return rows and columns of the elements nearest to a line, one for each cell of its longer side.

    They are elements that the picture took; ends outside of it are drawn to its border.
    """
    first, last = held(picture, start), held(picture, stop)
    ends = [
        ((a - taken.start) // taken.step, (b - taken.start) // taken.step)
        for a, b, taken in zip(first, last, picture.plan.ranges, strict=True)
    ]
    count = min(MOST, max(abs(b - a) for a, b in ends) + 1)
    rows, columns = (
        taken.start + taken.step * np.rint(np.linspace(a, b, count)).astype(np.int64)
        for (a, b), taken in zip(ends, picture.plan.ranges, strict=True)
    )
    return rows, columns


def held(picture: Picture, element: Element) -> Element:
    """Return the element that the picture took nearest to one, however far outside that is."""
    row, column = (
        taken[max(0, min(len(taken) - 1, round((index - taken.start) / taken.step)))]
        for index, taken in zip(element, picture.plan.ranges, strict=True)
    )
    return row, column


def first_line(window: Sequence[range]) -> tuple[Element, Element]:
    """Return the ends of a line to begin with: across the middle of what is visible."""
    rows, columns = window
    row = rows[len(rows) // 2]
    return (row, columns[len(columns) // 6]), (row, columns[-1 - len(columns) // 6])


def place_text(coordinates: Sequence[Coordinate], axes: Sequence[int], element: Element) -> str:
    """Return where an element is, in short."""
    return element_text([coordinates[axis] for axis in axes], element)


def length_text(profile: Profile) -> str:
    """Return how long a line is: a distance with units, and its number of values."""
    values = f"{len(profile):,} value{'s' * (len(profile) != 1)}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    if profile.scale is not None or not profile.length:
        return values
    return f"{value_text(profile.length, 4)} {profile.units}, {values}"


def profile_rows(
    profile: Profile, shown: Interpretation, coordinates: Sequence[Coordinate], axes: Sequence[int], name: str
) -> Iterator[list[str]]:
    """Yield a line of titles, then the place, the two coordinates and the value of each element.

    What has no value, is missing or could not be read is empty. Where values are of stale files a last column
    marks them.
    """
    y, x = (coordinates[axis] for axis in axes)
    value = f"{name} [{shown.units}]" if shown.units else name
    distance = [] if profile.scale is not None else [f"{profile.label} [{profile.units}]"]
    file = [stale_title(name)] if profile.stale.any() else []
    yield [*distance, coordinate_title(y), coordinate_title(x), value, *file]
    texts = known_texts(shown, profile.raw, have_values(profile.states))
    for number, (row, column) in enumerate(zip(profile.rows.tolist(), profile.columns.tolist(), strict=True)):
        place = [] if profile.scale is not None else [value_text(float(profile.places[number]), 10)]
        where = coordinate_text(y, row), coordinate_text(x, column)
        mark = [STALE_NAME if profile.stale[number] else ""] if file else []
        yield [*place, *where, texts[number], *mark]


def _dimensions(picture: Picture) -> list[ChunkAxis]:
    dimensions = picture.node.grid.dimensions
    return [dimensions[axis] for axis in picture.plan.slice.axes]


def _places(
    y: Coordinate, x: Coordinate, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], AxisScale | None, str, str]:
    for coordinate, moving, still in ((x, columns, rows), (y, rows, columns)):
        if still[0] == still[-1]:
            scale = line_scale(coordinate)
            values = coordinate.values if scale.by_value else None
            places = moving.astype(np.float64) if values is None else values[moving]
            return places, scale, coordinate.axis_label, coordinate.units
    if {y.role, x.role} == {AxisRole.LATITUDE, AxisRole.LONGITUDE} and _known(y) and _known(x):
        north, east = (y, x) if y.role is AxisRole.LATITUDE else (x, y)
        at = (rows, columns) if north is y else (columns, rows)
        assert north.values is not None
        assert east.values is not None
        return _on_earth(north.values[at[0]], east.values[at[1]]), None, "distance", "km"
    if _known(y) and _known(x) and x.units == y.units and x.units and x.dates is None and y.dates is None:
        assert x.values is not None
        assert y.values is not None
        steps = np.hypot(np.diff(y.values[rows]), np.diff(x.values[columns]))
        return np.concatenate([[0.0], np.cumsum(steps)]), None, "distance", x.units
    # Along a line of cells each has the same part of it.
    whole = hypot(int(rows[-1] - rows[0]), int(columns[-1] - columns[0]))
    return np.linspace(0.0, whole, len(rows)), None, "distance", "cells"


def _known(coordinate: Coordinate) -> bool:
    return coordinate.values is not None and bool(np.isfinite(coordinate.values).all())


def _on_earth(
    latitudes: npt.NDArray[np.float64], longitudes: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the distance along a chain of places from the first, on great circles, in kilometres."""
    lat, lon = np.radians(latitudes), np.radians(longitudes)
    half = np.sin(np.diff(lat) / 2) ** 2 + np.cos(lat[:-1]) * np.cos(lat[1:]) * np.sin(np.diff(lon) / 2) ** 2
    steps = 2 * EARTH * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0)))
    return np.concatenate([[0.0], np.cumsum(steps)])
