"""Stores that netCDF4 writes, as netcdf-c of its day lays them out."""

import zipfile

import numpy as np
import pytest
from netcdf_stores import NUMBERS, described

import refbrowser
from refbrowser.model.nodes import Flavour

INTEGERS = {name: dtype for name, dtype in NUMBERS.items() if dtype[0] in "iu"}


def ends(name):
    limits = np.iinfo(INTEGERS[name])
    return [int(limits.min), int(limits.max), 0, 7]


def variable(kind, dimensions, shape, values, **more):
    found = {"type": kind, "dimensions": dimensions, "shape": shape, "values": values, "attributes": {}}
    return found | more


def hexadecimal(*values):
    return [float(value).hex() for value in values]


def corpus():
    """Return a dataset with all that NCZarr can hold; attributes have no more digits than netcdf-c writes."""
    floats = hexadecimal(0.1, -0.0, 1e-30, 3.0)
    texts = {"plain": "hello", "empty": "", "letters": "größe", "lines": "a\nb\tc", "quotes": 'a "b" \\c/'}
    root = {
        "dimensions": {"x": [4, False], "time": [3, True], "none": [0, True]},
        "attributes": {
            **{f"a_{name}": [name, ends(name)] for name in INTEGERS},
            **{f"one_{name}": [name, ends(name)[:1]] for name in INTEGERS},
            "a_float": ["float", ["nan", "inf", "-inf", *hexadecimal(1.5)]],
            "a_double": ["double", hexadecimal(-0.25, 1e10)],
            "several": ["string", ["a", "", "ö", "[1]"]],
            "number as string": ["string", ["42"]],
            "json": ["char", ['{"k": [1]}']],
            # netcdf-c types char texts with letters beyond ASCII as strings.
            **{name: ["char" if text.isascii() else "string", [text]] for name, text in texts.items()},
        },
        "variables": {
            **{
                f"v_{name}": variable(name, ["x"], [4], ends(name), attributes={"_FillValue": [name, [7]]})
                for name in INTEGERS
            },
            **{
                f"big_{name}": variable(name, ["x"], [4], ends(name), options={"endian": "big"})
                for name in INTEGERS
            },
            "v_double": variable("double", ["x"], [4], floats),
            "v_float": variable("float", ["x"], [4], hexadecimal(*np.float32([0.1, -0.0, 1e-30, 3]))),
            "chars": variable(
                "char", ["x"], [4], ["a", "", "\xff", "z"], attributes={"_FillValue": ["char", ["q"]]}
            ),
            "texts": variable("string", ["x"], [4], ["ab", "ö", "", "x" * 128]),
            "scalar": variable("double", [], [], hexadecimal(2.5), attributes={"units": ["char", ["m"]]}),
            "scalar_text": variable("string", [], [], ["hello"]),
            "scalar_char": variable("char", [], [], ["h"]),
            "record": variable("int", ["time", "x"], [3, 4], list(range(12))),
            "empty": variable("int", ["none"], [0], []),
        },
        "groups": {
            "g": {
                "dimensions": {"y": [2, False], "x": [3, False]},
                "variables": {
                    "inner": variable("short", ["y", "x"], [2, 3], list(range(6))),
                    "with time": variable("short", ["time"], [3], [1, 2, 3]),
                },
                "groups": {"h": {"variables": {"deep": variable("int", ["y"], [2], [1, 2])}}},
            }
        },
    }
    filters = {
        "chunked": {"chunksizes": [2, 2]},
        "zlib": {"zlib": True, "shuffle": False},
        "shuffled": {"zlib": True, "chunksizes": [2, 3]},
        "checked": {"fletcher32": True},
        "all": {"fletcher32": True, "zlib": True},
    }
    for name, options in filters.items():
        root["variables"][name] = variable(
            "double", ["time", "x"], [3, 4], hexadecimal(*range(12)), options=options
        )
    return root


def check(ours, wanted, path=""):
    """Compare what was read with a description that says less."""
    assert ours["dimensions"] == wanted.get("dimensions", {}), path
    assert ours["attributes"] == wanted.get("attributes", {}), path
    assert list(ours["variables"]) == list(wanted.get("variables", {})), path
    for name, item in wanted.get("variables", {}).items():
        for member in ("type", "dimensions", "shape", "attributes", "values"):
            assert ours["variables"][name][member] == item[member], (path, name, member)
    assert list(ours["groups"]) == list(wanted.get("groups", {})), path
    for name, below in wanted.get("groups", {}).items():
        check(ours["groups"][name], below, f"{path}/{name}")


def test_all_that_netcdf_writes(netcdf, tmp_path):
    netcdf.write(tmp_path / "store", corpus())
    with refbrowser.open(tmp_path / "store") as dataset:
        assert dataset.hierarchy.flavour == Flavour.NCZARR
        assert dataset.hierarchy.age == "netcdf-c 4.9.3 or later"
        assert dataset.hierarchy.findings == ()
        ours = described(dataset)
        check(ours, with_fill_first(corpus()))
    theirs = netcdf.read(tmp_path / "store")
    # netcdf-c hands on only the text of JSON, laid out in its own way.
    theirs["attributes"]["json"] = ours["attributes"]["json"] = None
    assert ours == theirs


def with_fill_first(group):
    group["attributes"]["json"] = ["char", ['{"k":[1]}']]
    return group


def test_records_of_different_lengths(netcdf, tmp_path):
    group = {
        "dimensions": {"t": [5, True]},
        "variables": {
            "full": variable("int", ["t"], [5], [1, 2, 3, 4, 5]),
            "short": variable("int", ["t"], [2], [1, 2], options={"chunksizes": [1]}),
        },
    }
    netcdf.write(tmp_path / "store", group)
    with refbrowser.open(tmp_path / "store") as dataset:
        assert described(dataset) == netcdf.read(tmp_path / "store")
        assert dataset["/short"][...].tolist() == [1, 2, *[-2147483647] * 3]


@pytest.mark.parametrize("mode", ["zarr", "xarray", "nczarr,noxarray"])
def test_plain_zarr_through_netcdf_eyes(netcdf, tmp_path, mode):
    # No char: netcdf-c writes it as ``>S1`` here too, and then reads it as string.
    group = {
        "dimensions": {"x": [2, False], "t": [3, True]},
        "attributes": {"title": ["char", ["a"]], "number": ["int", [3]]},
        "variables": {
            "v": variable("short", ["t", "x"], [3, 2], list(range(6)), options={"zlib": True}),
            "text": variable("string", ["x"], [2], ["ab", "c"]),
            "s": variable("double", [], [], hexadecimal(1.5)),
        },
        "groups": {
            "g": {
                "dimensions": {"x": [5, False]},
                "variables": {
                    "w": variable("int", ["x"], [5], [1, 2, 3, 4, 5]),
                    "u": variable("int", ["t"], [3], [1, 2, 3]),
                },
            }
        },
    }
    netcdf.write(tmp_path / "store", group, mode)
    with refbrowser.open(tmp_path / "store") as dataset:
        assert dataset.hierarchy.flavour == Flavour.ZARR_V2
        assert dataset["/v"][...].tolist() == [[0, 1], [2, 3], [4, 5]]
    with refbrowser.open(tmp_path / "store", flavour="nczarr") as dataset:
        assert dataset.hierarchy.flavour == Flavour.NCZARR
        assert described(dataset) == netcdf.read(tmp_path / "store", mode)


def test_nczarr_as_plain_zarr(netcdf, tmp_path):
    netcdf.write(tmp_path / "store", corpus())
    with refbrowser.open(tmp_path / "store", flavour="zarr-v2") as dataset:
        assert dataset.hierarchy.flavour == Flavour.ZARR_V2
        assert dataset["/scalar"].shape == (1,)
        assert dataset["/shuffled"][1].tolist() == [4, 5, 6, 7]
        assert "_nczarr_group" in dataset.attrs


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["", "store/"])
def test_zip_files_with_and_without_a_leading_folder(netcdf, tmp_path, monkeypatch, folder):
    netcdf.write(tmp_path / "store", corpus())
    (tmp_path / "below").mkdir()
    with zipfile.ZipFile(tmp_path / "below" / "store.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((tmp_path / "store").rglob("*")):
            if path.is_file():
                archive.write(path, folder + path.relative_to(tmp_path / "store").as_posix())
    monkeypatch.chdir(tmp_path)
    with refbrowser.open("below/store.zip") as dataset, refbrowser.open("store") as plain:
        assert dataset.hierarchy.flavour == Flavour.NCZARR
        assert described(dataset) == described(plain)
