"""Indexes of GRIB files as wgrib2 and ECMWF write them, made by eccodes of messages of edition 2."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

eccodes = pytest.importorskip("eccodes")

#: Surfaces (code table 4.5) as wgrib2 says them, with what their numbers are divided by.
_SURFACES = {1: ("surface", 0), 100: ("mb", 100), 101: ("mean sea level", 0), 103: ("m above ground", 1)}
_SURFACES |= {104: ("sigma level", 1), 105: ("hybrid level", 1), 106: ("m below ground", 1)}
_SURFACES |= {108: ("mb above ground", 100), 241: ("in sequence", 1), 10: ("entire atmosphere", 0)}
_STATISTICS = {0: "ave", 1: "acc", 2: "max", 3: "min", 4: "last-first"}
_UNITS = {0: "min", 1: "hour", 2: "day"}


def wgrib2_lines(path: Path) -> list[str]:
    """Return the inventory of a file."""
    lines = []
    fields = groupby(_fields(path), key=lambda each: each[0])
    for number, (offset, group) in enumerate(fields, 1):
        told = [each for _, each in group]
        for part, each in enumerate(told, 1):
            name = f"{number}.{part}" if len(told) > 1 else str(number)
            lines.append(f"{name}:{offset}:{each}:")
    return lines


def mars_lines(path: Path) -> list[str]:
    """Return an index with the keys of MARS."""
    lines = []
    for handle in _handles(path):
        keys = eccodes.codes_keys_iterator_new(handle, "mars")
        found: dict[str, Any] = {}
        while eccodes.codes_keys_iterator_next(keys):
            name = eccodes.codes_keys_iterator_get_name(keys)
            found[name] = eccodes.codes_get_string(handle, name)
        eccodes.codes_keys_iterator_delete(keys)
        found["param"] = eccodes.codes_get(handle, "shortName")
        found["_offset"] = int(eccodes.codes_get(handle, "offset"))
        found["_length"] = eccodes.codes_get(handle, "totalLength")
        lines.append(json.dumps(found))
    return lines


def _handles(path: Path) -> Iterator[Any]:
    eccodes.codes_grib_multi_support_on()
    try:
        with path.open("rb") as file:
            while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
                yield handle
                eccodes.codes_release(handle)
    finally:
        eccodes.codes_grib_multi_support_off()


def _fields(path: Path) -> Iterator[tuple[int, str]]:
    for handle in _handles(path):
        date = f"{eccodes.codes_get(handle, 'dataDate')}{eccodes.codes_get(handle, 'dataTime') // 100:02d}"
        told = [f"d={date}", eccodes.codes_get(handle, "shortName"), _level(handle), _forecast(handle)]
        template = eccodes.codes_get(handle, "productDefinitionTemplateNumber")
        if template in (1, 11):
            told.append(f"ENS=+{eccodes.codes_get(handle, 'perturbationNumber')}")
        elif template:
            told.append(f"template {template}")
        yield int(eccodes.codes_get(handle, "offset")), ":".join(told)


def _level(handle: int) -> str:
    numbers, said = [], ""
    for surface in ("First", "Second"):
        kind = eccodes.codes_get(handle, f"typeOf{surface}FixedSurface", int)
        if kind == 255:
            break
        said, unit = _SURFACES.get(kind, (f"reserved {kind}", 1))
        if unit and not eccodes.codes_is_missing(handle, f"scaledValueOf{surface}FixedSurface"):
            scale = eccodes.codes_get(handle, f"scaleFactorOf{surface}FixedSurface")
            value = eccodes.codes_get(handle, f"scaledValueOf{surface}FixedSurface")
            numbers.append(f"{value / 10**scale / unit:g}")
    return f"{'-'.join(numbers)} {said}" if numbers else said


def _forecast(handle: int) -> str:
    unit = _UNITS[eccodes.codes_get(handle, "indicatorOfUnitOfTimeRange", int)]
    start = eccodes.codes_get(handle, "forecastTime")
    if not eccodes.codes_is_defined(handle, "lengthOfTimeRange"):
        return f"{start} {unit} fcst" if start else "anl"
    assert eccodes.codes_get(handle, "indicatorOfUnitForTimeRange", int) in _UNITS
    length = eccodes.codes_get(handle, "lengthOfTimeRange")
    statistic = _STATISTICS.get(eccodes.codes_get(handle, "typeOfStatisticalProcessing", int), "reserved")
    return f"{start}-{start + length} {unit} {statistic} fcst"
