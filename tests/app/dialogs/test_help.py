"""The list of keys and the manual say what the program does: all of it, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtWidgets import QApplication, QLineEdit, QTextBrowser
from pytestqt.qtbot import QtBot
from window_fixtures import button

from refbrowser.app.actions.menus import actions
from refbrowser.app.dialogs.about import AboutDialog
from refbrowser.app.dialogs.manual_window import PAGES, ManualWindow, read_page
from refbrowser.app.dialogs.shortcut_list import VIEW_KEYS, ShortcutList, sections, title_of
from refbrowser.app.settings.preferences import PREFERENCES
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme
from refbrowser.cli.program import parser_of
from refbrowser.tools.registry import BUILT_IN

MANUAL = Path(__file__).resolve().parents[3] / "resources" / "manual"
TEXTS = {name: read_page(name).text for name in PAGES}
ALL = "\n".join(TEXTS.values())
SHORTCUT = re.compile(r"`((?:Ctrl|Alt|Shift)\+[^`]+|F[0-9]+|[A-Z]|Del|Esc|Space)`")


class TestKeys:
    def test_every_key_is_listed_once_a_section(self) -> None:
        for where, keys in sections().items():
            told = [key for row in keys for key in row.keys.split(", ")]
            assert len(told) == len(set(told)), where
        listed = {(row.keys, row.what) for keys in sections().values() for row in keys}
        for spec in actions():
            for key in filter(None, (spec.shortcut, spec.plot_key)):
                assert (key, title_of(spec)) in listed

    @pytest.mark.slow
    def test_the_keys_of_the_plot_are_listed(self, window: MainWindow, qtbot: QtBot) -> None:
        window.prepare_plot()
        qtbot.waitUntil(lambda: window.centre.plot is not None)
        plot = window.centre.plot
        assert plot is not None
        listed = {key for row in sections()["In the plot"] for key in row.keys.split(", ")}
        for key in plot.canvas.pane_keys():
            assert Qt.Key(key).name.removeprefix("Key_").replace("Escape", "Esc") in listed

    def test_the_list_can_be_filtered(self, window: MainWindow, qtbot: QtBot) -> None:
        window.actions_["shortcuts"].trigger()
        shown = window.findChild(ShortcutList)
        assert shown is not None
        everything = shown.rows()
        assert len(everything) == sum(len(keys) for keys in sections().values())
        field = shown.findChild(QLineEdit, "shortcutFilter")
        qtbot.keyClicks(field, "ctrl+z")
        assert shown.rows() == [("Undo", "Ctrl+Z")]
        field.setText("nothing does this")
        assert shown.rows() == []
        window.actions_["shortcuts"].trigger()
        assert window.findChildren(ShortcutList) == [shown]


class TestManual:
    def test_every_file_is_a_page(self) -> None:
        assert {path.stem for path in MANUAL.glob("*.md")} == set(PAGES)

    def test_every_command_is_described_and_no_other(self) -> None:
        listed = set(re.findall(r"^\| `refbrowser ([a-z]+)", TEXTS["command_line"], re.M))
        assert listed == {tool.name for tool in BUILT_IN}
        named = set(re.findall(r"`refbrowser ([a-z]+)[ `]", ALL))
        assert named <= {*(tool.name for tool in BUILT_IN), "help"}

    def test_every_shortcut_is_on_the_page_of_keys_and_no_other(self) -> None:
        listed = re.findall(r"^\| (.+?) \| (`.+`) \|$", TEXTS["keyboard"], re.M)
        declared = [
            (title_of(spec), f"`{key}`")
            for spec in actions()
            for key in (spec.shortcut, spec.plot_key)
            if key
        ]
        of_views = [
            (key.what, ", ".join(f"`{each}`" for each in key.keys.split(", ")))
            for keys in VIEW_KEYS.values()
            for key in keys
        ]
        assert sorted(listed) == sorted(declared + of_views)

    def test_every_option_named_is_one(self) -> None:
        import argparse

        from refbrowser.cli import window
        from refbrowser.cli.options import add_further

        known = {"--help", "--quiet", "--verbose", "--along", "--no-index"}  # old names, and what git has
        known |= {short for tool in BUILT_IN for short in tool.short_forms}
        window.add_arguments(of_window := argparse.ArgumentParser())
        for parser in (*map(parser_of, BUILT_IN), of_window):
            add_further(parser)
            known |= {option for action in parser._actions for option in action.option_strings}
        assert set(re.findall(r"(--[a-z][a-z0-9-]+)", ALL)) <= known

    def test_every_preference_is_described_and_no_other(self) -> None:
        rows = re.findall(r"^\| ([^|]+) \| `(\w+)` \| ([^|]+) \|$", TEXTS["preferences"], re.M)
        assert {name: title for title, name, _default in rows} == {
            item.name: item.title for item in PREFERENCES
        }
        defaults = {name: default for _title, name, default in rows}
        for item in PREFERENCES:
            if isinstance(item.default, int) and not isinstance(item.default, bool):
                assert f"{item.default:,}" in defaults[item.name]
            elif item.choices:
                title = next(title for value, title in item.choices if value == item.default)
                assert title.lower() == defaults[item.name].lower()

    def test_every_shortcut_is_described_and_no_other(self) -> None:
        known = {key for spec in actions() for key in (spec.shortcut, spec.plot_key) if key}
        known |= {key for keys in VIEW_KEYS.values() for row in keys for key in row.keys.split(", ")}
        told = set(SHORTCUT.findall(ALL))
        assert told <= known
        assert {spec.shortcut for spec in actions() if spec.shortcut} <= told

    def test_links_lead_somewhere(self) -> None:
        known = {spec.name for spec in actions()}
        for target in re.findall(r"\]\(([^)]+)\)", ALL):
            kind, _, rest = target.partition(":")
            if kind == "action":
                assert rest in known, target
            elif kind != "https":
                assert target.removesuffix(".md") in PAGES, target

    def test_menu_paths_named_in_links_are_those_of_the_actions(self) -> None:
        from refbrowser.app.actions.menus import menus

        menu_of = {
            spec.name: menu.replace("&", "") for menu, specs in menus().items() for spec in specs if spec
        }
        titles = {spec.name: title_of(spec).replace(": ", " > ") for spec in actions()}
        for text, name in re.findall(r"\[([A-Z]\w+ > [^\]]+)\]\(action:(\w+)\)", ALL):
            assert text == f"{menu_of[name]} > {titles[name]}"

    @pytest.mark.parametrize("page", PAGES)
    def test_lines_are_short_and_text_is_plain(self, page: str) -> None:
        assert TEXTS[page].startswith("# ")
        for line in (MANUAL / f"{page}.md").read_text("utf-8").splitlines():
            assert len(line) <= 130 or line.startswith("|"), line  # a row of a table is one line


class TestManualWindow:
    @pytest.fixture
    def manual(self, window: MainWindow) -> ManualWindow:
        window.actions_["manual"].trigger()
        found = window.findChild(ManualWindow, "manualWindow")
        assert found is not None
        return found

    def test_pages_links_and_back(self, window: MainWindow, manual: ManualWindow) -> None:
        view = manual.findChild(QTextBrowser, "helpView")
        assert "First steps" in view.toPlainText()
        view.anchorClicked.emit(QUrl("templates.md"))
        assert manual.page() == "templates"
        assert "A gen rule makes one entry" in view.toPlainText()
        button(manual, "manualBackButton").click()
        assert manual.page() == "index"
        assert not button(manual, "manualBackButton").isEnabled()

    def test_links_to_actions_carry_them_out(self, window: MainWindow, manual: ManualWindow) -> None:
        view = manual.findChild(QTextBrowser, "helpView")
        view.anchorClicked.emit(QUrl("action:shortcuts"))
        assert window.findChild(ShortcutList) is not None

    def test_other_links_are_not_followed(self, window: MainWindow, manual: ManualWindow) -> None:
        view = manual.findChild(QTextBrowser, "helpView")
        for link in ("file:///etc/passwd", "nothing.md", "http://127.0.0.1/x"):
            view.anchorClicked.emit(QUrl(link))
        assert manual.page() == "index"

    def test_find_goes_on_to_other_pages(self, manual: ManualWindow, qtbot: QtBot) -> None:
        field = manual.findChild(QLineEdit, "manualFind")
        qtbot.keyClicks(field, "Credentials are yours")
        qtbot.keyClick(field, Qt.Key.Key_Return)
        view = manual.findChild(QTextBrowser, "helpView")
        assert manual.page() == "permissions"
        assert view.textCursor().selectedText() == "Credentials are yours"

    @pytest.mark.slow
    def test_every_page_is_shown_in_both_themes(self, manual: ManualWindow, styled: QApplication) -> None:
        for page in PAGES:
            manual.show_page(page)
        theme.apply(styled, theme.DARK)
        QApplication.processEvents()
        for page in PAGES:
            manual.show_page(page)
        theme.apply(styled, theme.LIGHT)
        assert manual.page() == PAGES[-1]


def test_about_gives_versions_to_copy(window: MainWindow) -> None:
    import platform

    window.actions_["about"].trigger()
    box = window.findChild(AboutDialog, "aboutDialog")
    button(box, "aboutCopyButton").click()
    copied = QApplication.clipboard().text()
    for words in ("refbrowser 0", "Python ", "Qt ", "numpy ", platform.system()):
        assert words in copied
