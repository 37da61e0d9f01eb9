from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from map_in_window import Mapped, write_document
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.shell.main_window import MainWindow


@pytest.fixture
def mapped(
    window: MainWindow, qtbot: QtBot, opened: Open, settle: Callable[[], None], tmp_path: Path
) -> Iterator[Mapped]:
    """The window with ``/field`` plotted, its chunk map large enough for all of its parts."""
    document = opened(write_document(tmp_path))
    qtbot.waitUntil(lambda: window.chunk_map.pane is not None)
    assert window.centre.plot is not None
    window.centre.plot.set_prefetch(False)
    pane = window.chunk_map.pane
    window.docks.raise_("chunkMapDock")
    window.resizeDocks([window.docks["chunkMapDock"]], [330], Qt.Orientation.Vertical)
    found = Mapped(window=window, document=document, pane=pane, settle=settle, qtbot=qtbot)
    found.show("/field")
    qtbot.waitUntil(pane.view.isVisible)
    found.wait()
    # Begin with time and y, not with the axes of the plot.
    pane.controls.downChosen.emit(0)
    pane.controls.acrossChosen.emit(1)
    found.wait()
    yield found
    found.wait()
