"""Stores below URLs: opened in few requests, walked where something lists, absent chunks missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from multiscale_stores import write_ome
from servers.http_server import Fault, HttpServer
from servers.object_servers import ObjectServer

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.buckets.bucket import Bucket

VALUES = np.arange(12, dtype="<i2").reshape(4, 3)


def fill(path: Path, version: int, consolidated: bool) -> None:
    group = zarr.create_group(path, zarr_format=version, attributes={"title": "made"})
    group.create_array("a", shape=(6, 3), chunks=(2, 3), dtype="<i2", fill_value=9)[:4] = VALUES
    group.create_array("g x/b%20", shape=(3,), dtype="<i2")[:] = [1, 2, 3]
    if consolidated:
        zarr.consolidate_metadata(path, zarr_format=version)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HttpServer]:
    with HttpServer({}) as server:
        yield server


def serve(server: HttpServer, folder: Path, prefix: str) -> str:
    """Put the files of a folder on a server, percent-encoded as clients ask for them."""
    from urllib.parse import quote

    for path in folder.rglob("*"):
        if path.is_file():
            key = path.relative_to(folder).as_posix()
            server.files[f"{prefix}/{quote(key)}"] = path.read_bytes()
    return server.url(prefix)


def paths(server: HttpServer) -> list[str]:
    return [logged.path for logged in server.requests]


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("ending", ["", "/"])
def test_consolidated_store_opens_in_one_round(
    tmp_path: Path, server: HttpServer, version: int, ending: str
) -> None:
    fill(tmp_path / "s", version, consolidated=True)
    url = serve(server, tmp_path / "s", "/data/x.zarr")
    with refbrowser.open(url + ending) as dataset:
        assert dataset.format == f"zarr-v{version}"
        # Whether there is metadata at the root is asked for by name; nothing of the arrays.
        assert not any("/a/" in path or "b%" in path for path in paths(server))
        assert len(paths(server)) <= 14
        assert sorted(dataset.arrays) == ["/a", "/g x/b%20"]
        assert dataset["/g x/b%20"][...].tolist() == [1, 2, 3]
        wanted = np.full((6, 3), 9, "<i2")
        wanted[:4] = VALUES
        assert np.array_equal(dataset["/a"][...], wanted)


def test_absent_chunks_do_not_close_the_circuit(tmp_path: Path, server: HttpServer) -> None:
    group = zarr.create_group(tmp_path / "s", zarr_format=2)
    group.create_array("a", shape=(40,), chunks=(1,), dtype="<i2", fill_value=4)[39] = 1
    zarr.consolidate_metadata(tmp_path / "s", zarr_format=2)
    url = serve(server, tmp_path / "s", "/s.zarr")
    with refbrowser.open(url) as dataset:
        assert dataset["/a"][...].tolist() == [4] * 39 + [1]
    # Only what is said not to be there is missing.
    server.faults["/s.zarr/a/38"] = Fault("status", 403)
    with refbrowser.open(url) as dataset, pytest.raises(RefbrowserError) as caught:
        dataset["/a"][...]
    assert caught.value.kind is ErrorKind.SOURCE


def test_group_that_cannot_be_listed_says_so(tmp_path: Path, server: HttpServer) -> None:
    fill(tmp_path / "s", 3, consolidated=False)
    url = serve(server, tmp_path / "s", "/s.zarr")
    with refbrowser.open(url) as dataset:
        assert not dataset.arrays
        assert ["does not list" in note.message for note in dataset.document.notes] == [True]
    with refbrowser.open(f"{url}/a/") as dataset:
        assert dataset["/"].shape == (6, 3)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_levels_that_an_image_names_are_found(tmp_path: Path, server: HttpServer, version: str) -> None:
    path = write_ome(tmp_path / "s", version, size=128, count=2)
    root = zarr.open_group(path)
    labels = root.create_group("labels", attributes={"labels": ["nuclei"]})
    image = {"version": "0.4", "axes": ["y", "x"], "datasets": [{"path": "full/0"}]}
    nuclei = labels.create_group("nuclei", attributes={"multiscales": [image]})
    nuclei.create_array("full/0", shape=(128, 128), dtype="u1")
    url = serve(server, path, "/s.zarr")
    with refbrowser.open(url) as dataset:
        assert sorted(dataset.arrays) == ["/0", "/1", "/labels/nuclei/full/0"]
        assert dataset.document.notes == ()
        assert len(paths(server)) <= 40
        assert dataset["/1"][0, :2, :2].tolist() == root["1"][0, :2, :2].tolist()  # type: ignore[index]
    assert refbrowser.check(url) == []


def test_of_levels_that_are_not_there_one_is_told(tmp_path: Path, server: HttpServer) -> None:
    names = ["0", "7", "../../secret", "a/../b", 5]
    image = {"version": "0.4", "axes": ["y", "x"], "datasets": [{"path": name} for name in names]}
    group = zarr.create_group(tmp_path / "s", zarr_format=2, attributes={"multiscales": [image]})
    group.create_array("0", shape=(4, 4), dtype="u1")
    url = serve(server, tmp_path / "s", "/s.zarr")
    with refbrowser.open(url) as dataset:
        assert list(dataset.arrays) == ["/0"]
        assert dataset.document.notes == ()
    assert not any("secret" in path or "/b/" in path for path in paths(server))
    assert [each.code for each in refbrowser.check(url)] == ["level-missing"] * 3 + ["multiscales-wrong"]


def test_nczarr_is_walked_by_its_own_lists(tmp_path: Path, server: HttpServer) -> None:
    array = {
        "zarr_format": 2,
        "shape": [2],
        "chunks": [2],
        "dtype": "<i2",
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
    }

    def group(arrays: list[str], groups: list[str]) -> dict[str, Any]:
        return {"_nczarr_group": {"dimensions": {"x": 2}, "arrays": arrays, "groups": groups}}

    documents = {
        ".zgroup": {"zarr_format": 2},
        ".zattrs": group(["v"], ["g", "../up"]),
        "v/.zarray": array,
        "v/.zattrs": {"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}},
        "g/.zgroup": {"zarr_format": 2},
        "g/.zattrs": group(["w"], []),
        "g/w/.zarray": array,
        "g/w/.zattrs": {"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}},
    }
    server.files |= {f"/n/{key}": json.dumps(value).encode() for key, value in documents.items()}
    server.files["/n/g/w/0"] = np.array([7, 8], "<i2").tobytes()
    with refbrowser.open(server.url("/n/")) as dataset:
        assert dataset.format == "nczarr"
        assert sorted(dataset.arrays) == ["/g/w", "/v"]
        assert dataset["/g/w"][...].tolist() == [7, 8]
        assert dataset["/v"][...].tolist() == [0, 0]
    assert not any(".." in path for path in paths(server))


def test_documents_are_still_documents(tmp_path: Path, server: HttpServer) -> None:
    server.files["/d.json"] = b'{"version": 1, "refs": {".zgroup": "{\\"zarr_format\\": 2}"}}'
    with refbrowser.open(server.url("/d.json")) as dataset:
        assert dataset.format == "refs-v1"
    # Its lock is looked for beside it.
    assert paths(server) == ["/d.json", "/d.json.lock.json"]


def test_neither_store_nor_document(server: HttpServer) -> None:
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.open(server.url("/nothing"))
    assert caught.value.kind is ErrorKind.SOURCE
    assert "zarr.json" in caught.value.advice
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.open(server.url("/nothing.zarr"))
    assert caught.value.message == "there is no store here"


def test_pages_in_place_of_objects_are_no_metadata(server: HttpServer) -> None:
    page = b"<!doctype html><html></html>"
    server.files |= {f"/s/{name}": page for name in ("zarr.json", ".zmetadata", ".zattrs")}
    server.files["/s/.zarray"] = json.dumps(
        {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<i2", "fill_value": 3}
    ).encode()
    with refbrowser.open(server.url("/s/")) as dataset:
        assert dataset["/"][...].tolist() == [3]


@pytest.mark.slow
@pytest.mark.parametrize("version", [2, 3])
def test_object_store_is_listed_down_to_its_arrays(
    tmp_path: Path, s3_server: ObjectServer, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "s", version, consolidated=False)
    bucket = s3_server.new_bucket()
    s3_server.put_folder(f"{bucket}/x", tmp_path / "s")
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    listed = []
    names = Bucket.names

    def noted(self: Bucket, prefix: str, most: int) -> tuple[list[str], list[str], int]:
        listed.append(prefix)
        return names(self, prefix, most)

    monkeypatch.setattr(Bucket, "names", noted)
    with refbrowser.open(f"{bucket}/x/", storage_options=s3_server.settings(bucket)) as dataset:
        assert sorted(listed) == ["x/", "x/g x/"]
        assert sorted(dataset.arrays) == ["/a", "/g x/b%20"]
        assert dataset["/g x/b%20"][...].tolist() == [1, 2, 3]
        assert dataset["/a"][4:].tolist() == [[9, 9, 9]] * 2


def test_keys_that_a_server_refuses_do_not_tell_the_flavour(tmp_path: Path, server: HttpServer) -> None:
    fill(tmp_path / "s", 2, consolidated=True)
    url = serve(server, tmp_path / "s", "/data/x.zarr")
    server.faults["/data/x.zarr/zarr.json"] = Fault("status", 403)
    with refbrowser.open(url) as dataset:
        assert dataset.format == "zarr-v2"
        assert sorted(dataset.arrays) == ["/a", "/g x/b%20"]
