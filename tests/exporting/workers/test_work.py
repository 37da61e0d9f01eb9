"""Exports by workers: the same files whoever makes them, few batches, one line where something is wrong."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Executor as PythonExecutor
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

import refbrowser
from refbrowser.engine import compute, frozen_dataset
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.workers import peers
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.exporting import folder as folders
from refbrowser.exporting.blocks import TASK_OBJECTS
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.journal import NAME, Written, fingerprint_of
from refbrowser.exporting.option_fields import Sides
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.request import ExportRequest
from refbrowser.exporting.targets.store import StoreTarget
from refbrowser.exporting.workers import export_order, team, worker
from refbrowser.exporting.workers.export_order import WorkOrder
from refbrowser.findings.finding import Finding
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.identity import ObjectIdentity

STORES = ("zarr-v2", "zarr-v3", "zarr-v3-draft", "nczarr")
SHARDS = StoreOptions(chunks=Sides((5, 10)), shards=Sides((20, 20)))


def files_of(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def make_store(path: Path) -> Path:
    """Make a store of arrays that are copied, encoded anew, partly missing, and of one element."""
    root = zarr.open_group(str(path), mode="w", zarr_format=2)
    values = np.arange(40 * 60, dtype="<f4").reshape(40, 60)
    root.create_array("a", shape=(40, 60), chunks=(5, 10), dtype="<f4")[...] = values
    root.create_array("b", shape=(40, 60), chunks=(7, 13), dtype="<i2", fill_value=-1)[:20] = values[:20]
    root.create_array("one", shape=(), dtype="<i4")[...] = 7
    root.create_group("g").create_array("c", shape=(200,), chunks=(3,), dtype="u1")[...] = 5
    return path


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_store(tmp_path_factory.mktemp("source") / "s.zarr")


@pytest.fixture(scope="module")
def threads() -> Iterator[PythonExecutor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


@pytest.fixture
def dataset(source: Path) -> Iterator[Dataset]:
    with refbrowser.open(source) as opened:
        yield opened


@pytest.mark.slow
def test_the_same_files_whoever_makes_them(dataset: Dataset, tmp_path: Path, threads: PythonExecutor) -> None:
    with ProcessPoolExecutor(2) as processes:
        for format, options in [*((each, None) for each in STORES), ("zarr-v3", SHARDS)]:
            reports = {}
            for name, client in (("here", None), ("threads", threads), ("processes", processes)):
                reports[name] = refbrowser.export(
                    dataset, tmp_path / name, format=format, options=options, client=client, force=True
                )
            made = {name: files_of(tmp_path / name) for name in reports}
            assert made["here"] == made["threads"] == made["processes"], format
            one = replace(reports["here"], target="")
            for each in reports.values():
                # How many requests it takes is the business of who reads.
                assert replace(each, target="", requests=one.requests) == one
            assert one.verified == one.chunks > 0
            assert one.missing or options
    assert {path.name for path in tmp_path.iterdir()} == set(reports)


def test_workers_are_given_batches_and_answer_digests(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []

    class Pickling(ThreadPoolExecutor):
        def submit(self, function: Any, item: Any) -> Any:  # type: ignore[override]
            def called() -> Any:
                answer = function(pickle.loads(asked))
                given = pickle.dumps(answer)
                seen.append((len(asked), len(given)))
                return pickle.loads(given)

            asked = pickle.dumps(item)
            return super().submit(called)

    monkeypatch.setattr(worker, "_KEPT", kept := worker._Kept())
    with Pickling(2) as pool:
        refbrowser.export(dataset, tmp_path / "out", format="zarr-v2", client=pool)
    assert len(kept._opened) == 1
    assert max(asked for asked, _ in seen) < 20_000
    assert max(given for _, given in seen) < 20_000


def _arrays(*shapes: tuple[int, ...]) -> list[Any]:
    """Return what of arrays the cutting of batches looks at, of chunks of one million elements."""

    class Plan:
        def __init__(self, size: int) -> None:
            self.size = size

    class Array:
        def __init__(self, number: int, count: int) -> None:
            self.plan = type("P", (), {"tasks": Plan(count)})
            self.layout = type("L", (), {"target": type("T", (), {"path": f"/{number}"})})

    return [Array(number, int(np.prod(shape))) for number, shape in enumerate(shapes)]


@given(st.lists(st.integers(0, 30_000), max_size=20))
def test_every_task_is_in_one_batch_and_there_are_not_too_many(counts: list[int]) -> None:
    arrays = _arrays(*((count,) for count in counts))
    batches = list(team.cut(arrays, team.batch_size(arrays)))
    assert len(batches) <= team.MOST_BATCHES
    met: dict[str, int] = {}
    for span in (span for batch in batches for span in batch):
        assert span.first == met.get(span.array, 0) < span.stop
        met[span.array] = span.stop
    assert met == {f"/{number}": count for number, count in enumerate(counts) if count}


def test_ten_million_chunks_are_ten_thousand_batches(tmp_path: Path) -> None:
    root = {
        "shape": [10_000, 1_000],
        "chunks": [1, 1],
        "dtype": "<f8",
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
        "zarr_format": 2,
    }
    for side in (1, 2048):
        scaled = root | {"shape": [10_000 * side, 1_000 * side], "chunks": [side, side]}
        document = {"version": 1, "refs": {".zgroup": '{"zarr_format":2}', "a/.zarray": json.dumps(scaled)}}
        (path := tmp_path / "d.json").write_text(json.dumps(document))
        with refbrowser.open(path) as dataset:
            target: Any = StoreTarget(dataset, ExportRequest(str(tmp_path / "out"), "zarr-v2"))
            target.split(team.task_objects(10**7))
            arrays = [each for each in target.exports if each.layout.source.path == "/a"]
            assert arrays[0].layout.grid.size == 10**7
            batches = list(team.cut(arrays, team.batch_size(arrays)))
        assert 1000 < len(batches) <= 10_000
        assert sum(len(pickle.dumps(batch)) for batch in batches) < 3_000_000


@given(st.lists(st.sampled_from([0, 1, 1000, 17 << 20, 1 << 30]), max_size=300), st.sampled_from([1, 400]))
def test_every_object_is_read_again_in_one_batch(sizes: list[int], times: int) -> None:
    entries = [Written(str(number), size, "", None, "/a") for number, size in enumerate(sizes * times)]
    batches = list(team.gathered(entries))
    assert [entry for batch in batches for entry in batch] == entries
    assert len(batches) <= team.MOST_BATCHES + 1


def test_two_in_a_hundred_are_lost_with_four_workers_at_most() -> None:
    for count in (10_000, 10**5, 10**6):
        assert 4 * team.task_objects(count) <= 0.02 * count
    assert team.task_objects(10**8) == TASK_OBJECTS


class _Killed(ThreadPoolExecutor):
    """An executor whose program dies after some answers."""

    def __init__(self, after: int) -> None:
        super().__init__(1)
        self.left = after

    def submit(self, function: Any, item: Any) -> Any:  # type: ignore[override]
        if not self.left:
            raise RuntimeError("killed")
        self.left -= 1
        return super().submit(function, item)


@pytest.mark.slow
def test_what_is_journaled_is_not_read_again(
    dataset: Dataset, tmp_path: Path, threads: PythonExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "_LEAST", 1)
    whole = refbrowser.export(dataset, tmp_path / "whole", format="zarr-v2")
    with _Killed(after=20) as killed, pytest.raises(RefbrowserError) as info:
        refbrowser.export(dataset, tmp_path / "out", format="zarr-v2", client=killed)
    assert info.value.kind is ErrorKind.SOURCE
    partial = folders.partial_of(str(tmp_path / "out"))
    assert not list(partial.glob(f"{folders.RUN}*"))
    assert not (tmp_path / "out").exists()
    report = refbrowser.export(dataset, tmp_path / "out", format="zarr-v2", client=threads, resume=True)
    assert report.resumed >= 15
    assert report.chunks == whole.chunks
    assert report.read_bytes <= whole.read_bytes * (1 - report.resumed / whole.chunks) + 1
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_a_bad_chunk_costs_itself(source: Path, tmp_path: Path, threads: PythonExecutor) -> None:
    bad = shutil.copytree(source, tmp_path / "bad.zarr")
    for key in ("a/1.1", "a/7.5", "b/0.0"):
        (bad / key).write_bytes(b"nothing that can be decoded")
    with refbrowser.open(bad) as dataset:
        told = []
        for client in (None, threads):
            with pytest.raises(RefbrowserError) as info:
                refbrowser.export(dataset, tmp_path / "out", format="zarr-v3", client=client)
            told.append(info.value.kind)
            reports = refbrowser.export(
                dataset, tmp_path / f"o{len(told)}", format="zarr-v3", client=client, skip_bad=True
            )
            assert sorted(error.place.key or "" for error in reports.skipped) == ["a/1.1", "a/7.5", "b/0.0"]
        assert told == [ErrorKind.DECODE] * 2
        assert files_of(tmp_path / "o1") == files_of(tmp_path / "o2")


def test_cancelling_ends_it_and_it_can_be_gone_on_with(
    dataset: Dataset, tmp_path: Path, threads: PythonExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "_LEAST", 1)
    token = CancelToken()

    def publish(changes: dict[str, Any]) -> None:
        if changes.get("tasks", 0) >= 3:
            token.cancel()

    request = ExportRequest(str(tmp_path / "out"), "zarr-v2")
    where = compute.Compute.of(threads)
    with pytest.raises(Cancelled):
        run_export(dataset, request, JobControl(token, publish), compute=where)
    partial = folders.partial_of(request.target)
    assert (partial / NAME).is_file()
    assert not list(partial.glob(f"{folders.RUN}*"))
    told: list[dict[str, Any]] = []
    control = JobControl(publish=told.append)
    report = run_export(dataset, replace(request, resume=True), control, compute=where)
    assert report.verified == report.chunks > report.resumed > 0
    assert told[-1]["done"] == told[-1]["total"]


def test_what_one_process_makes_is_made_here_and_said(dataset: Dataset, tmp_path: Path) -> None:
    class Nobody(PythonExecutor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            raise AssertionError("nobody is to be asked")

    where = compute.Compute.of(Nobody())
    for format, options in (
        ("ncstream", None),
        ("refs-v1", None),
        ("zarr-v2", StoreOptions(container="zip")),
    ):
        request = ExportRequest(str(tmp_path / f"out-{format}"), format, options=options)
        told: list[Any] = []
        run_export(dataset, request, told=told.append, compute=where)
        assert "one process" in told[0].here


def test_arrays_that_are_read_once_through_a_store_are_made_here(
    tmp_path: Path, threads: PythonExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    from refbrowser.exporting import blocks, chunks

    monkeypatch.setattr(
        chunks, "encode_plan", lambda layout, unit, *, most: blocks.encode_plan(layout, unit, 3000, most)
    )
    root = zarr.open_group(str(tmp_path / "s.zarr"), mode="w", zarr_format=2)
    root.create_array("a", shape=(64, 64), chunks=(1, 64), dtype="<f4")[...] = np.random.rand(64, 64)
    root.create_array("b", shape=(64, 64), chunks=(8, 8), dtype="<f4")[...] = 1
    options = StoreOptions(array_chunks={"/a": Sides((64, 1))})
    with refbrowser.open(tmp_path / "s.zarr") as dataset:
        for name, client in (("here", None), ("away", threads)):
            told = estimate_export(
                dataset,
                ExportRequest(str(tmp_path / name), "zarr-v2", options=options),
                compute=compute.Compute.of(client),
            )
            assert told.partly_here == ("1 array of chunks from an intermediate store" if client else "")
            report = refbrowser.export(
                dataset, tmp_path / name, format="zarr-v2", options=options, client=client
            )
            assert report.chunks == 128
    assert files_of(tmp_path / "here") == files_of(tmp_path / "away")


def _document(folder: Path) -> Path:
    (folder / "data.bin").write_bytes(np.arange(1000, dtype="<f4").tobytes())
    array = '{"shape":[1000],"chunks":[10],"dtype":"<f4","compressor":null,"filters":null,"fill_value":0,'
    refs: dict[str, Any] = {
        ".zgroup": '{"zarr_format":2}',
        "a/.zarray": array + '"order":"C","zarr_format":2}',
    }
    refs |= {f"a/{number}": ["{{where}}", number * 40, 40] for number in range(100)}
    document = {"version": 1, "templates": {"where": "nowhere.bin"}, "refs": refs}
    path = folder / "d.json"
    path.write_text(json.dumps(document))
    return path


def test_documents_go_as_text_or_by_their_path_with_what_was_said_of_them(
    tmp_path: Path, threads: PythonExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _document(tmp_path)
    monkeypatch.chdir(tmp_path)
    with refbrowser.open("d.json", templates={"where": "data.bin"}) as dataset:
        for limit, by_path in ((frozen_dataset.TEXT, False), (0, True)):
            monkeypatch.setattr(frozen_dataset, "TEXT", limit or 1)
            order = _order(dataset, tmp_path)
            assert (order.source.path == str(path), order.source.text is None) == (by_path, by_path)
            refbrowser.export(dataset, "out", format="zarr-v2", client=threads, force=True)
            assert zarr.open_group("out", mode="r")["a"][999] == 999.0
        # Another file under that path is not taken for the one that was opened.
        path.write_text(path.read_text().replace('"a/7"', '"a/x"'))
        assert _order(dataset, tmp_path).source.path == ""
        monkeypatch.setattr(frozen_dataset, "_is_on_disk", lambda *_: True)
        with pytest.raises(RefbrowserError, match="finds a different source"):
            refbrowser.export(dataset, "out", format="zarr-v2", client=threads, force=True)


def _order(dataset: Dataset, folder: Path) -> WorkOrder:
    request = ExportRequest(str(folder / "out"), "zarr-v2")
    return WorkOrder.of(dataset, request, run="r", most=16, fingerprint="", metadata="")


def test_permissions_and_names_of_secrets_go_along_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _document(tmp_path)
    monkeypatch.setenv("REFBROWSER_SECRET", "open sesame")
    with refbrowser.open(
        tmp_path / "d.json",
        allow=["https://there.example"],
        storage_options=["s3://bucket:profile=mine", "https://there.example:header.Token=REFBROWSER_SECRET"],
    ) as dataset:
        data = pickle.dumps(_order(dataset, tmp_path))
        access = pickle.loads(data).source.access
    assert b"open sesame" not in data
    assert b"REFBROWSER_SECRET" in data
    assert access == dataset.access
    assert access.memory is not dataset.access.memory


def test_edited_stores_are_made_here(dataset: Dataset, tmp_path: Path, threads: PythonExecutor) -> None:
    assert frozen_dataset.why_here(dataset) == ""
    moved = dataset.document.with_place(next(iter(dataset.document.places)), "/elsewhere")
    assert moved is not None
    assert "edited" in frozen_dataset.why_here(dataset.with_document(moved))


def test_each_thing_that_is_wrong_with_a_worker_is_one_line(
    dataset: Dataset, source: Path, tmp_path: Path, threads: PythonExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., Any] = frozen_dataset.open_document

    def unreadable(request: Any, **how: Any) -> Any:
        return real(replace(request, path="/not/there.zarr"), **how)

    def unseen(self: Any, run: str, fingerprint: str) -> None:
        return join(self, "another", fingerprint)

    join = folders.TargetFolder.join
    versions = peers.versions_here() | {"numcodecs": "0.0.1"}
    for owner, name, other, words, kind in (
        (frozen_dataset, "open_document", unreadable, "cannot read the source", ErrorKind.SOURCE),
        (folders.TargetFolder, "join", unseen, "cannot write the target", ErrorKind.IO),
        (
            export_order,
            "versions_here",
            iter([peers.versions_here(), versions]).__next__,
            "0.0.1",
            ErrorKind.SOURCE,
        ),
        (folders, "_write", _full, "No space left", ErrorKind.IO),
    ):
        with monkeypatch.context() as patch:
            monkeypatch.setattr(worker, "_KEPT", worker._Kept())
            patch.setattr(owner, name, other)
            if name == "versions_here":
                # The program asks first, then each worker.
                patch.setattr(export_order, name, lambda asked=[]: asked.append(1) or _versions(len(asked)))
            with pytest.raises(RefbrowserError, match=words) as info:
                refbrowser.export(dataset, tmp_path / "out", format="zarr-v2", client=threads)
        assert info.value.kind is kind
        assert info.value.kind.exit_code == 4
        assert "\n" not in str(info.value)
        assert not (tmp_path / "out").exists()
    assert refbrowser.export(dataset, tmp_path / "out", format="zarr-v2", client=threads).verified


def _versions(asked: int) -> dict[str, str]:
    return peers.versions_here() | ({"numcodecs": "0.0.1"} if asked > 1 else {})


def _full(path: Path, portions: Any) -> None:
    if folders.RUN in str(path):
        raise OSError(28, "No space left on device")
    path.write_bytes(b"".join(portions))


def test_a_run_that_is_over_is_not_written_to(dataset: Dataset, tmp_path: Path) -> None:
    request = ExportRequest(str(tmp_path / "out"), "zarr-v2")
    place = folders.TargetFolder(request.target)
    place.open(resume=False)
    with place.hosting("run"):
        (place.partial / NAME).write_text('{"fingerprint": "f"}\n')
        assert fingerprint_of(place.partial) == "f"
        late = folders.TargetFolder(request.target)
        late.join("run", "f")
        late.write("x/1", [b"ab", b"c"], 3)
        assert (place.partial / "x/1").read_bytes() == b"abc"
    assert not late.is_joined
    with pytest.raises(FileNotFoundError):
        late.write("x/2", [b"late"], 4)
    shutil.rmtree(place.partial)
    with pytest.raises(FileNotFoundError):
        late.write("y/2", [b"late"], 4)
    assert not place.partial.exists()
    place.leave()


def test_a_worker_tells_each_warning_once(dataset: Dataset, tmp_path: Path) -> None:
    request = ExportRequest(str(tmp_path / "out"), "zarr-v2")
    target = StoreTarget(dataset, request)
    place = folders.TargetFolder(request.target)
    place.open(resume=False)
    with place.hosting("run"):
        fingerprint = target.fingerprint()
        (place.partial / NAME).write_text(json.dumps({"fingerprint": fingerprint}))
        metadata = target.metadata_digest()
        order = WorkOrder.of(dataset, request, run="run", most=16, fingerprint=fingerprint, metadata=metadata)
        opened = worker._Opened(pickle.loads(pickle.dumps(order)))
        memory = opened.dataset.access.memory
        finding = Finding(severity=Severity.WARNING, kind=ErrorKind.DECODE, message="odd bytes")
        memory.warn(finding)
        assert opened.made(worker.Batch("")).warnings == (finding,)
        for tag in ("one", "other"):
            memory.identities.confirm("https://there.example/a", ObjectIdentity(7, tag, "today"))
        (varying,) = opened.made(worker.Batch("")).warnings
        assert "the entity tag varies" in varying.message
        assert opened.made(worker.Batch("")).warnings == ()
        opened.dataset.close()
    place.leave()
