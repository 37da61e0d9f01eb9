"""Permissions: asked for before the first fetch, bound to document and origins."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QTreeWidget
from pytestqt.qtbot import QtBot
from small_documents import small_document

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.trust import TrustSheet, wants_text
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.codecs.lenders import OF_V3, Lender
from refbrowser.errors import RefbrowserError

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


@pytest.fixture
def far(tmp_path: Path) -> Path:
    """A document whose data lie in another folder."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "data.bin").write_bytes(bytes(range(56)))
    folder = tmp_path / "documents"
    folder.mkdir()
    path = folder / "far.json"
    path.write_text(json.dumps(small_document(str(data / "data.bin"))))
    return path


def button(parent: object, name: str) -> QPushButton:
    found = parent.findChild(QPushButton, name)  # type: ignore[attr-defined]
    assert found is not None, name
    return found


def read(document: OpenDocument) -> int:
    assert document.dataset is not None
    return int(document.dataset["/temp"][0, 1])


@pytest.mark.slow
def test_nothing_is_read_before_it_is_allowed(
    window: MainWindow, far: Path, opened: Open, settle: Settle
) -> None:
    document = opened(far)
    window.hierarchy.select_node(document, "/temp")
    settle()
    bar = window.centre.trust_bar
    assert bar.isVisible()
    assert "1 local folder" in window.findChild(object, "trustText").text()
    with pytest.raises(RefbrowserError) as told:
        read(document)
    assert told.value.kind == "E_BLOCKED"
    assert document.hierarchy.find("/temp").shape == (4, 6)


@pytest.mark.slow
def test_allow_this_time(window: MainWindow, far: Path, opened: Open, settle: Settle) -> None:
    document = opened(far)
    settle()
    button(window, "trustAllowButton").click()
    settle()
    assert not window.centre.trust_bar.isVisible()
    assert read(document) == 0x0302
    window.documents.close(document)
    again = opened(far)
    settle()
    assert window.centre.trust_bar.isVisible()
    with pytest.raises(RefbrowserError):
        read(again)


@pytest.mark.slow
def test_always_for_this_document_holds_until_others_change_it(
    window: MainWindow, far: Path, opened: Open, settle: Settle
) -> None:
    document = opened(far)
    settle()
    button(window, "trustReviewButton").click()
    sheet = window.findChild(TrustSheet)
    listed = sheet.findChild(QTreeWidget, "trustList").topLevelItem(0)
    assert listed.text(1) == "local folder"
    assert listed.text(2) == "6"
    button(sheet, "trustAlwaysButton").click()
    settle()
    assert read(document) == 0x0302
    window.documents.close(document)
    again = opened(far)
    settle()
    assert not window.centre.trust_bar.isVisible()
    assert read(again) == 0x0302
    window.documents.close(again)
    far.write_text(far.read_text() + "\n")
    opened(far)
    settle()
    assert window.centre.trust_bar.isVisible()


@pytest.mark.slow
def test_not_now_changes_nothing(window: MainWindow, far: Path, opened: Open, settle: Settle) -> None:
    document = opened(far)
    settle()
    window.actions_["review_trust"].trigger()
    sheet = window.findChild(TrustSheet)
    button(sheet, "trustNotNowButton").click()
    settle()
    assert window.centre.trust_bar.isVisible()
    with pytest.raises(RefbrowserError):
        read(document)


@pytest.mark.slow
def test_unticked_origins_are_not_allowed(
    window: MainWindow, far: Path, opened: Open, settle: Settle
) -> None:
    opened(far)
    settle()
    button(window, "trustReviewButton").click()
    sheet = window.findChild(TrustSheet)
    listed = sheet.findChild(QTreeWidget, "trustList").topLevelItem(0)
    listed.setCheckState(0, Qt.CheckState.Unchecked)
    assert not button(sheet, "trustThisTimeButton").isEnabled()


@pytest.mark.slow
def test_private_addresses_are_not_ticked_beforehand(
    window: MainWindow, tmp_path: Path, opened: Open, settle: Settle
) -> None:
    path = tmp_path / "private.json"
    path.write_text(json.dumps(small_document("http://127.0.0.1:9/data.bin")))
    opened(path)
    settle()
    assert "1 private address" in window.findChild(object, "trustText").text()
    assert not button(window, "trustAllowButton").isVisible()
    button(window, "trustReviewButton").click()
    sheet = window.findChild(TrustSheet)
    listed = sheet.findChild(QTreeWidget, "trustList").topLevelItem(0)
    assert listed.checkState(0) == Qt.CheckState.Unchecked


@pytest.mark.slow
def test_an_edit_that_adds_an_origin_asks_again(
    window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    from refbrowser.references.edits.edits import SetTemplate

    document = opened(small)
    settle()
    assert not window.centre.trust_bar.isVisible()
    assert document.apply(SetTemplate("u", "https://data.example.org/data.bin"))
    settle()
    assert "1 host" in window.findChild(object, "trustText").text()


def test_words() -> None:
    assert wants_text(()) == ""


@pytest.mark.slow
def test_codecs_of_a_package_are_allowed_by_the_bar(
    window: MainWindow,
    opened: Open,
    settle: Settle,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lender = Lender("madecodecs", "1.2")
    known = {(OF_V3, "made.flip"): lender}
    monkeypatch.setattr("refbrowser.codecs.lenders._registered", lambda: known)
    path = tmp_path / "lent.json"
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [{"name": "bytes"}, {"name": "made.flip"}],
    }
    path.write_text(json.dumps({"version": 1, "refs": {"a/zarr.json": json.dumps(metadata)}}))
    document = opened(path)
    settle()
    bar = window.centre.trust_bar
    assert bar.isVisible()
    assert "codecs of the installed package madecodecs" in window.findChild(object, "trustText").text()
    assert document.hierarchy.find("/a").unreadable.kind == "E_BLOCKED"
    button(window, "trustAllowButton").click()
    settle()
    assert not bar.isVisible()
    assert document.hierarchy.find("/a").lenders == {"made.flip": "madecodecs 1.2"}
    sheet = TrustSheet(document)
    rows = sheet.findChild(QTreeWidget, "trustList")
    assert [rows.topLevelItem(0).text(column) for column in range(5)] == [
        "madecodecs",
        "package",
        "1 array",
        "",
        "allowed",
    ]
