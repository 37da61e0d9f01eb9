"""Cyclic garbage is collected on the GUI thread: Qt's objects die nowhere else."""

from __future__ import annotations

import subprocess
import sys
import weakref

from pytestqt.qtbot import QtBot

from refbrowser.app.shell import housekeeping
from refbrowser.app.shell.housekeeping import collect_due


class Knot:
    """An object that only the collector can take apart."""

    def __init__(self) -> None:
        self.itself = self


def test_the_oldest_generation_that_is_due_is_collected(qtbot: QtBot, monkeypatch) -> None:
    monkeypatch.setattr(housekeeping, "COLLECT_AFTER", (10**9, 10**9, 10**9))
    knot = weakref.ref(Knot())
    assert collect_due() is None
    assert knot() is not None
    monkeypatch.setattr(housekeeping, "COLLECT_AFTER", (-1, 10**9, 10**9))
    assert collect_due() == 0
    assert knot() is None
    monkeypatch.setattr(housekeeping, "COLLECT_AFTER", (10**9, -1, -1))
    assert collect_due() == 2


WORKER = """
import os, sys, threading
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication
from refbrowser.app.shell import housekeeping

housekeeping.LOOK_PAUSE = 50
housekeeping.COLLECT_AFTER = (10, 1000, 1000)
application = QApplication([])
died = []

class Knot(QObject):
    def __init__(self):
        super().__init__()
        self.itself = self
    def __del__(self):
        died.append(threading.current_thread() is threading.main_thread())

collector = housekeeping.GarbageCollector(application)
for _ in range(50):
    Knot()

def work():
    kept = [[] for _ in range(200_000)]
    assert kept

thread = threading.Thread(target=work)
thread.start()
thread.join()
assert not died, "collected by a worker"
QTimer.singleShot(1500, application.quit)
application.exec()
print(len(died), all(died))
"""


def test_no_other_thread_collects() -> None:
    found = subprocess.run([sys.executable, "-c", WORKER], capture_output=True, text=True, timeout=60)
    assert found.stdout.split() == ["50", "True"], found.stderr
