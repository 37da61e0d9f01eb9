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
from refbrowser.views.plot.profile_path import MOST, ProfilePath, distances, path_through
from refbrowser.views.plot.series import element_text, known_texts, stale_title

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


def profile_through(
    picture: Picture,
    shown: Interpretation,
    coordinates: Sequence[Coordinate],
    corners: Sequence[Element],
    *,
    great_circle: bool = False,
) -> Profile:
    """Return the values of a picture along a way through corners; nothing is read."""
    y, x = (coordinates[axis] for axis in picture.plan.slice.axes)
    path = path_through(y, x, corners, picture.plan.ranges, great_circle=great_circle)
    cells = [
        np.searchsorted(numbers, axis.find(indices))
        for numbers, indices, axis in zip(
            picture.chunk_numbers, (path.rows, path.columns), _dimensions(picture), strict=True
        )
    ]
    steps, ranges = picture.plan.steps, picture.plan.ranges
    at = ((path.rows - ranges[0].start) // steps[0], (path.columns - ranges[1].start) // steps[1])
    states, stale = picture.states[tuple(cells)], picture.stale_done[tuple(cells)]
    return _of_path(path, picture.values[at], shown, states, stale)


def read_profile(path: ProfilePath, raw: npt.NDArray[Any], shown: Interpretation) -> Profile:
    """Return a profile of stored elements that were read along a way."""
    states = np.full(len(raw), ChunkState.DONE, np.uint8)
    return _of_path(path, raw, shown, states, np.zeros(len(raw), bool))


def _of_path(
    path: ProfilePath,
    raw: npt.NDArray[Any],
    shown: Interpretation,
    states: npt.NDArray[np.uint8],
    stale: npt.NDArray[np.bool_],
) -> Profile:
    numbers = shown.numbers(raw).astype(np.float64)
    numbers[~have_values(states)] = np.nan
    return Profile(
        path.rows, path.columns, path.places, None, "distance", path.units, raw, numbers, states, stale
    )


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
    return f"{value_text(profile.length, max(4, len(f'{profile.length:.0f}')))} {profile.units}, {values}"


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
        return distances(north.values[at[0]], east.values[at[1]]), None, "distance", "km"
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
