"""Health of files from what reads met, each kind by its cause; words and marks of places with several."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import refbrowser
from refbrowser.engine.findings.collected_findings import failures_of
from refbrowser.engine.sources import sources_of
from refbrowser.errors import RefbrowserError
from refbrowser.io.access.access import Source
from refbrowser.tools.move.report.health import Health, health_judge, health_words, worst
from refbrowser.tools.move.report.prefix_tree import prefix_tree

ARRAY = {
    "zarr_format": 2, "shape": [6, 4], "chunks": [1, 4], "dtype": "|u1", "compressor": None, "filters": None,
    "fill_value": 0, "order": "C",
}  # fmt: skip


def test_files_are_as_reads_found_them(tmp_path: Path) -> None:
    names = ["fine", "gone", "stale", "changed", "changed", "unread"]
    for name in names:
        (tmp_path / name).write_bytes(b"12345678")
    refs = {"a/.zarray": json.dumps(ARRAY)} | {f"a/{n}.0": [name, n, 4] for n, name in enumerate(names)}
    refs["b"] = ["s3://bucket/x", 0, 4]
    path = tmp_path / "doc.json"
    path.write_text(json.dumps(refs))
    refbrowser.lock(path)
    (tmp_path / "gone").unlink()
    (tmp_path / "stale").write_bytes(b"87654321")
    with refbrowser.open(path, stale="allow") as dataset:
        for row in range(5):
            try:
                dataset["a"][row]
            except RefbrowserError:
                continue
            if row == 3:
                (tmp_path / "changed").write_bytes(b"another")
        failures = failures_of(dataset)
        judge = health_judge(dataset.access, failures)
        sources = sources_of(dataset.document)
        found = {source.url: judge(source) for source in sources}
        roots = prefix_tree(sources, health=judge)
        # The read that met it failed; what was read before may be what is shown.
        assert found["changed"] is Health.FAILED
        assert health_judge(dataset.access, [])(Source("changed")) is Health.CHANGED
    assert found["fine"] is Health.OK
    assert found["gone"] is Health.FAILED
    assert found["stale"] is Health.STALE
    assert found["unread"] is Health.UNKNOWN
    assert found["s3://bucket/x"] is Health.BLOCKED
    assert judge(Source("s3://other/", is_pattern=True)) is Health.BLOCKED
    assert judge(Source("near_", is_pattern=True)) is Health.UNKNOWN
    assert judge(Source("ftp://h/x")) is Health.FAILED
    near, bucket = roots
    assert sum(near.health.values()) == 5
    assert near.files == 5
    assert worst(near.health) is Health.FAILED
    assert health_words(bucket.health) == "needs permission"


def test_audits_tell_of_files_that_nobody_read(tmp_path: Path) -> None:
    refs = {"a/.zarray": json.dumps(ARRAY | {"shape": [7, 4]})}
    names = ["fine", "dead", "moved", "short", "odd", "unread", "gone"]
    for number, name in enumerate(names):
        (tmp_path / name).write_bytes(b"12345678")
        refs[f"a/{number}.0"] = [name, 0, 4]
    refs["b"] = ["s3://bucket/x", 0, 4]
    path = tmp_path / "doc.json"
    path.write_text(json.dumps(refs))
    asked = {
        "fine": "", "dead": "url-dead", "moved": "url-moved", "short": "range-past-end", "odd": "new-code",
        "gone": "", "s3://bucket/x": "url-credentials",
    }  # fmt: skip
    with refbrowser.open(path) as dataset:
        (tmp_path / "gone").unlink()
        with pytest.raises(RefbrowserError):
            dataset["a"][6]
        judge = health_judge(dataset.access, failures_of(dataset), asked)
        found = {source.url: judge(source) for source in sources_of(dataset.document)}
    assert found == {
        "fine": Health.OK, "dead": Health.DEAD, "moved": Health.MOVED, "short": Health.SIZE,
        "odd": Health.FAILED, "unread": Health.UNKNOWN, "gone": Health.FAILED,
        "s3://bucket/x": Health.REFUSED,
    }  # fmt: skip
    assert judge(Source("fine", is_pattern=True)) is Health.UNKNOWN


@pytest.mark.parametrize(
    ("counts", "wanted", "words"),
    [
        ({Health.OK: 3}, Health.OK, "all ok"),
        ({Health.OK: 1}, Health.OK, "ok"),
        ({Health.UNKNOWN: 9}, Health.UNKNOWN, "not looked at"),
        ({Health.BLOCKED: 9}, Health.BLOCKED, "needs permission"),
        ({Health.FAILED: 2}, Health.FAILED, "all failed"),
        ({Health.OK: 3, Health.UNKNOWN: 7}, Health.OK, "3 ok of 10"),
        ({Health.FAILED: 2, Health.CHANGED: 1, Health.OK: 7}, Health.FAILED, "2 failed, 1 changed of 10"),
        ({Health.STALE: 1, Health.BLOCKED: 1}, Health.STALE, "1 not as locked, 1 needs permission of 2"),
        ({}, Health.UNKNOWN, "not looked at"),
    ],
)
def test_a_place_is_marked_by_the_worst(counts: dict[Health, int], wanted: Health, words: str) -> None:
    assert worst(counts) is wanted
    assert health_words(counts) == words
