"""The window as fixtures: off screen, settings in a folder of its own, nothing left alive at the end."""

from __future__ import annotations

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"

import gc
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kinds_stream import write_kinds
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPoint, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from small_documents import small_document
from window_reset import SharedWindow, forget_settings
from window_rest import is_at_rest

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.focus_ring import ring_focus
from refbrowser.views import references
from refbrowser.views.editing import preview


@pytest.fixture(scope="session")
def settings_of_worker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of settings that is no user's."""
    folder = tmp_path_factory.mktemp("settings")
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(folder))
    return folder


@pytest.fixture(autouse=True)
def settings_folder(settings_of_worker: Path) -> Iterator[Path]:
    """Keep the window's settings away from the user's, and from those of other tests."""
    yield settings_of_worker
    forget_settings()


@pytest.fixture(autouse=True)
def garbage_stays_here() -> Iterator[None]:
    """Collect cycles on this thread alone, as the window does: Qt's objects must not die on another.

    What is left then are modules and caches. They are taken out of later collections, each of which would
    take 0.2 s otherwise.
    """
    gc.disable()
    yield
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def rows_come_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give pages of rows the time that they need: on a busy machine their budget leaves some for later."""
    for module in (references, preview):
        monkeypatch.setattr(module, "BUDGET", 10.0)


@pytest.fixture(scope="session")
def styled(qapp: QApplication) -> QApplication:
    """The application with the window's style."""
    theme.follow_system(qapp)
    ring_focus(qapp)
    theme.apply(qapp, theme.LIGHT)
    return qapp


#: The window that tests share, while it stands: made by the first of them that asks for it.
_shared: list[SharedWindow] = []


@pytest.fixture(scope="session")
def shared(styled: QApplication) -> Iterator[list[SharedWindow]]:
    """The window that the tests of a worker share, or none."""
    yield _shared
    close_shared()


def close_shared() -> None:
    """Close the window that tests share; the next that asks for one makes a new one."""
    while _shared:
        each = _shared.pop()
        each.window.close()
        each.delete()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Close the window that tests share before a module is begun whose tests look for none."""
    if nextitem is not None and nextitem.path != item.path and "shared" not in nextitem.fixturenames:
        close_shared()


@pytest.fixture
def window(qtbot: QtBot, shared: list[SharedWindow], request: pytest.FixtureRequest) -> Iterator[MainWindow]:
    """A whole window, as good as new; its plot is made already.

    A test marked `fresh` gets a window of its own, in which nothing was made for an earlier one.
    """
    if request.node.get_closest_marker("fresh"):
        yield from fresh_window()
        return
    if not shared:
        shared.append(SharedWindow(qtbot))
    mine = shared.pop()
    # What is drawn by itself is tested where that is what a test is about.
    mine.window.preferences.set("first_picture", False)
    yield mine.window
    # A window that was closed, or cannot be made as good as new, is not shared on, and not left: the pointer
    # of later tests would find it first.
    if mine.window.isVisible():
        try:
            mine.reset(qtbot)
        except BaseException:
            mine.window.close()
            mine.delete()
            raise
        shared.append(mine)
    else:
        mine.delete()


def fresh_window() -> Iterator[MainWindow]:
    """A window of its own; everything it made must be gone when it is closed."""
    before = set(QApplication.topLevelWidgets())
    made = MainWindow()
    made.resize(1280, 800)
    made.show()
    made.complete()
    # What is drawn by itself is tested where that is what a test is about.
    made.preferences.set("first_picture", False)
    yield made
    for document in made.documents.all():
        made.documents.close(document)
    made.close()
    made.deleteLater()
    del made
    for _ in range(3):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QCoreApplication.processEvents()
    gc.collect()
    left = [widget for widget in QApplication.topLevelWidgets() if widget not in before]
    assert not left, f"widgets left alive: {[(type(w).__name__, w.objectName()) for w in left]}"


Open = Callable[[str | Path], OpenDocument]


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot) -> Open:
    """Open a document in the window and wait until it is read."""

    def open_path(path: str | Path) -> OpenDocument:
        document = window.open_path(str(path))
        qtbot.waitUntil(lambda: document.is_open or document.error is not None)
        return document

    return open_path


@pytest.fixture
def settle(window: MainWindow, qtbot: QtBot) -> Callable[[], None]:
    """Wait until nothing runs in the window and nothing there is put off for a moment."""

    def wait() -> None:
        # Again after what was posted, which may begin anew.
        for _ in range(2):
            qtbot.waitUntil(lambda: is_at_rest(window))
            QCoreApplication.processEvents()
        qtbot.waitUntil(lambda: is_at_rest(window))

    return wait


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A small document with its data beside it."""
    (tmp_path / "data.bin").write_bytes(bytes(range(56)))
    path = tmp_path / "small.json"
    path.write_text(json.dumps(small_document(), indent=1))
    return path


@pytest.fixture
def kinds(tmp_path: Path) -> Path:
    """A stream with a variable of each kind."""
    return write_kinds(tmp_path / "kinds.ncs")


def drop(window: MainWindow, *urls: QUrl, text: str = "") -> None:
    """Drag data over the window and drop it there."""
    drop_on(window, *urls, text=text, between=lambda: window.parts.drops.overlay.isVisible())
    assert not window.parts.drops.overlay.isVisible()


def drop_on(widget: QWidget, *urls: QUrl, text: str = "", between: Callable[[], bool] = lambda: True) -> None:
    """Drag data over a widget and drop it there; `between` holds before that is done."""
    data = QMimeData()
    if urls:
        data.setUrls(list(urls))
    if text:
        data.setText(text)
    where, action = QPointF(300, 300), Qt.DropAction.CopyAction
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(widget, QDragEnterEvent(QPoint(300, 300), action, data, buttons, keys))
    assert between()
    QApplication.sendEvent(widget, QDropEvent(where, action, data, buttons, keys))


def button(parent: object, name: str) -> QPushButton:
    """Return the button with an object name."""
    found = parent.findChild(QPushButton, name)  # type: ignore[attr-defined]
    assert found is not None, name
    return found
