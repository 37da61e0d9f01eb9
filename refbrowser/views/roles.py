"""What a coordinate means for a plot, from its name and attributes as the CF conventions use them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class AxisRole(StrEnum):
    """What a dimension's coordinate is."""

    LATITUDE = "latitude"
    LONGITUDE = "longitude"
    NORTH = "projected y"
    EAST = "projected x"
    DOWN = "depth or pressure"
    TIME = "time"
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
