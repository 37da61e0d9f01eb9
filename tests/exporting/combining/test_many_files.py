"""Very many files on a regular axis: work is proportional to them, and memory below 100 bytes a chunk."""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from daily_documents import document

from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import gather, plan_of
from refbrowser.exporting.combining.combined import combined_document
from refbrowser.exporting.combining.file_set import FileSet
from refbrowser.exporting.combining.properties import FileChunks, ScannedSource, smallest

CHUNKS = 50


def request_of(path: Path) -> Combination:
    return Combination(sources=(str(path),), target="x.json", axis=("time=::1D",))


def files_of(path: Path, count: int) -> FileSet:
    """Return what is found in so many files of 50 chunks each, of which each 50th is missing."""
    request = request_of(document(path / "one.json", np.arange(CHUNKS)))
    (one,) = gather(request).files
    files = FileSet(request.looking())
    rows = sum(one.chunks.counts)
    offsets = 4096 + 1000 * np.arange(rows)
    for number in range(count):
        if number % 50 == 7:
            continue
        url = f"/archive/run/f{number:06d}.nc"
        columns = None, smallest(offsets), smallest(np.full(rows, 900))
        chunks = FileChunks((url,), one.chunks.counts, *columns)
        times = np.arange(CHUNKS, dtype="i4") + number * CHUNKS
        files.add(ScannedSource(url, one.arrays, one.groups, chunks, {"/time": times}))
    return files


def calls(path: Path, count: int) -> int:
    """Return how many functions are called to plan so many files."""
    files, request = files_of(path, count), request_of(path / "one.json")
    found = 0

    def counted(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        plan = plan_of(files, request)
    finally:
        sys.setprofile(None)
    assert [hole.count for hole in plan.holes] == [count // 50 * CHUNKS]
    return found


@pytest.mark.slow
def test_twice_the_files_take_twice_the_steps(tmp_path: Path) -> None:
    calls(tmp_path, 100)
    assert calls(tmp_path, 2_000) < 2.2 * calls(tmp_path, 1_000)


def peak(path: Path, count: int) -> int:
    """Return the bytes that files and their document take at most."""
    tracemalloc.start()
    try:
        files = files_of(path, count)
        plan = plan_of(files, request_of(path / "one.json"))
        del files
        assert combined_document(plan).expansion.rows > count * CHUNKS * 0.9
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_a_chunk_takes_less_than_a_hundred_bytes(tmp_path: Path) -> None:
    # What is added together, of 2^18 chunks at a time, is there with few files too.
    few, many = (peak(tmp_path, count) for count in (6_000, 12_000))
    assert (many - few) / (6_000 * CHUNKS) < 100
