"""What the tests of nested values in the window share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from nested_in_window import Plot, Show, ShowCharts, Source, rest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from refbrowser.app.nested.nested_pane import NestedPane
from refbrowser.app.plot.nested_charts import ChartsPane
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.model.nodes import ArrayNode


@pytest.fixture
def plot(styled: QApplication) -> Iterator[Plot]:
    """The plot that a pane follows."""
    tasks = Tasks()
    yield Plot(Source(tasks))
    tasks.close()
    tasks.deleteLater()


@pytest.fixture
def show(plot: Plot, qtbot: QtBot) -> Show:
    """Show an array in the pane of nested values, when all that is seen is read."""
    pane = NestedPane(plot)  # type: ignore[arg-type]
    qtbot.addWidget(pane)
    pane.resize(660, 480)

    def shown(node: ArrayNode, *beside: ArrayNode) -> NestedPane:
        plot.show(node, *beside)
        pane.show()
        qtbot.waitUntil(lambda: pane.node() is node)
        rest(pane, qtbot)
        return pane

    return shown


@pytest.fixture
def show_charts(plot: Plot, qtbot: QtBot) -> ShowCharts:
    """Show the charts of an array, when all that they are of is read."""
    page = QWidget()
    qtbot.addWidget(page)
    pane, column = ChartsPane(), QVBoxLayout(page)
    for widget in (pane.tools, pane):
        column.addWidget(widget)
    page.resize(660, 480)

    def shown(node: ArrayNode, *beside: ArrayNode) -> ChartsPane:
        plot.show(node, *beside)
        pane.set_array(plot.source(), node)  # type: ignore[arg-type]
        page.show()
        pane.set_shown(True)
        return pane

    return shown
