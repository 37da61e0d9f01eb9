"""Buttons whose words are cut: never wider than they may be, however long their words are."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from refbrowser.app.widgets.elided_label import LineButton


def test_long_words_ask_for_no_more_room_than_a_button_may_have(qtbot: QtBot) -> None:
    button = LineButton()
    qtbot.addWidget(button)
    button.setText("field")
    short = button.sizeHint()
    button.setText("a name that is much too long " * 20)
    long = button.sizeHint()
    assert short.width() < long.width() == 220
    assert short.height() == long.height()
