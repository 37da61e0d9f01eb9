"""Expressions of arrays, against xarray: the same values, dimensions and coordinates."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from monthly_files import Archive, write_archive

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.derived import operations
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.views.derived.computed import python_of

xarray = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_archive(tmp_path_factory.mktemp("files"), Archive(years=(2019, 2020), era=(2019,)))


@pytest.fixture(scope="module")
def february(files: list[Path]) -> Iterator[tuple[Dataset, Any]]:
    file = next(each for each in files if "2020-02" in each.name)
    with refbrowser.open(file) as dataset, xarray.open_dataset(file) as peer:
        yield dataset, peer.load()


def value(text: str, dataset: Dataset, **others: Dataset) -> Any:
    """Return what an expression gives, as xarray would have it."""
    array = refbrowser.compute(dataset, text, others)
    return xarray.DataArray(array[...], dims=array.dimensions, attrs=dict(array.attrs))


@pytest.mark.parametrize(
    ("text", "peer"),
    [
        ("/t2m - 273.15", lambda d: d.t2m - 273.15),
        ("mean(/t2m, time)", lambda d: d.t2m.mean("time")),
        ("std(/t2m)", lambda d: d.t2m.std()),
        ("/t2m - mean(/t2m, time)", lambda d: d.t2m - d.t2m.mean("time")),
        ("t2m[time@3] - mean(t2m, time)", lambda d: d.t2m[3] - d.t2m.mean("time")),
        (
            "max(t2m, lat, lon) - min(t2m, lat, lon)",
            lambda d: d.t2m.max(["lat", "lon"]) - d.t2m.min(["lat", "lon"]),
        ),
        ("sqrt(t2m**2 + t2m**2)", lambda d: np.hypot(d.t2m, d.t2m)),
        ("where(t2m > 282, t2m, nan)", lambda d: d.t2m.where(d.t2m > 282)),
        ("sum(t2m > 282, lat, lon)", lambda d: (d.t2m > 282).sum(["lat", "lon"])),
        ("cos(deg2rad(lat)) * t2m", lambda d: np.cos(np.deg2rad(d.lat)) * d.t2m),
        (
            "t2m[lat=42:46,time@::-2] / 2",
            lambda d: d.t2m.sel(lat=slice(46, 42)).isel(time=slice(None, None, -2)) / 2,
        ),
        ("-t2m[lon=4] + 1e3", lambda d: -d.t2m.sel(lon=4) + 1e3),
    ],
)
def test_an_expression_is_what_xarray_computes(
    text: str, peer: Callable[[Any], Any], february: tuple[Dataset, Any]
) -> None:
    dataset, peers = february
    found, expected = value(text, dataset), peer(peers)
    assert set(found.dims) == set(expected.dims)
    np.testing.assert_allclose(found.transpose(*expected.dims), expected, rtol=1e-12)


_LEAVES = [("t2m", lambda d: d.t2m), ("lat", lambda d: d.lat), ("lon", lambda d: d.lon), ("3", lambda d: 3.0)]


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> tuple[str, Callable[[Any], Any]]:
    kind = draw(st.sampled_from(["leaf", "binary", "function", "mean", "negative"] if depth else ["leaf"]))
    if kind == "leaf":
        text, peer = draw(st.sampled_from(_LEAVES))
        return f"units({text}, '1')", peer
    text, peer = draw(expressions(depth=depth - 1))
    if kind == "negative":
        return f"-({text})", lambda d: -peer(d)
    if kind == "function":
        name = draw(st.sampled_from(["abs", "sqrt", "sin", "exp", "sign", "floor"]))
        return f"{name}({text})", lambda d: getattr(np, name)(peer(d))
    if kind == "mean":
        name = draw(st.sampled_from(["mean", "max", "sum", "std"]))
        over = draw(st.sampled_from(["time", "lat", "lon"]))

        def reduced(d: Any) -> Any:
            inner = peer(d)
            if over not in getattr(inner, "dims", ()):
                raise LookupError(over)
            return getattr(inner, name)(over)

        return f"{name}({text}, {over})", reduced
    other, other_peer = draw(expressions(depth=depth - 1))
    symbol = draw(st.sampled_from(["+", "-", "*", "/"]))
    operators = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
    return f"({text}) {symbol} ({other})", lambda d: operators[symbol](peer(d), other_peer(d))


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(expressions())
def test_any_expression_is_what_xarray_computes(
    february: tuple[Dataset, Any], expression: tuple[str, Callable[[Any], Any]]
) -> None:
    text, peer = expression
    dataset, peers = february
    with np.errstate(all="ignore"):
        try:
            expected = peer(peers)
        except LookupError:
            with pytest.raises(RefbrowserError, match="there is no dimension"):
                refbrowser.compute(dataset, text)
            return
        if not hasattr(expected, "dims"):
            return
        # In parts that end within rows, as those of large arrays do.
        with patch.object(operations, "BLOCK", 10):
            found = value(text, dataset)
    assert set(found.dims) == set(expected.dims)
    size = float(np.nanmax(np.abs(expected.where(np.isfinite(expected))), initial=0))
    np.testing.assert_allclose(found.transpose(*expected.dims), expected, rtol=1e-9, atol=1e-9 * size)


def test_arrays_of_other_files_are_named_by_labels(files: list[Path]) -> None:
    july, january = (
        next(each for each in files if each.stem.endswith(month)) for month in ("2019-07", "2019-01")
    )
    with refbrowser.open(july) as dataset, refbrowser.open(january) as other:
        found = value("by_position(t2m, time) - january::/t2m", dataset, january=other)
        with xarray.open_dataset(july) as one, xarray.open_dataset(january) as two:
            np.testing.assert_allclose(found, one.t2m.values - two.t2m.values)
        with pytest.raises(
            RefbrowserError, match="coordinates of time differ: element 0 is at 2019-07-01 in one, and"
        ):
            refbrowser.compute(dataset, "t2m - january::/t2m", {"january": other})
        with pytest.raises(RefbrowserError, match="there is no dataset 'june'"):
            refbrowser.compute(dataset, "june::/t2m", {"january": other})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t2m + lat", "'K' and 'degree' do not go together"),
        ("sin(lat)", "sin takes radians, and this is in degrees"),
        ("t2m - t2m[lat@0:3]", "lat has 6 elements in one operand and 3 in another"),
        ("t2m[lat@0:3] - t2m[lat@1:4]", "coordinates of lat differ: element 0 is at 50°N in one"),
        ("3 * pi", "names no array"),
        ("nope + 1", "there is no group or array '/nope'"),
        ("mean(t2m, depth)", "there is no dimension 'depth'"),
        ("mean(t2m[0, 0, 0])", "this has none"),
        ("2 ** t2m", "an exponent is a plain number"),
        ("t2m ** lat", "an exponent is a plain number"),
        ("t2m[lat=90]", "no lat is 90"),
    ],
)
def test_what_does_not_go_together_is_told(text: str, words: str, february: tuple[Dataset, Any]) -> None:
    with pytest.raises(RefbrowserError) as told:
        refbrowser.compute(february[0], text)
    assert told.value.kind is ErrorKind.USAGE
    assert words in told.value.message


def test_units_and_names(february: tuple[Dataset, Any]) -> None:
    dataset = february[0]
    ratio = refbrowser.compute(dataset, "ratio = t2m / t2m[time@0]")
    assert ratio.path == "/ratio"
    assert ratio.attrs == {"long_name": "t2m / t2m[time@0]", "units": "1"}
    assert refbrowser.compute(dataset, "var(t2m)").attrs["units"] == "K2"
    assert refbrowser.compute(dataset, "lat + 1").attrs["units"] == "degrees_north"
    assert refbrowser.compute(dataset, "units(t2m, 'degC') + units(lat, 'degC')").attrs["units"] == "degC"


def test_the_real_months(shared_data: Path) -> None:
    with refbrowser.open(shared_data / "real" / "eraint_uvz.refs.json") as dataset:
        z = dataset["/z"]
        scale, offset = (z.attrs[name] for name in ("scale_factor", "add_offset"))
        months = z[...].astype(float) * scale + offset
        found = refbrowser.compute(dataset, "/z[month=7] - /z[month=1]")
        assert found.dimensions == ("level", "latitude", "longitude")
        np.testing.assert_allclose(found[...], months[1] - months[0])
        speed = refbrowser.compute(dataset, "sqrt(/u**2 + /v**2)")
        assert speed.attrs["units"] == dataset["/u"].attrs["units"]


def test_a_lost_chunk_costs_its_part_alone(files: list[Path], tmp_path: Path) -> None:
    file = tmp_path / "cut.nc"
    whole = files[0].read_bytes()
    with refbrowser.open(files[0]) as dataset:
        reference = dataset["/t2m"].node.manifest.columns(np.array([[20, 0, 0]])).reference(0)
    file.write_bytes(
        whole[: reference.offset] + b"\xff" * reference.length + whole[reference.offset + reference.length :]
    )
    with refbrowser.open(file) as dataset:
        array = refbrowser.compute(dataset, "t2m - 273.15")
        masked = array.masked()
        assert masked.values.mask.any(axis=(1, 2)).nonzero()[0].tolist() == [20]
        assert masked.errors[0].place.key == "t2m/20.0.0"
        with pytest.raises(RefbrowserError, match="t2m/20"):
            array[...]
        # What is computed of all of it is lost with it.
        assert refbrowser.compute(dataset, "t2m - mean(t2m, time)").masked().values.mask.all()


def test_what_is_computed_is_exported_with_its_coordinates(
    february: tuple[Dataset, Any], tmp_path: Path
) -> None:
    dataset, peers = february
    anomaly = refbrowser.compute(dataset, "anomaly = t2m - mean(t2m, time)")
    refbrowser.export(anomaly.dataset, tmp_path / "a.nc", format="netcdf4")
    with xarray.open_dataset(tmp_path / "a.nc") as written:
        xarray.testing.assert_allclose(written.anomaly, peers.t2m - peers.t2m.mean("time"))
        assert written.anomaly.units == "K"
    refbrowser.export(anomaly.dataset, tmp_path / "a.zarr", format="zarr-v3")
    with xarray.open_zarr(tmp_path / "a.zarr", consolidated=False) as written:
        xarray.testing.assert_allclose(written.anomaly, peers.t2m - peers.t2m.mean("time"))


def test_it_ends_with_the_datasets_that_it_is_of(files: list[Path]) -> None:
    dataset = refbrowser.open(files[0])
    array = refbrowser.compute(dataset, "t2m * 2")
    dataset.close()
    with pytest.raises(RefbrowserError, match="was closed"):
        array[0]


def test_coordinates_of_two_dimensions_and_the_grid_mapping_go_along(tmp_path: Path) -> None:
    import netCDF4

    with netCDF4.Dataset(tmp_path / "rotated.nc", "w") as made:
        made.createDimension("y", 3)
        made.createDimension("x", 4)
        for name, units in (("lat", "degrees_north"), ("lon", "degrees_east")):
            made.createVariable(name, "f8", ("y", "x")).units = units
            made[name][:] = np.arange(12).reshape(3, 4) + len(units)
        made.createVariable("crs", "i4").grid_mapping_name = "rotated_latitude_longitude"
        variable = made.createVariable("t", "f4", ("y", "x"))
        variable.setncatts({"units": "K", "coordinates": "lat lon", "grid_mapping": "crs"})
        variable[:] = 280
    with refbrowser.open(tmp_path / "rotated.nc") as dataset:
        cut = refbrowser.compute(dataset, "t[y@::-1,x@1:3] * 2").dataset
        assert list(cut.arrays) == ["/computed", "/lat", "/lon", "/crs"]
        assert cut["/computed"].attrs["grid_mapping"] == "crs"
        assert cut["/crs"].attrs["grid_mapping_name"] == "rotated_latitude_longitude"
        np.testing.assert_array_equal(cut["/lat"][...], dataset["/lat"][::-1, 1:3])
        refbrowser.export(cut, tmp_path / "cut.nc", format="netcdf4")
    with xarray.open_dataset(tmp_path / "cut.nc") as written:
        assert set(written.computed.coords) == {"lat", "lon"}
        assert (written.computed == 560).all()


@pytest.mark.parametrize("path", ["/warm", "/time"])
def test_lines_of_python_read_the_same(path: str, files: list[Path]) -> None:
    with refbrowser.open(files[0]) as dataset, refbrowser.open(files[12]) as other:
        text = "warm = t2m - by_position(b::/t2m, time)"
        array = refbrowser.compute(dataset, text, {"b": other})
        assert python_of(dataset.document, path, "1:3") == ""
        read: dict[str, Any] = {}
        exec(python_of(array.dataset.document, path, "1:3"), read)
        np.testing.assert_array_equal(read["values"], array.dataset[path][1:3])


def test_what_a_damaged_source_has_lost_is_told_of_what_is_computed(tmp_path: Path) -> None:
    sample = refbrowser.sample(tmp_path)
    refbrowser.export(sample, tmp_path / "sea.ncs", format="ncstream", arrays=["/ocean/lat"])
    cut = tmp_path / "cut.ncs"
    cut.write_bytes((tmp_path / "sea.ncs").read_bytes()[:-20])
    with refbrowser.open(cut) as dataset, refbrowser.open(sample) as sound:
        assert refbrowser.compute(sound, "/ocean/lat * 2").damage == ()
        for array in (
            refbrowser.compute(dataset, "/ocean/lat * 2"),
            refbrowser.compute(sound, "/ocean/lat - cut::/ocean/lat", {"cut": dataset}),
        ):
            assert "truncated" in array.damage[0].message
            assert array.damage[0].place.path == "/ocean/lat"


@pytest.mark.parametrize(
    ("text", "peer", "units"),
    [
        ("convert(t2m, 'degC')", lambda d: d.t2m - 273.15, "degC"),
        ("convert(t2m[time@1] - t2m[time@0], degC)", lambda d: d.t2m[1] - d.t2m[0], "degC"),
        ("convert(std(t2m, time), degF)", lambda d: d.t2m.std("time") * 1.8, "degF"),
        ("convert(units(t2m, 'm/s'), 'km h-1')", lambda d: d.t2m * 3.6, "km h-1"),
        ("mean(convert(t2m, degC)) + units(1, degC)", lambda d: (d.t2m - 273.15).mean() + 1, "degC"),
    ],
)
def test_values_are_put_in_other_units(
    text: str, peer: Callable[[Any], Any], units: str, february: tuple[Dataset, Any]
) -> None:
    pytest.importorskip("cf_units")
    dataset, peers = february
    found = value(text, dataset)
    assert found.attrs["units"] == units
    np.testing.assert_allclose(found, peer(peers), rtol=1e-9)


def test_differences_of_temperatures_say_so(february: tuple[Dataset, Any]) -> None:
    dataset = february[0]
    difference = "temperature: difference"
    assert value("t2m - mean(t2m, time)", dataset).attrs["units_metadata"] == difference
    assert "units_metadata" not in value("t2m - 273.15", dataset).attrs


def test_units_that_do_not_become_others_are_told(february: tuple[Dataset, Any]) -> None:
    pytest.importorskip("cf_units")
    for text, words in {
        "convert(t2m, 'm')": "'K' does not become 'm': they measure different things (character 1",
        "convert(t2m)": "convert has an array and the units it becomes",
        "t2m + convert(t2m, degC)": "'K' and 'degC' do not go together",
    }.items():
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.compute(february[0], text)
        assert words in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "eval('1')",
        "exec('1')",
        "t2m.__class__",
        "().__class__.__bases__",
        "(lambda: 1)()",
        "[t2m for t2m in lat]",
        "t2m if lat else lon",
        "t2m; lat",
        "f'{t2m}'",
        "convert(t2m, __import__('os'))",
        "mean(t2m, eval('time'))",
        "t2m[__import__('os')]",
        "t2m[time=eval('1')]",
        "getattr(t2m, 'shape')",
        "t2m := 3",
        "open('/etc/passwd')",
    ],
)
def test_nothing_of_python_is_evaluated(text: str, february: tuple[Dataset, Any]) -> None:
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.compute(february[0], text)
    assert caught.value.kind is ErrorKind.USAGE


def test_what_reads_expressions_calls_no_interpreter() -> None:
    root = Path(refbrowser.__file__).parent
    rooms = ("model/expressions", "engine/derived", "views/derived", "tools/read")
    calls = {
        (path.name, node.func.id)
        for room in rooms
        for path in (root / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert len(calls) > 100
    assert {name for _file, name in calls} & {"eval", "exec", "compile", "__import__", "setattr"} == set()


def test_lines_of_python_compute_what_is_computed_of_computed_arrays(files: list[Path]) -> None:
    july, january = (
        next(each for each in files if each.stem.endswith(month)) for month in ("2019-07", "2019-01")
    )
    with refbrowser.open(july) as dataset, refbrowser.open(january) as other:
        one = refbrowser.compute(dataset, "m = mean(t2m, time)")
        two = refbrowser.compute(other, "m = mean(t2m, time)")
        found = refbrowser.compute(one.dataset, "m - b::/m", {"b": two.dataset})
        scope: dict[str, Any] = {}
        exec(python_of(found.dataset.document, found.path, ""), scope)
        np.testing.assert_array_equal(scope["values"], found[...])
