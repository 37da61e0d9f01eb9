"""The editor of templates, its try-out, and the preview of what a template affects."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from editor_workplace import DOCUMENT, Workplace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QCheckBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QToolButton,
    QTreeWidget,
)

from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.editors.templates_editor import argument
from refbrowser.app.editors.templates_table import TemplatesTable
from refbrowser.views.editing.text_marks import FaultSpan

Make = Callable[..., Workplace]


def table_rows(place: Workplace) -> list[list[str]]:
    model = place.child(TemplatesTable, "templatesTable").model()
    return [[model.index(row, column).data() for column in range(3)] for row in range(model.rowCount())]


def rename(place: Workplace, name: str) -> None:
    field = place.child(QLineEdit, "templateNameField")
    field.selectAll()
    QTest.keyClicks(field, name)


def try_out(place: Workplace, name: str, value: str) -> str:
    field = place.child(QLineEdit, f"templateArgument_{name}")
    field.clear()
    QTest.keyClicks(field, value)
    return place.outcome("templateTryOutResult")


def affected(place: Workplace, qtbot: Any) -> list[list[str]]:
    qtbot.waitUntil(lambda: place.preview.source().count > 0)
    return place.rows()


def test_templates_are_listed_with_their_uses(templates: Make, qtbot: Any) -> None:
    place = templates()
    qtbot.waitUntil(lambda: table_rows(place)[0][2] != "…")
    # u: one reference, the URLs of both rules; f: one reference.
    assert table_rows(place) == [["u", "era5", "3"], ["f", "server/{{c}}/{{d}}", "1"]]
    assert place.child(QLabel, "templateTitle").text() == "Templates (2)"


def test_a_literal_template_needs_no_try_out(templates: Make) -> None:
    place = templates(name="u")
    assert place.child(QGroupBox, "templateTryOut").isHidden()
    assert place.outcome("templateTextOutcome") == "→ literal: used by its name"


def test_a_template_with_arguments_is_tried_out_with_each_keystroke(templates: Make) -> None:
    place = templates(name="f")
    assert place.outcome("templateTextOutcome") == "→ called with c=…, d=…"
    assert try_out(place, "c", "text") == "→ needs d"
    assert try_out(place, "d", "3") == "→ server/text/3"
    place.put("templateTextField", "{{c}}-{{d + 1}}")
    assert place.outcome("templateTryOutResult") == "→ text-4"
    assert try_out(place, "d", "'3'").startswith("✕")


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("-3", -3), ("'3'", "3"), ('"a b"', "a b"), ("x", "x"), ("'", "'")]
)
def test_arguments_are_integers_or_text(text: str, value: object) -> None:
    assert argument(text) == value


def test_a_fault_is_underlined_and_told(templates: Make) -> None:
    place = templates(name="f")
    place.put("templateTextField", "{{c.x}}")
    assert place.field("templateTextField").fault_spans()
    assert "attributes are not allowed" in place.outcome("templateTextOutcome")
    assert table_rows(place)[1][0] == "f *"
    place.put("templateTextField", "{{c")
    assert place.field("templateTextField").fault_spans() != (FaultSpan(0, 0),)


def test_the_preview_shows_what_uses_the_template(templates: Make, qtbot: Any) -> None:
    place = templates(name="u")
    rows = affected(place, qtbot)
    assert [row[2] for row in rows] == [
        "a/0",
        *(f"temp/{t}.{y}.0" for t in (0, 1) for y in (0, 1, 2)),
        "salt/4",
        "salt/5",
    ]
    place.put("templateTextField", "era6")
    rows = place.rows()
    assert rows[0][3] == "http://era6/a.nc"
    assert rows[0][6] == "url …ra5/a.nc → …ra6/a.nc · url http://era5/a.nc → http://era6/a.nc"
    assert rows[1][3] == "s3://bucket/era6/0.nc"
    assert {row[0] for row in rows} == {"●"}
    qtbot.waitUntil(lambda: place.chip("previewChanged") == "● 9 rows change")


def test_a_key_is_found_among_all_that_use_the_template(templates: Make, qtbot: Any) -> None:
    place = templates(name="u")
    affected(place, qtbot)
    field = place.child(QLineEdit, "previewGoto")
    QTest.keyClicks(field, "temp/1.2.0")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert place.preview.table().current() == 6


def test_apply_changes_name_and_text_in_one_step(templates: Make) -> None:
    place = templates(name="f")
    before = place.document.document.to_bytes()
    rename(place, "g")
    place.put("templateTextField", "{{c}}")
    place.press(Qt.Key.Key_Return, place.field("templateTextField"), Qt.KeyboardModifier.ControlModifier)
    assert place.document.document.templates.templates == {"u": "era5", "g": "{{c}}"}
    assert len(place.document.history.entries) == 1
    assert place.editor.table.current() == "g"  # type: ignore[attr-defined]
    place.document.undo()
    assert place.document.document.to_bytes() == before


def test_a_name_that_cannot_be_is_told(templates: Make) -> None:
    place = templates(name="f")
    rename(place, "u")
    assert place.outcome("templateNameOutcome") == "✕ a template of this name exists already"
    assert not place.child(QPushButton, "templateApplyButton").isEnabled()
    rename(place, "a-b")
    assert "letters" in place.outcome("templateNameOutcome")


def test_renaming_renames_the_uses_too(templates: Make, qtbot: Any) -> None:
    place = templates(name="u")
    rows = affected(place, qtbot)
    before = place.document.document.to_bytes()
    rename(place, "base")
    words = "→ its 3 uses are renamed too"
    assert place.outcome("templateNameOutcome") == words
    assert [row[3] for row in place.rows()] == [row[3] for row in rows]
    field = place.child(QLineEdit, "templateNameField")
    place.press(Qt.Key.Key_Return, field, Qt.KeyboardModifier.ControlModifier)
    saved = json.loads(place.document.document.to_bytes())
    assert list(saved["templates"]) == ["base", "f"]
    assert saved["gen"][0]["url"] == "s3://bucket/{{base}}/{{t}}.nc"
    assert saved["gen"][1]["url"] == "{{base}}"
    assert saved["refs"]["a/0"][0] == "http://{{base}}/a.nc"
    assert saved["refs"]["a/1"] == DOCUMENT["refs"]["a/1"]  # type: ignore[index]
    assert len(place.document.history.entries) == 1
    place.document.undo()
    assert place.document.document.to_bytes() == before


def test_a_name_that_a_rule_would_take_for_its_dimension_is_told(templates: Make, qtbot: Any) -> None:
    place = templates(name="u")
    affected(place, qtbot)
    rename(place, "t")
    assert place.outcome("templateNameOutcome") == "✕ gen rule 0 has a dimension of this name"
    assert not place.child(QPushButton, "templateApplyButton").isEnabled()
    rename(place, "if")
    assert "reserved in Jinja" in place.outcome("templateNameOutcome")


def test_the_uses_are_listed_and_lead_to_their_places(templates: Make, qtbot: Any) -> None:
    place = templates(name="u")
    listed = place.child(QTreeWidget, "templateUses")
    qtbot.waitUntil(lambda: listed.topLevelItemCount() == 3)
    items = [listed.topLevelItem(number) for number in range(3)]
    assert [item.text(0) for item in items] == ["gen rule 0, url", "gen rule 1, url", "a/0"]
    assert items[2].text(1) == "http://{{u}}/a.nc"
    chosen: list[Any] = []
    place.editor.useChosen.connect(chosen.append)  # type: ignore[attr-defined]
    where = listed.visualItemRect(items[1]).center()
    QTest.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=where)
    listed.setCurrentItem(items[2])
    QTest.keyClick(listed, Qt.Key.Key_Return)
    assert [(use.rule, use.field, use.key) for use in chosen] == [(1, "url", None), (None, None, "a/0")]


def test_a_dimension_of_the_same_name_is_no_use(templates: Make, qtbot: Any) -> None:
    rule = {"key": "x/{{u}}", "url": "{{u}}", "dimensions": {"u": {"stop": 2}}}
    place = templates({**DOCUMENT, "gen": [rule]}, name="u")
    qtbot.waitUntil(lambda: table_rows(place)[0][2] == "1")
    listed = place.child(QTreeWidget, "templateUses")
    qtbot.waitUntil(lambda: listed.topLevelItemCount() == 1)
    assert listed.topLevelItem(0).text(0) == "a/0"


def test_a_used_template_is_removed_after_its_uses_were_seen(templates: Make, qtbot: Any) -> None:
    place = templates(name="u")
    affected(place, qtbot)
    place.child(QToolButton, "templateRemove").click()
    box = place.window.findChild(QMessageBox, "templateRemoveQuestion")
    assert "in 2 gen rule fields and 1 reference" in box.informativeText()
    assert "gen rule 0, url" in box.informativeText()
    assert "a/0" in box.informativeText()
    box.findChild(QPushButton, "templateRemoveNo").click()
    assert "u" in place.document.document.templates.templates
    place.child(QToolButton, "templateRemove").click()
    boxes = place.window.findChildren(QMessageBox, "templateRemoveQuestion")
    boxes[-1].findChild(QPushButton, "templateRemoveYes").click()
    assert "u" not in place.document.document.templates.templates
    place.document.undo()
    assert not place.document.is_dirty


def test_renaming_alone_says_who_keeps_the_old_name(templates: Make, qtbot: Any) -> None:
    place = templates(name="u")
    affected(place, qtbot)
    rename(place, "v")
    place.child(QCheckBox, "templateRenameUses").click()
    assert place.outcome("templateNameOutcome") == "! what uses u keeps the old name"
    assert place.child(QPushButton, "templateApplyButton").isEnabled()
    rows = place.rows()
    assert all(row[0] == "✕" for row in rows)


def test_templates_are_added_and_removed(templates: Make, qtbot: Any) -> None:
    place = templates()
    place.child(QToolButton, "templateAdd").click()
    assert [row[0] for row in table_rows(place)] == ["u", "f", "t1"]
    assert place.editor.table.current() == "t1"  # type: ignore[attr-defined]
    place.child(QToolButton, "templateRemove").click()
    qtbot.waitUntil(lambda: [row[0] for row in table_rows(place)] == ["u", "f"])
    assert len(place.document.history.entries) == 2


def test_edits_wait_while_another_template_is_shown(templates: Make) -> None:
    place = templates(name="u")
    place.put("templateTextField", "typed")
    place.editor.table.choose("f")  # type: ignore[attr-defined]
    assert place.field("templateTextField").text() == "server/{{c}}/{{d}}"
    assert table_rows(place)[0][:2] == ["u *", "typed"]
    assert drafts_of(place.document).count == 1
    place.editor.table.choose("u")  # type: ignore[attr-defined]
    assert place.field("templateTextField").text() == "typed"


def test_a_given_value_is_shown_as_such_and_never_edited(templates: Make) -> None:
    place = templates(name="u")
    place.document.history = type(place.document.history)(
        place.document.document.with_template_values({"u": "mine", "extra": "e"})
    )
    place.document.documentChanged.emit()
    assert table_rows(place)[0][1] == "mine  (given, not saved)"
    assert "given by you" in place.outcome("templateGivenValue")
    assert place.field("templateTextField").text() == "era5"
    place.editor.table.choose("extra")  # type: ignore[attr-defined]
    assert not place.field("templateTextField").isEnabled()


def test_an_undo_beneath_pending_edits_keeps_them(templates: Make) -> None:
    place = templates(name="u")
    place.put("templateTextField", "one")
    place.editor.apply()  # type: ignore[attr-defined]
    rename(place, "w")
    place.document.undo()
    assert place.child(QLineEdit, "templateNameField").text() == "w"
    assert place.field("templateTextField").text() == "era5"
    assert "document changed" in place.outcome("templateMovedOn")


def test_a_version_0_document_becomes_version_1_with_its_first_template(templates: Make) -> None:
    place = templates({"a": "text"})
    place.child(QToolButton, "templateAdd").click()
    assert place.document.document.version == 1
    assert list(DOCUMENT["templates"]) != table_rows(place)
    assert [row[0] for row in table_rows(place)] == ["t1"]
