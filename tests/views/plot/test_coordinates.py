from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.model.cf import TimeUnits
from refbrowser.views.numbers import DateScale, DurationScale, nice_numbers, stepped_text, value_text
from refbrowser.views.plot.coordinates import (
    AxisRole,
    AxisScale,
    Coordinate,
    are_on_map,
    cell_aspect,
    line_scale,
    plain_coordinate,
)
from refbrowser.views.plot.interpretation import coordinate_text


def coordinate(values: object, role: AxisRole = AxisRole.OTHER, **more: object) -> Coordinate:
    numbers = np.asarray(values, np.float64)
    return Coordinate(name="a", size=len(numbers), role=role, values=numbers, label="a", **more)  # type: ignore[arg-type]


def test_even_coordinates_get_round_ticks_between_cells() -> None:
    latitudes = coordinate(np.linspace(90, -90, 241), AxisRole.LATITUDE)
    ticks = dict(latitudes.index_ticks(-0.5, 240.5, 8))
    assert ticks == pytest.approx(
        {0.0: "90°N", 40.0: "60°N", 80.0: "30°N", 120.0: "0°", 160.0: "30°S", 200.0: "60°S", 240.0: "90°S"}
    )
    longitudes = coordinate(np.arange(-180, 180, 0.75), AxisRole.LONGITUDE)
    texts = [text for _position, text in longitudes.index_ticks(-0.5, 479.5, 4)]
    assert texts == ["180°W", "90°W", "0°", "90°E"]
    quarter = coordinate(np.arange(0.25, 10, 0.5))
    for position, text in quarter.index_ticks(-0.5, 19.5, 5):
        assert position == pytest.approx((float(text) - 0.25) / 0.5)


def test_uneven_coordinates_get_ticks_at_cells() -> None:
    levels = coordinate([1000, 850, 500, 200, 50], AxisRole.DOWN, units="hPa")
    ticks = levels.index_ticks(-0.5, 4.5, 6)
    assert ticks == [(0, "1000"), (1, "850"), (2, "500"), (3, "200"), (4, "50")]
    assert all(position == int(position) for position, _text in levels.index_ticks(0.2, 2.2, 10))


def test_dimensions_without_coordinate_count() -> None:
    assert plain_coordinate("x", 5).index_ticks(-0.5, 4.5, 20) == [(n, str(n)) for n in range(5)]
    assert plain_coordinate("x", 5).text(3) == ""


def test_text_coordinates_name_their_cells() -> None:
    basins = Coordinate(name="basin", size=3, texts=["Atlantic", "Indian", "Pacific"])
    assert basins.index_ticks(-0.5, 2.5, 5) == [(0, "Atlantic"), (1, "Indian"), (2, "Pacific")]
    assert basins.text(1) == "Indian"
    assert basins.text(9) == ""


def test_coordinates_of_one_value_tell_nothing_apart() -> None:
    assert coordinate([7, 7, 7]).index_ticks(-0.5, 2.5, 5) == [(0, "0"), (1, "1"), (2, "2")]


def test_rounding_errors_are_not_shown() -> None:
    steps = np.float32(5.6e-5) * np.arange(-300, 300, dtype=np.float64)
    assert coordinate(steps, units="rad").text(162) == "−0.007728 rad"
    assert coordinate(np.arange(5) * 1000.0 + 1234567, units="m").text(1) == "1235567 m"
    assert coordinate([0.0, 0.1, 0.2]).text(0) == "0"


def test_texts_have_units_and_hemispheres() -> None:
    assert coordinate([200, 500], units="millibars").text(1) == "500 millibars"
    assert coordinate([-33.75, 0], AxisRole.LATITUDE).text(0) == "33.75°S"
    assert coordinate([-120.5, 0], AxisRole.LONGITUDE).text(0) == "120.5°W"
    assert coordinate([270, 0], AxisRole.LONGITUDE).text(0) == "270°E"
    assert coordinate([np.nan, 1]).text(0) == "no value"
    dated = coordinate([0, 0.25], AxisRole.TIME, dates=DateScale(TimeUnits("days", "1961-01-01")))
    assert (dated.text(0), dated.text(1)) == ("1961-01-01", "1961-01-01 06:00")


@pytest.mark.parametrize(
    ("values", "role", "vertical", "backwards"),
    [
        ([0, 1, 2], AxisRole.OTHER, True, False),
        ([2, 1, 0], AxisRole.OTHER, True, True),
        ([90, 0, -90], AxisRole.LATITUDE, True, True),
        ([-90, 0, 90], AxisRole.LATITUDE, True, False),
        ([0, 10, 20], AxisRole.DOWN, True, True),
        ([20, 10, 0], AxisRole.DOWN, True, False),
        ([0, 1, 2], AxisRole.LONGITUDE, False, False),
        ([2, 1, 0], AxisRole.LONGITUDE, False, True),
        ([0, 2, 1], AxisRole.OTHER, True, True),
    ],
)
def test_which_way_an_axis_runs(values: list[float], role: AxisRole, vertical: bool, backwards: bool) -> None:
    assert AxisScale(coordinate(values, role)).runs_backwards(vertical) is backwards


def test_rows_without_coordinate_begin_at_the_top() -> None:
    scale = AxisScale(plain_coordinate("y", 4))
    assert scale.runs_backwards(vertical=True)
    assert not scale.runs_backwards(vertical=False)
    assert scale.index_at(2.4) == 2
    assert scale.index_at(-0.6) is None
    assert scale.index_at(3.6) is None


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30, unique=True), st.floats(-2e6, 2e6), st.booleans()
)
def test_the_nearest_value_is_found(values: list[float], wanted: float, descending: bool) -> None:
    ordered = sorted(values, reverse=descending)
    found = ordered[coordinate(ordered).nearest(wanted)]
    assert abs(found - wanted) == min(abs(value - wanted) for value in ordered)


def test_lines_stand_over_their_values() -> None:
    scale = line_scale(coordinate([0, 10, 100]))
    assert scale.by_value
    assert scale.positions(range(0, 3, 2)).tolist() == [0, 100]
    assert scale.index_at(60) == 2
    assert not line_scale(coordinate([0, 2, 1])).by_value
    assert not line_scale(coordinate([0, np.nan, 1])).by_value


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 20))
def test_round_numbers_lie_inside_and_are_not_too_many(low: float, span: float, count: int) -> None:
    numbers, step = nice_numbers(low, low + span, count)
    assert len(numbers) <= count + 1
    assert all(low - step * 1e-6 <= number <= low + span + step * 1e-6 for number in numbers)
    texts = [stepped_text(number, step, abs(low) + span) for number in numbers]
    if span > 1e-6 * abs(low):
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, "1.5"),
        (-3, "−3"),
        (np.float32(7429.06), "7429.06"),
        (True, "True"),
        (1 - 2j, "1 − 2i"),
        (np.bytes_(b"ab"), "ab"),
        (b"ab\x00", "0x616200"),
        (b"", "no bytes"),
        (bytes(100), f"0x{'00' * 32}… 100 bytes"),
        (np.arange(3), "[0, 1, 2]"),
        (np.zeros(1000, "i2"), f"[{', '.join('0' * 32)}, …] 1,000 values"),
        (np.datetime64("2001-01-02"), "2001-01-02"),
        (np.array([(1, 2.5)], "i4,f8")[0], "f0: 1, f1: 2.5"),
    ],
)
def test_values_as_text(value: object, text: str) -> None:
    assert value_text(value) == text


# Dates


@pytest.mark.parametrize("calendar", ["standard", "noleap", "360_day", "julian", "all_leap"])
@pytest.mark.parametrize("span", [1e-4, 0.01, 0.7, 3, 40, 500, 4000, 80_000])
def test_dates_are_round_in_every_calendar(calendar: str, span: float) -> None:
    scale = DateScale(TimeUnits("days", "2001-01-01", calendar))
    ticks = scale.ticks(12.3, 12.3 + span, 6)
    assert 1 <= len(ticks) <= 14
    assert all(12.3 <= number <= 12.3 + span * 1.001 for number, _text in ticks)
    texts = [text for _number, text in ticks]
    assert all(one != other for one, other in pairwise(texts))
    for number, text in ticks:
        date = scale.date(number)
        if len(text) == 4:
            assert (date.month, date.day, date.hour) == (1, 1, 0)
        elif len(text) == 7:
            assert (date.day, date.hour) == (1, 0)


def test_dates_of_units_that_are_none_are_empty() -> None:
    assert DateScale(TimeUnits("days", "yesterday")).text(3) == ""
    assert DateScale(TimeUnits("days", "yesterday")).ticks(0, 10, 5) == []
    assert DateScale(TimeUnits("days", "2001-01-01", "martian")).text(3) == ""
    assert DateScale(TimeUnits("days", "2001-01-01")).text(1e300) == ""


def test_maps_have_proportions() -> None:
    north = coordinate(np.linspace(90, -90, 91), AxisRole.LATITUDE)
    east = coordinate(np.arange(0, 360, 4.0), AxisRole.LONGITUDE)
    assert are_on_map(east, north)
    assert cell_aspect(east, north) == pytest.approx(2)
    assert not are_on_map(north, east), "not turned"
    uneven = coordinate(np.linspace(0, 9, 91) ** 2, AxisRole.LATITUDE)
    assert not are_on_map(east, uneven)
    strip = coordinate(np.arange(0, 4, 2.0), AxisRole.LATITUDE)
    assert not are_on_map(east, strip)
    projected = coordinate(np.arange(50) * 1e3, AxisRole.NORTH, units="m")
    assert are_on_map(coordinate(np.arange(80) * 1e3, AxisRole.EAST, units="m"), projected)
    depths = coordinate(np.arange(50.0), AxisRole.DOWN, units="m")
    assert not are_on_map(east, depths)


def test_a_calendar_that_is_not_the_usual_one_is_told() -> None:
    units = TimeUnits("days", "2000-01-01", "360_day")
    assert coordinate([0, 30], dates=DateScale(units)).axis_label == "a [360_day calendar]"
    assert coordinate([0, 30], dates=DateScale(TimeUnits("days", "2000-01-01"))).axis_label == "a"
    # Ticks that are indices are called so.
    assert plain_coordinate("a", 3).axis_label == "a index"
    assert coordinate([5, 5, 5], units="m").axis_label == "a index"


def test_indices_stand_for_coordinates_that_are_not_there() -> None:
    empty = coordinate(np.full(50, np.nan))
    assert empty.index_ticks(-0.5, 49.5, 5) == plain_coordinate("a", 50).index_ticks(-0.5, 49.5, 5)
    holes = coordinate([1, np.nan, 7, 9, np.nan])
    assert dict(holes.index_ticks(-0.5, 4.5, 5))[1] == "no value"


def test_times_in_a_calendar_that_is_not_known_are_written_as_numbers() -> None:
    units = TimeUnits("days", "2000-01-01", "moon")
    times = Coordinate(name="time", size=2, values=np.array([0.5, 31.0]), dates=DateScale(units))
    assert [coordinate_text(times, index) for index in range(2)] == ["0.5", "31.0"]


@pytest.mark.parametrize(
    ("unit", "values", "texts", "label", "ticks"),
    [
        ("seconds", [0, 21600, 43200], ["0 hours", "6 hours", "12 hours"], "a [hours]", [0, 5, 10]),
        ("seconds", [0, 86400, 864000], ["0 days", "1 day", "10 days"], "a [days]", [0, 2.5, 5, 7.5, 10]),
        ("minutes", [60, 90], ["60 minutes", "90 minutes"], "a [minutes]", [60, 70, 80, 90]),
        ("hours", [24, 48], ["24 hours", "48 hours"], "a [hours]", [30, 40]),
        ("seconds", [0.5, 60], ["0.5 seconds", "60 seconds"], "a [seconds]", [20, 40, 60]),
    ],
)
def test_durations_are_told_in_a_unit_that_people_read(
    unit: str, values: list[float], texts: list[str], label: str, ticks: list[float]
) -> None:
    scale = DurationScale.of(unit, np.array(values))
    leads = coordinate(values, durations=scale, units=unit)
    assert [leads.text(row) for row in range(len(values))] == texts
    assert leads.axis_label == label
    assert [float(text) for _, text in leads.value_ticks(min(values), max(values), 4)] == ticks
    size = 1 if scale is None else scale.size
    for number, text in leads.value_ticks(min(values), max(values), 4):
        assert number == float(text) * size


def test_infinite_degrees_are_no_value() -> None:
    for values in ([1.0, np.inf, 3.0], [1.0, np.nan, 3.0]):
        scale = AxisScale(Coordinate(name="lat", size=3, role=AxisRole.LATITUDE, values=np.array(values)))
        assert [text for _place, text in scale.ticks(-0.5, 2.5, 4)] == ["1°N", "no value", "3°N"]
