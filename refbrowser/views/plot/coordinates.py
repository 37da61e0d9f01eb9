"""The coordinate of one dimension: role, values, units, text of an index, and ticks for an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.views.numbers import (
    DateScale,
    DurationScale,
    degrees_text,
    nice_numbers,
    resolved_text,
    stepped_text,
    value_text,
)


class AxisRole(StrEnum):
    """What a dimension's coordinate is."""

    LATITUDE = "latitude"
    LONGITUDE = "longitude"
    NORTH = "projected y"
    EAST = "projected x"
    DOWN = "depth or pressure"
    UP = "height"
    TIME = "time"
    #: Numbers of an image's rows, or where these lie: the first is at the top.
    ROWS = "rows of an image"
    OTHER = "other"
    NONE = "no coordinate"

    @property
    def runs_east(self) -> bool:
        """Whether it belongs on the x axis of a map."""
        return self in (AxisRole.LONGITUDE, AxisRole.EAST)

    @property
    def runs_north(self) -> bool:
        """Whether it belongs on the y axis of a map, greater values above."""
        return self in (AxisRole.LATITUDE, AxisRole.NORTH)


_LATITUDE_UNITS = {
    f"degree{s}{mark}{n}" for s in ("", "s") for mark in ("_", " ", "") for n in ("north", "N")
}
_LONGITUDE_UNITS = {
    f"degree{s}{mark}{e}" for s in ("", "s") for mark in ("_", " ", "") for e in ("east", "E")
}
_PRESSURE_UNITS = {"bar", "millibar", "millibars", "mbar", "mb", "decibar", "dbar", "Pa", "hPa", "kPa"}
_STANDARD_NAMES = {
    "latitude": AxisRole.LATITUDE,
    "grid_latitude": AxisRole.NORTH,
    "projection_y_coordinate": AxisRole.NORTH,
    "projection_y_angular_coordinate": AxisRole.NORTH,
    "longitude": AxisRole.LONGITUDE,
    "grid_longitude": AxisRole.EAST,
    "projection_x_coordinate": AxisRole.EAST,
    "projection_x_angular_coordinate": AxisRole.EAST,
    "time": AxisRole.TIME,
    "depth": AxisRole.DOWN,
    "air_pressure": AxisRole.DOWN,
    "altitude": AxisRole.UP,
    "height": AxisRole.UP,
}


def role_of(name: str, attributes: Mapping[str, Any]) -> AxisRole:
    """Return the role of a coordinate by units, standard name, `positive` and `axis`, then its name."""
    units = _text(attributes, "units")
    if units in _LATITUDE_UNITS:
        return AxisRole.LATITUDE
    if units in _LONGITUDE_UNITS:
        return AxisRole.LONGITUDE
    standard = _text(attributes, "standard_name")
    if standard in _STANDARD_NAMES:
        return _STANDARD_NAMES[standard]
    if " since " in units:
        return AxisRole.TIME
    if _text(attributes, "positive").lower() == "down" or units in _PRESSURE_UNITS:
        return AxisRole.DOWN
    if _text(attributes, "positive").lower() == "up":
        return AxisRole.UP
    axis = _text(attributes, "axis").upper()
    by_axis = {"X": AxisRole.EAST, "Y": AxisRole.NORTH, "T": AxisRole.TIME}
    if axis in by_axis:
        return by_axis[axis]
    by_name = {"lat": AxisRole.LATITUDE, "latitude": AxisRole.LATITUDE}
    by_name |= {"lon": AxisRole.LONGITUDE, "longitude": AxisRole.LONGITUDE}
    return by_name.get(name.lower(), AxisRole.OTHER)


def _text(attributes: Mapping[str, Any], name: str) -> str:
    value = attributes.get(name)
    return value.strip() if isinstance(value, str) else ""


#: Coordinates longer than this are not read: the axis shows indices.
LONGEST_COORDINATE = 1 << 22
#: Steps that differ from their mean by no more than this part give round ticks between the cells.
EVEN_ENOUGH = 0.3
#: A map that is longer than this many times its width is too thin a strip to be seen as one.
_MAP_RATIO = 5


@dataclass(frozen=True, eq=False)
class Coordinate:
    """What the indices of one dimension stand for; without values they stand for themselves.

    Attributes
    ----------
    name
        Of the dimension.
    size
        Of the dimension.
    values
        One number per index (float64), or None.
    texts
        One text per index for a coordinate of strings, else None.
    units
        As the attribute has them; empty for dates.
    label
        For the axis: long name or name.
    dates
        How numbers become dates, for a time coordinate.
    durations
        In which unit numbers are shown that are durations; None for `units`.
    named
        Values that have names, with these; no others are marked on an axis.
    """

    name: str
    size: int
    role: AxisRole = AxisRole.NONE
    values: npt.NDArray[np.float64] | None = None
    texts: Sequence[str] | None = None
    units: str = ""
    label: str = ""
    dates: DateScale | None = None
    durations: DurationScale | None = None
    named: Sequence[tuple[float, str]] = ()

    @cached_property
    def ascending(self) -> bool | None:
        """True or False where the values rise or fall throughout, None where they do neither."""
        if self.values is None or len(self.values) == 0 or not np.isfinite(self.values).all():
            return None
        steps = np.diff(self.values)
        if (steps > 0).all():
            return True
        return False if (steps < 0).all() else None

    @cached_property
    def even(self) -> bool:
        """Whether the steps are so alike that round ticks between the cells are not misleading."""
        if self.ascending is None or self.values is None:
            return False
        steps = np.diff(self.values)
        return len(steps) == 0 or bool(np.abs(steps - steps.mean()).max() <= EVEN_ENOUGH * abs(steps.mean()))

    @cached_property
    def tells_cells_apart(self) -> bool:
        """Whether there is more than one value, so that naming cells by them says something."""
        if self.values is None:
            return False
        known = self.values[np.isfinite(self.values)]
        return len(known) > 0 and (self.size < 2 or bool((known != known[0]).any()))

    @cached_property
    def step(self) -> float:
        """A number that tells neighbouring values apart, for the decimals of their text."""
        if self.values is None:
            return 1.0
        finite = self.values[np.isfinite(self.values)]
        steps = np.abs(np.diff(finite))
        steps = steps[steps > 0]
        return float(steps.min()) if len(steps) else (float(abs(finite[0])) if len(finite) else 1.0) or 1.0

    @property
    def axis_label(self) -> str:
        """The label of an axis: name and units; of one whose ticks are indices it says that."""
        label = self.label or self.name
        if self.texts is None and not self.tells_cells_apart:
            return f"{label} index"
        bare = self.dates is not None or self.role in (AxisRole.LATITUDE, AxisRole.LONGITUDE)
        if self.dates is not None and self.dates.note:
            return f"{label} [{self.dates.note}]"
        if self.durations is not None:
            return f"{label} [{self.durations.unit}]"
        return label if bare or not self.units else f"{label} [{self.units}]"

    def text(self, index: int) -> str:
        """Return what `index` stands for, with units; empty without a coordinate."""
        if not 0 <= index < self.size:
            return ""
        if self.texts is not None:
            return self.texts[index]
        return "" if self.values is None else self.value_text(float(self.values[index]))

    def value_text(self, value: float) -> str:
        """Return one value of the coordinate with its units."""
        if not np.isfinite(value):
            return "no value"
        if self.dates is not None:
            return self.dates.text(value) or value_text(value)
        if self.durations is not None:
            return self.durations.text(value)
        if self.role is AxisRole.LATITUDE:
            return degrees_text(value, None, "N", "S")
        if self.role is AxisRole.LONGITUDE:
            return degrees_text(value, None, "E", "W")
        number = resolved_text(value, self.step)
        return f"{number} {self.units}" if self.units and self.units != "1" else number

    def nearest(self, value: float) -> int:
        """Return the index whose value is nearest to `value`; without values the number itself."""
        if self.values is None:
            return max(0, min(self.size - 1, round(value)))
        values = self.values
        if self.ascending is None:
            return int(np.nanargmin(np.abs(values - value))) if np.isfinite(values).any() else 0
        after = int(np.searchsorted(values if self.ascending else values[::-1], value))
        after = after if self.ascending else len(values) - after
        around = [index for index in (after - 1, after) if 0 <= index < len(values)]
        return min(around, key=lambda index: abs(values[index] - value))

    def index_ticks(self, low: float, high: float, count: int) -> list[tuple[float, str]]:
        """Return ticks of an axis whose positions are indices: (position, text)."""
        if self.texts is None and not self.tells_cells_apart:
            numbers, _step = nice_numbers(low, high, count)
            return [(n, value_text(int(n))) for n in numbers if n == int(n) and 0 <= n < self.size]
        if self.even and self.values is not None and self.size > 1:
            return self._even_ticks(low, high, count)
        return self._cell_ticks(low, high, count)

    def value_ticks(self, low: float, high: float, count: int) -> list[tuple[float, str]]:
        """Return ticks of an axis whose positions are values: (position, text)."""
        if self.dates is not None:
            return self.dates.ticks(low, high, count)
        if self.durations is not None:
            return self.durations.ticks(low, high, count)
        if self.named:
            inside = [(value, text) for value, text in self.named if low <= value <= high]
            return inside[:: max(1, -(-len(inside) // count))]
        degrees = self.role in (AxisRole.LATITUDE, AxisRole.LONGITUDE)
        numbers, step = nice_numbers(low, high, count, degrees)
        return [(number, self._tick_text(number, step, max(abs(low), abs(high)))) for number in numbers]

    def _tick_text(self, value: float, step: float, greatest: float) -> str:
        if self.role is AxisRole.LATITUDE:
            return degrees_text(value, step, "N", "S")
        if self.role is AxisRole.LONGITUDE:
            return degrees_text(value, step, "E", "W")
        return stepped_text(value, step, greatest)

    def _even_ticks(self, low: float, high: float, count: int) -> list[tuple[float, str]]:
        values = self.values
        assert values is not None
        indices = np.arange(self.size, dtype=np.float64)
        # Half a cell beyond the first and last centres belongs to the picture too.
        low, high = max(low, -0.5), min(high, self.size - 0.5)
        ends = [self._extrapolated(low), self._extrapolated(high)]
        ticks = self.value_ticks(min(ends), max(ends), count)
        if not self.ascending:
            indices, values = indices[::-1], values[::-1]
        return [(self._position(number, indices, values), text) for number, text in ticks]

    def _extrapolated(self, index: float) -> float:
        assert self.values is not None
        inside = int(np.clip(np.floor(index), 0, self.size - 2))
        below, above = self.values[inside], self.values[inside + 1]
        return float(below + (index - inside) * (above - below))

    @staticmethod
    def _position(number: float, indices: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> float:
        row = int(np.clip(np.searchsorted(values, number) - 1, 0, len(values) - 2))
        part = (number - values[row]) / (values[row + 1] - values[row])
        return float(indices[row] + part * (indices[row + 1] - indices[row]))

    def _cell_text(self, value: float) -> str:
        return value_text(value if self.durations is None else value / self.durations.size, 6)

    def _cell_ticks(self, low: float, high: float, count: int) -> list[tuple[float, str]]:
        numbers, _step = nice_numbers(max(low, 0), min(high, self.size - 1), count)
        cells = [int(number) for number in numbers if number == int(number) and 0 <= number < self.size]
        if self.texts is not None:
            return [(cell, self.texts[cell]) for cell in cells]
        assert self.values is not None
        if self.dates is not None:
            return [(cell, self.dates.text(float(self.values[cell]))) for cell in cells]
        degrees = {AxisRole.LATITUDE: ("N", "S"), AxisRole.LONGITUDE: ("E", "W")}.get(self.role)
        found: list[tuple[float, str]] = []
        for cell in cells:
            value = float(self.values[cell])
            if not np.isfinite(value):
                found.append((cell, "no value"))
                continue
            found.append(
                (cell, degrees_text(value, self.step, *degrees) if degrees else self._cell_text(value))
            )
        return found


@dataclass(frozen=True, slots=True)
class AxisScale:
    """How one axis of a plot stands for a dimension.

    Positions are indices (cells of an image) or, with `by_value`, coordinate values (points of a line).
    `grows` tells whether latitude or longitude, where it depends on more than this dimension, grows with the
    index; None where that is not known.
    """

    coordinate: Coordinate
    by_value: bool = False
    grows: bool | None = None

    def ticks(self, low: float, high: float, count: int) -> list[tuple[float, str]]:
        """Return about `count` ticks between two positions as (position, text)."""
        if low > high:
            low, high = high, low
        if self.by_value:
            return self.coordinate.value_ticks(low, high, count)
        return self.coordinate.index_ticks(low, high, count)

    def positions(self, indices: range) -> npt.NDArray[np.float64]:
        """Return where the points of `indices` are on the axis."""
        if self.by_value and self.coordinate.values is not None:
            return self.coordinate.values[indices.start : indices.stop : indices.step]
        return np.arange(indices.start, indices.stop, indices.step, dtype=np.float64)

    def indices(self, span: tuple[float, float]) -> range:
        """Return the indices whose cells or points are between two positions, in part at least."""
        size = self.coordinate.size
        if self.by_value:
            ends = sorted(self.coordinate.nearest(value) for value in span)
            return range(max(0, ends[0] - 1), min(size, ends[1] + 2))
        low, high = sorted(span)
        return range(max(0, int(np.floor(low + 0.5))), min(size, int(np.ceil(high + 0.5))))

    def index_at(self, position: float) -> int | None:
        """Return the index whose cell or point is at `position`, or None outside."""
        if not self.by_value:
            index = int(np.floor(position + 0.5))
            return index if 0 <= index < self.coordinate.size else None
        return self.coordinate.nearest(position)

    @property
    def is_upright(self) -> bool:
        """Whether lines over it are drawn upright, as profiles of the atmosphere and the ocean are."""
        return self.by_value and self.coordinate.role in (AxisRole.DOWN, AxisRole.UP)

    def runs_backwards(self, vertical: bool) -> bool:
        """Whether the axis is drawn reversed: north is up, east is right, depth grows downwards.

        Rows without a coordinate begin at the top, as a matrix is written.
        """
        ascending = self.coordinate.ascending
        if self.by_value:
            return vertical and self.coordinate.role is AxisRole.DOWN
        if ascending is None:
            return vertical if self.grows is None else not self.grows
        downwards = vertical and self.coordinate.role in (AxisRole.DOWN, AxisRole.ROWS)
        return ascending == downwards


def line_scale(coordinate: Coordinate) -> AxisScale:
    """Return the axis of a line: by value where the coordinate rises or falls throughout, else by index."""
    return AxisScale(coordinate, by_value=coordinate.ascending is not None)


def cell_aspect(across: Coordinate, upwards: Coordinate) -> float:
    """Return how many times as wide as high a cell is: 1 where the steps of both cannot be compared."""
    maps = {AxisRole.LATITUDE, AxisRole.LONGITUDE}
    if {across.role, upwards.role} != maps and (not across.units or across.units != upwards.units):
        return 1.0
    if not (across.even and upwards.even and across.size > 1 and upwards.size > 1):
        return 1.0
    wide, high = (_mean_step(coordinate) for coordinate in (across, upwards))
    ratio = wide / high if high else 1.0
    return ratio if 1e-3 < ratio < 1e3 else 1.0


def are_on_map(across: Coordinate, upwards: Coordinate) -> bool:
    """Whether these are the axes of a map, which looks wrong in other proportions than its own."""
    if not (across.role.runs_east and upwards.role.runs_north and across.even and upwards.even):
        return False
    return is_no_strip(across, upwards)


def is_no_strip(across: Coordinate, upwards: Coordinate) -> bool:
    """Whether an image over these, in its own proportions, is not too thin to be seen as one."""
    ratio = cell_aspect(across, upwards) * across.size / max(1, upwards.size)
    return min(across.size, upwards.size) > 1 and 1 / _MAP_RATIO <= ratio <= _MAP_RATIO


def _mean_step(coordinate: Coordinate) -> float:
    assert coordinate.values is not None
    return abs(float(coordinate.values[-1] - coordinate.values[0])) / (coordinate.size - 1)


def plain_coordinate(name: str, size: int) -> Coordinate:
    """Return the coordinate of a dimension that has none: its index."""
    return Coordinate(name=name, size=size, label=name)


def attribute_text(attributes: Any, name: str) -> str:
    """Return a text attribute, empty where there is none or it is no text."""
    value = attributes.get(name)
    return value.strip() if isinstance(value, str) else ""
