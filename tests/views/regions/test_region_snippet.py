"""Lines of Python for regions give what the window tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.io.cancel import CancelToken
from refbrowser.views.regions.region import parsed_region
from refbrowser.views.regions.region_reading import region_of_array
from refbrowser.views.regions.region_snippet import region_snippet
from refbrowser.views.regions.region_statistics import statistics_of

xarray = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chance = np.random.default_rng(0)
    t2m = chance.normal(280, 9, (3, 18, 36)).astype("f4")
    t2m[1, 3:5, 7] = np.nan
    lat, lon = np.linspace(85, -85, 18), np.arange(0.0, 360, 10)
    edges = np.stack([lat + 5, lat - 5], axis=1)
    made = xarray.Dataset(
        {
            "t2m": (("time", "lat", "lon"), t2m),
            "sst": (("time", "lat", "lon"), t2m + 1, {"cell_measures": "area: area"}),
            "area": (("lat", "lon"), chance.random((18, 36)), {"units": "m2"}),
            "lsm": (("lat", "lon"), (chance.random((18, 36)) > 0.5).astype("f4")),
            "lat_bnds": (("lat", "bnds"), edges),
        },
        {
            "lat": ("lat", lat, {"units": "degrees_north", "bounds": "lat_bnds"}),
            "lon": ("lon", lon, {"units": "degrees_east"}),
        },
    )
    path = tmp_path_factory.mktemp("snippets") / "made.nc"
    made.to_netcdf(path)
    return path


REGIONS = [
    "",
    "lat 30..60, lon -10..30",
    "lat 60..30 and lon 350..10 and not > 285",
    "polygon(-25 -31, 44 -12, 3 77) or lat@2:4",
    "/lsm > 0.5 and != 280",
    "polygon lon lat@(2 2, 30 3, 12 15)",
]


@pytest.mark.slow
@pytest.mark.parametrize("text", REGIONS)
@pytest.mark.parametrize("name", ["t2m", "sst"])
@pytest.mark.parametrize("along", ["", "time"])
def test_xarray_says_the_same(file: Path, text: str, name: str, along: str) -> None:
    index = "" if along else "1,:,:"
    opened = (
        f"import xarray as xr\n\ndataset = xr.open_dataset({str(file)!r})\n"
        f'values = dataset["{name}"][{index or ":"}]\n'
    )
    with refbrowser.open(file) as dataset:
        node = dataset.array(f"/{name}").node
        selection = dataset.array(f"/{name}").selection(index)
        ready = region_of_array(dataset, node, parsed_region(text), selection, CancelToken())
        found = statistics_of(ready, CancelToken(), along=0 if along else None)
        lines = region_snippet(opened, ready, str(file), along)
    names: dict[str, Any] = {}
    exec(lines, names)
    assert found.weighted is not None
    if along:
        assert found.series is not None
        assert names["mean"].values == pytest.approx(found.series.mean, nan_ok=True)
        assert names["deviation"].values == pytest.approx(found.series.deviation, nan_ok=True)
        assert names["count"].values.tolist() == found.series.count.tolist()
    else:
        assert float(names["mean"]) == pytest.approx(found.weighted.mean)
        assert float(names["deviation"]) == pytest.approx(found.weighted.deviation)
        assert int(names["count"]) == found.valid


def test_where_xarray_opens_nothing_this_program_does(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with refbrowser.open(file) as dataset:
        array = dataset.array("/t2m")
        selection = array.selection("1,:,:")
        region = parsed_region("lat 0..90")
        ready = region_of_array(dataset, array.node, region, selection, CancelToken())
        lines = region_snippet("import zarr\n", ready, str(file), "")
        expected = statistics_of(ready, CancelToken())
    names: dict[str, Any] = {}
    exec(lines, names)
    assert names["found"].mean == expected.mean
    assert "weighted mean" in capsys.readouterr().out
