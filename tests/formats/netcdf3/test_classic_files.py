"""Classic netCDF of several writers: what netCDF and kerchunk see in it is what is shown and exported."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import fsspec
import netCDF4
import numpy as np
import pytest
import zarr
from classic_encoder import Classic
from kerchunk.netCDF3 import NetCDF3ToZarr
from servers.http_server import HttpServer
from servers.object_servers import ObjectServer
from zarr_versions import needs_types_of_zarr

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.targets.reference_options import ReferenceOptions
from refbrowser.formats.netcdf3 import opening
from refbrowser.formats.zarr.keys import ChunkKey, KeyClassifier
from refbrowser.model.nodes import GroupNode
from refbrowser.references.edits.edits import SetMetadata, SetReference

FORMS = {1: "NETCDF3_CLASSIC", 2: "NETCDF3_64BIT_OFFSET", 5: "NETCDF3_64BIT_DATA"}
PLAIN, LARGE = ("i1", "i2", "i4", "f4", "f8", "S1"), ("u1", "u2", "u4", "i8", "u8")


def written(path: Path, version: int) -> Path:
    """Write a file with variables of each type, with and without records."""
    with netCDF4.Dataset(path, "w", format=FORMS[version]) as file:
        for name, size in (("time", None), ("y", 3), ("x", 5), ("unused", 7), ("n", 3)):
            file.createDimension(name, size)
        file.setncatts({"title": "été", "one": np.int16(3), "two": np.array([1.5, 2.5], "f4"), "none": ""})
        for number, type in enumerate(PLAIN + LARGE if version == 5 else PLAIN):
            text = type == "S1"
            held = file.createVariable(f"held_{type}", type, ("time", "n"))
            held[0:7] = np.full((7, 3), b"q") if text else np.arange(21).reshape(7, 3) + number
            fixed = file.createVariable(f"fixed_{type}", type, ("y", "x"), fill_value=b"z" if text else 9)
            fixed[:] = b"a" if text else np.arange(15).reshape(3, 5)
            fixed.setncattr("typed", b"text" if text else np.array([1, 2], type))
        file.createVariable("scalar", "f8", ())[...] = 4.5
        file.createVariable("μ", "f8", ("time",))[:] = np.arange(7) * 3.0
    return path


def values_of(path: Path) -> dict[str, Any]:
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return {f"/{name}": variable[...] for name, variable in file.variables.items()}


def assert_same(dataset: Dataset, expected: dict[str, Any]) -> None:
    assert list(dataset.arrays) == list(expected)
    for path, values in expected.items():
        found = dataset[path][...]
        assert found.dtype.newbyteorder("=") == values.dtype.newbyteorder("="), path
        assert np.array_equal(found, values), path


@pytest.mark.parametrize("version", FORMS)
def test_netcdf_sees_the_same(tmp_path: Path, version: int) -> None:
    path = written(tmp_path / "whatever.bin", version)
    expected = values_of(path)
    with refbrowser.open(path) as dataset:
        assert dataset.format == "netcdf3"
        assert_same(dataset, expected)
        assert np.array_equal(dataset["/held_i2"][5:0:-2, 1:], expected["/held_i2"][5:0:-2, 1:])
        assert not dataset.document.notes
        dimensions = dataset.hierarchy.root.dimensions
        assert {name: each.size for name, each in dimensions.items()} == {
            "time": 7, "y": 3, "x": 5, "unused": 7, "n": 3
        }  # fmt: skip
        assert [each.name for each in dimensions.values() if each.unlimited] == ["time"]
        assert dataset["/fixed_i4"].fill_value == 9
        cdl = dataset.cdl()
    if shutil.which("ncdump"):
        told = subprocess.run(["ncdump", "-h", str(path)], capture_output=True, text=True, check=True)
        assert cdl.splitlines()[1:] == told.stdout.splitlines()[1:]


@pytest.mark.slow
def test_exports_hold_the_same(tmp_path: Path) -> None:
    path = written(tmp_path / "a.nc", 1)
    expected = values_of(path)
    with refbrowser.open(path) as dataset:
        for form in ("refs-v0", "refs-parquet", "zarr-v3", "ncstream"):
            target = tmp_path / form
            refbrowser.export(dataset, target, format=form)
            with refbrowser.open(target) as again:
                found = {name: again[name][...] for name in again.arrays}
            assert found.keys() == expected.keys(), form
            assert all(np.array_equal(found[name], expected[name]) for name in expected), form
    with refbrowser.open(tmp_path / "ncstream") as again:
        assert again.hierarchy.root.dimensions["time"].unlimited
    group = opened_by_zarr(json.loads((tmp_path / "refs-v0").read_bytes()))
    for name in ("/held_i2", "/fixed_f8", "/fixed_S1", "/scalar"):
        assert np.array_equal(group[name[1:]][...], expected[name]), name


def spelled(value: Any, path: Path) -> Any:
    """Return a reference without its template."""
    return [str(path), *value[1:]] if isinstance(value, list) else value


def opened_by_zarr(references: dict[str, Any]) -> zarr.Group:
    system = fsspec.filesystem("reference", fo=references, simple_templates=False, asynchronous=False)
    return zarr.open_group(system.get_mapper(""), mode="r", zarr_format=2)


@needs_types_of_zarr
def test_references_are_those_of_kerchunk(tmp_path: Path, shared_data: Path) -> None:
    for path in (written(tmp_path / "a.nc", 2), (shared_data / "real" / "crm.nc").resolve()):
        # scipy takes names for Latin.
        found = NetCDF3ToZarr(str(path), inline_threshold=0).translate()["refs"]
        theirs = {key.encode("latin-1").decode(): value for key, value in found.items()}
        with refbrowser.open(path) as dataset:
            refbrowser.export(dataset, tmp_path / "ours.json", format="refs-v0", force=True)
        ours = json.loads((tmp_path / "ours.json").read_bytes())
        chunks = {key: [str(path), *value[1:]] for key, value in theirs.items() if isinstance(value, list)}
        assert {key: value for key, value in ours.items() if isinstance(value, list)} == chunks
        for key in (key for key in theirs if key.endswith(".zarray")):
            for name in ("shape", "chunks", "dtype", "compressor", "filters"):
                assert json.loads(theirs[key])[name] == json.loads(ours[key])[name], (key, name)


def test_real_files_equal_their_digests(shared_data: Path) -> None:
    for name in ("crm", "eraint_uvz"):
        path = shared_data / "real" / f"{name}.nc"
        with refbrowser.open(path) as dataset:
            assert_same(dataset, values_of(path))


@pytest.mark.slow
def test_records_that_lie_next_to_each_other_are_read_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of bytes alone nothing fills the last unit; of many short records a thousand are read at a time."""
    path = tmp_path / "a.nc"
    made = Classic(records=50)
    made.dimensions = [(b"t", 0), (b"n", 3)]
    made.add(b"v", (0, 1), np.arange(150, dtype="i1").reshape(50, 3))
    path.write_bytes(made.to_bytes())
    with refbrowser.open(path) as dataset:
        assert_same(dataset, values_of(path))
        assert dataset["/v"].chunks == (50, 3)
    made.records = 2000
    made.variables.clear()
    made.add(b"v", (0, 1), (np.arange(6000) % 100).astype("i1").reshape(2000, 3))
    made.add(b"w", (0,), np.arange(2000, dtype="i2"))
    path.write_bytes(made.to_bytes())
    with refbrowser.open(path) as dataset:
        expected = values_of(path)
        assert_same(dataset, expected)
        w = dataset["/w"]
        assert w.plan(w.selection("...")).chunks == 1
        assert np.array_equal(w[1:1990:7], expected["/w"][1:1990:7])
        assert np.array_equal(dataset["/v"][-3:, 1], expected["/v"][-3:, 1])
        # A key names a record, which lies in what is read together.
        role = KeyClassifier(dataset.hierarchy).classify("w/1999")
        assert isinstance(role, ChunkKey)
        assert (role.node.path, role.coords) == ("/w", (0,))
        assert not isinstance(KeyClassifier(dataset.hierarchy).classify("w/2000"), ChunkKey)
        plan = w.plan(w.selection("1999"))
        assert plan.useful_bytes == 2
        # References tell each record: one by one, or as a rule.
        refbrowser.export(dataset, tmp_path / "v1.json", format="refs-v1")
    monkeypatch.setattr(opening, "_LISTED", 1000)
    with refbrowser.open(path) as dataset:
        assert_same(dataset, expected)
        refbrowser.export(
            dataset, tmp_path / "rules.json", format="refs-v1", options=ReferenceOptions(template_share=0)
        )
        refbrowser.export(dataset, tmp_path / "v0.json", format="refs-v0")
    listed, ruled = (json.loads((tmp_path / f"{name}.json").read_bytes()) for name in ("v1", "rules"))
    assert [rule["key"] for rule in ruled["gen"]] == ["v/{{i}}.0", "w/{{i}}"]
    assert len(listed["refs"]) - len(ruled["refs"]) == 4000
    ranges = json.loads((tmp_path / "v0.json").read_bytes())
    assert ranges["w/1999"] == [str(path), path.stat().st_size - 4, 2]
    assert {**ruled["refs"], **ranges} == {key: spelled(value, path) for key, value in listed["refs"].items()}
    ruled["gen"] = [{**rule, "dimensions": {"i": {"stop": 3}}} for rule in ruled["gen"]]
    assert opened_by_zarr(ruled)["v"][:3].tolist() == expected["/v"][:3].tolist()
    # Where a chunk was given other bytes these are read.
    with refbrowser.open(path) as dataset:
        edited = dataset.document.apply(SetReference("w/7", [str(path), path.stat().st_size - 4, 2]))
        changed = dataset.with_document(edited)
        assert changed["/w"][6:9].tolist() == [6, 1999, 8]


def test_a_file_that_was_not_closed_has_as_many_records_as_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    for version in FORMS:
        for count in (0, 1, 5):
            made = Classic(version, None)
            made.dimensions = [(b"t", 0), (b"n", 3)]
            made.add(b"a", (0,), np.arange(count, dtype="i4"))
            made.add(b"b", (0, 1), np.arange(3 * count, dtype="i1").reshape(count, 3))
            data = made.to_bytes()
            # The last unit need not be filled; half a record is none.
            for cut in (0, 1, 2) if count else (0,):
                path.write_bytes(data[: len(data) - cut])
                with refbrowser.open(path) as dataset:
                    whole = count if cut < 2 else count - 1
                    assert dataset["/a"][...].tolist() == list(range(whole))
                    assert dataset["/b"].shape == (whole, 3)
                    assert dataset["/b"][...].tolist() == np.arange(3 * whole).reshape(whole, 3).tolist()
    # What fills the last unit up looks like records of one short variable alone.
    made = Classic(1, None)
    made.dimensions = [(b"t", 0)]
    made.add(b"a", (0,), np.arange(7, dtype="i2"))
    for fill, count in ((b"", 7), (bytes(2), 8)):
        path.write_bytes(made.to_bytes() + fill)
        with refbrowser.open(path) as dataset:
            assert dataset["/a"].shape == (count,)
            said = [each.message for each in dataset.document.notes]
            assert said == ["of its 8 records the last 1 may be only padding"] * bool(fill)


def test_large_data_is_divided_into_equal_chunks(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    made = Classic(2)
    made.dimensions = [(b"y", 3000), (b"x", 10000), (b"prime", 30_000_001)]
    made.add(b"v", (0, 1), np.zeros(0, "f4"))
    made.add(b"w", (2,), np.zeros(0, "f4"))
    with path.open("wb") as file:
        file.write(made.to_bytes())
        file.truncate(250_000_000)
    with refbrowser.open(path) as dataset:
        v = dataset["/v"]
        rows = v.chunks[0]
        assert 3000 % rows == 0
        assert 8 << 20 <= rows * 40000 <= 32 << 20
        assert v[2999, 5:7].tolist() == [0, 0]
        assert dataset["/w"].chunks == (30_000_001,)
        assert dataset["/w"][30_000_000] == 0


def test_attributes_of_edited_nodes_keep_their_types(tmp_path: Path) -> None:
    path = written(tmp_path / "a.nc", 1)
    with refbrowser.open(path) as dataset:
        text = json.loads(dataset.document.expansion.value("fixed_i2/.zattrs"))
        edited = dataset.with_document(
            dataset.document.apply(SetMetadata("fixed_i2/.zattrs", {**text, "new": 1}))
        )
        assert edited["/fixed_i2"].node.attribute_types["typed"] == "short"
        assert dict(edited["/fixed_i2"].node.attributes)["new"] == 1
        assert "_ARRAY_DIMENSIONS" not in edited["/fixed_i2"].node.attributes
        assert edited.hierarchy.root.dimensions["time"].unlimited


@pytest.mark.slow
def test_a_file_of_a_server_takes_one_request(tmp_path: Path) -> None:
    content = written(tmp_path / "a.nc", 2).read_bytes()
    large = content + bytes(3 << 20)
    with HttpServer(
        {"/a.nc": large, "/small.nc": content, "/b.nc": b"\x89HDF\r\n\x1a\n" + bytes(9000)}
    ) as server:
        with refbrowser.open(server.url("/a.nc")) as dataset:
            assert (server.request_count, server.bytes_sent < 2 << 20) == (1, True)
            assert_same(dataset, values_of(tmp_path / "a.nc"))
        with refbrowser.open(server.url("/small.nc") + "?key=1") as dataset:
            assert dataset["/scalar"][...] == 4.5
        # A URL that tells nothing: of what turns out to be large only the beginning is read.
        server.files["/data"] = content + bytes(40 << 20)
        server.clear()
        with refbrowser.open(server.url("/data")) as dataset:
            assert dataset.format == "netcdf3"
            assert server.bytes_sent < 30 << 20
        # netCDF-4 has the same suffix: its first bytes are not read twice.
        server.clear()
        with pytest.raises(RefbrowserError):
            refbrowser.open(server.url("/b.nc"))
        assert server.request_count <= 3
        # kerchunk asks for the size, and for more bytes.
        server.clear()
        NetCDF3ToZarr(server.url("/a.nc"), inline_threshold=0).translate()
        assert server.request_count > 1
        assert server.bytes_sent > 2 << 20


@pytest.mark.slow
def test_a_file_of_an_object_store(
    tmp_path: Path, s3_server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    content = written(tmp_path / "a.nc", 2).read_bytes()
    bucket = s3_server.new_bucket()
    s3_server.put(f"{bucket}/a.nc", content)
    command = ["make", f"{bucket}/a.nc", "-o", str(tmp_path / "a.json"), *s3_server.options(bucket)]
    assert main(command) == 0
    text = json.loads((tmp_path / "a.json").read_bytes())
    assert text["refs"]["scalar/0"][0] == f"{bucket}/a.nc"
    # Into the store, beside the file.
    assert main(["make", f"{bucket}/a.nc", "-o", f"{bucket}/refs", *s3_server.options(bucket)]) == 0
    assert json.loads(s3_server.get(f"{bucket}/refs/a.nc.refs.json"))["refs"].keys() == text["refs"].keys()


@pytest.mark.slow
def test_hierarchies_of_many_variables_take_few_requests(tmp_path: Path) -> None:
    made = Classic()
    made.dimensions = [(b"n", 2)]
    for number in range(3000):
        attributes = [(b"long_name", "S1", b"a name of some length, as these are %d" % number)]
        made.add(b"variable_%d" % number, (0,), np.array([1, number], "i4"), attributes=attributes)
    with HttpServer({"/a.nc": made.to_bytes()}) as server, refbrowser.open(server.url("/a.nc")) as dataset:
        assert len(dataset.arrays) == 3000
        assert server.request_count <= 2
        assert dataset["/variable_2999"][1] == 2999


def test_names_end_at_nuls_and_the_last_padding_may_be_absent(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    file = Classic(2, records=2)
    file.dimensions = [(b"time", 0), (b"n\0\0", 3), (b"other", 0)]
    file.attributes = [(b"plugh\0\0", "i2", [3, 4, 5])]
    file.add(b"fixed\0", [1], np.array([1, 2, 3], "i1"))
    file.add(b"a", [0, 1], np.array([[1, 2, 3], [4, 5, 6]], "i1"))
    file.add(b"b\0\0\0", [0, 1], np.array([[7, 8, 9], [10, 11, 12]], "i1"))
    path.write_bytes(file.to_bytes()[:-1])
    with refbrowser.open(str(path)) as mine, netCDF4.Dataset(path) as theirs:
        assert set(mine.arrays) == {f"/{name}" for name in theirs.variables} == {"/fixed", "/a", "/b"}
        for name, variable in theirs.variables.items():
            assert mine[f"/{name}"][...].tolist() == variable[...].tolist()
            assert mine[f"/{name}"].node.dimensions == variable.dimensions
        assert mine.attrs == {"plugh": theirs.plugh.tolist()}
        root = mine.hierarchy.root
        assert isinstance(root, GroupNode)
        found = {name: (each.size, each.unlimited) for name, each in root.dimensions.items()}
        assert found == {name: (len(each), each.isunlimited()) for name, each in theirs.dimensions.items()}
        assert any("2 dimensions of records" in each.message for each in mine.document.notes)
