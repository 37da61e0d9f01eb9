"""The editor of references."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from editor_workplace import DOCUMENT, Workplace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit, QPlainTextEdit, QPushButton, QToolButton

from refbrowser.app.editors.drafts import drafts_of
from refbrowser.views.editing.reference_draft import EDITED_BYTES, ReferenceDraft, ReferenceKind

Make = Callable[..., Workplace]


def line(place: Workplace, name: str, text: str) -> None:
    field = place.child(QLineEdit, name)
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)


def choose(place: Workplace, kind: ReferenceKind) -> None:
    box = place.child(QComboBox, "referenceKind")
    box.setCurrentIndex(box.findData(kind))
    box.activated.emit(box.currentIndex())


def saved(place: Workplace) -> dict[str, Any]:
    return json.loads(place.document.document.to_bytes())["refs"]


def apply(place: Workplace) -> None:
    place.child(QPushButton, "referenceApplyButton").click()


def test_a_range_is_shown_rendered_and_changed(reference: Make) -> None:
    place = reference()
    assert place.field("referenceUrlField").text() == "http://{{u}}/a.nc"
    assert place.outcome("referenceUrlOutcome") == "→ http://era5/a.nc"
    line(place, "referenceOffsetField", "7")
    assert place.rows()[0] == ["●", "0", "a/0", "http://era5/a.nc", "7", "10", "offset 0 → 7"]
    place.press(
        Qt.Key.Key_Return, place.child(QLineEdit, "referenceOffsetField"), Qt.KeyboardModifier.ControlModifier
    )
    assert saved(place)["a/0"] == ["http://{{u}}/a.nc", 7, 10]
    place.document.undo()
    assert place.child(QLineEdit, "referenceOffsetField").text() == "0"


def test_the_undo_key_is_of_the_document_again_after_apply(reference: Make) -> None:
    from PySide6.QtGui import QKeySequence, QShortcut

    place = reference()
    undo = QShortcut(QKeySequence(QKeySequence.StandardKey.Undo), place.window)
    undo.activated.connect(place.document.undo)
    field = place.child(QLineEdit, "referenceOffsetField")
    line(place, "referenceOffsetField", "7")
    place.press(Qt.Key.Key_Return, field, Qt.KeyboardModifier.ControlModifier)
    place.press(Qt.Key.Key_Z, field, Qt.KeyboardModifier.ControlModifier)
    assert field.text() == "0"
    assert not place.document.is_dirty


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("a/0", ReferenceKind.RANGE),
        ("b", ReferenceKind.BASE64),
        ("c/0", ReferenceKind.WHOLE),
        (".zgroup", ReferenceKind.TEXT),
    ],
)
def test_each_kind_is_recognised_and_given_back(reference: Make, key: str, kind: ReferenceKind) -> None:
    place = reference(key=key)
    assert place.editor.draft.kind is kind  # type: ignore[attr-defined]
    assert place.editor.draft.value() == DOCUMENT["refs"][key]  # type: ignore[attr-defined, index]
    assert not place.editor.is_pending  # type: ignore[attr-defined]
    assert place.child(QComboBox, "referenceKind").currentData() == kind


def test_a_range_becomes_a_whole_file_or_text(reference: Make) -> None:
    place = reference()
    choose(place, ReferenceKind.WHOLE)
    assert place.child(QLineEdit, "referenceOffsetField").isHidden()
    apply(place)
    assert saved(place)["a/0"] == ["http://{{u}}/a.nc"]
    choose(place, ReferenceKind.TEXT)
    place.child(QPlainTextEdit, "referenceTextField").setPlainText("some text")
    assert place.rows()[0][3] == "inline: some text"
    apply(place)
    assert saved(place)["a/0"] == "some text"


def test_mistakes_are_told_and_cannot_be_applied(reference: Make) -> None:
    place = reference()
    line(place, "referenceOffsetField", "-1")
    assert place.outcome("referenceOffsetOutcome") == "✕ the offset is below 0"
    line(place, "referenceOffsetField", "x")
    assert "integer" in place.outcome("referenceOffsetOutcome")
    assert not place.child(QPushButton, "referenceApplyButton").isEnabled()
    assert place.rows()[0][0] == "✕"
    choose(place, ReferenceKind.BASE64)
    place.child(QPlainTextEdit, "referenceTextField").setPlainText("not base64!")
    assert "not base64" in place.outcome("referenceTextOutcome")


def test_a_url_that_does_not_render_is_underlined(reference: Make) -> None:
    place = reference()
    place.put("referenceUrlField", "http://{{zz}}/a")
    assert [(span.start, span.stop) for span in place.field("referenceUrlField").fault_spans()] == [(9, 11)]
    assert "zz" in place.outcome("referenceUrlOutcome")
    assert place.child(QPushButton, "referenceApplyButton").isEnabled()


def test_a_reference_is_renamed(reference: Make) -> None:
    place = reference()
    chosen: list[str] = []
    place.editor.keyChosen.connect(chosen.append)  # type: ignore[attr-defined]
    line(place, "referenceKeyField", "a/9")
    assert [row[2] for row in place.rows()] == ["a/9", "a/0"]
    assert "this key goes" in place.rows()[1][6]
    apply(place)
    assert list(saved(place)) == [".zgroup", "a/9", "a/1", "b", "c/0"]
    assert chosen == ["a/9"]
    assert len(place.document.history.entries) == 1


def test_a_key_that_is_taken_is_told(reference: Make) -> None:
    place = reference()
    line(place, "referenceKeyField", "a/1")
    assert place.outcome("referenceKeyOutcome") == "✕ a reference with this key exists already"


def test_a_reference_is_added_and_deleted(reference: Make) -> None:
    place = reference()
    place.child(QToolButton, "referenceAdd").click()
    line(place, "referenceKeyField", "a/2")
    line(place, "referenceOffsetField", "20")
    apply(place)
    assert saved(place)["a/2"] == ["http://{{u}}/a.nc", 20, 10]
    place.child(QToolButton, "referenceRemove").click()
    assert "a/2" not in saved(place)
    assert len(place.document.history.entries) == 2


def test_edits_wait_while_another_reference_is_shown(reference: Make) -> None:
    place = reference()
    line(place, "referenceOffsetField", "7")
    place.editor.set_key(place.document, "a/1")  # type: ignore[attr-defined]
    assert place.child(QLineEdit, "referenceOffsetField").text() == "10"
    assert drafts_of(place.document).count == 1
    place.editor.set_key(place.document, "a/0")  # type: ignore[attr-defined]
    assert place.child(QLineEdit, "referenceOffsetField").text() == "7"


def test_a_change_beneath_pending_edits_keeps_them_and_says_so(reference: Make) -> None:
    from refbrowser.references.edits.edits import SetReference

    place = reference()
    line(place, "referenceOffsetField", "7")
    place.document.apply(SetReference("a/0", ["other.nc", 1, 2]))
    assert place.child(QLineEdit, "referenceOffsetField").text() == "7"
    assert "document changed" in place.outcome("referenceMovedOn")


@pytest.mark.slow
def test_a_long_value_is_not_edited_but_can_be_replaced(reference: Make) -> None:
    place = reference({"long": "x" * (EDITED_BYTES + 1)}, "long")
    assert place.child(QPlainTextEdit, "referenceTextField").isReadOnly()
    assert "too long" in place.outcome("referenceTextOutcome")
    choose(place, ReferenceKind.TEXT)
    place.child(QPlainTextEdit, "referenceTextField").setPlainText("short")
    apply(place)
    assert json.loads(place.document.document.to_bytes()) == {"long": "short"}


def test_line_ends_and_odd_blanks_of_a_text_are_kept(reference: Make) -> None:
    place = reference({"t": "a\r\nb\N{NO-BREAK SPACE}c"}, "t")
    field = place.child(QPlainTextEdit, "referenceTextField")
    field.setFocus()
    field.moveCursor(field.textCursor().MoveOperation.End)
    QTest.keyClicks(field, "d")
    assert place.editor.draft.value() == "a\r\nb\N{NO-BREAK SPACE}cd"  # type: ignore[attr-defined]


def test_a_rule_that_gives_the_key_too_is_a_collision(reference: Make, qtbot: Any) -> None:
    place = reference()
    line(place, "referenceKeyField", "temp/1.2.0")
    qtbot.waitUntil(lambda: place.chip("previewCollisions") == "≡ 1 collision")


@pytest.mark.parametrize(
    "value", ["text", "base64:AA==", ["u"], ["u", 1, 2], {"a": 1}, ["u", 1], 5, ["u", 1.5, "2"]]
)
def test_a_draft_gives_back_any_value(value: Any) -> None:
    draft = ReferenceDraft.of("k", value)
    assert draft.value() is value
    assert not draft.is_changed


def test_the_editor_leads_to_the_replacement_of_prefixes(reference: Make, qtbot: Any) -> None:
    place = reference()
    with qtbot.waitSignal(place.editor.prefixWanted):  # type: ignore[attr-defined]
        qtbot.mouseClick(place.child(QPushButton, "referencePrefixButton"), Qt.MouseButton.LeftButton)
