"""The plot is the largest thing: nothing but the user takes its room, and it can be alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QDockWidget, QMenu, QPushButton, QTabBar
from pytestqt.qtbot import QtBot

from refbrowser.app.commands.findings import FindingCommands
from refbrowser.app.commands.view import ViewCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.plot.axes.axes_view import AxesView
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.docks import FORM_DIGITS

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


def chart_heights(window: MainWindow) -> list[int]:
    plot = window.centre.plot
    assert plot is not None
    QApplication.processEvents()
    charts = plot.tools.below.findChildren(AxesView)
    return [chart.height() for chart in charts if chart.isVisible()]


@pytest.mark.slow
@pytest.mark.fresh
def test_the_plot_has_half_of_the_window(window: MainWindow, opened: Open, settle: Settle) -> None:
    window.resize(1280, 800)
    window.actions_["reset_layout"].trigger()
    document = opened(SAMPLE)
    window.hierarchy.select_node(document, "/ocean/sst")
    qtplot(window, settle)
    plot = window.centre.plot
    assert plot is not None
    assert plot.width() * plot.height() >= 0.5 * 1280 * 800
    assert plot.canvas.height() >= 400
    plot.tools.series_here()
    settle()
    assert min(chart_heights(window)) >= 180
    assert plot.canvas.height() >= 180
    assert plot.height() <= window.centre.height(), "nothing is scrolled"


@pytest.mark.slow
@pytest.mark.fresh
def test_a_small_window_has_docks_at_one_side(window: MainWindow, opened: Open, settle: Settle) -> None:
    window.resize(1024, 700)
    window.actions_["reset_layout"].trigger()
    document = opened(SAMPLE)
    window.hierarchy.select_node(document, "/ocean/sst")
    qtplot(window, settle)
    assert (window.width(), window.height()) == (1024, 700)
    plot = window.centre.plot
    assert plot is not None
    assert plot.width() * plot.height() >= 0.5 * 1024 * 700
    left = Qt.DockWidgetArea.LeftDockWidgetArea
    assert {window.dockWidgetArea(window.docks[name]) for name in ("hierarchyDock", "editorDock")} == {left}
    # Names on tabs are whole, all of them seen.
    bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    shown = [bar for bar in bars if bar.isVisible()]
    assert len(shown) == 2
    for bar in shown:
        assert bar.elideMode() is Qt.TextElideMode.ElideNone
        assert bar.width() >= sum(bar.tabRect(at).width() for at in range(bar.count()))
    # The menu is one column: no higher than the window.
    menus = [action.menu() for action in window.menuBar().actions()]
    assert max(menu.sizeHint().height() for menu in menus if isinstance(menu, QMenu)) < 700


def qtplot(window: MainWindow, settle: Settle) -> None:
    """Wait until a new window has its plot, and settled."""
    window.prepare_plot()
    settle()
    QApplication.processEvents()
    settle()


@pytest.mark.slow
def test_the_bottom_folds_to_its_tabs(window: MainWindow, plotted: OpenDocument, qtbot: QtBot) -> None:
    docks, high = window.docks, window.centre.height()
    below = docks["chunkMapDock"].height()
    told: list[bool] = []
    docks.follow_sight("chunkMapDock", told.append)
    window.actions_["fold_bottom"].trigger()
    qtbot.waitUntil(lambda: window.centre.height() >= high + below - 12)
    qtbot.waitUntil(lambda: told[0] and not told[-1])
    assert window.actions_["fold_bottom"].isChecked()
    assert not docks.is_seen("chunkMapDock")
    bar = next(bar for bar in docks._bars() if bar.tabText(0) == "Chunk map" and bar.isVisible())
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(4).center())
    qtbot.waitUntil(lambda: docks.is_seen("problemsDock"))
    assert window.centre.height() == pytest.approx(high, abs=4)
    qtbot.mouseDClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(4).center())
    qtbot.waitUntil(lambda: not docks.is_seen("problemsDock"))
    window.groups[FindingCommands].show_problems()
    qtbot.waitUntil(lambda: docks.is_seen("problemsDock"))


@pytest.mark.slow
def test_the_value_is_read_beside_the_picture_once(
    window: MainWindow, plotted: OpenDocument, settle: Settle
) -> None:
    plot = window.centre.plot
    assert plot is not None
    plot.canvas.pointed.emit(60.0, 20.0)
    value = window.status.text().split("   ")[0]
    assert re.fullmatch(r"[\d.]+ degree_Celsius", value)
    assert not plot.status.isVisible(), "the same is not said twice"
    label = window.status._hover
    label.resize(label.fontMetrics().horizontalAdvance(f"{value}   lat") + 20, label.height())
    assert label.is_cut()
    assert label._shown().startswith(value)
    window.actions_["plot_alone"].trigger()
    settle()
    assert plot.status.isVisible(), "the status bar is away"
    back = plot.findChild(QPushButton, "plotBackButton")
    assert back is not None
    assert back.isVisible()
    back.click()
    assert not window.actions_["plot_alone"].isChecked()
    assert not back.isVisible()


@pytest.mark.slow
def test_nothing_but_the_user_takes_the_room_of_the_plot(
    window: MainWindow, plotted: OpenDocument, settle: Settle
) -> None:
    plot, first = window.centre.plot, dock_sizes(window)
    assert plot is not None
    others: dict[str, Callable[[], object]] = {
        "problems": window.groups[FindingCommands].show_problems,
        "jobs": window.groups[ViewCommands].show_jobs,
        "an array": lambda: window.hierarchy.select_node(plotted, "/ocean/sst_mean"),
    }
    for what, step in others.items():
        step()
        settle()
        assert dock_sizes(window) == first, what
    # A form takes the width that it needs from the plot, and no height: once, not at each click.
    window.navigation.go_to_rule(plotted, 0)
    settle()
    before = dock_sizes(window)
    assert before.keys() == first.keys()
    right = str(Qt.DockWidgetArea.RightDockWidgetArea)
    wide = FORM_DIGITS * window.fontMetrics().horizontalAdvance("0")
    assert before[right] == (pytest.approx(wide, abs=2), first[right][1])
    assert {side: height for side, (_, height) in before.items()} == {
        side: height for side, (_, height) in first.items()
    }
    assert window.centre.width() > 0.55 * window.width()
    steps: dict[str, Callable[[], object]] = {
        "an array": lambda: window.hierarchy.select_node(plotted, "/ocean/sst"),
        "a rule": lambda: window.navigation.go_to_rule(plotted, 0),
        "an explanation": lambda: window.docks.raise_("explainDock"),
        "problems": window.groups[FindingCommands].show_problems,
        "jobs": window.groups[ViewCommands].show_jobs,
        "the array again": lambda: window.hierarchy.select_node(plotted, "/ocean/sst"),
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
        # Charts are below the picture, and have to be read too.
        assert picture_share(window) >= (0.25 if plot.tools.below.isVisible() else 0.49), what
        assert dock_sizes(window) == before, what
    plot.tools.toggle_profile()
    plot.tools.toggle_series()


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_boxes_are_as_wide_as_their_words(window: MainWindow, plotted: OpenDocument) -> None:
    plot = window.centre.plot
    assert plot is not None
    QApplication.processEvents()
    for box in (plot.header.x_axis, plot.header.y_axis):
        assert box.width() == box.sizeHint().width()
