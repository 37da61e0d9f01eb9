"""A gen rule edited as JSON text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from editor_workplace import DOCUMENT, OTHER, RULE, Workplace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QToolButton

from refbrowser.app.editors.code_field import CompletionPopup, JsonField
from refbrowser.app.editors.drafts import drafts_of

Make = Callable[..., Workplace]
NOTED = {**RULE, "note": {"by": "me"}}


def as_json(place: Workplace) -> JsonField:
    QTest.mouseClick(place.child(QPushButton, "genJsonButton"), Qt.MouseButton.LeftButton)
    return place.child(JsonField, "genJsonField")


def type_over(place: Workplace, old: str, new: str) -> JsonField:
    field = place.child(JsonField, "genJsonField")
    field.setFocus()
    cursor = field.textCursor()
    start = field.text().index(old)
    cursor.setPosition(start)
    cursor.setPosition(start + len(old), cursor.MoveMode.KeepAnchor)
    field.setTextCursor(cursor)
    QTest.keyClicks(field, new) if new else QTest.keyClick(field, Qt.Key.Key_Delete)
    return field


def colors_of(field: JsonField, word: str, nth: int = 0) -> set[str]:
    """Return the colours of a word in the text as it is painted."""
    at = -1
    for _ in range(nth + 1):
        at = field.text().index(word, at + 1)
    block = field.document().findBlock(at)
    place = at - block.position()
    return {
        each.format.foreground().color().name()
        for each in block.layout().formats()
        if each.start <= place < each.start + each.length
    }


def test_the_switch_shows_the_same_rule(gen: Make) -> None:
    place = gen({**DOCUMENT, "gen": [NOTED, OTHER]})
    field = as_json(place)
    assert json.loads(field.text()) == NOTED
    assert list(json.loads(field.text())) == list(NOTED)
    assert field.isVisible()
    assert not place.field("genKeyField").isVisible()
    QTest.mouseClick(place.child(QPushButton, "genFormButton"), Qt.MouseButton.LeftButton)
    assert place.field("genKeyField").isVisible()
    assert not field.isVisible()
    assert not place.editor.is_pending


@pytest.mark.slow
def test_the_preview_follows_each_keystroke(gen: Make, qtbot: Any) -> None:
    place = gen()
    as_json(place)
    type_over(place, "100 +", "200 +")
    assert place.rows()[0][4] == "200"
    qtbot.waitUntil(lambda: place.chip("previewChanged") == "● 6 rows change")


@pytest.mark.slow
def test_both_edit_the_same_draft(gen: Make) -> None:
    place = gen({**DOCUMENT, "gen": [NOTED, OTHER]})
    as_json(place)
    type_over(place, '"10"', '"12"')
    QTest.mouseClick(place.child(QPushButton, "genFormButton"), Qt.MouseButton.LeftButton)
    assert place.field("genLengthField").text() == "12"
    place.put("genLengthField", "14")
    field = as_json(place)
    assert json.loads(field.text()) == {**NOTED, "length": "14"}


@pytest.mark.slow
def test_apply_is_one_step_and_undo_gives_the_bytes_back(gen: Make) -> None:
    place = gen({**DOCUMENT, "gen": [NOTED, OTHER]})
    before = place.document.document.to_bytes()
    field = as_json(place)
    type_over(place, '"me"', '"you"')
    type_over(place, '"10"', '"12"')
    assert drafts_of(place.document).count == 1
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    saved = json.loads(place.document.document.to_bytes())["gen"][0]
    assert saved == {**NOTED, "note": {"by": "you"}, "length": "12"}
    assert len(place.document.history.entries) == 1
    assert drafts_of(place.document).count == 0
    place.document.undo()
    assert place.document.document.to_bytes() == before
    assert json.loads(field.text()) == NOTED


def test_an_unknown_member_alone_is_an_edit(gen: Make) -> None:
    place = gen({**DOCUMENT, "gen": [NOTED, OTHER]})
    as_json(place)
    type_over(place, '"me"', '"you"')
    assert place.editor.is_pending
    assert place.child(QPushButton, "genApplyButton").isEnabled()
    type_over(place, '"you"', '"me"')
    assert not place.editor.is_pending


def test_a_fault_of_the_json_is_underlined_with_its_place(gen: Make) -> None:
    place = gen()
    field = as_json(place)
    rows = place.rows()
    type_over(place, '"10"', "ten")
    at = field.text().index("ten")
    line = field.text().count("\n", 0, at) + 1
    assert [span.start for span in field.fault_spans()] == [at]
    assert place.outcome("genJsonOutcome").startswith(f"✕ line {line}, column ")
    assert not place.child(QPushButton, "genApplyButton").isEnabled()
    assert place.rows() == rows
    QTest.mouseClick(place.child(QPushButton, "genFormButton"), Qt.MouseButton.LeftButton)
    assert field.isVisible(), "what is no JSON has no form"


@pytest.mark.slow
def test_a_fault_of_a_field_is_underlined_in_the_text(gen: Make) -> None:
    place = gen()
    field = as_json(place)
    type_over(place, "(t * 3", "(nope * 3")
    span = field.fault_spans()[0]
    assert field.text()[span.start : span.stop] == "nope"
    assert "offset" in place.outcome("genJsonOutcome")
    assert place.outcome("genJsonOutcome").startswith("✕ line ")


def test_a_fault_of_a_dimension_is_underlined_in_the_text(gen: Make) -> None:
    place = gen()
    field = as_json(place)
    type_over(place, '"step": 1', '"step": 0')
    span = field.fault_spans()[0]
    assert field.text()[span.start : span.stop] == "0"
    assert place.outcome("genJsonOutcome").startswith("✕ line ")


@pytest.mark.slow
def test_what_is_no_json_yet_waits_while_another_rule_is_shown(gen: Make) -> None:
    place = gen()
    field = as_json(place)
    type_over(place, '"10"', "")
    text = field.text()
    place.editor.set_rule(place.document, 1)
    assert json.loads(field.text()) == OTHER
    place.editor.set_rule(place.document, 0)
    assert field.text() == text
    place.child(QPushButton, "genResetButton").click()
    assert json.loads(field.text()) == RULE


def test_jinja_is_highlighted_and_names_complete(gen: Make) -> None:
    place = gen()
    field = as_json(place)
    dimension = colors_of(field, "t}}", 0)
    assert dimension != colors_of(field, "temp/")
    assert colors_of(field, "u}}") != colors_of(field, "s3:")
    cursor = field.textCursor()
    cursor.setPosition(field.text().index("u}}"))
    cursor.setPosition(cursor.position() + 1, cursor.MoveMode.KeepAnchor)
    field.setTextCursor(cursor)
    QTest.keyClick(field, Qt.Key.Key_Delete)
    QTest.keyClick(field, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    popup = field.findChild(CompletionPopup)
    assert popup.offered()
    assert {"t", "y", "u", "f("} <= set(popup.offered())
    QTest.keyClick(field, Qt.Key.Key_Escape)


def test_no_names_are_offered_outside_of_a_string(gen: Make) -> None:
    place = gen()
    field = as_json(place)
    cursor = field.textCursor()
    cursor.setPosition(1)
    field.setTextCursor(cursor)
    QTest.keyClick(field, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert field.findChild(CompletionPopup).offered() == []


def test_a_rule_is_duplicated_with_its_unknown_members(gen: Make) -> None:
    place = gen({**DOCUMENT, "gen": [NOTED, OTHER]})
    place.child(QToolButton, "genRuleDuplicate").click()
    assert json.loads(place.document.document.to_bytes())["gen"] == [NOTED, NOTED, OTHER]
