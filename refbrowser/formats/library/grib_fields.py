"""What eccodes tells of one field of GRIB: what it is of, its grid, its values and the places of its points.

It imports nothing of ours: the process that reads GRIB loads it by its path.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import prod
from typing import Any, NamedTuple

import eccodes
import numpy as np

_MISSING = 9.0e36
#: What eccodes looks for in long tables.
_SOUGHT = ("shortName", "paramId", "name", "units", "cfName", "cfVarName")
_COPIED = (
    "shortName", "paramId", "typeOfLevel", "stepType", "gridType", "edition", "centre", "dataType",
    "packingType",
)  # fmt: skip
_UNNAMED = (None, "unknown", "undef")
#: What tells parameters apart that have no name, by edition.
_CODES = {
    1: ("table2Version", "indicatorOfParameter"),
    2: ("discipline", "parameterCategory", "parameterNumber"),
}
#: Templates of products that are one thing at a time, of one member, or over an interval (code table 4.0).
_PLAIN = (None, 0, 1, 8, 11)
#: What tells products of other templates apart.
_QUALIFIERS = (
    "derivedForecast", "probabilityType", "scaledValueOfLowerLimit", "scaledValueOfUpperLimit",
    "statisticalProcess", "constituentType", "scaledValueOfFirstSize", "scaledValueOfSecondSize",
    "scaledValueOfFirstWavelength", "scaledValueOfSecondWavelength", "satelliteNumber", "instrumentType",
    "scaledValueOfCentralWaveNumber",
)  # fmt: skip
#: What is asked where fields of one quantity have the same place, in this order.
_TELLING = (
    *_QUALIFIERS, "typeOfSecondFixedSurface", "bottomLevel", "typeOfEnsembleForecast", *_CODES[1], *_CODES[2],
    "productDefinitionTemplateNumber", "centre", "subCentre", "class", "stream", "type", "expver", "method",
    "system", "channel", "dataType", "productionStatusOfProcessedData", "typeOfGeneratingProcess",
    "generatingProcessIdentifier", "localDefinitionNumber",
)  # fmt: skip
#: Statistics (code table 4.10).
_STATISTICS = {0: "avg", 1: "accum", 2: "max", 3: "min", 4: "diff", 5: "rms", 6: "sd", 7: "cov", 9: "ratio"}
#: Grids whose rows have one latitude each and whose columns one longitude.
_REGULAR = ("regular_ll", "regular_gg", "mercator")
#: Grids whose points eccodes goes through from the south-west, whatever the order of their values.
_FROM_SOUTH_WEST = ("lambert", "mercator", "polar_stereographic")


class GribGrid(NamedTuple):
    """The points of a field, and the order in which their values stand.

    Attributes
    ----------
    kind
        As eccodes calls it.
    by_columns
        Whether points of one column follow each other.
    alternates
        Whether every second row runs the other way (flag table 3.4, bit 4).
    flips
        Whether rows and columns are gone through otherwise by who tells the places of the points.
    """

    mark: str
    shape: tuple[int, ...]
    kind: str
    by_columns: bool
    alternates: bool
    flips: tuple[bool, bool]

    @property
    def is_regular(self) -> bool:
        """Whether each row has one latitude, and each column one longitude."""
        return len(self.shape) == 2 and self.kind in _REGULAR

    @property
    def starts_south_west(self) -> bool:
        """Whether eccodes tells the places of points from there on, whatever the order of their values."""
        return len(self.shape) == 2 and self.kind in _FROM_SOUTH_WEST

    def placed(self, values: Any) -> Any:
        """Return the values of a field in rows, as they stand in their message, where it has any."""
        if len(values) != prod(self.shape):
            raise ValueError(f"it has {len(values)} values for {prod(self.shape)} points")
        if len(self.shape) < 2:
            return values
        rows = values.reshape(self.shape[::-1]).T if self.by_columns else values.reshape(self.shape)
        if self.alternates:
            rows[1::2] = rows[1::2, ::-1].copy()
        return rows

    def points(self, values: Any) -> Any:
        """Return the places of the points, as eccodes tells them, in the order of `placed`."""
        if len(self.shape) < 2:
            return values
        if not self.starts_south_west:
            # Rows that alternate are not known there.
            return self._replace(alternates=False).placed(values)
        rows, columns = (slice(None, None, -1 if each else None) for each in self.flips)
        return values.reshape(self.shape)[rows, columns]


#: Hours of a step at most, some ten thousand years; and units that are any (None where none is said).
_LONGEST_STEP, _UNITS = 100_000_000, (None, *range(8), *range(10, 15), 254)


class GribKnown(NamedTuple):
    """What eccodes tells of a field: what array it is of, and where in it; `unit` is that of its step.

    Attributes
    ----------
    kind
        Names and values of what tells products of one quantity apart, where that is not usual.
    """

    which: tuple[Any, ...]
    name: str
    said: dict[str, Any]
    kind: dict[str, Any]
    grid: GribGrid
    number: Any
    percentile: Any
    start: int | None
    step: float | None
    level: Any
    unit: Any


def known(handle: int, names: dict[Any, tuple[Any, ...]], named: Any) -> GribKnown:
    """Return what eccodes tells of a field.

    Parameters
    ----------
    names
        What is looked for in long tables, by what decides it: finding it takes longer than all else.
    named
        What decides it of this field.
    """
    if named not in names:
        names[named] = tuple(_get(handle, each) for each in _SOUGHT)
    sought = dict(zip(_SOUGHT, names[named], strict=True))
    copied = {name: sought[name] if name in sought else _get(handle, name) for name in _COPIED}
    said = {name: value for name, value in copied.items() if value is not None}
    for name in ("shortName", "typeOfLevel", "stepType"):
        said.setdefault(name, "unknown")
    said.setdefault("paramId", 0)
    for name, key in (("long_name", "name"), ("units", "units"), ("standard_name", "cfName")):
        if sought[key] not in _UNNAMED:
            said[name] = sought[key]
    code: tuple[Any, ...] = ()
    if not said["paramId"] or said["shortName"] in _UNNAMED:
        keys = _CODES.get(said.get("edition", 0), ())
        code = tuple(_get(handle, each) for each in keys)
        said |= {key: value for key, value in zip(keys, code, strict=True) if value is not None}
    grid = _grid(handle, said.get("gridType", "unknown"))
    start = _seconds(_get(handle, "dataDate"), _get(handle, "dataTime"))
    end = _end(handle)
    step = (end - start) / 3600 if start is not None and end is not None else None
    template = _get(handle, "productDefinitionTemplateNumber")
    kind, percentile = {}, None
    if template not in _PLAIN:
        kind = _present(handle, _QUALIFIERS)
        percentile = _get(handle, "percentileValue")
        said |= kind
    which = (
        said["shortName"], said["typeOfLevel"], said["stepType"], said["paramId"], code,
        tuple(kind.items()), grid,
    )  # fmt: skip
    return GribKnown(
        which,
        _name(said, sought["cfVarName"], code),
        said,
        kind,
        grid,
        _get(handle, "number"),
        percentile,
        start,
        step,
        _level(handle),
        _get(handle, "indicatorOfUnitOfTimeRange"),
    )


def telling(handle: int) -> dict[str, Any]:
    """Return what may tell a field apart from others of its quantity, time and level."""
    first, last = _get(handle, "startStep"), _get(handle, "endStep")
    found = {} if first is None or last is None else {"interval": last - first}
    return found | _present(handle, _TELLING)


def label(key: str, value: Any) -> str:
    """Return what is added to the name of an array for what `telling` says of it; empty for nothing."""
    if value is None:
        return ""
    if key == "statisticalProcess":
        return _STATISTICS.get(value, f"{key}{value}")
    text = f"{key}{value}"
    return "".join(each if each.isalnum() else "_" for each in text)


def decoded(message: bytes, grid: GribGrid) -> Any:
    """Return the values of a field, in rows where it has any; NaN where there is none."""
    handle = eccodes.codes_new_from_message(message)
    try:
        eccodes.codes_set(handle, "missingValue", _MISSING)
        values = eccodes.codes_get_array(handle, "values").astype(np.float64, copy=False)
    finally:
        eccodes.codes_release(handle)
    values[values == _MISSING] = np.nan
    return grid.placed(values)


def points(message: bytes, grid: GribGrid, name: str) -> Any:
    """Return the latitudes or longitudes of the points of a grid, as `decoded` returns values."""
    handle = eccodes.codes_new_from_message(message)
    try:
        values = eccodes.codes_get_array(handle, f"{name}s")
    finally:
        eccodes.codes_release(handle)
    if len(values) != prod(grid.shape):
        raise ValueError(f"there are {len(values)} places for {prod(grid.shape)} points")
    return grid.points(values)


def _end(handle: int) -> int | None:
    """Return when a field is valid; None where its step is no time, or longer than any forecast."""
    step = _get(handle, "endStep")
    is_long = isinstance(step, int) and abs(step) > _LONGEST_STEP
    if is_long or _get(handle, "indicatorOfUnitOfTimeRange") not in _UNITS:
        # eccodes would count the days one by one.
        return None
    return _seconds(_get(handle, "validityDate"), _get(handle, "validityTime"))


def _get(handle: int, name: str) -> Any:
    """Return what a key says; None where it is not there."""
    try:
        return eccodes.codes_get(handle, name)
    except eccodes.CodesInternalError:
        return None


def _present(handle: int, keys: tuple[str, ...]) -> dict[str, Any]:
    found = {key: _get(handle, key) for key in keys if eccodes.codes_is_defined(handle, key)}
    return {key: value for key, value in found.items() if value is not None}


def _name(said: dict[str, Any], called: Any, code: tuple[Any, ...]) -> str:
    """Return the name of an array: that of CF, or short, or the code of what has none."""
    name = called if called not in _UNNAMED else said["shortName"]
    if name not in _UNNAMED and str(name).isidentifier():
        return str(name)
    return "_".join(["var", *map(str, code)]) if code else f"param{said['paramId']}"


def _level(handle: int) -> Any:
    """Return the level, with its fraction where it has one."""
    try:
        level = eccodes.codes_get(handle, "level", float)
    except eccodes.CodesInternalError:
        return _get(handle, "level")
    return int(level) if level == int(level) else level


def _grid(handle: int, kind: str) -> GribGrid:
    if _get(handle, "gridDescriptionSectionPresent") == 0:
        # It is described elsewhere, by its number: at a pole one value may stand for a row.
        points = eccodes.codes_get_size(handle, "values")
    else:
        points = int(eccodes.codes_get(handle, "numberOfDataPoints"))
    if points < 1:
        raise ValueError("its grid has no points")
    rows, columns = _get(handle, "Nj"), _get(handle, "Ni")
    is_grid = all(isinstance(each, int) and 0 < each < 2**31 for each in (rows, columns))
    shape = (rows, columns) if is_grid and rows * columns == points else (points,)
    has_rows = len(shape) > 1

    def says(key: str) -> bool:
        return has_rows and bool(_get(handle, key))

    flips = False, False
    if kind in _FROM_SOUTH_WEST:
        flips = not says("jScansPositively"), says("iScansNegatively")
    mark = _get(handle, "md5GridSection") or ""
    return GribGrid(mark, shape, kind, says("jPointsAreConsecutive"), says("alternativeRowScanning"), flips)


def _seconds(date: Any, time: Any) -> int | None:
    """Return seconds since 1970 of a date as 20200131 and a time as 1830; None where it is none."""
    try:
        day = datetime.strptime(f"{int(date):08d}", "%Y%m%d").replace(tzinfo=UTC)
        return int(day.timestamp()) + int(time) // 100 * 3600 + int(time) % 100 * 60
    except (TypeError, ValueError, OverflowError):
        return None
