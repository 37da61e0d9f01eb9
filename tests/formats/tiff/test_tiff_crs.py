"""The coordinate system of a GeoTIFF, in references and exports, against rioxarray on the file itself."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import some

import refbrowser
from refbrowser.formats.tiff.tiff_crs import grid_mapping

xr = pytest.importorskip("xarray")
rasterio = pytest.importorskip("rasterio")
rioxarray = pytest.importorskip("rioxarray")
pyproj = pytest.importorskip("pyproj")

USER_DEFINED = (
    "+proj=laea +lat_0=52 +lon_0=11 +x_0=4321000 +y_0=3210000 +ellps=GRS80 +units=m",
    "+proj=stere +lat_0=90 +lat_ts=71 +lon_0=-45 +ellps=WGS84",
    "+proj=stere +lat_0=-90 +lat_ts=-71 +lon_0=3 +ellps=WGS84",
    "+proj=lcc +lat_1=30 +lat_2=60 +lat_0=40 +lon_0=10 +ellps=GRS80",
    "+proj=tmerc +lat_0=1 +lon_0=9 +k=0.9996 +x_0=500000 +ellps=intl",
    "+proj=aea +lat_1=29 +lat_2=45.5 +lat_0=23 +lon_0=-96 +ellps=GRS80",
)


def written(path: Path, crs: str) -> Path:
    with rasterio.open(
        path, "w", driver="GTiff", width=8, height=6, count=1, dtype="float32", crs=crs,
        transform=rasterio.transform.from_origin(50, 49, 0.5, 0.25),
    ) as file:  # fmt: skip
        file.write(np.arange(48, dtype="f4").reshape(1, 6, 8))
    return path


def of_references(path: Path) -> Any:
    target = path.with_suffix(".json")
    refbrowser.make(path, target)
    return xr.open_dataset(target, engine="refbrowser")["image"]


@pytest.mark.parametrize("crs", ["EPSG:32632", "EPSG:4326", "EPSG:3035", "EPSG:3413"])
def test_a_system_with_a_code_is_that_of_the_file(tmp_path: Path, crs: str) -> None:
    path = written(tmp_path / "a.tif", crs)
    with rioxarray.open_rasterio(path) as wanted:
        found = of_references(path)
        assert found.rio.crs == wanted.rio.crs
        assert found.rio.transform() == wanted.rio.transform()
        assert rasterio.Affine.from_gdal(
            *map(float, found["spatial_ref"].attrs["GeoTransform"].split())
        ) == wanted.rio.transform()  # fmt: skip


def test_exports_keep_the_system(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tif", "EPSG:32632")
    with rioxarray.open_rasterio(path) as wanted, refbrowser.open(path) as dataset:
        for form, name, how in (
            ("zarr-v3", "a.zarr", {"engine": "zarr"}),
            ("zarr-v2", "b.zarr", {"engine": "zarr"}),
            ("netcdf4", "a.nc", {"engine": "netcdf4"}),
        ):
            refbrowser.export(dataset, tmp_path / name, format=form)
            with xr.open_dataset(tmp_path / name, **how) as found:
                assert found["image"].rio.crs == wanted.rio.crs, form


@pytest.mark.slow
@pytest.mark.parametrize("crs", some(USER_DEFINED, 3))
def test_a_system_of_keys_gives_the_same_coordinates(tmp_path: Path, crs: str) -> None:
    path = written(tmp_path / "a.tif", crs)
    found = pyproj.CRS.from_user_input(of_references(path).rio.crs)
    truth = pyproj.CRS.from_proj4(crs)
    for x, y in ((1000, 2000), (-250_000, 400_000)):
        ours, theirs = (
            pyproj.Transformer.from_crs(each, each.geodetic_crs, always_xy=True).transform(x, y)
            for each in (found, truth)
        )
        assert ours == pytest.approx(theirs, abs=1e-7)


def test_without_pyproj_the_code_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"GTModelTypeGeoKey": 1, "ProjectedCSTypeGeoKey": 32632}
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "pyproj":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert grid_mapping(keys, "")["crs_wkt"] == "EPSG:32632"


def test_what_has_no_words_gives_nothing() -> None:
    for keys in (
        {},
        {"GTModelTypeGeoKey": 1, "ProjectedCSTypeGeoKey": 32767, "ProjCoordTransGeoKey": 999},
        {"GTModelTypeGeoKey": 1, "ProjCoordTransGeoKey": 8, "GeogEllipsoidGeoKey": 7019},
        {"GTModelTypeGeoKey": 2, "GeographicTypeGeoKey": "4326"},
        {"GTModelTypeGeoKey": 1, "ProjCoordTransGeoKey": [10], "GeogEllipsoidGeoKey": [7019]},
    ):
        assert grid_mapping(keys, "0 1 0 0 0 1") == {}
