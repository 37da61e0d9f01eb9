"""The field of one jinja string, typed into."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QMimeData, Qt, QUrl
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from refbrowser.app.editors.code_field import CompletionPopup, JinjaField
from refbrowser.app.frame.keyboard import UndoKeys
from refbrowser.references.templates.templates import TemplateSet
from refbrowser.views.editing.text_marks import FaultSpan, Names

TEMPLATES = TemplateSet({"server": "s3://bucket", "path": "{{year}}/{{month}}"})


class Window:
    def __init__(self) -> None:
        self.window = QWidget()
        UndoKeys(self.window)
        layout = QVBoxLayout(self.window)
        self.field = JinjaField("field", "A field")
        self.after = JinjaField("after", "Another field")
        self.field.set_names(Names(("step", "layer"), TEMPLATES))
        layout.addWidget(self.field)
        layout.addWidget(self.after)
        self.window.resize(500, 100)
        self.window.show()
        self.window.activateWindow()
        QTest.qWaitForWindowActive(self.window)
        self.field.setFocus()

    @property
    def popup(self) -> CompletionPopup:
        found = self.field.findChild(CompletionPopup)
        assert isinstance(found, CompletionPopup)
        return found

    def keys(self, text: str) -> None:
        QTest.keyClicks(self.field, text)

    def key(self, key: Qt.Key, modifier: Any = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.field, key, modifier)


@pytest.fixture
def window(qtbot: Any) -> Window:
    made = Window()
    qtbot.addWidget(made.window)
    return made


def test_each_keystroke_is_told_once(window: Window) -> None:
    seen: list[str] = []
    window.field.edited.connect(seen.append)
    window.keys("a{{")
    assert seen == ["a", "a{", "a{{"]


@pytest.mark.parametrize(
    "text", ["a\N{NO-BREAK SPACE}b", "x\ny", "x\r\ny", "tab\there", "snow \N{SNOWFLAKE} \U0001f30a {{i}}", ""]
)
def test_the_text_that_was_set_comes_back_exactly(window: Window, text: str) -> None:
    window.field.set_text(text)
    assert window.field.text() == text
    window.key(Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    window.keys("z")
    assert window.field.text() == text + "z"


def test_return_makes_no_line_and_tab_leaves(window: Window) -> None:
    window.keys("a")
    window.key(Qt.Key.Key_Return)
    window.key(Qt.Key.Key_Tab)
    assert window.field.text() == "a"
    assert window.after.hasFocus()


def test_lines_that_are_pasted_become_one(window: Window) -> None:
    data = QMimeData()
    data.setText("s3://a/\n  b \n")
    window.field.insertFromMimeData(data)
    assert window.field.text() == "s3://a/ b"


def test_files_that_are_dropped_belong_to_the_window(window: Window) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/data.json")])
    assert not window.field.canInsertFromMimeData(data)


def test_control_space_offers_what_can_be_named(window: Window) -> None:
    window.keys("{{ ")
    window.key(Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert set(window.popup.offered()) == {"step", "layer", "server", "path("}
    window.key(Qt.Key.Key_Down)
    window.key(Qt.Key.Key_Return)
    assert window.field.text() == "{{ layer"
    assert not window.popup.is_open()


def test_a_single_offer_is_taken_at_once(window: Window) -> None:
    window.keys("{{ lay")
    window.key(Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert window.field.text() == "{{ layer"


def test_typing_opens_the_list_but_takes_nothing_by_itself(window: Window) -> None:
    window.keys("{{ s")
    assert set(window.popup.offered()) == {"step", "server"}
    window.keys("t")
    assert window.popup.offered() == ["step"]
    window.key(Qt.Key.Key_Tab)
    assert window.field.text() == "{{ st"
    assert window.after.hasFocus()
    assert not window.popup.is_open()


def test_filters_are_offered_after_a_bar(window: Window) -> None:
    window.keys("{{ step|f")
    assert "format" in window.popup.offered()
    window.key(Qt.Key.Key_Escape)
    assert not window.popup.is_open()
    assert window.field.text() == "{{ step|f"


def test_nothing_is_offered_outside_of_braces(window: Window) -> None:
    window.keys("ste")
    assert not window.popup.is_open()


def test_a_name_is_completed_in_the_middle_behind_wide_characters(window: Window) -> None:
    window.field.set_text("\U0001f30a{{ lay }}.nc")
    cursor = window.field.textCursor()
    cursor.setPosition(len("\U0001f30a{{ lay") + 1)  # the wave is two units of UTF-16
    window.field.setTextCursor(cursor)
    window.key(Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert window.field.text() == "\U0001f30a{{ layer }}.nc"


def test_faults_behind_wide_characters_are_underlined_in_place(window: Window) -> None:
    window.field.set_text("\U0001f30a{{ zz }}")
    window.field.set_faults([FaultSpan(4, 6)], "no zz")
    assert window.field.extraSelections()[0].cursor.selectedText() == "zz"


def test_a_fault_at_the_end_of_the_text_is_seen(window: Window) -> None:
    window.field.set_text("{{ a")
    window.field.set_faults([FaultSpan(4, 4)], "unexpected end")
    assert window.field.extraSelections()[0].cursor.selectedText() == "a"


def test_unknown_names_are_dotted(window: Window) -> None:
    window.field.set_text("{{ step + zz + path(year=1) }}")
    formats = window.field.document().firstBlock().layout().formats()
    dotted = [part for part in formats if part.format.underlineStyle() == part.format.UnderlineStyle.DotLine]
    assert [window.field.text()[part.start : part.start + part.length] for part in dotted] == ["zz"]


def undo_is_left_to_the_window(window: Window) -> bool:
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    event.ignore()
    QApplication.sendEvent(window.field, event)
    return not event.isAccepted()


def test_undo_is_of_the_text_first_and_then_of_the_document(window: Window) -> None:
    window.field.set_text("a")
    assert undo_is_left_to_the_window(window)
    window.keys("b")
    assert not undo_is_left_to_the_window(window)
    window.key(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.field.text() == "a"
    assert undo_is_left_to_the_window(window)


def test_a_value_of_several_lines_grows_the_field(window: Window) -> None:
    window.field.set_text("a")
    one = window.field.height()
    window.field.set_text("a\nb\nc")
    assert window.field.height() > 2 * one - 20
    window.field.set_text("a")
    assert window.field.height() == one


def test_the_list_follows_the_field_when_it_loses_the_focus(window: Window, qtbot: Any) -> None:
    window.keys("{{ s")
    wait: Callable[..., None] = qtbot.waitUntil
    window.after.setFocus()
    wait(lambda: not window.popup.is_open())


@pytest.mark.slow
def test_long_lists_are_folded_and_the_text_stays_whole(window: Window) -> None:
    numbers = list(range(1_000, 51_000))
    other = [*numbers[:-2], 7, numbers[-1]]
    text = f"{{{{ 8 + {numbers}[:step]|sum + {other}[step] + nope }}}}\U0001f30a"
    window.field.set_text(text)
    assert window.field.text() == text
    shown = window.field.toPlainText()
    assert len(shown) < 250
    assert shown[:63] == '{{ 8 + ["50,000 integers"][:step]|sum + ["50,000 integers (2)"]'
    start = text.index("nope")
    window.field.set_faults([FaultSpan(start, start + 4), FaultSpan(3, 20)], "x")
    assert [each.cursor.selectedText() for each in window.field.extraSelections()] == ["nope", "8 + ["]
    times = []
    for position in (3, shown.index("nope")):
        cursor = window.field.textCursor()
        cursor.setPosition(position)
        window.field.setTextCursor(cursor)
        start_time = time.thread_time()
        window.keys("st")
        times.append(time.thread_time() - start_time)
        assert window.popup.offered() == ["step"]
        window.key(Qt.Key.Key_Backspace)
        window.key(Qt.Key.Key_Backspace)
        assert window.field.text() == text
    assert max(times) < 0.2, times
    window.field.selectAll()
    window.field.copy()
    copied = QApplication.clipboard().text()
    assert copied == text
    window.field.set_text("")
    window.field.paste()
    assert window.field.text() == text
    assert window.field.toPlainText() == shown
    window.field.undo()
    assert window.field.text() == ""
