"""What is typed and not applied: saved with the document where it is valid, shown where it is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QPushButton, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.frame.centre import REFERENCES
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.io.files.journal import journal_folder
from refbrowser.references.edits.edits import SetTemplate

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


class Typist:
    """Types into the fields of a window, and looks at what is saved."""

    def __init__(self, window: MainWindow, path: Path, document: OpenDocument, settle: Settle) -> None:
        self.window, self.path, self.document, self.settle = window, path, document, settle
        window.activateWindow()
        QTest.qWaitForWindowActive(window)

    def select(self, kind: str, place: str | int) -> None:
        index = self.window.hierarchy.model.find_identity((self.document.number, kind, place))
        assert index.isValid()
        self.window.hierarchy.select_index(index)
        self.settle()

    def child(self, kind: type, name: str) -> Any:
        found = self.window.findChild(kind, name)
        assert found is not None, name
        return found

    def put(self, field: QWidget, text: str) -> None:
        field.setFocus()
        field.selectAll()  # type: ignore[attr-defined]
        QTest.keyClicks(field, text)

    def attribute(self, name: str, text: str) -> QLineEdit:
        tree = self.window.attributes.tree
        self.window.docks.raise_("attributesDock")
        tree.choose(name)
        tree.edit_current()
        cell = tree.viewport().findChild(QLineEdit, "attributeCell")
        self.put(cell, text)
        return cell

    def save(self) -> None:
        self.window.actions_["save"].trigger()
        self.settle()

    def saved(self) -> Any:
        return json.loads(self.path.read_text())

    def said(self) -> str:
        return self.child(ElidedLabel, "statusText").text()

    def metadata(self, key: str) -> Any:
        return json.loads(self.saved()["refs"][key])


@pytest.fixture
def typist(window: MainWindow, small: Path, opened: Open, settle: Settle) -> Typist:
    document = opened(small)
    settle()
    return Typist(window, small, document, settle)


def type_everywhere(typist: Typist) -> None:
    """Type something valid in each kind of editor, and apply nothing."""
    window = typist.window
    typist.select("rule", 0)
    typist.put(typist.child(QPlainTextEdit, "genLengthField"), "6")
    typist.select("template", "u")
    typist.put(typist.child(QPlainTextEdit, "templateTextField"), "other.bin")
    window.editors.show_reference(typist.document, "depth/1")
    typist.put(typist.child(QLineEdit, "referenceLengthField"), "2")
    typist.select("array", "/depth")
    window.attributes.show_metadata("depth/.zarray")
    typist.settle()
    changed = {**typist.metadata("depth/.zarray"), "fill_value": 7}
    window.attributes.metadata.field.setPlainText(json.dumps(changed))
    window.attributes.tabs.setCurrentIndex(0)
    typist.select("array", "/temp")
    typist.attribute("units", "degC")


@pytest.mark.slow
def test_save_applies_what_is_typed_in_every_editor_as_one_step(typist: Typist) -> None:
    window, document = typist.window, typist.document
    before = typist.path.read_bytes()
    type_everywhere(typist)
    assert drafts_of(document).count == 5
    assert typist.path.read_bytes() == before
    typist.save()
    saved = typist.saved()
    assert saved["gen"][0]["length"] == "6"
    assert saved["templates"]["u"] == "other.bin"
    assert saved["refs"]["depth/1"] == ["{{u}}", 52, 2]
    assert typist.metadata("depth/.zarray")["fill_value"] == 7
    assert typist.metadata("temp/.zattrs")["units"] == "degC"
    assert len(document.history.entries) == 1
    assert "was typed in gen rule 0, reference depth/1 and 3 more was applied" in typist.said()
    assert drafts_of(document).count == 0
    assert not document.is_pending
    document.undo()
    assert document.document.to_bytes() == before
    # A key over its row, and the prefix of URLs.
    document.redo()
    window.centre.show_tab(REFERENCES)
    window.centre.references.go_to_key("depth/0")
    typist.settle()
    window.actions_["rename_reference"].trigger()
    typist.put(typist.child(QLineEdit, "referenceKeyEditor"), "depth/9")
    typist.save()
    assert "depth/9" in typist.saved()["refs"]
    assert not typist.child(QLineEdit, "referenceKeyEditor").isVisible()
    window.actions_["replace_prefix"].trigger()
    typist.settle()
    typist.put(typist.child(QLineEdit, "urlPrefixOld"), "other")
    typist.put(typist.child(QLineEdit, "urlPrefixNew"), "moved")
    typist.save()
    assert typist.saved()["templates"]["u"] == "moved.bin"
    assert drafts_of(document).count == 0


@pytest.mark.slow
def test_what_is_not_valid_stops_the_save_and_is_shown(typist: Typist) -> None:
    window, document = typist.window, typist.document
    before = typist.path.read_bytes()

    def refuses(words: str, field: str) -> Any:
        """Save from elsewhere, and see that the field of the mistake has the keyboard."""
        window.docks.raise_("historyDock")
        window.hierarchy.tree.setFocus()
        typist.save()
        assert typist.path.read_bytes() == before
        assert words in window.centre.error_bar.text()
        assert "(field" not in window.centre.error_bar.text()
        focused = window.focusWidget()
        assert focused is not None
        assert focused.objectName() == field
        assert focused.isVisible()
        return focused

    typist.select("rule", 0)
    typist.put(typist.child(QPlainTextEdit, "genUrlField"), "{{u}}/{{ i ")
    focused = refuses("URL of gen rule 0", "genUrlField")
    assert focused.textCursor().position() >= len("{{u}}/")
    drafts_of(document).drop_rule(0)
    typist.select("template", "u")
    typist.put(typist.child(QLineEdit, "templateNameField"), "no name")
    focused = refuses("Jinja allows letters", "templateNameField")
    assert focused.selectedText() == "no name"
    drafts_of(document).drop_template("u")
    window.editors.show_reference(document, "depth/1")
    typist.put(typist.child(QLineEdit, "referenceOffsetField"), "many")
    refuses("the offset is an integer", "referenceOffsetField")
    drafts_of(document).drop_reference("depth/1")
    typist.select("array", "/depth")
    window.attributes.show_metadata("depth/.zarray")
    typist.settle()
    window.attributes.metadata.field.setPlainText('{"shape": [1, }')
    typist.select("array", "/temp")
    focused = refuses("he JSON of depth/.zarray: line 1", "metadataText")
    assert focused.textCursor().position() == 14
    drafts_of(document).drop_metadata("depth/.zarray")
    # An attribute of a recorded type, left while it is wrong: another node is shown, and nothing is lost.
    window.attributes.tabs.setCurrentIndex(0)
    typist.select("array", "/temp")
    window.attributes.tree.choose("units")
    window.attributes.tree._rename_current()
    typist.put(window.attributes.tree.viewport().findChild(QLineEdit, "attributeCell"), "_ARRAY_DIMENSIONS")
    typist.select("array", "/depth")
    focused = refuses("an attribute of this name exists", "attributeCell")
    assert focused.text() == "_ARRAY_DIMENSIONS"
    QTest.keyClick(focused, Qt.Key.Key_Escape)
    assert drafts_of(document).count == 0
    assert not document.is_pending
    # That it was not saved is true no longer once it was.
    assert window.centre.error_bar.isVisible()
    document.apply(SetTemplate("u", "elsewhere"))
    typist.save()
    assert not document.is_pending
    assert not window.centre.error_bar.isVisible()


@pytest.mark.slow
def test_enter_applies_in_fields_of_one_line(typist: Typist) -> None:
    window, document = typist.window, typist.document

    def enter(field: QWidget, text: str) -> int:
        made = len(document.history.entries)
        typist.put(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)
        typist.settle()
        return len(document.history.entries) - made

    typist.select("rule", 0)
    for name in ("genKeyField", "genUrlField", "genOffsetField", "genLengthField"):
        field = typist.child(QPlainTextEdit, name)
        assert enter(field, f"{field.toPlainText()}0") == 1, name
    table = window.editors._rules.dimensions
    table.show_cell(0, "stop")
    assert enter(table.viewport().findChild(QLineEdit, "genDimensionCell"), "3") == 1
    typist.select("template", "u")
    assert enter(typist.child(QPlainTextEdit, "templateTextField"), "x.bin") == 1
    assert enter(typist.child(QLineEdit, "templateNameField"), "v") == 1
    window.editors.show_reference(document, "depth/1")
    for name, text in (("Key", "depth/7"), ("Offset", "0"), ("Length", "1")):
        assert enter(typist.child(QLineEdit, f"reference{name}Field"), text) == 1, name
    assert enter(typist.child(QPlainTextEdit, "referenceUrlField"), "y.bin") == 1
    window.actions_["replace_prefix"].trigger()
    typist.settle()
    typist.put(typist.child(QLineEdit, "urlPrefixOld"), "x.")
    assert enter(typist.child(QLineEdit, "urlPrefixNew"), "z.") == 1


@pytest.mark.slow
def test_the_undo_key_is_of_the_document_wherever_the_keyboard_is(typist: Typist) -> None:
    window, document = typist.window, typist.document
    typist.select("rule", 0)
    window.centre.show_tab(REFERENCES)
    document.apply(SetTemplate("u", "once.bin"))
    typist.settle()
    kinds = (QLineEdit, QPlainTextEdit, QSpinBox)
    fields = [field for kind in kinds for field in window.findChildren(kind)]
    fields = [field for field in fields if field.isVisible() and field.isEnabled()]
    names = {field.objectName() for field in fields}
    assert {"genUrlField", "goToKeyField", "hierarchyFilter"} <= names, names
    ctrl, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    for field in (*fields, window.hierarchy.tree, window.centre.references.table, window.attributes.tree):
        field.setFocus()
        if not field.hasFocus():
            continue
        QTest.keyClick(field, Qt.Key.Key_Z, ctrl)
        assert not document.can_undo, field.objectName()
        QTest.keyClick(field, Qt.Key.Key_Z, ctrl | shift)
        assert document.can_undo, field.objectName()
    # What was typed in a field goes first.
    for field in (typist.child(QPlainTextEdit, "genUrlField"), typist.child(QLineEdit, "goToKeyField")):
        field.setFocus()
        before = document.history.position
        QTest.keyClicks(field, "x")
        QTest.keyClick(field, Qt.Key.Key_Z, ctrl)
        assert document.history.position == before
        QTest.keyClick(field, Qt.Key.Key_Z, ctrl)
        assert document.history.position == before - 1
        QTest.keyClick(field, Qt.Key.Key_Z, ctrl | shift)
        assert document.history.position == before


@pytest.mark.slow
def test_what_was_typed_before_a_sudden_end_is_offered_and_put_back(
    typist: Typist, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    window, path = typist.window, typist.path
    type_everywhere(typist)
    # Not valid, and begun: both are kept.
    typist.select("rule", 0)
    typist.put(typist.child(QPlainTextEdit, "genUrlField"), "{{ half")
    before = [typed.to_json() for typed in drafts_of(typist.document).all()]
    typist.document.journal.flush()
    qtbot.waitUntil(lambda: any(b"half" in file.read_bytes() for file in journal_folder().glob("*")))
    (journal,) = journal_folder().iterdir()
    stem, _process, _mark, rest = journal.name.split("-")
    lost = journal.with_name(f"{stem}-4194304--{rest}")
    lost.write_bytes(journal.read_bytes())
    window.documents.close(typist.document)
    settle()
    offered = window.centre.start.findChild(QPushButton, "lostButton0")
    assert str(path.name) in offered.text()
    offered.click()
    document = window.documents.current
    qtbot.waitUntil(lambda: document.is_open)
    settle()
    assert "5 typed and not applied" in window.centre.recovery_bar.text()
    window.findChild(QPushButton, "recoveryRestoreButton").click()
    settle()
    assert [typed.to_json() for typed in drafts_of(document).all()] == before
    assert window.focusWidget().objectName().startswith("gen")
    assert typist.child(QPlainTextEdit, "genUrlField").toPlainText() == "{{ half"
    qtbot.waitUntil(lambda: not lost.exists())
    assert document.is_pending


def test_a_value_that_cannot_be_is_kept_when_another_cell_is_edited(typist: Typist) -> None:
    window, drafts = typist.window, drafts_of(typist.document)
    typist.select("array", "/temp")
    tree = window.attributes.tree
    window.docks.raise_("attributesDock")
    tree.choose("units")
    tree._rename_current()
    QTest.keyClick(tree.open_cell(), Qt.Key.Key_Backspace)
    # Out of the field: it stays open, and says why.
    window.hierarchy.tree.setFocus()
    assert tree.open_cell() is not None
    assert "no name" in tree.beside.text()
    tree.choose("_ARRAY_DIMENSIONS")
    window.attributes.show_internal(True)
    tree.choose("_ARRAY_DIMENSIONS")
    tree.edit_current()
    assert drafts.count == 1
    typist.put(tree.open_cell(), '["b", "a"]')
    QTest.keyClick(tree.open_cell(), Qt.Key.Key_Return)
    typist.settle()
    assert drafts.count == 1
    tree.choose("units")
    tree._rename_current()
    assert tree.open_cell().text() == ""
    QTest.keyClick(tree.open_cell(), Qt.Key.Key_Escape)
    assert drafts.count == 0
