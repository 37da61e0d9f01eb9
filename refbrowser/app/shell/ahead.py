"""What is used later is made while nothing else is done: its first use would stop the window for a moment.

A worker imports the modules; the window's thread makes the editors, one part after each pause.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from refbrowser.app.shell.main_window import MainWindow
    from refbrowser.app.shell.tasks import TaskControl

#: Milliseconds between two parts; so long nothing may run before the next one is made.
PAUSE = 60


class Ahead(QObject):
    """Begins when the plot is there, which the first document needs; does nothing while any task runs."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._is_loaded = False
        self._parts: Iterator[None] = window.editors.parts()
        self._timer = QTimer(self)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(self._go_on)
        window.centre.plotMade.connect(lambda _plot: self._timer.start())

    @property
    def is_done(self) -> bool:
        """Whether everything is made."""
        return self._is_loaded and not self._timer.isActive()

    def _go_on(self) -> None:
        if self._window.tasks.busy():
            return
        if not self._is_loaded:
            self._load()
        elif next(self._parts, self) is self:
            self._timer.stop()

    def _load(self) -> None:
        def load(control: TaskControl) -> None:
            from refbrowser.app.controller.work import load_panes

            load_panes(control.check)

        def loaded(_none: object) -> None:
            self._is_loaded = True

        self._window.tasks.run("load panes", self._window.tasks.PREPARING, load, loaded)
