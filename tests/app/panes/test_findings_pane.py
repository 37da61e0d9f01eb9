"""The findings pane: faults and warnings; click, Enter, F8 go to the place; fixes are steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QLineEdit, QTableView, QToolButton
from pytestqt.qtbot import QtBot
from small_documents import small_document
from window_fixtures import Open, button

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import REFERENCES, SOURCE
from refbrowser.app.panes.findings_pane import MESSAGE, PLACE, FindingsModel, Row
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme
from refbrowser.engine.findings.listed_finding import FindingOrigin, ListedFinding
from refbrowser.errors import ErrorKind, Severity
from refbrowser.references.edits.edits import SetReference

Settle = Callable[[], None]

RULE = {"key": "x/{{i}}", "url": "{{nowhere}}", "dimensions": {"i": {"stop": 3}}}


def faulty() -> dict[str, object]:
    """Return a document with a fault in a rule, a template, a key and in metadata."""
    document = small_document()
    document["gen"].append(RULE)  # type: ignore[attr-defined]
    document["templates"]["t"] = "{{ c "  # type: ignore[index]
    document["refs"]["bad/.zarray"] = "{nope"  # type: ignore[index]
    document["refs"]["depth/1"] = ["data.bin", -4, 4]  # type: ignore[index]
    return document


@pytest.fixture
def document(window: MainWindow, tmp_path: Path, opened: Open, settle: Settle) -> OpenDocument:
    (tmp_path / "data.bin").write_bytes(bytes(48))
    path = tmp_path / "faulty.json"
    path.write_text(json.dumps(faulty(), indent=1))
    found = opened(path)
    settle()
    return found


@pytest.fixture
def table(window: MainWindow) -> QTableView:
    found = window.findChild(QTableView, "problemsView")
    assert found is not None
    return found


def messages(table: QTableView) -> list[str]:
    model = table.model()
    return [model.index(row, MESSAGE).data() for row in range(model.rowCount())]


def row_of(table: QTableView, words: str) -> int:
    return next(row for row, text in enumerate(messages(table)) if words in text)


def click(table: QTableView, row: int, qtbot: QtBot) -> None:
    where: QPoint = table.visualRect(table.model().index(row, MESSAGE)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=where)


@pytest.mark.slow
def test_every_place_is_listed_once(document: OpenDocument, table: QTableView) -> None:
    found = messages(table)
    assert len(found) == len(document.findings.found.items)
    for words in ("'nowhere' is not defined", "metadata is not JSON"):
        assert sum(words in text for text in found) == 1, found
    places = [finding.place.key for finding in document.findings.found.items]
    assert places.count("bad/.zarray") == 1
    assert places.count("depth/1") == 1


def test_a_click_goes_to_the_rule_and_its_field(
    window: MainWindow, document: OpenDocument, table: QTableView, settle: Settle, qtbot: QtBot
) -> None:
    window.actions_["show_problems"].trigger()
    click(table, row_of(table, "nowhere"), qtbot)
    settle()
    item = window.hierarchy.current_item()
    assert item is not None
    assert (item.kind, item.place) == ("rule", 1)
    assert window.editors.document() is document


def test_enter_goes_to_a_key_and_the_keyboard_stays(
    window: MainWindow, document: OpenDocument, table: QTableView, settle: Settle, qtbot: QtBot
) -> None:
    window.activateWindow()
    window.actions_["show_problems"].trigger()
    finding = next(row for row in window.findings.model.rows() if row.finding.place.key == "depth/1")
    row = window.findings.model.find(finding.identity)
    table.setCurrentIndex(table.model().index(row, MESSAGE))
    qtbot.keyClick(table, Qt.Key.Key_Return)
    settle()
    assert window.centre.tabs.currentIndex() == REFERENCES
    assert window.centre.references.current_key() == "depth/1"
    assert table.hasFocus()


@pytest.mark.slow
def test_f8_goes_through_all_and_round(
    window: MainWindow, document: OpenDocument, table: QTableView, settle: Settle, qtbot: QtBot
) -> None:
    window.activateWindow()
    # What is gone to is read, and may tell of more: once all of it was, the list stays.
    for _ in window.findings.model.rows():
        qtbot.keyClick(window, Qt.Key.Key_F8)
        settle()
    qtbot.waitUntil(lambda: not document.findings._pause.isActive())
    settle()
    rows = window.findings.model.rows()
    begin = rows.index(window.findings.current())
    seen = []
    for _ in rows:
        qtbot.keyClick(window, Qt.Key.Key_F8)
        seen.append(window.findings.current())
    assert seen == [*rows[begin + 1 :], *rows[: begin + 1]]
    qtbot.keyClick(window, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert window.findings.current() == rows[begin - 1]


def test_a_fix_is_one_step_of_the_history(
    window: MainWindow, document: OpenDocument, table: QTableView, settle: Settle, qtbot: QtBot
) -> None:
    window.actions_["show_problems"].trigger()
    before = document.document.to_bytes()  # type: ignore[union-attr]
    rows = [row for row in window.findings.model.rows() if row.finding.place.key == "depth/1"]
    click(table, window.findings.model.find(rows[0].identity), qtbot)
    fix = button(window, "problemsFixButton")
    assert fix.isEnabled()
    assert "depth/1" in fix.accessibleName()
    qtbot.mouseClick(fix, Qt.MouseButton.LeftButton)
    settle()
    assert document.pending_count == 1
    assert not any(row.finding.place.key == "depth/1" for row in window.findings.model.rows())
    document.undo()
    settle()
    assert document.document.to_bytes() == before  # type: ignore[union-attr]
    assert any(row.finding.place.key == "depth/1" for row in window.findings.model.rows())


def test_edits_are_followed_and_the_status_counts(
    window: MainWindow, document: OpenDocument, settle: Settle
) -> None:
    before = len(window.findings.model.rows())
    document.apply(SetReference("bad/.zarray", "{nope again"))
    settle()
    assert len(window.findings.model.rows()) == before
    document.apply(SetReference("worse/.zarray", "{nope"))
    settle()
    assert len(window.findings.model.rows()) == before + 1
    window.documents.close(document)
    settle()
    assert len(window.findings.model.rows()) == 0


def test_the_filter_and_the_severities(
    window: MainWindow, document: OpenDocument, table: QTableView, settle: Settle, qtbot: QtBot
) -> None:
    window.actions_["show_problems"].trigger()
    everything = messages(table)
    field = window.findChild(QLineEdit, "problemsFilter")
    assert field is not None
    qtbot.keyClicks(field, "NOWHERE")
    assert len(messages(table)) == 1
    field.clear()
    faults = window.findChild(QToolButton, "problemsFaults")
    assert faults is not None
    qtbot.mouseClick(faults, Qt.MouseButton.LeftButton)
    left = messages(table)
    assert len(left) < len(everything)
    assert not any(row.finding.is_fault for row in window.findings.model.rows())


def test_f7_looks_again_and_copy_takes_all(
    window: MainWindow, document: OpenDocument, table: QTableView, settle: Settle, qtbot: QtBot
) -> None:
    window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_F7)
    settle()
    assert not window.docks["problemsDock"].visibleRegion().isEmpty()
    qtbot.mouseClick(button(window, "problemsCopyButton"), Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text().splitlines()
    assert len(copied) >= table.model().rowCount()
    assert all(line.startswith(document.path) for line in copied if line.strip())


def test_a_place_in_the_text_is_shown_there(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path, table: QTableView
) -> None:
    path = tmp_path / "odd.json"
    path.write_text('{"version": 1,\n "refs": {".zgroup": "{\\"zarr_format\\": 2}"},\n "more": 3}')
    opened(path)
    settle()
    window.actions_["show_problems"].trigger()
    assert table.model().rowCount() == 1
    click(table, 0, qtbot)
    settle()
    assert window.centre.tabs.currentIndex() == SOURCE
    source = window.centre.make_source()
    assert source.text.read(source.view.caret, source.view.caret + 1) == b"3"


def test_a_comma_too_many_is_taken_out(
    window: MainWindow, small: Path, opened: Open, settle: Settle, table: QTableView, qtbot: QtBot
) -> None:
    whole = small.read_text()
    small.write_text(whole.rstrip()[:-1] + " , }")
    opened(small)
    settle()
    fix = button(window, "problemsFixButton")
    table.selectRow(0)
    assert fix.isEnabled()
    fix.click()
    qtbot.waitUntil(lambda: [each.is_open for each in window.documents.all()] == [True])
    (document,) = window.documents.all()
    assert document.is_pending
    assert document.path == str(small)
    assert document.document is not None
    assert json.loads(document.document.to_bytes()) == json.loads(whole)
    assert small.read_text().endswith(" , }"), "the file stays as it is"


def test_a_sound_document_says_so(window: MainWindow, opened: Open, small: Path, settle: Settle) -> None:
    opened(small)
    settle()
    window.actions_["show_problems"].trigger()
    hints = [label.text() for label in window.findings.findChildren(QLabel) if label.isVisible()]
    assert "No problems found." in hints


def test_problems_of_several_documents_name_theirs(
    window: MainWindow,
    document: OpenDocument,
    opened: Open,
    small: Path,
    settle: Settle,
    table: QTableView,
    qtbot: QtBot,
) -> None:
    opened(small)
    settle()
    window.actions_["show_problems"].trigger()
    assert window.documents.current is not document
    headings = [text for text in messages(table) if text.startswith("▾")]
    assert headings[0] == f"▾ faulty.json: {len(document.findings.found.items)}"
    before = messages(table)
    click(table, row_of(table, "nowhere"), qtbot)
    assert window.documents.current is document
    assert messages(table) == before, "what was clicked stays under the pointer"


def test_the_current_problem_shows_its_whole_text(
    window: MainWindow, document: OpenDocument, table: QTableView, qtbot: QtBot
) -> None:
    window.actions_["show_problems"].trigger()
    table.setColumnWidth(PLACE, table.viewport().width() - 200)
    row = row_of(table, "nowhere")
    table.setCurrentIndex(table.model().index(row, MESSAGE))
    assert table.rowHeight(row) > 1.5 * theme.ROW
    table.setCurrentIndex(table.model().index(row_of(table, "metadata is not JSON"), MESSAGE))
    assert table.rowHeight(row) == theme.ROW


def finding_row(document: object, message: str, severity: Severity = Severity.FAULT) -> Row:
    finding = ListedFinding(
        severity=severity,
        kind=ErrorKind.REF,
        message=message,
        origin=FindingOrigin.DOCUMENT,
        spot=("document", ""),
    )
    return Row(document, finding)  # type: ignore[arg-type]


def test_problems_stand_by_document_and_kind_and_many_of_a_kind_are_folded() -> None:
    here, there = (SimpleNamespace(number=number, title=f"{number}.json") for number in (1, 2))
    model = FindingsModel()
    rows = [
        *(finding_row(here, f"the key 'a/{number}' has no URL") for number in range(2)),
        finding_row(here, "odd"),
        finding_row(here, "the key 'b' has no URL"),
        *(finding_row(there, f"row {number} is short", Severity.WARNING) for number in range(9)),
    ]

    def texts() -> list[str]:
        return [model.index(row, MESSAGE).data() for row in range(model.rowCount())]

    model.set_rows(rows, name_documents=True)
    folded = "▸ Row … is short: 9"
    assert texts() == [
        "▾ 1.json: 4",
        "▾ The key … has no URL: 3",
        "The key 'a/0' has no URL",
        "The key 'a/1' has no URL",
        "The key 'b' has no URL",
        "Odd",
        "▾ 2.json: 9",
        folded,
    ]
    assert model.rows_at(1) == (rows[0], rows[1], rows[3])
    assert model.find(rows[-1].identity) == -1
    assert model.show(rows[-1]) == 16
    assert model.row(16) == rows[-1]
    model.turn(0)
    assert texts()[:2] == ["▸ 1.json: 4", "▾ 2.json: 9"]
    model.turn(2)
    assert texts()[2] == folded
    # What a filter finds is not folded away.
    model.set_filter(True, True, "short")
    model.set_rows(rows, name_documents=False)
    assert len(texts()) == 10
