"""What a ready window does for itself: messages are logged, garbage collected, parts made early.

Python's cyclic garbage is collected on the GUI thread alone: a Qt object in a cycle dies in the thread that
collects it. On a worker thread its timers stay behind, and the program crashes when one of them is due.

PySide6 makes each class and enumeration when it is first asked for, and crashes when two threads do that at
once. pyqtgraph asks for all of them while it is imported, so the window's thread asks before.

What is used later is made while nothing else is done, for its first use would stop the window for a moment:
the modules are imported, the window's thread makes the editors, one part after each pause.

`Screenshot` draws the window to a picture when it has come to rest.
"""

from __future__ import annotations

import gc
import itertools
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QMessageLogContext, QObject, QTimer, QtMsgType, qInstallMessageHandler

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted

if TYPE_CHECKING:
    from refbrowser.app.frame.centre import Centre
    from refbrowser.app.workspace.workspace import Workspace


logger = logging.getLogger(__name__)
_incidents = itertools.count(1)


def send_qt_messages_to_log() -> None:
    """Log what Qt would write to standard error."""
    levels = {QtMsgType.QtWarningMsg: logging.INFO, QtMsgType.QtCriticalMsg: logging.ERROR}

    def log(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
        logger.log(levels.get(kind, logging.DEBUG), "%s", message)

    qInstallMessageHandler(log)


def send_exceptions_to(show: Callable[[BaseException], object]) -> None:
    """Log an exception that nobody caught in the window's thread, and show it; the window stays."""

    def caught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        number = next(_incidents)
        logger.error("incident %d", number, exc_info=(kind, error, trace))
        error.add_note(f"Incident {number}; details are in the log")
        show(error)

    sys.excepthook = caught


#: Milliseconds between two looks.
LOOK_PAUSE = 500
#: What must have been made, or survived, before a generation is looked through. The last takes long (100 ms
#: once a large document is open), so that it is looked through seldom.
COLLECT_AFTER = (5_000, 20, 50)


class GarbageCollector(QObject):
    """Collects while it exists; Python's own collecting, on any thread, is off for good."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        # What was made so far stays: modules, classes, and the window's first parts.
        gc.freeze()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_PAUSE)
        self._timer.timeout.connect(collect_due)
        self._timer.start()


def collect_due() -> int | None:
    """Collect the oldest generation that is due; return which, None where none is."""
    counts = gc.get_count()
    due = [number for number, limit in enumerate(COLLECT_AFTER) if counts[number] > limit]
    if not due:
        return None
    gc.collect(due[-1])
    return due[-1]


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


#: Packages without Qt that what is shown needs.
_NEEDED = (
    *("refbrowser.references", "refbrowser.views", "refbrowser.engine.audit", "refbrowser.engine.comparing"),
    "refbrowser.exporting.combining",
)


def plotting() -> Iterator[str]:
    """Yield the names of modules that plotting needs."""
    yield from _modules("refbrowser.views.plot")
    yield from ("pyqtgraph", "refbrowser.app.plot.plot_pane")


def panes() -> Iterator[str]:
    """Yield the names of modules that the window needs only when it is asked for something."""
    for package in _NEEDED:
        yield from _modules(package)
    # Colouring the first template would ask for it on the window's thread, dialogs for formats of others.
    import_module("jinja2")
    # So would the first projection that is chosen. Not all have it.
    with suppress(ImportError):
        import_module("pyproj")
    from refbrowser.formats.registry import foreign

    foreign()
    yield from _modules("refbrowser.app")


def _modules(package: str) -> Iterator[str]:
    return (module.name for module in walk_packages(import_module(package).__path__, f"{package}."))


#: Milliseconds between two parts; so long nothing may run before the next one is made.
PAUSE = 60


class Ahead(QObject):
    """Begins when the plot is there, which the first document needs; does nothing while any task runs."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace
        self._centre = workspace.centre
        self._editors = workspace.editors
        self._is_loaded = False
        self._parts: Iterator[None] = self._editors.parts()
        self._timer = QTimer(self)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(self._go_on)
        self._centre.tableMade.connect(lambda _table: self._timer.start())

    @property
    def is_done(self) -> bool:
        """Whether everything is made."""
        return self._is_loaded and not self._timer.isActive()

    def _go_on(self) -> None:
        if self._workspace.tasks.is_closed:
            self._timer.stop()
        if self._workspace.tasks.busy() or self._workspace.tasks.is_closed:
            return
        if not self._is_loaded:
            self._load()
        elif next(self._parts, self) is self:
            self._timer.stop()

    def _load(self) -> None:
        def loaded() -> None:
            self._is_loaded = True

        self._workspace.tasks.load("load panes", panes(), loaded)


#: The window is looked at this often, in milliseconds, and must be at rest this many times in a row.
LOOK_AGAIN = 40
CALM = 5
#: After so many seconds the window is drawn as it is.
PATIENCE = 120.0


class Screenshot(QObject):
    """Waits until nothing runs and the plot is settled, then saves a picture and ends the program.

    `error` is then what the picture shows instead of what was asked for, or why there is none.
    """

    def __init__(
        self, workspace: Workspace, centre: Centre, path: str, array: str | None, end: Callable[[], object]
    ) -> None:
        super().__init__(workspace.window())
        self.error: BaseException | None = None
        self._workspace, self._centre = workspace, centre
        self._path = path
        self._array = array
        self._end = end
        self._calm = 0
        self._deadline = time.monotonic() + PATIENCE
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_AGAIN)
        self._timer.timeout.connect(self._look)

    def start(self) -> None:
        """Begin to wait."""
        self._timer.start()

    def _look(self) -> None:
        plots = self._centre.plots()
        at_rest = (
            bool(plots) and all(plot.is_settled() for plot in plots) and not self._workspace.tasks.busy()
        )
        self._calm = self._calm + 1 if at_rest else 0
        is_late = self._calm < CALM and time.monotonic() > self._deadline
        if self._calm >= CALM or is_late:
            self._timer.stop()
            self.error = self._shown_error()
            if is_late and self.error is None:
                message = f"not everything was loaded after {PATIENCE:.0f} s: the picture shows what was"
                self.error = RefbrowserError(ErrorKind.SOURCE, message)
            if not self._workspace.window().grab().save(self._path):
                message = f"the picture {quoted(self._path)} could not be written"
                self.error = RefbrowserError(ErrorKind.IO, message)
            self._end()

    def _shown_error(self) -> BaseException | None:
        documents = self._workspace.documents.all()
        error = next((document.error for document in documents if document.error is not None), None)
        if error is None and self._array is not None and documents:
            hierarchy = documents[-1].hierarchy
            node = None if hierarchy is None else hierarchy.find(self._array)
            if node is None or hasattr(node, "groups"):
                place = Place(document=documents[-1].path)
                error = RefbrowserError(ErrorKind.USAGE, f"there is no array {quoted(self._array)}", place)
        return error
