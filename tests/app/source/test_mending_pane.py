"""Documents that cannot be opened because of their text: shown where they break, mended, saved."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from window_fixtures import button

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.source.mending_pane import MendingPane

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
CONTROL = Qt.KeyboardModifier.ControlModifier
VALUE = {"version": 1, "refs": {".zgroup": '{"zarr_format": 2}', "a/0": ["s3://bucket/a.nc", 0, 8]}}
WHOLE = json.dumps(VALUE, indent=1)
BROKEN = WHOLE.replace("8\n", "8,\n").replace('",\n   0', '",\n   0 ')


@pytest.fixture
def broken(window: MainWindow, tmp_path: Path, settle: Settle) -> Callable[[bytes, str], MendingPane]:
    def open_text(data: bytes, name: str = "sea.json") -> MendingPane:
        path = tmp_path / name
        path.write_bytes(data)
        window.documents.open(str(path))
        settle()
        assert window.centre.mending is not None
        return window.centre.mending

    return open_text


def test_the_caret_is_where_the_text_breaks(broken):
    pane = broken(BROKEN.encode())
    assert pane.isVisible()
    assert pane.text.read(pane.view.caret, pane.view.caret + 1) == b"]"
    assert "sea.json cannot be opened, line 9, column 3" in pane._words.text()
    assert "Remove 1 comma too many?" in pane._words.text()
    assert pane.fault.isVisible()


def test_one_click_mends_it_and_saving_writes_it(broken, window: MainWindow, settle: Settle, tmp_path: Path):
    broken(BROKEN.encode())
    button(window, "mendingFixButton").click()
    settle()
    document = window.documents.current
    assert document.is_open
    assert document.is_pending
    assert (tmp_path / "sea.json").read_text() == BROKEN
    expected = BROKEN.replace("8,\n", "8\n")
    assert document.document.to_bytes() == expected.encode()
    assert window.centre.tabs.isVisible()
    window.actions_["save"].trigger()
    settle()
    assert (tmp_path / "sea.json").read_text() == expected
    assert not document.is_pending


def test_it_is_mended_by_hand(broken, window: MainWindow, settle: Settle):
    pane = broken(WHOLE.replace('"refs": {', '"refs" {').encode())
    assert not button(window, "mendingFixButton").isVisible()
    QTest.keyClick(pane.view, Qt.Key.Key_F4)
    settle()
    assert pane.editor.outcome.text().startswith("✕ Line 3")
    text = pane.editor.field.text()
    pane.editor.field.setPlainText(text.replace('"refs" {', '"refs": [{'))
    settle()
    QTest.keyClick(pane.editor.field, Qt.Key.Key_Return, CONTROL)
    settle()
    assert window.documents.current.error is not None
    assert '"refs": [{' in pane.text.read(0, pane.text.size).decode()
    pane.edit()
    pane.editor.field.setPlainText(WHOLE)
    settle()
    assert pane.editor.outcome.text() == "→ Apply opens the document"
    pane.editor.apply()
    settle()
    assert window.documents.current.is_open
    assert window.documents.current.document.to_bytes() == WHOLE.encode()


def test_a_packed_text_is_mended_and_packed_again(broken, window: MainWindow, settle: Settle, tmp_path: Path):
    broken(gzip.compress(BROKEN.encode()), "sea.json.gz")
    button(window, "mendingFixButton").click()
    settle()
    window.actions_["save"].trigger()
    settle()
    assert json.loads(gzip.decompress((tmp_path / "sea.json.gz").read_bytes())) == VALUE


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (WHOLE.replace("bucket", "b\udcffcket").encode("utf-8", "surrogateescape"), "not UTF-8"),
        (WHOLE.replace('"version": 1', '"version": 7').encode(), "the version is 7"),
        ((WHOLE[:-20]).encode(), "Close what is open at the end"),
        (WHOLE.replace("bucket", "b\x00cket\u202e").encode(), "control character (code 0)"),
    ],
)
def test_what_is_wrong_is_said(broken, data, words):
    assert words in broken(data)._words.text()


def test_another_document_takes_its_place(broken, window: MainWindow, settle: Settle, tmp_path: Path):
    pane = broken(BROKEN.encode())
    path = tmp_path / "whole.json"
    path.write_text(WHOLE)
    window.documents.open(str(path))
    settle()
    assert not pane.isVisible()
    window.documents.set_current(window.documents.all()[0])
    settle()
    assert pane.isVisible()
    assert pane.text.size == len(BROKEN)
    (tmp_path / "sea.json").write_text(WHOLE)
    button(window, "mendingRetryButton").click()
    settle()
    assert window.documents.current.is_open
