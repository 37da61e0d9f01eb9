from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from refbrowser.app.tasks import tasks as shell_tasks
from refbrowser.app.tasks.tasks import BUDGET, TaskControl, Tasks
from refbrowser.engine.jobs import JobStatus


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    made = Tasks()
    yield made
    assert made.close()


def test_result_comes_back_on_the_gui_thread(tasks: Tasks, qtbot: QtBot) -> None:
    seen = []
    tasks.run(
        "a",
        "work",
        lambda _control: threading.get_ident(),
        lambda value: seen.append((value, threading.get_ident())),
    )
    qtbot.waitUntil(lambda: bool(seen))
    worker, gui = seen[0]
    assert worker != gui == threading.get_ident()


def test_error_goes_to_its_callback_or_to_the_signal(tasks: Tasks, qtbot: QtBot) -> None:
    def fail(_control: TaskControl) -> None:
        raise ValueError("no")

    seen: list[BaseException] = []
    tasks.run("a", "work", fail, failed=seen.append)
    qtbot.waitUntil(lambda: bool(seen))
    assert str(seen[0]) == "no"
    with qtbot.waitSignal(tasks.failed) as told:
        tasks.run("a", "work", fail)
    assert isinstance(told.args[0], ValueError)


def test_newest_of_an_owner_wins(tasks: Tasks, qtbot: QtBot) -> None:
    started, go_on = threading.Event(), threading.Event()
    seen: list[object] = []

    def slow(control: TaskControl) -> str:
        started.set()
        go_on.wait(5)
        control.send("late")
        return "old"

    tasks.run("view", "old", slow, seen.append, received=seen.append)
    assert started.wait(5)
    tasks.run("view", "new", lambda _control: "new", seen.append)
    go_on.set()
    qtbot.waitUntil(lambda: not tasks.busy())
    qtbot.wait(100)
    assert seen == ["new"]


def test_values_come_before_the_end_in_order(tasks: Tasks, qtbot: QtBot) -> None:
    seen: list[object] = []

    def work(control: TaskControl) -> str:
        for number in range(5_000):
            control.send(number)
        return "end"

    tasks.run("a", "work", work, seen.append, received=seen.append)
    qtbot.waitUntil(lambda: seen[-1:] == ["end"])
    assert seen == [*range(5_000), "end"]


def test_a_flood_of_values_never_holds_the_event_loop(tasks: Tasks, qtbot: QtBot) -> None:
    seen = 0

    def slowly(_value: object) -> None:
        nonlocal seen
        seen += 1
        time.sleep(0.001)

    def work(control: TaskControl) -> None:
        for number in range(300):
            control.send(number)

    tasks.run("a", "work", work, received=slowly)
    qtbot.waitUntil(lambda: seen > 0)
    before = seen
    tasks._drain()
    assert 0 < seen - before <= BUDGET / 0.001 + 1
    qtbot.waitUntil(lambda: seen == 300)


def test_cancel_of_an_owner_calls_nothing(tasks: Tasks, qtbot: QtBot) -> None:
    seen: list[object] = []
    started = threading.Event()

    def work(control: TaskControl) -> str:
        started.set()
        while True:
            control.check()
            time.sleep(0.005)

    tasks.run("a", "work", work, seen.append, seen.append)
    assert started.wait(5)
    tasks.cancel_owner("a")
    qtbot.waitUntil(lambda: all(status.state.finished for status in tasks.statuses()))
    qtbot.wait(60)
    assert seen == []
    assert not tasks.busy()


def test_preparing_the_program_is_nobodys_job(tasks: Tasks, qtbot: QtBot) -> None:
    told: list[list[object]] = []
    ended: list[str] = []
    tasks.statusChanged.connect(told.append)
    tasks.run("prepare", tasks.PREPARING, lambda _control: "ready", ended.append)
    assert tasks.busy()
    qtbot.waitUntil(lambda: ended == ["ready"])
    assert (tasks.statuses(), told) == ([], [])
    tasks.run("read", "Read a.json", lambda _control: "read", ended.append)
    qtbot.waitUntil(lambda: ended == ["ready", "read"])
    assert [status.job.title for status in tasks.statuses()] == ["Read a.json"]
    assert told


def test_who_asked_for_a_job_is_told_how_far_it_is_and_of_no_other(tasks: Tasks, qtbot: QtBot) -> None:
    told: list[tuple[str, str]] = []
    go_on = threading.Event()

    def follow(status: JobStatus) -> None:
        told.append((status.job.title, str(status.state)))

    handle = tasks.run("a", "mine", lambda control: go_on.wait(5) and control.check(), followed=follow)
    tasks.run("b", "another", lambda _control: None)
    # How far it is may be told more than once before this is asked again.
    qtbot.waitUntil(lambda: ("mine", "running") in told)
    tasks.cancel(handle.number)
    go_on.set()
    qtbot.waitUntil(lambda: not tasks.busy())
    # A machine that is busy tells first that it waits.
    assert set(told) - {("mine", "queued")} == {("mine", "running"), ("mine", "cancelled")}


def test_methods_of_a_deleted_object_are_not_called(tasks: Tasks, qtbot: QtBot) -> None:
    seen: list[object] = []

    class Receiver(QObject):
        def take(self, value: object) -> None:
            seen.append(value)

    receiver, go_on = Receiver(), threading.Event()
    tasks.run("a", "work", lambda _control: go_on.wait(5), receiver.take, receiver.take)
    shiboken6.delete(receiver)
    go_on.set()
    qtbot.waitUntil(lambda: not tasks.busy())
    assert seen == []
    alive = Receiver()
    tasks.run("a", "work", lambda _control: 1, alive.take)
    qtbot.waitUntil(lambda: seen == [1])


@pytest.mark.parametrize("elsewhere", [False, True])
def test_modules_that_may_make_classes_are_imported_where_that_is_safe(
    tasks: Tasks, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    monkeypatch.setattr(shell_tasks, "CLASSES_ELSEWHERE", elsewhere)
    monkeypatch.syspath_prepend(tmp_path)
    name = f"made_for_a_window_{elsewhere}"
    (tmp_path / f"{name}.py").write_text("import threading\nthread = threading.get_ident()\n")
    seen: list[object] = []
    tasks.load("a", ["refbrowser.views.words", name], lambda: seen.append(sys.modules[name].thread))
    qtbot.waitUntil(lambda: bool(seen))
    assert (seen == [threading.get_ident()]) is not elsewhere
    # What cannot be imported is told as any other fault is.
    tasks.load("a", ["no_such_module_at_all"], lambda: seen.append("done"), seen.append)
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert isinstance(seen[1], ModuleNotFoundError)
