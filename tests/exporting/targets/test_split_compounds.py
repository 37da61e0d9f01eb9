"""Compounds, complex numbers and opaque elements in NCZarr: one variable for each field."""

import base64
import json
import zlib
from itertools import product

import numpy as np
import pytest

import refbrowser
from refbrowser.errors import RefbrowserError
from refbrowser.exporting import blocks, chunks
from refbrowser.exporting.check import check_export
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.options import Sides, StoreOptions
from refbrowser.exporting.request import ArrayChoice, ExportRequest

STATION = np.dtype(
    [
        ("id", "S1"),
        ("name", "S5"),
        ("place", [("lon", "<f8"), ("lat", ">f4", (2,))]),
        ("counts", ">i2", (2, 3)),
        ("parts", [("a", "<i4"), ("b", "V3")], (2,)),
        ("nothing", "S0"),
    ]
)
FIELDS = {
    "st_id": lambda values: values["id"],
    "st_name": lambda values: values["name"],
    "st_place_lon": lambda values: values["place"]["lon"],
    "st_place_lat": lambda values: values["place"]["lat"],
    "st_counts": lambda values: values["counts"],
    "st_parts_a": lambda values: values["parts"]["a"],
    "st_parts_b": lambda values: np.ascontiguousarray(values["parts"]["b"])[..., None].view("u1"),
}


def random_values(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    values = np.zeros(shape, dtype)
    letters = random.integers(97, 122, values.nbytes, dtype=np.uint8)
    values[...] = np.frombuffer(letters.tobytes(), dtype).reshape(shape)
    return values


def write(tmp_path, values, sides, name="st", rows=None, fill=None):
    """Write an array of Zarr v2 with the chunks of some rows only."""
    folder = tmp_path / "source" / name
    folder.mkdir(parents=True)
    (tmp_path / "source" / ".zgroup").write_text('{"zarr_format": 2}')
    (folder / ".zattrs").write_text('{"units": "1"}')
    document = {
        "zarr_format": 2,
        "shape": values.shape,
        "chunks": sides,
        "dtype": json.loads(json.dumps(values.dtype.descr if values.dtype.names else values.dtype.str)),
        "fill_value": None if fill is None else base64.b64encode(fill.tobytes()).decode(),
        "order": "F",
        "compressor": {"id": "zlib", "level": 1},
        "filters": None,
    }
    (folder / ".zarray").write_text(json.dumps(document))
    counts = [-(-size // side) for size, side in zip(values.shape, sides, strict=True)]
    for at in np.ndindex(*counts):
        if rows is not None and at[0] not in rows:
            continue
        chunk = np.zeros(sides, values.dtype)
        part = values[tuple(slice(i * side, (i + 1) * side) for i, side in zip(at, sides, strict=True))]
        chunk[tuple(slice(0, size) for size in part.shape)] = part
        (folder / (".".join(map(str, at)) or "0")).write_bytes(zlib.compress(chunk.tobytes("F")))


def exported(tmp_path, arrays=None, split=True, **options):
    options = StoreOptions(split_compounds=split, **options)
    with refbrowser.open(tmp_path / "source") as dataset:
        request = ExportRequest(
            str(tmp_path / "target"), "nczarr", arrays and arrays(dataset), options=options
        )
        estimate = estimate_export(dataset, request)
        report = run_export(dataset, request)
        checked = check_export(dataset, request)
    assert estimate.losses == report.losses
    netcdf = [item for item in checked.items if item.program == "netCDF4"]
    assert netcdf
    assert all(item.is_equal for item in netcdf)
    return report


def read(tmp_path):
    with refbrowser.open(tmp_path / "target") as dataset:
        assert not dataset.hierarchy.findings
        return {path[1:]: array[...] for path, array in dataset.arrays.items()}


@pytest.mark.slow
def test_each_field_is_a_variable_that_netcdf_reads(tmp_path, netcdf):
    values = random_values((7, 4), STATION)
    write(tmp_path, values, (3, 2))
    report = exported(tmp_path)
    found = read(tmp_path)
    assert list(found) == list(FIELDS)
    for name, field in FIELDS.items():
        np.testing.assert_array_equal(found[name], field(values), name)
    told = [str(loss) for loss in report.losses]
    assert "/st: the compound is split into 7 variables, one for each field: '/st_id', '/st_name'" in told[0]
    dataset = netcdf.read(tmp_path / "target")
    assert "st_parts_b" in str(dataset)


@pytest.mark.slow
def test_a_selection_other_chunks_and_missing_chunks(tmp_path):
    values = random_values((9, 5), STATION)
    fill = random_values((), STATION, 1)[()]
    write(tmp_path, values, (2, 5), rows=(1, 2), fill=fill)
    exported(
        tmp_path,
        lambda dataset: (ArrayChoice.of(dataset, "st", "1:9:2,2"),),
        chunks=Sides((3,)),
        codec="zlib:1",
    )
    whole = np.full_like(values, fill)
    whole[2:6] = values[2:6]
    found = read(tmp_path)
    for name, field in FIELDS.items():
        np.testing.assert_array_equal(found[name], field(whole)[1:9:2, 2], name)


@pytest.mark.slow
def test_chunks_across_those_of_the_source(tmp_path, monkeypatch):
    small = STATION.itemsize * 24 * 5
    monkeypatch.setattr(
        chunks, "encode_plan", lambda layout, unit, *, most: blocks.encode_plan(layout, unit, small, most)
    )
    values = random_values((24, 20), STATION)
    write(tmp_path, values, (1, 20))
    exported(tmp_path, chunks=Sides((24, 5)))
    found = read(tmp_path)
    for name, field in FIELDS.items():
        np.testing.assert_array_equal(found[name], field(values), name)


@pytest.mark.slow
def test_opaque_elements_are_bytes_and_complex_numbers_pairs(tmp_path):
    written = {}
    for number, (shape, dtype) in enumerate(product([(), (3,)], ["V6", "<c8", ">c16"])):
        written[f"a{number}"] = values = random_values(shape, dtype)
        write(tmp_path, values, shape, name=f"a{number}")
    exported(tmp_path)
    found = read(tmp_path)
    wanted = {}
    for name, values in written.items():
        if values.dtype.kind == "V":
            wanted[name] = np.ascontiguousarray(values)[..., None].view("u1").reshape(*values.shape, 6)
        else:
            wanted[f"{name}_r"], wanted[f"{name}_i"] = values.real, values.imag
    assert found.keys() == wanted.keys()
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, name)


@pytest.mark.slow
def test_names_that_are_taken_and_fields_that_would_be_one(tmp_path):
    dtype = np.dtype([("a", [("b", "i4")]), ("a_b", "i4")])
    values = random_values((2,), dtype)
    write(tmp_path, values, (2,))
    write(tmp_path, np.arange(3), (3,), name="st_a_b")
    exported(tmp_path)
    found = list(read(tmp_path).values())
    assert len(found) == 3
    for each in (values["a"]["b"], values["a_b"], np.arange(3)):
        assert any(np.array_equal(each, array) for array in found)


@pytest.mark.parametrize("dtype", [STATION, "V6", "<c8"])
def test_without_the_option_the_error_names_it(tmp_path, dtype):
    write(tmp_path, random_values((2,), dtype), (2,))
    with pytest.raises(RefbrowserError) as failed:
        exported(tmp_path, split=False)
    assert "--split-compounds" in failed.value.advice
    assert failed.value.message.endswith(("'compound'", "'opaque(6)'"))
