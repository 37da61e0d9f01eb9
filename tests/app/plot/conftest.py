from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from plot_memory import MemoryDocument
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.model.nodes import ArrayNode


def parts_of_panes() -> set[QWidget]:
    """Return the main parts of all plot panes there are."""
    names = {"plotPane", "plotView", "colourBar", "dimensionSliders", "plotCards", "plotValues"}
    return {widget for widget in QApplication.allWidgets() if widget.objectName() in names}


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    tasks = Tasks()
    yield tasks
    assert tasks.close()


@pytest.fixture
def pane(qtbot: QtBot, tasks: Tasks) -> Iterator[PlotPane]:
    """A plot pane in a window; nothing of it may be left afterwards."""
    others = parts_of_panes()
    pane = PlotPane()
    pane.resize(800, 600)
    pane.show()
    qtbot.waitExposed(pane)
    yield pane
    pane.clear()
    pane.close()
    before = {id(widget) for widget in QApplication.allWidgets()}
    assert id(pane) in before
    pane.deleteLater()
    del pane
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    assert parts_of_panes() <= others


@pytest.fixture
def plotted(qtbot: QtBot, pane: PlotPane, tasks: Tasks) -> Callable[..., MemoryDocument]:
    """Open arrays in memory and wait until the first is on the screen."""

    def plot(
        *arrays: tuple[ArrayNode, np.ndarray],
        prepare: Callable[[MemoryDocument], None] | None = None,
        wait: bool = True,
    ) -> MemoryDocument:
        document = MemoryDocument(tasks, *arrays)
        if prepare is not None:
            prepare(document)
        pane.set_array(document, arrays[0][0])  # type: ignore[arg-type]
        if wait:
            qtbot.waitUntil(pane.is_settled)
        return document

    return plot
