"""The sheet that has the packing of an array said in the other way: before and after, one step, and undo."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from window_fixtures import Open, button

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.packing_sheet import PackingSheet
from refbrowser.app.panes.attribute_cells import VALUE
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.side_texts import SideTexts
from refbrowser.tools.export.window.export_dialog import ExportDialog
from refbrowser.views.side_lines import Sign

Settle = Callable[[], None]
SAMPLE = Path(__file__).parents[3] / "resources" / "sample" / "sea_surface.json"
ARRAY = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [4],
    "data_type": "int16",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "attributes": {"scale_factor": 0.01, "add_offset": 280.0, "units": "K"},
}


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    refs = {
        "zarr.json": '{"zarr_format": 3, "node_type": "group"}',
        "t/zarr.json": json.dumps(ARRAY),
        "t/c/0": "base64:AAABAAIAAwA=",
        "plain/zarr.json": json.dumps({**ARRAY, "attributes": {}}),
    }
    path = tmp_path / "packed.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


def shown(window: MainWindow, document: OpenDocument, path: str, settle: Settle) -> None:
    window.hierarchy.select_node(document, path)
    settle()


def sheet_of(window: MainWindow, settle: Settle) -> PackingSheet:
    settle()
    sheet = window.findChild(PackingSheet)
    assert sheet is not None
    return sheet


def outcome(sheet: PackingSheet) -> str:
    label = sheet.findChild(QLabel, "packingOutcome")
    assert label is not None
    return label.text().replace("\N{NARROW NO-BREAK SPACE}", " ")


@pytest.mark.slow
def test_it_is_shown_first_one_step_then_and_there_is_a_way_back(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, packed: Path
) -> None:
    document = opened(packed)
    settle()
    shown(window, document, "/t", settle)
    before = packed.read_bytes()
    # From its line among the attributes.
    tree = window.attributes.tree
    line = next(
        index
        for index in tree.model().match(
            tree.model().index(0, 0), Qt.ItemDataRole.DisplayRole, "Packing", 1, Qt.MatchFlag.MatchRecursive
        )
    )
    tree.clicked.emit(line.siblingAtColumn(VALUE))
    assert window.findChild(PackingSheet) is None
    tree.clicked.emit(line)
    sheet = sheet_of(window, settle)
    assert sheet.windowTitle() == "As codecs"
    assert "What is stored stays." in outcome(sheet)
    assert "in the last place of float64" in outcome(sheet)
    assert "Computed at all 65 536 numbers of int16" in outcome(sheet)
    sides = sheet.findChild(SideTexts)
    assert sides is not None
    here, there = (text.lines() for text in sides.texts)
    assert any("scale_factor" in line.text for line in here if line.sign in (Sign.CHANGED, Sign.HERE))
    assert any("scale_offset" in line.text for line in there if line.sign in (Sign.CHANGED, Sign.THERE))
    assert button(sheet, "packingExportButton").isHidden()
    button(sheet, "packingApplyButton").click()
    settle()
    assert document.history is not None
    assert document.history.entries[-1] == "Say the packing of /t by codecs"
    values = window.attributes.values()
    assert values["Packing"].startswith("by codecs (scale_offset and cast_value)")
    assert "scale_factor" not in values
    # The other way round, from the menu.
    window.actions_["pack_otherwise"].trigger()
    back = sheet_of(window, settle)
    assert back.windowTitle() == "As attributes"
    button(back, "packingApplyButton").click()
    settle()
    assert window.attributes.values()["scale_factor"] == "0.01"
    document.undo()
    document.undo()
    settle()
    assert document.document is not None
    assert document.document.to_bytes() == before


@pytest.mark.slow
def test_what_has_no_codecs_can_be_exported(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    document = opened(SAMPLE)
    settle()
    shown(window, document, "/ocean/sst", settle)
    window.actions_["pack_otherwise"].trigger()
    sheet = sheet_of(window, settle)
    assert "not of Zarr v3, which alone has codecs for packing" in outcome(sheet)
    assert not button(sheet, "packingApplyButton").isEnabled()
    button(sheet, "packingExportButton").click()
    settle()
    dialog = window.findChild(ExportDialog)
    assert dialog is not None
    dialog.reject()


@pytest.mark.slow
def test_an_array_that_is_not_packed_has_no_sheet(
    window: MainWindow, opened: Open, settle: Settle, packed: Path
) -> None:
    document = opened(packed)
    settle()
    shown(window, document, "/plain", settle)
    window.actions_["pack_otherwise"].trigger()
    settle()
    assert window.findChild(PackingSheet) is None
    assert "Select an array with scale_factor" in window.status.text()
