from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from view_arrays import node

from refbrowser.views.plot.coordinates import AxisRole, Coordinate, plain_coordinate
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.plan import plan_view
from refbrowser.views.plot.profile import (
    Profile,
    elements_between,
    first_line,
    held,
    length_text,
    place_text,
    profile_of,
    profile_rows,
)
from refbrowser.views.plot.slicing import SliceState

ROWS, COLUMNS = 20, 30
LATITUDES = Coordinate("lat", ROWS, AxisRole.LATITUDE, np.linspace(-10, 9, ROWS), units="degrees_north")
LONGITUDES = Coordinate("lon", COLUMNS, AxisRole.LONGITUDE, np.arange(COLUMNS) * 1.0, units="degrees_east")
PLAIN = (plain_coordinate("y", ROWS), plain_coordinate("x", COLUMNS))


def picture(
    steps: tuple[int, int] = (1, 1), chunks: tuple[int, int] = (5, 10), *, turned: bool = False
) -> Picture:
    """Return a picture whose value at (y, x) is 100 y + x; every chunk has come."""
    array = node((ROWS, COLUMNS), chunks, "<f4", ("y", "x"), units="K")
    state = SliceState(array.shape, ("y", "x"), *((0, 1) if turned else (1, 0)), (0, 0))
    made = Picture(array, plan_view(array, state, steps=steps))
    y, x = np.mgrid[0:ROWS, 0:COLUMNS]
    values = (100 * y + x).astype("f4")
    made.out[...] = values[:: steps[1], :: steps[0]] if turned else values[:: steps[0], :: steps[1]]
    made.states[...] = ChunkState.DONE
    return made


def profile(start: tuple[int, int], stop: tuple[int, int], coordinates: object = PLAIN) -> Profile:
    shown = Interpretation(picture().node, decoded=True)
    return profile_of(picture(), shown, coordinates, start, stop)  # type: ignore[arg-type]


def test_values_of_the_elements_nearest_to_the_line() -> None:
    found = profile((2, 3), (6, 11))
    assert found.columns.tolist() == list(range(3, 12))
    np.testing.assert_allclose(found.rows, np.linspace(2, 6, 9), atol=0.5)
    assert found.numbers.tolist() == [100 * r + c for r, c in zip(found.rows, found.columns, strict=True)]
    assert (found.element(0), found.element(8)) == ((2, 3), (6, 11))
    assert found.nearest(found.places[4] + 0.01) == 4


def test_an_end_may_be_before_the_other_and_a_line_may_be_a_point() -> None:
    back = profile((6, 11), (2, 3))
    assert back.numbers.tolist() == profile((2, 3), (6, 11)).numbers.tolist()[::-1]
    point = profile((4, 4), (4, 4))
    assert point.numbers.tolist() == [404]
    assert point.length == 0


def test_ends_outside_are_drawn_to_the_border() -> None:
    found = profile((-5, -100), (3, 500))
    assert (found.element(0), found.element(len(found) - 1)) == ((0, 0), (3, COLUMNS - 1))


def test_along_a_dimension_its_coordinate_is_the_axis() -> None:
    across = profile((4, 2), (4, 9), (LATITUDES, LONGITUDES))
    assert across.scale is not None
    assert across.scale.coordinate is LONGITUDES
    assert across.places.tolist() == [2, 3, 4, 5, 6, 7, 8, 9]
    upwards = profile((2, 4), (9, 4), (LATITUDES, LONGITUDES))
    assert upwards.scale is not None
    assert upwards.places.tolist() == [-8, -7, -6, -5, -4, -3, -2, -1]
    bare = profile((2, 4), (9, 4))
    assert bare.places.tolist() == list(range(2, 10))


def test_distance_on_the_earth() -> None:
    # A degree of longitude on the equator, and one of latitude, are each about 111.2 km.
    found = profile((10, 0), (13, 4), (LATITUDES, LONGITUDES))
    assert (found.scale, found.label, found.units) == (None, "distance", "km")
    whole = (
        2
        * 6371.0088
        * np.arcsin(
            np.sqrt(np.sin(np.radians(1.5)) ** 2 + np.cos(np.radians(3)) * np.sin(np.radians(2)) ** 2)
        )
    )
    assert found.length == pytest.approx(whole, rel=0.12), "steps from cell to cell, so somewhat longer"
    assert found.length >= whole
    assert (np.diff(found.places) > 0).all()


def test_distance_in_the_units_that_both_coordinates_have() -> None:
    y = Coordinate("y", ROWS, AxisRole.NORTH, np.arange(ROWS) * 3.0, units="m")
    x = Coordinate("x", COLUMNS, AxisRole.EAST, np.arange(COLUMNS) * 4.0, units="m")
    found = profile((0, 0), (10, 10), (y, x))
    assert (found.units, found.length) == ("m", pytest.approx(50))
    other = Coordinate("x", COLUMNS, AxisRole.OTHER, np.arange(COLUMNS) * 4.0, units="s")
    assert profile((0, 0), (3, 4), (y, other)).units == "cells"
    assert profile((0, 0), (3, 4), (y, other)).length == pytest.approx(5)
    assert length_text(found).startswith("50 m, 11 values")


def test_gaps_where_chunks_did_not_come() -> None:
    made = picture()
    made.states[0, 0], made.states[0, 1] = ChunkState.MISSING, ChunkState.FAILED
    found = profile_of(made, Interpretation(made.node, decoded=True), PLAIN, (1, 0), (1, 29))
    assert np.isnan(found.numbers[:20]).all()
    assert found.numbers[20:].tolist() == list(range(120, 130))
    assert (found.count(ChunkState.MISSING), found.count(ChunkState.FAILED)) == (10, 10)


def test_a_sampled_picture_gives_the_values_that_it_took() -> None:
    made = picture(steps=(2, 3))
    found = profile_of(made, Interpretation(made.node, decoded=True), PLAIN, (3, 4), (11, 22))
    assert set((found.rows % 2).tolist()) == {0}
    assert set((found.columns % 3).tolist()) == {0}
    assert found.numbers.tolist() == [100 * r + c for r, c in zip(found.rows, found.columns, strict=True)]
    assert held(made, (5, 5))[1] == 6


def test_axes_that_are_exchanged() -> None:
    made = picture(turned=True)
    found = profile_of(made, Interpretation(made.node, decoded=True), PLAIN, (25, 3), (25, 9))
    assert found.numbers.tolist() == [100 * column + 25 for column in range(3, 10)]


def test_very_long_lines_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.views.plot.profile.MOST", 8)
    rows, columns = elements_between(picture(), (0, 0), (19, 29))
    assert len(rows) == len(columns) == 8
    assert (rows[-1], columns[-1]) == (19, 29)


def test_texts_and_rows() -> None:
    made, places = picture(), (LATITUDES, LONGITUDES)
    made.states[0, 0] = ChunkState.FAILED
    shown = Interpretation(made.node, decoded=True)
    found = profile_of(made, shown, places, (2, 8), (5, 11))
    assert place_text(places, (0, 1), (2, 8)) == "8°S, 8°E"
    assert place_text(PLAIN, (0, 1), (2, 8)) == "y 2, x 8"
    titles, first, *_, last = profile_rows(found, shown, places, (0, 1), "temp")
    assert titles == ["distance [km]", "lat [degrees_north]", "lon [degrees_east]", "temp [K]"]
    assert first == ["0", "-8.0", "8.0", ""], "what failed is empty"
    assert last[1:] == ["-5.0", "11.0", "511.0"]
    along = profile_of(made, shown, places, (2, 10), (2, 12))
    rows = list(profile_rows(along, shown, places, (0, 1), "temp"))
    assert rows[1] == ["-8.0", "10.0", "210.0"]
    # A column more where values are of a stale file.
    stale = replace(along, stale=np.array([False, True, False]))
    marked = list(profile_rows(stale, shown, places, (0, 1), "temp"))
    marks = ["temp: file", "", "changed since the lock", ""]
    assert marked == [[*row, mark] for row, mark in zip(rows, marks, strict=True)]


def test_the_first_line_lies_in_what_is_visible() -> None:
    start, stop = first_line([range(10, 16), range(20, 32)])
    assert start[0] == stop[0] == 13
    assert 20 <= start[1] < stop[1] < 32
    assert first_line([range(3, 4), range(5, 6)]) == ((3, 5), (3, 5))
