"""A file that others change while it is open: noticed, and reloaded, kept or compared."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QTreeWidget
from pytestqt.qtbot import QtBot
from small_documents import small_document
from window_fixtures import Open, button

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.compare_dialog import CompareDialog
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.edits import SetReference, SetTemplate
from refbrowser.views.side_lines import Sign

Settle = Callable[[], None]


def write_other(path: Path, url: str = "other.bin") -> bytes:
    """Replace a document as another program does: a new file in its place."""
    data = json.dumps(small_document(url)).encode()
    fresh = path.with_suffix(".new")
    fresh.write_bytes(data)
    os.replace(fresh, path)
    return data


@pytest.fixture
def document(window: MainWindow, small: Path, opened: Open, settle: Settle) -> OpenDocument:
    found = opened(small)
    settle()
    return found


def template(document: OpenDocument) -> str:
    assert document.document is not None
    return document.document.templates.texts["u"]


def noticed(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(window.centre.disk_bar.isVisible)


def click(window: MainWindow, name: str, qtbot: QtBot) -> None:
    qtbot.mouseClick(button(window, name), Qt.MouseButton.LeftButton)


@pytest.mark.slow
def test_reload_takes_the_new_file(
    window: MainWindow, document: OpenDocument, small: Path, settle: Settle, qtbot: QtBot
) -> None:
    write_other(small)
    noticed(window, qtbot)
    assert "small.json was changed by another program." in window.centre.disk_bar.text()
    assert template(document) == "data.bin"
    click(window, "diskReloadButton", qtbot)
    settle()
    assert template(document) == "other.bin"
    assert window.centre.disk_bar.isHidden()
    assert not document.is_dirty


@pytest.mark.slow
def test_reload_asks_where_edits_would_be_lost(
    window: MainWindow, document: OpenDocument, small: Path, settle: Settle, qtbot: QtBot
) -> None:
    document.apply(SetTemplate("u", "mine.bin"))
    write_other(small)
    noticed(window, qtbot)
    assert "You have unsaved edits here" in window.centre.disk_bar.text()
    click(window, "diskReloadButton", qtbot)
    question = window.findChild(QMessageBox, "reloadQuestion")
    assert question is not None
    assert "1 edit would be lost" in question.informativeText()
    question.reject()
    settle()
    assert template(document) == "mine.bin"
    assert window.centre.disk_bar.isVisible()


@pytest.mark.slow
def test_keep_mine_counts_from_the_new_file_and_save_replaces_it(
    window: MainWindow, document: OpenDocument, small: Path, settle: Settle, qtbot: QtBot
) -> None:
    before = small.read_bytes()
    theirs = write_other(small)
    noticed(window, qtbot)
    click(window, "diskKeepButton", qtbot)
    settle()
    assert window.centre.disk_bar.isHidden()
    assert document.is_dirty
    assert small.read_bytes() == theirs
    window.actions_["save"].trigger()
    settle()
    assert small.read_bytes() == before
    assert not document.is_dirty


@pytest.mark.slow
def test_compare_lists_what_differs(
    window: MainWindow, document: OpenDocument, small: Path, settle: Settle, qtbot: QtBot
) -> None:
    mine = f"http://{'part/' * 80}mine.bin"
    document.apply(SetReference("depth/0", [mine, 0, 4]))
    write_other(small)
    noticed(window, qtbot)
    click(window, "diskCompareButton", qtbot)
    dialog = window.findChild(CompareDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: "Differences" in dialog.summary())
    view = dialog.findChild(QTreeWidget, "compareList")
    assert view is not None
    shown = " ".join(
        view.topLevelItem(at).child(row).text(0)  # type: ignore[union-attr]
        for at in range(view.topLevelItemCount())
        for row in range(view.topLevelItem(at).childCount())  # type: ignore[union-attr]
    )
    assert "depth/0" in shown
    assert "u" in shown.split()
    (line,) = view.findItems("depth/0", Qt.MatchFlag.MatchRecursive)
    view.setCurrentItem(line)
    settle()
    here, there = (text.lines()[0] for text in dialog.texts.texts)
    assert here.text == f'["{mine}", 0, 4]'
    assert there.text.startswith('["')
    assert here.sign == there.sign == Sign.CHANGED
    click(window, "compareKeepButton", qtbot)
    settle()
    assert window.centre.disk_bar.isHidden()


@pytest.mark.slow
def test_save_asks_before_it_replaces_what_others_wrote(
    window: MainWindow, document: OpenDocument, small: Path, settle: Settle, qtbot: QtBot
) -> None:
    document.apply(SetTemplate("u", "mine.bin"))
    theirs = write_other(small)
    window.actions_["save"].trigger()
    qtbot.waitUntil(lambda: window.findChild(QMessageBox, "overwriteQuestion") is not None)
    settle()
    assert small.read_bytes() == theirs
    click(window, "overwriteQuestionYes", qtbot)
    settle()
    assert json.loads(small.read_bytes())["templates"]["u"] == "mine.bin"
    assert not document.is_dirty
    assert window.centre.disk_bar.isHidden()


def test_the_same_bytes_again_are_no_news(
    window: MainWindow, document: OpenDocument, small: Path, settle: Settle, qtbot: QtBot
) -> None:
    data = small.read_bytes()
    write_other(small, "data.bin")
    small.write_bytes(data)
    os.utime(small, (1, 1))
    qtbot.wait(1500)
    settle()
    assert window.centre.disk_bar.isHidden()


@pytest.mark.slow
def test_a_file_that_is_gone_is_told_and_can_be_saved_again(
    window: MainWindow, document: OpenDocument, small: Path, settle: Settle, qtbot: QtBot
) -> None:
    before = small.read_bytes()
    small.unlink()
    noticed(window, qtbot)
    assert "was removed or renamed" in window.centre.disk_bar.text()
    assert button(window, "diskReloadButton").isHidden()
    click(window, "diskKeepButton", qtbot)
    settle()
    assert document.is_dirty
    window.actions_["save"].trigger()
    settle()
    assert small.read_bytes() == before


@pytest.mark.slow
def test_a_broken_new_file_leaves_the_document_as_it_is(
    window: MainWindow, document: OpenDocument, small: Path, settle: Settle, qtbot: QtBot
) -> None:
    small.write_text("{nonsense")
    noticed(window, qtbot)
    click(window, "diskReloadButton", qtbot)
    settle()
    assert template(document) == "data.bin"
    assert "could not be reloaded" in window.centre.error_bar.text()
    assert document.is_open


@pytest.mark.slow
def test_the_bar_is_that_of_the_document_that_is_shown(
    window: MainWindow, document: OpenDocument, small: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    other = small.with_name("second.json")
    other.write_text(json.dumps(small_document()))
    second = opened(other)
    settle()
    write_other(small)
    qtbot.waitUntil(lambda: document.file.state != "same")
    assert window.centre.disk_bar.isHidden()
    window.documents.set_current(document)
    assert window.centre.disk_bar.isVisible()
    window.documents.set_current(second)
    assert window.centre.disk_bar.isHidden()
