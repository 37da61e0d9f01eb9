"""The command palette and going to a key, by keyboard."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QLineEdit, QListView
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.frame.centre import REFERENCES
from refbrowser.app.panes.quick_list import CommandPalette, GoToDialog
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme

Settle = Callable[[], None]


def palette_of(window: MainWindow) -> CommandPalette:
    window.actions_["command_palette"].trigger()
    found = window.findChild(CommandPalette, "commandPalette")
    assert found is not None
    return found


def gone(qtbot: QtBot, window: MainWindow, kind: type[QObject]) -> None:
    qtbot.waitUntil(lambda: window.findChild(kind) is None)


class TestCommandPalette:
    def test_letters_and_return_carry_an_action_out(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        opened(small)
        settle()
        shown = palette_of(window)
        field = shown.findChild(QLineEdit, "commandPaletteField")
        qtbot.keyClicks(field, "cldoc")
        current = shown.current()
        assert current is not None
        assert (current.text, current.detail) == ("File: Close document", "Ctrl+W")
        qtbot.keyClick(field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: not window.documents.all())
        gone(qtbot, window, CommandPalette)

    def test_what_cannot_be_used_now_is_not_there(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        assert "File: Close document" not in [answer.text for answer in palette_of(window).answers()]
        window.findChild(CommandPalette).close()
        opened(small)
        settle()
        titles = [answer.text for answer in palette_of(window).answers()]
        assert "File: Close document" in titles
        assert "Edit: Undo" not in titles
        enabled = [spec.name for spec, action in window.actions_.all() if action.isEnabled()]
        panes = window.docks.all()
        assert len(titles) == len(set(titles)) == len(enabled) - 1 + len(panes)

    def test_a_pane_comes_to_the_front_with_the_keyboard_in_it(
        self, window: MainWindow, qtbot: QtBot
    ) -> None:
        shown = palette_of(window)
        field = shown.findChild(QLineEdit, "commandPaletteField")
        qtbot.keyClicks(field, "pane problems")
        qtbot.keyClick(field, Qt.Key.Key_Return)
        gone(qtbot, window, CommandPalette)
        dock = window.docks["problemsDock"]
        qtbot.waitUntil(lambda: not dock.visibleRegion().isEmpty())
        qtbot.waitUntil(lambda: dock.isAncestorOf(window.focusWidget()))

    def test_up_and_down_move_and_escape_leaves(self, window: MainWindow, qtbot: QtBot) -> None:
        shown = palette_of(window)
        answers = shown.answers()
        for key, place in ((Qt.Key.Key_Down, 1), (Qt.Key.Key_Down, 2), (Qt.Key.Key_Up, 1)):
            qtbot.keyClick(shown.field, key)
            assert shown.current() == answers[place]
        assert answers[1].text in shown.field.accessibleDescription()
        qtbot.keyClick(shown.field, Qt.Key.Key_Escape)
        gone(qtbot, window, CommandPalette)

    def test_icons_follow_the_theme(self, window: MainWindow, styled: QApplication) -> None:
        shown = palette_of(window)
        answers = shown.findChild(QListView, "commandPaletteList")
        first = shown.answers()[0]
        assert first.icon
        theme.apply(styled, theme.DARK)
        try:
            area = answers.visualRect(answers.model().index(0, 0))
            icon = answers.viewport().grab(QRect(area.left() + theme.LARGE, area.top(), 16, area.height()))
            image = icon.toImage()
            places = itertools.product(range(image.width()), range(image.height()))
            lightest = max(image.pixelColor(*place).lightness() for place in places)
            assert (
                lightest > (QColor(theme.DARK.text).lightness() + QColor(theme.DARK.surface).lightness()) / 2
            )
        finally:
            theme.apply(styled, theme.LIGHT)

    def test_nothing_is_called_so(self, window: MainWindow, qtbot: QtBot) -> None:
        shown = palette_of(window)
        qtbot.keyClicks(shown.field, "qqqq")
        assert shown.answers() == []
        assert "No command has this name: qqqq" in shown.words()
        qtbot.keyClick(shown.field, Qt.Key.Key_Return)
        assert shown.isVisible()

    def test_the_theme_in_force_is_ticked(self, window: MainWindow, qtbot: QtBot) -> None:
        titles = [answer.text for answer in palette_of(window).answers()]
        assert "View: Theme: As the desktop ✓" in titles
        assert "View: Theme: Dark" in titles


class TestGoToKey:
    @pytest.fixture
    def dialog(self, window: MainWindow, small: Path, opened: Open, settle: Settle) -> GoToDialog:
        opened(small)
        settle()
        window.actions_["go_to_key"].trigger()
        found = window.findChild(GoToDialog, "goToDialog")
        assert found is not None
        return found

    def type(self, dialog: GoToDialog, qtbot: QtBot, text: str, first: str) -> None:
        qtbot.keyClicks(dialog.field, text)

        def is_first() -> bool:
            current = dialog.current()
            return current is not None and current.text == first

        qtbot.waitUntil(is_first)
        qtbot.keyClick(dialog.field, Qt.Key.Key_Return)

    def test_a_key(self, window: MainWindow, dialog: GoToDialog, settle: Settle, qtbot: QtBot) -> None:
        self.type(dialog, qtbot, "temp/1.", "temp/1.0")
        settle()
        assert window.centre.tabs.currentIndex() == REFERENCES
        assert window.centre.references.current_key() == "temp/1.0"
        gone(qtbot, window, GoToDialog)

    def test_a_node(self, window: MainWindow, dialog: GoToDialog, settle: Settle, qtbot: QtBot) -> None:
        self.type(dialog, qtbot, "dpth", "/depth")
        settle()
        item = window.hierarchy.current_item()
        assert item is not None
        assert item.place == "/depth"
        assert window.navigation.plotted() == "/depth"

    def test_a_row(self, window: MainWindow, dialog: GoToDialog, settle: Settle, qtbot: QtBot) -> None:
        self.type(dialog, qtbot, "6", "6")
        settle()
        assert window.centre.references.table.current() == 6

    def test_nothing_found_is_told(self, dialog: GoToDialog, qtbot: QtBot) -> None:
        qtbot.keyClicks(dialog.field, "xyzxyz")
        qtbot.waitUntil(lambda: dialog.words() == "No match")

    def test_the_dialog_goes_with_its_document(
        self, window: MainWindow, dialog: GoToDialog, qtbot: QtBot
    ) -> None:
        window.documents.close(window.documents.all()[0])
        gone(qtbot, window, GoToDialog)
        QApplication.processEvents()
