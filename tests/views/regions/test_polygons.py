"""Points in polygons: on grids and one by one, against the turns counted along a ray."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.regions.polygons import grid_within, points_within, sides_of

whole = st.integers(-8, 8)
polygons = st.lists(st.tuples(whole, whole), min_size=3, max_size=7)


def is_within(x: float, y: float, corners: list[tuple[int, int]]) -> bool:
    turns = 0
    for (x0, y0), (x1, y1) in sides_of(corners):
        if (y0 > y) != (y1 > y):
            turns += x > x0 + (y - y0) * (x1 - x0) / (y1 - y0)
    return turns % 2 == 1


@given(polygons, st.permutations(range(-9, 9)), st.permutations(range(-9, 9)))
def test_both_ways_are_as_counted(corners: list[tuple[int, int]], xs: list[int], ys: list[int]) -> None:
    # Between the corners: on a side it may be either.
    across, upwards = np.array(xs) + 0.3217, np.array(ys[:5]) + 0.1234
    expected = [[is_within(x, y, corners) for x in across] for y in upwards]
    assert grid_within(across, upwards, corners).tolist() == expected
    spread = np.meshgrid(across, upwards)
    assert points_within(spread[0], spread[1], corners).tolist() == expected


def test_neighbouring_polygons_share_no_point() -> None:
    across = upwards = np.arange(0.0, 11.0)
    left, right = ((0, 0), (5, 0), (5, 10), (0, 10)), ((5, 0), (10, 0), (10, 10), (5, 10))
    one, other = grid_within(across, upwards, left), grid_within(across, upwards, right)
    assert not (one & other).any()
    assert (one | other).sum() == 100
