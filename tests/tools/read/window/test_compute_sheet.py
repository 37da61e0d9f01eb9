"""The sheet that computes: what an expression gives is told as it is typed, opened, plotted and exported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QLineEdit, QTreeWidget
from pytestqt.qtbot import QtBot
from window_fixtures import button

import refbrowser
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.history_pane import pending_words
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.tools.read.window.compute_sheet import ComputeSheet, labels_of
from refbrowser.views.attributes import STORED, STORED_SIZE, stored_chunks, stored_pairs

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / refbrowser.sample()


def shown(window: MainWindow) -> tuple[ComputeSheet, QLineEdit, QLabel]:
    window.actions_["compute_array"].trigger()
    sheet = window.findChild(ComputeSheet)
    assert sheet is not None
    field, outcome = (
        sheet.findChild(QLineEdit, "computeExpression"),
        sheet.findChild(QLabel, "computeOutcome"),
    )
    assert field is not None
    assert outcome is not None
    return sheet, field, outcome


@pytest.mark.slow
def test_an_expression_becomes_a_document(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, sample: Path, tmp_path: Path
) -> None:
    opened(sample)
    settle()
    sheet, field, outcome = shown(window)
    compute = button(sheet, "computeButton")
    assert not compute.isEnabled()
    field.setText("warm = mean(/ocean/sst, time) - 10")
    qtbot.waitUntil(compute.isEnabled)
    assert outcome.text().startswith("Gives lat 180, lon 360: float")
    compute.click()
    settle()
    document = window.documents.current
    assert document is not None
    assert document.name == "warm"
    assert not document.is_dirty
    assert pending_words(document) == "computed"
    assert document.dataset is not None
    stored = stored_pairs(stored_chunks(document.dataset["/warm"].node, lambda: None))
    assert stored == {STORED: "none: they are computed when they are read", STORED_SIZE: "nothing"}
    with refbrowser.open(sample) as dataset:
        expected = refbrowser.compute(dataset, "mean(/ocean/sst, time) - 10")[...]
    np.testing.assert_array_equal(document.dataset["/warm"][...], expected)


@pytest.mark.slow
def test_what_does_not_go_is_told_as_it_is_typed(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, sample: Path
) -> None:
    opened(sample)
    settle()
    sheet, field, outcome = shown(window)
    field.setText("/ocean/sst + /ocean/lat")
    qtbot.waitUntil(lambda: "do not go together" in outcome.text())
    assert not button(sheet, "computeButton").isEnabled()
    field.setText("/ocean/sst +")
    qtbot.waitUntil(lambda: "is missing here" in outcome.text())
    field.clear()
    assert outcome.text() == ""


@pytest.mark.slow
def test_arrays_of_all_documents_are_inserted(
    window: MainWindow, opened: Open, settle: Settle, sample: Path, tmp_path: Path
) -> None:
    other = tmp_path / "2024 other.json"
    other.write_bytes(sample.read_bytes())
    second, first = opened(other), opened(sample)
    settle()
    assert labels_of(first, window.documents.all()) == {"": first, "d2024_other": second}
    sheet, field, _ = shown(window)
    arrays = sheet.findChild(QTreeWidget, "computeArrays")
    assert arrays is not None
    root = arrays.topLevelItem(1)
    assert root is not None
    row = next(root.child(at) for at in range(root.childCount()) if root.child(at).text(0) == "/ocean/sst")
    field.setText(" - ")
    arrays.itemActivated.emit(row, 0)
    field.home(False)
    sheet.insert("", "/odd-name")
    assert field.text() == "'/odd-name' - d2024_other::/ocean/sst"
    sheet.reject()
