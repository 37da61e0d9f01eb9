"""What linked views share, and where a place of one array is in another: by coordinate, else by index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.views.longitudes import TURN
from refbrowser.views.plot.coordinates import AxisRole, AxisScale, Coordinate
from refbrowser.views.plot.slicing import SliceState

Extent = tuple[float, float]
#: A place lies in an array up to so many steps beyond its first and last coordinate.
_BEYOND = 0.501


class Link(StrEnum):
    """What views can share."""

    SELECTION = "selection"
    LEVELS = "levels"
    ZOOM = "zoom"
    CURSOR = "cursor"
    MAP = "map"


#: What each is called in a sentence about what does not follow.
NOUNS = {
    Link.SELECTION: "slice",
    Link.LEVELS: "levels",
    Link.ZOOM: "zoom",
    Link.CURSOR: "cursor",
    Link.MAP: "colour map",
}
ALL_LINKS = frozenset(Link)


@dataclass(frozen=True, slots=True)
class Matched:
    """The slice of one array that corresponds to that of another.

    Attributes
    ----------
    state
        The slice; indices of dimensions that have no counterpart are as they were.
    unmatched
        Why some of the dimensions that both have stay where they are, in words.
    by_position
        The dimensions that correspond by index, though both have coordinates: those have nothing in common.
    """

    state: SliceState
    unmatched: tuple[str, ...] = ()
    by_position: tuple[str, ...] = ()


def matched_slice(
    shown: SliceState, coordinates: Sequence[Coordinate], other: SliceState, others: Sequence[Coordinate]
) -> Matched:
    """Return the slice of another array that corresponds to the one that is shown.

    Dimensions of the same name that are held at an index in both correspond; axes stay as they are.
    """
    state, unmatched, by_position = other, [], []
    for dimension in other.sliders:
        name = other.names[dimension]
        mine = shown.names.index(name) if name in shown.names else None
        if mine is None or mine not in shown.sliders:
            continue
        index = matched_index(coordinates[mine], shown.indices[mine], others[dimension])
        if index is None and _are_apart(coordinates[mine], others[dimension]):
            index = shown.indices[mine]
            by_position.append(name)
        if index is None:
            place = coordinates[mine].text(shown.indices[mine]) or f"index {shown.indices[mine]}"
            unmatched.append(f"{name} has no {place}")
        else:
            state = state.with_index(dimension, index)
    return Matched(state, tuple(unmatched), tuple(by_position))


def matched_element(
    index: Sequence[int],
    names: Sequence[str],
    coordinates: Sequence[Coordinate],
    other: SliceState,
    others: Sequence[Coordinate],
) -> tuple[int, ...] | None:
    """Return the element of another slice at the same place: indices along its axes; None for none.

    `index` is that of the element that is shown, along each of the dimensions `names`.
    """
    found = []
    for axis in other.axes:
        name = other.names[axis]
        if name not in names:
            return None
        mine = names.index(name)
        at = matched_index(coordinates[mine], index[mine], others[axis])
        if at is None:
            return None
        found.append(at)
    return tuple(found)


def matched_extent(scale: AxisScale, extent: Extent, other: AxisScale) -> Extent | None:
    """Return what of another axis corresponds to a part of one: positions on either; None for nothing."""
    values = [_value_at(scale, position) for position in extent]
    if None in values or not _has_values(other.coordinate):
        # Positions of both are indices, then; one by value has nothing to do with the other's.
        return None if scale.by_value or other.by_value else extent
    found = [
        _position_of(other, _converted(scale.coordinate, other.coordinate, value))
        for value in values
        if value is not None
    ]
    if len(found) != 2 or found[0] is None or found[1] is None:
        return None
    low, high = sorted((found[0], found[1]))
    # They must have something in common.
    ends = other.positions(range(other.coordinate.size))
    first, last = float(ends.min()), float(ends.max())
    return (low, high) if high > low and low <= last + 1 and high >= first - 1 else None


def matched_index(shown: Coordinate, index: int, other: Coordinate) -> int | None:
    """Return the index of another dimension at the same coordinate, else at the same index; None for none."""
    if shown.texts is not None and other.texts is not None:
        return list(other.texts).index(shown.texts[index]) if shown.texts[index] in other.texts else None
    if not (_has_values(shown) and _has_values(other)):
        return index if 0 <= index < other.size else None
    assert shown.values is not None
    value = _converted(shown, other, float(shown.values[index]))
    if value is None:
        return None
    for turned in _around(other, value):
        at = other.nearest(turned)
        if _is_near(other, at, turned):
            return at
    return None


def _are_apart(shown: Coordinate, other: Coordinate) -> bool:
    """Whether two dimensions are equally long and one ends before the other begins: one January, one July."""
    if shown.size != other.size or not (_has_values(shown) and _has_values(other)):
        return False
    assert shown.values is not None
    assert other.values is not None
    values, others = (each[np.isfinite(each)] for each in (shown.values, other.values))
    if not (values.size and others.size):
        return False
    low, high = (_converted(shown, other, float(value)) for value in (values.min(), values.max()))
    if low is None or high is None or _around(other, low) != (low,):
        return False
    return bool(low > others.max() or high < others.min())


def _has_values(coordinate: Coordinate) -> bool:
    return coordinate.values is not None and coordinate.tells_cells_apart


def _converted(shown: Coordinate, other: Coordinate, value: float) -> float | None:
    """Return a value of one coordinate as the other has it; None where they cannot be compared."""
    if not math.isfinite(value):
        return None
    if shown.dates is not None and other.dates is not None:
        if shown.dates.units == other.dates.units:
            return value
        try:
            date = shown.dates.date(value)
            start = other.dates.number(date.year, date.month, date.day)
            seconds = date.hour * 3600 + date.minute * 60 + date.second
            following = other.dates.date(start)
            length = (other.dates.date(start + 1) - following).total_seconds()
            return start + seconds / length
        except (RefbrowserError, ValueError, OverflowError, ZeroDivisionError):
            return None
    if (shown.dates is None) != (other.dates is None):
        return None
    return value if shown.units == other.units or not (shown.units and other.units) else None


def _around(coordinate: Coordinate, value: float) -> tuple[float, ...]:
    """Return a value, and the same a turn further and back where it is a longitude."""
    if coordinate.role is not AxisRole.LONGITUDE:
        return (value,)
    return value, value + TURN, value - TURN


def _is_near(coordinate: Coordinate, index: int, value: float) -> bool:
    """Whether a value lies in the cell of an index, which reaches half way to its neighbours."""
    assert coordinate.values is not None
    values = coordinate.values
    if not math.isfinite(values[index]):
        return False
    away = abs(values[index] - value)
    around = [abs(values[at] - values[index]) for at in (index - 1, index + 1) if 0 <= at < len(values)]
    finite = [step for step in around if math.isfinite(step) and step > 0]
    return bool(away <= _BEYOND * max(finite, default=0.0) or away <= 1e-9 * max(1.0, abs(value)))


def _value_at(scale: AxisScale, position: float) -> float | None:
    """Return what a position on an axis stands for; None without a coordinate that rises or falls."""
    coordinate = scale.coordinate
    if scale.by_value:
        return position
    if not _has_values(coordinate) or coordinate.ascending is None or coordinate.size < 2:
        return None
    assert coordinate.values is not None
    below = int(np.clip(math.floor(position), 0, coordinate.size - 2))
    first, second = (float(value) for value in coordinate.values[below : below + 2])
    return first + (position - below) * (second - first)


def _position_of(scale: AxisScale, value: float | None) -> float | None:
    """Return where a value is on an axis, beyond its ends too; None where it is nowhere."""
    coordinate = scale.coordinate
    if value is None or scale.by_value:
        return value
    if coordinate.values is None or coordinate.ascending is None or coordinate.size < 2:
        return None
    values = coordinate.values if coordinate.ascending else coordinate.values[::-1]
    below = int(np.clip(np.searchsorted(values, value) - 1, 0, len(values) - 2))
    position = below + float((value - values[below]) / (values[below + 1] - values[below]))
    return position if coordinate.ascending else len(values) - 1 - position
