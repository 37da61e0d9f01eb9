"""Draws the window to a picture when what was asked for is on it."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from refbrowser.app.main_window import MainWindow

#: The window is looked at this often, in milliseconds, and must be at rest this many times in a row.
INTERVAL = 40
CALM = 5
#: After so many seconds the window is drawn as it is.
PATIENCE = 120.0


class Screenshot(QObject):
    """Waits until nothing runs and the plot is settled, then saves a picture and ends the program."""

    def __init__(self, window: MainWindow, path: str, end: Callable[[int], object]) -> None:
        super().__init__(window)
        self._window = window
        self._path = path
        self._end = end
        self._calm = 0
        self._deadline = time.monotonic() + PATIENCE
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL)
        self._timer.timeout.connect(self._look)

    def start(self) -> None:
        """Begin to wait."""
        self._timer.start()

    def _look(self) -> None:
        plot = self._window.centre.plot
        at_rest = plot is not None and plot.is_settled() and not self._window.tasks.busy()
        self._calm = self._calm + 1 if at_rest else 0
        if self._calm >= CALM or time.monotonic() > self._deadline:
            self._timer.stop()
            saved = self._window.grab().save(self._path)
            self._end(0 if saved else 1)
