"""A tool of another package in the window: its dock, its command with a key, its report; and what fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import fixture_tool
import pytest
from foreign_commands import CountCommands
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QPlainTextEdit, QPushButton, QSpinBox
from pytestqt.qtbot import QtBot
from window_fixtures import close_shared
from window_reset import SharedWindow

from refbrowser.app.dialogs.manual_window import read_page
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.bundled import resource

Settle = Callable[[], None]
SAMPLE = resource("sample/sea_surface.json")


def names(window: MainWindow) -> set[str]:
    """Return the names of the actions that a window has."""
    return {spec.name for spec, _action in window.actions_.all()}


@pytest.fixture(scope="module", autouse=True)
def a_window_of_their_own(shared: list[SharedWindow]) -> Iterator[None]:
    """Let no window that was made before, or is used after, meet the tools that come and go here."""
    close_shared()
    yield
    close_shared()


@pytest.mark.slow
@pytest.mark.fresh
def test_a_dock_and_a_command_with_a_key(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, qtbot: QtBot
) -> None:
    with fixture_tool.found(monkeypatch):
        window: MainWindow = request.getfixturevalue("window")
        settle: Settle = request.getfixturevalue("settle")
        document = window.open_path(str(SAMPLE), "/ocean/lat")
        qtbot.waitUntil(lambda: "show_span" in names(window))
        settle()
        action = window.actions_["show_span"]
        assert action in window.actions_.menu("&Tools").actions()
        assert action.isEnabled()
        dock = window.docks["spanDock"]
        assert not window.docks.is_seen("spanDock"), "it took the place of another"
        assert dock in window.tabifiedDockWidgets(window.docks["jobsDock"])
        window.activateWindow()
        window.setFocus()
        qtbot.keyClick(
            window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        )
        qtbot.waitUntil(lambda: window.docks.is_seen("spanDock"))
        window.findChild(QComboBox, "spanArray").setEditText("/ocean/lat")
        window.findChild(QSpinBox, "spanDecimals").setValue(1)
        window.findChild(QCheckBox, "spanIsWide").setChecked(True)
        report = window.findChild(QPlainTextEdit, "spanReport")
        qtbot.mouseClick(window.findChild(QPushButton, "spanRunButton"), Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: report.toPlainText().startswith("/ocean/lat: "))
        assert report.toPlainText() == "/ocean/lat: -89.5 to 89.5, 179.0 in all"
        # An array that is not there is told, and the report of before stays.
        window.findChild(QComboBox, "spanArray").setEditText("/ocean/none")
        window.findChild(QPushButton, "spanRunButton").click()
        qtbot.waitUntil(lambda: "none" in window.findChild(QLabel, "spanWords").text())
        window.documents.close(document)
        assert report.toPlainText() == ""
        assert not window.findChild(QPushButton, "spanRunButton").isEnabled()


@pytest.mark.fresh
@pytest.mark.slow
def test_a_tool_that_fails_costs_itself_alone(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, qtbot: QtBot
) -> None:
    with fixture_tool.found(monkeypatch, "fixture_tool:BROKEN", "fixture_tool:SPAN"):
        window: MainWindow = request.getfixturevalue("window")
        window.open_path(str(SAMPLE), "/ocean/lat")
        qtbot.waitUntil(lambda: "show_span" in names(window))
        assert "What the tool broken adds to the window failed" in window.centre.error_bar.text()
        assert "brokenDock" not in {dock.objectName() for dock in window.docks.all()}


@pytest.mark.fresh
@pytest.mark.slow
def test_commands_of_its_own_are_offered_in_panes_too(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, qtbot: QtBot
) -> None:
    with fixture_tool.found(monkeypatch, "fixture_tool:COMMANDED"):
        window: MainWindow = request.getfixturevalue("window")
        window.open_path(str(SAMPLE), "/ocean/lat")
        qtbot.waitUntil(lambda: "count" in names(window))
        action = window.actions_["count"]
        assert action in window.actions_.menu("&Tools").actions()
        assert action in window.centre.references.table.actions()
        action.trigger()
        assert window.groups[CountCommands].counted == 1


def test_it_stands_in_the_manual(monkeypatch: pytest.MonkeyPatch) -> None:
    row = f"| `refbrowser span PATH` | {fixture_tool.SPAN.words} |"
    assert row not in read_page("command_line").text
    with fixture_tool.found(monkeypatch):
        assert row in read_page("command_line").text
