"""Draws the window to a picture when what was asked for is on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted

if TYPE_CHECKING:
    from refbrowser.app.shell.centre import Centre
    from refbrowser.app.shell.frame import Frame

#: The window is looked at this often, in milliseconds, and must be at rest this many times in a row.
INTERVAL = 40
CALM = 5
#: After so many seconds the window is drawn as it is.
PATIENCE = 120.0


class Screenshot(QObject):
    """Waits until nothing runs and the plot is settled, then saves a picture and ends the program.

    `error` is then what the picture shows instead of what was asked for, or why there is none.
    """

    def __init__(
        self, frame: Frame, centre: Centre, path: str, array: str | None, end: Callable[[], object]
    ) -> None:
        super().__init__(frame.window())
        self.error: BaseException | None = None
        self._frame, self._centre = frame, centre
        self._path = path
        self._array = array
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
        plot = self._centre.plot
        at_rest = plot is not None and plot.is_settled() and not self._frame.tasks.busy()
        self._calm = self._calm + 1 if at_rest else 0
        is_late = self._calm < CALM and time.monotonic() > self._deadline
        if self._calm >= CALM or is_late:
            self._timer.stop()
            self.error = self._shown_error()
            if is_late and self.error is None:
                message = f"not all was there after {PATIENCE:.0f} s: the picture shows what was"
                self.error = RefbrowserError(ErrorKind.SOURCE, message)
            if not self._frame.window().grab().save(self._path):
                message = f"the picture {quoted(self._path)} could not be written"
                self.error = RefbrowserError(ErrorKind.IO, message)
            self._end()

    def _shown_error(self) -> BaseException | None:
        documents = self._frame.documents.all()
        error = next((document.error for document in documents if document.error is not None), None)
        if error is None and self._array is not None and documents:
            hierarchy = documents[-1].hierarchy
            node = None if hierarchy is None else hierarchy.find(self._array)
            if node is None or hasattr(node, "groups"):
                place = Place(document=documents[-1].path)
                error = RefbrowserError(ErrorKind.USAGE, f"there is no array {quoted(self._array)}", place)
        return error
