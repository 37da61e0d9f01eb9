"""The text of a document in its tab: shown, folded, searched, marked, and what leads there and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import REFERENCES, SOURCE
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.source.source_pane import SourcePane
from refbrowser.references.edits.edits import SetReference, SetTemplate
from refbrowser.views.hierarchy import ItemKind

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
ARRAY = {
    "zarr_format": 2, "shape": [40], "chunks": [4], "dtype": "<i2", "compressor": None, "filters": None,
    "fill_value": 0, "order": "C",
}  # fmt: skip
DOCUMENT = {
    "version": 1,
    "templates": {"u": "s3://bucket"},
    "gen": [{"key": "b/{{i}}", "url": "{{nowhere}}", "dimensions": {"i": {"stop": 4}}}],
    "refs": {
        ".zgroup": '{"zarr_format": 2}',
        "a/.zarray": json.dumps(ARRAY),
        "b/.zarray": json.dumps(ARRAY),
        **{f"a/{i}": ["s3://bucket/a.nc", 100 * i, 8] for i in range(10)},
    },
}


@pytest.fixture
def text() -> bytes:
    return json.dumps(DOCUMENT).encode()


@pytest.fixture
def pane(window: MainWindow, tmp_path: Path, opened: Open, settle: Settle, text: bytes) -> SourcePane:
    """The text of a small document in front."""
    path = tmp_path / "sea.json"
    path.write_bytes(text)
    opened(path)
    settle()
    window.actions_["show_source"].trigger()
    settle()
    return window.centre.make_source()


def rows(pane: SourcePane) -> list[str]:
    """Return the rows that are seen."""
    shown = pane.view.rows
    numbers = [shown.row_of_seen(place) for place in range(shown.seen)]
    return [pane.view._text(number)[1].text for number in numbers]


def current(pane: SourcePane) -> str:
    return pane.view._text(pane.view.rows.row_at(pane.view.caret))[1].text


def test_a_document_on_one_line_is_laid_out(pane: SourcePane, text: bytes):
    assert rows(pane)[:3] == ["{", '"version": 1,', '"templates": {"u": "s3://bucket"},']
    assert pane.text.read(0, pane.text.size) == text
    assert "laid out" in pane.title.text()


def test_its_lines_are_shown_where_they_are_wanted(pane: SourcePane, text: bytes, settle: Settle):
    pane.layout_button.click()
    settle()
    assert "".join(rows(pane)) == text.decode()
    assert pane.view.rows.number(pane.view.rows.count - 1) == 1
    assert not pane.view.is_laid_out


def test_the_text_follows_edits(pane: SourcePane, window: MainWindow, settle: Settle):
    document = window.documents.current
    pane.view.go_to(pane.text.read(0, pane.text.size).index(b'"a/3"'))
    document.apply(SetReference("a/3", ["s3://other", 0, 8]))
    settle()
    assert '"a/3": ["s3://other", 0, 8],' in rows(pane)
    assert current(pane).startswith('"a/3"')
    document.apply(SetTemplate("u", "s3://elsewhere"))
    settle()
    assert '"templates": {"u": "s3://elsewhere"},' in rows(pane)
    document.undo()
    document.undo()
    settle()
    assert pane.text.read(0, pane.text.size) == json.dumps(DOCUMENT).encode()


def test_problems_are_marked_and_told(pane: SourcePane, window: MainWindow, settle: Settle):
    marks = pane.view.marks()
    position = pane.text.read(0, pane.text.size).index(b"{{nowhere")
    assert any(abs(mark.start - position) < 4 for mark in marks)
    pane.view.go_to(position)
    assert "nowhere" in pane.fault.text()
    assert pane.fault.isVisible()
    pane.view.go_to(0)
    assert not pane.fault.isVisible()


def test_a_problem_leads_to_its_place(pane: SourcePane, window: MainWindow, settle: Settle):
    document = window.documents.current
    finding = next(each for each in document.findings.found.items if "nowhere" in each.message)
    from refbrowser.app.commands.findings import FindingCommands

    window.groups[FindingCommands].go_to(document, finding)
    settle()
    assert window.centre.tabs.currentIndex() == SOURCE
    assert "nowhere" in current(pane)


@pytest.mark.parametrize(
    ("kind", "place", "expected"),
    [
        (ItemKind.ARRAY, "/a", '"a/.zarray"'),
        (ItemKind.RULE, 0, '"key": "b/{{i}}"'),
        (ItemKind.TEMPLATE, "u", '"templates"'),
        (ItemKind.RULES, "", '"gen"'),
    ],
)
def test_the_tree_leads_to_the_text(
    pane: SourcePane, window: MainWindow, settle: Settle, kind, place, expected
):
    document = window.documents.current
    window.hierarchy.select_index(window.hierarchy.model.find_identity((document.number, str(kind), place)))
    settle()
    window.actions_["show_in_source"].trigger()
    settle()
    assert window.centre.tabs.currentIndex() == SOURCE
    row = pane.view.rows.row_at(pane.view.caret)
    assert any(pane.view._text(each)[1].text.startswith(expected) for each in (row, row + 1))


def test_references_lead_to_the_text_and_back(pane: SourcePane, window: MainWindow, settle: Settle):
    window.actions_["show_references"].trigger()
    window.centre.references.go_to_key("a/7")
    settle()
    window.actions_["show_in_source"].trigger()
    settle()
    assert current(pane).startswith('"a/7": ')
    assert "a/7" in pane.place.text()
    pane.view.go_to(pane.view.caret + 60)
    assert "a/8" in pane.place.text()
    QTest.keyClick(pane.view, Qt.Key.Key_Return)
    settle()
    assert window.centre.tabs.currentIndex() == REFERENCES
    assert window.centre.references.current_key() == "a/8"


def test_a_rule_leads_to_its_editor(pane: SourcePane, window: MainWindow, settle: Settle):
    pane.view.activated.emit(pane.text.read(0, pane.text.size).index(b"nowhere"))
    settle()
    item = window.navigation.item()
    assert (item.kind, item.place) == (ItemKind.RULE, 0)


def test_what_is_folded_away_comes_back_when_it_is_gone_to(pane: SourcePane, settle: Settle):
    pane.view.fold_all()
    assert len(rows(pane)) < 10
    pane.view.go_to(pane.text.read(0, pane.text.size).index(b'"a/5"'))
    assert '"a/5": ["s3://bucket/a.nc", 500, 8],' in rows(pane)
    pane.view.unfold_all()
    everything = rows(pane)
    QTest.keyClicks(pane.view, "-")
    assert '"refs": {' in rows(pane)
    assert '"a/5": ["s3://bucket/a.nc", 500, 8],' not in rows(pane)
    QTest.keyClicks(pane.view, "+")
    assert rows(pane) == everything


def test_words_are_found_one_after_the_other(pane: SourcePane, settle: Settle):
    QTest.keyClick(pane.view, Qt.Key.Key_F, CONTROL)
    assert pane.find_bar.isVisible()
    pane.find_bar.field.setText("BUCKET/A.NC")
    settle()
    assert pane.find_bar.count.text() == "1 of 10"
    assert pane.text.read(*pane.view.selection()) == b"bucket/a.nc"
    QTest.keyClick(pane.find_bar.field, Qt.Key.Key_Return)
    assert pane.find_bar.count.text() == "2 of 10"
    QTest.keyClick(pane.view, Qt.Key.Key_F3, SHIFT)
    QTest.keyClick(pane.view, Qt.Key.Key_F3, SHIFT)
    assert pane.find_bar.count.text() == "10 of 10"
    pane.find_bar.case.setChecked(True)
    settle()
    assert pane.find_bar.count.text() == "not found"
    QTest.keyClick(pane.find_bar.field, Qt.Key.Key_Escape)
    assert not pane.find_bar.isVisible()


def test_the_keyboard_moves_selects_and_copies(pane: SourcePane, text: bytes):
    view = pane.view
    QTest.keyClick(view, Qt.Key.Key_Home, CONTROL)
    assert view.caret == 0
    QTest.keyClick(view, Qt.Key.Key_Down)
    QTest.keyClick(view, Qt.Key.Key_Home)
    QTest.keyClick(view, Qt.Key.Key_End, SHIFT)
    QTest.keyClick(view, Qt.Key.Key_C, CONTROL)
    assert QGuiApplication.clipboard().text() == '"version": 1,'
    QTest.keyClick(view, Qt.Key.Key_Right)
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert current(pane).startswith('"templates"')
    QTest.keyClick(view, Qt.Key.Key_Left)
    QTest.keyClick(view, Qt.Key.Key_End, CONTROL)
    assert view.caret == len(text)
    QTest.keyClick(view, Qt.Key.Key_PageUp)
    assert view.caret < len(text)
    QTest.keyClick(view, Qt.Key.Key_A, CONTROL)
    view.copy()
    assert QGuiApplication.clipboard().text() == text.decode()


def test_the_mouse_places_the_caret_and_folds(pane: SourcePane):
    view = pane.view
    area = view.viewport()
    QTest.mouseClick(area, Qt.MouseButton.LeftButton, pos=QPoint(view._gutter() + 100, view._height + 5))
    assert current(pane) == '"version": 1,'
    row = rows(pane).index('"gen": [')
    before = len(rows(pane))
    place = QPoint(view._gutter() - view._height + 2, view._height * row + 6)
    QTest.mouseClick(area, Qt.MouseButton.LeftButton, pos=place)
    assert len(rows(pane)) < before


def test_what_appears_below_the_text_does_not_hide_the_caret(pane: SourcePane, settle: Settle):
    view = pane.view
    last = view._bar.first + view.visible_rows() - 1
    view.go_to(view.rows.span(view.rows.row_of_seen(min(last, view.rows.seen - 1))).start)
    view.resize(view.width(), view.height() // 2)
    row = view.rows.seen_place(view.rows.row_at(view.caret))
    assert view._bar.first <= row < view._bar.first + view.visible_rows()


def test_a_store_shows_its_metadata_documents(
    window: MainWindow, tmp_path: Path, opened: Open, settle: Settle
):
    store = tmp_path / "store.zarr"
    (store / "a").mkdir(parents=True)
    (store / ".zgroup").write_text('{"zarr_format": 2}')
    (store / "a" / ".zarray").write_text(json.dumps(ARRAY))
    (store / "a" / ".zattrs").write_text('{"units": "K"}')
    document = opened(store)
    settle()
    window.actions_["show_source"].trigger()
    window.hierarchy.select_node(document, "/a")
    settle()
    pane = window.centre.make_source()
    offered = [pane.keys.itemText(number) for number in range(pane.keys.count())]
    assert offered == ["a/.zarray", "a/.zattrs"]
    assert pane.text.read(0, pane.text.size) == json.dumps(ARRAY).encode()
    pane.keys.setCurrentText("a/.zattrs")
    settle()
    assert rows(pane) == ['{"units": "K"}']
    assert not pane.edit_button.isVisible()
    QTest.keyClick(pane.view, Qt.Key.Key_F4)
    assert pane.editor.draft is None


def test_a_file_of_data_has_no_text(window: MainWindow, tmp_path: Path, opened: Open, settle: Settle):
    path = tmp_path / "a.nc"
    path.write_bytes(b"CDF\x01" + bytes(28))
    opened(path)
    settle()
    window.actions_["show_source"].trigger()
    settle()
    assert window.centre.make_source().page() is None
