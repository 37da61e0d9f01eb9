"""Where a place of one array is in another one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.model.cf import TimeUnits
from refbrowser.views.arrangement.linking import (
    matched_element,
    matched_extent,
    matched_index,
    matched_slice,
)
from refbrowser.views.numbers import DateScale
from refbrowser.views.plot.coordinates import AxisRole, AxisScale, Coordinate, line_scale, plain_coordinate
from refbrowser.views.plot.slicing import SliceState


def over(name: str, values: list[float] | np.ndarray, **more: object) -> Coordinate:
    numbers = np.asarray(values, np.float64)
    return Coordinate(name, len(numbers), values=numbers, **more)  # type: ignore[arg-type]


@given(
    st.integers(1, 40), st.integers(2, 40), st.integers(1, 40), st.booleans(), st.integers(0, 60),
    st.integers(-30, 30),
)  # fmt: skip
def test_the_nearest_cell_that_holds_the_value(
    size: int, others: int, step: int, falls: bool, index: int, start: int
) -> None:
    shown = over("x", np.arange(size) * 1.0)
    values = start + np.arange(others) * float(step)
    other = over("x", values[::-1] if falls else values)
    if index >= size or not shown.tells_cells_apart:
        return
    found = matched_index(shown, index, other)
    away = np.abs(other.values - index)  # type: ignore[operator]
    if found is None:
        assert away.min() > step / 2
    else:
        assert away[found] == away.min()
        assert away[found] <= step * 0.51
    # What was matched leads back to the same cell.
    if found is not None:
        back = matched_index(other, found, shown)
        assert back is None or abs(shown.values[back] - other.values[found]) <= 0.51  # type: ignore[index]


@given(st.integers(2, 30), st.integers(2, 30), st.booleans(), st.floats(-3, 30), st.floats(0.1, 30))
def test_parts_of_axes_are_the_same_values(
    size: int, others: int, falls: bool, low: float, wide: float
) -> None:
    shown = AxisScale(over("x", 10 + 2.0 * np.arange(size)))
    values = 5 + 0.5 * np.arange(others)
    other = AxisScale(over("x", values[::-1] if falls else values))
    found = matched_extent(shown, (low, low + wide), other)
    if found is None:
        first, last = 10 + 2 * low, 10 + 2 * (low + wide)
        assert last < values[0] or first > values[-1]
        return
    positions = np.array(found)
    sought = other.coordinate.values[0] + positions * (-0.5 if falls else 0.5)  # type: ignore[index]
    assert np.allclose(sorted(sought), [10 + 2 * low, 10 + 2 * (low + wide)])


@pytest.mark.parametrize(
    ("name", "others", "at", "by_position"),
    [
        ("time", [180.0, 185, 190], 2, ("time",)),
        ("time", [180.0, 185], 1, ()),
        ("time", [12.0, 38, 39], 1, ()),
        ("longitude", [180.0, 185, 190], 1, ()),
    ],
)
def test_equally_long_ones_with_nothing_in_common_go_by_position(
    name: str, others: list[float], at: int, by_position: tuple[str, ...]
) -> None:
    role = {"role": AxisRole.LONGITUDE} if name == "longitude" else {}
    mine, theirs = over(name, [0.0, 5, 40], **role), over(name, others, **role)
    shown = SliceState((3, 4), (name, "x"), 1, None, (2, 0))
    follows = SliceState((len(others), 4), (name, "x"), 1, None, (1, 0))
    x = plain_coordinate("x", 4)
    matched = matched_slice(shown, [mine, x], follows, [theirs, x])
    assert matched.state.indices == (at, 0)
    assert matched.by_position == by_position
    assert bool(matched.unmatched) is not bool(by_position)


def test_without_coordinates_indices_count() -> None:
    bare, values = plain_coordinate("x", 5), over("x", [10, 20, 30])
    assert matched_index(bare, 2, values) == 2
    assert matched_index(bare, 4, values) is None
    assert matched_index(values, 2, bare) == 2
    assert matched_extent(AxisScale(bare), (0.5, 2.5), AxisScale(plain_coordinate("x", 9))) == (0.5, 2.5)
    # A line over values has no indices on its axis.
    assert matched_extent(AxisScale(bare), (0.5, 2.5), line_scale(values)) is None


def test_texts_are_compared_as_such() -> None:
    shown = Coordinate("s", 3, texts=["a", "b", "c"])
    assert matched_index(shown, 2, Coordinate("s", 2, texts=["c", "a"])) == 0
    assert matched_index(shown, 1, Coordinate("s", 2, texts=["c", "a"])) is None


@pytest.mark.parametrize(
    ("units", "others", "found"), [("hPa", "hPa", 1), ("hPa", "", 1), ("hPa", "m", None)]
)
def test_only_numbers_of_one_unit_are_compared(units: str, others: str, found: int | None) -> None:
    shown = over("z", [100, 200], units=units)
    assert matched_index(shown, 1, over("z", [100, 200, 300], units=others)) == found


def test_longitudes_go_round() -> None:
    around = over("lon", np.arange(0.0, 360, 10), role=AxisRole.LONGITUDE)
    across = over("lon", np.arange(-180.0, 180, 10), role=AxisRole.LONGITUDE)
    assert matched_index(around, 35, across) == 17
    assert matched_index(across, 0, around) == 18


def test_dates_are_compared_as_dates() -> None:
    def dated(values: list[float], text: str) -> Coordinate:
        units = TimeUnits.from_attributes({"units": text})
        assert units is not None
        return over("time", values, dates=DateScale(units))

    days = dated([0, 1, 2, 3], "days since 2000-01-01")
    hours = dated([0, 6, 12, 18, 24, 30], "hours since 2000-01-02")
    assert matched_index(days, 2, hours) == 4
    assert matched_index(hours, 4, days) == 2
    assert matched_index(days, 0, hours) is None
    assert matched_index(days, 1, over("time", [0, 1, 2])) is None


def state(names: str, shape: tuple[int, ...], x: int, y: int | None, indices: tuple[int, ...]) -> SliceState:
    return SliceState(shape, tuple(names), x, y, indices)


def test_only_what_both_hold_follows() -> None:
    shown = state("tzyx", (5, 3, 4, 6), 3, 2, (4, 1, 0, 0))
    plain = [plain_coordinate(name, 6) for name in "yx"]
    places = [over("t", [0, 1, 2, 3, 4], units="d"), plain_coordinate("z", 3), *plain]
    other = state("atyx", (7, 2, 4, 6), 3, 2, (5, 0, 0, 0))
    others = [plain_coordinate("a", 7), over("t", [0, 4], units="d"), *plain]
    matched = matched_slice(shown, places, other, others)
    assert matched.state.indices == (5, 1, 0, 0)
    assert matched.unmatched == ()
    short = [others[0], over("t", [0, 1], units="d"), *others[2:]]
    matched = matched_slice(shown, places, other, short)
    assert matched.state == other
    assert matched.unmatched == ("t has no 4 d",)
    # A dimension on an axis of the other one stays whole.
    turned = other.with_y(1)
    assert matched_slice(shown, places, turned, others).state == turned


def test_an_element_is_found_in_another_slice() -> None:
    names = ("t", "y", "x")
    places = [over("t", [0, 1]), over("y", [30, 20, 10]), over("x", [1, 2, 3, 4])]
    other = state("xy", (2, 3), 0, 1, (0, 0))
    others = [over("x", [2, 4]), over("y", [10, 20, 30])]
    assert matched_element((1, 0, 3), names, places, other, others) == (2, 1)
    assert matched_element((1, 0, 0), names, places, other, others) is not None
    assert matched_element((1, 0, 3), ("t", "y", "z"), places, other, others) is None
