"""Exports to NCZarr, read back by netCDF4 (nczarr, sections 3 and 4)."""

import json
import zipfile

import numpy as np
import pytest
import zarr
from netcdf_stores import described, plain
from zarr_versions import needs_types_of_zarr

import refbrowser
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.options import Sides, StoreOptions
from refbrowser.exporting.request import ArrayChoice, ExportRequest
from refbrowser.model.nodes import Flavour

DEFAULT = 9.969209968386869e36


@pytest.fixture
def source(tmp_path):
    """A group of zarr-python in a new folder."""
    return zarr.open_group(tmp_path / "source", mode="w", zarr_format=2)


def put(group, name, values, dimensions=None, **options):
    """Make an array; attributes are among the options."""
    values = np.asarray(values)
    attributes = dict(options.pop("attributes", {}))
    if dimensions is not None:
        attributes["_ARRAY_DIMENSIONS"] = dimensions
    options.setdefault("compressors", None)
    options.setdefault("chunks", tuple(max(1, side) for side in values.shape))
    array = group.create_array(name, shape=values.shape, dtype=values.dtype, **options)
    array.attrs.update(attributes)
    array[...] = values
    return array


def exported(tmp_path, *, flavour=None, arrays=None, skip_bad=False, **options):
    """Export the source; returns the report."""
    request = ExportRequest(
        str(tmp_path / "target"),
        "nczarr",
        arrays=arrays,
        skip_bad=skip_bad,
        options=StoreOptions(**options),
    )
    with refbrowser.open(tmp_path / "source", flavour=flavour) as dataset:
        estimate = estimate_export(dataset, request)
        report = run_export(dataset, request)
    told = [str(loss) for loss in estimate.losses]
    assert told[: len(report.losses)] == losses(report)
    assert len(told) == len(report.losses) + len(report.skipped)
    assert all(": left out: " in text for text in told[len(report.losses) :])
    return report


def both(netcdf, tmp_path, problems=0):
    """Return what refbrowser and netCDF4 read of the target, which are the same."""
    with refbrowser.open(tmp_path / "target") as dataset:
        assert len(dataset.hierarchy.findings) == problems
        ours = described(dataset)
    assert netcdf.read(tmp_path / "target") == ours
    return ours


def losses(report):
    return [str(loss) for loss in report.losses]


@pytest.mark.slow
def test_numbers_of_both_byte_orders(netcdf, tmp_path, source):
    made = {}
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
        for order in "<>":
            dtype = np.dtype(order + kind)
            low, high = (0.1, 3e38) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
            values = np.array([low, high, 1], dtype)
            name = f"{'big_' if order == '>' else ''}{kind}"
            put(source, name, values, ["x"], fill_value=values[0], compressors=None)
            made[name] = values
    exported(tmp_path)
    variables = both(netcdf, tmp_path)["variables"]
    assert list(variables) == sorted(made)
    for name, values in made.items():
        assert variables[name]["values"] == [plain(value) for value in values.tolist()]
        assert variables[name]["fill"] == plain(values[0].item())
        assert variables[name]["attributes"] == {}


def test_missing_chunks_of_big_endian_arrays(netcdf, tmp_path, source):
    array = source.create_array("v", shape=(4,), chunks=(2,), dtype=">i4", fill_value=-9, compressors=None)
    array[:2] = [1, 2]
    report = exported(tmp_path)
    assert both(netcdf, tmp_path)["variables"]["v"]["values"] == [1, 2, -9, -9]
    assert any("little-endian" in loss for loss in losses(report))


def test_fill_values_and_their_attribute(netcdf, tmp_path, source):
    fills = {
        "nan": np.float64("nan"),
        "inf": np.float32("inf"),
        "third": np.float64(1 / 3),
        "zero": np.int16(0),
    }
    fills |= {"single": np.float32(1 / 3), "most": np.uint64(2**64 - 1), "default": np.float64(DEFAULT)}
    for name, fill in fills.items():
        source.create_array(name, shape=(3,), chunks=(3,), dtype=fill.dtype, fill_value=fill)
    own = source.create_array("own", shape=(3,), chunks=(3,), dtype="f8", fill_value=0.0)
    own.attrs["_FillValue"] = -999.5
    wrong = source.create_array("wrong", shape=(3,), chunks=(3,), dtype="i2", fill_value=4)
    wrong.attrs["_FillValue"] = "x"
    report = exported(tmp_path)
    # Two fill values that differ are told of, and kept: netCDF keeps them too.
    variables = both(netcdf, tmp_path, problems=1)["variables"]
    for name, fill in fills.items():
        assert variables[name]["values"] == [plain(fill.item())] * 3, name
        assert variables[name]["attributes"] == {}
    assert variables["own"]["values"] == [plain(0.0)] * 3
    assert variables["own"]["attributes"] == {"_FillValue": ["double", [plain(-999.5)]]}
    assert variables["wrong"]["attributes"] == {}
    assert variables["wrong"]["values"] == [4] * 3
    assert any(loss.startswith("/wrong: attribute '_FillValue' is left out") for loss in losses(report))


TEXTS = {
    "plain": "hello",
    "empty": "",
    "number": "42",
    "negative": "-5",
    "object": '{"k": [1]}',
    "list": "[1, 2.5]",
    "null": "null",
    "quoted": '"abc"',
    "escapes": 'a"b\\c/d\\u00e9',
    "lines": "a\nb\tc\rd\be\ff",
    "letters": "größe 名 😀",
    "nan": "NaN",
    "blanks": "  two  ",
    "long": "x" * 3000,
}


@pytest.mark.slow
def test_attributes_come_back_as_they_are(netcdf, tmp_path, source):
    attributes = {
        **TEXTS,
        **{f"list_{name}": [text, "second"] for name, text in TEXTS.items()},
        "integer": 5,
        "large": 2**40,
        "largest": 2**64 - 1,
        "fraction": 1 / 3,
        "integers": [1, -2],
        "fractions": [0.1, 1e300, 5e-324],
        "mixed": [1, 2.5],
        "dictionary": {"a": [1, None]},
        "truth": True,
        "a/b c": "odd name",
    }
    source.attrs.update(attributes)
    put(source, "v", np.arange(3), ["x"], attributes=attributes)
    exported(tmp_path)
    ours = both(netcdf, tmp_path)
    for found in (ours["attributes"], ours["variables"]["v"]["attributes"]):
        for name, text in TEXTS.items():
            assert found[name] == ["char", [text]]
            assert found[f"list_{name}"] == ["string", [text, "second"]]
        assert found["integer"] == ["int", [5]]
        assert found["large"] == ["int64", [2**40]]
        assert found["largest"] == ["uint64", [2**64 - 1]]
        assert found["fraction"] == ["double", [plain(1 / 3)]]
        assert found["fractions"] == ["double", [plain(value) for value in (0.1, 1e300, 5e-324)]]
        assert found["mixed"] == ["double", [plain(1.0), plain(2.5)]]
        assert found["dictionary"] == ["char", ['{"a":[1,null]}']]
        assert found["a/b c"] == ["char", ["odd name"]]


def test_attributes_that_netcdf_cannot_hold_are_told(netcdf, tmp_path, source):
    source.attrs.update({"none": [], "CLASS": "x", "_nczarr_x": 1, "bell": "a\x07", "kept": 1})
    report = exported(tmp_path)
    with refbrowser.open(tmp_path / "target") as dataset:
        assert dataset.attrs == {"bell": "a\x07", "kept": 1}
    assert losses(report) == [
        "/: attribute 'none' is left out: it has no values",
        "/: attribute 'CLASS' is left out: the name is reserved by netCDF",
        "/: netCDF misreads control characters in attribute 'bell'",
    ]
    assert "bell" in netcdf.read(tmp_path / "target")["attributes"]


def test_typed_attributes_and_strings_of_nczarr(netcdf, tmp_path):
    group = {
        "dimensions": {"x": [2, False], "t": [3, True]},
        "attributes": {
            "b": ["byte", [-1]],
            "u": ["uint64", [2**64 - 1]],
            "f": ["float", [(0.25).hex(), "nan", "inf"]],
            "s": ["string", ["one"]],
        },
        "variables": {
            "chars": {"type": "char", "dimensions": ["x"], "shape": [2], "values": ["a", ""]},
            "texts": {"type": "string", "dimensions": ["x"], "shape": [2], "values": ["ö", "x" * 99]},
            "one": {"type": "string", "dimensions": [], "shape": [], "values": ["hello"]},
            "record": {
                "type": "short",
                "dimensions": ["t", "x"],
                "shape": [3, 2],
                "values": [1, 2, 3, 4, 5, 6],
                "attributes": {"_FillValue": ["short", [-5]], "valid": ["short", [1, 2]]},
                "options": {"zlib": True},
            },
        },
        "groups": {
            "g": {
                "dimensions": {"y": [2, False]},
                "variables": {
                    "w": {"type": "int", "dimensions": ["y", "x"], "shape": [2, 2], "values": [1] * 4}
                },
            }
        },
    }
    netcdf.write(tmp_path / "source", group)
    report = exported(tmp_path)
    assert report.losses == ()
    assert report.copied == report.chunks > 0
    assert both(netcdf, tmp_path) == netcdf.read(tmp_path / "source")


@needs_types_of_zarr
def test_types_that_become_others_without_a_change_of_value(netcdf, tmp_path, source):
    put(source, "truth", np.array([True, False]), fill_value=True)
    put(source, "half", np.array([0.5, -1], "f2"))
    put(source, "days", np.array([0, 10], "M8[D]"), fill_value=np.datetime64(3, "D"))
    put(source, "fixed", np.array(["größe", "b"]), fill_value="")
    report = exported(tmp_path)
    variables = both(netcdf, tmp_path)["variables"]
    assert (variables["truth"]["type"], variables["truth"]["values"]) == ("byte", [1, 0])
    assert variables["truth"]["fill"] == 1
    assert (variables["half"]["type"], variables["half"]["values"]) == ("float", [plain(0.5), plain(-1.0)])
    assert (variables["days"]["type"], variables["days"]["values"]) == ("int64", [0, 10])
    assert (variables["fixed"]["type"], variables["fixed"]["values"]) == ("string", ["größe", "b"])
    told = "\n".join(losses(report))
    assert all(f"/{name}: " in told for name in variables)


@needs_types_of_zarr
def test_a_fill_byte_that_is_no_letter(tmp_path, source):
    put(source, "v", np.array([b"a", b"\xff"]), fill_value=b"\xff")
    exported(tmp_path)
    with refbrowser.open(tmp_path / "target") as dataset:
        assert dataset["/v"].fill_value == b"\xff"
        assert dataset["/v"][...].tolist() == [b"a", b"\xff"]


def test_texts_of_any_length(netcdf, tmp_path):
    group = zarr.open_group(tmp_path / "source", mode="w", zarr_format=3)
    array = group.create_array("v", shape=(2, 2), chunks=(1, 2), dtype=str, dimension_names=["y", "x"])
    array[...] = np.array([["größe", ""], ["x" * 200, "b"]], object)
    with pytest.raises(RefbrowserError, match="a text has 200 bytes") as caught:
        exported(tmp_path)
    assert "--text-size 200" in caught.value.advice
    report = exported(tmp_path, text_size=200)
    variable = both(netcdf, tmp_path)["variables"]["v"]
    assert variable["values"] == ["größe", "", "x" * 200, "b"]
    assert variable["dimensions"] == ["y", "x"]
    assert any("200 bytes each" in loss for loss in losses(report))


@pytest.mark.parametrize("dtype", ["c16", [("a", "<i4"), ("b", "<f8")], "V4"])
def test_types_that_netcdf_refuses_are_left_out(netcdf, tmp_path, source, dtype):
    put(source, "v", np.zeros(2, dtype), fill_value=None)
    with pytest.raises(RefbrowserError, match="NCZarr has no type") as caught:
        exported(tmp_path)
    assert "--split-compounds" in caught.value.advice
    put(source, "fine", np.arange(2))
    report = exported(tmp_path)
    assert not report.skipped
    assert any("/v: left out: NCZarr has no type" in loss for loss in losses(report))
    assert list(both(netcdf, tmp_path)["variables"]) == ["fine"]


def test_codecs(netcdf, tmp_path, source):
    import numcodecs

    values = np.arange(24.0).reshape(4, 6)
    kept = {
        "raw": {"compressors": None},
        "zlib": {"compressors": numcodecs.Zlib(3)},
        "shuffled": {"filters": [numcodecs.Shuffle(8)], "compressors": numcodecs.Zlib(3)},
    }
    changed = {
        "gzip": {"compressors": numcodecs.GZip(1)},
        "blosc": {"compressors": numcodecs.Blosc()},
        "delta": {"filters": [numcodecs.Delta("f8")], "compressors": None},
        "fortran": {"compressors": numcodecs.Zlib(3), "order": "F"},
    }
    for name, options in (kept | changed).items():
        put(source, name, values, ["y", "x"], chunks=(2, 4), **options)
    report = exported(tmp_path)
    variables = both(netcdf, tmp_path)["variables"]
    for name in kept | changed:
        assert variables[name]["values"] == [plain(value) for value in values.reshape(-1).tolist()]
    assert report.copied == 4 * len(kept)
    told = "\n".join(losses(report))
    assert [f"/{name}: codec" in told for name in changed] == [True, True, True, False]


def test_a_chosen_codec_and_chunks(netcdf, tmp_path, source):
    put(source, "v", np.arange(24).reshape(4, 6), ["y", "x"], chunks=(2, 4))
    report = exported(tmp_path, codec="zstd:3", chunks=Sides((3, 3)))
    metadata = json.loads((tmp_path / "target" / "v" / ".zarray").read_text())
    assert (metadata["chunks"], metadata["compressor"]["id"]) == ([3, 3], "zstd")
    assert both(netcdf, tmp_path)["variables"]["v"]["values"] == list(range(24))
    assert any("needs a netCDF plugin" in loss for loss in losses(report))


def test_shards(netcdf, tmp_path):
    group = zarr.open_group(tmp_path / "source", mode="w", zarr_format=3)
    array = group.create_array("v", shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="i4")
    array[...] = np.arange(64).reshape(8, 8)
    exported(tmp_path)
    variable = both(netcdf, tmp_path)["variables"]["v"]
    assert variable["values"] == list(range(64))
    assert variable["dimensions"] == ["_Anonymous_Dim_8"] * 2


def test_dimensions_of_the_same_name_and_other_sizes(netcdf, tmp_path, source):
    put(source, "a", np.arange(3), ["x"])
    put(source, "b", np.arange(4), ["x"])
    put(source, "c", np.arange(5))
    group = source.create_group("g")
    put(group, "d", np.arange(6).reshape(3, 2), ["x", "y"])
    report = exported(tmp_path)
    ours = both(netcdf, tmp_path)
    assert ours["variables"]["b"]["dimensions"] == ["x_4"]
    assert ours["variables"]["c"]["dimensions"] == ["_Anonymous_Dim_5"]
    assert ours["dimensions"] == {"x": [3, False], "x_4": [4, False], "_Anonymous_Dim_5": [5, False]}
    assert any(loss.startswith("/b: ") and "x_4" in loss for loss in losses(report))


def test_scalars_and_empty_arrays(netcdf, tmp_path, source):
    put(source, "s", np.float64(2.5))
    source.create_array("missing", shape=(), dtype="i4", fill_value=7)
    source.create_array("empty", shape=(0, 3), chunks=(1, 3), dtype="i4")
    exported(tmp_path)
    variables = both(netcdf, tmp_path)["variables"]
    assert (variables["s"]["shape"], variables["s"]["values"]) == ([], [plain(2.5)])
    assert variables["missing"]["values"] == [7]
    assert variables["empty"]["shape"] == [0, 3]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a b", "a b"),
        ("1a", "1a"),
        ("größe", "größe"),
        ("gro\u0308\u00dfe", "größe"),
        ("-a", "_-a"),
        ("a.", "a%2E"),
        ("$x", "_$x"),
        ("a:b", "a%3Ab"),
    ],
)
def test_names(netcdf, tmp_path, source, name, written):
    group = source.create_group(name)
    put(group, name, np.arange(2), [name])
    report = exported(tmp_path)
    below = both(netcdf, tmp_path)["groups"][written]
    variable = below["variables"][written]
    assert variable["values"] == [0, 1]
    assert len(variable["dimensions"]) == 1
    assert bool(losses(report)) == (name != written)


def test_a_selection_makes_dimensions_smaller(netcdf, tmp_path, source):
    put(source, "v", np.arange(12).reshape(3, 4), ["y", "x"], chunks=(1, 4))
    put(source, "x", np.arange(4) * 10, ["x"])
    with refbrowser.open(tmp_path / "source") as dataset:
        chosen = (ArrayChoice.of(dataset, "/v", "1:3,2"), ArrayChoice.of(dataset, "/x", "0:2"))
    exported(tmp_path, arrays=chosen)
    ours = both(netcdf, tmp_path)
    assert ours["dimensions"]["y"] == [2, False]
    assert ours["dimensions"]["x"] == [2, False]
    assert ours["variables"]["v"]["values"] == [6, 10]


def test_a_selection_that_differs_between_arrays(netcdf, tmp_path):
    group = {
        "dimensions": {"t": [3, True]},
        "variables": {
            "a": {"type": "int", "dimensions": ["t"], "shape": [3], "values": [1, 2, 3]},
            "b": {"type": "int", "dimensions": ["t"], "shape": [3], "values": [4, 5, 6]},
        },
    }
    netcdf.write(tmp_path / "source", group)
    with refbrowser.open(tmp_path / "source") as dataset:
        chosen = (ArrayChoice.of(dataset, "/a"), ArrayChoice.of(dataset, "/b", "0:2"))
    exported(tmp_path, arrays=chosen)
    variables = both(netcdf, tmp_path)["variables"]
    assert (variables["a"]["dimensions"], variables["b"]["dimensions"]) == (["t"], ["t_2"])


def test_without_array_dimensions(netcdf, tmp_path, source):
    put(source, "v", np.arange(3), ["x"])
    exported(tmp_path, array_dimensions=False)
    assert "_ARRAY_DIMENSIONS" not in (tmp_path / "target" / "v" / ".zattrs").read_text()
    assert both(netcdf, tmp_path)["variables"]["v"]["dimensions"] == ["x"]


def test_xarray_reads_it(tmp_path, source):
    import xarray

    put(source, "v", np.arange(6.0).reshape(2, 3), ["y", "x"], attributes={"units": "m"}, fill_value=-1.0)
    put(source, "x", np.arange(3), ["x"], fill_value=-1)
    exported(tmp_path)
    with xarray.open_zarr(tmp_path / "target", consolidated=False) as dataset:
        assert dataset["v"].dims == ("y", "x")
        assert dataset["v"].values.tolist() == [[0, 1, 2], [3, 4, 5]]
        assert dataset["v"].attrs["units"] == "m"


def test_a_root_array(netcdf, tmp_path):
    array = zarr.create_array(tmp_path / "source", shape=(3,), dtype="i4", zarr_format=2)
    array[...] = [1, 2, 3]
    exported(tmp_path)
    assert both(netcdf, tmp_path)["variables"]["data"]["values"] == [1, 2, 3]


@pytest.mark.parametrize("folder", ["", "a"])
def test_zip_files(tmp_path, source, folder):
    put(source, "v", np.arange(3), ["x"], attributes={"units": "m"})
    report = exported(tmp_path, container="zip", zip_folder=folder)
    with zipfile.ZipFile(tmp_path / "target") as archive:
        assert f"{folder}/.zgroup".lstrip("/") in archive.namelist()
    assert any("netCDF does not read a zip file with keys at the top" in loss for loss in losses(report)) == (
        not folder
    )
    (tmp_path / "target").rename(tmp_path / "target.zip")
    with refbrowser.open(tmp_path / "target.zip") as dataset:
        assert dataset.hierarchy.flavour == Flavour.NCZARR
        assert dataset["/v"].attrs == {"units": "m"}
        assert dataset["/v"][...].tolist() == [0, 1, 2]


def test_names_that_netcdf_takes_for_one(netcdf, tmp_path, source):
    put(source, "o\u0308", np.arange(2))
    put(source, "\u00f6", np.arange(3))
    report = exported(tmp_path)
    variables = both(netcdf, tmp_path)["variables"]
    assert {name: item["shape"] for name, item in variables.items()} in (
        {"\u00f6": [2], "\u00f6_2": [3]},
        {"\u00f6": [3], "\u00f6_2": [2]},
    )
    assert any("the name is written as" in loss for loss in losses(report))


@pytest.mark.parametrize("dtype", ["i1", "u1"])
def test_zarr_python_reads_bytes_too(tmp_path, dtype):
    values = np.arange(100, 106, dtype=dtype)
    put(zarr.create_group(tmp_path / "source", zarr_format=2), "mask", values, fill_value=1)
    refbrowser.export(tmp_path / "source", tmp_path / "target", format="nczarr")
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "target", mode="r")["mask"][...], values)
