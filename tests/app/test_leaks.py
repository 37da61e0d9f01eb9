"""Opening, plotting and closing over and over leaves nothing behind: no objects, no threads, no memory."""

from __future__ import annotations

import gc
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from deep import is_long
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.shell.housekeeping import Ahead
from refbrowser.app.shell.main_window import MainWindow

pytestmark = pytest.mark.fresh
ARRAY_PATHS = ("/temp", "/depth")
#: How often a document is opened and closed, and how often another array is selected.
DOCUMENTS, ARRAYS = (40, 200) if is_long() else (12, 60)
#: Bytes by which the process may have grown: many times what one picture or document takes here.
GROWTH = (24 if is_long() else 16) * 2**20
#: Threads that may be more than before: pools fill up to their size while they work.
THREADS = 16


def swept() -> None:
    """Delete what waits for it, and collect cycles."""
    for _ in range(3):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QCoreApplication.processEvents()
        gc.collect()


def population(window: MainWindow) -> Counter[str]:
    """Return how many objects of each class the window holds, and how many widgets there are."""
    swept()
    found = Counter(type(each).__name__ for each in window.findChildren(QObject))
    # The window that other tests share may stand, and make something meanwhile.
    places = [each.window() for each in QApplication.allWidgets()]
    found["widgets of the application"] = sum(
        place is window or not isinstance(place, MainWindow) for place in places
    )
    return found


@contextmanager
def nothing_grows(window: MainWindow) -> Iterator[None]:
    """Compare what there is before and after."""
    before, threads = population(window), threading.active_count()
    held = psutil.Process().memory_info().rss
    yield
    assert not population(window) - before
    assert threading.active_count() - threads <= THREADS
    assert psutil.Process().memory_info().rss - held < GROWTH


@pytest.fixture
def warm(
    window: MainWindow, opened: Open, small: Path, settle: Callable[[], None], qtbot: QtBot
) -> MainWindow:
    """A window that has made what it makes once."""
    ahead = Ahead(window)
    document = opened(small)
    qtbot.waitUntil(lambda: ahead.is_done)
    for place in ARRAY_PATHS:
        assert window.hierarchy.select_node(document, place)
        settle()
    return window


@pytest.mark.slow
def test_documents_that_are_closed_are_gone(
    warm: MainWindow, opened: Open, small: Path, settle: Callable[[], None], qtbot: QtBot
) -> None:
    def open_and_close(times: int) -> None:
        for _ in range(times):
            document = opened(small)
            assert warm.hierarchy.select_node(document, ARRAY_PATHS[0])
            warm.editors.show_reference(document, None)
            qtbot.waitUntil(lambda: not warm.tasks.busy())
            warm.documents.close(document)
        settle()

    open_and_close(5)
    with nothing_grows(warm):
        open_and_close(DOCUMENTS)


@pytest.mark.long
def test_arrays_that_were_looked_at_are_gone(warm: MainWindow, settle: Callable[[], None]) -> None:
    document = warm.documents.current
    assert document is not None

    def look(times: int) -> None:
        for number in range(times):
            assert warm.hierarchy.select_node(document, ARRAY_PATHS[number % len(ARRAY_PATHS)])
            QCoreApplication.processEvents()
            if number % 10 == 0:
                settle_plot()
        settle()

    def settle_plot() -> None:
        plot = warm.centre.plot
        assert plot is not None
        while warm.tasks.busy() or not plot.is_settled():
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)

    look(20)
    with nothing_grows(warm):
        look(ARRAYS)
