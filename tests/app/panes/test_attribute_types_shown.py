"""Types of attributes in the attributes pane: shown, kept by edits, changed; internal members hidden."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nczarr_documents import nczarr_document
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.attribute_cells import NAME, TYPE, VALUE
from refbrowser.app.shell.main_window import MainWindow

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


class Pane:
    """The attributes pane with one array, and hands on it."""

    def __init__(self, window: MainWindow, document: OpenDocument, qtbot: QtBot, settle: Settle) -> None:
        self.window, self.document, self.qtbot, self.settle = window, document, qtbot, settle
        self.tree = window.attributes.tree

    def select(self, path: str) -> None:
        self.window.hierarchy.select_node(self.document, path)
        self.settle()
        self.qtbot.waitUntil(lambda: self.tree.can_edit)

    def type(self, name: str) -> str:
        return str(self.tree.index_of(name, TYPE).data())

    def type_over(self, name: str, text: str) -> None:
        self.tree.setFocus()
        self.tree.choose(name)
        QTest.keyClick(self.tree, Qt.Key.Key_Return)
        cell = self.tree.findChildren(QLineEdit, "attributeCell")[-1]
        cell.selectAll()
        QTest.keyClicks(cell, text)
        self.said = self.beside()
        QTest.keyClick(cell, Qt.Key.Key_Return)

    def beside(self) -> str:
        label = self.tree.findChild(QLabel, "attributeOutcome")
        return label.text() if label.isVisible() else ""

    def choose_type(self, name: str, type_name: str) -> list[str]:
        """Double-click a type and choose from the menu; returns what it offered."""
        index = self.tree.index_of(name, TYPE)
        self.tree.scrollTo(index)
        where = self.tree.visualRect(index).center()
        QTest.mouseClick(self.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)
        QTest.mouseDClick(self.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)
        menu = self.tree.findChildren(QMenu, "attributeTypes")[-1]
        offered = [action.text() for action in menu.actions()]
        assert [action.text() for action in menu.actions() if action.isChecked()] == [
            self.type(name).strip("()")
        ]
        next(action for action in menu.actions() if action.text() == type_name).trigger()
        menu.close()
        self.settle()
        return offered

    def stored(self, key: str) -> Any:
        state = self.document.document
        assert state is not None
        return json.loads(state.expansion.value(key) or b"")


@pytest.fixture
def pane(tmp_path: Path, window: MainWindow, opened: Open, qtbot: QtBot, settle: Settle) -> Pane:
    path = tmp_path / "buoys.json"
    path.write_text(json.dumps(nczarr_document()))
    document = opened(path)
    settle()
    found = Pane(window, document, qtbot, settle)
    found.select("/temp")
    return found


@pytest.mark.slow
def test_recorded_types_are_shown(pane: Pane) -> None:
    shown = {name: pane.type(name) for name in pane.tree.names()}
    assert shown == {"units": "char", "scale_factor": "float", "valid_range": "short", "code": "string"}


@pytest.mark.slow
def test_suggested_types_stand_in_brackets(
    window: MainWindow, small: Path, opened: Open, qtbot: QtBot, settle: Settle
) -> None:
    found = Pane(window, opened(small), qtbot, settle)
    settle()
    found.select("/temp")
    assert found.type("units") == "(char)"
    tip = found.tree.index_of("units", TYPE).data(Qt.ItemDataRole.ToolTipRole)
    assert "inferred from the value" in tip
    assert found.choose_type("units", "char") == ["char", "int", "double"]


@pytest.mark.slow
def test_an_edit_keeps_the_type(pane: Pane) -> None:
    pane.type_over("valid_range", "[1, 50]")
    assert pane.said == "→ 2 values of type short"
    pane.settle()
    pane.type_over("code", "13")
    pane.settle()
    stored = pane.stored("temp/.zattrs")
    assert stored["valid_range"] == [1, 50]
    assert stored["code"] == "13"
    types = stored["_nczarr_attr"]["types"]
    assert (types["valid_range"], types["code"], types["_nczarr_array"]) == ("<i2", "|S2", "|J0")
    assert pane.type("valid_range") == "short"
    assert pane.type("code") == "string"


@pytest.mark.slow
def test_what_the_type_cannot_hold_is_refused(pane: Pane) -> None:
    pane.type_over("valid_range", "40000")
    assert "not from -32768 to 32767" in pane.said
    assert not pane.document.is_dirty
    QTest.keyClick(pane.tree.findChildren(QLineEdit, "attributeCell")[-1], Qt.Key.Key_Escape)


@pytest.mark.slow
def test_the_type_is_changed(pane: Pane) -> None:
    offered = pane.choose_type("valid_range", "double")
    assert {"char", "string", "ubyte", "uint64", "float"} <= set(offered)
    stored = pane.stored("temp/.zattrs")
    assert stored["_nczarr_attr"]["types"]["valid_range"] == "<f8"
    assert json.dumps(stored["valid_range"]) == "[0.0, 100.0]"
    assert pane.type("valid_range") == "double"
    pane.document.undo()
    pane.settle()
    assert pane.type("valid_range") == "short"


@pytest.mark.slow
def test_a_type_that_cannot_hold_the_value_is_refused(pane: Pane) -> None:
    pane.choose_type("units", "int")
    assert "not a whole number" in pane.beside()
    assert not pane.document.is_dirty


@pytest.mark.slow
def test_a_renamed_and_a_new_attribute_have_types(pane: Pane) -> None:
    pane.tree.renamed.emit("code", "label")
    pane.settle()
    pane.tree.added.emit("count", 7)
    pane.settle()
    assert pane.type("label") == "string"
    assert pane.type("count") == "int"
    assert pane.stored("temp/.zattrs")["_nczarr_attr"]["types"]["count"] == "<i4"


@pytest.mark.slow
def test_internal_members_are_shown_when_asked_for(pane: Pane) -> None:
    assert "_nczarr_array" not in pane.window.attributes.values()
    pane.window.actions_["toggle_internal"].trigger()
    assert pane.window.actions_["toggle_internal"].isChecked()
    values = pane.window.attributes.values()
    assert "/time" in values["_nczarr_array"]
    assert "_ARRAY_DIMENSIONS" in values
    assert "_nczarr_array" not in pane.tree.names()  # not to be edited here
    pane.window.actions_["toggle_internal"].trigger()
    assert "_nczarr_array" not in pane.window.attributes.values()


@pytest.mark.slow
def test_a_hidden_name_is_not_given_again(pane: Pane) -> None:
    index = pane.tree.index_of("units", NAME)
    assert "Format attributes" in pane.tree.verdict(index, "_ARRAY_DIMENSIONS")[0]
    assert pane.tree.verdict(pane.tree.index_of("units", VALUE), "K") == ("", "char")
