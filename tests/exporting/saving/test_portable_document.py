"""Opened stores saved as references are read by fsspec and zarr-python, with the fill of missing chunks."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
import zarr
from servers.http_server import HttpServer
from stores_made import CONTAINERS, COUNTS, fill, packed, store_in

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.store_listing import list_store
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.saving import portable_document as portable
from refbrowser.exporting.saving.portable_document import portable_document
from refbrowser.exporting.saving.save import SaveOrder, write_document
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.references.edits.edits import SetMetadata, SetReference


def read_by_others(document: Path) -> dict[str, np.ndarray]:
    """Read every array of a reference document with fsspec and zarr-python."""
    system = fsspec.filesystem(
        "reference",
        fo=str(document),
        remote_protocol="file",
        asynchronous=True,
        # Else fsspec does not look at rules.
        simple_templates=False,
        skip_instance_cache=True,
    )
    group = zarr.open_group(zarr.storage.FsspecStore(system, path="/", read_only=True), mode="r")
    return {path: group[path.strip("/")][...] for path in COUNTS}


def same(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    for path, values in found.items():
        np.testing.assert_array_equal(values, wanted[path], path)


def entries(document: Path) -> dict[str, Any]:
    return json.loads(document.read_text())["refs"]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("target", ["refs-v0", "refs-v1"])
def test_exported_stores_are_read_by_others(
    tmp_path: Path, container: str, zarr_format: int, target: str
) -> None:
    path, values = store_in(tmp_path, container, zarr_format)
    out = tmp_path / "elsewhere" / "out.json"
    out.parent.mkdir()
    with refbrowser.open(path) as dataset:
        report = refbrowser.export(dataset, out, format=target)
    assert report.losses == ()
    if target == "refs-v1":
        assert [*json.loads(out.read_text())] == ["version", "refs"]
    same(read_by_others(out), values)
    with refbrowser.open(out, allow=[str(tmp_path)]) as again:
        same({each: again[each][...] for each in COUNTS}, values)


def test_the_parquet_form_of_a_store(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path, values = store_in(tmp_path, "stored", 2)
    with refbrowser.open(path) as dataset:
        refbrowser.export(dataset, tmp_path / "out.parq", format="refs-parquet")
    with refbrowser.open(tmp_path / "out.parq") as again:
        assert again["/temp"].node.manifest.stored() == 9
        same({each: again[each][...] for each in COUNTS}, values)


def test_arrays_without_missing_chunks_keep_their_rule(tmp_path: Path) -> None:
    path, _ = store_in(tmp_path, "folder", 3)
    with refbrowser.open(path) as dataset:
        assert len(dataset.document.layouts) == 2
        made = portable_document(dataset, JobControl()).document
    (rule,) = made.rules
    assert rule.key == "sub/full/c/{{i}}/{{j}}"
    keys = set(made.refs.keys(0, len(made.refs)))
    assert {"temp/c/2/2", "sub/one/c/0"} <= keys
    assert not {"temp/c/3/0", "sub/none/c/0"} & keys


@pytest.mark.parametrize("container", ["stored", "deflated"])
def test_members_become_ranges_or_bytes(tmp_path: Path, container: str) -> None:
    path, _ = store_in(tmp_path, container, 2)
    out = tmp_path / "out.json"
    with refbrowser.open(path) as dataset:
        refbrowser.export(dataset, out, format="refs-v1")
    value = entries(out)["temp/0.1"]
    with zipfile.ZipFile(path) as archive:
        data = archive.read("temp/0.1")
        if container == "stored":
            url, offset, length = value
            assert path.read_bytes()[offset : offset + length] == data
            assert url == str(path)
        else:
            assert value.startswith("base64:")


def test_deflated_members_that_find_no_room_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, values = store_in(tmp_path, "deflated", 2)
    monkeypatch.setattr(portable, "LIMITS", dataclasses.replace(portable.LIMITS, inlined_members=100))
    out = tmp_path / "out.json"
    with refbrowser.open(path) as dataset:
        report = refbrowser.export(dataset, out, format="refs-v1")
    assert any(loss.path == "/temp" and "9 chunks" in loss.what for loss in report.losses)
    assert entries(out)["temp/0.1"] == [f"zip://temp/0.1::{path}"]
    # We read them, others have an error: nobody takes them for the fill value.
    with refbrowser.open(out) as again:
        same({"/temp": again["/temp"][...]}, values)
    with pytest.raises(Exception, match=r".+"):
        read_by_others(out)


@pytest.mark.parametrize("container", CONTAINERS)
def test_an_edited_store_saved_as_a_file(tmp_path: Path, container: str) -> None:
    path, values = store_in(tmp_path, container, 2)
    before = {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    out = tmp_path / "overlay.json"
    with refbrowser.open(path) as dataset:
        attributes = {"units": "K"}
        document = dataset.document.apply(SetMetadata("temp/.zattrs", attributes))
        (tmp_path / "chunk.bin").write_bytes(np.full(4, 9, "<i2").tobytes())
        document = document.apply(SetReference("sub/full/0.0", [str(tmp_path / "chunk.bin")]))
        made = portable_document(dataset.with_document(document), JobControl()).document
        write_document(made, SaveOrder(str(out)))
    with refbrowser.open(out) as again:
        assert again["/temp"].attrs["units"] == "K"
        same({"/temp": again["/temp"][...]}, values)
        found = again.document.expansion.reference("sub/full/0.0")
        assert found.url == str(tmp_path / "chunk.bin")
    for each, data in before.items():
        assert each.read_bytes() == data


def test_a_store_that_cannot_be_listed_keeps_its_rules_with_a_warning(tmp_path: Path) -> None:
    fill(tmp_path / "s.zarr", 2)
    zarr.consolidate_metadata(tmp_path / "s.zarr", zarr_format=2)
    files = {
        f"/s.zarr/{each.relative_to(tmp_path / 's.zarr').as_posix()}": each.read_bytes()
        for each in (tmp_path / "s.zarr").rglob("*")
        if each.is_file()
    }
    with HttpServer(files) as server, refbrowser.open(server.url("/s.zarr/")) as dataset:
        made = portable_document(dataset, JobControl())
        assert made.document is dataset.document.written()
        assert ["cannot be listed" in loss.what for loss in made.losses] == [True]
        report = refbrowser.export(dataset, tmp_path / "out.json", format="refs-v1")
        assert report.losses


def test_an_archive_on_a_server_becomes_ranges(tmp_path: Path) -> None:
    fill(tmp_path / "s.zarr", 2)
    data = packed(tmp_path / "s.zarr", tmp_path / "s.zip", zipfile.ZIP_STORED).read_bytes()
    with HttpServer({"/s.zip": data}) as server, refbrowser.open(server.url("/s.zip")) as dataset:
        before = server.request_count
        made = portable_document(dataset, JobControl()).document
        # Headers of an array are asked for together.
        assert server.request_count - before <= 4
        found = made.expansion.reference("temp/1.1")
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        assert data[found.offset : found.offset + found.length] == archive.read("temp/1.1")


def test_a_part_of_a_store(tmp_path: Path) -> None:
    path, values = store_in(tmp_path, "stored", 2)
    with refbrowser.open(path) as dataset:
        refbrowser.export(dataset, tmp_path / "out.json", format="refs-v1", arrays=["/temp"])
        refbrowser.export(dataset, tmp_path / "cut.json", format="refs-v0", arrays={"/temp": "10:30,:"})
    assert all(key.split("/")[0] in ("temp", ".zgroup", ".zattrs") for key in entries(tmp_path / "out.json"))
    with refbrowser.open(tmp_path / "cut.json") as again:
        assert np.array_equal(again["/temp"][...], values["/temp"][10:30])
        assert not any("zip://" in str(value) for value in refbrowser.expand(tmp_path / "cut.json").values())


@pytest.mark.parametrize("container", ["folder", "stored"])
def test_an_array_that_was_edited_to_another_shape(tmp_path: Path, container: str) -> None:
    """What was listed is of another grid: chunks that are there still find their place."""
    path, values = store_in(tmp_path, container, 2)
    out = tmp_path / "out.json"
    with refbrowser.open(path) as dataset:
        list_store(dataset)
        facts = json.loads(dataset.document.expansion.value("temp/.zarray"))
        edit = SetMetadata("temp/.zarray", {**facts, "shape": [30, 20]})
        edited = dataset.with_document(dataset.document.apply(edit))
        made = portable_document(edited, JobControl())
        write_document(made.document, SaveOrder(str(out)))
        assert [loss.path for loss in made.losses] == (["/temp"] if container == "folder" else [])
    with refbrowser.open(out) as again:
        np.testing.assert_array_equal(again["/temp"][:25], values["/temp"][:25, :20])


def test_damage_stops_the_save(tmp_path: Path) -> None:
    path, _ = store_in(tmp_path, "deflated", 2)
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("temp/0.1")
    data = bytearray(path.read_bytes())
    data[info.header_offset + 30 + len("temp/0.1") + 5] ^= 0xFF
    path.write_bytes(data)
    with refbrowser.open(path) as dataset, pytest.raises(RefbrowserError, match="member"):
        portable_document(dataset, JobControl())


def test_saving_can_be_cancelled(tmp_path: Path) -> None:
    path, _ = store_in(tmp_path, "stored", 2)
    token = CancelToken()
    token.cancel()
    with refbrowser.open(path) as dataset, pytest.raises(Cancelled):
        portable_document(dataset, JobControl(token))


def test_a_document_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text('{"version": 1, "refs": {".zgroup": "{\\"zarr_format\\": 2}"}}')
    with refbrowser.open(tmp_path / "d.json") as dataset:
        assert portable_document(dataset, JobControl()).document is dataset.document
