"""Regions of a plot: drawn, dragged and typed; their statistics, series and losses below the picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QObject, QPoint, QPointF, Qt, Signal
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from region_grids import GridDocument

import refbrowser
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.regions.region_pane import RegionPane
from refbrowser.app.regions.region_tool import RegionTool
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.model.nodes import Hierarchy
from refbrowser.views.plot.series import SeriesCost
from refbrowser.views.regions.region import parsed_region

LEFT = Qt.MouseButton.LeftButton
LAT, LON = np.linspace(85, -85, 18), np.arange(0.0, 360.0, 10)
VALUES = np.random.default_rng(0).normal(280, 9, (4, 18, 36))


class OpenGrid(QObject):
    """What a plot pane uses of an opened document, of a grid in memory."""

    hierarchyChanged = Signal()

    def __init__(self, tasks: Tasks, grid: GridDocument) -> None:
        super().__init__()
        self.tasks = tasks
        self.dataset: Any = refbrowser.open(grid.document)

    @property
    def hierarchy(self) -> Hierarchy:
        return self.dataset.hierarchy

    def owner(self, what: str) -> str:
        return f"{what}:grid"


def grid_of(**more: Any) -> GridDocument:
    grid = GridDocument()
    grid.add_map(LAT, LON)
    grid.add("time", np.arange(4.0), ["time"], {"units": "days since 2001-01-01"})
    grid.add("a", VALUES, ["time", "lat", "lon"], {"units": "K"}, (1, 9, 36), **more)
    return grid


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    tasks = Tasks()
    yield tasks
    assert tasks.close()


@pytest.fixture
def pane(qtbot: QtBot) -> Iterator[PlotPane]:
    pane = PlotPane()
    qtbot.addWidget(pane)
    pane.resize(900, 700)
    pane.show()
    qtbot.waitExposed(pane)
    yield pane
    pane.clear()


Shown = Callable[..., RegionTool]


@pytest.fixture
def shown(qtbot: QtBot, tasks: Tasks, pane: PlotPane) -> Iterator[Shown]:
    """Plot the array of a grid, and show its region."""
    documents: list[OpenGrid] = []

    def show(grid: GridDocument | None = None) -> RegionTool:
        document = OpenGrid(tasks, grid or grid_of())
        documents.append(document)
        pane.set_array(document, document.dataset.array("/a").node)
        qtbot.waitUntil(pane.is_settled)
        pane.tools.toggle_region()
        tool: RegionTool = pane.tools.region()
        wait(qtbot, tool)
        return tool

    yield show
    pane.clear()
    for document in documents:
        document.dataset.close()


def wait(qtbot: QtBot, tool: RegionTool) -> None:
    """Wait until all regions are read, or ask."""
    qtbot.waitUntil(
        lambda: (
            not tool._timer.isActive()
            and not tool.reader.is_reading
            and all(each.is_current or each.is_asked for each in tool.regions)
        )
    )


def place(pane: PlotPane, row: float, column: float) -> QPoint:
    return pane.canvas.mapFromScene(pane.canvas.box.mapViewToScene(QPointF(column, row)))


def told(tool: RegionTool) -> dict[str, str]:
    """Return the table as it is read: the first region's values by name."""
    model = tool.pane.model
    rows = range(model.rowCount())
    return {model.data(model.index(row, 0)): model.data(model.index(row, 1)) for row in rows}


def enter(qtbot: QtBot, tool: RegionTool, text: str) -> None:
    tool.pane.text.setFocus()
    tool.pane.text.selectAll()
    qtbot.keyClicks(tool.pane.text, text)
    qtbot.keyClick(tool.pane.text, Qt.Key.Key_Return)
    wait(qtbot, tool)


def drag(qtbot: QtBot, pane: PlotPane, *corners: tuple[float, float]) -> None:
    view = pane.canvas.viewport()
    qtbot.mousePress(view, LEFT, pos=place(pane, *corners[0]))
    for corner in corners[1:]:
        qtbot.mouseMove(view, place(pane, *corner))
    qtbot.mouseRelease(view, LEFT, pos=place(pane, *corners[-1]))


def test_it_begins_with_a_rectangle_whose_values_are_told(shown: Shown) -> None:
    tool = shown()
    found = tool.regions[0].found
    assert found is not None
    assert found.valid == 8 * 16
    assert found.mean == pytest.approx(VALUES[0, 5:13, 10:26].mean())
    assert told(tool)["elements"] == "128"
    assert "Weighted by the cosine of latitude" in tool.pane.said.text()
    assert tool.pane.chart.lines
    assert tool.items._handles[0].isVisible()
    assert tool.items._shade.isVisible()


def test_a_rectangle_is_drawn_by_a_drag_and_its_corners_are_dragged(
    shown: Shown, pane: PlotPane, qtbot: QtBot
) -> None:
    tool = shown()
    qtbot.mouseClick(tool.pane.rectangle, LEFT)
    drag(qtbot, pane, (2.6, 3.6), (4, 6), (7.4, 9.4))
    wait(qtbot, tool)
    assert not tool.pane.rectangle.isChecked()
    assert tool.regions[0].found is not None
    assert tool.regions[0].found.mean == pytest.approx(VALUES[0, 3:8, 4:10].mean())
    tool.items._handles[2].setPos(12.4, 9.4)
    wait(qtbot, tool)
    assert tool.regions[0].found.mean == pytest.approx(VALUES[0, 3:10, 4:13].mean())


def test_a_polygon_is_drawn_by_clicks(shown: Shown, pane: PlotPane, qtbot: QtBot) -> None:
    tool = shown()
    qtbot.mouseClick(tool.pane.polygon, LEFT)
    view = pane.canvas.viewport()
    for corner in ((3, 3), (3, 12), (14, 30), (12, 3)):
        qtbot.mouseClick(view, LEFT, pos=place(pane, *corner))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Backspace)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Return)
    wait(qtbot, tool)
    assert str(tool.regions[0].region).startswith("polygon(3")
    assert tool.regions[0].found is not None
    assert 30 < tool.regions[0].found.valid < 70
    # Escape leaves it as it is.
    before = tool.regions[0].region
    qtbot.mouseClick(tool.pane.polygon, LEFT)
    qtbot.mouseClick(view, LEFT, pos=place(pane, 1, 1))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Escape)
    assert not tool.pencil.is_on
    assert tool.regions[0].region == before


def test_regions_are_typed_and_compared_as_series(shown: Shown, pane: PlotPane, qtbot: QtBot) -> None:
    tool = shown()
    enter(qtbot, tool, "lat 30..60, lon -10..30 and > 270")
    qtbot.mouseClick(tool.pane.add, LEFT)
    enter(qtbot, tool, "lat -60..-30")
    assert len(tool.regions) == 2
    tool.set_measure("mean")
    wait(qtbot, tool)
    assert tool.over == 0
    rows = (LAT >= 30) & (LAT <= 60)
    columns = (LON >= 350) | (LON <= 30)
    part = VALUES[:, rows][:, :, columns]
    weights = np.broadcast_to(np.cos(np.radians(LAT[rows]))[:, None], part.shape[1:])
    expected = [np.average(each[each > 270], weights=weights[each > 270]) for each in part]
    lines = tool.pane.chart.lines
    assert [len(line.numbers) for line in lines] == [4, 4]
    assert lines[0].numbers == pytest.approx(expected)
    table = [*(tool.rows() or ())]
    assert len(table) == 5
    assert table[0][1].endswith("lat 30..60 and lon -10..30 and > 270")
    assert float(table[1][1]) == pytest.approx(expected[0])
    # The line across the chart is the slider.
    tool.pane.chart.lineDragged.emit(float(lines[0].places[2]))
    assert pane.slice_state() is not None
    assert pane.slice_state().indices[0] == 2  # type: ignore[union-attr]
    # It is of all times: nothing is read again.
    assert all(each.is_current for each in tool.regions)


def test_what_is_no_region_is_told_below_the_field(shown: Shown, qtbot: QtBot) -> None:
    tool = shown()
    enter(qtbot, tool, "lat")
    assert not tool.pane._fault.isHidden()
    enter(qtbot, tool, "depth 3..4")
    assert tool.pane._fault.isHidden()
    assert "no coordinate" in tool.pane.hint.text()


def test_the_slider_takes_the_region_along(shown: Shown, pane: PlotPane, qtbot: QtBot) -> None:
    tool = shown()
    enter(qtbot, tool, "lat 0..90")
    pane.set_index(0, 3)
    qtbot.waitUntil(lambda: tool.regions[0].found is not None and tool.regions[0].found.selection == "3,:,:")
    assert tool.regions[0].found is not None
    assert tool.regions[0].found.mean == pytest.approx(VALUES[3, :9].mean())


def test_lost_chunks_are_counted_and_told(shown: Shown, qtbot: QtBot) -> None:
    tool = shown(grid_of(failed=[(0, 0, 0)]))
    enter(qtbot, tool, "lat -90..90")
    assert told(tool)["could not be read"].replace("\N{NARROW NO-BREAK SPACE}", "") == "324"
    assert "324 elements could not be read" in tool.pane.said.text()
    assert tool.regions[0].found is not None
    assert tool.regions[0].found.valid == 324


def test_what_is_costly_is_asked_about(shown: Shown, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = shown()
    monkeypatch.setattr(SeriesCost, "asks", property(lambda cost: True))
    tool.set_region(parsed_region("lat 0..90"))
    wait(qtbot, tool)
    assert tool.pane.question.text().startswith("Reads")
    assert tool.regions[0].found is None or tool.regions[0].found.valid == 128
    qtbot.mouseClick(tool.pane.findChild(QWidget, "regionLeaveButton"), LEFT)
    assert tool.pane.question.text() == ""
    tool.set_region(parsed_region("lat 0..80"))
    wait(qtbot, tool)
    qtbot.mouseClick(tool.pane.findChild(QWidget, "regionReadButton"), LEFT)
    wait(qtbot, tool)
    assert tool.regions[0].found is not None
    assert tool.regions[0].found.valid == 8 * 36


def test_another_region_can_be_taken_away(shown: Shown, qtbot: QtBot) -> None:
    tool = shown()
    qtbot.mouseClick(tool.pane.add, LEFT)
    enter(qtbot, tool, "> 290")
    assert tool.chosen == 1
    assert tool.pane.which.isVisible()
    qtbot.mouseClick(tool.pane.remove, LEFT)
    wait(qtbot, tool)
    assert len(tool.regions) == 1
    assert not tool.pane.which.isVisible()
    # The last one goes as well, and another is typed in its place.
    qtbot.mouseClick(tool.pane.remove, LEFT)
    wait(qtbot, tool)
    assert tool.regions == []
    assert tool.rows() is None
    enter(qtbot, tool, "lat 0..90")
    assert len(tool.regions) == 1
    tool.pane.closeRequested.emit()
    assert not tool.pane.isVisible()
    assert not any(line.isVisible() for pair in tool.items._lines for line in pair)


def test_a_profile_goes_through_corners_and_as_the_earth_is_round(
    shown: Shown, pane: PlotPane, qtbot: QtBot
) -> None:
    shown()
    pane.tools.toggle_region()
    pane.tools.toggle_profile()
    tool = pane.tools.profile()
    # What has just come is laid out.
    qtbot.wait(30)
    qtbot.mouseClick(tool.pane.way, LEFT)
    for corner in ((2, 2), (2, 20), (12, 20)):
        qtbot.mouseClick(pane.canvas.viewport(), LEFT, pos=place(pane, *corner))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Return)
    assert tool.corners == ((2, 2), (2, 20), (12, 20))
    assert tool.profile is not None
    assert tool.profile.numbers.tolist() == [*VALUES[0, 2, 2:21], *VALUES[0, 3:13, 20]]
    assert tool.profile.units == "km"
    # A corner between the ends is dragged as they are.
    tool.line._between[0].setPos(20, 4)
    assert tool.corners[1] == (4, 20)
    tool.set_ends((2, 0), (2, 18))
    assert tool.pane.circle.isVisible()
    qtbot.mouseClick(tool.pane.circle, LEFT)
    assert tool.profile is not None
    assert tool.profile.rows.min() == 0
    assert tool.profile.length == pytest.approx(6371.0088 * np.radians(50), rel=1e-3)


def test_all_elements_of_a_line_over_a_thinned_picture_are_read_on_request(
    shown: Shown, pane: PlotPane, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refbrowser.views.plot.plan._most", lambda state: 200)
    shown()
    pane.tools.toggle_region()
    pane.tools.toggle_profile()
    tool = pane.tools.profile()
    # What has just come is laid out.
    qtbot.wait(30)
    tool.set_ends((3, 0), (3, 35))
    assert tool.profile is not None
    assert len(tool.profile) < 36
    assert tool.pane.full.isVisible()
    qtbot.mouseClick(tool.pane.full, LEFT)
    qtbot.waitUntil(lambda: tool.profile is not None and len(tool.profile) == 36)
    assert tool.profile.numbers.tolist() == VALUES[0, tool.profile.rows[0]].tolist()


def test_other_quantiles_are_told(shown: Shown, qtbot: QtBot) -> None:
    tool = shown()
    tool.pane.resize(800, 300)
    tool.pane.quantiles.setText("10, 90")
    qtbot.keyClick(tool.pane.quantiles, Qt.Key.Key_Return)
    wait(qtbot, tool)
    assert tool.regions[0].found is not None
    expected = np.quantile(VALUES[0, 5:13, 10:26], [0.1, 0.9])
    assert [each.value for each in tool.regions[0].found.quantiles] == pytest.approx(expected.tolist())
    assert "90 %" in told(tool)
    tool.pane.quantiles.setText("much")
    qtbot.keyClick(tool.pane.quantiles, Qt.Key.Key_Return)
    assert not tool.pane._fault.isHidden()


def test_a_line_has_regions_too(shown: Shown, pane: PlotPane, qtbot: QtBot, tasks: Tasks) -> None:
    document = OpenGrid(tasks, grid_of())
    pane.set_array(document, document.dataset.array("/time").node)
    qtbot.waitUntil(pane.is_settled)
    pane.tools.toggle_region()
    tool = pane.tools.region()
    wait(qtbot, tool)
    enter(qtbot, tool, "time@1:3")
    assert tool.regions[0].found is not None
    assert tool.regions[0].found.mean == 1.5
    pane.clear()
    document.dataset.close()


def test_a_state_of_the_plot_has_its_regions(shown: Shown, pane: PlotPane, qtbot: QtBot) -> None:
    tool = shown()
    enter(qtbot, tool, "lat 0..90 and > 270")
    tool.set_measure("maximum")
    wait(qtbot, tool)
    state, source = pane.state(), pane.source()
    assert state is not None
    assert source is not None
    assert state.regions == ("lat 0..90 and > 270",)
    assert (state.region_over, state.region_measure) == ("time", "maximum")
    tool.set_on(False)
    assert pane.state() is not None
    assert pane.state().regions == ()  # type: ignore[union-attr]
    pane.restore(source, state)
    qtbot.waitUntil(pane.is_settled)
    wait(qtbot, tool)
    assert tool.is_on
    assert pane.state() == state
    assert tool.pane.chart.lines[0].numbers == pytest.approx(VALUES[:, :9].max(axis=(1, 2)))


def test_what_was_not_read_whole_says_so_where_it_is_taken_along(shown: Shown, qtbot: QtBot) -> None:
    tool = shown()
    found = tool.regions[0].found
    assert found is not None
    tool.regions[0].found = replace(found, is_whole=False)
    assert next(iter(tool.rows() or ()))[1].endswith("(not all was read)")


def test_tab_goes_through_the_pane_and_leaves_it(qtbot: QtBot) -> None:
    pane = RegionPane()
    qtbot.addWidget(pane)
    assert not pane.table.tabKeyNavigation(), "no keyboard is kept in it"
    wanted = [pane.rectangle, pane.copy, pane.close_, pane.text, pane.python, pane.table]
    found, widget = [pane.rectangle], pane.rectangle.nextInFocusChain()
    while widget is not pane.rectangle:
        found += [widget] if widget in wanted else []
        widget = widget.nextInFocusChain()
    assert found == wanted
