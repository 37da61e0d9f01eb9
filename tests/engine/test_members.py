"""Chunks that are members of zip archives: read, planned, explained, permitted; locally and over HTTP."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from servers.http_server import Fault, HttpServer

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.explain.explain import explain
from refbrowser.engine.explain.question import Question
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.selection import Selection

VALUES = np.random.default_rng(5).integers(0, 50, (40, 30)).astype("<i4")
ARRAYS = {
    "raw": {"compressors": None},
    "packed": {},
    "sharded": {"shards": (20, 30)},
}


def zipped(method: int) -> bytes:
    """Return arrays of Zarr v3 in a zip, members packed by `method`."""
    store: dict[str, Any] = {}
    group = zarr.create_group(zarr.storage.MemoryStore(store), zarr_format=3)
    for name, options in ARRAYS.items():
        array = group.create_array(name, shape=VALUES.shape, dtype="<i4", chunks=(10, 10), **options)
        array[:] = VALUES
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as made:
        for key, value in store.items():
            made.writestr(key, value.to_bytes())
    return target.getvalue()


def document_of(data: bytes, archive: str) -> dict[str, Any]:
    """Return a reference document whose every chunk is a member of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        metadata = {key: opened.read(key).decode() for key in opened.namelist() if key.endswith("zarr.json")}
    rules = [
        {
            "key": f"{name}/c/{{{{i}}}}/{{{{j}}}}",
            "url": f"zip://{name}/c/{{{{i}}}}/{{{{j}}}}::{archive}",
            "dimensions": {"i": {"stop": grid[0]}, "j": {"stop": grid[1]}},
        }
        for name, grid in (("raw", (4, 3)), ("packed", (4, 3)), ("sharded", (2, 1)))
    ]
    return {"version": 1, "gen": rules, "refs": metadata}


def opened(folder: Path, data: bytes, archive: str = "x.zip", **options: Any) -> Dataset:
    if "://" not in archive:
        (folder / archive).write_bytes(data)
    document = folder / "document.json"
    document.write_text(json.dumps(document_of(data, archive)))
    return refbrowser.open(document, **options)


@pytest.fixture(params=[zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
def data(request: pytest.FixtureRequest) -> bytes:
    return zipped(request.param)


@pytest.fixture
def server(data: bytes) -> Iterator[HttpServer]:
    with HttpServer({"/x.zip": data}) as server:
        yield server


@pytest.mark.parametrize("name", list(ARRAYS))
def test_values_and_parts_of_them(tmp_path: Path, data: bytes, name: str) -> None:
    with opened(tmp_path, data) as dataset:
        array = dataset[name]
        assert np.array_equal(array[3, 4:27], VALUES[3, 4:27])
        assert np.array_equal(array[...], VALUES)
        assert np.array_equal(array[::7, 1::5], VALUES[::7, 1::5])


@pytest.mark.parametrize("name", list(ARRAYS))
def test_over_http_in_few_requests(tmp_path: Path, data: bytes, server: HttpServer, name: str) -> None:
    with opened(tmp_path, data, server.url("/x.zip"), allow=[server.origin]) as dataset:
        assert np.array_equal(dataset[name][...], VALUES)
        # The size, the directory, and all members together.
        assert server.request_count == 3
        assert dataset.session.read_reference(
            "k", dataset.document.expansion.reference(f"{name}/c/0/0"), dataset.access
        )
        assert server.request_count == 4


def test_the_plan_is_that_of_the_archive(tmp_path: Path, data: bytes, server: HttpServer) -> None:
    with opened(tmp_path, data, server.url("/x.zip"), allow=[server.origin]) as dataset:
        whole = Selection.whole(VALUES.shape)
        unknown = dataset["packed"].plan(whole)
        assert len(unknown.requests) == 12
        assert server.request_count == 0
        dataset["packed"][0, 0]
        (request,) = dataset["packed"].plan(whole).requests
        assert request.url == server.url("/x.zip")
        assert 0 <= request.start < request.stop <= len(data)


def test_the_archive_is_what_is_permitted(tmp_path: Path, data: bytes, server: HttpServer) -> None:
    with opened(tmp_path, data, server.url("/x.zip")) as dataset:
        with pytest.raises(RefbrowserError) as caught:
            dataset["raw"][0, 0]
        assert caught.value.kind is ErrorKind.BLOCKED
        assert server.origin in str(caught.value.advice)
        assert not server.requests


@pytest.mark.parametrize("target", ["zarr-v2", "zarr-v3", "refs-v0"])
def test_exports_copy_the_unpacked_bytes(tmp_path: Path, data: bytes, target: str) -> None:
    with opened(tmp_path, data) as dataset:
        out = tmp_path / "out"
        refbrowser.export(dataset, out, format=target)
        if target == "refs-v0":
            assert json.loads(out.read_text())["packed/c/0/0"] == ["zip://packed/c/0/0::x.zip"]
            return
        for name in ARRAYS:
            assert np.array_equal(zarr.open_group(out, mode="r")[name][...], VALUES)


def test_damage_costs_the_member_that_it_is_in(tmp_path: Path, data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        info = archive.getinfo("packed/c/1/2")
    broken = bytearray(data)
    broken[info.header_offset + 30 + len(info.filename) + 20] ^= 0xFF
    with opened(tmp_path, bytes(broken)) as dataset:
        with pytest.raises(RefbrowserError) as caught:
            dataset["packed"][10:20, 20:30]
        assert caught.value.kind is ErrorKind.DECODE
        assert caught.value.place.key == "packed/c/1/2"
        assert np.array_equal(dataset["packed"][:, :20], VALUES[:, :20])


def test_a_header_elsewhere_shows_no_foreign_bytes(tmp_path: Path) -> None:
    """A part of a stored member is read only after its local header was."""
    data = bytearray(zipped(zipfile.ZIP_STORED))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        info = archive.getinfo("raw/c/0/0")
    data[info.header_offset + 30 : info.header_offset + 39] = b"raw/c/9/9"
    with opened(tmp_path, bytes(data)) as dataset, pytest.raises(RefbrowserError, match="another name"):
        dataset["raw"][0, :4]


def test_members_that_are_not_there(tmp_path: Path, data: bytes) -> None:
    with opened(tmp_path, data) as dataset:
        document = document_of(data, "x.zip")
        document["refs"]["raw/c/0/0"] = ["zip://raw/c/7/7::x.zip"]
        document["gen"] = document["gen"][1:]
        (tmp_path / "other.json").write_text(json.dumps(document))
    with refbrowser.open(tmp_path / "other.json") as dataset:
        with pytest.raises(RefbrowserError, match="has no member") as caught:
            dataset["raw"][0, 0]
        assert caught.value.kind is ErrorKind.SOURCE


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("zip://raw/c/0/0::other.zip", ErrorKind.IO),
        ("zip://raw/c/0/0", ErrorKind.PROTOCOL),
        ("zip://a::zip://b::x.zip", ErrorKind.PROTOCOL),
        ("zip://raw/c/0/0::document.json", ErrorKind.FORMAT),
        ("zip://raw/c/0/0::ftp://host/x.zip", ErrorKind.PROTOCOL),
        ("zip://raw/c/0/0::/etc/x.zip", ErrorKind.BLOCKED),
    ],
)
def test_urls_that_lead_nowhere(tmp_path: Path, data: bytes, url: str, kind: ErrorKind) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    document = {"version": 1, "refs": {**document_of(data, "x.zip")["refs"], "raw/c/0/0": [url]}}
    (tmp_path / "document.json").write_text(json.dumps(document))
    with refbrowser.open(tmp_path / "document.json") as dataset:
        with pytest.raises(RefbrowserError) as caught:
            dataset["raw"][0, 0]
        assert caught.value.kind is kind


def test_an_archive_that_changes_is_told(tmp_path: Path, data: bytes) -> None:
    with opened(tmp_path, data) as dataset:
        dataset["raw"][0, 0]
        (tmp_path / "x.zip").write_bytes(data + b"\0")
        with pytest.raises(RefbrowserError, match="changed"):
            dataset["packed"][0, 0]


def test_a_server_that_gives_other_bytes_is_caught(tmp_path: Path, data: bytes, server: HttpServer) -> None:
    with opened(tmp_path, data, server.url("/x.zip"), allow=[server.origin]) as dataset:
        dataset["raw"][0, 0]
        server.faults["/x.zip"] = Fault("shift", 3)
        with pytest.raises(RefbrowserError):
            dataset["packed"][...]


def test_large_members_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deflated member announces its size: nothing is inflated beyond the limit."""
    data = bytearray(zipped(zipfile.ZIP_DEFLATED))
    at = data.index(b"PK\x01\x02")
    while data[at + 46 : at + 55] != b"raw/c/0/0":
        at = data.index(b"PK\x01\x02", at + 1)
    struct.pack_into("<LL", data, at + 20, 40_000_000, 4_000_000_000)
    with opened(tmp_path, bytes(data)) as dataset:
        with pytest.raises(RefbrowserError) as caught:
            dataset["raw"][0, 0]
        assert caught.value.kind in (ErrorKind.BUDGET, ErrorKind.RANGE, ErrorKind.UNSAFE)


@pytest.mark.parametrize("name", list(ARRAYS))
def test_explain_tells_the_step(tmp_path: Path, data: bytes, name: str) -> None:
    with opened(tmp_path, data) as dataset:
        told = explain(dataset, Question(array=f"/{name}", index=(25, 13)))
        step = next(step for step in told.steps if step.name == "member")
        key = f"{name}/c/1/0" if name == "sharded" else f"{name}/c/2/1"
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            info = archive.getinfo(key)
        assert step.facts["member"] == key
        assert step.facts["start"] == info.header_offset
        assert step.facts["method"] == ("deflate" if info.compress_type else "stored")
        assert step.facts["crc32"] == f"{info.CRC:08x}"
        assert str(VALUES[25, 13]) in str(told.steps[-1].facts["stored"])
        assert [step.name for step in told.steps].count("member") == 1
