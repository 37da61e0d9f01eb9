"""Profile, series and animation from the window: menu Data, header, files, clipboard, keyboard."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot
from unnamed_widgets import unnamed
from window_fixtures import Open

from refbrowser.app.commands.plotting import ExploreCommands
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.bundled import resource


@pytest.fixture
def plot(window: MainWindow, opened: Open, settle: Callable[[], None]) -> PlotPane:
    """The sea surface temperature of the sample."""
    document = opened(Path(str(resource("sample/sea_surface.json"))))
    settle()
    window.hierarchy.select_node(document, "/ocean/sst")
    settle()
    assert window.centre.plot is not None
    return window.centre.plot


def child(window: QWidget, name: str) -> QWidget:
    found = window.findChild(QWidget, name)
    assert found is not None, name
    return found


def click(qtbot: QtBot, plot: PlotPane, across: float, upwards: float) -> None:
    place = plot.canvas.mapFromScene(plot.canvas.box.mapViewToScene(QPointF(across, upwards)))
    qtbot.mouseClick(plot.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_the_menu_is_ticked_as_the_tools_are(window: MainWindow, plot: PlotPane, qtbot: QtBot) -> None:
    actions = window.actions_
    for name in ("toggle_profile", "toggle_series", "series_here", "play"):
        assert actions[name].isEnabled(), name
    assert not actions["export_series"].isEnabled()
    qtbot.keyClick(plot.canvas, Qt.Key.Key_P)
    assert actions["toggle_profile"].isChecked()
    assert actions["export_profile"].isEnabled()
    actions["toggle_series"].trigger()
    assert child(window, "seriesPane").isVisible()
    assert actions["toggle_series"].isChecked()
    actions["toggle_profile"].trigger()
    assert not child(window, "profilePane").isVisible()
    actions["play"].trigger()
    assert actions["play"].isChecked()
    qtbot.keyClick(plot.canvas, Qt.Key.Key_Escape)
    assert not actions["play"].isChecked()
    assert plot.tools.is_series


@pytest.mark.slow
def test_every_widget_is_named(
    window: MainWindow, plot: PlotPane, qtbot: QtBot, settle: Callable[[], None]
) -> None:
    qtbot.keyClick(plot.canvas, Qt.Key.Key_P)
    window.actions_["toggle_series"].trigger()
    qtbot.wait(50)
    click(qtbot, plot, 100, 80)
    settle()
    window.actions_["play"].trigger()
    assert unnamed(window) == []
    plot.tools.animation.pause()


def test_tab_reaches_the_ends_of_the_line(window: MainWindow, plot: PlotPane, qtbot: QtBot) -> None:
    window.activateWindow()
    plot.canvas.setFocus()
    qtbot.keyClick(plot.canvas, Qt.Key.Key_P)
    qtbot.wait(50)
    tool = plot.tools.profile()
    assert tool.ends is not None
    for _ in range(60):
        focused = QApplication.focusWidget()
        if focused is not None and focused.objectName() == "profileEndA":
            break
        qtbot.keyClick(focused or window, Qt.Key.Key_Tab)
    (row, column), stop = tool.ends
    qtbot.keyClick(child(window, "profileEndA"), Qt.Key.Key_Right)
    assert QApplication.focusWidget() is child(window, "profileEndA")
    assert tool.ends == ((row, column + 1), stop)


def test_a_series_is_written_and_copied(
    window: MainWindow, plot: PlotPane, qtbot: QtBot, settle: Callable[[], None], tmp_path: Path
) -> None:
    window.actions_["toggle_series"].trigger()
    qtbot.wait(50)
    click(qtbot, plot, 100, 80)
    settle()
    button = child(window, "seriesExport")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    dialog = window.findChild(QFileDialog, "exportChartDialog")
    assert dialog is not None
    assert dialog.selectedFiles()[0].endswith("sst_series.csv")
    path = tmp_path / "series.csv"
    dialog.fileSelected.emit(str(path))
    dialog.close()
    qtbot.waitUntil(path.exists)
    settle()
    rows = list(csv.reader(path.read_text("utf-8").splitlines()))
    assert len(rows) == 13
    assert rows[0][0] == "time"
    assert rows[0][1].startswith("sst at ")
    assert rows[0][1].endswith("[degree_Celsius]")
    assert rows[1][0].startswith("2024-01-16")
    values = [float(row[1]) for row in rows[1:]]
    (line,) = plot.tools.series().pane.chart.lines
    assert values == pytest.approx(line.numbers.tolist())
    QGuiApplication.clipboard().clear()
    qtbot.mouseClick(child(window, "seriesCopy"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() != "")
    lines = QGuiApplication.clipboard().text().split("\n")
    assert [line.split("\t") for line in lines] == rows


def test_a_profile_is_written(
    window: MainWindow, plot: PlotPane, qtbot: QtBot, settle: Callable[[], None], tmp_path: Path
) -> None:
    qtbot.keyClick(plot.canvas, Qt.Key.Key_P)
    tool = plot.tools.profile()
    tool.set_ends((40, 30), (70, 80))
    path = tmp_path / "profile.csv"
    window.groups[ExploreCommands].write("profile", str(path))
    qtbot.waitUntil(path.exists)
    settle()
    rows = list(csv.reader(path.read_text("utf-8").splitlines()))
    assert rows[0][0] == "distance [km]"
    assert len(rows) == 52
    numbers = [row[-1] for row in rows[1:]]
    assert [text == "" for text in numbers] == [value != value for value in tool.pane.chart.lines[0].numbers]


def test_copying_does_not_stop_what_is_being_written(
    window: MainWindow, plot: PlotPane, qtbot: QtBot, settle: Callable[[], None], tmp_path: Path
) -> None:
    qtbot.keyClick(plot.canvas, Qt.Key.Key_P)
    plot.tools.profile().set_ends((40, 30), (70, 80))
    exploring, paths = window.groups[ExploreCommands], [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path in paths:
        exploring.write("profile", str(path))
    exploring.copy("profile")
    settle()
    assert all(path.exists() for path in paths)


@pytest.mark.slow
def test_an_edit_ends_the_animation(
    window: MainWindow, plot: PlotPane, qtbot: QtBot, settle: Callable[[], None]
) -> None:
    from refbrowser.references.edits.edits import SetTemplate

    qtbot.keyClick(plot.canvas, Qt.Key.Key_Space)
    assert plot.tools.is_playing
    document = window.documents.current
    assert document is not None
    assert document.document is not None
    name, text = next(iter(document.document.templates.texts.items()))
    assert document.apply(SetTemplate(name, text + " "))
    qtbot.waitUntil(lambda: not plot.tools.is_playing)
    settle()


@pytest.mark.slow
def test_closing_the_document_ends_everything(
    window: MainWindow, plot: PlotPane, qtbot: QtBot, settle: Callable[[], None]
) -> None:
    qtbot.keyClick(plot.canvas, Qt.Key.Key_P)
    window.actions_["toggle_series"].trigger()
    qtbot.wait(50)
    click(qtbot, plot, 100, 80)
    plot.tools.animation.play(0)
    document = window.documents.current
    assert document is not None
    window.documents.close(document)
    settle()
    assert not plot.tools.is_playing
    assert plot.tools.series().points == []
    assert plot.tools.profile().profile is None


@pytest.mark.slow
def test_a_region_is_copied_as_a_table_and_as_python(
    window: MainWindow, plot: PlotPane, qtbot: QtBot, settle: Callable[[], None]
) -> None:
    pytest.importorskip("xarray")
    actions = window.actions_
    actions["toggle_region"].trigger()
    assert actions["toggle_region"].isChecked()
    assert actions["export_region"].isEnabled()
    tool = plot.tools.region()
    tool.set_over(0)
    qtbot.waitUntil(lambda: tool.regions[0].found is not None and tool.regions[0].found.series is not None)
    found = tool.regions[0].found
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("")
    tool.pane.copy.click()
    qtbot.waitUntil(lambda: clipboard.text() != "")
    lines = clipboard.text().splitlines()
    assert len(lines) == 13
    assert lines[1].split("\t")[0] == "2024-01-16"
    assert float(lines[1].split("\t")[1]) == pytest.approx(found.series.mean[0])
    clipboard.setText("")
    tool.pane.python.click()
    qtbot.waitUntil(lambda: clipboard.text() != "")
    variables: dict[str, object] = {}
    exec(compile(clipboard.text(), "pasted.py", "exec"), variables)
    assert list(variables["mean"].values) == pytest.approx(list(found.series.mean))  # type: ignore[attr-defined]
    settle()
