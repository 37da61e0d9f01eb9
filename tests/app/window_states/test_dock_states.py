"""Where docks are: told, moved about, put back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.window_states.dock_states import dock_states, put_back
from refbrowser.views.window_states.window_state import DockState

Settle = Callable[[], None]


@pytest.mark.slow
def test_docks_go_back_to_where_they_were(window: MainWindow, settle: Settle) -> None:
    docks = window.docks
    docks.raise_("jobsDock")
    docks["historyDock"].hide()
    settle()
    before = dock_states(window, docks)
    by_name = {state.name: state for state in before}
    assert by_name["jobsDock"].is_front
    assert by_name["jobsDock"].behind == "chunkMapDock"
    assert not by_name["historyDock"].is_shown
    assert by_name["hierarchyDock"].area == "left"
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, docks["hierarchyDock"])
    docks["historyDock"].show()
    docks["problemsDock"].setFloating(True)
    docks.fold(is_folded=True)
    settle()
    assert dock_states(window, docks) != before
    put_back(window, docks, before, is_folded=False)
    settle()
    after = {state.name: state for state in dock_states(window, docks)}
    for name, state in by_name.items():
        # Qt rounds sizes.
        assert replace(after[name], width=state.width, height=state.height) == state
        assert abs(after[name].width - state.width) < 12
    assert not docks.is_folded
    docks["historyDock"].show()


@pytest.mark.slow
def test_a_dock_of_a_later_version_is_beside_its_neighbours(window: MainWindow, settle: Settle) -> None:
    states = [each for each in dock_states(window, window.docks) if each.name != "jobsDock"]
    window.docks["jobsDock"].setFloating(True)
    put_back(window, window.docks, states, is_folded=False)
    settle()
    after = {state.name: state for state in dock_states(window, window.docks)}
    assert (after["jobsDock"].area, after["jobsDock"].behind) == ("bottom", "chunkMapDock")
    assert after["jobsDock"].is_shown
    assert after["chunkMapDock"].is_front


def test_docks_that_are_not_known_and_circles_are_left_out(window: MainWindow, settle: Settle) -> None:
    states = (
        DockState("nowhereDock"),
        DockState("jobsDock", behind="jobsDock", is_front=True),
        DockState("problemsDock", behind="nowhereDock"),
        DockState("chunkMapDock", "floating", behind="jobsDock", width=100_000, height=100_000),
    )
    put_back(window, window.docks, states, is_folded=False)
    settle()
    assert window.docks["chunkMapDock"].isFloating()
    window.docks.reset()
    settle()
