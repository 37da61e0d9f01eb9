"""Images in several resolutions in the window: opened, zoomed into, explained, their levels in the tree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from multiscale_stores import EAST, METRES, NORTH, write_geozarr, write_ome
from pytestqt.qtbot import QtBot

from refbrowser.app.commands.links import LinkCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.chunk_map_pane import ChunkMapPane
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.plot.presenter import IDLE
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.tools.explain.window.commands import ExplainCommands

pytestmark = pytest.mark.slow

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


@pytest.fixture
def shown(window: MainWindow, qtbot: QtBot, settle: Settle) -> Callable[[Path, str], PlotPane]:
    """Open a store and plot an array of it; returns the plot once nothing is done any more."""

    def show(path: Path, array: str) -> PlotPane:
        window.open_path(str(path), array)
        qtbot.waitUntil(lambda: window.centre.plot is not None and window.centre.plot.array() is not None)
        settle()
        qtbot.wait(IDLE + 20)
        settle()
        assert window.centre.plot is not None
        return window.centre.plot

    return show


def level(plot: PlotPane) -> str:
    node = plot.array()
    return "" if node is None else node.path


def selected(window: MainWindow) -> object:
    item = window.hierarchy.current_item()
    return None if item is None else item.place


def zoom(plot: PlotPane, qtbot: QtBot, settle: Settle, low: float, high: float) -> None:
    plot.canvas.show_range((low, high), (low, high))
    qtbot.wait(IDLE + 20)
    settle()


def test_a_click_on_a_level_selects_its_array_and_the_view_stays(
    window: MainWindow, shown: Callable[[Path, str], PlotPane], tmp_path: Path, qtbot: QtBot, settle: Settle
) -> None:
    plot = shown(write_geozarr(tmp_path / "scene.zarr", size=1024), "/r10m/red")
    assert level(plot) != "/r10m/red"
    assert selected(window) == "/r10m/red"
    coarse = level(plot)
    plot.canvas.clicked.emit(10.0, 20.0)
    settle()
    assert selected(window) == coarse
    assert window.centre.references.current_key() == f"{coarse[1:]}/c/0/0"
    assert plot.header.level.currentIndex() == 0
    node = plot.array()
    assert node is not None
    zoom(plot, qtbot, settle, 10, 30)
    assert level(plot) == "/r10m/red"
    # The map of chunks is that of the level that is shown.
    chunks = window.findChild(ChunkMapPane)
    document = plot.source()
    assert chunks is not None
    assert document is not None
    assert chunks.shows(document, "/r10m/red")  # type: ignore[arg-type]


def test_an_element_is_explained_where_it_is(
    window: MainWindow, shown: Callable[[Path, str], PlotPane], tmp_path: Path, qtbot: QtBot, settle: Settle
) -> None:
    plot = shown(write_ome(tmp_path / "cells.zarr", size=1024), "/0")
    zoom(plot, qtbot, settle, 10, 30)
    assert level(plot) == "/0"
    plot.point_at((40, 50))
    commands = window.groups[ExplainCommands]
    index = plot.element()
    assert index == (0, 40, 50)
    assert commands._raise_and_ask(index)
    settle()
    qtbot.waitUntil(lambda: commands.pane.explanation() is not None)
    explanation = commands.pane.explanation()
    assert explanation is not None
    step = explanation.step("element")
    assert step is not None
    assert [(line.name, line.text) for line in step.lines] == [
        ("Array", "/0"),
        ("c", "0 of 2 (DAPI)"),
        ("y", "40 of 1024 (10 micrometer)"),
        ("x", "50 of 1024 (12.5 micrometer)"),
    ]


def test_a_link_leads_to_a_level_or_to_the_one_that_fills_the_view(
    window: MainWindow, shown: Callable[[Path, str], PlotPane], tmp_path: Path, qtbot: QtBot, settle: Settle
) -> None:
    path = write_ome(tmp_path / "cells.zarr", size=1024)
    plot = shown(path, "/0")
    coarse = level(plot)
    assert coarse != "/0"
    link = window.groups[LinkCommands]._link_to(window.documents.all()[0])
    assert (link.node, link.selection) == (coarse, "0,:,:")
    # A part of a level stays one of it.
    window.actions_["close_document"].trigger()
    window.open_path(str(path), "/0", selection="1,10:30,10:30")
    qtbot.waitUntil(lambda: level(plot) == "/0")
    settle()
    qtbot.wait(IDLE + 20)
    settle()
    assert level(plot) == "/0"
    assert plot.selection_text().startswith("1,")
    rows, columns = (tuple(map(int, part.split(":"))) for part in plot.selection_text().split(",")[1:])
    assert rows[0] <= 10 < 30 <= rows[1] < 300
    assert columns[0] <= 10 < 30 <= columns[1] < 300
    # So it is where another level was on the screen.
    plot.reset_view()
    qtbot.waitUntil(lambda: level(plot) == coarse or plot.header.level.currentIndex() > 0)
    plot.header.level.setCurrentIndex(0)
    plot.header.level.activated.emit(0)
    qtbot.waitUntil(lambda: level(plot) == coarse)
    settle()
    window.open_path(str(path), "/0", selection="0,10:30,10:30")
    qtbot.waitUntil(lambda: level(plot) == "/0")
    settle()
    assert plot.selection_text().startswith("0,")
    # All of a slice is shown on the level that fills the view, held at the same place.
    window.actions_["close_document"].trigger()
    window.open_path(str(path), "/0", selection="1,:,:")
    qtbot.waitUntil(lambda: level(plot) == coarse)
    settle()
    assert plot.selection_text() == "1,:,:"


def test_overviews_of_a_tiff_are_levels(
    window: MainWindow, shown: Callable[[Path, str], PlotPane], tmp_path: Path, qtbot: QtBot, settle: Settle
) -> None:
    values = np.add.outer(np.arange(1024), np.arange(1024)).astype("u2")
    scale = (33550, "d", 3, (METRES, METRES, 0.0), True)
    tie = (33922, "d", 6, (0.0, 0.0, 0.0, EAST, NORTH, 0.0), True)
    keys = (34735, "H", 16, (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633), True)
    with tifffile.TiffWriter(tmp_path / "scene.tif") as file:
        file.write(values, subifds=2, extratags=[scale, tie, keys], tile=(128, 128))
        for step in (2, 4):
            file.write(values[::step, ::step], subfiletype=1, tile=(128, 128))
    plot = shown(tmp_path / "scene.tif", "/image")
    coarse = level(plot)
    assert coarse != "/image"
    assert plot.header.level.currentText().startswith("auto (overview_")
    before = plot.coordinates()[1]
    factor = 1024 / before.size
    assert before.values is not None
    assert before.values[0] == EAST + METRES * factor / 2
    zoom(plot, qtbot, settle, 10, 30)
    assert level(plot) == "/image"
    # The same part of the ground, in coordinates that the finer level has of its own.
    values_now = plot.coordinates()[1].values
    assert values_now is not None
    assert values_now[0] == EAST + METRES / 2
    (low, high), _, _ = plot.canvas.view()
    assert low == pytest.approx(factor * 10.5 - 0.5, abs=2 * factor)
    assert high == pytest.approx(factor * 30.5 - 0.5, abs=2 * factor)


def test_a_coarser_array_in_the_tree_is_held(
    window: MainWindow, shown: Callable[[Path, str], PlotPane], tmp_path: Path, settle: Settle
) -> None:
    plot = shown(write_geozarr(tmp_path / "scene.zarr", size=1024), "/r10m/red")
    document = window.documents.current
    assert document is not None
    window.navigation.go_to_node(document, "/r80m/red")
    settle()
    assert level(plot) == "/r80m/red"
    assert plot.header.level.currentText() == "r80m: 128 × 128"
    values = plot.coordinates()[1].values
    assert values is not None
    assert values[1] - values[0] == 8 * METRES


def test_what_is_wrong_is_a_problem(opened: Open, tmp_path: Path, qtbot: QtBot, settle: Settle) -> None:
    path = write_ome(tmp_path / "cells.zarr", size=128, count=2)
    told = json.loads((path / ".zattrs").read_text())
    told["multiscales"][0]["datasets"][1]["path"] = "third"
    (path / ".zattrs").write_text(json.dumps(told))
    document = opened(path)
    settle()
    qtbot.waitUntil(
        lambda: any("is 'third', where" in each.message for each in document.findings.found.items)
    )
