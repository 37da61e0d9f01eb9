"""What the window looked like is there again: sizes, docks, tabs, columns; and Reset layout forgets it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import docks
from refbrowser.app.widgets.docks import DOCKS

Settle = Callable[[], None]


def shown_bars(window: MainWindow) -> list[list[str]]:
    """Return the titles on each bar of docks that is seen."""
    bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return sorted([bar.tabText(at) for at in range(bar.count())] for bar in bars if bar.isVisible())


LOW = [
    ["Attributes", "Explain", "Editor", "History"],
    ["Chunk map", "Byte map", "Cost", "Preview", "Problems", "Audit", "Search", "Jobs"],
]
HIGH = [["Attributes", "Explain"], LOW[1], ["Editor", "History"]]


def again(qtbot: QtBot) -> MainWindow:
    """Start the program once more."""
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    window.complete()
    return window


@pytest.mark.slow
def test_each_dock_has_one_tab_at_the_first_start(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: shown_bars(window) == LOW)


def test_reset_puts_every_dock_back(window: MainWindow, qtbot: QtBot) -> None:
    made = window.docks
    made["jobsDock"].setFloating(True)
    made["problemsDock"].hide()
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, made["attributesDock"])
    qtbot.wait(50)
    qtbot.keyClick(window, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    assert [dock.objectName() for dock in made.all() if dock.isFloating() or dock.isHidden()] == []
    for name, _title, area, _hint in DOCKS:
        assert window.dockWidgetArea(made[name]) == area
    qtbot.waitUntil(lambda: shown_bars(window) == LOW)


@pytest.mark.slow
def test_a_high_window_shows_attributes_and_editor_above_each_other(window: MainWindow, qtbot: QtBot) -> None:
    for height, expected in ((1300, HIGH), (800, LOW), (1300, HIGH)):
        window.resize(1600, height)
        window.actions_["reset_layout"].trigger()
        qtbot.waitUntil(lambda expected=expected: shown_bars(window) == sorted(expected))


@pytest.mark.slow
def test_what_the_user_made_of_it_is_there_again(
    window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    opened(small)
    settle()
    window.resize(790, 700)  # Qt keeps a window on the screen, which is small here.
    window.docks["jobsDock"].setFloating(True)
    window.docks["historyDock"].hide()
    window.docks.raise_("problemsDock")
    window.centre.tabs.setCurrentIndex(2)
    table = window.centre.references.table
    widths = table.column_widths()
    widths[1] += 37
    table.set_column_widths(widths)
    qtbot.wait(50)
    window.close()
    second = again(qtbot)
    assert second.height() == 700
    assert second.docks["jobsDock"].isFloating()
    assert second.docks["historyDock"].isHidden()
    assert second.centre.tabs.currentIndex() == 2
    assert second.centre.references.table.column_widths() == widths
    qtbot.waitUntil(lambda: not second.docks["problemsDock"].visibleRegion().isEmpty())
    second.actions_["reset_layout"].trigger()
    assert not second.docks["jobsDock"].isFloating()
    assert second.docks["historyDock"].isVisible()
    second.close()


@pytest.mark.slow
@pytest.mark.parametrize("shape", [b"", b"nonsense"])
def test_a_spoilt_layout_is_as_good_as_none(window: MainWindow, qtbot: QtBot, shape: bytes) -> None:
    window.settings.set_layout(shape, shape)  # type: ignore[arg-type]
    second = again(qtbot)
    qtbot.waitUntil(lambda: shown_bars(second) == LOW)
    second.close()


@pytest.mark.slow
def test_docks_keep_their_sizes_over_many_starts(window: MainWindow, qtbot: QtBot) -> None:
    def height(of: MainWindow) -> int:
        qtbot.wait(50)
        return of.docks["problemsDock"].height()

    window.docks.raise_("problemsDock")
    window.resizeDocks([window.docks["problemsDock"]], [180], Qt.Orientation.Vertical)
    expected = height(window)
    window.close()
    for _ in range(3):
        other = again(qtbot)
        assert other.hierarchy.tree.isVisible(), "a window that becomes active now gives it the keyboard"
        assert height(other) == expected
        assert other.focusWidget() is other.hierarchy.tree
        other.close()


@pytest.mark.slow
@pytest.mark.fresh
def test_docks_squeezed_by_a_small_window_are_wide_again(window: MainWindow, qtbot: QtBot) -> None:
    """Also where the program was closed while it was small."""
    window.resize(1280, 800)
    window.actions_["reset_layout"].trigger()
    qtbot.wait(50)
    names = ("hierarchyDock", "attributesDock")
    before = [window.docks[name].width() for name in names]
    window.resize(700, 560)
    qtbot.wait(50)
    assert [window.docks[name].width() for name in names] < before
    is_folded = window.docks.is_folded
    window.close()
    second = again(qtbot)
    qtbot.wait(50)
    assert second.docks.is_folded == is_folded
    second.resize(1280, 800)
    qtbot.wait(50)
    for name, width in zip(names, before, strict=True):
        assert second.docks[name].width() == pytest.approx(width, abs=12)
    second.close()


@pytest.mark.slow
def test_docks_that_a_kept_layout_does_not_know_have_their_place(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an update of the program that brought two more."""
    new = ("byteMapDock", "costDock")
    with monkeypatch.context() as older:
        older.setattr(docks, "DOCKS", tuple(dock for dock in DOCKS if dock[0] not in new))
        groups = (tuple(name for name in group if name not in new) for group in docks.TABBED)
        older.setattr(docks, "TABBED", tuple(groups))
        first = MainWindow()
        state = first.saveGeometry(), first.saveState()
        first.deleteLater()
    window.settings.set_layout(*state)
    second = again(qtbot)
    beside = second.tabifiedDockWidgets(second.docks["chunkMapDock"])
    assert {second.docks[name] for name in new} <= {*beside}
    second.close()


def test_a_form_is_not_cut_where_its_place_is_narrow(window: MainWindow, settle: Callable[[], None]) -> None:
    window.resize(1280, 800)
    settle()
    window.docks.share_out()
    settle()
    attributes, editor = (window.docks[name] for name in ("attributesDock", "editorDock"))
    wide = docks.FORM_DIGITS * window.fontMetrics().horizontalAdvance("0")
    assert attributes.width() < wide < 1280 * docks.FORM_MOST
    window.docks.raise_("editorDock")
    settle()
    assert editor.width() >= wide - 1
    # What the user chose stays, in the next session too.
    window.resizeDocks([editor], [280], Qt.Orientation.Horizontal)
    settle()
    kept = window.docks.look()
    for name in ("attributesDock", "editorDock", "explainDock"):
        window.docks.raise_(name)
        settle()
        assert window.docks[name].width() < wide - 40, name
    window.docks._formed = 0
    window.docks.set_look(kept)
    window.docks.raise_("editorDock")
    settle()
    assert editor.width() < wide - 40
    # In a window of another width the form is whole again.
    window.resize(1300, 800)
    settle()
    window.docks.raise_("editorDock")
    settle()
    assert editor.width() >= wide - 1
