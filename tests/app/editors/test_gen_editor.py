"""The editor of gen rules beside the live preview, driven through its widgets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from editor_workplace import DOCUMENT, OTHER, RULE, Workplace
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QSpinBox, QToolButton

from refbrowser.app.editors.dimensions_table import DimensionsTable
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.errors import ErrorKind, Place, Severity
from refbrowser.findings.finding import Finding
from refbrowser.references.edits.outer_edits import SetRule
from refbrowser.references.findings import rule_findings
from refbrowser.references.findings.rule_findings import Aspect, RuleCheck, RuleContext
from refbrowser.references.rules.gen import GenRule
from refbrowser.views.editing.text_marks import FaultSpan

Make = Callable[..., Workplace]


def with_rule(**changes: Any) -> dict[str, Any]:
    return {**DOCUMENT, "gen": [{**RULE, **changes}, OTHER]}


def cell(place: Workplace, row: int, column: int, keys: str) -> None:
    """Type in a cell of the dimensions, a key at a time, and leave it."""
    table = place.child(DimensionsTable, "genDimensionsTable")
    table.setFocus()
    index = table.model().index(row, column)
    table.setCurrentIndex(index)
    table.edit(index)
    editor = table.indexWidget(index) or table.findChild(object, "genDimensionCell")
    editor.selectAll()
    QTest.keyClicks(editor, keys)


def test_the_rows_of_the_rule_are_shown(gen: Make) -> None:
    place = gen()
    assert place.rows()[0][1:6] == ["0", "temp/0.0.0", "s3://bucket/era5/0.nc", "100", "10"]
    assert place.rows()[-1][2:5] == ["temp/1.2.0", "s3://bucket/era5/1.nc", "150"]
    assert place.child(QLabel, "previewRowCount").text() == "6 rows"
    assert place.outcome("genKeyOutcome") == "→ temp/0.0.0"


def test_the_preview_follows_each_keystroke(gen: Make) -> None:
    place = gen()
    sources: list[Any] = []
    place.editor.previewChanged.connect(lambda _document, source: sources.append(source))
    place.type_at("genOffsetField", "10}}", "23")
    assert [source.rows(1, 2)[0].offset for source in sources] == ["310", "2410"]
    assert place.rows()[1][4] == "2410"
    assert place.rows()[1][6] == "offset 110 → 2410"
    assert place.outcome("genOffsetOutcome") == "→ 100"


def test_changing_the_offset_of_a_real_rule_shows_which_rows_change(
    gen: Make, shared_data: Path, qtbot: Any
) -> None:
    place = gen((shared_data / "real" / "eraint_uvz.refs.json").read_bytes())
    place.type_at("genOffsetField", "360}}", "1")
    changed = [row[1] for row in place.rows() if row[6]]
    assert changed == ["1", "2", "3", "4", "5"]  # row 0 has the factor 0
    assert [row[0] for row in place.rows()] == ["", "●", "●", "●", "●", "●"]
    qtbot.waitUntil(lambda: place.chip("previewChanged") == "● 5 rows change")
    place.press(Qt.Key.Key_Backspace, place.field("genOffsetField"))
    assert not any(row[6] for row in place.rows())


@pytest.mark.slow
def test_a_fault_is_underlined_where_it_is_with_its_reason_beside(gen: Make) -> None:
    place = gen()
    place.put("genOffsetField", "{{ t + nothing * 2 }}")
    field = place.field("genOffsetField")
    assert field.fault_spans() == (FaultSpan(7, 14),)
    selection = field.extraSelections()[0]
    assert (selection.cursor.selectionStart(), selection.cursor.selectionEnd()) == (7, 14)
    assert selection.format.underlineStyle() == selection.format.UnderlineStyle.WaveUnderline
    assert place.outcome("genOffsetOutcome").startswith("✕ ")
    assert "nothing" in place.outcome("genOffsetOutcome")
    assert "nothing" in field.accessibleDescription()
    assert place.rows()[0][0] == "✕"
    assert "nothing" in place.rows()[0][6]


@pytest.mark.slow
def test_text_that_is_no_template_yet_is_told_at_once(gen: Make) -> None:
    place = gen()
    place.put("genKeyField", "temp/{{t")
    assert place.outcome("genKeyOutcome").startswith("✕")
    assert place.field("genKeyField").fault_spans()
    assert {row[0] for row in place.rows()} == {"✕"}
    assert "not there" not in place.rows()[0][6]
    QTest.keyClicks(place.field("genKeyField"), "}}.{{y}}")
    assert place.outcome("genKeyOutcome") == "→ temp/0.0"
    assert place.field("genKeyField").fault_spans() == ()


def test_fields_are_monospaced_and_highlighted(gen: Make) -> None:
    place = gen()
    field = place.field("genUrlField")
    metrics = QFontMetrics(field.font())
    assert metrics.horizontalAdvance("iiii") == metrics.horizontalAdvance("WWWW")
    formats = field.document().firstBlock().layout().formats()
    inks = {field.text()[part.start : part.start + part.length]: part.format for part in formats}
    assert inks["u"].foreground() != inks["t"].foreground()
    assert inks["t"].fontWeight() > 400
    assert "s3://bucket/" not in inks


def test_apply_makes_one_step_and_undo_takes_it_back(gen: Make) -> None:
    place = gen()
    before = place.document.document.to_bytes()
    place.type_at("genLengthField", "10", "2")
    place.put("genUrlField", "x.nc")
    assert place.child(QLabel, "genTitle").text().endswith("*")
    place.press(Qt.Key.Key_Return, place.field("genUrlField"), Qt.KeyboardModifier.ControlModifier)
    assert len(place.document.history.entries) == 1
    rule = place.document.document.rules[0]
    assert (rule.url, rule.length) == ("x.nc", "210")
    assert not place.child(QLabel, "genTitle").text().endswith("*")
    assert place.rows()[0][6] == ""
    place.document.undo()
    assert place.document.document.to_bytes() == before
    assert place.field("genUrlField").text() == RULE["url"]
    place.document.redo()
    assert place.field("genUrlField").text() == "x.nc"


def test_a_second_edit_is_counted_by_itself(gen: Make, qtbot: Any) -> None:
    """What changes is what Apply would do, not what was applied since the file was saved."""
    place = gen()
    place.put("genUrlField", "x.nc")
    qtbot.waitUntil(lambda: place.chip("previewChanged") == "● 6 rows change")
    place.press(Qt.Key.Key_Return, place.field("genUrlField"), Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: place.chip("previewChanged") == "✓ no rows change")
    place.put("genLengthField", "{{10 + t}}")
    qtbot.waitUntil(lambda: place.chip("previewChanged") == "● 3 rows change")
    assert [row[6] for row in place.rows()] == [""] * 3 + ["length 10 → 11"] * 3


def test_the_undo_key_is_of_the_document_again_after_apply(gen: Make) -> None:
    from PySide6.QtGui import QKeySequence, QShortcut

    place = gen()
    undo = QShortcut(QKeySequence(QKeySequence.StandardKey.Undo), place.window)
    undo.activated.connect(place.document.undo)
    field = place.field("genUrlField")
    place.put("genUrlField", "x.nc")
    place.press(Qt.Key.Key_Return, field, Qt.KeyboardModifier.ControlModifier)
    place.press(Qt.Key.Key_Z, field, Qt.KeyboardModifier.ControlModifier)
    assert field.text() == RULE["url"]
    assert not place.document.is_dirty
    assert not place.editor.is_pending


def test_reset_forgets_what_was_typed(gen: Make) -> None:
    place = gen()
    place.put("genUrlField", "x.nc")
    place.child(QPushButton, "genResetButton").click()
    assert place.field("genUrlField").text() == RULE["url"]
    assert not place.editor.is_pending
    assert not place.child(QPushButton, "genApplyButton").isEnabled()


def test_edits_of_a_rule_wait_while_another_is_shown(gen: Make) -> None:
    place = gen()
    place.put("genUrlField", "x.nc")
    place.child(QSpinBox, "genRuleNumber").setValue(1)
    assert place.field("genKeyField").text() == OTHER["key"]
    assert drafts_of(place.document).count == 1
    place.child(QSpinBox, "genRuleNumber").setValue(0)
    assert place.field("genUrlField").text() == "x.nc"
    assert place.editor.is_pending


def test_an_undo_beneath_pending_edits_keeps_them_and_says_so(gen: Make) -> None:
    place = gen()
    place.put("genLengthField", "77")
    place.editor.apply()
    place.put("genUrlField", "typed.nc")
    place.document.undo()
    assert place.field("genUrlField").text() == "typed.nc"
    assert place.field("genLengthField").text() == "10"
    assert "document changed" in place.outcome("genMovedOn")
    place.editor.apply()
    assert place.document.document.rules[0].url == "typed.nc"
    assert place.document.document.rules[0].length == "10"


def test_dimensions_are_edited_a_key_at_a_time(gen: Make) -> None:
    place = gen()
    cell(place, 0, 3, "4")
    assert place.child(QLabel, "previewRowCount").text() == "12 rows"
    assert place.rows()[6][6] == "was not there"
    assert place.rows()[6][0] == "+"


def test_a_dimension_that_is_no_integer_is_marked_and_cannot_be_applied(gen: Make) -> None:
    place = gen()
    cell(place, 0, 3, "x")
    assert place.outcome("genDimensionsOutcome") == "✕ x is not an integer"
    assert not place.child(QPushButton, "genApplyButton").isEnabled()
    table = place.child(DimensionsTable, "genDimensionsTable")
    assert "integer" in table.model().index(0, 3).data(Qt.ItemDataRole.ToolTipRole)


@pytest.mark.slow
def test_dimensions_are_added_moved_and_removed(gen: Make) -> None:
    place = gen()
    table = place.child(DimensionsTable, "genDimensionsTable")
    table.setCurrentIndex(table.model().index(0, 0))
    place.child(QToolButton, "genDimensionDown").click()
    assert place.rows()[1][2] == "temp/1.0.0"
    place.press(Qt.Key.Key_Up, table, Qt.KeyboardModifier.AltModifier)
    assert place.rows()[1][2] == "temp/0.1.0"
    place.press(Qt.Key.Key_Insert, table)
    assert [draft.name for draft in table.dimensions()] == ["t", "i", "y"]
    table.setCurrentIndex(table.model().index(1, 0))
    place.press(Qt.Key.Key_Delete, table)
    assert not place.editor.is_pending


def test_a_kind_keeps_the_values(gen: Make) -> None:
    place = gen()
    model = place.child(DimensionsTable, "genDimensionsTable").model()
    model.setData(model.index(1, 1), "list")
    assert place.editor.draft.fields()["dimensions"]["y"] == [0, 1, 2]
    assert place.child(QLabel, "previewRowCount").text() == "6 rows"
    model.setData(model.index(1, 2), "0, 2, 5")
    assert place.rows()[2][2] == "temp/0.5.0"
    model.setData(model.index(1, 2), "0, 2, 4")
    model.setData(model.index(1, 1), "range")
    assert place.editor.draft.fields()["dimensions"]["y"] == {"stop": 5, "step": 2}


def test_unknown_members_are_shown_and_kept(gen: Make) -> None:
    place = gen(with_rule(note={"by": "me"}))
    assert place.child(QPlainTextEdit, "genUnknownMembers").toPlainText() == 'note: {"by": "me"}'
    assert place.child(QPlainTextEdit, "genUnknownMembers").isReadOnly()
    place.put("genUrlField", "x.nc")
    place.editor.apply()
    saved = json.loads(place.document.document.to_bytes())["gen"][0]
    assert saved["note"] == {"by": "me"}
    assert list(saved) == [*RULE, "note"]


def test_an_emptied_offset_and_length_make_whole_files(gen: Make) -> None:
    place = gen()
    for name in ("genOffsetField", "genLengthField"):
        place.field(name).selectAll()
        place.press(Qt.Key.Key_Delete, place.field(name))
    assert place.rows()[0][5] == "whole file"
    place.editor.apply()
    assert "offset" not in json.loads(place.document.document.to_bytes())["gen"][0]


def test_the_row_chosen_in_the_preview_is_the_one_the_fields_show(gen: Make) -> None:
    place = gen()
    place.preview.rowSelected.connect(place.editor.show_row)
    shown = place.preview.source()
    place.preview.go_to_row(4)
    assert place.preview.source() is shown
    assert place.outcome("genKeyOutcome") == "→ temp/1.1.0"
    assert place.outcome("genOffsetOutcome") == "→ 140"


@pytest.mark.slow
def test_rules_are_added_moved_and_removed_as_single_steps(gen: Make) -> None:
    place = gen()
    chosen: list[int] = []
    place.editor.ruleChosen.connect(chosen.append)
    place.child(QToolButton, "genRuleDuplicate").click()
    assert chosen == [1]
    assert [rule.key for rule in place.document.document.rules] == [RULE["key"], RULE["key"], OTHER["key"]]
    place.child(QToolButton, "genRuleDown").click()
    assert place.editor.index == 2
    assert [rule.key for rule in place.document.document.rules] == [RULE["key"], OTHER["key"], RULE["key"]]
    place.child(QToolButton, "genRuleRemove").click()
    assert len(place.document.document.rules) == 2
    assert len(place.document.history.entries) == 3
    for _ in range(3):
        place.document.undo()
    assert not place.document.is_dirty


def test_an_empty_rule_is_added(gen: Make) -> None:
    place = gen()
    place.child(QToolButton, "genRuleAdd").click()
    assert [rule.key for rule in place.document.document.rules] == [RULE["key"], "", OTHER["key"]]
    assert place.editor.index == 1
    place.document.undo()
    assert not place.document.is_dirty


def test_a_version_0_document_becomes_version_1_with_its_first_rule(gen: Make) -> None:
    place = gen({"a": "text"})
    assert "no gen rules" in place.outcome("genStatus")
    place.child(QToolButton, "genRuleAdd").click()
    assert place.document.document.version == 1
    assert len(place.document.document.rules) == 1
    assert len(place.document.history.entries) == 1
    assert place.field("genKeyField").isEnabled()


def test_collisions_are_counted_and_marked(gen: Make, qtbot: Any) -> None:
    contents = {**DOCUMENT, "refs": {**DOCUMENT["refs"], "temp/1.1.0": ["x", 0, 1]}}  # type: ignore[dict-item]
    place = gen(contents)
    assert "refs, this row wins" in place.rows()[4][6]
    qtbot.waitUntil(lambda: place.chip("previewCollisions") == "≡ 1 collision")
    place.child(QToolButton, "previewCollisions").click()
    assert place.preview.table().current() == 4


def test_a_collision_with_another_rule_is_counted(gen: Make, qtbot: Any) -> None:
    twin = {**OTHER, "key": "temp/{{t - 4}}.1.0"}
    place = gen({**DOCUMENT, "gen": [RULE, twin]})
    qtbot.waitUntil(lambda: place.chip("previewCollisions") == "≡ 2 collisions")


def test_repeated_keys_are_counted_and_marked(gen: Make, qtbot: Any) -> None:
    place = gen()
    place.put("genKeyField", "temp/{{t}}")
    assert place.rows()[0][0] == "↷"
    assert "row 2 has this key again" in place.rows()[0][6]
    qtbot.waitUntil(lambda: place.chip("previewDuplicates") == "↷ 4 duplicates")


@pytest.mark.slow
def test_a_new_key_is_new_and_the_old_ones_go(gen: Make, qtbot: Any) -> None:
    place = gen()
    place.put("genKeyField", "temp/{{t + 1}}.{{y}}.0")
    assert [row[0] for row in place.rows()] == ["●", "●", "●", "+", "+", "+"]
    qtbot.waitUntil(lambda: place.chip("previewAdded") == "+ 3 new keys")
    assert place.chip("previewRemoved") == "− 3 keys go"
    assert place.chip("previewChanged") == "● 3 rows change"


def test_a_hidden_editor_leaves_the_preview_alone(gen: Make) -> None:
    place = gen()
    seen: list[object] = []
    place.editor.previewChanged.connect(lambda _document, source: seen.append(source))
    place.editor.hide()
    place.document.documentChanged.emit()
    assert seen == []


@pytest.mark.slow
def test_what_checks_find_stands_beside_its_field_with_what_mends_it(
    gen: Make, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def check(_context: RuleContext, rule: GenRule) -> list[Finding]:
        calls.append(rule.index)
        if rule.length != "10":
            return []
        place = Place(rule=rule.index, field="length", pointer=f"/gen/{rule.index}/length")
        edit = SetRule(rule.index, {**RULE, "offset": rule.offset, "length": "20"})
        return [
            Finding(
                severity=Severity.WARNING, kind=ErrorKind.REF, message="it is short", place=place, fix=edit
            )
        ]

    checks = (*rule_findings.RULE_CHECKS, RuleCheck(Aspect.COLLISIONS, check))
    monkeypatch.setattr(rule_findings, "RULE_CHECKS", checks)
    place = gen()
    button = "genLengthOutcomeFix"
    for as_json, line in ((False, "genLengthOutcome"), (True, "genJsonOutcome")):
        calls.clear()
        place.editor.show_as_json(as_json)  # type: ignore[attr-defined]
        qtbot.waitUntil(lambda line=line: "it is short" in place.outcome(line))
        assert calls == [0], "the check that is counted, and no other"
        assert place.chip("previewCollisions") == "≡ 1 collision"
    place.editor.show_as_json(False)  # type: ignore[attr-defined]
    assert place.outcome("genKeyOutcome") == "→ temp/0.0.0"
    # What is typed and not applied is in the step that mends it.
    place.type_at("genOffsetField", "10}}", "1")
    qtbot.waitUntil(lambda: place.outcome("genLengthOutcome") == "! 10 · it is short")
    fix = place.child(QToolButton, button)
    assert (fix.accessibleName(), fix.isVisible()) == ("Fix: Change gen rule 0", True)
    fix.click()
    rule = place.document.document.rules[0]
    assert (rule.length, rule.offset) == ("20", RULE["offset"].replace("10}}", "110}}"))
    assert not drafts_of(place.document).all()
    qtbot.waitUntil(lambda: place.preview.report() is not None)
    assert place.outcome("genLengthOutcome") == "→ 20"
    assert not fix.isVisible()
    place.document.undo()
    assert place.document.document.rules[0].length == "10"
