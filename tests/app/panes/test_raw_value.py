"""Values of any length as text: laid out in lines of bounded length, copied as they are."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from refbrowser.app.panes.raw_value import AT_ONCE, LINE_SHOWN, LongText, ShownText

WORDS = "no \N{NO-BREAK SPACE}and \N{GRINNING FACE} words " * 700
WORD = "x" * (3 * LINE_SHOWN)
SHORT = "\n".join(str(number) for number in range(AT_ONCE // 2))


@pytest.fixture
def field(qtbot: QtBot) -> LongText:
    result = LongText()
    qtbot.addWidget(result)
    return result


def lines(field: LongText) -> list[str]:
    return field.toPlainText().split("\n")


def is_whole(field: LongText, shown: ShownText) -> bool:
    return field.blockCount() == sum(portion.count("\n") + 1 for portion in shown.portions)


@pytest.mark.slow
def test_texts_of_any_kind_are_shown_and_copied_whole(field: LongText, qtbot: QtBot) -> None:
    ends = "a\r\nb\rc\u2029\n\nd"
    for text in (
        "",
        "a",
        "a\n",
        "\n\n",
        ends,
        WORDS,
        WORD,
        f"{WORD}\n{WORDS}\n\n{WORD}",
        SHORT + WORDS + SHORT,
    ):
        shown = ShownText.of(text)
        assert all(len(portion) <= AT_ONCE + LINE_SHOWN for portion in shown.portions)
        field.show_text(shown)
        qtbot.waitUntil(partial(is_whole, field, shown))
        assert max(map(len, lines(field))) <= LINE_SHOWN
        field.selectAll()
        meant = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2029", "\n")
        assert field.createMimeDataFromSelection().text() == meant


def test_lines_are_broken_after_words() -> None:
    shown = ShownText.of(WORDS)
    assert shown.broken == {0, 1}
    assert all(line.endswith(" ") for line in shown.portions[0].split("\n"))


def test_a_stretch_of_a_broken_line_is_copied_as_it_is(field: LongText) -> None:
    field.show_text(ShownText.of(f"first\n{WORD}last\nend"))
    cursor = field.textCursor()
    cursor.setPosition(3)
    # Each end of a line that is shown is one position, those inside of the word too.
    cursor.setPosition(6 + len(WORD) + 3 + 2, QTextCursor.MoveMode.KeepAnchor)
    field.setTextCursor(cursor)
    assert field.createMimeDataFromSelection().text() == f"st\n{WORD}la"
    assert field.textCursor().hasSelection()


def test_another_text_ends_what_was_still_to_come(field: LongText, qtbot: QtBot) -> None:
    field.show_text(ShownText.of(SHORT * 3))
    field.show_text(ShownText.of("short"))
    qtbot.wait(20)
    assert field.toPlainText() == "short"
    field.show_text(ShownText.of(SHORT * 3))
    field.show_text(ShownText.of(SHORT))
    qtbot.waitUntil(lambda: field.toPlainText() == SHORT)
