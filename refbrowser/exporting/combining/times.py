"""Times of files: the units that each counts them in, and how those of other dates are counted alike."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.properties import ArrayProperties, ScannedSource, Values, bounds_of
from refbrowser.loading import require
from refbrowser.model.calendars import LENGTHS, between
from refbrowser.model.cf import Packing, TimeUnits
from refbrowser.model.fill_values import parse_fill_value

#: Whole numbers up to this are exact as floats, and far from the end of integers.
_WHOLE = 2**53


@lru_cache(maxsize=4096)
def units_from(units: str, calendar: str | None) -> TimeUnits | None:
    """Return a unit of time; None where it is none."""
    return TimeUnits.from_attributes({"units": units, "calendar": calendar})


def time_of(each: ArrayProperties) -> TimeUnits | None:
    """Return the unit of the times that an array holds, None where it holds none."""
    units, calendar = each.attribute("units"), each.attribute("calendar")
    if not isinstance(units, str):
        return None
    return units_from(units, calendar if isinstance(calendar, str) else None)


def calendar_of(each: ArrayProperties) -> str:
    """Return the calendar of the times of an array; ``none`` where it holds none."""
    found = time_of(each)
    calendar = "none" if found is None else found.calendar
    return "standard" if calendar == "gregorian" else calendar


def target_units(coordinate: ArrayProperties, request: Combination) -> TimeUnits | None:
    """Return the units in which the times of an array are written; None where it holds none."""
    units = time_of(coordinate)
    if units is None or not request.time_units:
        return units
    return units_from(request.time_units, units.calendar)


def finest(coordinate: ArrayProperties, others: Iterable[ArrayProperties]) -> str:
    """Return the shortest unit that files count in, since the date of one of them."""
    own = time_of(coordinate)
    assert own is not None
    names = {each.unit for told in others if (each := time_of(told)) is not None} | {own.unit}
    known = sorted(names & LENGTHS.keys(), key=lambda name: LENGTHS[name])
    return f"{known[0] if len(known) == len(names) else own.unit} since {own.since}"


@lru_cache(maxsize=4096)
def _between(units: TimeUnits, target: TimeUnits) -> tuple[int, int, int]:
    """Return the lengths of two units, and the time from the second's date to the first's, in microseconds.

    Raises
    ------
    ValueError, OverflowError, TypeError
        They cannot be turned into each other.
    """
    if units.unit not in LENGTHS or target.unit not in LENGTHS:
        raise ValueError("units of unequal length")
    shift = between(units.since, target.since, units.calendar)
    return LENGTHS[units.unit], LENGTHS[target.unit], shift


def exactly(values: Values, units: TimeUnits, target: TimeUnits) -> Values | None:
    """Return times in other units, integers as integers; None where numbers of their type are not exact."""
    if str(units) == str(target) or not values.size:
        return values
    if values.dtype.kind not in "iuf":
        return None
    try:
        one, other, shift = _between(units, target)
    except (ValueError, OverflowError, TypeError):
        return None
    there = np.isfinite(values)
    found = _whole(values[there], one, other, shift)
    if found is None and values.dtype.kind == "f":
        found = _fractions(values[there], one, other, shift)
    if found is None:
        return None
    with np.errstate(over="ignore"):
        narrow = found.astype(values.dtype)
    if not (narrow == found).all():
        if values.dtype.kind != "i":
            return None
        narrow = found
    made = values.astype(narrow.dtype)
    made[there] = narrow
    return made


def _whole(numbers: Values, one: int, other: int, shift: int) -> Values | None:
    """Return whole numbers turned into whole numbers; None where these are none."""
    if not numbers.size:
        return numbers
    most = max(abs(int(numbers.min())), abs(int(numbers.max())))
    whole = numbers.astype(np.int64) if most < _WHOLE else None
    if whole is None or most * one + abs(shift) >= 2**63 or not (whole == numbers).all():
        return None
    whole, rest = np.divmod(whole * one + shift, other)
    return None if rest.any() or (abs(whole) >= _WHOLE).any() else whole


def _fractions(numbers: Values, one: int, other: int, shift: int) -> Values | None:
    """Return numbers turned into others; None where one of these is no float."""
    exact = [(Fraction(each) * one + shift) / other for each in numbers.astype(np.float64).tolist()]
    found = [float(each) for each in exact]
    same = all(Fraction(each) == number for each, number in zip(found, exact, strict=True))
    return np.array(found, np.float64) if same else None


def expressed(values: Values, units: TimeUnits, target: TimeUnits) -> Values:
    """Return times in other units, exactly where numbers can say them so.

    Raises
    ------
    RefbrowserError
        `E_META`: the units or the calendars cannot be turned into each other.
    """
    found = exactly(values, units, target)
    if found is not None:
        return found
    try:
        if units.unit not in LENGTHS or target.unit not in LENGTHS:
            require("cftime")
            import cftime

            dates = units.dates(values)
            return np.asarray(cftime.date2num(dates, str(target), calendar=units.calendar), np.float64)
        one, other, shift = _between(units, target)
    except (ValueError, OverflowError, TypeError) as error:
        message = f"times in {quoted(units)} cannot be expressed in {quoted(target)}: {quoted(error)}"
        raise RefbrowserError(ErrorKind.META, message) from None
    if values.dtype.kind in "iu":
        whole = values.astype(np.int64) * one + shift
        if not (whole % other).any():
            return whole // other
    return values.astype(np.float64) * (one / other) + shift / other


def counted(values: Values, told: ArrayProperties, own: TimeUnits, target: TimeUnits) -> Values:
    """Return times of one file in other units; what is missing stays what it is.

    Raises
    ------
    RefbrowserError
        `E_META`: they have a scale, or cannot be expressed so.
    """
    if str(own) == str(target) or values.dtype.kind not in "iuf":
        return values
    packing = _packing(told, values)
    if packing.is_scaled:
        message = f"times of {quoted(told.path)} have a scale: they cannot be converted"
        raise RefbrowserError(ErrorKind.META, message, Place(path=told.path))
    missing = packing.missing_mask(values)
    if not missing.any():
        return expressed(values, own, target)
    found = expressed(values[~missing], own, target)
    made = values.astype(np.result_type(values, found))
    made[~missing] = found
    return made


def are_exact(
    coordinate: ArrayOfFiles,
    arrays: Sequence[ArrayOfFiles],
    files: Sequence[ScannedSource],
    request: Combination,
) -> bool:
    """Tell whether the times and bounds of all files are exact in the units in which they are written."""
    target = target_units(coordinate.first, request)
    units = dict(zip(coordinate.files, map(time_of, coordinate.told), strict=True))
    owners = bounds_of([each.first for each in arrays])
    bounds = [each for each in arrays if owners.get(each.path) == coordinate.path]
    return all(
        target is not None and _is_exact(files[number].values.get(told.path), told, units.get(number), target)
        for array in (coordinate, *bounds)
        for number, told in zip(array.files, array.told, strict=True)
    )


def _is_exact(values: Values | None, told: ArrayProperties, own: TimeUnits | None, target: TimeUnits) -> bool:
    if own is None or str(own) == str(target):
        return own is not None
    if values is None or values.dtype.kind not in "iuf":
        return False
    packing = _packing(told, values)
    missing = packing.missing_mask(values)
    if packing.is_scaled or exactly(values[~missing], own, target) is None:
        return False
    # A time must not become the number that means none, nor leave the range of those that are valid.
    return bool((packing.missing_mask(counted(values, told, own, target)) == missing).all())


def _packing(told: ArrayProperties, values: Values) -> Packing:
    attributes: dict[str, Any] = {name: json.loads(text) for name, text in told.attributes}
    fill = parse_fill_value(json.loads(told.fill), values.dtype)
    return Packing.from_attributes(attributes, values.dtype, fill, fill_marks=told.form == "zarr-v2")


@lru_cache(maxsize=4096)
def instants(units: TimeUnits) -> Any:
    """Return what is the same for units that are written in two ways and mean the same."""
    try:
        dates = units.dates(np.array([0, 1]))
    except RefbrowserError:
        return str(units)
    return tuple(date.isoformat() for date in dates)
