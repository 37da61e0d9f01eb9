"""Packed numbers said by attributes or by codecs: what is stored stays, what is read differs in last bits."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError

NUMBERS = np.arange(-300, 300, dtype="i2").reshape(20, 30)
CF = {"scale_factor": 0.01, "add_offset": 280.0, "units": "K"}


def store(
    path: Path, attributes: dict[str, Any], *, version: int = 3, values: Any = NUMBERS, fill: Any = 0
) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.create_array(
            path / "t",
            shape=values.shape,
            chunks=(10, 15),
            dtype=values.dtype,
            fill_value=fill,
            attributes=attributes,
            zarr_format=version,  # type: ignore[arg-type]
            dimension_names=("y", "x") if version == 3 else None,
        )
        zarr.create_group(path, zarr_format=version, overwrite=False)  # type: ignore[arg-type]
        array[...] = values
    return path


def exported(source: Path, target: Path, packing: str, format: str = "zarr-v3", **more: Any) -> str:
    with refbrowser.open(source) as dataset:
        return str(refbrowser.export(dataset, target, format=format, packing=packing, **more))


def read(path: Path, *allow: Path) -> Any:
    with refbrowser.open(path, allow=[str(each) for each in allow]) as dataset:
        array = dataset.array("/t")
        return array[...], dict(array.attrs), array.node


@pytest.mark.slow
@pytest.mark.parametrize(("version", "fill"), [(3, 0), (3, -300), (2, -300)])
def test_attributes_become_codecs_and_attributes_again(tmp_path: Path, version: int, fill: int) -> None:
    source = store(tmp_path / "a", {**CF, "_FillValue": -300}, version=version, fill=fill)
    told = exported(source, tmp_path / "b", "codecs")
    assert "4 copied undecoded" in told
    assert "/t: scale_factor and add_offset become codecs: stored numbers stay" in told
    assert "% of the values differ in the last bits, by 1.1e-13 at most" in told
    values, attributes, node = read(tmp_path / "b")
    assert attributes == {"units": "K"}
    assert [codec.name for codec in node.codecs[:2]] == ["scale_offset", "cast_value"]
    # The arithmetic of zarr-extensions, codecs/scale_offset.
    expected = NUMBERS / (1 / 0.01) + 280.0
    expected[NUMBERS == -300] = np.nan
    assert np.array_equal(values, expected, equal_nan=True)
    assert np.array_equal(node.fill_value, np.nan if fill == -300 else 280.0, equal_nan=True)
    # What is stored are the same numbers, which another reader sees without these codecs.
    document = json.loads((tmp_path / "b" / "t" / "zarr.json").read_text())
    document |= {"codecs": document["codecs"][2:], "data_type": "int16", "fill_value": fill}
    bare = tmp_path / "bare"
    (tmp_path / "b" / "t").rename(bare)
    (bare / "zarr.json").write_text(json.dumps(document))
    assert np.array_equal(zarr.open_array(bare, mode="r")[...], NUMBERS)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["zarr-v2", "zarr-v3"])
def test_codecs_become_attributes(tmp_path: Path, format: str) -> None:
    source = store(tmp_path / "a", {**CF, "_FillValue": -300, "valid_range": [-299, 250]})
    exported(source, tmp_path / "b", "codecs")
    _, attributes, _ = read(tmp_path / "b")
    assert np.allclose(attributes["valid_range"], [277.01, 282.5], rtol=1e-12)
    told = exported(tmp_path / "b", tmp_path / "c", "attributes", format)
    assert "scale_offset and cast_value become attributes: stored numbers stay" in told
    assert "4 copied undecoded" in told
    values, attributes, node = read(tmp_path / "c")
    assert node.dtype == np.int16
    assert np.array_equal(values, NUMBERS)
    assert {name: attributes[name] for name in ("scale_factor", "add_offset", "_FillValue", "units")} == {
        **CF,
        "_FillValue": -300,
    }


@pytest.mark.slow
def test_short_floats_where_the_attributes_are_short(tmp_path: Path) -> None:
    netcdf4 = pytest.importorskip("netCDF4")
    with netcdf4.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("y", 20)
        file.createDimension("x", 30)
        variable = file.createVariable("t", "i2", ("y", "x"))
        variable.set_auto_maskandscale(False)
        variable.scale_factor, variable.add_offset = np.float32(0.5), np.float32(3)
        variable[...] = NUMBERS
    told = exported(tmp_path / "a.nc", tmp_path / "b", "codecs")
    assert "stored numbers stay, and so do the values" in told
    values, _, node = read(tmp_path / "b")
    assert node.dtype == np.float32
    assert np.array_equal(values, (NUMBERS * 0.5 + 3).astype("f4"))
    # The default fill of netCDF stands for values that were never written.
    assert node.codecs[1].configuration["scalar_map"]["decode"] == [[-32767, "NaN"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attributes", "values", "why"),
    [
        ({"scale_factor": 0.0}, NUMBERS, "the codecs have no such scale"),
        ({"scale_factor": "two"}, NUMBERS, "the codecs cannot say scale_factor"),
        ({**CF, "_Unsigned": "true"}, NUMBERS, "the codecs cannot say _Unsigned"),
        ({**CF, "_FillValue": 1, "missing_value": 2}, NUMBERS, "several stored values"),
        ({**CF, "valid_max": 40_000}, NUMBERS, "its valid_max is not of the numbers that are stored"),
        ({**CF, "valid_range": ["a", None]}, NUMBERS, "the codecs cannot say valid_range"),
        ({**CF, "valid_min": 10**30}, NUMBERS, "its valid_min is not of the numbers"),
        (CF, NUMBERS.astype("i8"), "only integers of at most 32 bits"),
        (CF, NUMBERS.astype("f4"), "only integers of at most 32 bits"),
    ],
)
def test_what_codecs_cannot_say_stays(tmp_path: Path, attributes: Any, values: Any, why: str) -> None:
    told = exported(store(tmp_path / "a", attributes, values=values), tmp_path / "b", "codecs")
    assert f"its packing stays: {why}" in told
    found, kept, node = read(tmp_path / "b")
    assert (node.dtype, kept) == (values.dtype, attributes)
    assert np.array_equal(found, values)


@pytest.mark.slow
def test_other_arrays_and_targets_stay_as_they_are(tmp_path: Path) -> None:
    plain = store(tmp_path / "a", {"units": "K"})
    assert "packing" not in exported(plain, tmp_path / "b", "codecs")
    assert "packing" not in exported(plain, tmp_path / "c", "attributes")
    packed = store(tmp_path / "d", CF)
    assert "Zarr v2 has no codecs for it" in exported(packed, tmp_path / "e", "codecs", "zarr-v2")
    assert CF.items() <= read(tmp_path / "e")[1].items()
    exported(packed, tmp_path / "f", "keep")
    assert read(tmp_path / "f")[1] == CF
    with refbrowser.open(packed) as dataset, pytest.raises(RefbrowserError) as caught:
        refbrowser.export(dataset, tmp_path / "g", format="zarr-v3", packing="both")  # type: ignore[arg-type]
    assert caught.value.kind is ErrorKind.USAGE


@pytest.mark.slow
def test_shards_and_other_codecs_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = store(tmp_path / "a", CF)
    command = ["export", str(source), str(tmp_path / "b"), "--to", "zarr-v3", "--packing", "codecs"]
    assert main([*command, "--codec", "zstd:3", "--chunks", "5,15", "--shards", "10,30"]) == 0
    assert "become codecs" in capsys.readouterr().err
    values, _, node = read(tmp_path / "b")
    assert np.array_equal(values, NUMBERS / (1 / 0.01) + 280.0)
    assert [codec.name for codec in node.codecs] == ["sharding_indexed"]
    inner = [codec["name"] for codec in node.codecs[0].configuration["codecs"]]
    assert inner == ["scale_offset", "cast_value", "bytes", "zstd"]


@pytest.mark.slow
def test_a_snapshot_of_icechunk(tmp_path: Path) -> None:
    pytest.importorskip("icechunk")
    source = store(tmp_path / "a", CF)
    assert "become codecs" in exported(source, tmp_path / "b", "codecs", "icechunk")
    # Its chunks are references to those of the source.
    (tmp_path / "a" / "t" / "c" / "0" / "0").rename(tmp_path / "gone")
    with pytest.raises(RefbrowserError, match="0/0"):
        read(tmp_path / "b", source)
    (tmp_path / "gone").rename(tmp_path / "a" / "t" / "c" / "0" / "0")
    values, attributes, _ = read(tmp_path / "b", source)
    assert np.array_equal(values, NUMBERS / (1 / 0.01) + 280.0)
    assert attributes == {"units": "K"}


def test_what_is_cast_twice_stays(tmp_path: Path) -> None:
    source = store(tmp_path / "a", {}, values=NUMBERS.astype("f8"))
    path = source / "t" / "zarr.json"
    metadata = json.loads(path.read_text())
    casts = [{"name": "cast_value", "configuration": {"data_type": kind}} for kind in ("int32", "int16")]
    metadata["codecs"] = [*casts, {"name": "bytes", "configuration": {"endian": "little"}}]
    path.write_text(json.dumps(metadata))
    for chunk in (source / "t" / "c").glob("*/*"):
        chunk.write_bytes(bytes(2 * 10 * 15))
    told = exported(source, tmp_path / "b", "attributes")
    assert "its packing stays: it is cast twice" in told
