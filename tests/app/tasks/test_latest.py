"""Of one kind of work off the window's thread the newest request counts."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from weakref import ref

import pytest
import shiboken6
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl, Tasks
from refbrowser.io.cancel import Cancelled


class Document:
    """What work is for: it has tasks and a number."""

    def __init__(self, tasks: Tasks, number: int) -> None:
        self.tasks, self.number = tasks, number

    def owner(self, what: str) -> str:
        return f"{what}:{self.number}"


class Held:
    """Work that goes on until it is let go, or cancelled, which it notes."""

    def __init__(self) -> None:
        self.began, self.go_on, self.cancelled = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, control: TaskControl) -> str:
        self.began.set()
        try:
            while not self.go_on.wait(0.005):
                control.check()
        except Cancelled:
            self.cancelled.set()
            raise
        control.send("late")
        return "old"


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    made = Tasks()
    yield made
    assert made.close()


def test_the_newest_wins_and_cancels_the_former_of_whatever_document(tasks: Tasks, qtbot: QtBot) -> None:
    owner, seen = QObject(), []
    for second in (1, 2):
        latest, held = Latest(owner, "raw"), Held()
        assert not latest.is_running
        latest.run(Document(tasks, 1), "old", held, seen.append, seen.append, received=seen.append)
        assert held.began.wait(5)
        assert latest.is_running
        latest.run(Document(tasks, second), "new", lambda _control: "new", seen.append)
        assert held.cancelled.wait(5)
        qtbot.waitUntil(lambda: not tasks.busy())
        assert not latest.is_running
        assert seen == ["new"], second
        seen.clear()


@pytest.mark.parametrize("kind", ["rows", "raw"])
def test_two_of_one_owner_do_not_end_each_other(tasks: Tasks, qtbot: QtBot, kind: str) -> None:
    # Two views of one document do the same kind of work.
    owner, seen, held = QObject(), [], Held()
    first, second = Latest(owner, "raw"), Latest(owner, kind)
    first.run(Document(tasks, 1), "held", held, seen.append, received=seen.append)
    second.run(Document(tasks, 1), "short", lambda _control: "short", seen.append)
    qtbot.waitUntil(lambda: seen == ["short"])
    second.cancel()
    held.go_on.set()
    qtbot.waitUntil(lambda: seen == ["short", "late", "old"])


def test_errors_are_delivered(tasks: Tasks, qtbot: QtBot) -> None:
    def fail(_control: TaskControl) -> None:
        raise ValueError("no")

    owner, seen = QObject(), []
    latest = Latest(owner, "raw")
    latest.run(Document(tasks, 1), "fail", fail, seen.append, lambda error: seen.append(str(error)))
    qtbot.waitUntil(lambda: seen == ["no"])
    assert not latest.is_running
    with qtbot.waitSignal(tasks.failed):
        latest.run(Document(tasks, 1), "fail", fail)


@pytest.mark.parametrize("end", ["cancel", "delete", "forget"])
def test_nothing_comes_after_the_end(tasks: Tasks, qtbot: QtBot, end: str) -> None:
    owner, seen, held = QObject(), [], Held()
    latest = Latest(owner, "raw")
    latest.run(Document(tasks, 1), "held", held, seen.append, seen.append, received=seen.append)
    assert held.began.wait(5)
    if end == "cancel":
        latest.cancel()
    elif end == "delete":
        shiboken6.delete(owner)
    else:
        gone = ref(owner)
        del owner
        gc.collect()
        assert gone() is None, "it is kept by the work"
    assert held.cancelled.wait(5)
    qtbot.waitUntil(lambda: all(status.state.finished for status in tasks.statuses()))
    assert not tasks.busy()
    assert seen == []


def test_nothing_is_told_to_a_dialog_that_is_gone(tasks: Tasks, qtbot: QtBot) -> None:
    seen: list[object] = []

    class Dialog(QObject):
        def take(self, value: object) -> None:
            seen.append((self.objectName(), value))

    owner, kept, gone = QObject(), Dialog(), Dialog()
    for dialog in (gone, kept):
        latest, held = Latest(owner, "compare"), Held()
        latest.run(Document(tasks, 1), "old", held, dialog.take)
        if dialog is gone:
            shiboken6.delete(gone)
        held.go_on.set()
        qtbot.waitUntil(lambda latest=latest: not latest.is_running)
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == [("", "old")]
