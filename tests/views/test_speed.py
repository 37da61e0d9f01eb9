"""How fast a job goes, and how long it still takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from refbrowser.engine.jobs import Job, JobState, JobStatus
from refbrowser.views.speed import KEPT, SETTLED, WINDOW, Speed, job_words, left_text, speed_words
from refbrowser.words import time_text

BEGUN = JobStatus(number=1, job=Job("Export"), state=JobState.RUNNING, started=0.0, total=1000)


def watched(seconds: int, per_second: int, begun: JobStatus = BEGUN) -> Speed:
    speed = Speed()
    for tenth in range(10 * seconds + 1):
        done = per_second * tenth // 10
        speed.take(replace(begun, done=done, read_bytes=done * 10**6, tasks=done // 4), tenth / 10)
    return speed


def test_steady_job() -> None:
    speed = watched(30, 10)
    assert speed.left == pytest.approx(70, rel=0.02)
    assert speed.read_rate == pytest.approx(10**7, rel=0.02)
    assert speed_words(speed) == ["2 min left", "10 MB/s"]


def test_nothing_is_foretold_at_once_nor_of_what_has_no_end() -> None:
    assert speed_words(Speed()) == []
    assert watched(int(SETTLED) - 1, 10).left is None
    assert watched(9, 10, replace(BEGUN, total=None)).left is None
    assert watched(9, 0).left is None
    # All that was counted is done, and the job goes on.
    assert watched(100, 10).left is None


def test_the_last_seconds_count() -> None:
    speed = watched(10, 50)
    for second in range(11, 60):
        speed.take(replace(BEGUN, done=500 + second), float(second))
    assert speed.left == pytest.approx(441, rel=0.05)


def test_what_advances_less_often_than_the_window_is_long() -> None:
    speed = Speed()
    for second in range(int(5 * WINDOW)):
        speed.take(replace(BEGUN, done=second // 30 * 10), float(second))
    assert speed.left == pytest.approx((1000 - 30) * 3, rel=0.4)
    # It halts: what is left grows, and never says that it goes on as before.
    before = speed.left
    for second in range(int(5 * WINDOW), 1000, 5):
        speed.take(replace(BEGUN, done=30), float(second))
    assert speed.left is not None
    assert before is not None
    assert speed.left > 5 * before


def test_part_that_counts_anew_is_followed_anew() -> None:
    speed = watched(30, 30)
    speed.take(replace(BEGUN, done=0, total=None, note="again"), 31.0)
    assert (speed.left, speed.read_rate) == (None, 0)
    for second in range(32, 40):
        speed.take(replace(BEGUN, done=second - 32, total=10), float(second))
    assert speed.left == pytest.approx(3)


def test_it_keeps_little() -> None:
    assert len(watched(600, 1)._told) <= 3 * WINDOW
    assert len(watched(600, 0)._told) <= KEPT


def test_words_of_a_job_in_each_state() -> None:
    half = replace(BEGUN, done=500, tasks=125, tasks_total=2500, read_bytes=5 * 10**8, requests=1234)
    speed = watched(50, 10)
    assert job_words(half, 0.5, speed, 50.0) == [
        "50%", "50 s left", "10 MB/s",
        "125 of 2\u202f500 tasks", "500 MB read in 1\u202f234 requests", "50.0 s so far",
    ]  # fmt: skip
    ended = replace(half, state=JobState.DONE, tasks=2500, finished=100.0)
    assert job_words(ended, 1.0, speed, 400.0) == [
        "2\u202f500 tasks", "500 MB read in 1\u202f234 requests", "took 1 min 40 s",
    ]  # fmt: skip
    one = replace(ended, tasks_total=0, requests=1, note="of a part")
    assert job_words(one, 1.0, speed, 400.0)[0] == "500 MB read in 1 request"
    stopped = replace(half, state=JobState.CANCELLED, finished=60.0, note="4 workers")
    assert job_words(stopped, 0.5, speed, 400.0)[:3] == ["50%", "4 workers", "125 of 2\u202f500 tasks"]
    failed = replace(half, state=JobState.FAILED, finished=60.0, error=OSError("no room"))
    assert job_words(failed, 0.5, speed, 400.0)[:2] == ["no room", "50%"]
    waiting = replace(BEGUN, state=JobState.QUEUED, started=None)
    assert job_words(waiting, None, Speed(), 1.0) == []
    assert job_words(replace(half, done=1000), None, speed, 50.0)[0] == "finishing"
    # What is not read is told in tasks.
    tasks = replace(BEGUN, tasks_total=250)
    speed = Speed()
    for second in range(10):
        speed.take(replace(tasks, done=second, tasks=second * 3), float(second))
    assert speed_words(speed)[1] == "3 tasks/s"


@pytest.mark.parametrize(("seconds", "time", "left"), [
    (0.04, "0.0 s", "5 s left"), (4.64, "4.6 s", "5 s left"), (47, "47.0 s", "50 s left"),
    (61, "1 min 1 s", "2 min left"), (600, "10 min", "10 min left"), (3600, "1 h", "1 h left"),
    (4000, "1 h 6 min", "1 h 7 min left"), (200_000, "2 d 7 h", "2 d 7 h left"),
])  # fmt: skip
def test_words_of_times(seconds: float, time: str, left: str) -> None:
    assert (time_text(seconds), left_text(seconds)) == (time, left)
