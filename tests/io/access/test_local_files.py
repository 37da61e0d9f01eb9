"""Reading files: regular ones only, exactly, and as they were."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import columns, pattern

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access import local_files
from refbrowser.io.access.access import Access
from refbrowser.io.access.local_files import open_regular, read_exactly, read_in_passing
from refbrowser.io.access.task import FetchOptions, FetchTask
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.fetch import Fetcher

DATA = pattern(100_000)


@pytest.fixture
def access(tmp_path: Path) -> Access:
    (tmp_path / "a").write_bytes(DATA)
    return Access.for_document(tmp_path / "doc.json")


def read(
    fetcher: Fetcher, access: Access, *rows: tuple[str, int, int], **options: object
) -> list[bytes | RefbrowserError]:
    found: dict[int, bytes | RefbrowserError] = {}

    def deliver(row: int, data: memoryview | RefbrowserError) -> None:
        found[row] = data if isinstance(data, RefbrowserError) else bytes(data)

    plan = fetcher.plan(columns(rows), access)
    fetcher.fetch(plan, access, deliver, **options)
    return [found[row] for row in range(len(rows))]


def test_a_range_past_the_end(fetcher: Fetcher, access: Access) -> None:
    good, bad = read(fetcher, access, ("a", 0, 10), ("a", 99_990, 11))
    assert good == DATA[:10]
    assert isinstance(bad, RefbrowserError)
    assert bad.kind == ErrorKind.RANGE
    assert (bad.place.start, bad.place.stop) == (99_990, 100_001)


def test_a_missing_file(fetcher: Fetcher, access: Access, tmp_path: Path) -> None:
    error = read(fetcher, access, ("nowhere/a", 0, 10))[0]
    assert isinstance(error, RefbrowserError)
    assert error.kind == ErrorKind.IO
    assert error.place.url == str(tmp_path / "nowhere" / "a")


def test_a_whole_file_may_be_too_large(fetcher: Fetcher, access: Access) -> None:
    assert read(fetcher, access, ("a", 0, -1), size_limit=100_000) == [DATA]
    error = read(fetcher, access, ("a", 0, -1), size_limit=99_999)[0]
    assert isinstance(error, RefbrowserError)
    assert error.kind == ErrorKind.BUDGET


@pytest.mark.parametrize(
    "change", [b"short", DATA + b"more", DATA[::-1]], ids=["shorter", "longer", "rewritten"]
)
def test_a_changed_file(fetcher: Fetcher, access: Access, tmp_path: Path, change: bytes) -> None:
    assert read(fetcher, access, ("a", 0, 5)) == [DATA[:5]]
    (tmp_path / "a").write_bytes(change)
    os.utime(tmp_path / "a", ns=(1, 1))
    error = read(fetcher, access, ("a", 0, 5))[0]
    assert isinstance(error, RefbrowserError)
    assert error.kind == ErrorKind.SOURCE
    assert "changed" in error.message


def test_a_file_that_is_replaced_by_the_same(fetcher: Fetcher, access: Access, tmp_path: Path) -> None:
    read(fetcher, access, ("a", 0, 5))
    (tmp_path / "b").write_bytes(DATA)
    os.replace(tmp_path / "b", tmp_path / "a")
    error = read(fetcher, access, ("a", 0, 5))[0]
    assert isinstance(error, RefbrowserError)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_only_regular_files_are_read(fetcher: Fetcher, access: Access, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    began = time.monotonic()
    pipe, folder = read(fetcher, access, ("pipe", 0, 5), ("folder", 0, 5))
    assert isinstance(pipe, RefbrowserError)
    assert isinstance(folder, RefbrowserError)
    assert (pipe.kind, folder.kind) == (ErrorKind.UNSAFE, ErrorKind.IO)
    assert time.monotonic() - began < 5


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="needs O_NOFOLLOW")
def test_a_link_put_in_place_after_the_check_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    path = tmp_path / "a"
    path.write_bytes(b"data")
    status = os.lstat(path)
    path.unlink()
    path.symlink_to(tmp_path / "secret")
    monkeypatch.setattr(local_files.os, "lstat", lambda name: status)
    with pytest.raises(RefbrowserError), open_regular(str(path)):
        pass


@given(st.lists(st.integers(0, 400), min_size=1, max_size=20), st.integers(0, 300), st.booleans())
def test_buffers_are_filled_in_order(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], offset: int, vectored: bool
) -> None:
    content = DATA[:3_000]
    path = tmp_path_factory.getbasetemp() / "buffers"
    path.write_bytes(content)
    buffers = [memoryview(bytearray(size)) for size in sizes]
    with pytest.MonkeyPatch.context() as patch, open_regular(str(path)) as (descriptor, identity):
        patch.setattr(local_files, "_GROUP", 4)
        patch.setattr(local_files, "_PORTION", 100)
        if not vectored:
            patch.delattr(local_files.os, "preadv", raising=False)
        count = read_exactly(descriptor, buffers, offset)
    assert identity.size == 3_000
    assert count == min(sum(sizes), len(content) - offset)
    assert b"".join(buffers)[:count] == content[offset : offset + count]


def test_rows_are_read_straight_into_their_destinations(fetcher: Fetcher, access: Access) -> None:
    target = np.zeros((100, 1000), np.uint8)
    order = np.random.default_rng(1).permutation(100)
    table = columns([("a", int(i) * 1000, 1000) for i in order])
    plan = fetcher.plan(table, access)
    assert plan.request_count == 1
    own: list[bool] = []
    fetcher.fetch(
        plan,
        access,
        lambda row, data: own.append(np.shares_memory(np.frombuffer(data, np.uint8), target)),
        destination=lambda row: target[order[row]].data,
    )
    assert all(own)
    assert target.tobytes() == DATA


def test_destinations_with_gaps_are_left_alone(fetcher: Fetcher, access: Access) -> None:
    """Rows that share bytes cannot be scattered; they are delivered from one buffer."""
    target = np.zeros((2, 60), np.uint8)
    table = columns([("a", 0, 60), ("a", 40, 60)])
    found: dict[int, bytes] = {}
    fetcher.fetch(
        fetcher.plan(table, access),
        access,
        lambda row, data: found.__setitem__(row, bytes(data)),
        destination=lambda row: target[row].data,
    )
    assert found == {0: DATA[:60], 1: DATA[40:100]}


def test_of_rows_with_ranges_only_these_are_read(fetcher: Fetcher, access: Access) -> None:
    table = columns([("a", 100, 5000), ("a", 5100, 4000), ("a", 70_000, 3000)])
    pieces = {0: ([0, 2000, 4990], 10), 1: ([5], 20), 2: None}
    found: dict[int, bytes] = {}
    counters = fetcher.fetch(
        fetcher.plan(table, access),
        access,
        lambda row, data: found.__setitem__(row, bytes(data)),
        ranges=pieces.get,
    )
    assert counters.bytes == 3 * 10 + 20 + 3000
    for row, (offset, length) in enumerate([(100, 5000), (5100, 4000), (70_000, 3000)]):
        offsets, size = pieces[row] or ([0], length)
        starts = [offset + at for at in offsets]
        assert found[row] == b"".join(DATA[start : start + size] for start in starts)


def test_nothing_is_written_to_a_destination_after_cancellation(
    fetcher: Fetcher, access: Access, tmp_path: Path
) -> None:
    (tmp_path / "large").write_bytes(b"x" * (64 << 20))
    target = np.zeros(64 << 20, np.uint8)
    token = CancelToken()
    threading.Timer(0.001, token.cancel).start()
    table = columns([("large", 0, 64 << 20)])
    try:
        fetcher.fetch(
            fetcher.plan(table, access),
            access,
            lambda row, data: None,
            cancel=token,
            destination=lambda row: target.data,
        )
    except Cancelled:
        before = int(np.count_nonzero(target))
        time.sleep(0.05)
        assert int(np.count_nonzero(target)) == before


def test_reading_in_passing_gives_the_same_bytes_whatever_the_system_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large"
    path.write_bytes(pattern(1_000_000))
    for flag in (local_files._PASSING, 0x4000_0000, 0):  # the second is not known to any system
        monkeypatch.setattr(local_files, "_PASSING", flag)
        with open_regular(str(path)) as (descriptor, _):
            for offset, size in ((0, 1_000_000), (7, 600_000), (600_000, 700_000), (5, 10), (1_000_000, 5)):
                room = memoryview(bytearray(size))
                count = read_in_passing(descriptor, room, offset)
                assert bytes(room[:count]) == path.read_bytes()[offset : offset + size]


def test_a_file_system_that_gives_few_bytes_at_a_time(
    fetcher: Fetcher, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    pread, preadv = os.pread, os.preadv
    monkeypatch.setattr(os, "pread", lambda file, size, offset: pread(file, min(size, 4096), offset))
    monkeypatch.setattr(os, "preadv", lambda file, into, offset: preadv(file, [into[0][:4096]], offset))
    assert read(fetcher, access, ("a", 0, -1)) == [DATA]


def test_room_is_kept_for_each_row_that_has_all_of_a_file(access: Access) -> None:
    task = FetchTask(access, FetchOptions())
    task.expect(1)
    data = memoryview(bytes(40 << 20))
    task.hand_over_all([(0, data), (1, data)], segments=1, size=len(data), requests=1)
    assert task.is_congested
    found: list[int] = []
    task.take_rows(lambda row, _: found.append(row), None)
    assert found == [0, 1]
    assert not task.is_congested
    assert task.counters.bytes == len(data)


def test_what_fails_after_the_end_is_no_failure(access: Access) -> None:
    task = FetchTask(access, FetchOptions())
    task.expect(1)
    task.stop()
    task.crash(RuntimeError("cannot schedule new futures after shutdown"))
    with pytest.raises(Cancelled):
        task.take_rows(lambda *_: None, None)


def test_who_makes_room_does_not_wait_for_it(access: Access) -> None:
    task = FetchTask(access, FetchOptions())
    task.expect(2)
    found: list[int] = []

    def read_meanwhile() -> None:
        # Much comes from elsewhere while a file is read here.
        task.hand_over([1], [memoryview(bytes(65 << 20))])
        task.settle()
        task.wait_for_room()
        task.hand_over([0], [memoryview(b"a")])
        task.settle()

    task.read_here(read_meanwhile)
    taking = threading.Thread(
        target=task.take_rows, args=(lambda row, _: found.append(row), None), daemon=True
    )
    taking.start()
    taking.join(5)
    assert found == [1, 0]
