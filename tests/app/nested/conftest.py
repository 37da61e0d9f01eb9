"""What the tests of nested values in the window share."""

from __future__ import annotations

from pathlib import Path

import pytest
from nested_in_window import Show, rest
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.centre import VALUES
from refbrowser.app.main_window import MainWindow
from refbrowser.app.nested.nested_pane import NestedPane
from refbrowser.model.nodes import ArrayNode


@pytest.fixture
def show(window: MainWindow, small: Path, opened: Open, qtbot: QtBot) -> Show:
    """Show an array in the tab of values, when all that is seen is read."""
    document = opened(small)
    qtbot.waitUntil(lambda: window.centre.plot is not None)

    def shown(node: ArrayNode) -> NestedPane:
        plot = window.centre.plot
        assert plot is not None
        plot.set_array(document, node)
        qtbot.waitUntil(
            lambda: (window.nested.pane is not None and window.nested.pane.node() is node) or press()
        )
        pane = window.nested.pane
        assert pane is not None
        rest(pane, qtbot)
        return pane

    def press() -> bool:
        if window.actions_["show_values"].isEnabled() and window.centre.tabs.currentIndex() != VALUES:
            window.actions_["show_values"].trigger()
        return False

    return shown
