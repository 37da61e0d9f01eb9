"""Chunks that are members of zip archives: read, planned, explained, permitted; locally and over HTTP."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from servers.http_server import Fault, HttpServer

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.reading.fetching import confirm_later
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.archives.known_archives import Confirm
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.selection import Selection
from refbrowser.tools.explain.report.explain import Question, explain

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


def test_members_that_are_absent_or_cannot_be_read_in_a_plan(tmp_path: Path) -> None:
    metadata = {"zarr_format": 2, "shape": [4], "chunks": [1], "dtype": "|i1", "compressor": None}
    metadata |= {"filters": None, "fill_value": 0, "order": "C"}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(".zgroup", '{"zarr_format": 2}')
        archive.writestr("a/.zarray", json.dumps(metadata))
        for key in ("0", "1", "3"):
            archive.writestr(f"a/{key}", b"\1")
        second = archive.getinfo("a/1").header_offset
    whole = bytearray(made.getvalue())
    # The method of the second chunk is none.
    whole[whole.index(b"a/1", whole.index(b"PK\1\2")) - 46 + 10] = 77
    path = tmp_path / "store.zip"
    path.write_bytes(whole)
    with refbrowser.open(path) as dataset:
        plan = dataset["a"].plan(Selection.whole((4,)))
        assert (plan.chunks, plan.missing_chunks) == (4, 1)
        starts = [each.start for each in plan.requests if each.url == str(path)]
        assert len(starts) == 2
        assert all(whole[start : start + 4] == b"PK\3\4" and start != second for start in starts)
        assert [each for each in plan.requests if each.url == f"zip://a/1::{path}"] == [
            (f"zip://a/1::{path}", 0, None)
        ]


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
    with (
        opened(tmp_path, bytes(data)) as dataset,
        pytest.raises(RefbrowserError, match="name the member differently"),
    ):
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


# Whole members are confirmed, whatever their size

LONG = np.arange(400_000, dtype="<i4")
STEP = 100_000


def store_of(values: np.ndarray[Any, Any], flipped: int | None = None) -> bytes:
    """Return a zipped store of one uncompressed chunk; a byte of it changed after its checksum was made."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr(".zgroup", '{"zarr_format": 2}')
        metadata = {
            "zarr_format": 2, "shape": values.shape, "chunks": values.shape, "dtype": values.dtype.str,
            "compressor": None, "filters": None, "fill_value": 0, "order": "C",
        }  # fmt: skip
        made.writestr("a/.zarray", json.dumps(metadata))
        made.writestr("a/0", values.tobytes())
    data = bytearray(target.getvalue())
    if flipped is not None:
        data[data.index(values[:100].tobytes()) + flipped] ^= 1
    return bytes(data)


@pytest.fixture(params=[1 << 30, 1 << 17], ids=["in one request", "in blocks"])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members are confirmed whole, or block by block."""
    monkeypatch.setattr("refbrowser.engine.reading.members.BLOCK", request.param)


@pytest.mark.usefixtures("block")
def test_a_flipped_byte_anywhere_fails_every_part(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr.zip"
    path.write_bytes(store_of(LONG, flipped=len(LONG.tobytes()) - 3))
    for index in (slice(0, 3), slice(None), slice(None, None, STEP), slice(-2, None)):
        with refbrowser.open(path) as dataset:
            for _ in range(2):
                with pytest.raises(RefbrowserError, match="CRC-32") as caught:
                    dataset["a"][index]
                assert caught.value.kind is ErrorKind.DECODE
            # Nothing is asked of no bytes.
            assert dataset["a"][0:0].size == 0
    with refbrowser.open(path) as dataset, pytest.raises(RefbrowserError, match="CRC-32"):
        refbrowser.export(dataset, tmp_path / "b.zarr", format="zarr-v3", arrays={"/a": slice(0, 3)})
    assert not (tmp_path / "b.zarr" / "zarr.json").exists()


@pytest.mark.usefixtures("block")
def test_views_get_parts_at_once_and_members_are_confirmed_later(tmp_path: Path) -> None:
    for flipped in (None, 7):
        path = tmp_path / "a.zarr.zip"
        path.write_bytes(store_of(LONG, flipped))
        with refbrowser.open(path) as dataset:
            access = dataset.access.confirming(Confirm.LATER)
            array, archives = dataset.with_access(access)["a"], access.memory.archives
            assert array[STEP:][:3].tolist() == LONG[STEP:][:3].tolist()
            assert [member.name for member in archives.unconfirmed.values()] == ["a/0"]
            failed = confirm_later(dataset.session.fetcher, access, CancelToken())
            assert not archives.unconfirmed
            if flipped is None:
                assert not failed
                assert np.array_equal(array[:], LONG)
            else:
                assert "CRC-32" in str(failed[0])
                with pytest.raises(RefbrowserError, match="CRC-32"):
                    array[STEP:]


@pytest.mark.usefixtures("block")
def test_what_was_confirmed_costs_nothing_more(tmp_path: Path) -> None:
    data = store_of(LONG)
    with HttpServer({"/a.zarr.zip": data}) as server:

        def read(dataset: Dataset) -> int:
            server.clear()
            assert dataset["a"][STEP : STEP + 2].tolist() == [STEP, STEP + 1]
            return sum(stop - start for start, stop in (each.range for each in server.requests))

        with refbrowser.open(server.url("/a.zarr.zip")) as dataset:
            assert len(LONG.tobytes()) <= read(dataset) < len(data) + 1000
            assert read(dataset) < 100
        # In another document too, as long as the archive is the same.
        with refbrowser.open(server.url("/a.zarr.zip")) as dataset:
            assert read(dataset) < 1000
        server.files["/a.zarr.zip"] = store_of(LONG + 1, flipped=1)
        with (
            refbrowser.open(server.url("/a.zarr.zip")) as dataset,
            pytest.raises(RefbrowserError, match="CRC-32"),
        ):
            read(dataset)


def test_large_members_of_servers_are_read_in_part_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "refbrowser.engine.reading.found_members.LIMITS", replace(LIMITS, zip_confirmed_remote=1 << 20)
    )
    monkeypatch.setattr("refbrowser.engine.reading.members.BLOCK", 1 << 18)
    data = store_of(LONG, flipped=9)
    with HttpServer({"/a.zarr.zip": data}) as server:
        with refbrowser.open(server.url("/a.zarr.zip")) as dataset:
            server.clear()
            assert dataset["a"][STEP] == STEP
            assert len(server.requests) <= 2
            (warning,) = dataset.access.memory.warnings
            assert "not confirmed" in warning.message
            assert not confirm_later(dataset.session.fetcher, dataset.access, CancelToken())
            assert len(dataset.access.memory.archives.unconfirmed) == 1
            # All of it is confirmed when all of it is read, and by exports.
            with pytest.raises(RefbrowserError, match="CRC-32"):
                dataset["a"][:]
        with (
            refbrowser.open(server.url("/a.zarr.zip")) as dataset,
            pytest.raises(RefbrowserError, match="CRC-32"),
        ):
            refbrowser.export(dataset, tmp_path / "b", format="zarr-v3", arrays={"/a": slice(0, 1)})
