"""The real window in a benchmark: made as the program makes it, off screen, with settings of its own."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication
from report import figure

from refbrowser.app.shell.housekeeping import Ahead, GarbageCollector
from refbrowser.app.shell.launch import SWITCH_INTERVAL
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme


@contextmanager
def shown_window(folder: Path) -> Iterator[MainWindow]:
    """Yield a window that is complete, with the plotting library loaded; settings are kept in `folder`."""
    os.environ.update(XDG_CONFIG_HOME=str(folder), XDG_STATE_HOME=str(folder), QT_QPA_PLATFORM="offscreen")
    # The off-screen platform says with each new window that it has no size hints.
    os.environ["QT_LOGGING_RULES"] = "default.warning=false"
    sys.setswitchinterval(SWITCH_INTERVAL)
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    theme.follow_system(application)
    window = MainWindow()
    window.show()
    wait(lambda: window.is_complete)
    GarbageCollector(window)
    ahead = Ahead(window)
    window.prepare_plot()
    wait(lambda: ahead.is_done)
    try:
        yield window
    finally:
        for document in window.documents.all():
            window.documents.close(document)
        window.close()
        gc.enable()


#: A wait of this many seconds ends the benchmark.
PATIENCE = 120


def wait(until: Callable[[], bool]) -> None:
    """Run the event loop as the program does, asleep between events, until something is so."""
    waker = QTimer()
    waker.start(2)
    end = time.perf_counter() + PATIENCE
    while not until():
        if time.perf_counter() > end:
            raise TimeoutError(f"the window was not ready after {PATIENCE} s")
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def pause(seconds: float) -> None:
    """Run the event loop for some time."""
    end = time.perf_counter() + seconds
    wait(lambda: time.perf_counter() > end)


class Gaps:
    """How long the window's thread leaves a timer of 5 ms waiting, in milliseconds; a context manager."""

    def __init__(self) -> None:
        self.gaps: list[float] = []
        self._last = 0.0
        self._timer = QTimer()
        self._timer.setInterval(5)
        self._timer.timeout.connect(self._tick)

    def __enter__(self) -> Gaps:
        self._last = time.perf_counter()
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.stop()
        self._tick()

    def _tick(self) -> None:
        now = time.perf_counter()
        self.gaps.append(1e3 * (now - self._last))
        self._last = now

    def report(self, what: str) -> None:
        """Print the 99th percentile and the longest."""
        late = sorted(self.gaps)
        figure(f"{what}: 99th percentile", late[int(len(late) * 0.99)], "ms", aim="at most 25 ms")
        figure(f"{what}: longest of {len(late)}", late[-1], "ms", aim="none above 100 ms")
