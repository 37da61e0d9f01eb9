"""Projections: places come back, well-known places lie where they must, and what is no place is none."""

from __future__ import annotations

import numpy as np
import pytest

from refbrowser.views.maps.projections import PROJECTIONS, PlateCarree, ProjPlane, RotatedPole, projection

DRAWN = [each for each in PROJECTIONS if each.plane is not None]
pyproj = pytest.importorskip("pyproj")


@pytest.mark.parametrize("row", DRAWN, ids=lambda row: row.name)
@pytest.mark.parametrize("centre", [(0.0, 0.0), (10.0, 50.0), (-170.0, -35.0)])
def test_places_come_back(row: object, centre: tuple[float, float]) -> None:
    plane = row.plane(*centre)
    random = np.random.default_rng(5)
    longitudes, latitudes = random.uniform(-180, 180, 800), random.uniform(-89, 89, 800)
    across, upwards = plane.forward(longitudes, latitudes)
    seen = np.isfinite(across)
    assert seen.mean() > 0.4
    back = plane.inverse(across[seen], upwards[seen])
    assert np.abs((back[0] - longitudes[seen] + 180) % 360 - 180).max() < 1e-6
    assert np.abs(back[1] - latitudes[seen]).max() < 1e-6


@pytest.mark.parametrize("row", DRAWN, ids=lambda row: row.name)
@pytest.mark.filterwarnings("error")
def test_what_is_no_place(row: object) -> None:
    plane = row.plane(0.0, 40.0)
    strange = np.array([np.nan, np.inf, -np.inf, 1e300, 0.0, 0.0])
    beside = np.array([0.0, 0.0, 0.0, 0.0, np.nan, 91.0])
    assert np.isnan(plane.forward(strange, beside)[1]).all() or row.name == "platecarree"
    back = plane.inverse(np.array([1e9, -1e9, np.nan, np.inf, 1e300]), np.zeros(5))
    assert np.isnan(back[0]).all()
    # Once around is the same place.
    one, other = plane.forward(np.array([10.0, 730.0]), np.array([50.0, 50.0]))[0]
    assert one == pytest.approx(other, nan_ok=True)


@pytest.mark.parametrize(
    ("name", "definition"),
    [
        ("robinson", "+proj=robin +lon_0=30"),
        ("orthographic", "+proj=ortho +lon_0=30 +lat_0=50"),
        ("north", "+proj=stere +lat_0=90 +lon_0=30"),
        ("equalarea", "+proj=laea +lon_0=30 +lat_0=50"),
        ("conformal", "+proj=lcc +lon_0=30 +lat_0=50 +lat_1=40 +lat_2=60"),
    ],
)
def test_they_are_those_of_pyproj(name: str, definition: str) -> None:
    longitudes, latitudes = np.meshgrid(np.linspace(0, 60, 7), np.linspace(20, 80, 7))
    expected = pyproj.Proj(f"{definition} +R=6371229")(longitudes, latitudes)
    plane = projection(name).plane
    assert plane is not None
    found = plane(30.0, 50.0).forward(longitudes, latitudes)
    degree = 6_371_229 * np.pi / 180
    assert found[0] * degree == pytest.approx(expected[0], abs=1e-3)
    assert found[1] * degree == pytest.approx(expected[1], abs=1e-3)


@pytest.mark.parametrize("turn", [0.0, 20.0])
def test_the_rotated_pole_is_that_of_pyproj(turn: float) -> None:
    mapping = {
        "grid_mapping_name": "rotated_latitude_longitude",
        "grid_north_pole_longitude": -170.0,
        "grid_north_pole_latitude": 43.0,
        "north_pole_grid_longitude": turn,
    }
    crs = pyproj.CRS.from_cf(mapping)
    transform = pyproj.Transformer.from_crs(crs.source_crs, crs, always_xy=True)
    longitudes, latitudes = np.meshgrid(np.linspace(-179, 179, 15), np.linspace(-85, 85, 11))
    expected = transform.transform(longitudes, latitudes)
    found = RotatedPole(-170.0, 43.0, turn).forward(longitudes, latitudes)
    assert np.abs((found[0] - expected[0] + 180) % 360 - 180).max() < 1e-6
    assert found[1] == pytest.approx(expected[1], abs=1e-6)
    back = RotatedPole(-170.0, 43.0, turn).inverse(*found)
    assert np.abs((back[0] - longitudes + 180) % 360 - 180).max() < 1e-6


def test_plate_carree_goes_once_around_its_middle() -> None:
    plane = PlateCarree(150.0)
    assert plane.seam == 330.0
    across, upwards = plane.forward(np.array([-31.0, -29.0, 0.0]), np.array([1.0, 2.0, 3.0]))
    assert list(across) == [329.0, -29.0, 0.0]
    assert list(upwards) == [1.0, 2.0, 3.0]


def test_outside_of_the_map_is_no_place() -> None:
    plane = projection("robinson").plane(0.0, 0.0)
    assert isinstance(plane, ProjPlane)
    edge = plane.forward(np.array([179.999]), np.array([60.0]))
    inside = plane.inverse(edge[0] * 0.999, edge[1])
    outside = plane.inverse(edge[0] * 1.01, edge[1])
    assert np.isfinite(inside[0]).all()
    assert np.isnan(outside[0]).all()
