"""Making Qt's classes before another thread asks for them.

PySide6 makes each class and enumeration when it is first asked for, and crashes when two threads do that at
once. pyqtgraph asks for all of them while it is imported, which happens on a worker thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from PySide6 import QtCore, QtGui, QtWidgets

#: Names that are asked for in one go: some 5 ms on the thread of the window.
AT_ONCE = 120
#: A worker that waits looks this often whether it is cancelled, in seconds.
_LOOKED = 0.05


class QtNames:
    """Has the window's thread ask for all names, some at a time, while a worker waits."""

    def __init__(self) -> None:
        names = [(module, name) for module in (QtCore, QtGui, QtWidgets) for name in dir(module)]
        self._left = [names[start : start + AT_ONCE] for start in range(0, len(names), AT_ONCE)]
        self._made = threading.Event()

    def make_some(self) -> None:
        """Ask for the next names, on the window's thread."""
        if self._left:
            for module, name in self._left.pop():
                getattr(module, name)
        if not self._left:
            self._made.set()

    def wait(self, ask: Callable[[object], object], check: Callable[[], object]) -> None:
        """Wait until all are made, on a worker thread.

        Parameters
        ----------
        ask
            Has `make_some` called on the window's thread.
        check
            Raises where the worker is not to wait any longer.
        """
        for _ in range(len(self._left)):
            ask(None)
        while not self._made.wait(_LOOKED):
            check()
