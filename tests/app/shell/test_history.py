"""The list of edits: each state, which one is saved and which is shown; a click or Enter goes there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QListView, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.edits import SetReference, SetTemplate

Settle = Callable[[], None]


@pytest.fixture
def document(window: MainWindow, small: Path, opened: Open, settle: Settle) -> OpenDocument:
    found = opened(small)
    settle()
    window.actions_["show_history"].trigger()
    return found


@pytest.fixture
def view(window: MainWindow) -> QListView:
    found = window.findChild(QListView, "historyView")
    assert found is not None
    return found


def rows(view: QListView) -> list[str]:
    model = view.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def spoken(view: QListView) -> list[str]:
    """Return what a screen reader says of each row."""
    model, role = view.model(), Qt.ItemDataRole.AccessibleTextRole
    return [model.index(row, 0).data(role).rpartition(", ")[2] for row in range(model.rowCount())]


def click(view: QListView, row: int, qtbot: QtBot) -> None:
    where: QPoint = view.visualRect(view.model().index(row, 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=where)


def edit(document: OpenDocument) -> list[bytes]:
    """Make three edits; return the bytes of each state."""
    states = [document.document.to_bytes()]  # type: ignore[union-attr]
    for number in range(3):
        assert document.apply(SetReference("depth/0", ["data.bin", number + 1, 4]))
        states.append(document.document.to_bytes())  # type: ignore[union-attr]
    return states


@pytest.mark.slow
def test_a_click_goes_to_a_state(
    document: OpenDocument, view: QListView, qtbot: QtBot, settle: Settle
) -> None:
    states = edit(document)
    assert rows(view) == ["Opened  (saved)", *["Change depth/0"] * 3]
    for row in (1, 3, 0, 2):
        click(view, row, qtbot)
        assert document.document is not None
        assert document.document.to_bytes() == states[row]
        assert view.currentIndex().row() == row
        assert spoken(view)[row] in ("now", "saved")
    assert spoken(view) == ["saved", "made", "now", "undone"]
    settle()
    assert document.dataset is not None
    assert document.dataset.document is document.document


@pytest.mark.slow
def test_keys_go_through_it(
    window: MainWindow, document: OpenDocument, view: QListView, qtbot: QtBot
) -> None:
    states = edit(document)
    window.activateWindow()
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert document.document.to_bytes() == states[3]  # type: ignore[union-attr]
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert document.document.to_bytes() == states[0]  # type: ignore[union-attr]
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(view, Qt.Key.Key_Z, control | shift)
    assert view.currentIndex().row() == 1
    qtbot.keyClick(view, Qt.Key.Key_Z, control)
    assert view.currentIndex().row() == 0


@pytest.mark.slow
def test_a_new_edit_forgets_what_was_undone(document: OpenDocument, view: QListView, qtbot: QtBot) -> None:
    edit(document)
    click(view, 1, qtbot)
    document.apply(SetTemplate("u", "else.bin"))
    assert len(rows(view)) == 3
    assert rows(view)[2].startswith("Change")
    assert spoken(view)[2] == "now"


@pytest.mark.slow
def test_the_saved_state_is_marked_and_counts(
    window: MainWindow, document: OpenDocument, view: QListView, qtbot: QtBot, settle: Settle
) -> None:
    edit(document)
    window.actions_["save"].trigger()
    settle()
    assert [row for row, text in enumerate(rows(view)) if "(saved)" in text] == [3]
    count = window.findChild(QLabel, "historyCount")
    assert count is not None
    for row, number in ((3, 0), (1, 2), (2, 1), (0, 3)):
        click(view, row, qtbot)
        assert document.pending_count == number
        assert window.isWindowModified() is (number > 0)
        words = {0: "Saved", 1: "1 unsaved edit"}.get(number, f"{number} unsaved edits")
        assert words in count.text()
        root = window.hierarchy.model.find_identity((document.number, "document", ""))
        assert root.isValid()
    document.apply(SetTemplate("u", "else.bin"))
    assert not any("(saved)" in text for text in rows(view))
    assert "the saved state is not in this list" in count.text()


@pytest.mark.slow
def test_revert_is_one_step_that_can_be_undone(
    window: MainWindow, document: OpenDocument, view: QListView, qtbot: QtBot
) -> None:
    states = edit(document)
    window.actions_["revert"].trigger()
    question = window.findChild(QMessageBox, "revertQuestion")
    assert question is not None
    yes = question.findChild(QPushButton, "revertQuestionYes")
    assert yes is not None
    qtbot.mouseClick(yes, Qt.MouseButton.LeftButton)
    assert document.document.to_bytes() == states[0]  # type: ignore[union-attr]
    assert not document.is_dirty
    assert rows(view)[-1].startswith("Revert to the saved state")
    document.undo()
    assert document.document.to_bytes() == states[3]  # type: ignore[union-attr]


@pytest.mark.slow
def test_edits_are_listed_once_the_list_is_seen(
    window: MainWindow, document: OpenDocument, view: QListView, settle: Settle
) -> None:
    window.docks.raise_("historyDock")
    before = rows(view)
    window.docks["historyDock"].hide()
    document.apply(SetReference("note", "text"))
    settle()
    assert rows(view) == before
    window.docks.raise_("historyDock")
    assert len(rows(view)) == len(before) + 1
    document.undo()
    assert view.currentIndex().row() == len(before) - 1


@pytest.mark.slow
def test_each_document_has_its_own(
    window: MainWindow, document: OpenDocument, view: QListView, opened: Open, small: Path, settle: Settle
) -> None:
    edit(document)
    other = small.with_name("second.json")
    other.write_bytes(small.read_bytes())
    opened(other)
    settle()
    window.docks.raise_("historyDock")
    assert rows(view) == ["Opened  (saved)"]
    window.documents.set_current(document)
    window.docks.raise_("historyDock")
    assert len(rows(view)) == 4
    window.documents.close(document)
    window.docks.raise_("historyDock")
    assert len(rows(view)) == 1
