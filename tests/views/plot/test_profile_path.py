"""Ways of profiles: through corners, on great circles, over the seam of longitudes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.plot.coordinates import AxisRole, Coordinate, plain_coordinate
from refbrowser.views.plot.profile_path import EARTH, MOST, distances, is_on_earth, path_through

LAT = Coordinate("lat", 181, AxisRole.LATITUDE, np.linspace(90, -90, 181), units="degrees_north")
LON = Coordinate("lon", 360, AxisRole.LONGITUDE, np.arange(0.0, 360.0), units="degrees_east")
WHOLE = [range(181), range(360)]


def row(latitude: float) -> float:
    return 90 - latitude


def test_a_great_circle_goes_over_the_pole() -> None:
    # From 60°N on one side of the Earth to 60°N on the other.
    path = path_through(LAT, LON, [(row(60), 10), (row(60), 190)], WHOLE, great_circle=True)
    assert path.units == "km"
    assert path.rows.min() == 0
    assert set(path.columns.tolist()) >= {10, 190}
    assert path.places[-1] == pytest.approx(EARTH * np.radians(60), rel=1e-6)


def test_it_crosses_the_seam_where_that_is_shorter() -> None:
    path = path_through(LAT, LON, [(row(40), 350), (row(40), 10)], WHOLE, great_circle=True)
    assert len(path.rows) < 40
    assert set(path.columns.tolist()) <= {*range(350, 360), *range(0, 11)}
    straight = path_through(LAT, LON, [(row(40), 350), (row(40), 10)], WHOLE)
    assert len(straight.columns) == 341
    assert straight.places[-1] > 10 * path.places[-1]


places = st.tuples(st.integers(-80, 80), st.integers(0, 359))


@given(places, places)
def test_it_is_as_long_as_the_haversine_says_and_near_the_circle(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    corners = [(row(lat), lon) for lat, lon in (one, other)]
    path = path_through(LAT, LON, corners, WHOLE, great_circle=True)
    whole = distances(np.array([one[0], other[0]], float), np.array([one[1], other[1]], float))[-1]
    assert path.places[-1] == pytest.approx(whole, rel=1e-6, abs=1e-6)
    assert (np.diff(path.places) >= 0).all()
    if 1 < whole < 0.99 * np.pi * EARTH:
        # Each element is no farther from the plane of the circle than its cell is wide.
        vectors = [
            np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
            for lat, lon in (np.radians(one), np.radians(other))
        ]
        normal = np.cross(*vectors)
        normal /= np.linalg.norm(normal)
        lat, lon = np.radians(90.0 - path.rows), np.radians(path.columns.astype(float))
        points = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
        assert np.abs(normal @ points).max() < np.radians(1.0)


def test_corners_are_joined_and_each_element_comes_once() -> None:
    y, x = plain_coordinate("y", 50), plain_coordinate("x", 60)
    path = path_through(y, x, [(0, 0), (0, 30), (40, 30)], [range(50), range(60)])
    assert path.units == "cells"
    assert path.places[-1] == pytest.approx(70)
    assert list(zip(path.rows, path.columns, strict=True)) == [
        *((0, column) for column in range(31)),
        *((row, 30) for row in range(1, 41)),
    ]


def test_of_a_thinned_picture_only_its_elements_are_taken() -> None:
    y, x = plain_coordinate("y", 1000), plain_coordinate("x", 1000)
    path = path_through(y, x, [(0, 0), (999, 999), (0, 990)], [range(0, 1000, 10), range(5, 1000, 10)])
    assert set((path.rows % 10).tolist()) == {0}
    assert set((path.columns % 10).tolist()) == {5}


def test_a_very_long_way_is_held_to_what_a_chart_shows() -> None:
    size = 10**7
    y, x = plain_coordinate("y", size), plain_coordinate("x", size)
    path = path_through(y, x, [(0, 0), (size - 1, size - 1), (0, size - 1)], [range(size), range(size)])
    assert len(path.rows) <= MOST
    assert not is_on_earth(y, x)
