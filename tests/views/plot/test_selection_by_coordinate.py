"""Selections by coordinates: what `sel` of xarray takes, in every calendar; and what is refused, by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.engine.dataset import Array
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.views.plot.named_selection import selection_of

xarray = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")
pytest.importorskip("cftime")


@pytest.fixture(
    scope="module", params=["standard", "noleap", "360_day", "julian", "all_leap", "proleptic_gregorian"]
)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Array, Any]]:
    times = xarray.date_range("2003-01-01", periods=500, freq="D", calendar=request.param, use_cftime=True)
    peer = xarray.Dataset(
        {"a": (("time", "plev", "lat", "lon"), np.zeros((500, 3, 5, 36), "i1"))},
        {
            "time": times,
            "plev": ("plev", [1000.0, 500, 250], {"units": "hPa"}),
            "lat": ("lat", [60.0, 30, 0, -30, -60], {"units": "degrees_north"}),
            "lon": ("lon", np.arange(0, 360, 10.0), {"units": "degrees_east"}),
        },
    )
    file = Path(tmp_path_factory.mktemp("calendar")) / "a.nc"
    peer.to_netcdf(file)
    with refbrowser.open(file) as dataset:
        yield dataset.array("/a"), peer["a"]


@pytest.mark.parametrize(
    ("text", "peer"),
    [
        ("time=2003-04", {"time": "2003-04"}),
        ("time=2003-02..2003-03", {"time": slice("2003-02", "2003-03")}),
        ("time=2003-02:2003-03", {"time": slice("2003-02", "2003-03")}),
        ("time=2004", {"time": "2004"}),
        ("time=..2003-06-15", {"time": slice(None, "2003-06-15")}),
        ("time=2003-12-28..", {"time": slice("2003-12-28", None)}),
        ("lat=-30..30", {"lat": slice(30, -30)}),
        ("lat=30..-30", {"lat": slice(30, -30)}),
        ("plev=500,lon=90..200", {"plev": 500.0, "lon": slice(90, 200)}),
        ("lon=-100..-40", {"lon": slice(260, 320)}),
    ],
)
def test_what_is_selected_is_what_xarray_selects(
    text: str, peer: dict[str, Any], pair: tuple[Array, Any]
) -> None:
    array, expected = pair[0], pair[1].sel(peer)
    selection = selection_of(array, text, CancelToken())
    assert selection.shape == expected.shape
    for name in expected.dims:
        taken = selection.axes[array.dimensions.index(name)]
        np.testing.assert_array_equal(pair[1][name][taken.start : taken.stop], expected[name])


@pytest.mark.parametrize(("name", "value"), [("plev", 600.0), ("lat", 20.0), ("lon", 104.0), ("lon", -56.0)])
def test_the_nearest_is_what_xarray_takes(name: str, value: float, pair: tuple[Array, Any]) -> None:
    array, peer = pair
    expected = peer.sel({name: value % 360 if name == "lon" else value}, method="nearest")
    selection = selection_of(array, f"{name}~{value}", CancelToken())
    taken = selection.axes[array.dimensions.index(name)]
    assert selection.dropped == {array.dimensions.index(name)}
    assert peer[name][taken.start] == expected[name]


def test_the_nearest_date_is_one_of_the_calendar(pair: tuple[Array, Any]) -> None:
    array, peer = pair
    found = selection_of(array, "time~2003-04-10T13:00", CancelToken()).axes[0].start
    date = peer.time.values[found]
    assert (date.year, date.month, date.day) == (2003, 4, 11)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lon=-20..30", "lon from -20 to 30 crosses where it begins: it goes from 0° to 350°E"),
        ("plev=499", "no plev is 499"),
        ("plev~x", "'x' is not a number, or a range FROM..TO, of plev"),
        ("time=2003-13", "no time is within '2003-13'"),
        ("time=nope", "'nope' is not a date of time"),
        ("time~2003-04..2003-05", "is not a date of time"),
        ("time~2003-13", "is not a date of time"),
        ("lat=40..50", "no lat is within '40..50'"),
        ("lon~nan", "'nan' is not a number"),
        ("lon@" + "9" * 5_000, "is neither an index nor a slice"),
        (" " * 2_000 + ",lon@0", "names no dimension"),
        ("lev~3", "there is no dimension 'lev'"),
    ],
)
def test_errors_name_the_coordinate(text: str, words: str, pair: tuple[Array, Any]) -> None:
    with pytest.raises(RefbrowserError) as caught:
        selection_of(pair[0], text, CancelToken())
    assert words in str(caught.value)


def test_of_an_empty_coordinate_there_is_no_value(tmp_path: Path) -> None:
    file = tmp_path / "empty.nc"
    xarray.Dataset(coords={"x": np.zeros(0)}).to_netcdf(file)
    with refbrowser.open(file) as dataset, pytest.raises(RefbrowserError, match="x has no values"):
        selection_of(dataset.array("/x"), "x=1", CancelToken())
