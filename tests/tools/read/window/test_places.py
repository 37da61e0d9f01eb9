"""A place typed over the plot is shown; what is no place is told, and the plot stays where it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

import refbrowser
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow


@pytest.mark.slow
def test_a_place_is_typed(
    window: MainWindow,
    opened: Callable[[str | Path], OpenDocument],
    settle: Callable[[], None],
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    document = opened(tmp_path / refbrowser.sample())
    settle()
    window.hierarchy.select_node(document, "/ocean/sst")
    settle()
    plot = window.centre.plot
    assert plot is not None
    field, label = plot.header.place, plot.header.slice_label
    window.actions_["go_to_place"].trigger()
    assert not field.isHidden()
    assert label.isHidden()
    assert field.text().startswith("time=2024-01")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert field.isHidden()
    assert not label.isHidden()
    QTest.mouseClick(label, Qt.MouseButton.LeftButton)
    field.setText("time=2024-05,lat=30..60")
    QTest.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: plot.slice_state().indices[0] == 4)
    settle()
    plot.header.place.typed.emit("time=1999")
    qtbot.waitUntil(lambda: window.centre.error_bar.isVisibleTo(window.centre))
    assert plot.slice_state().indices[0] == 4
