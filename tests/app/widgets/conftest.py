"""A window with a document of every kind of value, its table in front."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from documents_of_values import value_document
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.frame.centre import TABLE
from refbrowser.app.plot.table_pane import TablePane
from refbrowser.app.shell.main_window import MainWindow

Shown = Callable[[str], TablePane]


@pytest.fixture
def table_of(
    window: MainWindow, opened: Open, settle: Callable[[], None], qtbot: QtBot, tmp_path: Path
) -> Shown:
    """Open the document once, and show the table of one of its arrays."""
    window.prepare_plot()
    made = value_document(tmp_path)
    made.refs["line/0"] = ["nowhere.bin", 0, 20]
    document = opened(made.write())
    settle()

    def show(name: str) -> TablePane:
        assert window.hierarchy.select_node(document, f"/{name}")
        window.centre.show_tab(TABLE)
        settle()
        table = window.centre.table
        assert table is not None
        qtbot.waitUntil(table.is_settled)
        return table

    return show
