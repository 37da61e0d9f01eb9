"""The application on macOS, which is told by events which files are opened with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication


class FileOpenApplication(QApplication):
    """Hands on what is opened with the program: at once, or when there is somewhere to open it."""

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(list(arguments))
        self._waiting: list[str] = []
        self._open: Callable[[str], object] | None = None

    def open_by(self, function: Callable[[str], object]) -> None:
        """Have files and links opened by a function, those that have come already first."""
        self._open = function
        waiting, self._waiting = self._waiting, []
        for target in waiting:
            function(target)

    def event(self, event: QEvent) -> bool:
        """Take what is to be opened; all else is Qt's."""
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        # A link has no file.
        target = event.file() or event.url().toString()
        if self._open is None:
            self._waiting.append(target)
        else:
            self._open(target)
        return True
