"""The export dialog for streams: which options are seen, and what is written with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit
from pytestqt.qtbot import QtBot
from window_fixtures import button

import refbrowser
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.exporting.option_fields import chosen_options
from refbrowser.formats.registry import form_named
from refbrowser.tools.export.window.export_dialog import ExportDialog
from refbrowser.wings.ncstream.writing.stream_options import StreamOptions

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


@pytest.fixture
def dialog(window: MainWindow, small: Path, opened: Open, settle: Settle) -> ExportDialog:
    opened(small)
    settle()
    window.actions_["export"].trigger()
    found = window.findChild(ExportDialog)
    assert found is not None
    choose(found, "exportFormat", "ncstream")
    return found


def choose(dialog: ExportDialog, name: str, value: str) -> None:
    combo = dialog.findChild(QComboBox, name)
    row = combo.findData(value)
    assert row >= 0, value
    combo.setCurrentIndex(row)


@pytest.mark.slow
def test_streams_have_options_of_their_own(dialog: ExportDialog) -> None:
    stream = dialog.options
    assert stream.group is StreamOptions
    assert stream.isVisibleTo(dialog)
    assert dialog.findChild(QLineEdit, "exportTarget").text().endswith(".ncs")
    assert not dialog.findChild(QCheckBox, "exportResume").isEnabled()
    choose(dialog, "exportFormat", "zarr-v3")
    assert not stream.isVisibleTo(dialog)
    assert dialog.options.isVisibleTo(dialog)
    assert dialog.findChild(QCheckBox, "exportResume").isEnabled()


@pytest.mark.slow
def test_what_is_chosen_is_asked_for(dialog: ExportDialog) -> None:
    assert dialog.order().options == {"profile": "full", "codec": "keep", "checksum": True}
    dialog.findChild(QLineEdit, "exportTileSize").setText("2MiB")
    choose(dialog, "exportStreamCodec", "zlib:6")
    said = dialog.order().options
    assert said == {"profile": "full", "codec": "zlib:6", "tile_size": "2MiB", "checksum": True}
    made = StreamOptions(codec="zlib:6", tile_size=2 << 20, checksum=True)
    assert chosen_options(form_named("ncstream"), said, "t.ncs") == made
    choose(dialog, "exportStreamProfile", "compatible")
    assert not dialog.findChild(QLineEdit, "exportTileSize").isEnabled()
    assert dialog.order().options == {"profile": "compatible", "codec": "zlib:6", "checksum": False}
    assert "siphon" in dialog.findChild(QLabel, "exportStreamReasons").text()


@pytest.mark.slow
def test_a_stream_is_written_and_checked(dialog: ExportDialog, qtbot: QtBot) -> None:
    words = dialog.findChild(QLabel, "exportCost")
    choose(dialog, "exportStreamProfile", "compatible")
    start = button(dialog, "exportStartButton")
    qtbot.waitUntil(start.isEnabled)
    start.click()
    qtbot.waitUntil(lambda: words.text().startswith("Done"))
    with refbrowser.open(dialog.findChild(QLineEdit, "exportTarget").text()) as written:
        assert written.format == "ncstream"
        assert len(written.arrays) > 0
    button(dialog, "exportCheckButton").click()
    qtbot.waitUntil(lambda: dialog.checked.isVisibleTo(dialog), timeout=20_000)


@pytest.mark.slow
def test_a_size_that_is_none_is_said(dialog: ExportDialog, qtbot: QtBot) -> None:
    dialog.findChild(QLineEdit, "exportTileSize").setText("big")
    words = dialog.findChild(QLabel, "exportCost")
    qtbot.waitUntil(lambda: "not a size" in words.text())
    assert not button(dialog, "exportStartButton").isEnabled()
