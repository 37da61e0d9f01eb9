"""The text of a document edited: checked as one types, previewed, mended, applied as one step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.source.source_pane import SourcePane
from refbrowser.references.edits.edits import SetReference
from refbrowser.views.editing.typed_input import DraftKind

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
CONTROL = Qt.KeyboardModifier.ControlModifier
DOCUMENT = {
    "version": 1,
    "templates": {"u": "s3://bucket"},
    "refs": {".zgroup": '{"zarr_format": 2}', **{f"a/{i}": ["{{u}}/a.nc", 100 * i, 8] for i in range(10)}},
}
TEXT = json.dumps(DOCUMENT).encode()


@pytest.fixture
def pane(window: MainWindow, tmp_path: Path, opened: Open, settle: Settle) -> SourcePane:
    path = tmp_path / "sea.json"
    path.write_bytes(TEXT)
    opened(path)
    settle()
    window.actions_["show_source"].trigger()
    settle()
    return window.centre.make_source()


def begin(pane: SourcePane, settle: Settle) -> str:
    QTest.keyClick(pane.view, Qt.Key.Key_F4)
    settle()
    return pane.editor.field.text()


def type_over(pane: SourcePane, text: str, settle: Settle) -> None:
    pane.editor.field.setPlainText(text)
    settle()


def test_an_edit_is_one_step_and_leaves_all_other_bytes(pane: SourcePane, window: MainWindow, settle: Settle):
    document = window.documents.current
    typed = begin(pane, settle)
    assert '    "a/3": ["{{u}}/a.nc", 300, 8],' in typed.split("\n")
    type_over(pane, typed.replace("300", "333").replace("s3://bucket", "s3://other"), settle)
    assert "1 template changed" in pane.editor.outcome.text()
    assert "keys changed" in pane.editor.outcome.text()
    preview = window.editors.preview()
    assert preview.source().count == 10
    QTest.keyClick(pane.editor.field, Qt.Key.Key_Return, CONTROL)
    settle()
    changed = TEXT.replace(b"300", b"333").replace(b"s3://bucket", b"s3://other")
    assert document.document.to_bytes() == changed
    assert len(document.history.entries) == 1
    assert pane.editor.draft is None
    assert pane.view.isVisible()
    assert pane.text.read(0, pane.text.size) == changed
    document.undo()
    settle()
    assert document.document.to_bytes() == TEXT


def test_a_fault_is_told_and_mended_as_one_types(pane: SourcePane, settle: Settle):
    typed = begin(pane, settle)
    wrong = typed.replace("900, 8]\n", "900, 8],\n").replace("300, 8]", "300, 8,]")
    type_over(pane, wrong, settle)
    assert pane.editor.outcome.text().startswith("✕ Line")
    assert pane.editor.field.fault_spans()
    assert not pane.editor.apply_button.isEnabled()
    button = pane.editor.outcome.findChild(QToolButton)
    assert "2 commas too many" in button.toolTip()
    button.click()
    settle()
    assert pane.editor.field.text() == typed
    assert not pane.editor.field.fault_spans()


def test_what_is_typed_is_kept_until_it_is_applied_or_forgotten(
    pane: SourcePane, window: MainWindow, settle: Settle, tmp_path: Path, opened: Open
):
    document = window.documents.current
    typed = begin(pane, settle)
    type_over(pane, typed.replace("300", "333"), settle)
    assert document.draft_count == 1
    other = tmp_path / "other.json"
    other.write_text('{"version": 1, "refs": {}}')
    opened(other)
    settle()
    assert pane.editor.draft is None
    window.documents.set_current(document)
    window.actions_["show_source"].trigger()
    settle()
    assert "333" in pane.editor.field.text()
    kept = drafts_of(document).all()[0].to_json()
    drafts_of(document).clear()
    drafts_of(document).restore([json.loads(json.dumps(kept))])
    assert drafts_of(document).all()[0].draft.typed == pane.editor.field.text()
    QTest.keyClick(pane.editor.field, Qt.Key.Key_Escape)
    settle()
    assert pane.editor.draft is None
    assert document.draft_count == 0
    assert document.document.to_bytes() == TEXT


def test_typing_over_an_older_text_is_not_applied(pane: SourcePane, window: MainWindow, settle: Settle):
    document = window.documents.current
    typed = begin(pane, settle)
    type_over(pane, typed.replace("300", "333"), settle)
    document.apply(SetReference("a/3", ["s3://x", 0, 1]))
    settle()
    assert "has changed here" in pane.editor.outcome.text()
    assert not pane.editor.apply_button.isEnabled()
    document.undo()
    settle()
    assert pane.editor.apply_button.isEnabled()


def test_a_wrong_document_is_told(pane: SourcePane, settle: Settle):
    typed = begin(pane, settle)
    type_over(pane, typed.replace('"version": 1', '"version": 7'), settle)
    assert "the version is 7" in pane.editor.outcome.text()
    pane.editor.apply()
    settle()
    assert pane.editor.draft is not None


def test_keys_that_come_and_go_are_counted(pane: SourcePane, settle: Settle):
    lines = begin(pane, settle).split("\n")
    lines = [line for line in lines if "a/4" not in line and "a/5" not in line]
    lines.insert(-3, '"new": ["u"],')
    type_over(pane, "\n".join(lines), settle)
    assert pane.editor.outcome.text() == "→ 1 key added, 2 removed"


def test_what_was_typed_is_saved_with_the_document(pane: SourcePane, window: MainWindow, settle: Settle):
    document = window.documents.current
    typed = begin(pane, settle)
    type_over(pane, typed.replace("300", "333"), settle)
    draft = drafts_of(document).all()[0]
    assert draft.kind is DraftKind.TEXT
    from refbrowser.app.editors.drafts import apply_typed

    failures: list[BaseException] = []
    apply_typed(document, lambda _applied, _refused: None, failures.append)
    settle()
    assert failures == []
    assert document.document.to_bytes() == TEXT.replace(b"300", b"333")
    assert pane.editor.draft is None
