"""Jobs: order, cancellation, the newest request of a view wins, progress, and closing."""

from __future__ import annotations

import threading
import time

import pytest

from refbrowser.engine.jobs import Job, JobControl, JobQueue, JobState, Priority
from refbrowser.io.cancel import Cancelled


@pytest.fixture
def queue():
    queue = JobQueue(threads=2)
    yield queue
    assert queue.close(5)


def block(queue: JobQueue, gate: threading.Event, count: int = 2) -> None:
    """Occupy threads until `gate` is set."""
    started = threading.Barrier(count + 1)

    def wait(control: JobControl) -> None:
        started.wait(5)
        gate.wait(5)

    for _ in range(count):
        queue.submit(Job("blocker"), wait)
    started.wait(5)


def test_a_value_arrives_by_handle_and_by_event(queue: JobQueue) -> None:
    handle = queue.submit(Job("add"), lambda control: 1 + 1)
    assert handle.result(5) == 2
    events = queue.drain_events()
    assert [(event.number, event.state, event.value) for event in events] == [
        (handle.number, JobState.DONE, 2)
    ]
    assert queue.drain_events() == []
    assert handle.status.state is JobState.DONE
    assert handle.status.value is None, "statuses must not keep arrays alive"


def test_an_error_is_the_outcome_of_its_job_alone(queue: JobQueue) -> None:
    failing = queue.submit(Job("fail"), lambda control: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        failing.result(5)
    assert failing.status.state is JobState.FAILED
    assert isinstance(failing.status.error, ZeroDivisionError)
    assert queue.submit(Job("next"), lambda control: "fine").result(5) == "fine"


def test_the_most_urgent_job_starts_first(queue: JobQueue) -> None:
    gate = threading.Event()
    block(queue, gate)
    order: list[str] = []
    jobs = [
        queue.submit(Job(name, priority), lambda control, name=name: order.append(name))
        for name, priority in [
            ("statistics", Priority.STATISTICS),
            ("neighbour", Priority.NEIGHBOUR),
            ("visible", Priority.VISIBLE),
        ]
    ]
    with queue._changed:
        queue._threads = 1
    gate.set()
    for job in jobs:
        job.result(5)
    assert order.index("visible") < order.index("statistics")


def test_a_newer_job_of_an_owner_cancels_the_older_ones(queue: JobQueue) -> None:
    running = threading.Event()

    def forever(control: JobControl) -> None:
        running.set()
        while True:
            control.check()
            time.sleep(0.005)

    first = queue.submit(Job("first", owner="plot"), forever)
    assert running.wait(5)
    second = queue.submit(Job("second", owner="plot"), forever)
    other = queue.submit(Job("other", owner="table"), lambda control: "kept")
    third = queue.submit(Job("third", owner="plot"), lambda control: "newest")
    assert third.result(5) == "newest"
    assert other.result(5) == "kept"
    for handle in (first, second):
        with pytest.raises(Cancelled):
            handle.result(5)
        assert handle.status.state is JobState.CANCELLED


def test_a_queued_job_that_is_cancelled_never_starts(queue: JobQueue) -> None:
    gate = threading.Event()
    block(queue, gate)
    ran = []
    handle = queue.submit(Job("late"), lambda control: ran.append(1))
    handle.cancel()
    gate.set()
    with pytest.raises(Cancelled):
        handle.result(5)
    assert queue.submit(Job("after"), lambda control: 5).result(5) == 5
    assert ran == []


def test_exports_leave_a_thread_for_the_screen(queue: JobQueue) -> None:
    gate = threading.Event()
    exports = [queue.submit(Job("export", Priority.EXPORT), lambda control: gate.wait(5)) for _ in range(4)]
    assert queue.submit(Job("view"), lambda control: "drawn").result(5) == "drawn"
    gate.set()
    assert all(handle.result(5) for handle in exports)


def test_all_threads_are_used(queue: JobQueue) -> None:
    together = threading.Barrier(2)
    handles = [queue.submit(Job("pair"), lambda control: together.wait(5)) for _ in range(2)]
    assert sorted(handle.result(5) for handle in handles) == [0, 1]


def test_progress_is_told_and_thinned(queue: JobQueue) -> None:
    def count(control: JobControl) -> None:
        for done in range(10_001):
            control.progress(done, 10_000, read_bytes=done * 2, requests=3)

    handle = queue.submit(Job("count"), count)
    handle.result(5)
    status = queue.drain_events()[-1]
    assert (status.done, status.total, status.read_bytes, status.requests) == (10_000, 10_000, 20_000, 3)


def test_closing_cancels_and_waits() -> None:
    queue = JobQueue(threads=2)
    handle = queue.submit(Job("wait"), lambda control: control.token.wait(10) and control.check())
    start = time.monotonic()
    assert queue.close(2)
    assert time.monotonic() - start < 4
    with pytest.raises(Cancelled):
        handle.result(1)
    with pytest.raises(RuntimeError):
        queue.submit(Job("late"), lambda control: None)


def test_many_finished_jobs_are_forgotten(queue: JobQueue) -> None:
    handles = [queue.submit(Job(f"job {number}"), lambda control: None) for number in range(300)]
    for handle in handles:
        handle.result(5)
    assert len(queue.statuses()) <= 201
    assert handles[0].status is None
