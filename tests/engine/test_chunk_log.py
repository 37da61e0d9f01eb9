"""The log of chunks: what was asked for, what came, how long it took; bounded, and true after edits."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from documents_made import DocumentMaker
from hypothesis import given
from hypothesis import strategies as st
from servers.http_server import Fault, HttpServer

import refbrowser
from refbrowser.engine.reading.chunk_log import ARRAYS_KEPT, ArrayLog, ChunkLog, ReadState, marks_of
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import AccessMemory
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.model.selection import Selection


def columns(*rows: tuple[str, int, int]) -> ReferenceColumns:
    urls = tuple(dict.fromkeys(url for url, _, _ in rows))
    return ReferenceColumns(
        np.full(len(rows), ReferenceKind.RANGE, np.uint8),
        np.array([urls.index(url) for url, _, _ in rows], np.int32),
        np.array([offset for _, offset, _ in rows], np.int64),
        np.array([length for _, _, length in rows], np.int64),
        urls,
    )


@given(st.lists(st.integers(1, 9), max_size=30), st.integers(4, 16))
def test_the_newest_entries_are_kept_in_order(sizes: list[int], capacity: int) -> None:
    log, told, position, seen = ArrayLog(1, capacity), 0, 0, []
    for size in sizes:
        coords = np.arange(told, told + size)[:, None]
        if size == 1:
            log.note_end(coords[0], told, 0.5)
        else:
            log.note(coords, ReadState.PENDING, coords[:, 0])
        told += size
        new = log.since(position)
        assert new.position == log.position
        position = new.position
        seen += new.marks.tolist()
        whole = log.since(0)
        assert whole.coords[:, 0].tolist() == whole.marks.tolist()
        assert len(whole) <= capacity
        assert whole.marks.tolist() == list(range(told - len(whole), told))
    assert seen == sorted(seen)


def test_more_entries_at_once_than_there_is_room() -> None:
    log = ArrayLog(2, 8)
    coords = np.arange(40).reshape(20, 2)
    log.note(coords, ReadState.PENDING, np.arange(20))
    assert log.since(0).marks.tolist() == list(range(12, 20))


def test_errors_are_kept_with_their_chunk() -> None:
    log = ArrayLog(2)
    error = RefbrowserError(ErrorKind.SOURCE, "gone")
    log.note_end(np.array([1, 2]), 7, 0.1, error)
    entries = log.since(0)
    assert entries.states.tolist() == [ReadState.FAILED]
    assert log.error((1, 2)) is error
    assert log.error((0, 0)) is None


def test_what_waits_for_permission_was_not_tried() -> None:
    log = ArrayLog(1)
    log.note(np.array([[3]]), ReadState.PENDING, np.array([7]))
    log.note_end(np.array([3]), 7, 0.1, RefbrowserError(ErrorKind.BLOCKED, "not allowed"))
    assert log.since(0).states.tolist() == [ReadState.PENDING, ReadState.NONE]
    assert log.error((3,)) is None
    assert log.turns == 0


def test_marks_tell_references_apart() -> None:
    rows = [("a", 0, 4), ("b", 0, 4), ("a", 4, 4), ("a", 0, 8), ("a", 8, 0)]
    marks = marks_of(columns(*rows))
    assert len(set(marks.tolist())) == len(rows)
    # The same whatever else is in the columns.
    assert marks_of(columns(rows[2], rows[1])).tolist() == [marks[2], marks[1]]
    assert len(marks_of(columns())) == 0


def test_arrays_read_long_ago_are_forgotten() -> None:
    logs = ChunkLog()
    one, other = AccessMemory(), AccessMemory()
    first = logs.of(one, "/0", 1)
    assert logs.of(one, "/0", 1) is first
    assert logs.of(other, "/0", 1) is not first
    for number in range(ARRAYS_KEPT):
        logs.of(one, f"/{number + 1}", 1)
    assert logs.of(one, "/0", 1) is not first


def test_failures_and_their_end_are_told_and_nothing_else() -> None:
    memory, news = AccessMemory(), list[int]()
    log = ChunkLog().of(memory, "/a", 1)

    def follower() -> None:
        news.append(log.turns)

    memory.news.follow(follower)
    error = RefbrowserError(ErrorKind.IO, "gone")
    coords = np.array([0])
    for end in (None, error, error, None, None):
        log.note_end(coords, 0, 0.0, end)
    assert news == [1, 2, 3]
    memory.news.leave(follower)
    log.note_end(coords, 0, 0.0, error)
    assert news == [1, 2, 3]


def test_many_threads_note_at_once() -> None:
    log = ArrayLog(1, 1 << 16)

    def work(number: int) -> None:
        for at in range(500):
            log.note_end(np.array([number]), at, 0.0)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = log.since(0)
    assert len(entries) == 2000
    for number in range(4):
        assert entries.marks[entries.coords[:, 0] == number].tolist() == list(range(500))


@pytest.fixture
def served(tmp_path: Path):
    """An array of 20 chunks (one inline, one missing) on a server."""
    values = np.arange(20000, dtype="<i4").reshape(20, 1000)
    maker = DocumentMaker(tmp_path)
    maker.array("a", values, (1, 1000), compressors=None)
    document = maker.write(missing=("a/3.0",), inline=("a/4.0",))
    with HttpServer({"/data.bin": (tmp_path / "data.bin").read_bytes()}) as server:
        text = json.loads(document.read_text())
        for value in text["refs"].values():
            if isinstance(value, list):
                value[0] = server.url("/data.bin")
        document.write_text(json.dumps(text))
        with refbrowser.open(document, allow=[server.origin]) as dataset:
            yield server, dataset


def log_of(dataset: refbrowser.Dataset) -> ArrayLog:
    return dataset.session.chunk_log.of(dataset.access.memory, "/a", 2)


def last_states(log: ArrayLog) -> dict[int, ReadState]:
    entries = log.since(0)
    return {
        row: ReadState(state)
        for row, state in zip(entries.coords[:, 0].tolist(), entries.states.tolist(), strict=True)
    }


def test_a_read_notes_its_chunks(served) -> None:
    server, dataset = served
    server.latency = 0.03
    before = len(log_of(dataset).since(0))
    assert before == 0
    _ = dataset["a"][...]
    entries = log_of(dataset).since(0)
    assert set(entries.coords[entries.states == ReadState.PENDING][:, 0].tolist()) == set(range(20)) - {3, 4}
    ended = entries.states == ReadState.DONE
    assert sorted(entries.coords[ended][:, 0].tolist()) == sorted(set(range(20)) - {3})
    fetched = ended & (entries.coords[:, 0] != 4)
    assert (entries.seconds[fetched] >= 0.03).all()
    assert (entries.seconds[fetched] < 10).all()
    node = dataset["a"].node
    np.testing.assert_array_equal(marks_of(node.manifest.columns(entries.coords)), entries.marks)


def test_what_is_cached_has_no_time(served) -> None:
    _server, dataset = served
    _ = dataset["a"][:2]
    position = log_of(dataset).position
    _ = dataset["a"][:2]
    entries = log_of(dataset).since(position)
    assert entries.states.tolist() == [ReadState.DONE] * 2
    assert np.isnan(entries.seconds).all()


def test_failures_are_noted_with_their_error(served) -> None:
    server, dataset = served
    server.faults["/data.bin"] = Fault("status", value=404)
    with pytest.raises(RefbrowserError):
        _ = dataset["a"][0]
    assert last_states(log_of(dataset)) == {0: ReadState.FAILED}
    error = log_of(dataset).error((0, 0))
    assert error is not None
    assert error.place.key == "a/0.0"


def test_a_cancelled_read_leaves_nothing_pending(served) -> None:
    server, dataset = served
    server.faults["/data.bin"] = Fault("stall", value=100)
    token, array = CancelToken(), dataset["a"]
    pending = threading.Event()

    def stop_when_asked() -> None:
        while ReadState.PENDING not in last_states(log_of(dataset)).values():
            pending.wait(0.005)
        token.cancel()

    thread = threading.Thread(target=stop_when_asked)
    thread.start()
    with pytest.raises(Cancelled):
        dataset.session.read(array.node, dataset.access, Selection.whole(array.shape), cancel=token)
    thread.join()
    assert ReadState.PENDING not in last_states(log_of(dataset)).values()


def test_exports_are_not_noted(served) -> None:
    _server, dataset = served
    array = dataset["a"]
    dataset.session.read(array.node, dataset.access, Selection.whole(array.shape), export=True)
    assert log_of(dataset).position == 0
