"""The profile: a line that is dragged across the image, and the values along it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plot_memory import MemoryDocument, array, source_error
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.plot.profile import ProfileTool
from refbrowser.app.widgets import theme
from refbrowser.engine.reading.parts import PartState

Plotted = Callable[..., MemoryDocument]
TIMES, ROWS, COLUMNS = 4, 40, 60
LEFT = Qt.MouseButton.LeftButton


def field() -> np.ndarray:
    t, y, x = np.mgrid[0:TIMES, 0:ROWS, 0:COLUMNS]
    return (10_000.0 * t + 100 * y + x).astype("f8")


@pytest.fixture
def shown(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> MemoryDocument:
    document = plotted(
        array("/field", field(), ("time", "lat", "lon"), (1, 20, 20), units="K"),
        array("/lat", np.linspace(0, 39, ROWS), ("lat",), units="degrees_north"),
        array("/lon", np.linspace(0, 59, COLUMNS), ("lon",), units="degrees_east"),
    )
    return document


def place_of(pane: PlotPane, across: float, upwards: float) -> QPoint:
    return pane.canvas.mapFromScene(pane.canvas.box.mapViewToScene(QPointF(across, upwards)))


def drag(qtbot: QtBot, pane: PlotPane, start: tuple[float, float], stop: tuple[float, float]) -> None:
    """Drag with the mouse between two positions of the picture."""
    port = pane.canvas.viewport()
    first, last = place_of(pane, *start), place_of(pane, *stop)
    qtbot.mouseMove(port, first)
    qtbot.mousePress(port, LEFT, pos=first)
    for part in (0.2, 0.5, 0.8, 1.0):
        qtbot.mouseMove(port, first + (last - first) * part)
        qtbot.wait(20)
    qtbot.mouseRelease(port, LEFT, pos=last)
    qtbot.wait(30)


def turn_on(qtbot: QtBot, pane: PlotPane) -> ProfileTool:
    qtbot.keyClick(pane.canvas, Qt.Key.Key_P)
    tool = pane.tools.profile()
    assert tool.is_on
    # The picture takes its new size.
    qtbot.wait(50)
    return tool


def numbers_of(tool: ProfileTool) -> list[float]:
    (line,) = tool.pane.chart.lines
    return line.numbers.tolist()


def child(pane: PlotPane, name: str) -> Any:
    found = pane.findChild(QWidget, name)
    assert found is not None, name
    return found


@pytest.mark.slow
def test_p_shows_the_values_along_a_line_and_takes_it_away(
    shown: MemoryDocument, pane: PlotPane, qtbot: QtBot
) -> None:
    before = len(shown.session.reads)
    tool = turn_on(qtbot, pane)
    qtbot.waitUntil(child(pane, "profileView").isVisible)
    assert tool.ends is not None
    (row, first), (_row, last) = tool.ends
    assert numbers_of(tool) == field()[0, row, first : last + 1].tolist()
    assert child(pane, "profileEndA").text() == f"A  {row}°N, {first}°E"
    # The slice after this one may be read ahead meanwhile.
    reads = [selection for path, selection in shown.session.reads[before:] if path == "/field"]
    assert [each for each in reads if 0 in each.axes[0]] == [], "nothing is read for it"
    qtbot.keyClick(pane.canvas, Qt.Key.Key_P)
    assert not child(pane, "profileView").isVisible()
    assert not tool.line.handles[0].isVisible()


@pytest.mark.slow
def test_handles_are_dragged(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    tool = turn_on(qtbot, pane)
    tool.set_ends((20, 10), (20, 50))
    view = pane.canvas.view()
    drag(qtbot, pane, (50, 20), (40, 30))
    assert tool.ends == ((20, 10), (30, 40))
    assert pane.canvas.view() == view, "the picture was not panned"
    qtbot.waitUntil(lambda: len(numbers_of(tool)) == 31)
    assert numbers_of(tool)[-1] == field()[0, 30, 40]
    assert "km" in child(pane, "profileReadout").text()
    drag(qtbot, pane, (10, 20), (40, 25))
    assert tool.ends == ((25, 40), (30, 40))
    qtbot.waitUntil(lambda: numbers_of(tool) == field()[0, 25:31, 40].tolist())
    drag(qtbot, pane, (30, 10), (35, 12))
    assert tool.ends == ((25, 40), (30, 40)), "beside the handles the picture is panned"


@pytest.mark.slow
def test_handles_are_moved_by_keys(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    tool = turn_on(qtbot, pane)
    tool.set_ends((20, 10), (20, 50))
    end = child(pane, "profileEndA")
    end.setFocus()
    assert end.hasFocus()
    qtbot.keyClick(end, Qt.Key.Key_Right)
    qtbot.keyClick(end, Qt.Key.Key_Up)
    assert tool.ends == ((21, 11), (20, 50)), "north is up"
    qtbot.keyClick(end, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(child(pane, "profileEndB"), Qt.Key.Key_Down)
    assert tool.ends == ((21, 1), (19, 50))
    for _ in range(3):
        qtbot.keyClick(end, Qt.Key.Key_Left)
    assert tool.ends[0] == (21, 0), "not beyond the picture"
    assert child(pane, "profileEndA").text().startswith("A  21°N, 0°")


@pytest.mark.slow
def test_it_follows_the_slider(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    tool = turn_on(qtbot, pane)
    tool.set_ends((5, 5), (5, 9))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: numbers_of(tool) == field()[1, 5, 5:10].tolist())
    assert tool.ends == ((5, 5), (5, 9))


@pytest.mark.slow
def test_gaps_and_what_failed(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    def prepare(document: MemoryDocument) -> None:
        fates = {(0, 0, 1): PartState.MISSING, (0, 0, 2): source_error()}
        document.session.fate = lambda path, coords: fates.get(coords, PartState.DONE)

    plotted(array("/field", field(), ("time", "y", "x"), (1, 20, 20)), prepare=prepare)
    tool = turn_on(qtbot, pane)
    tool.set_ends((5, 0), (5, 59))
    assert np.isfinite(numbers_of(tool)).tolist() == [True] * 20 + [False] * 40
    words = child(pane, "profileReadout").text()
    assert "20 in missing chunks" in words
    assert "20 could not be read" in words
    assert len(tool.pane.chart._marks.data) > 0
    tool.pane.chart.pointed.emit(45.0)
    assert "could not be read" in child(pane, "profileReadout").text()


@pytest.mark.slow
def test_it_fills_as_the_picture_does(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    def prepare(document: MemoryDocument) -> None:
        document.session.gate.clear()
        document.session.held = lambda path, coords: coords[-1] == 2

    document = plotted(array("/field", field(), ("time", "y", "x"), (1, 40, 20)), prepare=prepare, wait=False)
    qtbot.waitUntil(lambda: pane.picture() is not None and pane.picture().arrived == 2)  # type: ignore[union-attr]
    tool = turn_on(qtbot, pane)
    tool.set_ends((5, 0), (5, 59))
    qtbot.waitUntil(lambda: np.isfinite(numbers_of(tool)).sum() == 40)
    document.session.gate.set()
    qtbot.waitUntil(lambda: np.isfinite(numbers_of(tool)).all())


@pytest.mark.slow
def test_the_cursor_in_the_chart_marks_the_element(
    shown: MemoryDocument, pane: PlotPane, qtbot: QtBot
) -> None:
    tool = turn_on(qtbot, pane)
    tool.set_ends((5, 5), (5, 25))
    chart = child(pane, "profileView")
    chart.setFocus()
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert tool.line._mark.getData()[0].tolist() == [16]
    assert child(pane, "profileReadout").text() == "516 K   5°N, 16°E"
    place = chart.mapFromScene(chart.box.mapViewToScene(QPointF(8.2, 510)))
    qtbot.mouseMove(chart.viewport(), place)
    assert tool.line._mark.getData()[0].tolist() == [8]


@pytest.mark.slow
def test_rows_are_those_of_the_line(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    tool = turn_on(qtbot, pane)
    tool.set_ends((5, 5), (5, 7))
    rows = tool.rows()
    assert rows is not None
    assert list(rows)[1:] == [["5.0", "5.0", "505.0"], ["5.0", "6.0", "506.0"], ["5.0", "7.0", "507.0"]]


@pytest.mark.slow
def test_the_switch_in_the_header(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    button = pane.findChild(QToolButton, "profileButton")
    assert button is not None
    qtbot.mouseClick(button, LEFT)
    assert button.isChecked()
    assert pane.tools.is_profile
    qtbot.wait(50)
    qtbot.mouseClick(child(pane, "profileClose"), LEFT)
    assert not button.isChecked()
    assert not pane.tools.is_profile


@pytest.mark.slow
def test_there_is_none_of_a_line(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/series", np.arange(10.0), ("n",)))
    assert not pane.tools.can_profile
    qtbot.keyClick(pane.canvas, Qt.Key.Key_P)
    assert not pane.tools.is_profile


@pytest.mark.slow
def test_another_array_and_theme(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    other = array("/other", np.ones((7, 8)), ("a", "b"))
    document = plotted(array("/field", field(), ("time", "y", "x"), (1, 20, 20)), other)
    tool = turn_on(qtbot, pane)
    pane.set_array(document, other[0])  # type: ignore[arg-type]
    # While the other array is read there is no line.
    qtbot.waitUntil(lambda: [set(line.numbers) for line in tool.pane.chart.lines] == [{1.0}])
    assert len(numbers_of(tool)) < 9
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    theme.apply(application, theme.DARK)
    qtbot.wait(30)
    (line,) = tool.pane.chart.lines
    assert line.color == theme.DARK.accent
    theme.apply(application, theme.LIGHT)
    pane.clear()
    qtbot.waitUntil(lambda: tool.profile is None)
    assert document is not None
