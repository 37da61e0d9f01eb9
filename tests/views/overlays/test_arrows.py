"""Arrows: how long, which way; and which arrays are components."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from view_arrays import node

from refbrowser.views.overlays.arrows import ArrowScale, Components, apart, arrow_strokes, components_among
from refbrowser.views.overlays.marks import Marks
from refbrowser.views.overlays.same_grid import slice_on
from refbrowser.views.plot.slicing import SliceState

EAST, NORTH = np.array([[3.0, 0.0]]), np.array([[0.0, -0.1]])


def shaft(u: float, v: float, east: np.ndarray = EAST, north: np.ndarray = NORTH) -> np.ndarray:
    strokes, _dots = arrow_strokes(
        np.array([[50.0, 60.0]]), east, north, np.array([u]), np.array([v]), ArrowScale(2.0, 10.0)
    )
    assert len(strokes) == 3
    np.testing.assert_allclose(strokes[0].mean(axis=0), [50, 60])
    np.testing.assert_allclose(strokes[1:, 0], [strokes[0, 1]] * 2)
    # Both sides of the head lie behind the tip.
    way = strokes[0, 1] - strokes[0, 0]
    assert ((strokes[1:, 1] - strokes[1:, 0]) @ way < 0).all()
    return way


def test_an_arrow_is_as_long_and_points_as_its_vector() -> None:
    np.testing.assert_allclose(shaft(3, 4), [6, -8])
    np.testing.assert_allclose(shaft(-3, 0), [-6, 0], atol=1e-12)
    # However the axes lie, the length is that of the value.
    turned = shaft(3, 4, np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]]))
    np.testing.assert_allclose(turned, [8, 6])
    slanted = shaft(3, 4, EAST, np.array([[1.0, -1.0]]))
    assert np.hypot(*slanted) == pytest.approx(10)


def test_short_ones_are_dots_and_unknown_ones_nothing() -> None:
    feet = np.arange(8.0).reshape(4, 2)
    ways = np.tile(EAST, (4, 1)), np.tile(NORTH, (4, 1))
    u, v = np.array([0.0, np.nan, 1, 0.1]), np.zeros(4)
    feet[2, 0] = np.nan
    strokes, dots = arrow_strokes(feet, *ways, u, v, ArrowScale(2.0, 1.0))
    assert len(strokes) == 0
    np.testing.assert_array_equal(dots, [[0, 1], [6, 7]])


def test_a_round_number_is_told() -> None:
    scale = ArrowScale.of(np.concatenate([np.full(990, 7.3), [900.0] * 10, [np.nan, 0]]))
    assert scale is not None
    assert (scale.told, scale.text) == (10, "10")
    assert scale.pixels * 7.3 == pytest.approx(26 * 0.95)
    few = ArrowScale.of(np.array([1.2]))
    assert few is not None
    assert few.told == 1
    assert ArrowScale.of(np.zeros(3)) is None
    assert ArrowScale.of(np.array([np.nan])) is None


def wind(path: str, shape: tuple[int, ...] = (4, 5, 6), **attributes: Any) -> Any:
    found = node(shape, shape, "<f4", ("t", "y", "x")[-len(shape) :], **attributes)
    object.__setattr__(found, "path", path)
    return found


def test_components_by_standard_name() -> None:
    u = wind("/a", standard_name="eastward_sea_water_velocity")
    v = wind("/b", standard_name="northward_sea_water_velocity")
    x, y = wind("/c", standard_name="x_wind"), wind("/d", standard_name="y_wind")
    assert components_among([v, y, wind("/e"), u, x]) == [
        Components("/a", "/b", on_earth=True),
        Components("/c", "/d"),
    ]
    # Of other units or another shape they are none.
    assert components_among([u, wind("/b", standard_name="northward_sea_water_velocity", units="m")]) == []


@pytest.mark.parametrize(
    "pair",
    [
        *(
            ("u", "v"),
            ("U10", "V10"),
            ("uas", "vas"),
            ("uo", "vo"),
            ("water_u", "water_v"),
            ("ugrd10m", "vgrd10m"),
        ),
        *(("wind_x", "wind_y"), ("taux", "tauy"), ("x_wind", "y_wind"), ("u-component", "v-component")),
    ],
)
def test_components_by_name(pair: tuple[str, str]) -> None:
    first, second = (wind(f"/g/{name}") for name in pair)
    assert components_among([second, first]) == [Components(first.path, second.path)]
    # Not of another group.
    assert components_among([first, wind(f"/other/{pair[1]}")]) == []


def test_names_that_only_look_so() -> None:
    assert components_among([wind("/uncertainty"), wind("/vncertainty"), wind("/flux"), wind("/sum")]) == []


def test_the_slice_of_another_array() -> None:
    state = SliceState((3, 4, 5, 6), ("m", "t", "y", "x"), 3, 2, (1, 2, 0, 0))
    under = slice_on(wind("/w"), state)
    assert under is not None
    assert (under.axes, under.indices[:1]) == ((1, 2), (2,))
    flat = slice_on(wind("/w", (5, 6)), state)
    assert flat is not None
    assert flat.axes == (0, 1)
    assert slice_on(wind("/w", (4, 5, 7)), state) is None
    assert slice_on(wind("/w", (6,)), state) is None
    assert slice_on(wind("/w"), SliceState((4, 5, 6), ("a", "y", "x"), 2, 1, (0, 0, 0))) is None


def test_marks_as_plain_values() -> None:
    for wrong in ([], {"other": ""}, {"u": 1}, {"spacing": "x"}, {"contours_of": "x" * 10**6}):
        with pytest.raises(ValueError, match=r"expected|type"):
            Marks.of(wrong)
    assert Marks.of({}).said() == {}
    assert Marks.of({"spacing": "every 4", "u": "/u", "v": "/v"}).arrows == ("/u", "/v")


def test_on_a_map_no_two_stand_close() -> None:
    places = np.random.default_rng(1).uniform(-1, 11, (3000, 2)) ** 2 / 10
    places[:7] = np.nan
    kept = apart(places, ((0.0, 10.0), (0.0, 10.0)), (260.0, 260.0))
    squares = np.floor(places[kept]).astype(int)
    assert len(np.unique(squares, axis=0)) == len(kept)
    assert 60 < len(kept) <= 100
    assert places[kept].min() >= 0
    assert places[kept].max() <= 10
