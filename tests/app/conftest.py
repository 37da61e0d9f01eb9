"""The window in tests: off screen, settings in a folder of its own, nothing left alive at the end."""

from __future__ import annotations

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"

import gc
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from small_documents import small_document

from refbrowser.app import theme
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.main_window import MainWindow
from refbrowser.app.references_view import TELL_PAUSE

#: A wait for work off the GUI thread, in milliseconds; this machine may be busy.
PATIENCE = 20_000


@pytest.fixture(autouse=True)
def settings_folder(tmp_path: Path) -> Path:
    """Keep the window's settings away from the user's."""
    folder = tmp_path / "settings"
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(folder))
    return folder


@pytest.fixture(scope="session")
def styled(qapp: QApplication) -> QApplication:
    """The application with the window's style."""
    theme.follow_system(qapp)
    theme.apply(qapp, theme.LIGHT)
    return qapp


@pytest.fixture
def window(styled: QApplication, qtbot: QtBot) -> Iterator[MainWindow]:
    """A whole window; everything it made must be gone when it is closed."""
    before = set(map(id, QApplication.topLevelWidgets()))
    made = MainWindow()
    made.resize(1280, 800)
    made.show()
    made.complete()
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
    left = [widget for widget in QApplication.topLevelWidgets() if id(widget) not in before]
    assert not left, f"widgets left alive: {[(type(w).__name__, w.objectName()) for w in left]}"


Open = Callable[[str | Path], OpenDocument]


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot) -> Open:
    """Open a document in the window and wait until it is read."""

    def open_path(path: str | Path) -> OpenDocument:
        document = window.open_path(str(path))
        qtbot.waitUntil(lambda: document.is_open or document.error is not None, timeout=PATIENCE)
        return document

    return open_path


@pytest.fixture
def settle(window: MainWindow, qtbot: QtBot) -> Callable[[], None]:
    """Wait until nothing runs in the window."""

    def wait() -> None:
        def at_rest() -> bool:
            plot = window.centre.plot
            return not window.tasks.busy() and (plot is None or plot.is_settled())

        # Twice: panes follow the table of keys after a short pause.
        for _ in range(2):
            qtbot.waitUntil(at_rest, timeout=PATIENCE)
            qtbot.wait(TELL_PAUSE + 20)
        qtbot.waitUntil(at_rest, timeout=PATIENCE)

    return wait


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A small document with its data beside it."""
    (tmp_path / "data.bin").write_bytes(bytes(range(48)))
    path = tmp_path / "small.json"
    path.write_text(json.dumps(small_document(), indent=1))
    return path
