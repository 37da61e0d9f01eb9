"""The tab of values in the whole window, over a file of Awkward 0."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from awkward0_encoder import Encoder, zipped
from pytestqt.qtbot import QtBot
from test_names import unnamed
from window_fixtures import Open

from refbrowser.app.centre import TABLE, VALUES
from refbrowser.app.main_window import MainWindow
from refbrowser.app.nested.chart_choice import ChartKind
from refbrowser.app.nested.nested_pane import CHARTS

Settle = Callable[[], None]


@pytest.fixture
def particles(tmp_path: Path) -> Path:
    """A file with lists of records of which one field cannot be read, and an array beside them."""
    made = Encoder("mu")
    pt, eta = made.basic([1.5, 2.5, 3.5]), made.basic([0.1, 0.2, 0.3])
    broken = made.call(["os", "system"], "true")
    table = made.table(pt=pt, eta=eta, bad=broken)
    members = made.members(made.make("JaggedArray.fromcounts", made.basic([2, 0, 1], "i8"), table))
    other = Encoder("met")
    members |= other.members(other.basic([10.0, np.nan, 30.0]))
    path = tmp_path / "particles.awkd"
    path.write_bytes(zipped(members))
    return path


def test_a_file_in_the_window(
    window: MainWindow, particles: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    document = opened(particles)
    settle()
    tabs = window.centre.tabs
    assert not tabs.isTabVisible(VALUES)
    assert not window.actions_["show_values"].isEnabled()
    assert window.hierarchy.select_node(document, "/mu")
    settle()
    assert tabs.isTabVisible(VALUES)
    assert window.actions_["show_values"].shortcut().toString() == "Ctrl+7"
    window.actions_["show_values"].trigger()
    settle()
    pane = window.nested.pane
    assert pane is not None
    qtbot.waitUntil(pane.is_settled)
    assert tabs.currentIndex() == VALUES
    assert pane.table.row_text(0) == ["0", "2", "[1.5, 2.5]", "[0.1, 0.2]", "! unreadable"]
    assert pane.table.row_text(1)[1] == "0"
    pane.table.set_current(0)
    pane.table.unfold_current()
    assert pane.table.row_text(1) == ["0", "", "1.5", "0.1", "! unreadable"]
    assert unnamed(window) == []

    pane.switch.set_page(CHARTS)
    pane.charts.choice.choose(ChartKind.FIELDS, "pt", "met")
    settle()
    qtbot.waitUntil(pane.is_settled)
    across, upwards = pane.charts.stage.points.points()
    assert across.tolist() == [10, 10, 30]
    assert upwards.tolist() == [1.5, 2.5, 3.5]

    window.centre.show_tab(TABLE)
    settle()
    window.centre.show_tab(VALUES)
    settle()
    assert pane.table.model().row_count() == 5, "what is unfolded stays"
    window.hierarchy.select_node(document, "/met")
    settle()
    assert not tabs.isTabVisible(VALUES)
    assert tabs.currentIndex() != VALUES
