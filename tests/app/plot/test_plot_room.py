"""The plot is the largest thing: nothing but the user takes its room, and it can be alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QDockWidget
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
SAMPLE = Path(__file__).resolve().parents[3] / "resources" / "sample" / "sea_surface.json"


@pytest.fixture
def plotted(window: MainWindow, opened: Open, settle: Settle) -> OpenDocument:
    window.docks.share_out()
    document = opened(SAMPLE)
    window.hierarchy.select_node(document, "/ocean/sst")
    settle()
    return document


def dock_sizes(window: MainWindow) -> dict[str, tuple[int, int]]:
    seen = [dock for dock in window.docks.all() if not dock.visibleRegion().isEmpty()]
    return {str(window.dockWidgetArea(dock)): (dock.width(), dock.height()) for dock in seen}


def picture_share(window: MainWindow) -> float:
    """Return which part of the centre's height the picture with its axes has."""
    plot = window.centre.plot
    assert plot is not None
    QApplication.processEvents()
    return plot.canvas.height() / window.centre.height()


def test_nothing_but_the_user_takes_the_room_of_the_plot(
    window: MainWindow, plotted: OpenDocument, settle: Settle
) -> None:
    plot, before = window.centre.plot, dock_sizes(window)
    assert plot is not None
    steps: dict[str, Callable[[], object]] = {
        "a rule": lambda: window.navigation.go_to_rule(plotted, 0),
        "problems": window.commands.problems.show_problems,
        "jobs": window.commands.view.show_jobs,
        "an array": lambda: window.hierarchy.select_node(plotted, "/ocean/sst"),
        "a profile": plot.tools.toggle_profile,
        "series": plot.tools.toggle_series,
        "an animation": plot.tools.bar.show,
        "a bar": lambda: window.centre.error_bar.show_error("It failed", ValueError("why " * 100)),
        "another bar": lambda: window.centre.copy_bar.show_copy(plotted, "/folder/" * 60),
    }
    assert picture_share(window) > 0.5
    for what, step in steps.items():
        step()
        settle()
        assert picture_share(window) >= 0.49, what
        assert dock_sizes(window) == before, what
    plot.tools.toggle_profile()
    plot.tools.toggle_series()


def test_docks_leave_the_centre_its_part_of_a_smaller_window(
    window: MainWindow, plotted: OpenDocument
) -> None:
    before = dock_sizes(window)
    window.resize(900, 560)
    QApplication.processEvents()
    assert (window.width(), window.height()) == (900, 560)
    assert window.centre.width() > 430
    window.resize(1280, 800)
    QApplication.processEvents()
    for side, (width, _height) in dock_sizes(window).items():
        assert width == pytest.approx(before[side][0], abs=12), f"{side} grows again with the window"
    # What the user made large keeps its part.
    window.resizeDocks([window.docks["attributesDock"]], [600], Qt.Orientation.Horizontal)
    QApplication.processEvents()
    window.resize(1240, 800)
    QApplication.processEvents()
    assert window.docks["attributesDock"].width() > 550


def test_the_plot_alone(window: MainWindow, plotted: OpenDocument, qtbot: QtBot, settle: Settle) -> None:
    before, tabs = dock_sizes(window), window.centre.tabs
    action = window.actions_["plot_alone"]
    assert action.shortcut() == QKeySequence("F11")
    plot = window.centre.plot
    assert plot is not None
    tabs.setCurrentIndex(1)
    window.hierarchy.tree.setFocus()
    action.trigger()
    QApplication.processEvents()
    assert action.isChecked()
    assert all(dock.isHidden() for dock in window.findChildren(QDockWidget))
    assert plot.isVisible()
    assert plot.height() > window.height() - 30
    assert plot.width() > window.width() - 30
    action.trigger()
    QApplication.processEvents()
    assert not action.isChecked()
    assert dock_sizes(window) == before
    assert tabs.currentIndex() == 1
    assert window.menuBar().isVisible()
    # Esc brings all back too: in the plot, and beside it.
    for target in (plot.canvas, plot.header.map):
        action.trigger()
        QApplication.processEvents()
        target.setFocus()
        qtbot.keyClick(target, Qt.Key.Key_Escape)
        QApplication.processEvents()
        assert not action.isChecked(), target
        assert dock_sizes(window) == before


def test_another_page_brings_the_rest_of_the_window_back(
    window: MainWindow, plotted: OpenDocument, settle: Settle
) -> None:
    before = dock_sizes(window)
    window.actions_["plot_alone"].trigger()
    window.centre.show_tab(2)
    settle()
    assert not window.actions_["plot_alone"].isChecked()
    assert window.menuBar().isVisible()
    assert window.centre.tabs.currentIndex() == 2
    assert dock_sizes(window) == before


def test_boxes_are_as_wide_as_their_words(window: MainWindow, plotted: OpenDocument) -> None:
    plot = window.centre.plot
    assert plot is not None
    QApplication.processEvents()
    for box in (plot.header.x_axis, plot.header.y_axis):
        assert box.width() == box.sizeHint().width()
