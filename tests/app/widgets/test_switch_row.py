"""Buttons that have no room are entries of a menu."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from refbrowser.app.widgets.small_widgets import tool_button
from refbrowser.app.widgets.switch_row import SwitchRow


def test_what_has_no_room_is_in_the_menu(qtbot: QtBot) -> None:
    box = QComboBox()
    box.setMinimumWidth(44)
    box.setMaximumWidth(200)
    row = SwitchRow("moreButton", box)
    qtbot.addWidget(row)
    buttons = [tool_button(f"button{number}", f"Switch {number}: more of it") for number in range(6)]
    for button in buttons:
        button.setCheckable(True)
    row.add(*buttons)
    row.resize(row.sizeHint().width(), 30)
    row.show()
    assert row.left_out() == []
    assert row.more.isHidden()
    # The last widget gives way first, then buttons leave from the right.
    row.resize(row.minimumSizeHint().width() + 2 * (buttons[0].sizeHint().width() + 2), 30)
    assert row.left_out() == buttons[2:]
    assert box.width() == 44
    assert buttons[2].focusPolicy() == Qt.FocusPolicy.NoFocus
    menu = row.more.menu()
    menu.aboutToShow.emit()
    assert [entry.text() for entry in menu.actions()] == [f"Switch {number}" for number in range(2, 6)]
    menu.actions()[0].trigger()
    assert buttons[2].isChecked()
    # The order of the buttons stays, whichever left first.
    row.resize(row.minimumSizeHint().width(), 30)
    menu.aboutToShow.emit()
    assert [entry.text() for entry in menu.actions()] == [f"Switch {number}" for number in range(6)]
    row.resize(row.minimumSizeHint().width() + 2 * (buttons[0].sizeHint().width() + 2), 30)
    # One that goes makes room for others.
    buttons[0].hide()
    qtbot.waitUntil(lambda: row.left_out() == buttons[3:])
    row.resize(row.sizeHint().width(), 30)
    assert row.left_out() == []
    assert buttons[3].focusPolicy() != Qt.FocusPolicy.NoFocus
    assert buttons[3].width() > 0
