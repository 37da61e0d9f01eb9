"""Editing keys in the table of references with mouse and keyboard; undo gives the very bytes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
)
from pytestqt.qtbot import QtBot

from refbrowser.app.commands.references import ASKED
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import PLOT, REFERENCES
from refbrowser.app.panes.tree_rows import CHANGED_ROLE
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.virtual_table import VirtualTable
from refbrowser.views.rows import RowStyle

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
LINES = 60


@pytest.fixture
def document(window: MainWindow, tmp_path: Path, opened: Open, settle: Settle) -> OpenDocument:
    """A document with many keys in refs and some of a rule, shown in References with the keyboard there."""
    refs: dict[str, Any] = {
        ".zgroup": '{"zarr_format": 2}',
        "line/.zarray": json.dumps(
            {
                "zarr_format": 2, "shape": [LINES], "chunks": [1], "dtype": "<i2", "compressor": None,
                "filters": None, "fill_value": 0, "order": "C",
            }
        ),
        **{f"line/{number}": ["s3://old/a.nc", number * 2, 2] for number in range(LINES)},
        "other/0": ["http://h/x", 0, 2],
    }  # fmt: skip
    rule = {"key": "made/{{i}}", "url": "s3://old/m.nc", "offset": "{{i}}", "length": "1"}
    contents = {
        "version": 1,
        "templates": {"u": "s3://old/t"},
        "gen": [{**rule, "dimensions": {"i": {"stop": 4}}}],
        "refs": refs,
    }
    path = tmp_path / "many.json"
    path.write_text(json.dumps(contents, indent=1))
    found = opened(path)
    settle()
    window.activateWindow()
    window.actions_["show_references"].trigger()
    settle()
    return found


def table(window: MainWindow) -> VirtualTable:
    return window.centre.references.table


def keys(document: OpenDocument) -> list[str]:
    assert document.document is not None
    return list(json.loads(document.document.to_bytes())["refs"])


def select(window: MainWindow, document: OpenDocument, key: str, more: int = 0) -> None:
    """Click on the row of a key, and select so many rows below it."""
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window)
    view = table(window)
    row = document.document.expansion.find(key)  # type: ignore[union-attr]
    assert isinstance(row, int)
    view.scroll_to(row)
    area = view.row_rect(row)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, area.center().y()))
    for _ in range(more):
        QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert len(view.selected()) == more + 1


def editor(window: MainWindow) -> QLineEdit:
    found = window.findChild(QLineEdit, "referenceKeyEditor")
    assert found is not None
    return found


def said(window: MainWindow) -> str:
    return window.statusBar().currentMessage() or window.status.text()


class TestRenaming:
    def test_f2_renames_in_place_and_undo_gives_the_bytes_back(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        before = document.document.to_bytes()
        select(window, document, "line/3")
        QTest.keyClick(table(window), Qt.Key.Key_F2)
        field = editor(window)
        assert field.isVisible()
        assert field.hasFocus()
        assert field.selectedText() == "3"
        QTest.keyClicks(field, "500")
        QTest.keyClick(field, Qt.Key.Key_Return)
        settle()
        assert "line/500" in keys(document)
        assert "line/3" not in keys(document)
        assert window.centre.references.current_key() == "line/500"
        assert table(window).hasFocus()
        QTest.keyClick(table(window), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert document.document.to_bytes() == before

    @pytest.mark.parametrize(
        ("text", "reason"), [("line/4", "a reference with this key exists already"), ("", "the key is empty")]
    )
    def test_a_bad_key_stays_in_the_field_with_the_reason_beside(
        self, window: MainWindow, document: OpenDocument, text: str, reason: str
    ) -> None:
        select(window, document, "line/3")
        QTest.keyClick(table(window), Qt.Key.Key_F2)
        field = editor(window)
        field.selectAll()
        QTest.keyClick(field, Qt.Key.Key_Backspace)
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert field.isVisible()
        assert field.text() == text
        mistake = window.findChild(QLabel, "referenceKeyMistake")
        assert mistake.isVisible()
        assert reason in mistake.text()
        assert not document.is_dirty
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert not field.isVisible()
        assert not mistake.isVisible()
        assert table(window).hasFocus()

    def test_the_reason_stays_in_sight_in_the_last_row(
        self, window: MainWindow, document: OpenDocument
    ) -> None:
        select(window, document, "line/3")
        view = table(window)
        view.set_top_row(view.current() - view.visible_rows() + 1)
        QTest.keyClick(view, Qt.Key.Key_F2)
        QTest.keyClicks(editor(window), "4")
        mistake = window.findChild(QLabel, "referenceKeyMistake")
        assert mistake.isVisible()
        assert view.rect().contains(mistake.geometry())

    def test_leaving_the_field_accepts(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        select(window, document, "line/3")
        QTest.keyClick(table(window), Qt.Key.Key_F2)
        QTest.keyClicks(editor(window), "77")
        QTest.keyClick(editor(window), Qt.Key.Key_Tab)
        settle()
        assert "line/77" in keys(document)

    def test_scrolling_takes_the_field_along(self, window: MainWindow, document: OpenDocument) -> None:
        select(window, document, "line/3")
        view = table(window)
        QTest.keyClick(view, Qt.Key.Key_F2)
        before = editor(window).y()
        view.set_top_row(view.top_row() + 2)
        assert editor(window).y() != before


class TestDeleting:
    def test_delete_takes_the_selected_keys_in_one_step(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        before = document.document.to_bytes()
        select(window, document, "line/3", more=2)
        QTest.keyClick(table(window), Qt.Key.Key_Delete)
        settle()
        assert not {"line/3", "line/4", "line/5"} & set(keys(document))
        assert document.history.entries == ["Remove 3 references"]
        QTest.keyClick(table(window), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert document.document.to_bytes() == before

    def test_many_are_asked_about_with_their_number(
        self, window: MainWindow, document: OpenDocument, settle: Settle, qtbot: QtBot
    ) -> None:
        before = document.document.to_bytes()
        for answer, left in (("deleteQuestionNo", LINES), ("deleteQuestionYes", LINES - ASKED - 5)):
            select(window, document, "line/1", more=ASKED + 4)
            QTest.keyClick(table(window), Qt.Key.Key_Delete)
            box = window.findChild(QMessageBox, "deleteQuestion")
            assert box.text() == f"Delete {ASKED + 5} keys?"
            qtbot.mouseClick(box.findChild(QPushButton, answer), Qt.MouseButton.LeftButton)
            assert not document.is_dirty  # it is made by a worker: there may be a million
            settle()
            assert sum(key.startswith("line/") for key in keys(document)) == left + 1
        assert len(document.history.entries) == 1
        document.undo()
        assert document.document.to_bytes() == before

    def test_rows_of_rules_stay_and_that_is_said(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        select(window, document, "other/0", more=2)
        QTest.keyClick(table(window), Qt.Key.Key_Delete)
        settle()
        assert "other/0" not in keys(document)
        assert document.document.rules[0].count == 4
        assert "2 rows of gen rule 0 stay" in said(window)

    def test_from_another_tab_it_is_asked_first(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        select(window, document, "line/3")
        window.centre.show_tab(PLOT)
        window.actions_["delete_references"].trigger()
        assert window.centre.tabs.currentIndex() == REFERENCES
        box = window.findChild(QMessageBox, "deleteQuestion")
        assert box.text() == "Delete 1 key?"
        box.findChild(QPushButton, "deleteQuestionNo").click()
        settle()
        assert not document.is_dirty

    def test_nothing_selected_is_said(self, window: MainWindow, document: OpenDocument) -> None:
        table(window).set_current(None)
        for name in ("delete_references", "duplicate_references", "rename_reference", "go_to_rule"):
            window.actions_[name].trigger()
            assert "Select keys in References" in said(window)


class TestDuplicating:
    @pytest.mark.slow
    def test_a_copy_can_be_named_at_once(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        before = document.document.to_bytes()
        select(window, document, "line/3")
        QTest.keyClick(table(window), Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
        settle()
        field = editor(window)
        assert field.isVisible()
        assert field.text() == "line/3 copy"
        QTest.keyClicks(field, "99")
        QTest.keyClick(field, Qt.Key.Key_Return)
        settle()
        contents = json.loads(document.document.to_bytes())["refs"]
        assert contents["line/99"] == contents["line/3"]
        document.undo()
        document.undo()
        assert document.document.to_bytes() == before

    def test_several_are_one_step(self, window: MainWindow, document: OpenDocument, settle: Settle) -> None:
        select(window, document, "line/3", more=1)
        QTest.keyClick(table(window), Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
        settle()
        assert keys(document)[-2:] == ["line/3 copy", "line/4 copy"]
        assert len(document.history.entries) == 1
        assert window.centre.references.current_key() == "line/3 copy"


class TestGenerated:
    def test_a_row_of_a_rule_says_so_and_leads_there(
        self, window: MainWindow, document: OpenDocument, settle: Settle, qtbot: QtBot
    ) -> None:
        bar = window.centre.references.generated
        select(window, document, "line/3")
        assert not bar.isVisible()
        select(window, document, "made/2")
        assert bar.isVisible()
        text = window.findChild(QLabel, "generatedText").text()
        assert text == "made/2 is not in refs: it comes from gen rule 0, row 2."
        qtbot.mouseClick(window.findChild(QPushButton, "generatedRuleButton"), Qt.MouseButton.LeftButton)
        settle()
        assert window.editors.currentWidget().objectName() == "genEditor"
        assert window.navigation.item().place == 0
        assert window.editors.preview().table().current() == 2

    def test_overriding_gives_the_key_a_rule_that_counts(
        self, window: MainWindow, document: OpenDocument, settle: Settle, qtbot: QtBot
    ) -> None:
        before = document.document.to_bytes()
        select(window, document, "made/2")
        button = window.findChild(QPushButton, "generatedOverrideButton")
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        settle()
        assert len(document.document.rules) == 2
        assert document.document.expansion.find("made/2") == document.document.expansion.rows - 1
        assert window.editors.currentWidget().objectName() == "genEditor"
        document.undo()
        assert document.document.to_bytes() == before

    @pytest.mark.parametrize("key", [Qt.Key.Key_F2, Qt.Key.Key_Delete])
    def test_it_is_neither_renamed_nor_deleted(
        self, window: MainWindow, document: OpenDocument, key: Qt.Key
    ) -> None:
        select(window, document, "made/2")
        QTest.keyClick(table(window), key)
        assert "comes from a gen rule" in said(window)
        assert not editor(window).isVisible()
        assert not document.is_dirty


def see_rows(window: MainWindow, qtbot: QtBot, count: str) -> list[str]:
    """Wait until the table shows so many rows, and return their keys."""
    label = window.findChild(QLabel, "referencesCount")
    qtbot.waitUntil(lambda: label.text().startswith(count))
    view = table(window)
    return [view.row_text(row)[1] for row in range(min(view.model().row_count(), 10))]


def filter_by(window: MainWindow, text: str) -> None:
    field = window.findChild(QLineEdit, "referencesFilter")
    field.setText(text)
    QTest.keyClick(field, Qt.Key.Key_Return)


class TestFilter:
    def test_what_is_typed_leaves_what_matches(
        self, window: MainWindow, document: OpenDocument, qtbot: QtBot
    ) -> None:
        filter_by(window, "url:old/a offset>=114")
        assert see_rows(window, qtbot, "3 of 67 rows") == ["line/57", "line/58", "line/59"]
        assert table(window).hasFocus()
        filter_by(window, "from:rule")
        assert see_rows(window, qtbot, "4 of 67 rows") == [f"made/{number}" for number in range(4)]
        filter_by(window, "")
        assert see_rows(window, qtbot, "67 rows")[0] == ".zgroup"

    def test_what_cannot_be_read_is_told_and_changes_nothing(
        self, window: MainWindow, document: OpenDocument, qtbot: QtBot
    ) -> None:
        filter_by(window, "size>big")
        answer = window.findChild(QLabel, "goToKeyAnswer")
        assert "no number of bytes" in answer.text()
        assert see_rows(window, qtbot, "67 rows")
        filter_by(window, "size=1")
        assert not answer.isVisible()
        assert see_rows(window, qtbot, "4 of 67 rows")

    def test_titles_sort_down_and_not_at_all(
        self, window: MainWindow, document: OpenDocument, qtbot: QtBot
    ) -> None:
        bar = window.centre.references.filter
        filter_by(window, "line/5 kind:range")
        see_rows(window, qtbot, "11 of 67 rows")
        table(window).titlePressed.emit(4)
        table(window).titlePressed.emit(4)
        qtbot.waitUntil(lambda: table(window).row_text(0)[1] == "line/59")
        assert [table(window).row_text(row)[1] for row in (9, 10)] == ["line/50", "line/5"]
        assert (bar.column, bar.is_descending) == (4, True)
        table(window).titlePressed.emit(4)
        qtbot.waitUntil(lambda: table(window).row_text(0)[1] == "line/5")
        assert bar.column is None

    def test_rows_that_are_shown_are_deleted_whatever_their_order(
        self, window: MainWindow, document: OpenDocument, qtbot: QtBot, settle: Settle
    ) -> None:
        filter_by(window, "key:line/1?")
        see_rows(window, qtbot, "10 of 67 rows")
        window.centre.references.filter.press(4)
        window.centre.references.filter.press(4)
        qtbot.waitUntil(lambda: table(window).row_text(0)[1] == "line/19")
        table(window).setFocus()
        table(window).set_current(0)
        QTest.keyClick(table(window), Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClick(table(window), Qt.Key.Key_Delete)
        settle()
        assert not {"line/19", "line/18"} & {*keys(document)}
        assert {"line/17", "line/1", "other/0"} <= {*keys(document)}
        assert see_rows(window, qtbot, "8 of 65 rows")[0] == "line/17", "it follows the edit"

    def test_going_to_a_key_that_is_filtered_out_shows_all(
        self, window: MainWindow, document: OpenDocument, qtbot: QtBot, settle: Settle
    ) -> None:
        filter_by(window, "line/5")
        see_rows(window, qtbot, "11 of 67 rows")
        window.centre.references.go_to_key("other/0")
        settle()
        assert window.centre.references.current_key() == "other/0"
        assert window.findChild(QLineEdit, "referencesFilter").text() == ""

    def test_changed_only_and_filter_hold_both(
        self, window: MainWindow, document: OpenDocument, qtbot: QtBot, settle: Settle
    ) -> None:
        select(window, document, "line/3", more=2)
        QTest.keyClick(table(window), Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
        settle()
        window.centre.references.show_changed_only(True)
        filter_by(window, "line/4")
        assert see_rows(window, qtbot, "1 of 70 rows") == ["line/4 copy"]


class TestChangingTogether:
    def test_urls_and_offsets_of_the_rows_that_are_seen(
        self, window: MainWindow, document: OpenDocument, qtbot: QtBot, settle: Settle
    ) -> None:
        before = document.document.to_bytes()
        filter_by(window, "key:line/1?")
        see_rows(window, qtbot, "10 of 67 rows")
        table(window).set_current(0)
        for _ in range(3):
            QTest.keyClick(table(window), Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
        window.actions_["change_references"].trigger()
        dialog = window.findChild(QDialog, "referenceChangesDialog")
        preview = dialog.findChild(QPlainTextEdit, "changePreview")
        take = dialog.findChild(QPushButton, "changeTakeButton")
        assert not take.isEnabled()
        dialog.findChild(QComboBox, "changeUrlChoice").setCurrentText("replace")
        dialog.findChild(QLineEdit, "changeUrlValue").setText("s3://old/")
        dialog.findChild(QLineEdit, "changeUrlNew").setText("https://new/")
        dialog.findChild(QComboBox, "changeOffsetChoice").setCurrentText("add")
        dialog.findChild(QLineEdit, "changeOffsetValue").setText("x")
        assert "no number" in dialog.findChild(QLabel, "changeAnswer").text()
        dialog.findChild(QLineEdit, "changeOffsetValue").setText("1000")
        assert '→ ["https://new/a.nc", 1020, 2]' in preview.toPlainText()
        take.click()
        settle()
        refs = json.loads(document.document.to_bytes())["refs"]
        assert [refs[f"line/{number}"] for number in (10, 13)] == [
            ["https://new/a.nc", 1020, 2],
            ["https://new/a.nc", 1026, 2],
        ]
        assert refs["line/14"] == ["s3://old/a.nc", 28, 2]
        document.undo()
        assert document.document.to_bytes() == before


class TestMenus:
    def test_the_menu_of_the_table_offers_what_the_menu_edit_does(
        self, window: MainWindow, document: OpenDocument
    ) -> None:
        offered = {action.objectName() for action in table(window).actions()}
        edit = {action.objectName() for action in window.findChild(QMenu, "menu_edit").actions()}
        wanted = {"rename_reference", "duplicate_references", "delete_references", "replace_prefix"}
        assert {f"action_{name}" for name in wanted} <= offered & edit
        assert {"action_go_to_rule", "action_override_key"} <= offered

    def test_keys_of_the_table_do_nothing_elsewhere(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        select(window, document, "line/3")
        window.hierarchy.tree.setFocus()
        for key in (Qt.Key.Key_Delete, Qt.Key.Key_F2):
            QTest.keyClick(window.hierarchy.tree, key)
        settle()
        assert not document.is_dirty
        assert not editor(window).isVisible()


def begin_prefix(window: MainWindow, widget: Any, settle: Settle) -> tuple[str, str]:
    """Press the shortcut in a widget; return the part that is chosen, and the prefix."""
    widget.setFocus()
    QTest.keyClick(widget, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    settle()
    combo, old = window.findChild(QComboBox, "urlPrefixScope"), window.findChild(QLineEdit, "urlPrefixOld")
    return combo.currentText(), old.text()


class TestPrefixes:
    @pytest.mark.slow
    def test_the_selected_rows_are_meant_and_what_changed_is_plain(
        self, window: MainWindow, document: OpenDocument, settle: Settle, qtbot: QtBot
    ) -> None:
        before = document.document.to_bytes()
        select(window, document, "line/3", more=2)
        assert begin_prefix(window, table(window), settle) == ("3 selected references", "s3://old/")
        new = window.findChild(QLineEdit, "urlPrefixNew")
        QTest.keyClicks(new, "gs://new/")
        replace = window.findChild(QPushButton, "urlPrefixApplyButton")
        qtbot.waitUntil(replace.isEnabled)
        qtbot.mouseClick(replace, Qt.MouseButton.LeftButton)
        settle()
        contents = json.loads(document.document.to_bytes())["refs"]
        changed = [key for key, value in contents.items() if value[0] == "gs://new/a.nc"]
        assert changed == ["line/3", "line/4", "line/5"]
        shown = window.findChild(QPushButton, "urlPrefixShowChanged")
        qtbot.mouseClick(shown, Qt.MouseButton.LeftButton)
        settle()
        model = table(window).model()
        assert [row[1] for row in model.page(0, model.row_count())] == changed
        assert len(document.history.entries) == 1
        document.undo()
        settle()
        assert document.document.to_bytes() == before
        assert table(window).model().row_count() == 0

    @pytest.mark.parametrize(
        ("kind", "place", "expected"),
        [
            ("array", "/line", ("Array /line", "s3://old/")),
            ("template", "u", ("Template u", "s3://old/")),
            ("rule", 0, ("Gen rule 0", "s3://old/")),
        ],
    )
    def test_what_is_selected_in_the_tree_is_meant(
        self,
        window: MainWindow,
        document: OpenDocument,
        settle: Settle,
        kind: str,
        place: Any,
        expected: tuple[str, str],
    ) -> None:
        index = window.hierarchy.model.find_identity((document.number, kind, place))
        window.hierarchy.select_index(index)
        settle()
        assert begin_prefix(window, window.hierarchy.tree, settle) == expected

    def test_rows_of_one_rule_mean_the_rule(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        select(window, document, "made/0", more=1)
        assert begin_prefix(window, table(window), settle) == ("Gen rule 0", "s3://old/")

    def test_elsewhere_all_keys_are_meant(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        scope, prefix = begin_prefix(window, window.findChild(QLineEdit, "goToKeyField"), settle)
        assert scope.startswith("All keys")
        assert prefix == ""
        assert window.editors.currentWidget().objectName() == "urlPrefixEditor"


class TestChanged:
    def test_keys_that_are_gone_stand_after_all_rows_that_differ(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        from refbrowser.references.edits.edits import RemoveReference, SetReference

        for number in range(5):
            document.apply(SetReference(f"line/{number}", ["x", 0, 2]))
            document.apply(RemoveReference(f"line/{number + 10}"))
        settle()
        window.findChild(QCheckBox, "referencesChangedOnly").click()
        settle()
        model = table(window).model()
        assert [row[1] for row in model.page(0, 3)] == ["line/0", "line/1", "line/2"]
        assert [row[1] for row in model.page(3, 7)] == ["line/3", "line/4", "line/10", "line/11"]

    def test_gone_keys_that_are_not_listed_are_counted(
        self, window: MainWindow, document: OpenDocument, settle: Settle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from refbrowser.references.edits.edits import RemoveReference
        from refbrowser.views import changed_rows

        monkeypatch.setattr(changed_rows, "REMOVED", 2)
        for number in range(5):
            document.apply(RemoveReference(f"line/{number}"))
        settle()
        window.findChild(QCheckBox, "referencesChangedOnly").click()
        settle()
        assert window.findChild(QLabel, "referencesCount").text() == "2 rows differ, and 3 more were removed"

    def test_an_answer_about_an_edit_that_was_undone_is_not_taken(
        self, document: OpenDocument, settle: Settle
    ) -> None:
        from refbrowser.references.edits.edits import RemoveReference

        document.apply(RemoveReference("line/9"))
        settle()
        difference = document._difference
        assert difference is not None
        document.undo()
        settle()
        assert document.changes.rows is None
        document.changes.look(difference)
        document.changes.look(None)
        settle()
        assert document.changes.rows is None

    def test_only_those_that_differ_are_listed_bold_and_deleted_ones_last(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        from refbrowser.references.edits.edits import RemoveReference, SetReference

        document.apply(SetReference("line/7", ["x", 0, 2]))
        document.apply(RemoveReference("line/9"))
        settle()
        box = window.findChild(QCheckBox, "referencesChangedOnly")
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Space)
        settle()
        model = table(window).model()
        rows = model.page(0, model.row_count())
        assert [row[1] for row in rows] == ["line/7", "line/9"]
        assert rows[1][2] == "gone"
        styles = model.styles(0, 2)
        assert styles[0] & RowStyle.CHANGED
        assert styles[1] & RowStyle.REPLACED
        assert window.findChild(QLabel, "referencesCount").text() == "2 rows differ"
        # A key that does not differ can be gone to all the same.
        window.navigation.show_key("line/20")
        settle()
        assert not box.isChecked()
        assert window.centre.references.current_key() == "line/20"

    def test_the_rows_that_differ_can_be_edited(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        from refbrowser.references.edits.edits import SetReference

        for number in (7, 9, 10):
            document.apply(SetReference(f"line/{number}", ["x", 0, 2]))
        settle()
        window.actions_["changed_only"].trigger()
        settle()
        assert window.actions_["changed_only"].isChecked()
        view = table(window)
        view.setFocus()
        QTest.keyClick(view, Qt.Key.Key_Home)
        QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClick(view, Qt.Key.Key_Delete)
        settle()
        assert not {"line/7", "line/9"} & set(keys(document))
        assert {"line/8", "line/10"} <= set(keys(document))
        assert [row[1] for row in view.model().page(0, 3)] == ["line/10", "line/7", "line/9"]

    def test_the_tree_marks_what_differs_with_a_word(
        self, window: MainWindow, document: OpenDocument, settle: Settle
    ) -> None:
        from refbrowser.references.edits.edits import SetReference, SetTemplate

        model = window.hierarchy.model
        line = model.find_identity((document.number, "array", "/line"))
        assert not model.data(line, CHANGED_ROLE)
        document.apply(SetReference("line/7", ["x", 0, 2]))
        document.apply(SetTemplate("u", "s3://other"))
        settle()
        line = model.find_identity((document.number, "array", "/line"))
        assert model.data(line, Qt.ItemDataRole.FontRole).bold()
        words = "changed: 1 key differs from the saved state"
        assert words in model.data(line, Qt.ItemDataRole.ToolTipRole)
        assert words in model.data(line, Qt.ItemDataRole.AccessibleTextRole)
        template = model.find_identity((document.number, "template", "u"))
        assert model.data(template, CHANGED_ROLE) == "changed since the saved state"
        document.undo()
        document.undo()
        settle()
        line = model.find_identity((document.number, "array", "/line"))
        assert not model.data(line, CHANGED_ROLE)

    def test_it_is_asked_for_in_the_menu(self, window: MainWindow, document: OpenDocument) -> None:
        action = window.findChild(QAction, "action_changed_only")
        action.trigger()
        assert window.findChild(QCheckBox, "referencesChangedOnly").isChecked()
        assert "No key differs" in table(window)._placeholder
        action.trigger()
        assert table(window).model().row_count() > LINES
        assert QApplication.focusWidget() is not None
