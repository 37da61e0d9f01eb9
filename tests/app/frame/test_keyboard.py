"""Who has the undo keys: the window, where a field of it has nothing to undo; no field of another window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from refbrowser.app.frame.keyboard import UndoKeys, move_focus
from refbrowser.app.shell.main_window import MainWindow


def test_what_is_gone_gives_the_keyboard_to_nothing_that_hides_a_pane_or_is_typed_into(
    window: MainWindow,
) -> None:
    window.activateWindow()
    for forward in (True, False):
        focused = QApplication.focusWidget()
        if focused is not None:
            focused.clearFocus()
        assert QApplication.focusWidget() is None
        assert move_focus(window, forward)
        now = QApplication.focusWidget()
        assert now is not None
        assert not now.objectName().endswith("DockClose")
        assert not isinstance(now, QLineEdit)


def test_undo_keys_of_fields(qtbot: QtBot) -> None:
    window, other = QWidget(), QWidget()
    fields = []
    for place in (window, other):
        qtbot.addWidget(place)
        column = QVBoxLayout(place)
        fields.append(QLineEdit())
        column.addWidget(fields[-1])
    keys = UndoKeys(window)

    def keeps(field: QLineEdit) -> bool:
        """Whether a field that has the keyboard keeps the key for itself."""
        keys._focus_changed(None, field)
        override = QEvent.Type.ShortcutOverride
        event = QKeyEvent(override, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        event.ignore()
        QApplication.sendEvent(field, event)
        return event.isAccepted()

    mine, theirs = fields
    assert not keeps(mine)
    assert keeps(theirs)
    mine.insert("typed")
    assert keeps(mine)
    mine.undo()
    assert not keeps(mine)
