"""The pane Search: all texts, one document or all, and going to what was found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import REFERENCES, SOURCE
from refbrowser.app.panes.search_pane import SearchPane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.views.hierarchy import ItemKind

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
ARRAY = {
    "zarr_format": 2, "shape": [40], "chunks": [4], "dtype": "<i2", "compressor": None, "filters": None,
    "fill_value": 0, "order": "C",
}  # fmt: skip
DOCUMENT = {
    "version": 1,
    "templates": {"root": "s3://pin-bucket"},
    "gen": [{"key": "b/{{pin}}", "url": "{{root}}", "dimensions": {"pin": {"stop": 4}}}],
    "refs": {
        ".zgroup": '{"zarr_format": 2}',
        "a/.zarray": json.dumps(ARRAY),
        "a/.zattrs": json.dumps({"long_name": "a Pin"}),
        "a/0": ["s3://bucket/pin.nc", 0, 8],
    },
}


@pytest.fixture
def pane(window: MainWindow, tmp_path: Path, opened: Open, settle: Settle) -> SearchPane:
    path = tmp_path / "sea.json"
    path.write_text(json.dumps(DOCUMENT))
    opened(path)
    settle()
    window.actions_["search_texts"].trigger()
    return window.search


def search(pane: SearchPane, text: str, settle: Settle) -> dict[str, list[str]]:
    """Return what is found, by heading."""
    pane.field.setText(text)
    QTest.keyClick(pane.field, Qt.Key.Key_Return)
    settle()
    return shown(pane)


def shown(pane: SearchPane) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for row in range(pane.rows.row_count()):
        where, text = pane.rows.page(row, row + 1)[0]
        if pane.rows.is_heading(row):
            groups[heading := where] = []
        else:
            groups[heading].append(text)
    return groups


def first_below(pane: SearchPane, heading: str) -> int:
    """Return the row of the first hit in a group."""
    rows = range(pane.rows.row_count())
    return 1 + next(row for row in rows if pane.rows.page(row, row + 1)[0][0].startswith(heading))


def test_what_is_found_stands_in_groups(pane: SearchPane, settle: Settle):
    assert search(pane, "pin", settle) == {
        "Attributes  (1)": ["a Pin"],
        "Templates  (1)": ["s3://pin-bucket"],
        "Gen rules  (2)": ["b/{{pin}}", "pin"],
        "URLs  (1)": ["s3://bucket/pin.nc"],
        "Metadata  (1)": ['{"long_name": "a Pin"}'],
    }
    assert pane.state.text() == "6 places"
    pane.case.click()
    settle()
    assert "Attributes  (1)" not in shown(pane)
    pane.case.click()
    pane.words.click()
    settle()
    assert "URLs  (1)" in shown(pane)
    pane.words.click()
    assert search(pane, "nowhere", settle) == {}
    assert pane.state.text() == "Not found"


def test_expressions_that_might_take_too_long_are_refused(pane: SearchPane, settle: Settle):
    pane.expression.click()
    assert search(pane, "(a+)+b", settle) == {}
    assert "might take too long" in pane.state.text()
    assert search(pane, r"a/\d$", settle) == {"Keys  (1)": ["a/0"]}
    pane.expression.click()


@pytest.mark.parametrize(
    ("heading", "kind", "place"),
    [
        ("Attributes", ItemKind.ARRAY, "/a"),
        ("Templates", ItemKind.TEMPLATE, "root"),
        ("Gen rules", ItemKind.RULE, 0),
    ],
)
def test_a_click_leads_to_the_tree(
    pane: SearchPane, window: MainWindow, settle: Settle, heading, kind, place
):
    search(pane, "pin", settle)
    pane.table.set_current(first_below(pane, heading))
    settle()
    current = window.navigation.item()
    assert (current.kind, current.place) == (kind, place)


def test_keys_lead_to_the_references_or_the_source(pane: SearchPane, window: MainWindow, settle: Settle):
    search(pane, "pin", settle)
    QTest.keyClick(pane.field, Qt.Key.Key_Down)
    assert pane.table.hasFocus()
    pane.table.set_current(first_below(pane, "URLs"))
    QTest.keyClick(pane.table, Qt.Key.Key_Return)
    settle()
    assert window.centre.tabs.currentIndex() == REFERENCES
    assert window.centre.references.current_key() == "a/0"
    window.actions_["show_source"].trigger()
    settle()
    source = window.centre.make_source()
    for heading, text in (
        ("URLs", b'"a/0"'),
        ("Gen rules", b'{"key"'),
        ("Templates", b'"root"'),
        ("Attrib", b'"a/.z'),
    ):
        pane.table.set_current(None)
        pane.table.set_current(first_below(pane, heading))
        settle()
        assert window.centre.tabs.currentIndex() == SOURCE
        assert source.text.read(source.view.caret, source.view.caret + len(text)) == text


def test_all_documents_are_searched_on_request(
    pane: SearchPane, window: MainWindow, settle: Settle, tmp_path: Path, opened: Open
):
    other = tmp_path / "other.json"
    other.write_text('{"version": 1, "refs": {"pin": ["x"]}}')
    opened(other)
    settle()
    assert search(pane, "pin", settle) == {"Keys  (1)": ["pin"]}
    pane.everywhere.click()
    settle()
    groups = shown(pane)
    assert "other.json: Keys  (1)" in groups
    assert "sea.json: URLs  (1)" in groups
    window.documents.close(window.documents.current)
    settle()
    assert "other.json: Keys  (1)" not in shown(pane)
    pane.everywhere.click()


def test_what_is_selected_is_sought(pane: SearchPane, window: MainWindow, settle: Settle):
    window.actions_["show_source"].trigger()
    settle()
    source = window.centre.make_source()
    at = source.text.read(0, source.text.size).index(b"pin-bucket")
    source.view.go_to(at, at + 10)
    source.view.setFocus()
    window.actions_["search_texts"].trigger()
    settle()
    assert pane.field.text() == "pin-bucket"
