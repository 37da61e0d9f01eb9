"""Grid mappings of files: found beside the array, understood as pyproj does, and safely refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refbrowser.errors import RefbrowserError
from refbrowser.model.data_type import DataType
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.views.maps.grid_mapping import grid_mapping, is_usable, plane_of

pyproj = pytest.importorskip("pyproj")
LAMBERT = {
    "grid_mapping_name": "lambert_conformal_conic",
    "standard_parallel": [38.5, 38.5],
    "longitude_of_central_meridian": -97.5,
    "latitude_of_projection_origin": 38.5,
    "earth_radius": 6371229.0,
}
GOES = {
    "grid_mapping_name": "geostationary",
    "perspective_point_height": 35786023.0,
    "semi_major_axis": 6378137.0,
    "semi_minor_axis": 6356752.31414,
    "latitude_of_projection_origin": 0.0,
    "longitude_of_projection_origin": -75.0,
    "sweep_angle_axis": "x",
}


def node(path: str, shape: tuple[int, ...], **attributes: Any) -> ArrayNode:
    return ArrayNode(path=path, shape=shape, type=DataType.of(np.dtype("f4"), "<f4"), attributes=attributes)


def tree(*arrays: ArrayNode) -> Hierarchy:
    return Hierarchy(root=GroupNode(arrays={each.name: each for each in arrays}), format="refs-v1")


def at(plane: Any, longitude: float, latitude: float) -> tuple[float, float]:
    across, upwards = plane.forward(np.array([longitude]), np.array([latitude]))
    return float(across[0]), float(upwards[0])


def test_the_named_variable_is_found() -> None:
    found = node("/t", (4, 5), grid_mapping="proj: x y")
    assert grid_mapping(tree(found, node("/proj", (), **LAMBERT)), found) == LAMBERT
    beside = node("/u", (4, 5))
    assert grid_mapping(tree(beside, node("/spatial_ref", (), crs_wkt="X")), beside) == {"crs_wkt": "X"}
    assert grid_mapping(tree(beside, node("/crs", (), note="nothing")), beside) == {}
    coded = node("/v", (4, 5), **{"proj:code": "EPSG:3031"})
    assert grid_mapping(tree(coded), coded)["proj:code"] == "EPSG:3031"


@pytest.mark.parametrize(("units", "factor"), [("m", 1.0), ("km", 1e-3)])
def test_lambert_is_that_of_pyproj(units: str, factor: float) -> None:
    expected = pyproj.Proj("+proj=lcc +lat_1=38.5 +lat_2=38.5 +lon_0=-97.5 +lat_0=38.5 +R=6371229")(
        -90.0, 45.0
    )
    assert at(plane_of(LAMBERT, units), -90.0, 45.0) == pytest.approx(
        (expected[0] * factor, expected[1] * factor), rel=1e-9
    )


def test_scan_angles_of_a_satellite() -> None:
    """The example of the GOES-R product guide: 84.690932 W, 33.846162 N is seen at -0.024052, 0.095340."""
    plane = plane_of(GOES, "rad")
    assert at(plane, -84.690932, 33.846162) == pytest.approx((-0.024052, 0.095340), abs=1e-6)
    assert np.isnan(at(plane, 100.0, 0.0)).all(), "the other side of the Earth"


def test_codes_and_wkt() -> None:
    expected = pyproj.Transformer.from_crs(4326, 3031, always_xy=True).transform(30.0, -75.0)
    assert at(plane_of({"proj:code": "EPSG:3031"}, "m"), 30.0, -75.0) == pytest.approx(expected, rel=1e-6)
    wkt = {"crs_wkt": pyproj.CRS(3031).to_wkt()}
    assert at(plane_of(wkt, "m"), 30.0, -75.0) == pytest.approx(expected, rel=1e-6)


def test_longitudes_and_latitudes_are_no_plane() -> None:
    assert plane_of({"grid_mapping_name": "latitude_longitude"}, "degrees") is None
    assert plane_of({"proj:code": "EPSG:4326"}, "degrees") is None


@pytest.mark.parametrize(
    "mapping",
    [
        {"grid_mapping_name": "nonsense"},
        {"grid_mapping_name": "lambert_conformal_conic"},
        {"crs_wkt": "x" * 100},
        {"crs_wkt": "PROJCS[" * 10_000},
        {"crs_wkt": 'BOUNDCRS[PARAMETERFILE["grid","/etc/passwd"]]'},
        {"spatial_ref": "+proj=utm +nadgrids=/etc/passwd"},
        {"proj:code": "EPSG:999999"},
        {"grid_mapping_name": "rotated_latitude_longitude"},
        {"grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_longitude": "x"},
        {
            "grid_mapping_name": "rotated_latitude_longitude",
            "grid_north_pole_longitude": 1e300,
            "grid_north_pole_latitude": 10.0,
        },
    ],
)
def test_what_cannot_be_understood_is_refused(mapping: dict[str, Any]) -> None:
    with pytest.raises(RefbrowserError):
        plane_of(mapping, "m")


def test_without_pyproj_the_rotated_pole_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.views.maps.grid_mapping.find_spec", lambda name: None)
    assert is_usable({"grid_mapping_name": "rotated_latitude_longitude"})
    assert is_usable({"grid_mapping_name": "latitude_longitude"})
    assert not is_usable(LAMBERT)
