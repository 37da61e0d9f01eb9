"""What marks missing values stays so: xarray reads the same of a dataset and of what is exported of it."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import xarray
import zarr

import refbrowser
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.netcdf.fill import ADDED, TAKEN, marked, with_mark_of_v3
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import NO_MANIFEST, Chunks

pytestmark = pytest.mark.filterwarnings("ignore")
TARGETS = (
    ("zarr-v2", "2.zarr", "zarr"),
    ("zarr-v3", "3.zarr", "zarr"),
    ("nczarr", "n.zarr", "zarr"),
    ("netcdf4", "4.nc", "netcdf4"),
    ("ncstream", "s.ncs", "refbrowser"),
)
THREE = base64.b64encode(struct.pack("<d", 3.0)).decode()


def _store(path: Path, version: Any, dtype: str, fill: Any, *, gap: bool = False, said: Any = None) -> None:
    names: dict[str, Any] = {"attributes": {"_ARRAY_DIMENSIONS": ["x"]}}
    if version == 3:
        names = {"dimension_names": ["x"]}
    array = zarr.create_group(path, zarr_format=version).create_array(
        "a",
        shape=(8,),
        chunks=(2,),
        dtype=dtype,
        fill_value=fill,
        config={"write_empty_chunks": True},
        **names,
    )
    if said is not None:
        array.attrs["_FillValue"] = said
    _write(array, gap)


def _file(path: Path, *, gap: bool = False, said: Any = None) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(8)).make_scale("x")
        array = file.create_dataset("a", (8,), "i4", chunks=(2,), fillvalue=0)
        array.dims[0].attach_scale(file["x"])
        _write(array, gap)
        if said is not None:
            array.attrs["_FillValue"] = np.array([said], "i4")


def _write(array: Any, gap: bool) -> None:
    for start in (0, 2, 6) if gap else (0, 2, 4, 6):
        array[start : start + 2] = np.arange(start, start + 2)


def _read(path: Path, engine: str) -> list[Any]:
    options = {"consolidated": False} if engine == "zarr" else {}
    with xarray.open_dataset(path, engine=engine, **options) as dataset:
        return [None if value != value else float(value) for value in dataset["a"].values]


@pytest.mark.slow
def test_xarray_reads_the_same_of_source_and_export(tmp_path: Path) -> None:
    _store(tmp_path / "three", 3, "u1", 0)
    _store(tmp_path / "gap", 3, "i2", 5, gap=True)
    _store(tmp_path / "said", 3, "f4", 0.0, gap=True, said=THREE)
    _store(tmp_path / "two", 2, "u1", 0)
    _store(tmp_path / "null", 2, "u1", None)
    _file(tmp_path / "plain.h5")
    _file(tmp_path / "gap.h5", gap=True)
    _file(tmp_path / "said.h5", said=3)
    with netCDF4.Dataset(tmp_path / "four.nc", "w") as file:
        file.createDimension("x", 8)
        file.createVariable("a", "f4", ("x",), fill_value=3, chunksizes=(2,))[:] = np.arange(8)
    zeros, masked = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, None, 4.0, 5.0, 6.0, 7.0]
    for name, engine, wanted in (
        ("three", "zarr", zeros),
        ("gap", "zarr", [0.0, 1.0, 2.0, 3.0, 5.0, 5.0, 6.0, 7.0]),
        ("said", "zarr", [0.0, 1.0, 2.0, None, 0.0, 0.0, 6.0, 7.0]),
        ("two", "zarr", [None, *zeros[1:]]),
        ("null", "zarr", zeros),
        ("plain.h5", "h5netcdf", zeros),
        ("gap.h5", "h5netcdf", [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 6.0, 7.0]),
        ("said.h5", "h5netcdf", masked),
        ("four.nc", "netcdf4", masked),
    ):
        source = tmp_path / name
        assert _read(source, engine) == _read(source, "refbrowser") == wanted, name
        with refbrowser.open(source) as dataset:
            for format, ending, reader in TARGETS:
                target = tmp_path / f"{name}-{ending}"
                report = refbrowser.export(dataset, target, format=format)
                assert _read(target, reader) == wanted, (name, format)
                is_added = ADDED in [loss.what for loss in report.losses if loss.path == "/a"]
                assert is_added == (name == "two" and format in ("zarr-v3", "netcdf4", "ncstream"))
                if "gap" not in name and format == "zarr-v2":
                    assert report.copied == report.chunks, name
    with netCDF4.Dataset(tmp_path / "three-4.nc") as file:
        assert file["a"].ncattrs() == []


def test_documents_that_are_made_mark_what_the_file_marks(tmp_path: Path) -> None:
    for name, options, told in (
        ("plain", {}, None),
        ("said", {"said": 3}, 3),
        ("gap", {"gap": True}, 0),
    ):
        _file(tmp_path / f"{name}.h5", **options)
        with refbrowser.open(tmp_path / f"{name}.h5") as dataset:
            report = refbrowser.export(dataset, tmp_path / f"{name}.json", format="refs-v0")
        assert any("equal to 0 as missing" in loss.what for loss in report.losses) == (name == "gap")
        text = json.loads((tmp_path / f"{name}.json").read_text())["a/.zarray"]
        assert (json.loads(text) if isinstance(text, str) else text)["fill_value"] == told, name


class _Sparse:
    """A manifest that tells just how many chunks are stored."""

    grid_shape = (100_000,)

    def stored(self) -> int:
        return 5


def test_what_is_too_sparse_to_be_written_keeps_its_fill_value_and_tells() -> None:
    grid = RegularChunkGrid((100_000,), (1,))
    node = ArrayNode(path="/a", shape=(100_000,), fill_value=np.int32(0), fill_marks=False)
    node = replace(node, type=type(node.type).of(np.dtype("i4")), values=Chunks(grid=grid))
    sparse = replace(node, values=Chunks(grid=grid, manifest=_Sparse()))  # type: ignore[arg-type]
    assert marked(sparse, sparse)[1] == [TAKEN]
    assert marked(sparse, sparse)[0].fill_value == 0
    assert node.manifest is NO_MANIFEST
    assert marked(node, node)[0].fill_value is None
    two = replace(node, fill_value=np.int32(3), fill_marks=True, attributes={"_FillValue": 4})
    changed, lines = with_mark_of_v3(two)
    assert changed.attributes == {"_FillValue": 3}
    assert "changed to 3" in lines[0]
