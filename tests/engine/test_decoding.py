"""The decode pool: bounded memory, errors, cancellation."""

from __future__ import annotations

import threading
import time

import pytest

from refbrowser.engine.reading import decoding
from refbrowser.engine.reading.decoding import DecodePool, MemoryBudget
from refbrowser.io.cancel import Cancelled, CancelToken


@pytest.fixture
def pool():
    pool = DecodePool(threads=2, memory=MemoryBudget(100))
    yield pool
    pool.close()


def test_all_tasks_run(pool: DecodePool) -> None:
    queue = pool.queue(CancelToken())
    done = []
    for number in range(1000):
        queue.put(lambda number=number: done.append(number), 10)
    queue.join()
    assert sorted(done) == list(range(1000))
    assert pool.memory.used == 0


def test_memory_in_flight_is_bounded(pool: DecodePool) -> None:
    queue = pool.queue(CancelToken())
    most = 0

    def watch() -> None:
        nonlocal most
        most = max(most, pool.memory.used)
        time.sleep(0.001)

    for _ in range(50):
        queue.put(watch, 40)
    queue.put(watch, 1000)
    queue.join()
    assert most == 1000, "what is larger than the budget runs alone"


def test_an_exception_ends_the_read_and_not_the_pool(pool: DecodePool) -> None:
    queue = pool.queue(CancelToken())
    queue.put(lambda: 1 // 0, 1)
    with pytest.raises(ZeroDivisionError):
        queue.join()
    other = pool.queue(CancelToken())
    other.put(lambda: None, 1)
    other.join()


def test_cancelling_frees_a_producer_that_waits_for_memory(pool: DecodePool) -> None:
    token = CancelToken()
    queue = pool.queue(token)
    gate = threading.Event()
    queue.put(lambda: gate.wait(5), 100)
    threading.Timer(0.05, token.cancel).start()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        queue.put(lambda: None, 100)
    with pytest.raises(Cancelled):
        queue.join()
    assert time.monotonic() - start < 3
    gate.set()


@pytest.mark.parametrize("waits_for", ["memory", "tasks"])
def test_closing_the_pool_ends_who_waits_for_it(pool: DecodePool, waits_for: str) -> None:
    queue = pool.queue(CancelToken())
    gate = threading.Event()
    for _ in range(4):
        queue.put(lambda: gate.wait(5), 25)
    threading.Timer(0.05, pool.close).start()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        queue.put(lambda: None, 25) if waits_for == "memory" else queue.join()
    assert time.monotonic() - start < 3
    gate.set()
    with pytest.raises(Cancelled):
        pool.queue(CancelToken()).put(lambda: None, 1)


def test_tasks_after_a_cancel_do_not_run(pool: DecodePool) -> None:
    token = CancelToken()
    queue = pool.queue(token)
    token.cancel()
    ran = []
    queue.put(lambda: ran.append(1), 1)
    with pytest.raises(Cancelled):
        queue.join()
    time.sleep(0.05)
    assert ran == []


@pytest.mark.parametrize(
    ("seconds", "pieces", "rests"), [(20e-6, 500, 10), (1e-3, 800, 100), (20e-6, 49, 0), (1.0, 7, 0)]
)
def test_a_worker_rests_between_small_pieces(
    monkeypatch: pytest.MonkeyPatch, seconds: float, pieces: int, rests: int
) -> None:
    """Seldom while pieces are long: once in eight; and once in a millisecond while they are short."""
    clock, slept = [0.0], []
    monkeypatch.setattr(decoding.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(decoding.time, "sleep", slept.append)

    def work() -> None:
        resting = decoding.Rests()
        for _ in range(pieces):
            # Not less than a rest is due after, whatever the sum of such numbers is.
            clock[0] += seconds * (1 + 1e-9)
            resting.after_work()

    work()
    assert not slept, "no window waits for the main thread to rest"
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(slept) == rests


def test_each_task_of_the_pool_may_end_in_a_rest(pool: DecodePool, monkeypatch: pytest.MonkeyPatch) -> None:
    rested: list[str] = []
    monkeypatch.setattr(
        decoding.Rests, "after_work", lambda self: rested.append(threading.current_thread().name)
    )
    queue = pool.queue(CancelToken())
    for _ in range(20):
        queue.put(lambda: None, 1)
    queue.join()
    pool._executor.shutdown()
    assert len(rested) == 20
    assert all(name.startswith("decode") for name in rested)
