"""Meshes of places: each place is found in its cell, at seams, poles, holes and folds too."""

from __future__ import annotations

import numpy as np
import pytest

from refbrowser.views.maps.mesh import Mesh, vectors
from refbrowser.views.maps.projections import RotatedPole

Pair = tuple[np.ndarray, np.ndarray]


def regional(rows: int = 41, columns: int = 53) -> Pair:
    """Return a rotated grid over Europe and the Arctic, which has the North Pole in it."""
    across, upwards = np.meshgrid(np.linspace(-28, 18, columns), np.linspace(-23, 60, rows))
    return RotatedPole(-162.0, 39.25).inverse(across, upwards)


def around(rows: int = 60, columns: int = 120) -> Pair:
    step = 360 / columns
    return np.meshgrid((np.arange(columns) + 0.5) * step, -90 + (np.arange(rows) + 0.5) * 180 / rows)


def apart(one: Pair, other: Pair) -> np.ndarray:
    return np.degrees(np.linalg.norm(vectors(*one) - vectors(*other), axis=-1))


@pytest.mark.parametrize("places", [regional(), around()], ids=["regional", "around"])
def test_each_centre_is_found(places: Pair) -> None:
    rows, columns = np.indices(places[0].shape)
    found = Mesh(*places).find(*places)
    assert found[0] == pytest.approx(rows, abs=0.05)
    assert found[1] == pytest.approx(columns, abs=0.05)


@pytest.mark.parametrize("turn", [(1, 1), (-1, 1), (1, -1), (-1, -1)])
def test_whichever_way_its_axes_run(turn: tuple[int, int]) -> None:
    longitudes, latitudes = (each[:: turn[0], :: turn[1]] for each in regional())
    rows, columns = Mesh(longitudes, latitudes).find(longitudes, latitudes)
    assert rows == pytest.approx(np.indices(longitudes.shape)[0], abs=0.05)
    assert columns == pytest.approx(np.indices(longitudes.shape)[1], abs=0.05)


def test_a_mesh_around_the_earth_has_no_gap() -> None:
    mesh = Mesh(*around())
    assert mesh.is_round
    asked = np.random.default_rng(2).uniform(-360, 360, 4000), np.random.default_rng(3).uniform(-89, 89, 4000)
    found = mesh.find(*asked)
    assert not np.isnan(found[0]).any()
    assert apart(mesh.places(*found), asked).max() < 1e-4
    rows, columns = (np.floor(each + 0.5).astype(int) for each in found)
    east, north = around()
    centre = east[rows, columns % 120], north[rows, columns % 120]
    assert (np.abs((centre[0] - asked[0] + 180) % 360 - 180) < 1.51).all()
    assert (np.abs(centre[1] - asked[1]) < 1.6).all()


def test_the_cell_of_a_place_is_the_nearest_of_an_even_mesh() -> None:
    longitudes, latitudes = regional()
    mesh = Mesh(longitudes, latitudes)
    random = np.random.default_rng(4)
    asked = random.uniform(-60, 120, 3000), random.uniform(25, 90, 3000)
    rows, columns = mesh.find(*asked)
    known = np.isfinite(rows)
    assert 0.2 < known.mean() < 1.0
    points, centres = vectors(*asked)[known], vectors(longitudes, latitudes).reshape(-1, 3)
    nearest = np.argmax(points @ centres.T, axis=1)
    cells = np.floor(rows[known] + 0.5).astype(int) * 53 + np.floor(columns[known] + 0.5).astype(int)
    # Where sides are of different lengths an edge is not quite the bisector.
    assert (nearest == cells).mean() > 0.97


def test_holes_stay_holes() -> None:
    longitudes, latitudes = regional()
    longitudes[10:20, 15:30] = np.nan
    latitudes[30, 40] = 1e300
    longitudes[0, 0] = np.inf
    mesh = Mesh(longitudes, latitudes)
    rows, columns = mesh.find(*regional())
    missing = np.isnan(longitudes) | ~(np.abs(latitudes) <= 90) | np.isinf(longitudes)
    assert np.isnan(rows[missing]).all()
    assert not np.isnan(rows[~missing]).any()
    assert np.floor(columns[~missing] + 0.5) == pytest.approx(np.indices(rows.shape)[1][~missing])


@pytest.mark.parametrize(
    "places",
    [
        (np.full((3, 4), np.nan), np.full((3, 4), np.nan)),
        (np.zeros((3, 4)), np.zeros((3, 4))),
        (np.full((2, 2), 1e300), np.full((2, 2), -1e300)),
        (np.array([[0.0, np.nan], [np.inf, 1.0]]), np.array([[0.0, 1.0], [2.0, 3.0]])),
        (
            np.random.default_rng(0).uniform(-999, 999, (9, 9)),
            np.random.default_rng(1).uniform(-99, 99, (9, 9)),
        ),
    ],
    ids=["none", "one place", "far", "mixed", "noise"],
)
@pytest.mark.filterwarnings("error")
def test_hostile_places_do_no_harm(places: Pair) -> None:
    mesh = Mesh(*places)
    found = mesh.find(np.array([0.0, 10.0, np.nan, 1e300, -720.0]), np.array([0.0, 95.0, 1.0, 2.0, np.inf]))
    assert found[0].shape == (5,)
    assert np.isnan(found[0][1:4]).all()
    mesh.places(np.array([-1.0, 0.0, 1e9, np.nan]), np.array([0.0, 0.0, 0.0, 0.0]))


def test_what_is_far_away_is_not_in_it() -> None:
    mesh = Mesh(*regional())
    longitudes, latitudes = regional()
    rows, _columns = mesh.find(longitudes + 180.0, -latitudes)
    assert np.isnan(rows).all()
