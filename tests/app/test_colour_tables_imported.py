"""Colour tables that are imported from files: kept, listed, used, removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from refbrowser.app.commands.colours import ColourCommands
from refbrowser.app.plot.colours.colour_maps import take_imported
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.bundled import resource

Settle = Callable[[], None]
TABLE = "0 0 0\n255 0 0\n255 255 255\n"


@pytest.fixture(autouse=True)
def _none_left(window: MainWindow) -> Iterator[None]:
    yield
    window.settings.set_colour_tables([])
    take_imported([])


@pytest.mark.slow
def test_a_table_is_imported_kept_and_removed(
    window: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    window.open_path(str(resource("sample/sea_surface.json")), "/ocean/sst")
    settle()
    plot = window.centre.plot
    assert plot is not None
    (tmp_path / "warm.ncmap").write_text(TABLE)
    window.actions_["import_colours"].trigger()
    dialog = window.findChild(QFileDialog, "importColoursDialog")
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "warm.ncmap"))
    dialog.close()
    qtbot.waitUntil(lambda: plot.look().options.map_title == "warm")
    assert plot.header.map.currentText() == "warm"
    assert [each.title for each in window.settings.colour_tables()] == ["warm"]
    assert plot.bar.strip.colours[254].tolist() == [255, 255, 255, 255]
    (tmp_path / "bad.cpt").write_text("nothing of the kind")
    window.groups[ColourCommands].import_from(str(tmp_path / "bad.cpt"))
    settle()
    assert plot.look().options.map_title == "warm"
    assert window.actions_["remove_colours"].isEnabled()
    window.actions_["remove_colours"].trigger()
    assert plot.look().options.map_title == "Viridis"
    assert window.settings.colour_tables() == []
    assert not window.actions_["remove_colours"].isEnabled()
