"""When a window is at rest: what tests and pictures wait for instead of a time."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QTimer
from shiboken6 import isValid

from refbrowser.app.shell.main_window import MainWindow

#: A pause that is longer, in milliseconds, waits for the user and not for work.
LONGEST_PAUSE = 250

#: Timers that were started and may run: to look for them among all that a window has takes milliseconds.
_started: dict[int, QTimer] = {}
_start = QTimer.start


def _start_noted(timer: QTimer, *given: Any) -> None:
    """Start a timer, and note it; what a signal gives is no interval, unless it is a number alone."""
    _started[id(timer)] = timer
    _start(timer, *(given if [*map(type, given)] == [int] else ()))


QTimer.start = _start_noted  # type: ignore[method-assign,assignment]


def _is_pause(timer: QTimer) -> bool:
    return isValid(timer) and timer.isActive() and timer.isSingleShot() and timer.interval() <= LONGEST_PAUSE


def is_at_rest(window: MainWindow) -> bool:
    """Tell whether nothing runs in a window and nothing there is put off for a moment."""
    if window.tasks.busy() or not all(plot.is_settled() for plot in window.centre.plots()):
        return False
    for number, timer in list(_started.items()):
        if not isValid(timer) or not timer.isActive():
            del _started[number]
    return not any(map(_is_pause, _started.values()))
