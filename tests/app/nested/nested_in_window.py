"""Nested values in the tab of a window, for tests."""

from __future__ import annotations

from collections.abc import Callable

from pytestqt.qtbot import QtBot

from refbrowser.app.nested.nested_pane import NestedPane
from refbrowser.model.nodes import ArrayNode

Show = Callable[[ArrayNode], NestedPane]


def rest(pane: NestedPane, qtbot: QtBot) -> None:
    """Wait until a pane has read what it wants."""
    for _ in range(2):
        # What is painted then may want more.
        qtbot.wait(5)
        qtbot.waitUntil(pane.is_settled)
