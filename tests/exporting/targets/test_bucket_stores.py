"""Stores that are written to object stores: on real servers, object for object as they are in a folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
import zarr
from servers.object_proxy import Faults, object_proxy
from servers.object_servers import ObjectServer

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.check import check_export
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.folder import partial_of, remove_forgotten
from refbrowser.exporting.journal import NAME, Journal, Written, checked_lines
from refbrowser.exporting.option_fields import Sides
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.request import ArrayChoice, ExportReport, ExportRequest, Leftover
from refbrowser.exporting.targets import bucket_place
from refbrowser.exporting.targets.bucket_place import JOURNAL, MARK, STAGE, BucketPlace
from refbrowser.io.buckets import bucket, bucket_calls
from refbrowser.io.cancel import Cancelled, CancelToken

KINDS = ("zarr-v2", "zarr-v3", "zarr-v3-draft", "nczarr")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source") / "source.zarr"
    root = zarr.open_group(str(folder), mode="w", zarr_format=2, attributes={"title": "a test"})
    a = root.create_array("a", shape=(20, 30), chunks=(10, 10), dtype="<f4")
    a[:] = np.arange(600, dtype="<f4").reshape(20, 30)
    a.attrs.update({"units": "m", "_ARRAY_DIMENSIONS": ["y", "x"]})
    b = root.create_group("sub").create_array("b", shape=(9,), chunks=(4,), dtype="<i2")
    b[:] = np.arange(9)
    return folder


class Writing:
    """Exports of one dataset to a bucket of its own."""

    def __init__(self, server: ObjectServer, source: Path, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.bucket = server.new_bucket()
        self.dataset = self.open(source)

    def open(self, source: Path) -> Dataset:
        return open_dataset(
            OpenRequest(str(source), storage_options=tuple(self.server.settings(self.bucket)))
        )

    def url(self, name: str) -> str:
        return f"{self.bucket}/{name}"

    def export(self, name: str, kind: str, token: CancelToken | None = None, **asked: object) -> ExportReport:
        request = ExportRequest(self.url(name), kind, **asked)  # type: ignore[arg-type]
        return run_export(self.dataset, request, JobControl(token) if token else None)

    def in_folder(self, kind: str, **asked: object) -> dict[str, bytes]:
        """Return the files that the same export makes in a folder."""
        target = self.folder / f"local-{kind}"
        run_export(self.dataset, ExportRequest(str(target), kind, force=True, **asked))  # type: ignore[arg-type]
        return files_of(target)

    def objects(self, name: str) -> dict[str, bytes]:
        return self.server.objects(self.url(name))


def files_of(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def writing(server: ObjectServer, source: Path, folder: Path, patch: pytest.MonkeyPatch) -> Writing:
    patch.setenv("XDG_STATE_HOME", str(folder / "state"))
    for name, value in server.environment.items():
        patch.setenv(name, value)
    return Writing(server, source, folder)


@pytest.fixture
def s3(
    s3_server: ObjectServer, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Writing]:
    made = writing(s3_server, source, tmp_path, monkeypatch)
    yield made
    made.dataset.session.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["s3", "gs", "abfs"])
def test_stores_have_the_objects_of_folders(
    scheme: str,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    made = writing(request.getfixturevalue(f"{scheme}_server"), source, tmp_path, monkeypatch)
    for kind in KINDS if scheme == "s3" else ("zarr-v3",):
        report = made.export(f"{kind}.zarr", kind)
        assert made.objects(f"{kind}.zarr") == made.in_folder(kind)
        assert report.verified == report.chunks == 9
    # Over what is there it is made aside, and copied.
    report = made.export("zarr-v3.zarr", "zarr-v3", force=True)
    assert (report.verified, made.objects("zarr-v3.zarr")) == (9, made.in_folder("zarr-v3"))
    # A complete one is compared with its source.
    assert made.export("zarr-v3.zarr", "zarr-v3", resume=True).verified == 9
    assert not list((tmp_path / "state" / "refbrowser" / "exports").iterdir())
    made.dataset.session.close()


@pytest.mark.slow
def test_xarray_reads_what_was_written(s3: Writing) -> None:
    import xarray

    made = s3
    made.export("x.zarr", "zarr-v3", options=StoreOptions(shards=Sides.from_text("20,20")))
    options = {"key": "x", "secret": "y", "endpoint_url": made.server.endpoint}
    found = xarray.open_zarr(made.url("x.zarr"), storage_options=options, consolidated=False)
    # It masks the fill value of the source, which is of Zarr v2, too.
    wanted = np.arange(600, dtype="f4").reshape(20, 30)
    wanted[0, 0] = np.nan
    assert np.array_equal(found["a"].values, wanted, equal_nan=True)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["s3", "gs", "abfs"])
def test_other_software_checks_what_was_written(
    scheme: str,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    made = writing(request.getfixturevalue(f"{scheme}_server"), source, tmp_path, monkeypatch)
    asked = ExportRequest(made.url("x.zarr"), "nczarr")
    run_export(made.dataset, asked)
    report = check_export(made.dataset, asked)
    assert report.is_equal
    assert {item.path for item in report.items if item.what == "values"} == {"/a", "/sub/b"}
    assert [program.name for program in report.programs] == ["zarr-python"]
    assert "netCDF4 does not read from object stores" in report.notes[0]
    made.server.put(made.url("x.zarr/sub/b/0"), made.server.get(made.url("x.zarr/sub/b/1")))
    assert not check_export(made.dataset, asked).is_equal
    made.dataset.session.close()


@pytest.mark.slow
def test_reference_documents_in_buckets(s3: Writing) -> None:
    import fsspec

    s3.export("store.zarr", "zarr-v2")
    settings = tuple(s3.server.settings(s3.bucket))
    with open_dataset(OpenRequest(s3.url("store.zarr"), storage_options=settings)) as dataset:
        for name, kind in (
            ("doc.json", "refs-v1"),
            ("old.json.zst", "refs-v0"),
            ("tables.parq", "refs-parquet"),
        ):
            local = s3.folder / name
            run_export(dataset, ExportRequest(str(local), kind))
            is_folder = local.is_dir()
            expected = (
                files_of(local) if is_folder else {s3.url(name).removeprefix("s3://"): local.read_bytes()}
            )
            for force in (False, True):
                report = run_export(dataset, ExportRequest(s3.url(name), kind, force=force))
                assert not any("it names files on this computer" in str(loss) for loss in report.losses)
                assert s3.objects(name) == expected
            with pytest.raises(RefbrowserError, match="exists already"):
                run_export(dataset, ExportRequest(s3.url(name), kind))
            request = OpenRequest(s3.url(name), storage_options=settings)
            if is_folder:
                # Taken for a store it would have no chunks, which read as fill values.
                with pytest.raises(RefbrowserError, match="the parquet form"):
                    open_dataset(request)
                continue
            with open_dataset(request) as opened:
                assert opened["/sub/b"][:].tolist() == list(range(9))
    options = {"key": "x", "secret": "y", "endpoint_url": s3.server.endpoint}
    document = fsspec.filesystem(
        "reference",
        fo=s3.url("doc.json"),
        target_options=options,
        remote_protocol="s3",
        remote_options=options,
        simple_templates=False,
    )
    assert document.cat("a/1.2") == s3.server.get(s3.url("store.zarr/a/1.2"))
    # What lies on this computer nobody else reads.
    report = s3.export("local.json", "refs-v1")
    assert any("it names files on this computer" in str(loss) for loss in report.losses)


@pytest.mark.slow
def test_what_is_there_is_replaced_with_force_alone(s3: Writing) -> None:
    foreign = {"notes.txt": b"mine", "a/readme.md": b"mine", "figures/1.png": b"mine"}
    for name, objects in {"other": foreign, "file": {}}.items():
        s3.server.put_all(s3.url(name), objects)
    s3.server.put(s3.url("file"), b"an object")
    for force in (False, True):
        for name in ("other", "file"):
            with pytest.raises(RefbrowserError, match=r"exists already|without a dataset"):
                s3.export(name, "zarr-v3", force=force)
    assert s3.objects("other") == foreign
    # Of a dataset what is not its own stays, all else goes: also chunks that the new one has not.
    s3.export("store", "zarr-v2")
    s3.server.put_all(s3.url("store"), foreign)
    with pytest.raises(RefbrowserError, match="exists already"):
        s3.export("store", "zarr-v3")
    only = (ArrayChoice.of(s3.dataset, "/sub/b"),)
    s3.export("store", "zarr-v3", force=True, arrays=only)
    assert s3.objects("store") == s3.in_folder("zarr-v3", arrays=only) | foreign
    with pytest.raises(RefbrowserError, match="whole bucket"):
        run_export(s3.dataset, ExportRequest(f"{s3.bucket}/", "zarr-v3"))
    for kind in ("parquet", "awkward0", "ncstream"):
        with pytest.raises(RefbrowserError, match=r"cannot be written to a URL|arrays? |values"):
            s3.export("other.file", kind)


class Ended(Exception):
    pass


@pytest.mark.slow
def test_an_unfinished_store_is_none_and_is_gone_on_with(
    s3: Writing, monkeypatch: pytest.MonkeyPatch
) -> None:
    local, written = s3.in_folder("zarr-v3"), []
    put = bucket.Bucket.put

    def ending(self: bucket.Bucket, key: str, *given: object, **how: object) -> object:
        if JOURNAL in key:
            return put(self, key, *given, **how)  # type: ignore[arg-type]
        if len(written) == ends:
            raise Ended
        written.append(key.removeprefix(f"{self_key}/"))
        return put(self, key, *given, **how)  # type: ignore[arg-type]

    self_key = "x.zarr"
    monkeypatch.setattr(bucket.Bucket, "put", ending)
    # Each put after the mark may be the last one, but for chunks in the middle.
    count = len(local) + 1
    for ends in (1, 5, count - 1):
        written.clear()
        with pytest.raises(Ended):
            s3.export("x.zarr", "zarr-v3")
        found = s3.objects("x.zarr")
        assert "zarr.json" not in found
        assert {key for key in found if not key.startswith(JOURNAL)} == {MARK, *written}
        request = ExportRequest(s3.url("x.zarr"), "zarr-v3", resume=True)
        assert estimate_export(s3.dataset, request).leftover is Leftover.SAME
        # Another computer knows nothing of it.
        journal = partial_of(request.target)
        hidden = journal.with_name("hidden")
        journal.rename(hidden)
        for resume in (False, True):
            with pytest.raises(RefbrowserError, match="another export is writing this target, or was inter"):
                s3.export("x.zarr", "zarr-v3", resume=resume)
        if ends == 5:
            # Told that the first one has ended, it goes on with the copy of the journal.
            request = replace(request, force=True)
            # What nobody went on with for a year is forgotten.
            os.utime(hidden / NAME, (0, time.time() - 365 * 86400))
        else:
            hidden.rename(journal)
        done = [key for key in written if not key.endswith("json")]
        written.clear()
        ends = -1
        report = run_export(s3.dataset, request)
        assert report.resumed == len(done)
        assert not set(done) & set(written)
        assert s3.objects("x.zarr") == local
        assert not journal.exists()
        assert not hidden.exists()
        s3.server.files.rm(s3.url("x.zarr"), recursive=True)
    # Begun anew with other arrays, nothing is left of the first try.
    written.clear()
    ends = 8
    with pytest.raises(Ended):
        s3.export("x.zarr", "zarr-v3")
    ends = -1
    only = (ArrayChoice.of(s3.dataset, "/sub/b"),)
    s3.export("x.zarr", "zarr-v3", arrays=only)
    assert s3.objects("x.zarr") == s3.in_folder("zarr-v3", arrays=only)


@pytest.mark.slow
def test_what_is_replaced_stays_whole_until_all_is_there(
    s3: Writing, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.export("x.zarr", "zarr-v3", options=StoreOptions(shards=Sides.from_text("20,20")))
    s3.server.put(s3.url("x.zarr/notes/7"), b"mine")
    old, new = s3.objects("x.zarr"), s3.in_folder("zarr-v3")
    assert len(old.keys() & new.keys()) > 5
    assert all(old[key] != new[key] for key in ("a/c/0/0", "a/zarr.json"))
    real = {name: getattr(bucket.Bucket, name) for name in ("put", "copy")}
    done: list[str] = []
    ends = {"put": -1, "copy": -1}

    def ending(name: str) -> object:
        def call(self: bucket.Bucket, *given: object, **how: object) -> object:
            if ends[name] == 0:
                raise Ended
            ends[name] -= 1
            done.append(f"{name} {given[name == 'copy']}")
            return real[name](self, *given, **how)

        return call

    for name in real:
        monkeypatch.setattr(bucket.Bucket, name, ending(name))

    def outside() -> dict[str, bytes]:
        found = s3.objects("x.zarr")
        return {key: data for key, data in found.items() if not key.startswith(STAGE)}

    # The mark, the copy that shows that copies can be made, the first chunk, the last one, the first copy.
    for name, count in (("put", 0), ("copy", 0), ("put", 1), ("put", 8)):
        ends[name] = count
        with pytest.raises(Ended):
            s3.export("x.zarr", "zarr-v3", force=True)
        assert outside() == old, (name, count)
        with pytest.raises(RefbrowserError, match=r"exists already|differ from"):
            s3.export("x.zarr", "zarr-v3", resume=True)
        ends[name] = -1
    for name, count in (("copy", 3), ("put", 2), ("put", 3)):
        ends[name] = count
        with pytest.raises(Ended):
            s3.export("x.zarr", "zarr-v3", force=True, resume=True)
        # What is of two datasets is none, and is marked.
        found = s3.objects("x.zarr")
        assert "zarr.json" not in found
        assert STAGE + MARK in found
        ends[name] = -1
    done.clear()
    report = s3.export("x.zarr", "zarr-v3", force=True, resume=True)
    assert report.resumed == 9
    assert not [each for each in done if each.startswith("put") and "/c/" in each]
    assert s3.objects("x.zarr") == new | {"notes/7": b"mine"}
    # Another one begun over that which never ended leaves nothing of it.
    ends["copy"] = 4
    with pytest.raises(Ended):
        s3.export("x.zarr", "zarr-v2", force=True)
    ends["copy"] = -1
    only = (ArrayChoice.of(s3.dataset, "/sub/b"),)
    s3.export("x.zarr", "zarr-v2", force=True, arrays=only)
    assert s3.objects("x.zarr") == s3.in_folder("zarr-v2", arrays=only) | {"notes/7": b"mine"}


def test_old_journals_are_forgotten_whatever_else_is_there(tmp_path: Path) -> None:
    for name, age in (("old", 365 * 86400), ("new", 0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / NAME).touch()
        os.utime(tmp_path / name / NAME, (0, time.time() - age))
    # As what another program takes away between two looks.
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    remove_forgotten(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"gone", "new"}


def test_only_lines_of_a_journal_are_taken_from_elsewhere() -> None:
    entry = {"key": "a/0", "size": 1, "sha256": "x", "values": None, "array": "/a", "place": [1, "t", True]}
    good = [{"fingerprint": "f"}, entry, {"dropped": "a/0"}]
    bad = [5, [], {"fingerprint": 1}, {"pid": 7}, entry | {"size": "1"}, entry | {"place": [1, "t"]}]
    bad += [entry | {"values": 3}, {"key": "a/0"}]
    lines = [json.dumps(line) for line in (good[0] | {"pid": 7}, *bad, *good[1:])] + [
        '{"key": "a',
        "[" * 9000,
    ]
    found = checked_lines("\n".join(lines).encode())
    assert [json.loads(line) for line in found.splitlines()] == good
    # Of what these are nobody knows: a part of the copy is not listed yet, or is lost.
    found = checked_lines("\n".join(map(json.dumps, [entry, *good])).encode())
    assert [json.loads(line) for line in found.splitlines()] == good
    assert not checked_lines(json.dumps(entry).encode()).strip()


@pytest.mark.slow
def test_faults_between_us_and_the_store(s3: Writing, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket, "LIMITS", replace(bucket.LIMITS, http_wait_start=0.001))
    local = s3.in_folder("zarr-v2")
    with object_proxy(s3.server.endpoint) as (proxy, endpoint):
        settings = tuple(s3.server.settings(s3.bucket, endpoint=endpoint))
        with open_dataset(OpenRequest(str(source), storage_options=settings)) as dataset:
            faults = ("503", "reset", "lost", "cut")
            for number in range(2):
                # Every request fails once, each in another way, and the next time in one more.
                proxy.faults = lambda method, path, before, number=number: (
                    "" if before % 2 else faults[(crc32(path.partition(".zarr")[2].encode()) + number) % 4]
                )
                run_export(dataset, ExportRequest(s3.url(f"{number}.zarr"), "zarr-v2"))
                assert s3.objects(f"{number}.zarr") == local
            # What was listed is stale: each object is asked for by itself.
            proxy.faults = lambda *_: ""
            listed = bucket.Bucket.objects
            monkeypatch.setattr(bucket.Bucket, "objects", lambda self, prefix: iter(()))
            run_export(dataset, ExportRequest(s3.url("stale.zarr"), "zarr-v2"))
            assert s3.objects("stale.zarr") == local
            monkeypatch.setattr(bucket.Bucket, "objects", listed)
            # A store that never recovers ends it; what it refuses is not tried again.
            proxy.faults = lambda method, path, before: "403" if "/a/0.0" in path else ""
            with pytest.raises(RefbrowserError, match="refuses to write") as told:
                run_export(dataset, ExportRequest(s3.url("no.zarr"), "zarr-v2"))
            assert told.value.kind is ErrorKind.SOURCE
            assert sum("no.zarr/a/0.0" in path for _, path in proxy.seen) == 1
            proxy.faults = lambda method, path, before: "503" if "/a/0.1" in path else ""
            with pytest.raises(RefbrowserError, match="after 10 tries"):
                run_export(dataset, ExportRequest(s3.url("never.zarr"), "zarr-v2"))
            assert ".zgroup" not in s3.objects("never.zarr")


@pytest.mark.slow
def test_a_damaged_object_is_found(s3: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    confirmed = BucketPlace.confirmed

    def damage(self: BucketPlace, entries: list[Written]) -> frozenset[str]:
        s3.server.put(s3.url("x.zarr/a/1.1"), s3.server.get(s3.url("x.zarr/a/1.1"))[:-1] + b"?")
        return confirmed(self, entries)

    monkeypatch.setattr(BucketPlace, "confirmed", damage)
    with pytest.raises(RefbrowserError, match=r"1 of 9 chunks differ from the source: 'a/1\.1'"):
        s3.export("x.zarr", "zarr-v2")
    monkeypatch.setattr(BucketPlace, "confirmed", confirmed)
    assert s3.export("x.zarr", "zarr-v2", resume=True).resumed == 8
    assert s3.objects("x.zarr") == s3.in_folder("zarr-v2")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["s3", "gs", "abfs"])
def test_large_objects_go_in_parts(
    scheme: str,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    made = writing(request.getfixturevalue(f"{scheme}_server"), source, tmp_path, monkeypatch)
    # What S3 takes at least; of resumable uploads parts are of a multiple of 256 KiB.
    part = 5 << 20 if scheme == "s3" else 256 << 10
    monkeypatch.setattr(bucket, "PART", part)
    monkeypatch.setattr(bucket_calls, "_COPIED", part)
    place = BucketPlace.of(made.url("x.zarr"), made.dataset.access)
    data = np.random.default_rng(1).bytes(2 * part + part // 3)
    sent: list[int] = []
    send = bucket.Bucket._send

    def counted(self: bucket.Bucket, upload: bucket_calls.Upload, some: bytes) -> None:
        sent.append(len(some))
        send(self, upload, some)

    monkeypatch.setattr(bucket.Bucket, "_send", counted)
    size, tag, is_confirmed = place.write("a/0", [data[:100], memoryview(data)[100:]], len(data))
    assert (size, sent, is_confirmed) == (len(data), [part, part, part // 3], True)
    assert made.server.get(made.url("x.zarr/a/0")) == data
    assert place.stored("a/0", [size]).read_at(size - 5, 9) == data[-5:]
    copied = place.bucket.copy("x.zarr/a/0", "y/0", size)
    assert made.server.get(made.url("y/0")) == data
    if scheme == "s3":
        assert tag[-3:] == copied.tag[-3:] == '-3"'
        end, lost = bucket_calls.S3Calls.end, [True]

        async def ended(self: bucket_calls.S3Calls, upload: bucket_calls.Upload) -> bucket_calls.ObjectFacts:
            facts = await end(self, upload)
            if lost:
                lost.clear()
                raise ConnectionError("the answer is lost")
            return facts

        # It is copied once more, though nothing is left to be given up.
        monkeypatch.setattr(bucket_calls.S3Calls, "end", ended)
        monkeypatch.setattr(bucket, "wait_before", lambda *_: 0.0)
        place.bucket.copy("x.zarr/a/0", "y/0", size)
        assert not lost
    # What was sent in parts and is copied at once has another tag, and the same bytes.
    monkeypatch.setattr(bucket_calls, "_COPIED", 64 << 20)
    place._at = STAGE
    place._replace([Written("b/0", size, "", None, "/b", place.write("b/0", [data], size))])
    assert made.server.get(made.url("x.zarr/b/0")) == data
    # A source that has become longer or shorter leaves no object, and nothing that is paid for.
    for wrong in (len(data) + 1, len(data) - 1):
        with pytest.raises(RefbrowserError, match="has not the"):
            place.write("a/1", [data], wrong)
    assert set(made.objects("x.zarr")) == {"a/0", "b/0", STAGE + "b/0"}
    assert place.bucket._tried("", lambda _: place.bucket._calls.abandoned("x.zarr")) == []
    made.dataset.session.close()


@pytest.mark.slow
def test_workers_write_as_long_as_it_is_wanted(s3: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket_place, "_LOOK", -1.0)
    s3.server.put(s3.url("there/zarr.json"), b"{}")
    for name, at in (("x", ""), ("there", STAGE)):
        client, worker = (BucketPlace.of(s3.url(name), s3.dataset.access) for _ in range(2))
        client.open(resume=False)
        with closing(Journal(client.partial, "this export")):
            with client.hosting("one"):
                worker.join("one", "this export")
                assert worker.is_joined
                worker.write("a/0", [b"1"], 1)
                for run, fingerprint in (("two", "this export"), ("one", "another")):
                    other = BucketPlace.of(s3.url(name), s3.dataset.access)
                    with pytest.raises(RefbrowserError, match="cannot write the target"):
                        other.join(run, fingerprint)
            assert not worker.is_joined
        client.leave()
        left = {key for key in s3.objects(name) if JOURNAL not in key}
        assert left - {"zarr.json"} == {at + MARK, at + "a/0"}


@pytest.mark.slow
def test_workers_write_without_opening(s3: Writing) -> None:
    places = [BucketPlace.of(s3.url("x"), s3.dataset.access) for _ in range(4)]
    chunks = {f"a/{number}": bytes([number]) * 1000 for number in range(24)}

    def work(number: int) -> None:
        for key, data in list(chunks.items())[number * 4 :] + list(chunks.items())[: number * 4]:
            places[number].write(key, [data], len(data))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert s3.objects("x") == chunks


@pytest.mark.slow
def test_cancelling_ends_waits_and_requests(s3: Writing, source: Path) -> None:
    with object_proxy(s3.server.endpoint) as (proxy, endpoint):
        settings = tuple(s3.server.settings(s3.bucket, endpoint=endpoint))
        with open_dataset(OpenRequest(str(source), storage_options=settings)) as dataset:
            token = CancelToken()

            def faults(method: str, path: str, before: int) -> str:
                if "/a/" not in path:
                    return ""
                threading.Timer(0.05, token.cancel).start()
                return "503"

            proxy.faults = faults
            with pytest.raises(Cancelled):
                run_export(dataset, ExportRequest(s3.url("x.zarr"), "zarr-v2"), JobControl(token))
        assert s3.export("x.zarr", "zarr-v2", resume=True).verified == 9


@pytest.mark.slow
def test_no_credentials_are_written_anywhere(s3: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BucketPlace, "finish", lambda self, *, force: None)
    s3.export("x.zarr", "zarr-v3")
    texts = list(files_of(s3.folder / "state").values()) + list(s3.objects("x.zarr").values())
    assert len(texts) > 10
    secrets = [value.encode() for value in s3.server.environment.values()]
    assert not any(secret in text for text in texts for secret in secrets)


@pytest.mark.long
def test_a_killed_program_is_gone_on_with(s3: Writing, source: Path) -> None:
    local = s3.in_folder("zarr-v3")
    environment = {**os.environ, "XDG_STATE_HOME": str(s3.folder / "state")}
    with object_proxy(s3.server.endpoint) as (proxy, endpoint):
        settings = s3.server.settings(s3.bucket, endpoint=endpoint)
        options = [part for text in settings for part in ("--storage-option", text)]
        command = [sys.executable, "-m", "refbrowser", "export", str(source), s3.url("x.zarr")]
        command += ["--to", "zarr-v3", "--resume", *options]
        for ends in (1, 4, 9, 3):
            process = subprocess.Popen(command, env=environment)
            proxy.faults = killing(process, ends)
            assert process.wait(60) == -signal.SIGKILL
            assert "zarr.json" not in s3.objects("x.zarr")
        proxy.faults = lambda *_: ""
        subprocess.run(command, env=environment, check=True, timeout=60)
    assert s3.objects("x.zarr") == local


def killing(process: subprocess.Popen[bytes], ends: int) -> Faults:
    """Kill a program with the request that writes so many objects of it."""
    puts: list[str] = []

    def faults(method: str, path: str, before: int) -> str:
        puts.extend([path] if method == "PUT" else [])
        if len(puts) == ends:
            process.kill()
        return ""

    return faults
