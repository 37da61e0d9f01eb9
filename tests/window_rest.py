"""When a window is at rest: what tests and pictures wait for instead of a time."""

from __future__ import annotations

from PySide6.QtCore import QTimer

from refbrowser.app.shell.main_window import MainWindow

#: A pause that is longer, in milliseconds, waits for the user and not for work.
LONGEST_PAUSE = 250


def is_at_rest(window: MainWindow) -> bool:
    """Tell whether nothing runs in a window and nothing there is put off for a moment."""
    plot = window.centre.plot
    if window.tasks.busy() or not (plot is None or plot.is_settled()):
        return False
    pauses = (timer for timer in window.findChildren(QTimer) if timer.isSingleShot() and timer.isActive())
    return all(timer.interval() > LONGEST_PAUSE for timer in pauses)
