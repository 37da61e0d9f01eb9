"""Looking at new places of files: on a disk, on a web server, in an object store; verdicts by their cause."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from servers.http_server import HttpServer
from servers.object_servers import ObjectServer

import refbrowser
from refbrowser.engine.findings.file_probes import TESTED, Probe, Probed, Verdict, probe, probes_of
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.locking import make_lock
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.locks.lock import Lock, LockEntry
from refbrowser.io.locks.lock_watch import LockWatch
from refbrowser.io.origins import Origin, parse_storage_options
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import SetReference
from refbrowser.references.edits.many_edits import RebaseUrls
from refbrowser.references.edits.url_moves import MoveUrls

DATA = np.random.default_rng(7).bytes(5000)
Put = Callable[[str, bytes], str]


@pytest.fixture(params=["file", "http", "s3"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Put, Access]]:
    """Return what puts a file at a new place and tells its URL there, and what may be read."""
    base = str(tmp_path / "doc.json")
    if request.param == "file":

        def write(name: str, data: bytes) -> str:
            (tmp_path / name).write_bytes(data)
            return name

        yield write, Access.for_document(base)
    elif request.param == "http":
        with HttpServer() as server:

            def serve(name: str, data: bytes) -> str:
                server.files[f"/{name}"] = data
                return server.url(f"/{name}")

            yield serve, Access.for_document(base, [Origin.parse(server.origin)])
    else:
        store: ObjectServer = request.getfixturevalue("s3_server")
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        bucket = store.new_bucket()

        def put(name: str, data: bytes) -> str:
            store.put_all(bucket, {name: data})
            return f"{bucket}/{name}"

        settings = parse_storage_options(store.settings(bucket))
        yield put, Access.for_document(base, [Origin.parse(bucket)], settings)


def looked(access: Access, *probes: Probe) -> list[Probed]:
    with Fetcher() as fetcher:
        return probe(probes, access, fetcher)


@pytest.mark.slow
def test_files_are_held_against_the_lock(place: tuple[Put, Access], tmp_path: Path) -> None:
    put, access = place
    (tmp_path / "old.nc").write_bytes(DATA)
    with Fetcher() as fetcher:
        lock = make_lock(["old.nc"], Access.for_document(str(tmp_path / "doc.json")), fetcher).lock
    entry = lock.entries["old.nc"]
    access.memory.hold_against(LockWatch(Lock({"old.nc": entry}), lambda path: (b"", b"")))
    (tmp_path / "old.nc").unlink()
    found = looked(
        access,
        Probe("old.nc", put("same.nc", DATA), 5000),
        Probe("old.nc", put("head.nc", b"x" + DATA[1:]), 5000),
        Probe("old.nc", put("tail.nc", DATA[:-1] + b"x"), 5000),
        Probe("old.nc", put("longer.nc", DATA + b"x"), 5000),
        Probe("old.nc", put("short.nc", DATA[:3000]), 3001),
        Probe("old.nc", put("same.nc", DATA).replace("same", "none"), 5000),
    )
    assert [each.verdict for each in found] == [
        Verdict.SAME, Verdict.DIFFERS, Verdict.DIFFERS, Verdict.DIFFERS, Verdict.DIFFERS, Verdict.ABSENT,
    ]  # fmt: skip
    words = [each.words for each in found]
    assert words[0] == "5000 bytes, and the first and last ones, as in the lock"
    assert words[1].startswith("other first bytes: SHA-256 ")
    assert words[2].startswith("other last bytes: SHA-256 ")
    assert words[3:5] == ["5001 bytes; 5000 in the lock", "3000 bytes; references need 3001"]


def test_files_are_held_against_the_old_place_where_it_can_be_read(
    place: tuple[Put, Access], tmp_path: Path
) -> None:
    put, access = place
    (tmp_path / "old.nc").write_bytes(DATA)
    same, other, unknown = looked(
        access,
        Probe("old.nc", put("same.nc", DATA), 5000),
        Probe("old.nc", put("other.nc", DATA[:-1] + b"x"), 5000),
        Probe("gone.nc", put("same.nc", DATA), 5000),
    )
    assert (same.verdict, same.words) == (
        Verdict.SAME,
        "5000 bytes, and the first and last ones, as in the old place",
    )
    assert other.verdict is Verdict.DIFFERS
    assert (unknown.verdict, unknown.words) == (
        Verdict.THERE,
        "5000 bytes; nothing is known about the old place",
    )


def test_a_lock_without_digests_tells_by_etag_and_size(tmp_path: Path) -> None:
    with HttpServer() as server:
        server.files["/x"] = DATA
        access = Access.for_document(str(tmp_path / "doc.json"), [Origin.parse(server.origin)])
        with Fetcher() as fetcher:
            etag = make_lock([server.url("/x")], access, fetcher).lock.entries[server.url("/x")].etag
        entries = {"a": LockEntry(5000, etag), "b": LockEntry(5000, '"another"'), "c": LockEntry(4999, etag)}
        access.memory.hold_against(LockWatch(Lock(entries), lambda path: (b"", b"")))
        found = looked(access, *(Probe(name, server.url("/x"), 10) for name in entries))
    assert [(each.verdict, each.words) for each in found] == [
        (Verdict.SAME, "5000 bytes and the ETag, as in the lock"),
        (Verdict.THERE, "5000 bytes, as in the lock"),
        (Verdict.DIFFERS, "5000 bytes; 4999 in the lock"),
    ]


def test_what_was_read_before_is_compared_where_the_old_server_is_gone(tmp_path: Path) -> None:
    (tmp_path / "right.nc").write_bytes(DATA)
    (tmp_path / "wrong.nc").write_bytes(DATA[:-1])
    path = tmp_path / "doc.json"
    with HttpServer() as server:
        server.files["/x"] = DATA
        url = server.url("/x")
        array = {"zarr_format": 2, "shape": [5000], "chunks": [5000], "dtype": "|u1", "compressor": None,
                 "filters": None, "fill_value": 0, "order": "C"}  # fmt: skip
        path.write_text(json.dumps({"a/.zarray": json.dumps(array), "a/0": [url, 0, 5000]}))
        dataset = refbrowser.open(path, allow=[server.origin])
        assert bytes(dataset["a"][:]) == DATA
    with dataset:
        right, wrong = looked(dataset.access, Probe(url, "right.nc", 9), Probe(url, "wrong.nc", 9))
    assert (right.verdict, right.words) == (Verdict.THERE, "5000 bytes, as were read before")
    assert (wrong.verdict, wrong.words) == (Verdict.DIFFERS, "4999 bytes; 5000 were read before")


def test_nothing_is_read_that_is_not_allowed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_bytes(DATA)
    (tmp_path / "in").mkdir()
    access = Access.for_document(str(tmp_path / "in" / "doc.json"))
    with HttpServer() as server:
        server.files["/x"] = DATA
        local, remote, never = looked(
            access, Probe("x", str(outside / "x")), Probe("x", server.url("/x")), Probe("x", "ftp://h/x")
        )
        assert server.request_count == 0
        assert remote.location is not None
        assert remote.location.origin == Origin.parse(server.origin)
    assert [local.verdict, remote.verdict, never.verdict] == [
        Verdict.BLOCKED,
        Verdict.BLOCKED,
        Verdict.FAILED,
    ]
    assert never.location is None
    assert not never.verdict.is_good
    (found,) = looked(access.allow([Origin.parse(str(outside))]), Probe("y", str(outside / "x"), 5000))
    assert found.verdict.is_good


def test_it_is_cancelled(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(DATA)
    token = CancelToken()
    token.cancel()
    with Fetcher() as fetcher, pytest.raises(Cancelled):
        probe([Probe("a", "x")], Access.for_document(str(tmp_path / "d")), fetcher, JobControl(token))


def document(refs: dict[str, Any], gen: list[Any] | None = None) -> ReferenceDocument:
    return ReferenceDocument.of(json.dumps({"version": 1, "gen": gen or [], "refs": refs}).encode())


def test_the_files_that_move_are_looked_at_with_what_references_need() -> None:
    refs = {
        "a/0": ["s3://b/x.nc", 100, 50], "a/1": ["s3://b/x.nc", 10, 20], "a/2": ["s3://c/y.nc", 1, 1],
        "a/3": ["s3://b/whole.nc"], "a/4": ["s3://b/gone.nc", 0, 1], "a/5": "inline",
        "a/6": ["zip://m::s3://b/z.zip", 7, 9],
    }  # fmt: skip
    gen = [
        {"key": "g/{{i}}", "url": "s3://b/one.nc", "offset": "{{i * 10}}", "length": "10",
         "dimensions": {"i": {"stop": 5000}}},
    ]  # fmt: skip
    found = document(refs, gen).apply(SetReference("a/4", ["s3://b/new.nc", 5, 6]))
    assert probes_of(found, MoveUrls("s3://b/", "/data/")) == [  # type: ignore[arg-type]
        Probe("s3://b/x.nc", "/data/x.nc", 150),
        Probe("s3://b/whole.nc", "/data/whole.nc", 0),
        Probe("s3://b/z.zip", "/data/z.zip", 0),
        Probe("s3://b/new.nc", "/data/new.nc", 11),
        Probe("s3://b/one.nc", "/data/one.nc", 50000),
    ]
    near = document({"a": ["near.nc", 0, 3], "b": ["/far.nc", 0, 3]})
    assert probes_of(near, RebaseUrls("../d/")) == [Probe("near.nc", "../d/near.nc", 3)]  # type: ignore[arg-type]


def test_many_files_are_sampled_from_the_first_to_the_last() -> None:
    many = document({f"a/{n}": [f"s3://b/{n:04d}", 0, n + 1] for n in range(1000)})
    gen = [{"key": "g/{{i}}", "url": "s3://b/{{i}}", "dimensions": {"i": {"stop": 10**15}}}]
    for found, last in ((many, "0999"), (document({}, gen), str(10**15 - 1))):
        probes = probes_of(found, MoveUrls("s3://b/", "/"))
        names = [each.before.removeprefix("s3://b/") for each in probes]
        assert len(probes) == TESTED
        assert int(names[0]) == 0
        assert names[-1] == last
        gaps = np.diff([int(name) for name in names])
        assert gaps.max() <= gaps.min() + 1
