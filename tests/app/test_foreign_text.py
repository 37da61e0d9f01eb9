"""Text of documents is plain, bounded and visible wherever the window shows it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_texts import complaints, hostile_document
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from refbrowser.app.actions.menus import actions
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
#: These end the window, close the document, change how all looks, or ask the desktop.
LEFT_OUT = frozenset(
    {
        "quit",
        "close_document",
        "open_files",
        "open_sample",
        "theme_dark",
        "theme_light",
        "theme_contrast_dark",
        "theme_contrast_light",
    }
)
#: What a line of Python that was copied may call.
CALLS = frozenset(
    (
        *("filesystem", "values", "FsspecStore", "open_array", "open_dataset", "join", "startswith", "where"),
        *("astype", "isinstance", "DataArray", "num2date", "transpose", "float", "urljoin", "replace"),
        *("AsyncFileSystemWrapper", "open", "store"),
    )
)


@pytest.fixture
def hostile(window: MainWindow, tmp_path: Path, opened: Open, settle: Settle) -> OpenDocument:
    document = opened(hostile_document(tmp_path / "<b>zqx&\u202ehostile.json"))
    assert document.is_open, document.error
    settle()
    return document


def arrays_of(document: OpenDocument) -> list[str]:
    assert document.hierarchy is not None
    return [node.path for node in document.hierarchy.walk() if hasattr(node, "dtype")]


def all_windows() -> list[str]:
    return [words for top in QApplication.topLevelWidgets() if top.isVisible() for words in complaints(top)]


def one_of_each(found: list[str]) -> list[str]:
    """Return one complaint of each kind about each widget."""
    return sorted({re.sub(r"\d+", "#", words.rsplit(": ", 1)[0][:200]): words for words in found}.values())


def put_away(window: MainWindow) -> None:
    popup = QApplication.activePopupWidget()
    if popup is not None:
        popup.close()
    for top in QApplication.topLevelWidgets():
        if top is not window and top.isVisible():
            top.close()
    QApplication.processEvents()


@pytest.mark.long
def test_nodes_and_keys(window: MainWindow, hostile: OpenDocument, settle: Settle) -> None:
    found = all_windows()
    for path in arrays_of(hostile):
        window.hierarchy.select_node(hostile, path)
        settle()
        for index in range(4):
            window.centre.tabs.setCurrentIndex(index)
            settle()
            found += all_windows()
    for row in range(window.centre.references.table.model().row_count()):
        window.centre.references.table.set_current(row)
        settle()
        found += all_windows()
    listed = "\n".join(one_of_each(found))
    assert not listed, listed


@pytest.mark.slow
def test_templates_and_rules(window: MainWindow, hostile: OpenDocument, settle: Settle) -> None:
    found = []
    window.editors.show_templates(hostile)
    settle()
    found += all_windows()
    for number in range(2):
        window.editors.show_rule(hostile, number)
        settle()
        found += all_windows()
    listed = "\n".join(one_of_each(found))
    assert not listed, listed


@pytest.mark.long
def test_every_action(window: MainWindow, hostile: OpenDocument, settle: Settle, qtbot: QtBot) -> None:
    found = []
    for spec in actions():
        if spec.name in LEFT_OUT:
            continue
        window.hierarchy.select_node(hostile, arrays_of(hostile)[0])
        settle()
        if window.actions_[spec.name].isEnabled():
            window.actions_[spec.name].trigger()
            settle()
            found += [f"{spec.name}: {words}" for words in all_windows()]
            put_away(window)
    listed = "\n".join(one_of_each(found))
    assert not listed, listed


@pytest.mark.slow
@pytest.mark.parametrize("action", ["copy_python", "copy_xarray"])
def test_copied_python_is_only_data(
    window: MainWindow, hostile: OpenDocument, settle: Settle, action: str
) -> None:
    for path in arrays_of(hostile):
        window.hierarchy.select_node(hostile, path)
        settle()
        QGuiApplication.clipboard().setText("")
        window.actions_[action].trigger()
        settle()
        text = QGuiApplication.clipboard().text()
        if not text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
                assert name in CALLS, ast.unparse(node)
            assert not isinstance(node, ast.JoinedStr | ast.Lambda), ast.unparse(node)
            if isinstance(node, ast.Name):
                assert "zqx" not in node.id
        for line in text.splitlines():
            assert line.isprintable(), line
