"""Serving a dataset from the window, and opening what another one serves."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.wings.ncstream.window.remote_dialog import OpenRemoteDialog
from refbrowser.wings.ncstream.window.service_commands import ServiceCommands

Settle = Callable[[], None]


@pytest.mark.slow
def test_a_dataset_is_served_until_it_is_closed(
    window: MainWindow, opened: Open, settle: Settle, kinds: Path, qtbot: QtBot
) -> None:
    document = opened(kinds)
    settle()
    action = window.actions_["serve"]
    action.trigger()
    serving = window.groups[ServiceCommands].serving
    qtbot.waitUntil(lambda: bool(serving.url(document)))
    url = serving.url(document)
    assert url.startswith("http://127.0.0.1:")
    assert action.isChecked()
    with urllib.request.urlopen(f"{url}?req=CDL", timeout=10) as answer:
        assert b"sounding" in answer.read()
    window.status._service.click()
    assert QGuiApplication.clipboard().text() == url
    window.documents.close(document)
    assert serving.urls() == []
    with pytest.raises(OSError, match=r"refused|reset"):
        urllib.request.urlopen(f"{url}?req=CDL", timeout=10)


@pytest.mark.slow
def test_a_service_is_opened_by_its_address(
    window: MainWindow, opened: Open, settle: Settle, kinds: Path, qtbot: QtBot
) -> None:
    document = opened(kinds)
    settle()
    window.actions_["serve"].trigger()
    serving = window.groups[ServiceCommands].serving
    qtbot.waitUntil(lambda: bool(serving.url(document)))
    window.actions_["open_remote"].trigger()
    dialog = window.findChild(OpenRemoteDialog)
    field = dialog.findChild(QLineEdit, "urlField")
    qtbot.keyClicks(field, serving.url(document))
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.documents.current is not document and window.documents.current.is_open)
    settle()
    remote = window.documents.current
    assert remote is not None
    assert remote.path == f"cdmremote:{serving.url(document)}"
    assert not window.actions_["repair_stream"].isEnabled()
    window.hierarchy.select_node(remote, "/field")
    settle()
    assert window.centre.plot is not None
    picture = window.centre.plot.picture()
    assert picture is not None
    assert picture.all_done
