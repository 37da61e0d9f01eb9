"""Many files opened together: one row of the tree, of which those are read that are asked for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt, QUrl
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot
from window_fixtures import Open, drop

from refbrowser.app.commands.files import FileCommands
from refbrowser.app.commands.saving import SaveCommands
from refbrowser.app.panes.tree_rows import DETAIL_ROLE
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.edits import SetTemplate
from refbrowser.tools.audit.window.commands import AuditCommands

Settle = Callable[[], None]


@pytest.fixture
def many(small: Path) -> list[str]:
    """Paths of eight documents in one folder."""
    folder = small.parent / "monthly"
    folder.mkdir()
    shutil.copy(small.parent / "data.bin", folder)
    paths = [folder / f"run_{number:02}.json" for number in range(8)]
    for path in paths:
        shutil.copy(small, path)
    return list(map(str, paths))


@pytest.fixture
def dropped(window: MainWindow, many: list[str], settle: Settle) -> list[str]:
    """The eight documents, dropped together."""
    drop(window, *map(QUrl.fromLocalFile, many))
    settle()
    return many


def opened(window: MainWindow) -> list[str]:
    return [Path(document.path).name for document in window.documents.all()]


def set_row(window: MainWindow) -> QModelIndex:
    return window.hierarchy.model.index(0, 0)


def rows(window: MainWindow, parent: QModelIndex) -> list[str]:
    model = window.hierarchy.model
    return [model.index(row, 0, parent).data() for row in range(model.rowCount(parent))]


def select_set(window: MainWindow) -> None:
    window.hierarchy.select_index(set_row(window))


def test_many_files_are_one_row_and_the_first_is_open(window: MainWindow, dropped: list[str]) -> None:
    assert window.hierarchy.model.rowCount(QModelIndex()) == 1
    assert set_row(window).data() == "8 files in monthly"
    assert set_row(window).data(DETAIL_ROLE) == "1 open"
    assert opened(window) == ["run_00.json"]
    names = rows(window, set_row(window))
    assert names == [Path(path).name for path in dropped]


def test_a_file_of_the_set_opens_in_its_place(
    window: MainWindow, dropped: list[str], settle: Settle, qtbot: QtBot
) -> None:
    tree, model = window.hierarchy.tree, window.hierarchy.model
    row = model.index(5, 0, set_row(window))
    window.hierarchy.select_index(row)
    assert window.hierarchy.current_item() is None
    qtbot.keyClick(tree, Qt.Key.Key_Return)
    settle()
    assert opened(window) == ["run_00.json", "run_05.json"]
    document = window.documents.all()[1]
    index = model.find_node(document, "/temp")
    assert index.parent().parent() == set_row(window)
    assert index.parent().row() == 5
    assert set_row(window).data(DETAIL_ROLE) == "2 open"
    window.documents.close(document)
    assert rows(window, set_row(window))[5] == "run_05.json"
    assert set_row(window).data(DETAIL_ROLE) == "1 open"


@pytest.mark.slow
def test_the_set_is_closed_with_its_files_by_the_key_that_closes(
    window: MainWindow, dropped: list[str], small: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    other = opened(small)
    settle()
    select_set(window)
    window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    assert window.documents.all() == [other]
    assert window.documents.sets == []
    assert rows(window, QModelIndex()) == ["small.json"]


def test_edits_in_a_set_are_asked_about(window: MainWindow, dropped: list[str], settle: Settle) -> None:
    window.documents.all()[0].apply(SetTemplate("u", "else.bin"))
    settle()
    select_set(window)
    window.groups[SaveCommands].close_set()
    assert len(window.documents.sets) == 1
    assert window.documents.all()[0].is_dirty
    window.documents.all()[0].undo()
    settle()


@pytest.mark.slow
def test_all_files_of_a_set_are_opened_on_request(
    window: MainWindow, dropped: list[str], settle: Settle
) -> None:
    assert window.actions_["open_set"].isEnabled()
    select_set(window)
    window.groups[FileCommands].open_set()
    settle()
    assert len(opened(window)) == 8
    window.groups[SaveCommands].close_all()
    assert not window.actions_["open_set"].isEnabled()
    assert window.hierarchy.model.rowCount(QModelIndex()) == 0


@pytest.mark.slow
def test_a_few_files_are_documents_by_themselves(window: MainWindow, many: list[str], settle: Settle) -> None:
    window.open_all(many[:5])
    settle()
    assert window.documents.sets == []
    assert len(opened(window)) == 5
    window.groups[SaveCommands].close_all()


def test_the_recent_list_has_a_set_once(window: MainWindow, dropped: list[str], settle: Settle) -> None:
    (entry,) = window.settings.recent_entries()
    assert (entry.path, entry.more) == (dropped[0], "  and 7 more")
    window.groups[SaveCommands].close_all()
    window.open_recent(entry.path)
    settle()
    assert set_row(window).data() == "8 files in monthly"
    assert opened(window) == ["run_00.json"]


@pytest.mark.slow
def test_the_filter_finds_files_that_are_not_open(
    window: MainWindow, dropped: list[str], small: Path, opened: Open, settle: Settle
) -> None:
    opened(small)
    settle()
    field = window.hierarchy.findChild(QLineEdit, "hierarchyFilter")
    found = window.hierarchy.findChild(QLabel, "hierarchyFound")
    assert field is not None
    assert found is not None
    field.setText("run_03")
    settle()
    assert rows(window, QModelIndex()) == ["8 files in monthly"]
    assert rows(window, set_row(window)) == ["run_03.json"]
    assert found.text() == "1 row in 1 of 9 documents"
    field.setText("path:monthly")
    settle()
    assert len(rows(window, set_row(window))) == 8
    assert rows(window, QModelIndex()) == ["8 files in monthly"]
    field.setText("units:k")
    settle()
    # Of files that are not open nothing is known.
    assert rows(window, set_row(window)) == ["run_00.json"]
    assert found.text() == "2 rows in 2 of 9 documents"
    field.setText("dims:z")
    settle()
    assert "small.json" not in rows(window, QModelIndex())[0]
    assert rows(window, window.hierarchy.model.index(0, 0, set_row(window))) == ["depth"]
    field.setText("")
    settle()
    assert not found.isVisibleTo(window)


@pytest.mark.slow
def test_five_thousand_files_are_listed_at_once(window: MainWindow, many: list[str], settle: Settle) -> None:
    folder = Path(many[0]).parent
    paths = [many[0], *(str(folder / f"gone_{number:05}.json") for number in range(4_999))]
    window.open_all(paths)
    settle()
    assert rows(window, QModelIndex()) == ["5\N{NARROW NO-BREAK SPACE}000 files in monthly"]
    assert window.hierarchy.model.canFetchMore(set_row(window))
    assert opened(window) == ["run_00.json"]
    assert json.loads(Path(many[0]).read_text())["version"] == 1


@pytest.mark.slow
def test_all_files_of_a_set_are_audited(window: MainWindow, dropped: list[str], settle: Settle) -> None:
    bad = Path(dropped[3])
    bad.write_text(bad.read_text().replace("data.bin", "gone.bin"))
    select_set(window)
    window.groups[AuditCommands].audit_set()
    settle()
    model = window.hierarchy.model
    marks = [model.index(row, 0, set_row(window)).data(DETAIL_ROLE) for row in range(1, 8)]
    assert marks[2].endswith("faults")
    assert marks[:2] + marks[3:] == ["sound"] * 6


@pytest.mark.slow
def test_files_beyond_the_first_ones_come_when_they_are_scrolled_to(
    window: MainWindow, many: list[str], settle: Settle, opened: Open
) -> None:
    folder = Path(many[0]).parent
    window.open_all([many[0], *(str(folder / f"gone_{number:05}.json") for number in range(2_999))])
    settle()
    tree, model = window.hierarchy.tree, window.hierarchy.model
    before = model.rowCount(set_row(window))
    assert before < 2_000
    tree.scrollToBottom()
    settle()
    assert before < model.rowCount(set_row(window)) < 3_000
    seen = model.rowCount(set_row(window))
    # It stays so when the tree is made again; one that is open has its row, wherever it is.
    opened(folder / "gone_02000.json")
    settle()
    assert seen < 2_002 <= model.rowCount(set_row(window)) < 3_000
    assert set_row(window).data(DETAIL_ROLE) == "2 open"
