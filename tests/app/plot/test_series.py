"""Series: a click shows the values of an element along a slider's dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plot_memory import MemoryDocument, array, blocked_error, source_error
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QComboBox, QWidget
from pytestqt.qtbot import QtBot

from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.plot.series import SeriesTool
from refbrowser.engine.reading.parts import PartState

Plotted = Callable[..., MemoryDocument]
TIMES, LEVELS, ROWS, COLUMNS = 12, 3, 20, 30
LEFT, SHIFT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


def field() -> np.ndarray:
    t, z, y, x = np.mgrid[0:TIMES, 0:LEVELS, 0:ROWS, 0:COLUMNS]
    return (1e6 * z + 1000.0 * t + 100 * y + x).astype("f8")


DAYS = array("/time", np.arange(TIMES) * 10.0, ("time",), units="days since 2003-01-01")


def the_array(**attributes: Any) -> Any:
    chunks = (1, 1, 10, 10)
    return array("/field", field(), ("time", "level", "y", "x"), chunks, units="K", **attributes)


@pytest.fixture
def shown(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> MemoryDocument:
    document = plotted(the_array(), DAYS)
    pane.set_index(0, 3)
    qtbot.waitUntil(pane.is_settled)
    pane.tools.toggle_series()
    return document


def child(pane: PlotPane, name: str) -> Any:
    found = pane.findChild(QWidget, name)
    assert found is not None, name
    return found


def place_of(pane: PlotPane, row: int, column: int) -> QPoint:
    return pane.canvas.mapFromScene(pane.canvas.box.mapViewToScene(QPointF(column, row)))


def click(qtbot: QtBot, pane: PlotPane, row: int, column: int, modifier: Any = NONE) -> SeriesTool:
    qtbot.mouseClick(pane.canvas.viewport(), LEFT, modifier, place_of(pane, row, column))
    return pane.tools.series()


def press(qtbot: QtBot, pane: PlotPane, name: str) -> None:
    """Press a button, once a strip that has just come is laid out."""
    qtbot.wait(30)
    qtbot.mouseClick(child(pane, name), LEFT)


def numbers_of(tool: SeriesTool) -> list[list[float]]:
    return [line.numbers.tolist() for line in tool.pane.chart.lines]


def along(row: int, column: int, level: int = 0) -> list[float]:
    return field()[:, level, row, column].tolist()


def series_reads(document: MemoryDocument) -> list[Any]:
    return [
        selection
        for path, selection in document.session.reads
        if path == "/field" and selection.shape == (TIMES,)
    ]


@pytest.mark.slow
def test_a_click_shows_the_values_along_the_slider(
    shown: MemoryDocument, pane: PlotPane, qtbot: QtBot
) -> None:
    tool = click(qtbot, pane, 5, 7)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    assert numbers_of(tool) == [along(5, 7)]
    assert len(series_reads(shown)) == 1, "one plan"
    chart = child(pane, "seriesView")
    qtbot.waitUntil(lambda: any("2003" in text for text in chart.across.tick_texts()) or not chart.grab())
    assert chart.line_place() == 30, "where the slider is"
    assert child(pane, "seriesPlace0").text() == "y 5, x 7, level 0"
    assert "2003-01-31" in child(pane, "seriesReadout").text()
    assert "values in K" in child(pane, "seriesReadout").text()
    assert child(pane, "seriesValue0").text() == "3507"


@pytest.mark.slow
def test_a_plain_click_reads_nothing_while_it_is_off(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(the_array(), DAYS)
    click(qtbot, pane, 5, 7)
    qtbot.wait(50)
    assert not series_reads(document)
    assert pane.findChild(QWidget, "seriesView") is None or not pane.tools.is_series


@pytest.mark.slow
def test_shift_and_click_keeps_points(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    tool = click(qtbot, pane, 5, 7)
    click(qtbot, pane, 15, 22, SHIFT)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    assert numbers_of(tool) == [along(5, 7), along(15, 22)]
    looks = {(line.color, line.symbol) for line in tool.pane.chart.lines}
    assert len({color for color, _ in looks}) == len({symbol for _, symbol in looks}) == 2
    assert tool.spots.getData()[0].tolist() == [7, 22]
    for number in range(8):
        click(qtbot, pane, 2, number, SHIFT)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    assert numbers_of(tool) == [along(2, number) for number in range(2, 8)], "the newest six"
    assert len({line.symbol for line in tool.pane.chart.lines}) == 6
    click(qtbot, pane, 9, 9)
    qtbot.waitUntil(lambda: numbers_of(tool) == [along(9, 9)])
    assert tool.spots.getData()[0].tolist() == [9]


@pytest.mark.slow
def test_points_are_taken_away(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    tool = click(qtbot, pane, 5, 7)
    click(qtbot, pane, 15, 22, SHIFT)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    press(qtbot, pane, "seriesRemove0")
    assert numbers_of(tool) == [along(15, 22)]
    assert child(pane, "seriesRemove0").accessibleName() == "Take away y 15, x 22, level 0"
    press(qtbot, pane, "seriesClear")
    assert numbers_of(tool) == []
    assert "Click an element" in child(pane, "seriesHint").text()


@pytest.mark.slow
def test_s_shows_the_series_at_the_cursor(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(the_array(), DAYS)
    pane.point_at((4, 6))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_S)
    tool = pane.tools.series()
    assert tool.is_on
    tool.set_dimension(0)
    qtbot.waitUntil(lambda: numbers_of(tool) == [along(4, 6)])
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Right, SHIFT)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_S, SHIFT)
    qtbot.waitUntil(lambda: numbers_of(tool) == [along(4, 6), along(4, 7)])
    qtbot.keyClick(pane.canvas, Qt.Key.Key_S)
    qtbot.waitUntil(lambda: numbers_of(tool) == [along(4, 7)])


@pytest.mark.slow
def test_the_line_moves_the_slider_and_follows_it(
    shown: MemoryDocument, pane: PlotPane, qtbot: QtBot
) -> None:
    tool = click(qtbot, pane, 5, 7)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    chart = child(pane, "seriesView")
    qtbot.wait(30)

    def at(place: float) -> QPoint:
        low, high = chart.box.viewRange()[1]
        return chart.mapFromScene(chart.box.mapViewToScene(QPointF(place, (low + high) / 2)))

    port = chart.viewport()
    qtbot.mouseMove(port, at(30))
    qtbot.mousePress(port, LEFT, pos=at(30))
    for place in (40, 60, 82):
        qtbot.mouseMove(port, at(place))
        qtbot.wait(20)
    qtbot.mouseRelease(port, LEFT, pos=at(82))
    state = pane.slice_state()
    assert state is not None
    assert state.indices[0] == 8
    assert child(pane, "slider_time").value() == 8
    assert child(pane, "seriesValue0").text() == "8507", "under the pointer"
    chart.pointed.emit(None)
    pane.set_index(0, 2)
    qtbot.waitUntil(lambda: chart.line_place() == 20)
    assert child(pane, "seriesValue0").text() == "2507"
    assert len(series_reads(shown)) == 1, "the series is not read again"


@pytest.mark.slow
def test_another_slider(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    tool = click(qtbot, pane, 5, 7)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    combo = pane.findChild(QComboBox, "seriesAxisCombo")
    assert combo is not None
    assert [combo.itemText(row) for row in range(combo.count())] == ["time", "level"]
    assert combo.currentText() == "time"
    combo.setCurrentIndex(1)
    combo.activated.emit(1)
    qtbot.waitUntil(lambda: numbers_of(tool) == [field()[3, :, 5, 7].tolist()])
    assert child(pane, "seriesPlace0").text() == "y 5, x 7, 2003-01-31"


@pytest.mark.slow
def test_gaps_and_failures_are_marked(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    fates = {2: PartState.MISSING, 5: source_error()}
    shown.session.fate = lambda path, coords: fates.get(coords[0], PartState.DONE)
    tool = click(qtbot, pane, 5, 7)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    (found,) = numbers_of(tool)
    assert np.isnan(found).nonzero()[0].tolist() == [2, 5]
    words = child(pane, "seriesReadout").text()
    assert "1 chunk missing" in words
    assert "1 chunk could not be read" in words
    assert tool.pane.chart._marks.getData()[0].tolist() == [50], "where it failed"
    assert "the server answered 404" in child(pane, "seriesValue0").toolTip()
    rows = tool.rows()
    assert rows is not None
    cells = [row[1] for row in rows]
    assert cells[0] == "field at y 5, x 7, level 0 [K]"
    assert (cells[3], cells[4], cells[6]) == ("", "3507.0", "")


@pytest.mark.slow
def test_it_fills_and_is_cancelled(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    shown.session.held = lambda path, coords: coords[0] >= 4
    shown.session.gate.clear()
    tool = click(qtbot, pane, 5, 7)
    qtbot.waitUntil(lambda: bool(numbers_of(tool)) and np.isfinite(numbers_of(tool)[0]).sum() == 4)
    cancel = child(pane, "seriesCancelButton")
    assert cancel.isVisible()
    assert child(pane, "seriesReadout").text() == "reading: 4 of 12 chunks"
    qtbot.mouseClick(cancel, LEFT)
    assert not tool.reader.is_reading
    assert not cancel.isVisible()
    shown.session.gate.set()
    qtbot.wait(50)
    assert np.isfinite(numbers_of(tool)[0]).sum() == 4, "what came stays"
    click(qtbot, pane, 5, 7)
    qtbot.waitUntil(lambda: numbers_of(tool) == [along(5, 7)])


def long_document(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> MemoryDocument:
    values = np.arange(365.0)[:, None, None] + np.zeros((1, 10, 10))

    def prepare(document: MemoryDocument) -> None:
        document.session.url = "https://example.invalid/a"

    document = plotted(array("/long", values, ("time", "y", "x"), (1, 5, 10)), prepare=prepare)
    pane.tools.toggle_series()
    return document


def read_counts(document: MemoryDocument) -> int:
    return sum(selection.shape == (365,) for _path, selection in document.session.reads)


@pytest.mark.slow
def test_many_chunks_over_the_network_are_asked_about(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = long_document(plotted, pane, qtbot)
    tool = click(qtbot, pane, 2, 3)
    qtbot.waitUntil(lambda: bool(tool.pane.question.text()))
    assert tool.pane.question.text() == "Reads 365 chunks, 365 kB, over the network."
    assert read_counts(document) == 0
    assert child(pane, "seriesValue0").text() == "not read"
    press(qtbot, pane, "seriesLeaveButton")
    assert tool.points == []
    click(qtbot, pane, 2, 3)
    qtbot.waitUntil(lambda: bool(tool.pane.question.text()))
    press(qtbot, pane, "seriesReadButton")
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    assert numbers_of(tool) == [np.arange(365.0).tolist()]
    assert not child(pane, "seriesQuestion").isVisible()
    click(qtbot, pane, 4, 4, SHIFT)
    qtbot.waitUntil(lambda: len(numbers_of(tool)) == 2 and not tool.reader.is_reading)
    assert not tool.pane.question.text(), "it is in the chunks that were read"
    assert numbers_of(tool)[1] == np.arange(365.0).tolist()
    click(qtbot, pane, 7, 4, SHIFT)
    qtbot.waitUntil(lambda: bool(tool.pane.question.text()))


@pytest.mark.slow
def test_cancelled_in_the_list_of_jobs(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    shown.session.gate.clear()
    tool = click(qtbot, pane, 5, 7)
    click(qtbot, pane, 6, 7, SHIFT)
    assert tool.reader._handle is not None
    shown.tasks.cancel(tool.reader._handle.number)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    assert child(pane, "seriesValue0").text() == "not read"
    shown.session.gate.set()


@pytest.mark.slow
def test_other_axes_and_arrays_forget_the_points(
    shown: MemoryDocument, pane: PlotPane, plotted: Plotted, qtbot: QtBot
) -> None:
    tool = click(qtbot, pane, 5, 7)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    pane.set_index(1, 2)
    assert len(tool.points) == 1
    assert tool.spots.getData()[0].tolist() == [], "it lies on another slice"
    pane.header.yChosen.emit(0)
    assert tool.points == []
    plotted(array("/flat", np.ones((5, 6)), ("y", "x")))
    assert "this view has no slider" in child(pane, "seriesHint").text()
    assert pane.findChild(QWidget, "seriesAxisCombo").isHidden()  # type: ignore[union-attr]


@pytest.mark.slow
def test_an_edit_reads_again_what_it_changes(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    tool = click(qtbot, pane, 5, 7)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    count = len(series_reads(shown))
    node, _values = the_array(comment="another attribute")
    shown.set_nodes({"field": node, "time": DAYS[0]})
    shown.hierarchyChanged.emit()
    qtbot.waitUntil(pane.is_settled)
    assert len(series_reads(shown)) == count
    node, _values = the_array()
    node.manifest.place = 7
    shown.session.values["/field"] = field() + 1
    shown.set_nodes({"field": node, "time": DAYS[0]})
    shown.hierarchyChanged.emit()
    qtbot.waitUntil(lambda: numbers_of(tool) == [[value + 1 for value in along(5, 7)]])


@pytest.mark.slow
def test_a_permission_reads_what_was_blocked(shown: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    shown.session.fate = lambda path, coords: blocked_error()
    tool = click(qtbot, pane, 5, 7)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    assert child(pane, "seriesValue0").text() == "failed"
    shown.session.fate = lambda path, coords: PartState.DONE
    node, _values = the_array()
    shown.set_nodes({"field": node, "time": DAYS[0]})
    shown.hierarchyChanged.emit()
    qtbot.waitUntil(lambda: numbers_of(tool) == [along(5, 7)])


@pytest.mark.slow
def test_off_it_reads_nothing_and_on_again_it_shows_the_points(
    shown: MemoryDocument, pane: PlotPane, qtbot: QtBot
) -> None:
    tool = click(qtbot, pane, 5, 7)
    qtbot.waitUntil(lambda: not tool.reader.is_reading)
    press(qtbot, pane, "seriesClose")
    assert not child(pane, "seriesPane").isVisible()
    assert tool.spots.getData()[0].tolist() == []
    count = len(shown.session.reads)
    click(qtbot, pane, 8, 8)
    qtbot.wait(50)
    assert len(shown.session.reads) == count
    press(qtbot, pane, "seriesButton")
    assert numbers_of(tool) == [along(5, 7)]
    assert child(pane, "seriesView").isVisible()
