from __future__ import annotations

import gzip
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.references import OpenProgress, document_chunks, hierarchy_of, open_references
from refbrowser.formats.sniffing import looks_like_references
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.references.edits.edits import SetReference

PACKERS: dict[str, Any] = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}


def many(count: int) -> bytes:
    refs = {
        f"t/{row // 100}.{row % 100}": ["s3://bucket/some/file.nc", row * 1000, 1000] for row in range(count)
    }
    return json.dumps({"version": 1, "refs": refs}).encode()


@pytest.mark.parametrize("suffix", list(PACKERS))
def test_opens_packed_files_and_gives_their_bytes_back(tmp_path: Path, suffix: str) -> None:
    text = b'{"version": 1, "refs": {"a": "x"}}'
    path = tmp_path / f"doc.json{suffix}"
    path.write_bytes(PACKERS[suffix](text))
    document = open_references(path)
    assert document.to_bytes() == text
    assert b"".join(document_chunks(document)) == path.read_bytes()
    assert b"".join(document_chunks(document, path)) == path.read_bytes()
    changed = document.apply(SetReference("b", "y"))
    saved = b"".join(document_chunks(changed, path))
    assert open_references(saved).to_bytes() == changed.to_bytes() == text[:-2] + b', "b": "y"}}'
    for other in PACKERS:
        saved = b"".join(document_chunks(changed, tmp_path / f"other.json{other}"))
        assert open_references(saved).to_bytes() == changed.to_bytes()


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_packed_file_that_ends_early_is_an_error(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "doc"
    path.write_bytes(PACKERS[suffix](many(2000))[:-20])
    with pytest.raises(RefbrowserError) as caught:
        open_references(path)
    assert caught.value.kind in (ErrorKind.FORMAT, ErrorKind.JSON)


def test_members_of_gzip_follow_one_another() -> None:
    text = many(10)
    assert open_references(gzip.compress(text[:100]) + gzip.compress(text[100:])).to_bytes() == text


@pytest.mark.slow
@pytest.mark.parametrize("suffix", list(PACKERS))
def test_first_rows_come_before_the_rest(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "doc.json"
    path.write_bytes(PACKERS[suffix](many(60_000)))
    reports: list[OpenProgress] = []
    document = open_references(path, progress=reports.append)
    [first] = [report.first for report in reports if report.first is not None]
    assert 1000 < len(first) < 60_000
    assert first.keys(range(1000)) == document.refs.keys(0, 1000)
    assert first.urls == ("s3://bucket/some/file.nc",)
    assert [report.rows for report in reports] == sorted(report.rows for report in reports)
    assert reports[-1].bytes_read == reports[-1].total == path.stat().st_size


def test_opening_ends_when_it_is_cancelled() -> None:
    token = CancelToken()

    def stop(report: OpenProgress) -> None:
        token.cancel()

    with pytest.raises(Cancelled):
        open_references(many(60_000), progress=stop, cancel=token)


def test_a_large_document_asks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from refbrowser.formats import references

    monkeypatch.setattr(references, "LIMITS", replace(LIMITS, json_question=1000))
    asked: list[int] = []

    def answer(size: int) -> bool:
        asked.append(size)
        return len(asked) > 1

    with pytest.raises(RefbrowserError) as caught:
        open_references(many(100), confirm=answer)
    assert caught.value.kind is ErrorKind.BUDGET
    open_references(many(100), confirm=answer)
    assert asked == [len(many(100))] * 2


def test_limits_of_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from refbrowser.references.content import reader, table

    data = many(100)
    for name, module, limit in (("json_size", reader, len(data)), ("references", table, 100)):
        for size, fine in ((limit - 1, False), (limit, True), (limit + 1, True)):
            monkeypatch.setattr(module, "LIMITS", replace(LIMITS, **{name: size}))
            if fine:
                open_references(data)
                continue
            with pytest.raises(RefbrowserError) as caught:
                open_references(data)
            assert caught.value.kind is ErrorKind.BUDGET
        monkeypatch.undo()


def test_nothing_of_the_file_is_needed_after_opening(tmp_path: Path) -> None:
    path = tmp_path / "doc.json"
    data = many(60_000)
    path.write_bytes(data)
    document = open_references(path)
    path.write_bytes(b"")
    assert document.to_bytes() == data


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(RefbrowserError) as caught:
        open_references(tmp_path / "none.json")
    assert caught.value.kind is ErrorKind.IO
    with pytest.raises(RefbrowserError) as caught:
        open_references(tmp_path)
    assert caught.value.kind is ErrorKind.FORMAT


def test_what_looks_like_references() -> None:
    assert looks_like_references(b'\xef\xbb\xbf \n{"a"')
    assert looks_like_references(gzip.compress(b"{}"))
    assert not looks_like_references(b"CDF\x01")
    assert not looks_like_references(b"[]")


ARRAY = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i2", "order": "C", "compressor": None}
ARRAY |= {"filters": None, "fill_value": 0}


def test_hierarchy_and_manifest() -> None:
    refs = {
        ".zgroup": {"zarr_format": 2},
        "a/.zarray": ARRAY,
        "a/1": ["u", 4, 4],
        "b/.zarray": ["other.json"],
    }
    document = open_references(json.dumps({"version": 1, "refs": refs}).encode())
    hierarchy = hierarchy_of(document)
    assert hierarchy.format == "refs-v1"
    node = hierarchy.find("/a")
    assert isinstance(node, ArrayNode)
    assert node.manifest.key((1,)) == "a/1"
    assert node.manifest.kinds().tolist() == [ReferenceKind.MISSING, ReferenceKind.RANGE]
    assert node.manifest.stored() == 1
    assert node.manifest.columns(np.array([[1]])).offset.tolist() == [4]
    other = hierarchy.find("/b")
    assert isinstance(other, ArrayNode)
    assert other.error is not None
    assert other.error.kind is ErrorKind.BLOCKED
    known = hierarchy_of(document, {"b/.zarray": json.dumps(ARRAY).encode()}).find("/b")
    assert isinstance(known, ArrayNode)
    assert known.shape == (4,)


@pytest.mark.slow
def test_slow_reading_lets_other_threads_run() -> None:
    """A worker that reads exactly gives way: another thread is never kept waiting for long."""
    text = json.dumps({"version": 1, "refs": {f"k{row}": {"object": row} for row in range(30_000)}}).encode()
    gaps: list[float] = []
    done = threading.Event()
    worker = threading.Thread(target=lambda: (open_references(text), done.set()))
    import time

    worker.start()
    last = time.perf_counter()
    while not done.is_set():
        time.sleep(0.005)
        now = time.perf_counter()
        gaps.append(now - last)
        last = now
    worker.join()
    assert sorted(gaps)[len(gaps) // 2] < 0.05
