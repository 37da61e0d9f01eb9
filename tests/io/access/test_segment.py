"""Buffers whose size a file or a server gave."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from reading import Reading, columns, pattern

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access import segment
from refbrowser.io.access.access import Access
from refbrowser.io.fetching.fetch import Fetcher

DATA = pattern(10_000_000)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have memory for buffers of up to 1000 bytes."""

    def empty(size: int, dtype: type[np.uint8]) -> npt.NDArray[np.uint8]:
        if size > 1000:
            raise MemoryError
        return np.empty(size, dtype)

    monkeypatch.setattr(segment, "np", SimpleNamespace(empty=empty, uint8=np.uint8))


def test_room_for_more_than_there_is() -> None:
    assert len(segment.room_for(1000)) == 1000
    with pytest.raises(RefbrowserError) as caught:
        segment.room_for(10**18)
    assert caught.value.kind is ErrorKind.BUDGET


ROWS = [(0, 5000), (9_000_000, 40)]


def test_a_file_that_memory_does_not_hold(tmp_path: Path, fetcher: Fetcher, little_memory: None) -> None:
    (tmp_path / "data").write_bytes(DATA)
    access = Access.for_document(tmp_path / "doc.json")
    found: dict[int, object] = {}
    plan = fetcher.plan(columns([*(("data", *row) for row in ROWS), ("data", 0, -1)]), access)
    fetcher.fetch(plan, access, lambda row, data: found.__setitem__(row, outcome(data)))
    assert found == {0: ErrorKind.BUDGET, 1: DATA[9_000_000:9_000_040], 2: ErrorKind.BUDGET}


def test_an_answer_that_memory_does_not_hold(reading: Reading, little_memory: None) -> None:
    reading.server.files["/a"] = DATA
    found = reading.fetch([*(("/a", *row) for row in ROWS), ("/a", 0, -1)])
    assert [outcome(data) for data in found.values()].count(ErrorKind.BUDGET) == 2
    assert found[1] == DATA[9_000_000:9_000_040]
    assert reading.one("/a", 7, 100) == DATA[7:107]


def outcome(data: memoryview | bytes | RefbrowserError) -> object:
    return data.kind if isinstance(data, RefbrowserError) else bytes(data)
