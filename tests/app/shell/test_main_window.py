"""The main job through the window: open, select, edit, save, revert, close."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMessageBox, QToolButton
from pytestqt.qtbot import QtBot
from window_fixtures import button, drop

from refbrowser.app.actions.menus import menus
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.open_dialogs import OpenUrlDialog
from refbrowser.app.frame.centre import PLOT, RAW, REFERENCES
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.exporting.saving.save import SaveOrder
from refbrowser.views.rows import RowStyle

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


def apply_edit(document: OpenDocument, offset: str = "{{(i * 2 + j) * 12 + 1}}") -> None:
    """Change the offset of the first rule."""
    from refbrowser.references.edits.edits import SetRule

    assert document.document is not None
    fields = document.document.rule_nodes[0].to_python()
    assert document.apply(SetRule(0, {**fields, "offset": offset}))


class TestOpening:
    @pytest.mark.slow
    def test_drop_of_several_files(
        self, window: MainWindow, small: Path, tmp_path: Path, qtbot: QtBot
    ) -> None:
        other = tmp_path / "other.json"
        other.write_bytes(small.read_bytes())
        drop(window, QUrl.fromLocalFile(str(small)), QUrl.fromLocalFile(str(other)))
        documents = window.documents.all()
        assert [document.title for document in documents] == ["small.json", "other.json"]
        qtbot.waitUntil(lambda: all(document.is_open for document in documents))
        assert window.documents.current is documents[1]

    @pytest.mark.slow
    def test_drop_of_text_with_a_url(self, window: MainWindow, qtbot: QtBot) -> None:
        drop(window, text="http://127.0.0.1:9/none.json\n")
        document = window.documents.all()[0]
        qtbot.waitUntil(lambda: document.error is not None, timeout=60_000)
        assert window.centre.error.isVisible()
        assert "none.json" in window.centre.error.heading()

    def test_drag_says_what_a_drop_will_do(self, window: MainWindow) -> None:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile("/some/place/era5.json")])
        action, buttons, keys = (
            Qt.DropAction.CopyAction,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(window, QDragEnterEvent(QPoint(5, 5), action, data, buttons, keys))
        assert "era5.json" in window.parts.drops.overlay.text()
        QApplication.sendEvent(window, QDragLeaveEvent())
        assert not window.parts.drops.overlay.isVisible()
        data.setUrls([])
        data.setText("nothing of use")
        QApplication.sendEvent(window, QDragEnterEvent(QPoint(5, 5), action, data, buttons, keys))
        assert "Nothing to open" in window.parts.drops.overlay.text()

    def test_opening_twice_goes_to_the_open_document(
        self, window: MainWindow, small: Path, opened: Open
    ) -> None:
        first = opened(small)
        assert opened(small) is first
        assert len(window.documents.all()) == 1

    def test_url_dialog_refuses_what_cannot_be_opened(self, window: MainWindow, qtbot: QtBot) -> None:
        window.actions_["open_url"].trigger()
        dialog = window.findChild(OpenUrlDialog)
        field, accept = dialog.findChild(QLineEdit, "urlField"), button(dialog, "urlOpenButton")
        assert not accept.isEnabled()
        field.setText("ftp://example.org/a.json")
        assert not accept.isEnabled()
        field.setText("http://user:secret@example.org/a.json")
        assert not accept.isEnabled()
        field.setText("http://127.0.0.1:9/a.json")
        accept.click()
        assert window.documents.all()[0].path == "http://127.0.0.1:9/a.json"

    @pytest.mark.slow
    def test_array_of_the_command_line_is_selected(
        self, window: MainWindow, small: Path, settle: Settle
    ) -> None:
        window.open_path(str(small), "/temp")
        settle()
        assert window.navigation.item().place == "/temp"
        assert window.navigation.plotted() == "/temp"

    @pytest.mark.slow
    def test_broken_document_is_shown_and_can_be_tried_again(
        self, window: MainWindow, tmp_path: Path, opened: Open, small: Path, qtbot: QtBot
    ) -> None:
        broken = tmp_path / "broken.json"
        broken.write_text('{"version": 1,\n "refs": {"a": [1, ]}}')
        document = opened(broken)
        assert document.error is not None
        assert "line 2" in window.findChild(QLabel, "mendingWords").text()
        broken.write_bytes(small.read_bytes())
        button(window, "mendingRetryButton").click()
        qtbot.waitUntil(lambda: document.is_open)
        assert window.centre.tabs.isVisible()

    @pytest.mark.slow
    def test_recent_documents_are_kept(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(small)
        settle()
        window.documents.close(document)
        recent = button(window.centre.start, "recentButton0")
        assert str(small)[-20:] in recent.text()

    def test_markup_in_names_stays_text(self, window: MainWindow, tmp_path: Path, opened: Open) -> None:
        path = tmp_path / "<b>bold.json"
        path.write_text(json.dumps({"version": 1, "templates": {"<i>x</i>": "y"}, "refs": {"<u>k</u>": "v"}}))
        opened(path)
        for label in window.findChildren(QLineEdit):
            assert "<b>" not in label.toolTip()
        index = window.hierarchy.model.index(0, 0)
        tip = index.data(Qt.ItemDataRole.ToolTipRole)
        assert "&lt;b&gt;" in tip


class TestMoving:
    @pytest.mark.slow
    def test_array_shows_attributes_and_its_keys(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(small)
        window.hierarchy.select_node(document, "/temp")
        settle()
        values = window.attributes.values()
        assert values["units"] == "K"
        assert values["Shape"] == "4×6"
        assert values["Stored chunks"] == "all 4"
        assert window.centre.references.current_key() == "temp/0.0"

    @pytest.mark.slow
    def test_key_selects_its_array(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(small)
        window.hierarchy.select_node(document, "/temp")
        settle()
        window.centre.references.go_to_key("depth/1")
        settle()
        assert window.navigation.item().place == "/depth"
        assert window.centre.references.current_key() == "depth/1"
        assert window.attributes.values()["Path"] == "/depth"

    @pytest.mark.slow
    def test_unknown_key_is_answered(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        opened(small)
        window.actions_["show_references"].trigger()
        field = window.findChild(QLineEdit, "goToKeyField")
        field.setText("temp/9.9")
        button(window, "goToKeyButton").click()
        settle()
        answer = window.findChild(object, "goToKeyAnswer")
        assert answer.isVisible()
        assert "temp/9.9" in answer.text()

    @pytest.mark.slow
    def test_raw_value_as_text_json_and_hex(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        opened(small)
        window.centre.show_tab(RAW)
        window.centre.references.go_to_key("temp/.zattrs")
        settle()
        assert json.loads(window.centre.raw.data())["units"] == "K"
        assert button(window, "rawJSONButton").isChecked()
        button(window, "rawHexButton").click()
        hex_view = window.findChild(object, "rawHex")
        assert hex_view.row_text(0)[2].startswith('{"_ARRAY')
        window.centre.references.go_to_key("temp/0.1")
        settle()
        assert window.centre.raw.data() == bytes(range(12, 24))
        assert not button(window, "rawTextButton").isEnabled()

    @pytest.mark.slow
    def test_rule_shows_its_editor_and_rows(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(small)
        index = window.hierarchy.model.find_identity((document.number, "rule", 0))
        window.hierarchy.select_index(index)
        settle()
        assert window.editors.currentWidget().objectName() == "genEditor"
        assert window.centre.references.current_key() == "temp/0.0"

    def test_the_keyboard_goes_past_no_jobs(
        self, window: MainWindow, settle: Callable[[], None], qtbot: QtBot
    ) -> None:
        jobs = window.findChild(QToolButton, "statusJobsButton")
        assert jobs is not None
        settle()
        qtbot.waitUntil(lambda: jobs.text() == "No jobs")
        assert jobs.focusPolicy() == Qt.FocusPolicy.NoFocus
        gate = threading.Event()
        window.tasks.run("held", "Wait", lambda _control: gate.wait(10))
        qtbot.waitUntil(lambda: jobs.text() == "Wait")
        assert jobs.focusPolicy() == Qt.FocusPolicy.TabFocus
        window.activateWindow()
        jobs.setFocus()
        assert jobs.hasFocus()
        gate.set()
        qtbot.waitUntil(lambda: jobs.focusPolicy() == Qt.FocusPolicy.NoFocus)
        assert window.focusWidget() not in (jobs, None), "the keyboard went on"

    @pytest.mark.slow
    def test_filter_shows_matches_alone(
        self, window: MainWindow, small: Path, opened: Open, qtbot: QtBot
    ) -> None:
        opened(small)
        window.actions_["find_node"].trigger()
        window.findChild(QLineEdit, "hierarchyFilter").setText("dep")
        model = window.hierarchy.model
        qtbot.waitUntil(lambda: model.rowCount(model.index(0, 0)) == 1)
        child = model.index(0, 0, model.index(0, 0))
        assert child.data() == "depth"

    @pytest.mark.slow
    def test_filter_finds_titles(self, window: MainWindow, opened: Open, qtbot: QtBot) -> None:
        sample = Path(__file__).resolve().parents[3] / "resources" / "sample" / "sea_surface.json"
        opened(sample)
        window.findChild(QLineEdit, "hierarchyFilter").setText("wind speed")
        model = window.hierarchy.model
        qtbot.waitUntil(lambda: model.first_match().isValid())
        assert model.first_match().data() == "wind_speed"
        assert "Wind speed at 10 m" in model.first_match().data(Qt.ItemDataRole.ToolTipRole)


class TestEditing:
    @pytest.mark.slow
    def test_rows_that_an_edit_added_are_shown_before_they_are_compared(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        from refbrowser.references.edits.edits import SetReference

        document = opened(small)
        apply_edit(document)
        settle()
        before = document.document.expansion.rows
        for number in range(3):
            document.apply(SetReference(f"more/{number}", "text"))
        table = window.centre.references.table
        assert table.model().row_count() == before + 3
        assert len(table.model().page(0, before + 3)) == before + 3
        settle()
        assert all(document.is_row_changed(document.document.refs.find(f"more/{n}")) for n in range(3))

    @pytest.mark.slow
    def test_undo_redo_and_revert(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(small)
        settle()
        before = document.document.to_bytes()
        assert not window.actions_["undo"].isEnabled()
        apply_edit(document)
        settle()
        assert window.actions_["save"].isEnabled()
        assert "*" in window.findChild(object, "statusPending").text()
        changed = document.document.to_bytes()
        rows = range(7, 11)
        assert all(document.is_row_changed(row) for row in rows)
        assert not document.is_row_changed(0)
        table = window.centre.references.table
        table.model().page(7, 8)
        assert RowStyle.CHANGED in table.model().styles(7, 8)[0]
        window.actions_["undo"].trigger()
        assert document.document.to_bytes() == before
        assert not document.is_dirty
        window.actions_["redo"].trigger()
        assert document.document.to_bytes() == changed
        document.revert()
        assert document.document.to_bytes() == before
        assert not document.is_dirty
        window.actions_["undo"].trigger()
        assert document.document.to_bytes() == changed
        settle()

    @pytest.mark.slow
    def test_structure_follows_an_edit(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        from refbrowser.references.edits.edits import RenameReference

        document = opened(small)
        settle()
        assert document.apply(RenameReference("depth/.zarray", "height/.zarray"))
        settle()
        assert document.hierarchy.find("/height") is not None
        assert not hasattr(document.hierarchy.find("/depth"), "shape")
        assert window.hierarchy.model.find_node(document, "/height").isValid()

    def test_edit_that_cannot_be_made_is_told(self, window: MainWindow, small: Path, opened: Open) -> None:
        from refbrowser.references.edits.edits import RemoveReference

        document = opened(small)
        assert not document.apply(RemoveReference("no/such.key"))
        assert window.centre.error_bar.isVisible()
        assert "could not be made" in window.centre.error_bar.text()
        assert not document.is_dirty

    def test_template_values_are_used_and_never_saved(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(small)
        settle()
        before = document.document.to_bytes()
        window.actions_["template_values"].trigger()
        dialog = window.findChild(object, "templateValuesDialog")
        dialog.findChild(QLineEdit, "templateValue_u").setText("mirror.bin")
        button(dialog, "templateValuesUseButton").click()
        settle()
        assert document.document.expansion.items(5, 6).urls == ["mirror.bin"]
        assert not document.is_dirty
        assert document.document.to_bytes() == before


class TestSaving:
    @pytest.mark.slow
    def test_save_writes_the_edit_and_nothing_else(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(small)
        settle()
        before = small.read_text()
        apply_edit(document)
        settle()
        window.actions_["save"].trigger()
        settle()
        assert small.read_text() == before.replace("(i * 2 + j) * 12}}", "(i * 2 + j) * 12 + 1}}")
        assert not document.is_dirty
        assert not window.actions_["save"].isEnabled()

    @pytest.mark.slow
    def test_edit_made_while_saving_stays_pending(self, small: Path, opened: Open, settle: Settle) -> None:
        document = opened(small)
        settle()
        apply_edit(document)
        document.saving.save()
        apply_edit(document, "{{(i * 2 + j) * 12 + 2}}")
        settle()
        assert document.is_dirty
        assert "+ 1}}" in small.read_text()

    @pytest.mark.slow
    def test_file_changed_by_others_is_asked_about(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        document = opened(small)
        settle()
        apply_edit(document)
        small.write_text("{}")
        document.saving.save()
        qtbot.waitUntil(lambda: window.findChild(QMessageBox, "overwriteQuestion") is not None)
        assert small.read_text() == "{}"
        box = window.findChild(QMessageBox, "overwriteQuestion")
        button(box, "overwriteQuestionYes").click()
        settle()
        assert small.read_bytes() == document.document.to_bytes()

    @pytest.mark.slow
    def test_failed_save_leaves_everything_and_says_so(
        self, window: MainWindow, small: Path, tmp_path: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(small)
        settle()
        apply_edit(document)
        document.saving.save(SaveOrder(str(tmp_path / "no" / "folder" / "x.json")))
        settle()
        assert document.is_dirty
        assert document.path == str(small)
        assert "not saved" in window.centre.error_bar.text()


class TestClosing:
    @pytest.mark.slow
    @pytest.mark.parametrize(("answer", "saved"), [("Save", True), ("Discard", False)])
    def test_unsaved_edits_are_asked_about(
        self,
        window: MainWindow,
        small: Path,
        opened: Open,
        settle: Settle,
        qtbot: QtBot,
        answer: str,
        saved: bool,
    ) -> None:
        document = opened(small)
        settle()
        before = small.read_bytes()
        apply_edit(document)
        window.actions_["close_document"].trigger()
        box = window.findChild(QMessageBox, "unsavedQuestion")
        button(box, f"unsaved{answer}Button").click()
        qtbot.waitUntil(lambda: not window.documents.all())
        assert (small.read_bytes() != before) is saved

    @pytest.mark.slow
    def test_cancel_keeps_window_and_document(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(small)
        settle()
        apply_edit(document)
        assert not window.close()
        box = window.findChild(QMessageBox, "unsavedQuestion")
        button(box, "unsavedCancelButton").click()
        assert window.isVisible()
        assert window.documents.all() == [document]

    @pytest.mark.slow
    def test_closing_the_window_goes_on_after_discard(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        document = opened(small)
        settle()
        apply_edit(document)
        assert not window.close()
        button(window.findChild(QMessageBox, "unsavedQuestion"), "unsavedDiscardButton").click()
        qtbot.waitUntil(lambda: not window.isVisible())

    @pytest.mark.slow
    def test_document_that_is_clean_closes_without_a_question(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        opened(small)
        settle()
        window.actions_["close_document"].trigger()
        assert not window.documents.all()
        assert window.centre.start.isVisible()


class TestTabs:
    def test_tabs_by_shortcut_actions(self, window: MainWindow, small: Path, opened: Open) -> None:
        opened(small)
        for name, tab in (("show_references", REFERENCES), ("show_raw", RAW), ("show_plot", PLOT)):
            window.actions_[name].trigger()
            assert window.centre.tabs.currentIndex() == tab


def test_menus_have_the_order_in_which_they_are_declared(window: MainWindow) -> None:
    for title, specs in menus().items():
        declared = [f"action_{spec.name}" for spec in specs if spec is not None and not spec.submenu]
        shown = [action.objectName() for action in window.actions_.menu(title).actions()]
        assert [name for name in shown if name in declared] == declared, title
