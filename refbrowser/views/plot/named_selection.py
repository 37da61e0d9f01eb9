"""Selections by the names of dimensions: values of their coordinates, dates, or indices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.selection import Selection
from refbrowser.views.longitudes import TURN

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array
    from refbrowser.io.cancel import CancelToken
    from refbrowser.views.plot.coordinates import Coordinate
    from refbrowser.views.plot.slicing import SliceState

#: A date of ISO 8601, whole or cut: a year, a month, a day, a time of day.
_DATE = r"\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d)?)?)?)?)?"
_DATES = re.compile(rf"({_DATE})?(?:(:|\.\.)({_DATE})?)?\Z")
_INDICES = re.compile(r"-?\d{0,20}(?::-?\d{0,20}){0,2}\Z")
_PART = re.compile(r"([^=@~]+)([=@~])(.*)")
_NAMED = re.compile(r"[=@~]")
#: Between the ends of a range; dates have colons of their own.
_RANGE = re.compile(r":|\.\.")
#: A value counts as that of a coordinate where it is as near as this, in parts of it: of single precision.
_NEAR = 1e-6


def is_named(text: str) -> bool:
    """Whether a selection is by the names of dimensions."""
    return _NAMED.search(text) is not None


def selection_of(array: Array, text: str, token: CancelToken) -> Selection:
    """Return the selection that a text says: by position (``0,:,10:20``) or by the names of dimensions.

    ``lat=40..60`` (or ``40:60``) takes what lies from 40 to 60, both of them too, whichever way it runs;
    ``lat=40`` the one at 40, and ``lat~40`` the nearest to it: as `sel` of xarray does with a slice, a value,
    and ``method="nearest"``. ``time=2024-03`` takes all of that month, ``time=2024-03..2024-05`` three, in
    the calendar of the data; ``time~2024-03-10`` the nearest one. Longitudes may be written from -180 or from
    0, whichever the data has. ``time@0:10`` takes indices, as Python has them. Dimensions that are not named
    are taken whole.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is no selection, a dimension has not that name, has no coordinates or none of these
        values.
    """
    if not is_named(text):
        return array.selection(text)
    from refbrowser.views.plot.resolution import named_node
    from refbrowser.views.plot.slicing import dimension_names

    names = dimension_names(named_node(array.dataset.hierarchy, array.node))
    index: list[int | slice] = [slice(None)] * len(names)
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        name, sign, wanted = ("", "", "") if match is None else map(str.strip, match.groups())
        if not name:
            message = f"{quoted(part)} in the selection {quoted(text)} names no dimension"
            advice = "write NAME=VALUE, NAME=FROM..TO, NAME~NEAREST or NAME@INDEX for each dimension"
            raise _usage(array, message, advice)
        if name not in names:
            raise _usage(array, f"there is no dimension {quoted(name)}", f"there are {', '.join(names)}")
        axis = names.index(name)
        if sign == "@":
            index[axis] = _indices(array, wanted)
        elif sign == "~":
            index[axis] = _nearest(array, _coordinate(array, axis, token), wanted)
        else:
            index[axis] = _at_values(array, _coordinate(array, axis, token), wanted)
    return Selection.from_index(tuple(index), array.shape)


def selection_at(array: Array, index: Any, token: CancelToken) -> Selection:
    """Return the selection of an index: as numpy takes it, or as text, which `selection_of` reads.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it does not fit the array.
    """
    if isinstance(index, str):
        return selection_of(array, index, token)
    return Selection.from_index(index, array.shape)


def slice_words(state: SliceState, coordinates: Sequence[Coordinate]) -> str:
    """Return where a slice is held as a selection by coordinates; by index along those without any."""
    from refbrowser.views.plot.interpretation import coordinate_text

    parts = []
    for axis in state.sliders:
        index, coordinate = state.indices[axis], coordinates[axis]
        is_told = (
            coordinate.values is not None
            and np.count_nonzero(coordinate.values == coordinate.values[index]) == 1
        )
        text = f"={coordinate_text(coordinate, index)}" if is_told else f"@{index}"
        parts.append(f"{state.names[axis]}{text}")
    return ",".join(parts)


def _indices(array: Array, wanted: str) -> int | slice:
    if not wanted or not _INDICES.match(wanted):
        raise _usage(array, f"{quoted(wanted)} is neither an index nor a slice")
    numbers = [int(number) if number else None for number in wanted.split(":")]
    return slice(*numbers) if len(numbers) > 1 or numbers[0] is None else numbers[0]


def _coordinate(array: Array, axis: int, token: CancelToken) -> Coordinate:
    """Return the coordinate of a dimension, that of a dimension with a variable of its name alone."""
    from refbrowser.views.plot.reading import (
        coordinate_nodes,
        made_coordinate,
        read_coordinates,
        told_coordinates,
    )
    from refbrowser.views.plot.resolution import named_node

    dataset = array.dataset
    node = named_node(dataset.hierarchy, array.node)
    if node.dimensions == (node.name,):
        itself = made_coordinate(node.name, node, array.read(Selection.whole(node.shape)))
        if itself is not None:
            return itself
    nodes = list(coordinate_nodes(dataset.hierarchy, node))
    wanted = tuple(each if place == axis else None for place, each in enumerate(nodes))
    told = told_coordinates(dataset.hierarchy, node)
    read = read_coordinates(dataset.session, dataset.access, node, wanted, token, told)
    found = read.coordinates[axis]
    if found.values is None and found.texts is None:
        error = next(iter(read.errors.values()), None)
        if error is not None:
            raise error
        advice = f"select by index: {found.name}@0"
        raise _usage(array, f"the dimension {quoted(found.name)} has no coordinates", advice)
    return found


def _at_values(array: Array, coordinate: Coordinate, wanted: str) -> int | slice:
    if coordinate.texts is not None:
        return _texts(array, coordinate, wanted)
    if coordinate.dates is not None:
        return _dates(array, coordinate, wanted)
    assert coordinate.values is not None
    parts = _RANGE.split(wanted)
    try:
        numbers = [float(part) if part.strip() else None for part in parts]
    except ValueError:
        raise _no_number(array, coordinate, wanted) from None
    if len(numbers) > 2 or numbers == [None] or any(number != number for number in numbers):
        raise _no_number(array, coordinate, wanted)
    if len(numbers) == 1:
        return _one(array, coordinate, float(numbers[0] or 0))
    ends = [number for number in numbers if number is not None]
    low, high = (min(ends), max(ends)) if len(ends) == 2 else (numbers[0], numbers[1])
    low, high = _turned(array, coordinate, low, high)
    values = coordinate.values
    near = _NEAR * np.maximum(np.abs(values), 1e-30)
    taken = np.isfinite(values)
    taken &= True if low is None else values >= low - near
    taken &= True if high is None else values <= high + near
    return _run(array, coordinate, wanted, np.flatnonzero(taken).tolist())


def _no_number(array: Array, coordinate: Coordinate, wanted: str) -> RefbrowserError:
    message = f"{quoted(wanted)} is not a number, or a range FROM..TO, of {coordinate.name}"
    return _usage(array, message)


def _one(array: Array, coordinate: Coordinate, number: float) -> int:
    assert coordinate.values is not None
    if not coordinate.size:
        raise _usage(array, f"{coordinate.name} has no values")
    number, _ = _turned(array, coordinate, number, number)
    nearest = coordinate.nearest(number)
    value = float(coordinate.values[nearest])
    if not abs(value - number) <= _NEAR * max(abs(number), abs(value)):
        name = coordinate.name
        advice = f"the nearest value is {value:.9g}; {name}~{number:.9g} takes it, {name}=FROM..TO a range"
        raise _usage(array, f"no {name} is {number:.9g}", advice)
    return nearest


def _turned(array: Array, coordinate: Coordinate, low: float | None, high: float | None) -> tuple[Any, Any]:
    """Return the ends of a range as a coordinate has them: longitudes as many degrees round as its own.

    Raises
    ------
    RefbrowserError
        A range of longitudes crosses the place where the coordinate begins and ends.
    """
    from refbrowser.views.plot.coordinates import AxisRole

    values = coordinate.values
    if coordinate.role is not AxisRole.LONGITUDE or values is None or not np.isfinite(values).any():
        return low, high
    if low is None or high is None:
        return low, high
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    # Half a cell beyond the outermost centres is still theirs.
    least, most = least - coordinate.step / 2, most + coordinate.step / 2
    if high - low >= TURN or (least <= low and high <= most):
        return low, high
    for turn in (TURN, -TURN):
        if least <= low + turn and high + turn <= most:
            return low + turn, high + turn
    outside = [end for end in (low, high) if not least <= end <= most]
    if any(least <= end + turn <= most for end in outside for turn in (TURN, -TURN)):
        ends = f"{coordinate.text(0)} to {coordinate.text(coordinate.size - 1)}"
        message = f"{coordinate.name} from {low:g} to {high:g} crosses where it begins: it goes from {ends}"
        raise _usage(array, message, "select both sides one after the other")
    return low, high


def _nearest(array: Array, coordinate: Coordinate, wanted: str) -> int:
    """Return the place whose value is nearest to a number or date."""
    if coordinate.values is None:
        raise _usage(array, f"{coordinate.name} has texts, of which none is nearest", "select one by =")
    if coordinate.dates is None:
        try:
            number = float(wanted)
        except ValueError:
            raise _no_number(array, coordinate, wanted) from None
        if number != number:
            raise _no_number(array, coordinate, wanted)
        return coordinate.nearest(_turned(array, coordinate, number, number)[0])
    match = _DATES.match(wanted)
    if match is None or not match[1] or match[2]:
        raise _no_date(array, coordinate, wanted)
    year, month, day, hours, minutes, seconds = (
        int(part) if part else first
        for part, first in zip_longest(re.split("[-T :]", match[1]), (1, 1, 1, 0, 0, 0))
    )
    dates = coordinate.dates
    try:
        midnight = dates.number(year, month, day)
        whole_day = dates.number(2000, 1, 2) - dates.number(2000, 1, 1)
    except (ValueError, OverflowError, TypeError):
        raise _no_date(array, coordinate, wanted) from None
    passed = (hours * 3600 + minutes * 60 + seconds) / 86_400
    return coordinate.nearest(midnight + passed * whole_day)


def _dates(array: Array, coordinate: Coordinate, wanted: str) -> slice:
    match = _DATES.match(wanted)
    if match is None or not (match[1] or match[3]):
        raise _no_date(array, coordinate, wanted)
    first = (match[1] or "").replace(" ", "T")
    last = (match[3] or "").replace(" ", "T") if match[2] else first
    taken = [
        place
        for place, text in enumerate(_dates_of(coordinate))
        if text and text[: len(first)] >= first and (not last or text[: len(last)] <= last)
    ]
    return _run(array, coordinate, wanted, taken)


def _no_date(array: Array, coordinate: Coordinate, wanted: str) -> RefbrowserError:
    advice = "write a date as 2024, 2024-03, 2024-03-01 or 2024-03-01T06:00, or two as 2024-03..2024-05"
    return _usage(array, f"{quoted(wanted)} is not a date of {coordinate.name}", advice)


def _dates_of(coordinate: Coordinate) -> list[str]:
    """Return the dates of a coordinate, in its calendar, as texts that are ordered as they are."""
    assert coordinate.dates is not None
    assert coordinate.values is not None
    dates = coordinate.dates.units.dates(coordinate.values)
    return ["" if date is None else _iso(date) for date in dates]


def _iso(date: object) -> str:
    """Return a date of any calendar as text that is ordered as the dates are."""
    parts = (getattr(date, name) for name in ("year", "month", "day", "hour", "minute", "second"))
    return "{:04d}-{:02d}-{:02d}T{:02d}:{:02d}:{:02d}".format(*parts)


def _texts(array: Array, coordinate: Coordinate, wanted: str) -> int:
    assert coordinate.texts is not None
    if wanted not in coordinate.texts:
        some = ", ".join(quoted(text) for text in coordinate.texts[:5])
        raise _usage(array, f"no {coordinate.name} is {quoted(wanted)}", f"the first are {some}")
    return list(coordinate.texts).index(wanted)


def _run(array: Array, coordinate: Coordinate, wanted: str, taken: list[int]) -> slice:
    """Return indices as a slice.

    Raises
    ------
    RefbrowserError
        There is none, or they do not lie together, as where a coordinate neither rises nor falls.
    """
    if not taken:
        ends = f"it goes from {coordinate.text(0)} to {coordinate.text(coordinate.size - 1)}"
        raise _usage(array, f"no {coordinate.name} is within {quoted(wanted)}", ends)
    if taken[-1] - taken[0] + 1 != len(taken):
        message = f"{coordinate.name} within {quoted(wanted)} are not adjacent elements"
        raise _usage(array, message, f"select by index: {coordinate.name}@{taken[0]}")
    return slice(taken[0], taken[-1] + 1)


def _usage(array: Array, message: str, advice: str = "") -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, message, Place(path=array.path), advice)
