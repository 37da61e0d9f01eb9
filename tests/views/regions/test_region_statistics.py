"""Statistics of regions against numpy and xarray, over all kinds of grids, values and losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from region_grids import LOST, GridDocument

import refbrowser
from refbrowser.errors import RefbrowserError
from refbrowser.views.regions.polygons import points_within

xarray = pytest.importorskip("xarray")

LAT, LON = np.linspace(85, -85, 18), np.arange(0.0, 360.0, 10)
ALONG = st.sampled_from(["", "time", "lat"])
PARTS = (0.05, 0.25, 0.5, 0.75, 0.95)
TRIANGLE = ((-25.0, -31.0), (44.0, -12.0), (3.0, 77.0))


def noise(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(280, 9, shape)


def near(number: float) -> Any:
    return pytest.approx(number, rel=1e-9, nan_ok=True)


@st.composite
def grids(draw: st.DrawFn) -> tuple[GridDocument, Any]:
    """Return an array of a map as a document, and as xarray has it: what is lost is missing there."""
    times, ny, nx = draw(st.integers(1, 3)), draw(st.integers(2, 9)), draw(st.integers(2, 12))
    turn = draw(st.sampled_from([0.0, -180.0, 100.0]))
    lat = np.linspace(-80, 80, ny)[:: draw(st.sampled_from([1, -1]))].copy()
    lon = turn + np.arange(nx) * (360 / nx)
    seed = draw(st.integers(0, 99))
    kind = draw(st.sampled_from(["f4", "f8", ">f4", "i2", "u1", "i4"]))
    chance = np.random.default_rng(seed)
    chunks = draw(st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 12)))
    attributes: dict[str, Any] = {"units": "K"}
    if np.dtype(kind).kind == "f":
        stored = chance.normal(280, 9, (times, ny, nx)).astype(kind)
        stored[chance.random(stored.shape) < draw(st.sampled_from([0.0, 0.2, 1.0]))] = np.nan
        numbers = stored.astype("f8")
    else:
        stored = chance.integers(0, 100, (times, ny, nx)).astype(kind)
        attributes |= {"scale_factor": 0.5, "add_offset": 250.0, "_FillValue": 7}
        numbers = np.where(stored == 7, np.nan, stored * 0.5 + 250.0)
    shape = [-(-size // side) for size, side in zip(stored.shape, chunks, strict=True)]
    cells = [tuple(each) for each in np.argwhere(chance.random(shape) < draw(st.sampled_from([0.0, 0.3])))]
    lost = np.zeros(stored.shape, bool)
    for at in cells:
        lost[tuple(slice(n * side, (n + 1) * side) for n, side in zip(at, chunks, strict=True))] = True
    grid = GridDocument()
    grid.add_map(lat, lon)
    grid.add("a", stored, ["time", "lat", "lon"], attributes, chunks, failed=cells)
    array = xarray.DataArray(
        np.where(lost, np.nan, numbers), dims=["time", "lat", "lon"], coords={"lat": lat, "lon": lon}
    )
    return grid, array.assign_coords(lost=(("time", "lat", "lon"), lost))


@pytest.mark.slow
@given(
    grids(),
    st.integers(-200, 400),
    st.integers(0, 200),
    st.integers(-90, 60),
    st.sampled_from(["", "time", "lat"]),
)
def test_bounds_are_as_xarray_has_them(
    made: tuple[GridDocument, Any], west: int, wide: int, south: int, along: str
) -> None:
    grid, array = made
    region = f"lat {south + 0.5}..{south + 40}, lon {west + 0.25}..{west + wide + 0.5}"
    with refbrowser.open(grid.document) as dataset:
        found = refbrowser.statistics(dataset, "/a", region, along=along)
    east = (array.lon - (west + 0.25)) % 360
    inside = (array.lat >= south + 0.5) & (array.lat <= south + 40) & (east <= wide + 0.25)
    inside = inside.broadcast_like(array)
    part = array.where(inside)
    weights = np.cos(np.deg2rad(array.lat))
    values = part.values[~np.isnan(part.values)]
    assert found.elements == int(inside.sum())
    assert found.valid == len(values)
    assert found.failed == int((inside & array.lost).sum())
    assert found.mean == near(float(part.mean()))
    assert found.deviation == near(float(part.std()))
    if len(values):
        assert found.total == near(float(part.sum()))
        assert found.weighted is not None
        assert found.weighted.mean == near(float(part.weighted(weights).mean()))
        assert found.weighted.deviation == pytest.approx(
            float(part.weighted(weights).std()), rel=1e-6, abs=1e-6
        )
        assert found.least is not None
        assert found.greatest is not None
        assert found.least.value == values.min()
        assert array.values[found.least.index] == values.min()
        assert found.least.index == np.unravel_index(np.nanargmin(part.values), part.shape)
        assert found.greatest.index == np.unravel_index(np.nanargmax(part.values), part.shape)
        assert [each.value for each in found.quantiles] == near(
            np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
        )
        assert found.histogram.counts.sum() == len(values)
    if along and found.series is not None:
        others = [name for name in ("time", "lat", "lon") if name != along]
        rows = list(found.series.indices)
        expected = part.weighted(weights.fillna(0)).mean(others).values[rows]
        assert found.series.mean == near(expected)
        assert found.series.low == near(part.min(others).values[rows])
        assert found.series.count.tolist() == part.count(others).values[rows].tolist()
        assert found.series.lost.tolist() == (inside & array.lost).sum(others).values[rows].tolist()


@pytest.mark.parametrize("turn", [0.0, -180.0])
@pytest.mark.parametrize("order", [1, -1])
def test_a_polygon_goes_across_the_seam(turn: float, order: int) -> None:
    values, lat, lon = noise(18, 36), LAT[::order].copy(), LON + turn
    grid = GridDocument()
    grid.add_map(lat, lon)
    grid.add("a", values, ["lat", "lon"], {}, (5, 7))
    corners = ", ".join(f"{x} {y}" for x, y in TRIANGLE)
    with refbrowser.open(grid.document) as dataset:
        found = refbrowser.statistics(dataset, "/a", f"polygon({corners})")
    east = -25 + np.mod(lon + 25, 360)
    inside = points_within(*np.meshgrid(east, lat), TRIANGLE)
    assert 20 < inside.sum() == found.valid
    assert found.mean == near(values[inside].mean())
    # Only what the polygon reaches was read.
    assert found.chunks < 4 * 6


def curvilinear() -> tuple[GridDocument, Any, Any, Any]:
    y, x = np.meshgrid(np.arange(12.0), np.arange(15.0), indexing="ij")
    lat, lon = 30 + 2 * y + 0.5 * x, 340 + 3 * x - 0.7 * y
    lat[3, 3] = np.nan
    values = noise(2, 12, 15)
    grid = GridDocument()
    grid.add("nav_lat", lat, ["y", "x"], {"units": "degrees_north"})
    grid.add("nav_lon", np.mod(lon, 360), ["y", "x"], {"units": "degrees_east"})
    grid.add("area", np.abs(lat) * 2, ["y", "x"], {"units": "m2"})
    about = {"coordinates": "nav_lat nav_lon", "cell_measures": "area: area"}
    grid.add("a", values, ["time", "y", "x"], about, (1, 5, 15))
    return grid, values, lat, lon - 360


def test_curvilinear_grids_are_understood_by_the_places_of_elements() -> None:
    grid, values, lat, lon = curvilinear()
    with refbrowser.open(grid.document) as dataset:
        found = refbrowser.statistics(dataset, "/a", "lat 35..45, lon -15..10")
        drawn = refbrowser.statistics(dataset, "/a", "polygon(-20 30, 20 30, 0 60)", "1,:,:")
        by_index = refbrowser.statistics(dataset, "/a", "polygon x y@(0 0, 10 0, 10 5)", 0)
    inside = (lat >= 35) & (lat <= 45) & (lon >= -15) & (lon <= 10)
    assert found.mean == near(values[:, inside].mean())
    assert found.weighted is not None
    assert found.weighted.by == "the cell areas area"
    assert found.weighted.units == "m2"
    assert found.weighted.mean == near(np.average(values[:, inside], axis=1, weights=lat[inside] * 2).mean())
    within = points_within(lon, lat, ((-20, 30), (20, 30), (0, 60)))
    assert drawn.mean == near(values[1, within].mean())
    y, x = np.mgrid[0:12, 0:15].astype(float)
    assert by_index.mean == near(values[0, points_within(x, y, ((0, 0), (10, 0), (10, 5)))].mean())


def test_conditions_on_values_and_on_other_arrays() -> None:
    values, land = noise(3, 18, 36), noise(18, 36, seed=1) > 280
    grid = GridDocument()
    grid.add_map(LAT, LON)
    grid.add("a", values, ["time", "lat", "lon"], {}, (2, 5, 7))
    grid.add("land", land.astype("u1"), ["lat", "lon"], {}, (9, 36), failed=[(1, 0)])
    with refbrowser.open(grid.document) as dataset:
        warm = refbrowser.statistics(dataset, "/a", "> 285 and lat 0..90")
        either = refbrowser.statistics(dataset, "/a", "> 300 or < 260 and not lat -90..0")
        on_land = refbrowser.statistics(dataset, "/a", "/land == 1")
        with pytest.raises(RefbrowserError, match="not an array of numbers on the grid"):
            refbrowser.statistics(dataset, "/land", "/a > 1")
    north = values[:, LAT >= 0]
    assert warm.valid == (north > 285).sum()
    assert warm.mean == near(north[north > 285].mean())
    assert either.valid == (values > 300).sum() + (north < 260).sum()
    # Of half the map it is not known whether it is land.
    assert on_land.failed == 3 * 9 * 36
    assert on_land.mean == near(values[:, :9][:, land[:9]].mean())


def test_what_is_not_stored_is_told_and_a_fill_value_is_one_only_where_it_is() -> None:
    values = noise(4, 6)
    grid = GridDocument()
    grid.add("gone", values, ["y", "x"], {}, (2, 3), fill=0.0, absent=[(0, 0)], failed=[(1, 1)])
    with refbrowser.open(grid.document) as dataset:
        found = refbrowser.statistics(dataset, "/gone")
    counts = found.valid, found.missing, found.not_stored + found.filled, found.failed
    assert counts == (12 if found.not_stored else 18, 0, 6, 6)
    assert found.chunks_failed == 1
    assert LOST.rpartition("/")[2] in found.errors[0]
    assert found.weighted is None
    assert found.weighting_text.startswith("Not weighted")


def test_bounds_of_latitudes_weigh_what_lies_between_them() -> None:
    lat, values = np.array([-60.0, 0.0, 75.0]), np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    grid = GridDocument()
    grid.add("lat", lat, ["lat"], {"units": "degrees_north", "bounds": "lat_bnds"})
    grid.add("lat_bnds", np.array([[-90.0, -30], [-30, 60], [60, 90]]), ["lat", "bnds"])
    grid.add("lon", np.array([0.0, 180]), ["lon"], {"units": "degrees_east", "bounds": "lon_bnds"})
    grid.add("lon_bnds", np.array([[-90.0, 90], [90, 270]]), ["lon", "bnds"])
    grid.add("a", values, ["lat", "lon"])
    with refbrowser.open(grid.document) as dataset:
        found = refbrowser.statistics(dataset, "/a")
    weights = np.diff(np.sin(np.radians([-90, -30, 60, 90])))
    assert found.weighted is not None
    assert found.weighted.by == "the areas between the bounds of latitudes"
    assert found.weighted.mean == near(np.average([1, 2, 4], weights=weights))


@pytest.mark.parametrize("lost", ["lat_bnds", "lon_bnds"])
def test_lost_bounds_are_told_and_not_taken_for_none(lost: str) -> None:
    lat, values = np.array([-60.0, 0.0, 75.0]), np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    grid = GridDocument()
    grid.add("lat", lat, ["lat"], {"units": "degrees_north", "bounds": "lat_bnds"})
    grid.add("lon", np.array([0.0, 180]), ["lon"], {"units": "degrees_east", "bounds": "lon_bnds"})
    for name, bounds in (
        ("lat_bnds", [[-90.0, -30], [-30, 60], [60, 90]]),
        ("lon_bnds", [[-90.0, 90], [90, 270]]),
    ):
        gone = [(0, 0)] if name == lost else []
        grid.add(name, np.array(bounds), [name[:3], "bnds"], failed=gone)
    grid.add("a", values, ["lat", "lon"])
    with refbrowser.open(grid.document) as dataset:
        found = refbrowser.statistics(dataset, "/a")
    assert found.weighted is not None
    assert found.weighted.mean == near(np.average([1, 2, 4], weights=np.cos(np.radians(lat))))
    assert found.weighting_text.startswith(
        "Weighted by the cosine of latitude; the bounds of cells cannot be read"
    )


@pytest.mark.parametrize(
    ("region", "why"),
    [
        ("depth 1..2", "no coordinate"),
        ("y 1..2", "has no coordinates"),
        ("/none > 1", "none"),
        ("polygon y y@(0 0, 1 0, 1 1)", "one coordinate"),
    ],
)
def test_a_region_of_what_is_not_there_is_told(region: str, why: str) -> None:
    grid = GridDocument()
    grid.add("a", noise(4, 6), ["y", "x"])
    with refbrowser.open(grid.document) as dataset, pytest.raises(RefbrowserError, match=why):
        refbrowser.statistics(dataset, "/a", region)


def test_in_small_blocks_the_whole_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = noise(9, 40, 50)
    grid = GridDocument()
    grid.add("a", values, ["t", "y", "x"], {}, (2, 11, 50))
    with refbrowser.open(grid.document) as dataset:
        whole = refbrowser.statistics(dataset, "/a", "not > 290", along="t")
        monkeypatch.setattr("refbrowser.engine.statistics.blocks.BLOCK", 1000)
        monkeypatch.setattr("refbrowser.engine.statistics.summarizing.TRACT", 77)
        monkeypatch.setattr("refbrowser.engine.statistics.distribution.KEPT", 500)
        parts = refbrowser.statistics(dataset, "/a", "not > 290", along="t")
    assert (parts.valid, parts.least, parts.greatest) == (whole.valid, whole.least, whole.greatest)
    assert parts.mean == near(whole.mean)
    assert parts.deviation == near(whole.deviation)
    assert parts.series is not None
    assert whole.series is not None
    assert parts.series.mean == near(whole.series.mean)
    for one, other in zip(parts.quantiles, whole.quantiles, strict=True):
        assert abs(one.value - other.value) <= one.error


@pytest.mark.parametrize(("region", "along"), [("", ""), ("> 1", ""), ("", "y"), ("> 1", "t")])
def test_of_equal_extremes_the_first_is_told(
    region: str, along: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(5).integers(0, 5, (5, 9, 20)).astype("f4")
    values[0, :4], values[1, 2, 3], values[1, 1, 9] = 3, np.nan, np.nan
    grid = GridDocument()
    grid.add("a", values, ["t", "y", "x"], {}, (2, 4, 20))
    monkeypatch.setattr("refbrowser.engine.statistics.blocks.BLOCK", 640)
    monkeypatch.setattr("refbrowser.engine.statistics.summarizing.TRACT", 23)
    with refbrowser.open(grid.document) as dataset:
        found = refbrowser.statistics(dataset, "/a", region, along=along)
    seen = np.where(values > (1 if region else -1), values, np.nan)
    assert found.least is not None
    assert found.greatest is not None
    assert found.least.index == np.unravel_index(np.nanargmin(seen), seen.shape)
    assert found.greatest.index == np.unravel_index(np.nanargmax(seen), seen.shape)


def test_memory_does_not_grow_with_the_array(monkeypatch: pytest.MonkeyPatch) -> None:
    import tracemalloc

    monkeypatch.setattr("refbrowser.engine.statistics.blocks.BLOCK", 1 << 18)
    monkeypatch.setattr("refbrowser.engine.statistics.distribution.KEPT", 1 << 14)
    grid = GridDocument()
    grid.add(
        "a", np.ones((16, 256, 128)) * np.arange(16.0)[:, None, None], ["t", "y", "x"], {}, (1, 256, 128)
    )
    refbrowser.statistics(grid.document, "/a", "> 100")
    peaks = []
    for index in (slice(0, 4), slice(0, 16)):
        tracemalloc.start()
        with refbrowser.open(grid.document) as dataset:
            before = tracemalloc.get_traced_memory()[0]
            refbrowser.statistics(dataset, "/a", "< 100", index)
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.3 + (1 << 18)
