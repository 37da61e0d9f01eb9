"""When a window is at rest: what tests and pictures wait for instead of a time."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from shiboken6 import isValid

from refbrowser.app.shell.main_window import MainWindow

#: A pause that is longer, in milliseconds, waits for the user and not for work.
LONGEST_PAUSE = 250


#: Pauses that were found to run: while one of them does, no others are looked for in the whole window.
_running: list[QTimer] = []


def _is_pause(timer: QTimer) -> bool:
    return isValid(timer) and timer.isActive() and timer.isSingleShot() and timer.interval() <= LONGEST_PAUSE


def is_at_rest(window: MainWindow) -> bool:
    """Tell whether nothing runs in a window and nothing there is put off for a moment."""
    plot = window.centre.plot
    if window.tasks.busy() or not (plot is None or plot.is_settled()):
        return False
    if not any(map(_is_pause, _running)):
        _running[:] = filter(_is_pause, window.findChildren(QTimer))
    return not _running
