"""The difference of two arrays in the window: at once where nothing is left to choose, else by the sheet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot
from window_fixtures import button

import refbrowser
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.tools.read.window.pair_sheet import PairSheet

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.chdir(tmp_path)
    first = tmp_path / refbrowser.sample()
    second = tmp_path / "copy.json"
    second.write_bytes(first.read_bytes())
    return [first, second]


@pytest.mark.slow
def test_two_arrays_of_two_documents_that_are_selected(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, samples: list[Path]
) -> None:
    documents = [opened(path) for path in samples]
    settle()
    hierarchy = window.hierarchy
    first, second = (hierarchy.model.find_node(document, "/ocean/sst") for document in documents)
    hierarchy.select_index(second)
    select = QItemSelectionModel.SelectionFlag.Select
    hierarchy.tree.selectionModel().setCurrentIndex(first, select)
    assert [item.document for item in hierarchy.selected_items()] == documents[::-1]
    window.actions_["difference_of_two"].trigger()
    qtbot.waitUntil(lambda: len(window.documents.all()) == 3)
    settle()
    document = window.documents.current
    assert document is not None
    assert document.name == "sst_difference"
    assert window.findChild(PairSheet) is None
    assert document.dataset is not None
    found = document.dataset["/sst_difference"][0]
    assert np.nanmax(np.abs(found)) == 0
    plot = window.centre.plot
    assert plot is not None
    window.hierarchy.select_node(document, "/sst_difference")
    settle()
    assert plot.header.map.currentText() == "Blue–red"


@pytest.mark.slow
def test_two_places_of_one_array_are_asked_for(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, samples: list[Path]
) -> None:
    document = opened(samples[0])
    settle()
    window.hierarchy.select_node(document, "/ocean/sst")
    settle()
    window.actions_["difference_of_two"].trigger()
    sheet = window.findChild(PairSheet)
    assert sheet is not None
    one, other = sheet.findChild(QLineEdit, "pairPartFirst"), sheet.findChild(QLineEdit, "pairPartSecond")
    outcome = sheet.findChild(QLabel, "pairOutcome")
    assert one is not None
    assert other is not None
    assert outcome is not None
    assert one.text().startswith("time=2024-01")
    other.setText("time=2023")
    qtbot.waitUntil(lambda: "No time is within '2023'" in outcome.text())
    assert not button(sheet, "pairButton").isEnabled()
    other.setText("time=2024-07")
    qtbot.waitUntil(button(sheet, "pairButton").isEnabled)
    assert "Gives lat 180, lon 360" in outcome.text()
    sheet.exchange()
    assert one.text() == "time=2024-07"
    qtbot.waitUntil(button(sheet, "pairButton").isEnabled)
    button(sheet, "pairButton").click()
    settle()
    made = window.documents.current
    assert made is not None
    assert made.dataset is not None
    with refbrowser.open(samples[0]) as dataset:
        sst = refbrowser.compute(dataset, "/ocean/sst")[...]
    np.testing.assert_array_equal(made.dataset["/sst_difference"][...], sst[6] - sst[0])
