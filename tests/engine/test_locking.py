"""Locks of documents: made, held against what is read, compared as a whole, renewed for chosen files."""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from servers.http_server import Fault, HttpServer
from servers.object_servers import ObjectServer

import refbrowser
from refbrowser.engine.audit.lock_comparing import lock_cost
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.findings.collected_findings import collect
from refbrowser.engine.findings.dataset_findings import dataset_findings
from refbrowser.engine.locking import files_of, hold_against, lock_findings, make_lock, prefixes_of
from refbrowser.errors import AbsentError, ErrorKind, RefbrowserError
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.properties import ScannedSource
from refbrowser.exporting.combining.scan_sources import ScanTask, scan
from refbrowser.findings.finding import Finding, Remedy
from refbrowser.io.access.access import Access, Source
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.fetching.lock_format import read_lock, write_lock
from refbrowser.io.http import host
from refbrowser.io.locks.lock import Lock, LockEntry, Mark, digest
from refbrowser.io.locks.lock_watch import LockWatch
from refbrowser.io.origins import Origin, parse_storage_options
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.tools.move.report.health import Health, health_judge

SIZE = 8000
LATER = "Thu, 02 Jan 2025 00:00:00 GMT"


def content(number: int) -> bytes:
    return (np.arange(SIZE // 8, dtype="<f8") + number).tobytes()


class Files:
    """Where files of a document lie, and what happens to them there."""

    is_counted = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.allow: list[str] = []
        self.options: list[str] = []

    def url(self, name: str) -> str:
        return name

    def put(self, name: str, data: bytes) -> None:
        (self.folder / name).write_bytes(data)

    def touch(self, name: str) -> None:
        """Give a file another time, and another ETag where there is one."""
        os.utime(self.folder / name, (1, 1))

    def drop(self, name: str) -> None:
        (self.folder / name).unlink()

    def requests(self) -> int:
        return 0


class Served(Files):
    """Files of a web server, whose requests are counted."""

    is_counted = True

    def __init__(self, folder: Path, server: HttpServer) -> None:
        super().__init__(folder)
        self.server = server
        self.allow = [server.origin]

    def url(self, name: str) -> str:
        return self.server.url(f"/{name}")

    def put(self, name: str, data: bytes) -> None:
        before = self.server.files.get(f"/{name}")
        self.server.files[f"/{name}"] = data
        if before is not None:
            self.touch(name)

    def touch(self, name: str) -> None:
        # The server tells the same ETag and time whatever a file holds.
        fault = Fault("etag", value='"other"')
        self.server.faults[f"/{name}"] = fault

        def answer(path: str, *rest: object, was: Callable[..., object] = self.server._file) -> object:
            found = was(path, *rest)
            if path == f"/{name}":
                found.head = found.head.replace(b"01 Jan 2025", b"02 Jan 2025")  # type: ignore[attr-defined]
            return found

        self.server._file = answer  # type: ignore[method-assign]

    def drop(self, name: str) -> None:
        del self.server.files[f"/{name}"]

    def requests(self) -> int:
        return self.server.request_count


class Stored(Files):
    """Files of an object store."""

    def __init__(self, folder: Path, store: ObjectServer) -> None:
        super().__init__(folder)
        self.store, self.bucket = store, store.new_bucket()
        self.allow, self.options = [self.bucket], store.settings(self.bucket)

    def url(self, name: str) -> str:
        return f"{self.bucket}/{name}"

    def put(self, name: str, data: bytes) -> None:
        self.store.put_all(self.bucket, {name: data})

    def touch(self, name: str) -> None:
        pytest.skip("an object that is written again with the same bytes has the same ETag")

    def drop(self, name: str) -> None:
        self.store.remove(self.url(name))


@pytest.fixture(params=["file", "http", "s3"])
def files(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Files]:
    """Files on a disk, on a web server and in an object store in turn."""
    if request.param == "file":
        yield Files(tmp_path)
    elif request.param == "http":
        with HttpServer() as server:
            yield Served(tmp_path, server)
    else:
        store: ObjectServer = request.getfixturevalue("s3_server")
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        yield Stored(tmp_path, store)


def write_document(folder: Path, urls: list[str]) -> Path:
    """Write a document of an array of one row for each file."""
    array = {
        "zarr_format": 2, "shape": [len(urls), SIZE // 8], "chunks": [1, SIZE // 8], "dtype": "<f8",
        "compressor": None, "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    refs = {".zgroup": '{"zarr_format": 2}', "t/.zarray": json.dumps(array)}
    refs |= {f"t/{number}.0": [url, 0, SIZE] for number, url in enumerate(urls)}  # type: ignore[dict-item]
    path = folder / "doc.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


@pytest.fixture
def document(files: Files) -> Path:
    """Four files, and the lock of the document that refers to them."""
    names = [f"f{number}.bin" for number in range(4)]
    for number, name in enumerate(names):
        files.put(name, content(number))
    path = write_document(files.folder, [files.url(name) for name in names])
    written = refbrowser.lock(path, allow=files.allow, storage_options=files.options)
    assert written.made.errors == []
    assert written.lock is not None
    assert set(written.lock.entries) == {files.url(name) for name in names}
    return path


def opened(files: Files, document: Path, stale: str = "refuse") -> Dataset:
    return refbrowser.open(document, allow=files.allow, storage_options=files.options, stale=stale)


def with_tail(data: bytes) -> bytes:
    return data[:-8] + b"\x01" * 8


def with_head(data: bytes) -> bytes:
    return b"\x01" * 8 + data[8:]


#: What happens to a file, and by what it differs then; None where it is the same.
STATES: dict[str, tuple[Callable[[Files, str, bytes], None], Mark | None]] = {
    "same": (lambda files, name, data: None, None),
    "size": (lambda files, name, data: files.put(name, data + b"x"), Mark.SIZE),
    "touched": (lambda files, name, data: files.touch(name), None),
    "head": (lambda files, name, data: files.put(name, with_head(data)), Mark.HEAD),
    "tail": (lambda files, name, data: files.put(name, with_tail(data)), Mark.TAIL),
}


@pytest.mark.parametrize("state", STATES)
def test_each_state_is_told_where_it_is_read(files: Files, document: Path, state: str) -> None:
    change, mark = STATES[state]
    change(files, "f2.bin", content(2))
    with opened(files, document) as dataset:
        assert dataset["t"][3, 5] == 8
        if mark is None:
            assert dataset["t"][2, 5] == 7
            assert dataset.access.memory.locked.stale == {}
            doubted = ["file-unconfirmed"] * (state == "touched")
            assert [each.code for each in dataset.access.memory.warnings] == doubted
            return
        for _ in range(2):
            with pytest.raises(RefbrowserError, match="not the one that was locked") as caught:
                dataset["t"][2]
            assert caught.value.kind is ErrorKind.SOURCE
            assert caught.value.place.key == "t/2.0"
        # One file costs only itself.
        assert dataset["t"][1, 5] == 6
        assert [each.mark for each in dataset.access.memory.locked.stale.values()] == [mark]
    with opened(files, document, "allow") as dataset:
        assert dataset["t"][2, 5] == 7
        (warning,) = dataset.access.memory.warnings
        assert (warning.code, warning.place.url) == ("stale-file", files.url("f2.bin"))
    with opened(files, document, "ignore") as dataset:
        assert dataset["t"][2, 5] == 7
        assert dataset.access.memory.warnings == ()


@pytest.mark.parametrize("state", [*STATES, "gone"])
def test_each_state_is_found_when_all_are_compared(files: Files, document: Path, state: str) -> None:
    if state == "gone":
        files.drop("f2.bin")
    else:
        STATES[state][0](files, "f2.bin", content(2))
    before = files.requests()
    (document.parent / "doc.json.lock.json").rename(document.parent / "kept")
    found = findings(files, document, read_lock(document.parent / "kept")[0])
    codes = {"gone": "file-gone", "same": None, "touched": "file-unconfirmed"}
    code = codes.get(state, "stale-file")
    assert [each.code for each in found] == [code] * (code is not None)
    assert all(each.place.url == files.url("f2.bin") for each in found)
    if files.is_counted:
        # One for each file, and one more where only its last bytes tell.
        assert files.requests() - before == 4 + (state in ("touched", "tail"))


def test_a_change_in_the_middle_is_not_confirmed(tmp_path: Path) -> None:
    """Size and ends are those of the lock: nothing but the time tells that the middle may be another one."""
    big = content(1) + bytes(5000) + content(2)
    (tmp_path / "a").write_bytes(big)
    document = write_document(tmp_path, ["a"])
    refbrowser.lock(document)
    (tmp_path / "a").write_bytes(big[:3000] + b"other" + big[3005:])
    os.utime(tmp_path / "a", (1, 1))
    with refbrowser.open(document) as dataset:
        dataset["t"][0]
        locked = dataset.access.memory.locked
        doubt = locked.doubt_at(str(tmp_path / "a"))
        assert (doubt.mark, doubt.now) == (Mark.TIME, "'1970-01-01T00:00:01Z'")
        (warning,) = dataset.access.memory.warnings
        assert (warning.code, warning.place.url) == ("file-unconfirmed", "a")
        assert "not confirmed" in warning.message
        assert health_judge(dataset.access, [])(Source("a")) is Health.UNCONFIRMED
        urls = files_of(dataset.document)
        (finding,) = lock_findings(urls, locked.lock, dataset.access, dataset.session.fetcher)
        assert finding == warning
    refbrowser.lock(document, update=["a"])
    with refbrowser.open(document) as dataset:
        dataset["t"][0]
        assert dataset.access.memory.warnings == ()


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault("status", value=500), "lock-unread"),
        (Fault("truncate", value=20), "lock-unread"),
        (Fault("status", value=403), None),
        (Fault("status", value=404), None),
    ],
)
def test_a_lock_that_a_server_does_not_give_is_told(
    tmp_path: Path, fault: Fault, code: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "LIMITS", replace(host.LIMITS, http_wait_start=0.001))
    (tmp_path / "a").write_bytes(content(0))
    document = write_document(tmp_path, ["a"])
    refbrowser.lock(document)
    with HttpServer() as server:
        for name in ("a", "doc.json", "doc.json.lock.json"):
            server.files[f"/{name}"] = (tmp_path / name).read_bytes()
        server.faults["/doc.json.lock.json"] = fault
        with refbrowser.open(f"{server.origin}/doc.json", allow=[server.origin]) as dataset:
            assert dataset["t"][0, 1] == 1
            assert [each.code for each in dataset.access.memory.warnings] == [code] * (code is not None)
            assert dataset.access.memory.locked is None


def findings(files: Files, document: Path, lock: Lock) -> list[Finding]:
    with opened(files, document) as dataset:
        urls = files_of(dataset.document)
        return list(lock_findings(urls, lock, dataset.access, dataset.session.fetcher))


def test_what_is_not_locked_is_told_together(files: Files, document: Path) -> None:
    lock = read_lock(f"{document}.lock.json")[0]
    entries = dict(list(lock.entries.items())[2:])
    (finding,) = findings(files, document, Lock(entries, {files.url("f0.bin"): "it was away"}))
    assert (finding.code, finding.count, finding.place.url) == ("file-not-locked", 2, files.url("f0.bin"))
    assert "it was away" in finding.message


def test_what_it_costs_is_known_before() -> None:
    lock = Lock({"a": LockEntry(10), "b": LockEntry(5000)})
    cost = lock_cost(["a", "b", "c"], lock)
    assert (cost.files, cost.requests, cost.most_requests, cost.bytes) == (2, 2, 3, 10 + 2048 + 1024)


def test_a_digest_of_all_bytes_costs_them_all() -> None:
    lock = Lock({"a": LockEntry(10, whole=b"x" * 32), "b": LockEntry(5000)})
    cost = lock_cost(["a", "b"], lock, ["a"])
    assert (cost.requests, cost.bytes) == (3, 10 + 2048 + 1024 + 10)


@pytest.mark.slow
def test_the_middle_of_a_file_is_compared_where_all_of_it_was_locked(files: Files, document: Path) -> None:
    options = {"allow": files.allow, "storage_options": files.options}

    def told() -> list[str]:
        codes = ("stale-file", "file-unconfirmed", "file-ends-only", "file-gone")
        with opened(files, document, "allow") as dataset:
            found = refbrowser.audit(dataset, level="full", lock=True).findings
            return [each.code for each in found if each.code in codes]

    assert told() == ["file-ends-only"]
    refbrowser.lock(document, whole=True, **options)
    assert told() == []
    files.put("f0.bin", content(0)[:4000] + b"changed!" + content(0)[4008:])
    files.touch("f0.bin")
    assert "stale-file" in told()
    refbrowser.lock(document, update=[files.url("f0.bin")], **options)
    assert told() == []


# Requests


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[HttpServer, Path]]:
    with HttpServer() as server:
        for number in range(3):
            server.files[f"/{number}"] = content(number)
        yield server, write_document(tmp_path, [server.url(f"/{number}") for number in range(3)])


@pytest.mark.parametrize(
    ("size", "requests"), [(0, 2), (1, 1), (1023, 1), (1024, 1), (2048, 1), (2049, 2), (5000, 2)]
)
def test_few_requests_make_a_lock(served: tuple[HttpServer, Path], size: int, requests: int) -> None:
    server, _ = served
    data = np.random.default_rng(size).bytes(size)
    server.files["/x"] = data
    access = Access.for_document("doc.json", [Origin.parse(server.origin)])
    with Fetcher() as fetcher:
        made = make_lock([server.url("/x")], access, fetcher)
    entry = made.lock.entries[server.url("/x")]
    assert (entry.size, entry.head, entry.tail) == (size, digest(data[:1024]), digest(data[-1024:]))
    assert (server.request_count, made.requests) == (requests, requests)
    assert all(each.method == "GET" for each in server.requests)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["s3", "gs", "abfs"])
def test_objects_of_any_size_are_locked(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: ObjectServer = request.getfixturevalue(f"{kind}_server")
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    bucket = store.new_bucket()
    # The emulator of gs answers for a range of nothing with one of which no byte can be.
    sizes = (*(() if kind == "gs" else (0,)), 1, 2048, 2049, 5000)
    objects = {str(size): np.random.default_rng(size).bytes(size) for size in sizes}
    store.put_all(bucket, objects)
    allowed, settings = [Origin.parse(bucket)], parse_storage_options(store.settings(bucket))
    access = Access.for_document("doc.json", allowed, settings)
    with Fetcher() as fetcher:
        made = make_lock([f"{bucket}/{name}" for name in [*objects, "none"]], access, fetcher)
    assert [type(each) for each in made.errors] == [AbsentError]
    for name, data in objects.items():
        entry = made.lock.entries[f"{bucket}/{name}"]
        found = (entry.size, entry.head, entry.tail)
        assert found == (len(data), digest(data[:1024]), digest(data[-1024:]))
        # The emulator of gs tells no generation.
        assert entry.etag is not None or kind == "gs"


def test_reads_that_marks_settle_ask_for_nothing_more(served: tuple[HttpServer, Path]) -> None:
    server, document = served
    refbrowser.lock(document, allow=[server.origin])
    server.clear()
    with refbrowser.open(document, allow=[server.origin]) as dataset:
        assert dataset["t"][...].shape == (3, SIZE // 8)
        assert server.request_count == 3
        assert dataset["t"][0, 0] == 0


def test_a_server_that_tells_no_marks_is_asked_for_bytes_once(served: tuple[HttpServer, Path]) -> None:
    server, document = served
    refbrowser.lock(document, allow=[server.origin])
    was = server._file

    def bare(*given: object) -> object:
        answer = was(*given)  # type: ignore[arg-type]
        answer.head = answer.head.replace(b"ETag:", b"X-A:").replace(b"Last-Modified:", b"X-B:")
        return answer

    server._file = bare  # type: ignore[method-assign]
    server.clear()
    with refbrowser.open(document, allow=[server.origin]) as dataset:
        assert dataset["t"][0, 3] == 3
        # The chunk, and both ends of the file by one request or two.
        assert 2 <= server.request_count <= 3
        asked = server.request_count
        for number in (4, 5):
            assert dataset["t"][0, number] == number
        assert server.request_count == asked + 2
    server.files["/0"] = with_tail(content(0))
    with refbrowser.open(document, allow=[server.origin]) as dataset, pytest.raises(RefbrowserError):
        dataset["t"][0]


def test_ends_that_cannot_be_read_settle_nothing(served: tuple[HttpServer, Path]) -> None:
    """What might be another file is not taken for the right one because a server is tired."""
    server, document = served
    server.files["/1"] = content(1) + bytes(5_000_000)
    refbrowser.lock(document, allow=[server.origin])
    Served(document.parent, server).touch("1")
    was = server._answer

    def tired(path: str, wanted: tuple[int, int | None] | None, head: bool) -> object:
        # The last bytes are asked for alone: they are far from all else.
        if path == "/1" and wanted is not None and wanted[0] > SIZE:
            server.faults["/1"] = Fault("status", value=403)
        return was(path, wanted, head)

    server._answer = tired  # type: ignore[method-assign]
    with refbrowser.open(document, allow=[server.origin]) as dataset:
        with pytest.raises(RefbrowserError, match="is not known: the server answered 403"):
            dataset["t"][1]
        (stale,) = dataset.access.memory.locked.stale.values()
        assert (stale.mark, stale.finding().code) == (Mark.UNKNOWN, "file-undecided")


def test_many_files_are_compared_together(tmp_path: Path) -> None:
    """Files that were all copied: their ends are asked for while others still come."""
    with HttpServer(latency=0.02) as server:
        count = 60
        for number in range(count):
            server.files[f"/{number}"] = content(number)
        document = write_document(tmp_path, [server.url(f"/{number}") for number in range(count)])
        refbrowser.lock(document, allow=[server.origin])
        lock, _ = read_lock(f"{document}.lock.json")
        old = {
            url: LockEntry(entry.size, '"old"', "2001-01-01T00:00:00Z", entry.head, entry.tail)
            for url, entry in lock.entries.items()
        }
        write_lock(f"{document}.lock.json", Lock(old))
        with refbrowser.open(document, allow=[server.origin]) as dataset:
            began = time.monotonic()
            values = dataset["t"][:, 0]
            took = time.monotonic() - began
        assert values.tolist() == list(range(count))
        # One after the other it would be at least 2.4 s.
        assert took < 2


def test_making_is_cancelled(served: tuple[HttpServer, Path]) -> None:
    server, document = served
    server.faults["/1"] = Fault("silent")
    token = CancelToken()
    with refbrowser.open(document, allow=[server.origin]) as dataset:
        from threading import Timer

        from refbrowser.engine.jobs import JobControl

        Timer(0.2, token.cancel).start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            make_lock(files_of(dataset.document), dataset.access, dataset.session.fetcher, JobControl(token))
        assert time.monotonic() - began < 1


# Which files


def of_text(**members: object) -> ReferenceDocument:
    return ReferenceDocument.of(json.dumps({"version": 1, **members}).encode())


def test_files_are_those_of_refs_and_rules_once_each() -> None:
    document = of_text(
        templates={"u": "s3://b/{{c}}.nc", "v": "data/x.nc"},
        refs={
            ".zgroup": "{}",
            "a/0": ["{{v}}", 0, 10],
            "a/1": ["{{v}}", 10, 10],
            "a/2": ["whole.bin"],
            "a/3": ["zip://member::archive.zip"],
            "a/4": ["zip://other::archive.zip", 0, 1],
            "a/5": ["", 0, 1],
            "a/6": "base64:AAAA",
        },
        gen=[
            {
                "key": "b/{{i}}.{{j}}",
                "url": "{{u(c=i)}}",
                "offset": "{{j * 10}}",
                "length": "10",
                # A billion rows, and three files.
                "dimensions": {"i": {"stop": 3}, "j": {"stop": 333_333_333}},
            },
            {"key": "c/{{i}}", "url": "one.nc", "dimensions": {"i": {"stop": 10}}},
        ],
    )
    assert files_of(document) == [
        *("archive.zip", "data/x.nc", "one.nc"),
        *("s3://b/0.nc", "s3://b/1.nc", "s3://b/2.nc", "whole.bin"),
    ]
    found = prefixes_of(document, frozenset({"archive.zip", "s3://b/1.nc", "data/x.nc"}))
    assert found == {"a/": {"archive.zip", "data/x.nc"}, "b/": {"s3://b/1.nc"}}


def test_rules_of_too_many_files_are_refused() -> None:
    rule = {"key": "a/{{i}}", "url": "u{{i}}", "dimensions": {"i": {"stop": 2_000_000}}}
    with pytest.raises(RefbrowserError, match=r"\(lock_files\)") as caught:
        files_of(of_text(refs={}, gen=[rule]))
    assert caught.value.kind is ErrorKind.BUDGET


def test_edits_count() -> None:
    from refbrowser.references.edits.edits import SetReference

    document = of_text(refs={"a/0": ["x", 0, 1], "a/1": ["y", 0, 1]})
    edited = document.apply(SetReference("a/0", ["z", 0, 1])).apply(SetReference("a/2", ["n", 0, 1]))
    assert files_of(edited) == ["n", "y", "z"]
    assert prefixes_of(edited, frozenset({"z", "n"})) == {"a/": {"z", "n"}}


# Writing


def test_what_cannot_be_looked_at_is_not_invented(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content(0))
    document = write_document(tmp_path, ["a", "b", "https://host.invalid/c"])
    written = refbrowser.lock(document)
    assert written.lock is not None
    assert set(written.lock.entries) == {"a"}
    assert [each.kind for each in written.made.errors] == [ErrorKind.IO, ErrorKind.BLOCKED]
    assert set(written.lock.not_locked) == {"b", "https://host.invalid/c"}
    # A lock that is there is not given up for one that knows less.
    (tmp_path / "a").unlink()
    before = Path(written.path).read_bytes()
    assert refbrowser.lock(document).lock is None
    (tmp_path / "b").write_bytes(content(0))
    assert refbrowser.lock(document).lock is None
    assert Path(written.path).read_bytes() == before
    assert set(refbrowser.lock(document, skip_bad=True).lock.entries) == {"b"}


def test_accepted_files_alone_change(files: Files, document: Path) -> None:
    path = Path(f"{document}.lock.json")
    said = json.loads(path.read_text())
    said["files"][files.url("f1.bin")]["owner"] = "me"
    said["comment"] = 3
    path.write_text(json.dumps(said))
    for number in (1, 2):
        files.put(f"f{number}.bin", with_head(content(number)))
    written = refbrowser.lock(
        document, update=[files.url("f1.bin")], allow=files.allow, storage_options=files.options
    )
    assert written.lock is not None
    now = json.loads(path.read_text())
    accepted, before = now["files"].pop(files.url("f1.bin")), said["files"].pop(files.url("f1.bin"))
    assert now == said
    assert accepted["owner"] == "me"
    assert accepted["head"] != before["head"]
    assert accepted["made"]["by"].startswith("refbrowser ")
    with opened(files, document) as dataset:
        dataset["t"][1]
        with pytest.raises(RefbrowserError, match="not the one that was locked"):
            dataset["t"][2]


def test_only_files_of_the_document_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content(0))
    document = write_document(tmp_path, ["a"])
    with pytest.raises(RefbrowserError, match="there is no such file"):
        refbrowser.lock(document, update=["a"])
    refbrowser.lock(document)
    # Any path to a file of the document is one to it.
    refbrowser.lock(document, update=["./a"])
    (tmp_path / "b").write_bytes(content(0))
    with pytest.raises(RefbrowserError, match=r"does not refer to '\./b'") as caught:
        refbrowser.lock(document, update=["./b"])
    assert caught.value.kind is ErrorKind.USAGE


def test_a_store_is_not_locked(tmp_path: Path) -> None:
    import zarr

    zarr.create_array(tmp_path / "s.zarr", shape=(4,), chunks=(1,), dtype="i4")[...] = 1
    with refbrowser.open(tmp_path / "s.zarr") as dataset:
        with pytest.raises(RefbrowserError, match="a store cannot be locked"):
            refbrowser.lock(dataset)
        assert dataset.access.memory.locked is None


# While it is open


def test_an_opened_dataset_is_held_against_the_lock_that_is_written_for_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content(0))
    document = write_document(tmp_path, ["a"])
    with refbrowser.open(document) as dataset:
        refbrowser.lock(dataset, tmp_path / "elsewhere.json")
        assert dataset.access.memory.locked is None
        refbrowser.lock(dataset)
        assert set(dataset.access.memory.locked.lock.entries) == {"a"}
    (tmp_path / "a").write_bytes(content(0) + b"x")
    with refbrowser.open(document) as dataset:
        with pytest.raises(RefbrowserError, match="8000 bytes then, 8001 now"):
            dataset["t"][0]
        refbrowser.lock(dataset, update=["a"])
        assert dataset["t"][0, 1] == 1


def test_a_lock_that_is_none_is_told_and_not_used(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content(0))
    document = write_document(tmp_path, ["a"])
    (tmp_path / "doc.json.lock.json").write_text('{"lock": 7}')
    with refbrowser.open(document) as dataset:
        assert dataset["t"][0, 1] == 1
        assert [each.code for each in dataset.access.memory.warnings] == ["lock-invalid"]
        told = dataset_findings(dataset.document, dataset.hierarchy, dataset.access).all
        assert [each.code for each in told if each.code] == ["lock-invalid"]
        (finding,) = collect(dataset.document, dataset.hierarchy, access=dataset.access).items
        assert "the lock beside the document is not used" in finding.message
    with pytest.raises(RefbrowserError, match="refuse, allow, ignore"):
        refbrowser.open(document, stale="perhaps")


def test_stale_files_are_problems_of_the_arrays_that_refer_to_them(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content(0))
    document = write_document(tmp_path, ["a"])
    refbrowser.lock(document)
    (tmp_path / "a").write_bytes(content(0) + b"x")
    with refbrowser.open(document, stale="allow") as dataset:
        dataset["t"][0]
        (finding,) = collect(dataset.document, dataset.hierarchy, access=dataset.access).items
        assert finding.spot == ("array", "/t")
        assert (finding.fix.remedy, finding.fix.text) == (Remedy.ACCEPT, "a")
        assert "8000 bytes then, 8001 now" in finding.message
        # Once it is accepted there is none any more.
        refbrowser.lock(dataset, update=["a"])
        assert collect(dataset.document, dataset.hierarchy, access=dataset.access).items == ()
        assert dataset.access.memory.warnings == ()


def test_cached_chunks_and_prefetch_are_of_decided_files(tmp_path: Path) -> None:
    """Whoever read a chunk first, and how: its file was compared then."""
    (tmp_path / "a").write_bytes(content(0))
    document = write_document(tmp_path, ["a"])
    refbrowser.lock(document)
    (tmp_path / "a").write_bytes(with_tail(content(0)))
    with refbrowser.open(document, stale="allow") as dataset:
        array = dataset["t"]
        assert dataset.access.memory.locked.turns == 0
        dataset.session.read(array.node, dataset.access.at_once(), array.selection("0,:"), priority=2)
        assert dataset.access.memory.locked.turns == 1
        assert set(dataset.access.memory.locked.stale_urls) == {"a"}
        # What one document may read another one does not get from what both keep.
        assert dataset.access.scope != opened_again(document).scope


def opened_again(document: Path) -> Access:
    with refbrowser.open(document) as dataset:
        return dataset.access


def test_other_processes_hold_files_against_the_same_lock() -> None:
    access = Access.for_document("/doc.json")
    hold_against(access, Lock({"a": LockEntry(3)}))
    copied = pickle.loads(pickle.dumps(access)).memory.locked
    assert isinstance(copied, LockWatch)
    assert copied.lock == Lock({"a": LockEntry(3)})
    assert copied.allow


def test_two_spellings_of_one_file_are_both_compared(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content(0))
    document = write_document(tmp_path, ["a", "./a"])
    lock = refbrowser.lock(document).lock
    wrong = dict(lock.entries) | {"./a": LockEntry(7)}
    write_lock(f"{document}.lock.json", Lock(wrong))
    with refbrowser.open(document) as dataset, pytest.raises(RefbrowserError, match="7 bytes then"):
        dataset["t"][1]


@pytest.mark.slow
def test_exports_refuse_stale_files_unless_told(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(content(0))
    document = write_document(tmp_path, ["a", "b"])
    refbrowser.lock(document)
    (tmp_path / "b").write_bytes(with_head(content(0)))
    with refbrowser.open(document) as dataset:
        with pytest.raises(RefbrowserError, match="not the one that was locked"):
            refbrowser.export(dataset, tmp_path / "x.zarr", format="zarr-v2")
        # By processes of their own as well.
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        with (
            ProcessPoolExecutor(1, get_context("spawn")) as pool,
            pytest.raises(RefbrowserError, match="not the one that was locked"),
        ):
            refbrowser.export(dataset, tmp_path / "y.zarr", format="zarr-v3", client=pool)
    with refbrowser.open(document, stale="allow") as dataset:
        refbrowser.export(dataset, tmp_path / "z.zarr", format="zarr-v2")
        assert [each.code for each in dataset.access.memory.warnings] == ["stale-file"]


@pytest.mark.slow
def test_files_that_are_combined_are_held_against_their_locks(tmp_path: Path) -> None:
    """Coordinates are read; where they are of a stale file nothing is combined."""
    documents = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "a").write_bytes(content(1000 * number))
        array = json.dumps({
            "zarr_format": 2, "shape": [SIZE // 8], "chunks": [SIZE // 8], "dtype": "<f8",
            "compressor": None, "filters": None, "fill_value": 0, "order": "C",
        })  # fmt: skip
        refs = {".zgroup": '{"zarr_format": 2}', "n/.zarray": array, "n/0": ["a", 0, SIZE]}
        refs["n/.zattrs"] = '{"_ARRAY_DIMENSIONS": ["n"]}'
        documents.append(folder / "doc.json")
        documents[-1].write_text(json.dumps({"version": 1, "refs": refs}))
        refbrowser.lock(documents[-1])
    (tmp_path / "1" / "a").write_bytes(content(1000) + b"x")
    how = {"concat": ["n"], "allow": [str(tmp_path)]}
    with pytest.raises(RefbrowserError, match="not the one that was locked"):
        refbrowser.combine(documents, tmp_path / "all.json", **how)
    # Also where the text of one that is like another one would tell enough.
    sources = tuple(map(str, documents))
    looking = Combination(sources=sources, concat=("n",), allow=(str(tmp_path),)).looking()
    first, second = scan(ScanTask(sources, looking))
    assert isinstance(first, ScannedSource)
    assert isinstance(second, tuple)
    assert "not the one that was locked" in second[1].message
    refbrowser.combine(documents, tmp_path / "all.json", stale="allow", **how)


def test_a_document_at_a_url_has_its_lock_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content(0))
    document = write_document(tmp_path, ["a"])
    with HttpServer(root=tmp_path) as server:
        with refbrowser.open(server.url("/doc.json")) as dataset:
            assert dataset.access.memory.locked is None
        refbrowser.lock(document)
        with refbrowser.open(server.url("/doc.json")) as dataset:
            # Made of the files of a disk, whose time the server tells in its own way: bytes settle it.
            assert dataset["t"][0, 2] == 2
        lock = read_lock(f"{document}.lock.json")[0]
        write_lock(f"{document}.lock.json", Lock({"a": LockEntry(1)}))
        assert lock.entries["a"].size == SIZE
    with HttpServer(root=tmp_path) as server, refbrowser.open(server.url("/doc.json")) as dataset:
        with pytest.raises(RefbrowserError, match="1 bytes then"):
            dataset["t"][0]
        with pytest.raises(RefbrowserError, match="give -o FILE"):
            refbrowser.lock(server.url("/doc.json"))
