"""Listing an opened store: counts, missing chunks, stray keys as findings, edits that stay."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from servers.http_server import HttpServer
from stores_made import CONTAINERS, COUNTS, fill, packed, store_in

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.findings.collected_findings import collect
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.store_listing import can_be_listed, list_store
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.model.selection import Selection
from refbrowser.references.edits.edits import SetReference
from refbrowser.views.attributes import stored_chunks


def node_of(dataset: refbrowser.Dataset, path: str) -> ArrayNode:
    node = dataset[path].node
    assert isinstance(node, ArrayNode)
    return node


def all_coords(node: ArrayNode) -> np.ndarray:
    return np.array(list(np.ndindex(*node.manifest.grid_shape)), np.int64)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_counts_of_every_container(tmp_path: Path, container: str, zarr_format: int) -> None:
    path, values = store_in(tmp_path, container, zarr_format)
    with refbrowser.open(path) as dataset:
        assert all(node_of(dataset, each).manifest.stored() is None for each in COUNTS)
        listing = list_store(dataset)
        assert listing is not None
        assert not listing.findings
        for each, (stored, missing) in COUNTS.items():
            node = node_of(dataset, each)
            assert node.manifest.stored() == stored
            assert node.grid.size - stored == missing
            counted = stored_chunks(node, lambda: None)
            assert counted.stored == stored
            assert np.array_equal(dataset[each][...], values[each])
        kinds = node_of(dataset, "/temp").manifest.kinds()
        assert (kinds[3] == ReferenceKind.MISSING).all()
        assert (kinds[:3] == ReferenceKind.WHOLE).all()


def test_missing_chunks_are_known_without_asking(tmp_path: Path) -> None:
    path, _ = store_in(tmp_path, "folder", 3)
    with refbrowser.open(path) as dataset:
        node = node_of(dataset, "/temp")
        coords = all_coords(node)
        assert (node.manifest.columns(coords).kind == ReferenceKind.WHOLE).all()
        list_store(dataset)
        columns = node.manifest.columns(coords)
        assert (columns.kind == ReferenceKind.MISSING).sum() == 3
        assert (columns.url[columns.kind == ReferenceKind.MISSING] == -1).all()


def test_the_plan_of_an_archive_knows_missing_chunks(tmp_path: Path) -> None:
    path, _ = store_in(tmp_path, "deflated", 2)
    with refbrowser.open(path) as dataset:
        plan = dataset["/temp"].plan(Selection.whole((40, 30)))
        assert (plan.chunks, plan.missing_chunks) == (12, 3)
        assert {request.url for request in plan.requests} == {str(path)}


@pytest.mark.parametrize("container", ["folder", "deflated"])
def test_a_reference_that_was_edited_is_not_missing(tmp_path: Path, container: str) -> None:
    path, _ = store_in(tmp_path, container, 2)
    (tmp_path / "other.bin").write_bytes(b"\0" * 8)
    with refbrowser.open(path) as dataset:
        list_store(dataset)
        edit = SetReference("temp/3.1", [str(tmp_path / "other.bin")])
        edited = dataset.with_document(dataset.document.apply(edit))
        node = node_of(edited, "/temp")
        kinds = node.manifest.kinds()
        assert kinds[3].tolist() == [ReferenceKind.MISSING, ReferenceKind.WHOLE, ReferenceKind.MISSING]
        assert node.manifest.stored() == 10
        # The state before is as it was.
        assert node_of(dataset, "/temp").manifest.stored() == 9


def test_a_reference_to_another_place_of_the_store_is_not_missing(tmp_path: Path) -> None:
    path, _ = store_in(tmp_path, "folder", 2)
    (path / "other" / "temp").mkdir(parents=True)
    (path / "other" / "temp" / "3.1").write_bytes(b"\0" * 8)
    with refbrowser.open(path) as dataset:
        list_store(dataset)
        edit = SetReference("temp/3.1", [f"{path}/other/temp/3.1"])
        edited = dataset.with_document(dataset.document.apply(edit))
        kinds = node_of(edited, "/temp").manifest.kinds()
        assert kinds[3].tolist() == [ReferenceKind.MISSING, ReferenceKind.WHOLE, ReferenceKind.MISSING]


def test_a_server_cannot_be_listed_but_its_archives_can(tmp_path: Path) -> None:
    fill(tmp_path / "s.zarr", 3)
    zipped = packed(tmp_path / "s.zarr", tmp_path / "s.zip", zipfile.ZIP_DEFLATED)
    files = {
        f"/s.zarr/{each.relative_to(tmp_path / 's.zarr').as_posix()}": each.read_bytes()
        for each in (tmp_path / "s.zarr").rglob("*")
        if each.is_file()
    }
    with HttpServer({**files, "/s.zip": zipped.read_bytes()}) as server:
        with refbrowser.open(server.url("/s.zip")) as dataset:
            before = server.request_count
            assert list_store(dataset) is not None
            assert server.request_count == before
            assert node_of(dataset, "/temp").manifest.stored() == 9
            assert (dataset["/temp"][30:] == -1).all()
            assert server.request_count == before
        with refbrowser.open(server.url("/s.zarr/temp/")) as dataset:
            assert not can_be_listed(dataset)
            assert list_store(dataset) is None
            assert node_of(dataset, "/").manifest.stored() is None


def test_a_document_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text('{"version": 1, "refs": {".zgroup": "{\\"zarr_format\\": 2}"}}')
    with refbrowser.open(tmp_path / "d.json") as dataset:
        assert list_store(dataset) is None


def test_listing_can_be_cancelled_and_made_again(tmp_path: Path) -> None:
    path, _ = store_in(tmp_path, "folder", 2)
    token = CancelToken()
    token.cancel()
    with refbrowser.open(path) as dataset:
        with pytest.raises(Cancelled):
            list_store(dataset, JobControl(token))
        assert node_of(dataset, "/temp").manifest.stored() is None
        assert list_store(dataset) is not None


@pytest.mark.parametrize("container", ["folder", "deflated", "leading"])
def test_stray_keys_are_problems_at_their_place(tmp_path: Path, container: str) -> None:
    source = tmp_path / "s.zarr"
    fill(source, 2)
    (source / "temp" / "9.9").write_bytes(b"1")
    (source / "temp" / "note.txt").write_bytes(b"1")
    (source / ".DS_Store").write_bytes(b"1")
    leading = "s.zarr/" if container == "leading" else ""
    path = source if container == "folder" else packed(source, tmp_path / "s.zip", 8, leading)
    if container == "leading":
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("__MACOSX/._s", b"1")
    with refbrowser.open(path) as dataset:
        list_store(dataset)
        found = collect(dataset.document, dataset.hierarchy).items
    strays = {finding.place.key: finding.spot for finding in found}
    wanted = {
        "temp/9.9": ("array", "/temp"),
        "temp/note.txt": ("array", "/temp"),
        ".DS_Store": ("document", ""),
    }
    assert strays == (wanted | {"__MACOSX/._s": ("document", "")} if container == "leading" else wanted)


def test_chunks_of_an_array_with_broken_metadata_are_not_stray(tmp_path: Path) -> None:
    path, _ = store_in(tmp_path, "folder", 2)
    (path / "temp" / ".zarray").write_text("{")
    (path / "other.txt").write_text("1")
    with refbrowser.open(path) as dataset:
        listing = list_store(dataset)
    assert [finding.place.key for finding in listing.findings] == ["other.txt"]


def test_links_out_of_a_store_are_not_followed(tmp_path: Path) -> None:
    path, _ = store_in(tmp_path, "folder", 2)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_bytes(b"1")
    (path / "link").symlink_to(tmp_path / "outside")
    with refbrowser.open(path) as dataset:
        listing = list_store(dataset)
        assert node_of(dataset, "/temp").manifest.stored() == 9
    assert [finding.place.key for finding in listing.findings] == ["link"]


def test_chunks_behind_links_are_not_taken_for_missing(tmp_path: Path) -> None:
    path, values = store_in(tmp_path, "folder", 3)
    (path / "temp" / "c").rename(path / "moved")
    (path / "temp" / "c").symlink_to(path / "moved")
    with refbrowser.open(path) as dataset:
        listing = list_store(dataset)
        assert node_of(dataset, "/temp").manifest.stored() is None
        assert node_of(dataset, "/sub/full").manifest.stored() == 4
        assert np.array_equal(dataset["/temp"][...], values["/temp"])
    assert "temp/c" in [finding.place.key for finding in listing.findings]


@pytest.mark.parametrize("container", ["folder", "deflated"])
def test_info_and_check_tell_it(tmp_path: Path, container: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "s.zarr"
    fill(source, 3)
    (source / "temp" / "c" / "7").mkdir()
    (source / "temp" / "c" / "7" / "0").write_bytes(b"1")
    path = source if container == "folder" else packed(source, tmp_path / "s.zip", 8)
    assert main(["info", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    counts = {name: (each["stored_chunks"], each["missing_chunks"]) for name, each in told["arrays"].items()}
    assert counts == COUNTS
    assert [finding["key"] for finding in told["problems"]] == ["temp/c/7/0"]
    assert main(["check", str(path)]) == 0
    assert "temp/c/7/0" in capsys.readouterr().out
