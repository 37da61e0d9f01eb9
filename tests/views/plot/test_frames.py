from __future__ import annotations

import pytest
from view_arrays import node

from refbrowser.views.plot import plan as frames
from refbrowser.views.plot.plan import Course, Ending, Tempo, plans_ahead
from refbrowser.views.plot.slicing import SliceState


def run(course: Course, index: int, count: int) -> list[int]:
    found = []
    for _ in range(count):
        following = course.after(index)
        if following is None:
            break
        index, course = following
        found.append(index)
    return found


@pytest.mark.parametrize(
    ("ending", "step", "start", "expected"),
    [
        (Ending.LOOP, 1, 2, [3, 0, 1, 2, 3, 0]),
        (Ending.LOOP, -1, 1, [0, 3, 2, 1, 0, 3]),
        (Ending.BOUNCE, 1, 1, [2, 3, 2, 1, 0, 1]),
        (Ending.BOUNCE, -1, 1, [0, 1, 2, 3, 2, 1]),
        (Ending.ONCE, 1, 1, [2, 3]),
        (Ending.ONCE, -1, 1, [0]),
    ],
)
def test_frames_follow_each_other(ending: Ending, step: int, start: int, expected: list[int]) -> None:
    assert run(Course(4, ending, step), start, 6) == expected


def test_nothing_follows_a_single_frame() -> None:
    for ending in Ending:
        assert Course(1, ending).after(0) is None


def test_a_run_that_is_over_begins_again() -> None:
    assert Course(4, Ending.ONCE).begin(3) == 0
    assert Course(4, Ending.ONCE, -1).begin(0) == 3
    assert Course(4, Ending.ONCE).begin(2) == 2
    assert Course(4, Ending.LOOP).begin(3) == 3


def test_upcoming_frames_are_named_once() -> None:
    assert Course(4).upcoming(2, 10) == [3, 0, 1, 2]
    assert Course(4, Ending.BOUNCE).upcoming(2, 10) == [3, 2, 1, 0]
    assert Course(100).upcoming(2, 3) == [3, 4, 5]
    assert Course(4, Ending.ONCE).upcoming(3, 3) == []


def test_reads_ahead_are_those_in_other_chunks_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    array = node((40, 8, 8), (4, 8, 8))
    state = SliceState(array.shape, ("t", "y", "x"), 2, 1, (5, 0, 0))
    found = plans_ahead(array, state, 0, list(range(6, 20)))
    assert [number for number, _plan in found] == [2, 3, 4]
    assert [plan.slice.indices[0] for _number, plan in found] == [8, 12, 16]
    monkeypatch.setattr(frames, "AHEAD_CHUNKS", 2)
    assert [number for number, _plan in plans_ahead(array, state, 0, list(range(6, 20)))] == [2, 3]
    monkeypatch.setattr(frames, "AHEAD_BYTES", 4 * 8 * 8 * 4)
    assert [number for number, _plan in plans_ahead(array, state, 0, list(range(6, 20)))] == [2]


def test_the_speed_that_was_reached() -> None:
    tempo = Tempo()
    assert tempo.reached is None
    for number in range(30):
        tempo.note(number * 0.5)
    assert tempo.reached == pytest.approx(2)
    tempo.note(1000)
    assert tempo.reached is not None
    assert tempo.reached < 0.1
    tempo.forget()
    assert tempo.reached is None
