"""July minus January of two files: a linked map, a series, a figure, a film, and a session to a colleague."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel
from PySide6.QtWidgets import QCheckBox
from pytestqt.qtbot import QtBot
from window_fixtures import Open, button

from refbrowser.app.commands.sessions import SessionCommands
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.tools.figure.window.figure_sheet import FigureSheet
from refbrowser.tools.figure.window.film_sheet import FilmSheet
from refbrowser.views.arrangement.arrangement import Side
from refbrowser.views.maps.layouts import ChosenProjection

LAT, LON = np.arange(-85.0, 90, 10), np.arange(5.0, 360, 10)


def field(month: int) -> np.ndarray:
    """Return four weeks of a temperature that the sun follows."""
    north = np.sin(np.radians(LAT))[:, None] * (1 if month == 7 else -1)
    week = np.arange(4.0)[:, None, None]
    return (280 + 15 * north + week + np.cos(np.radians(LON))).astype("<f4")


def write_month(path: Path, month: int) -> Path:
    """Write references to a month, with all data in the document."""
    refs: dict[str, str] = {".zgroup": '{"zarr_format": 2}'}

    def add(name: str, values: np.ndarray, dimensions: list[str], **attributes: str) -> None:
        about = {
            "zarr_format": 2, "shape": list(values.shape), "chunks": list(values.shape),
            "dtype": values.dtype.str, "compressor": None, "filters": None, "fill_value": None, "order": "C",
        }  # fmt: skip
        refs[f"{name}/.zarray"] = json.dumps(about)
        refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dimensions, **attributes})
        key = f"{name}/" + ".".join("0" * values.ndim)
        refs[key] = f"base64:{base64.b64encode(values.tobytes()).decode()}"

    add("time", 7 * np.arange(4, dtype="<i4"), ["time"], units=f"days since 2024-{month:02d}-01")
    add("lat", LAT.astype("<f8"), ["lat"], units="degrees_north", standard_name="latitude")
    add("lon", LON.astype("<f8"), ["lon"], units="degrees_east", standard_name="longitude")
    add("t2m", field(month), ["time", "lat", "lon"], units="K", standard_name="air_temperature")
    path.write_text(json.dumps(refs, indent=1))
    return path


@pytest.mark.slow
def test_from_two_months_to_a_colleague(
    window: MainWindow, opened: Open, settle: Callable[[], None], qtbot: QtBot, tmp_path: Path
) -> None:
    # A document with a spare comma opens as text, and one click mends it.
    mine = tmp_path / "mine"
    mine.mkdir()
    january, july = (
        write_month(mine / f"{name}.json", month) for name, month in (("january", 1), ("july", 7))
    )
    sound = july.read_text()
    july.write_text(sound.replace("\n}", ",\n}"))
    documents = [opened(january), opened(july)]
    settle()
    button(window, "mendingFixButton").click()
    settle()
    window.actions_["save"].trigger()
    settle()
    assert json.loads(july.read_text()) == json.loads(sound)

    # July minus January: their times differ, which the sheet says, and the tree has January first.
    second, first = (window.hierarchy.model.find_node(each, "/t2m") for each in documents)
    window.hierarchy.select_index(second)
    selection = window.hierarchy.tree.selectionModel()
    selection.setCurrentIndex(first, QItemSelectionModel.SelectionFlag.Select)
    window.actions_["difference_of_two"].trigger()
    settle()
    button(window, "pairExchangeButton").click()
    by_position = window.findChild(QCheckBox, "pairByPosition")
    assert by_position is not None
    qtbot.waitUntil(by_position.isVisible)
    by_position.setChecked(True)
    qtbot.waitUntil(button(window, "pairButton").isEnabled)
    button(window, "pairButton").click()
    qtbot.waitUntil(lambda: len(window.documents.all()) == 3)
    settle()
    difference = window.documents.current
    assert difference is not None
    node = f"/{difference.name}"
    window.hierarchy.select_node(difference, node)
    settle()
    (plot,) = window.centre.plots()
    plot.look().set_projection(ChosenProjection("robinson"))
    settle()
    assert "coastlines" in plot.look().options.overlaid

    # Both beside it, linked: one slider moves all.
    views = window.centre.views
    assert views is not None
    for document in documents:
        views.open(Side.RIGHT)
        window.hierarchy.select_node(document, "/t2m")
        settle()
    window.actions_["link_views"].trigger()
    views.activate(plot)
    plot.set_index(0, 2)
    settle()
    assert [each.slice_state().indices[0] for each in window.centre.plots()] == [2, 2, 2]

    # The mean over a region as a series.
    window.actions_["toggle_region"].trigger()
    region = plot.tools._region
    region.pane.text.setText("lat 30..60, lon -10..30")
    region.pane.text.returnPressed.emit()
    region.set_measure("mean")
    qtbot.waitUntil(lambda: not region.reader.is_reading and len(region.pane.chart.lines) == 1)
    rows, columns = (LAT >= 30) & (LAT <= 60), (LON >= 350) | (LON <= 30)
    part = (field(7) - field(1))[:, rows][:, :, columns].mean(axis=2)
    expected = np.average(part, axis=1, weights=np.cos(np.radians(LAT[rows])))
    qtbot.waitUntil(lambda: np.isfinite(region.pane.chart.lines[0].numbers).all())
    assert region.pane.chart.lines[0].numbers == pytest.approx(expected, rel=1e-5)

    # A figure for the paper, and a film for the talk.
    window.actions_["export_figure"].trigger()
    figure = window.findChild(FigureSheet)
    assert figure is not None
    qtbot.waitUntil(lambda: figure.drawing is not None)
    figure.write(str(tmp_path / "paper.pdf"))
    settle()
    assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF")
    window.actions_["export_film"].trigger()
    film = window.findChild(FilmSheet)
    assert film is not None
    qtbot.waitUntil(button(film, "filmExportButton").isEnabled)
    film.order(str(tmp_path / "talk.gif"))
    qtbot.waitUntil((tmp_path / "talk.gif").exists, timeout=20_000)
    settle()

    # A colleague sees the same.
    group, session = window.groups[SessionCommands], mine / "months.refbrowser"
    before = [(each.state().node, each.state().projection) for each in window.centre.plots()]
    group.write(str(session))
    settle()
    for document in window.documents.all():
        window.documents.close(document)
    settle()
    shutil.move(mine, tmp_path / "theirs")
    group.open_from(str(tmp_path / "theirs" / session.name))
    qtbot.waitUntil(lambda: len(window.documents.all()) == 3 and len(window.centre.plots()) == 3)
    settle()
    assert [(each.state().node, each.state().projection) for each in window.centre.plots()] == before
    assert [each.slice_state().indices[0] for each in window.centre.plots()] == [2, 2, 2]
