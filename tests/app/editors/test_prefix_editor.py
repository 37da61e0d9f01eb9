"""Replacing the beginning of URLs over any part of a document, by keyboard and mouse."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from editor_workplace import DOCUMENT, Workplace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton

from refbrowser.app.editors.prefix_editor import ExampleLines
from refbrowser.references.content.url_prefixes import PrefixScope, ScopeKind
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, SetReference
from refbrowser.views.editing import prefix_changes
from refbrowser.views.editing.prefix_changes import suggested_prefix

Make = Callable[..., Workplace]
UNDER = ("Array /a", PrefixScope(ScopeKind.UNDER, "/a"))
ROWS = ("2 selected references", PrefixScope(ScopeKind.ENTRIES, runs=((1, 3),)))
RULE = ("Gen rule 0", PrefixScope(ScopeKind.RULE, number=0))


def put(place: Workplace, name: str, text: str) -> None:
    """Replace what a field holds by typing."""
    field = place.child(QLineEdit, name)
    field.setFocus()
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    QTest.keyClicks(field, text)


def choose(place: Workplace, title: str) -> None:
    """Choose a part of the document by keyboard."""
    combo = place.child(QComboBox, "urlPrefixScope")
    combo.setFocus()
    for _ in range(combo.count()):
        QTest.keyClick(combo, Qt.Key.Key_Up)
    while combo.currentText() != title:
        QTest.keyClick(combo, Qt.Key.Key_Down)


def saved(place: Workplace) -> Any:
    return json.loads(place.document.document.to_bytes())


def replace(place: Workplace, qtbot: Any) -> None:
    """Press Replace, and wait until it is done."""
    steps = len(place.document.history.entries)
    qtbot.mouseClick(place.child(QPushButton, "urlPrefixApplyButton"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(place.document.history.entries) == steps + 1)


def test_what_changes_is_counted_with_examples_and_rows_before_it_is_done(prefix: Make, qtbot: Any) -> None:
    place = prefix()
    put(place, "urlPrefixOld", "http://")
    qtbot.waitUntil(lambda: "nothing replaces it" in place.outcome("urlPrefixOutcome"))
    put(place, "urlPrefixNew", "http://")
    qtbot.waitUntil(lambda: "2 references begin this way" in place.outcome("urlPrefixOutcome"))
    assert not place.child(QPushButton, "urlPrefixApplyButton").isEnabled()
    put(place, "urlPrefixNew", "https://")
    qtbot.waitUntil(lambda: "2 references change" in place.outcome("urlPrefixOutcome"))
    assert place.child(ExampleLines, "urlPrefixExamples").text().splitlines()[:3] == [
        "a/0",
        "− http://{{u}}/a.nc",
        "+ https://{{u}}/a.nc",
    ]
    assert place.rows()[0] == [
        "●", "0", "a/0", "https://{{u}}/a.nc", "0", "10",
        "url http:/… → https:/… · url http://{{u}}/a.nc → https://{{u}}/a.nc",
    ]  # fmt: skip
    assert place.document.document is place.document.saved_document


def test_a_replacement_is_one_step_and_undo_gives_the_bytes_back(prefix: Make, qtbot: Any) -> None:
    place = prefix()
    before = place.document.document.to_bytes()
    put(place, "urlPrefixOld", "http://")
    put(place, "urlPrefixNew", "https://")
    qtbot.waitUntil(lambda: place.child(QPushButton, "urlPrefixApplyButton").isEnabled())
    new = place.child(QLineEdit, "urlPrefixNew")
    QTest.keyClick(new, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: place.document.is_dirty)
    assert saved(place)["refs"]["a/0"][0] == "https://{{u}}/a.nc"
    assert len(place.document.history.entries) == 1
    assert "2 references changed" in place.outcome("urlPrefixStatus")
    button = place.child(QPushButton, "urlPrefixShowChanged")
    assert button.isVisible()
    with qtbot.waitSignal(place.editor.changesWanted):  # type: ignore[attr-defined]
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    place.document.undo()
    assert place.document.document.to_bytes() == before


def test_after_undo_the_editor_begins_with_what_urls_have_in_common_now(
    prefix: Make, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = prefix(scopes=[UNDER], chosen=UNDER[1])
    old = place.child(QLineEdit, "urlPrefixOld")
    qtbot.waitUntil(lambda: old.text() != "")
    before = old.text()
    put(place, "urlPrefixNew", "https://elsewhere/")
    qtbot.waitUntil(lambda: place.child(QPushButton, "urlPrefixApplyButton").isEnabled())
    replace(place, qtbot)
    qtbot.waitUntil(lambda: old.text() == "https://elsewhere/")
    # However long it takes: what is counted after a pause does not take its place.
    paused, find = threading.Event(), suggested_prefix
    monkeypatch.setattr(prefix_changes, "suggested_prefix", lambda *each: paused.wait(30) and find(*each))
    place.document.undo()
    qtbot.waitUntil(lambda: not place.editor._pause.isActive())
    paused.set()
    qtbot.waitUntil(lambda: old.text() == before)
    qtbot.waitUntil(lambda: "begin this way" in place.outcome("urlPrefixOutcome"))
    assert place.outcome("urlPrefixStatus") == ""


def test_where_no_url_begins_so_the_preview_says_it(prefix: Make, qtbot: Any) -> None:
    place = prefix()
    put(place, "urlPrefixOld", "gopher://")
    qtbot.waitUntil(lambda: "no URL begins with this text" in place.outcome("urlPrefixOldOutcome"))
    assert place.rows() == []


def test_templates_and_rules_change_with_all_keys(prefix: Make, qtbot: Any) -> None:
    place = prefix()
    put(place, "urlPrefixOld", "s3://bucket")
    put(place, "urlPrefixNew", "s3://other")
    qtbot.waitUntil(lambda: "1 gen rule changes" in place.outcome("urlPrefixOutcome"))
    put(place, "urlPrefixOld", "era")
    qtbot.waitUntil(lambda: "1 template changes, used 3 times" in place.outcome("urlPrefixOutcome"))


@pytest.mark.parametrize(
    ("scope", "old", "words", "changed"),
    [
        (UNDER, "http://", "2 references change", ["a/0", "a/1"]),
        (ROWS, "http://", "2 references change", ["a/0", "a/1"]),
        (RULE, "s3://bucket", "1 gen rule changes", []),
    ],
)
def test_a_part_that_is_selected_in_the_window(
    prefix: Make, qtbot: Any, scope: Any, old: str, words: str, changed: list[str]
) -> None:
    place = prefix(scopes=[scope], chosen=scope[1])
    assert place.child(QComboBox, "urlPrefixScope").currentText() == scope[0]
    put(place, "urlPrefixOld", old)
    put(place, "urlPrefixNew", "new:")
    qtbot.waitUntil(lambda: words in place.outcome("urlPrefixOutcome"))
    replace(place, qtbot)
    contents = saved(place)
    assert [key for key, value in contents["refs"].items() if value[0].startswith("new:")] == changed
    assert contents["gen"][0]["url"].startswith("new:" if scope is RULE else "s3://bucket")


def test_a_pattern_chooses_the_keys_and_what_is_left_out_is_said(prefix: Make, qtbot: Any) -> None:
    place = prefix({**DOCUMENT, "templates": {"u": "era5", "w": "http://w"}})
    choose(place, "Keys that fit a pattern")
    assert place.child(QLineEdit, "urlPrefixKeys").isVisible()
    put(place, "urlPrefixKeys", "a/1*")
    put(place, "urlPrefixOld", "http://")
    put(place, "urlPrefixNew", "https://")
    qtbot.waitUntil(lambda: "1 reference changes" in place.outcome("urlPrefixOutcome"))
    assert "1 other template or rule begins so" in place.outcome("urlPrefixElsewhere")
    replace(place, qtbot)
    assert [saved(place)["refs"][key][0][:5] for key in ("a/0", "a/1")] == ["http:", "https"]


def test_bad_input_is_told_beside_the_field_and_nothing_is_lost(prefix: Make, qtbot: Any) -> None:
    place = prefix()
    put(place, "urlPrefixOld", "")
    assert "type what" in place.outcome("urlPrefixOldOutcome")
    put(place, "urlPrefixOld", "nothing://")
    put(place, "urlPrefixNew", "x")
    qtbot.waitUntil(lambda: place.outcome("urlPrefixOldOutcome") == "! no URL begins with this text")
    put(place, "urlPrefixOld", "http://")
    put(place, "urlPrefixNew", "http://{{ u")
    qtbot.waitUntil(lambda: place.outcome("urlPrefixOutcome").startswith("✕"))
    assert not place.child(QPushButton, "urlPrefixApplyButton").isEnabled()
    assert place.child(QLineEdit, "urlPrefixNew").text() == "http://{{ u"
    assert not place.document.is_dirty


def test_edited_entries_are_counted_as_they_are_now(prefix: Make, qtbot: Any) -> None:
    place = prefix()
    put(place, "urlPrefixOld", "http://")
    put(place, "urlPrefixNew", "https://")
    qtbot.waitUntil(lambda: "2 references change" in place.outcome("urlPrefixOutcome"))
    place.document.apply(SetReference("a/0", ["ftp://x", 0, 1]))
    qtbot.waitUntil(lambda: "1 reference changes" in place.outcome("urlPrefixOutcome"))
    place.document.apply(SetReference("n/0", ["http://new", 0, 1]))
    place.document.apply(RemoveReference("a/1"))
    qtbot.waitUntil(lambda: "n/0" in place.child(ExampleLines, "urlPrefixExamples").text())


def test_the_prefix_of_the_part_is_filled_in(prefix: Make, qtbot: Any) -> None:
    place = prefix(scopes=[RULE], chosen=RULE[1])
    qtbot.waitUntil(lambda: place.child(QLineEdit, "urlPrefixOld").text() == "s3://bucket/")
    new = place.child(QLineEdit, "urlPrefixNew")
    assert new.selectedText() == "s3://bucket/"
    assert new.hasFocus()


def test_urls_that_begin_with_a_template_lead_to_it(prefix: Make, qtbot: Any) -> None:
    contents = {
        "version": 1,
        "templates": {"u": "s3://b/x.nc"},
        "refs": {"a/0": ["{{u}}", 0, 1], "a/1": ["{{ u }}", 1, 1], "b/0": ["gs://o", 0, 1]},
    }
    place = prefix(contents, scopes=[UNDER], chosen=UNDER[1])
    combo = place.child(QComboBox, "urlPrefixScope")
    qtbot.waitUntil(lambda: combo.currentText() == "Template u")
    assert place.child(QLineEdit, "urlPrefixOld").text() == "s3://b/"
    put(place, "urlPrefixNew", "gs://c/")
    qtbot.waitUntil(lambda: "1 template changes" in place.outcome("urlPrefixOutcome"))
    assert "begin with template u" in place.outcome("urlPrefixOldOutcome")
    replace(place, qtbot)
    assert saved(place)["templates"] == {"u": "gs://c/x.nc"}


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        (["s3://b/x/1.nc", "s3://b/x/2.nc"], "s3://b/x/"),
        (["s3://b/x.nc", "s3://c/x.nc"], "s3://"),
        (["s3://b/x.nc", "http://c/x.nc"], ""),
        (["a.nc"], "a.nc"),
        (["a/b/c.nc"], "a/b/"),
        ([], ""),
    ],
)
def test_the_longest_common_beginning_ends_at_a_slash(urls: list[str], expected: str) -> None:
    refs = {f"a/{number}": [url, 0, 1] for number, url in enumerate(urls)}
    document = ReferenceDocument.of(json.dumps({**refs, "t": "text"}).encode())
    assert suggested_prefix(document, PrefixScope()).prefix == expected


def test_a_row_of_the_preview_is_found_by_its_key(prefix: Make, qtbot: Any) -> None:
    place = prefix()
    put(place, "urlPrefixOld", "http://")
    put(place, "urlPrefixNew", "https://")
    qtbot.waitUntil(lambda: "2 references change" in place.outcome("urlPrefixOutcome"))
    put(place, "previewGoto", "a/1")
    QTest.keyClick(place.child(QLineEdit, "previewGoto"), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: place.preview.table().current() == 1)
    put(place, "previewGoto", "b")
    QTest.keyClick(place.child(QLineEdit, "previewGoto"), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "does not change" in place.outcome("previewDetail"))


def test_what_is_typed_is_kept_while_another_document_is_shown(prefix: Make, qtbot: Any) -> None:
    place = prefix()
    put(place, "urlPrefixOld", "http://")
    put(place, "urlPrefixNew", "https://")
    assert place.document.draft_count == 1
    place.editor.set_document(None)
    assert place.child(QLineEdit, "urlPrefixNew").text() == ""
    assert place.document.draft_count == 1
    place.editor.begin(place.document, [UNDER], UNDER[1])
    assert place.child(QLineEdit, "urlPrefixOld").text() == "http://"
    assert place.child(QLineEdit, "urlPrefixNew").text() == "https://"
    put(place, "urlPrefixNew", "http://")
    assert place.document.draft_count == 0
