"""The difference and the ratio of two arrays: what goes together, what is aligned, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.io.cancel import CancelToken
from refbrowser.model.expressions.grammar import NamedArray
from refbrowser.views.derived.pairs import Pair, paired

xarray = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

_LAT, _LON = np.arange(-80.0, 81, 20), np.arange(0.0, 360, 30)
_FILES = {
    "july": ("2024-07-01", 1, _LAT, _LON),
    "january": ("2024-01-01", 1, _LAT, _LON),
    "year": ("2024-01-01", 12, _LAT, _LON),
    "before": ("2023-01-01", 12, _LAT, _LON),
    "part": ("2024-03-01", 3, _LAT[2:6], _LON[::2]),
    "turned": ("2024-01-01", 12, _LAT[::-1], _LON),
    "other": ("2024-01-01", 12, np.arange(-60.0, 61, 15), _LON),
    "celsius": ("2024-01-01", 12, _LAT, _LON),
}


@pytest.fixture(scope="module")
def peers() -> dict[str, xarray.DataArray]:
    found = {}
    for seed, (name, (first, months, lat, lon)) in enumerate(_FILES.items()):
        values = np.random.default_rng(seed).normal(280, 10, (months, len(lat), len(lon)))
        times = xarray.date_range(first, periods=months, freq="MS")
        coords = {
            "time": times,
            "lat": ("lat", lat, {"units": "degrees_north"}),
            "lon": ("lon", lon, {"units": "degrees_east"}),
        }
        attributes = {"units": "degC" if name == "celsius" else "K", "long_name": "temperature"}
        found[name] = xarray.DataArray(values, coords, ("time", "lat", "lon"), "t", attributes)
    return found


@pytest.fixture(scope="module")
def datasets(
    peers: dict[str, xarray.DataArray], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Dataset]]:
    folder: Path = tmp_path_factory.mktemp("pairs")
    with ExitStack() as stack:
        opened = {}
        for name, peer in peers.items():
            peer.to_netcdf(folder / f"{name}.nc")
            opened[name] = stack.enter_context(refbrowser.open(folder / f"{name}.nc"))
        yield opened


def pair_of(datasets: dict[str, Dataset], one: str, other: str, sign: str = "-", *moved: str) -> Pair:
    (one, *first), (other, *second) = one.split("|"), other.split("|")
    sides = [NamedArray(one, "/t", "".join(first)), NamedArray(other, "/t", "".join(second))]
    return paired(sides[0], sides[1], sign, datasets, CancelToken(), moved)


def computed(pair: Pair, datasets: dict[str, Dataset]) -> refbrowser.Array:
    return refbrowser.compute(datasets["year"], pair.text, datasets)


@pytest.mark.parametrize(("one", "other"), [("year", "part"), ("part", "year"), ("year", "turned")])
def test_what_both_have_is_what_xarray_aligns(
    one: str, other: str, datasets: dict[str, Dataset], peers: dict[str, xarray.DataArray]
) -> None:
    pair = pair_of(datasets, one, other)
    found, expected = computed(pair, datasets), peers[one] - peers[other]
    assert found.shape == expected.shape
    assert pair.notes
    np.testing.assert_allclose(
        xarray.DataArray(found[...], dims=found.dimensions).transpose(*expected.dims),
        expected if one != "year" or other != "turned" else expected.values,
    )
    assert found.attrs["units"] == "K"


def test_two_months_of_two_files_are_held_where_they_are(
    datasets: dict[str, Dataset], peers: dict[str, xarray.DataArray]
) -> None:
    pair = pair_of(datasets, "july", "january")
    assert pair.title == "temperature: 2024-07-01 − 2024-01-01"
    assert pair.notes == ("time is 2024-07-01 in the first and 2024-01-01 in the second",)
    found = computed(pair, datasets)
    assert found.name == "t_difference"
    np.testing.assert_allclose(found[...], peers["july"].values[0] - peers["january"].values[0])


def test_two_places_of_one_array(datasets: dict[str, Dataset], peers: dict[str, xarray.DataArray]) -> None:
    pair = pair_of(datasets, "year|time=2024-07", "year|time=2024-01", "/")
    found = computed(pair, datasets)
    assert found.name == "t_ratio"
    assert found.attrs["units"] == "1"
    np.testing.assert_allclose(found[...], peers["year"].values[6] / peers["year"].values[0])


def test_other_times_are_laid_by_position_where_that_is_asked_for(
    datasets: dict[str, Dataset], peers: dict[str, xarray.DataArray]
) -> None:
    pair = pair_of(datasets, "year", "before")
    assert not pair.text
    assert pair.movable == ("time",)
    assert pair.differences == (
        "time: 12 from 2024-01-01 to 2024-12-01 in the first, 12 from 2023-01-01 to 2023-12-01 in the second",
    )
    found = computed(pair_of(datasets, "year", "before", "-", "time"), datasets)
    np.testing.assert_allclose(found[...], peers["year"].values - peers["before"].values)
    times = found.dataset["/time"]
    assert times.attrs["units"] == datasets["year"]["/time"].attrs["units"]


def test_grids_that_differ_are_refused_with_what_differs(datasets: dict[str, Dataset]) -> None:
    pair = pair_of(datasets, "year", "other")
    assert not pair.text
    assert pair.differences == ("lat: 9 from 80°S to 80°N in the first, 9 from 60°S to 60°N in the second",)
    one, other = "year|lat@0,time@0", "year|lon@0,time@1"
    assert pair_of(datasets, one, other).differences == ("only the first has lon, only the second lat",)


def test_other_units_become_those_of_the_first(
    datasets: dict[str, Dataset], peers: dict[str, xarray.DataArray]
) -> None:
    pytest.importorskip("cf_units")
    pair = pair_of(datasets, "year", "celsius")
    assert pair.notes == ("the second is put in K, from degC",)
    expected = peers["year"] - (peers["celsius"] + 273.15)
    np.testing.assert_allclose(computed(pair, datasets)[...], expected)
