"""What is drawn looks like what it is, to scale or said so, and stays in sight."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from plot_memory import MemoryDocument, array, source_error
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QSlider
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.engine.reading.parts import PartState
from refbrowser.model.cf import FlagSet
from refbrowser.views.maps.layouts import ChosenProjection
from refbrowser.views.plot.picture import ChunkState

Plotted = Callable[..., MemoryDocument]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, -1])
@pytest.mark.parametrize("columns", [1, -1])
def test_a_map_on_coordinates_of_its_elements_has_north_up(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, rows: int, columns: int
) -> None:
    latitude, longitude = np.meshgrid(
        np.linspace(-60, 60, 13)[::rows], np.arange(170, 190.0)[::columns], indexing="ij"
    )
    plotted(
        array("/thetao", latitude, ("y", "x"), coordinates="nav_lat nav_lon"),
        array("/nav_lat", latitude + 0.1 * longitude, ("y", "x"), units="degrees_north"),
        # Across the date line.
        array(
            "/nav_lon",
            np.where(longitude > 180, longitude - 360, longitude),
            ("y", "x"),
            units="degrees_east",
        ),
    )
    # It lies on the Earth until the user wants it as it is stored.
    qtbot.waitUntil(lambda: not pane._presenter.drawing.kind.is_indexed)
    pane.look().set_projection(ChosenProjection())
    box = pane.canvas.box
    qtbot.waitUntil(lambda: box.yInverted() == (rows < 0) and box.xInverted() == (columns < 0))
    # As other maps, with one scale.
    qtbot.waitUntil(lambda: pane.look().options.aspect)
    assert pane.canvas.box.state["aspectLocked"] == 1.0
    # Its axes are honest, and say where latitude and longitude are.
    assert (pane.canvas.across.labelText, pane.canvas.upwards.labelText) == ("x index", "y index")
    assert "axes are indices: point at an element to read its nav_lat and nav_lon" in pane.legend.note.text()
    said: list[str] = []
    pane.elementHovered.connect(said.append)
    pane.point_at((0, 0))
    assert re.search(r"nav_lat .*°.*nav_lon .*°[EW]", said[-1])
    # What is no map is a matrix: its first row is at the top.
    plotted(array("/field", latitude, ("row", "column")))
    qtbot.waitUntil(lambda: box.yInverted() and not box.xInverted())
    assert not pane.look().options.aspect


def overlap(pane: PlotPane, across: tuple[float, float], upwards: tuple[float, float]) -> float:
    """Return which part of the view, or of what is drawn where that is smaller, is both."""
    parts = []
    for seen, content in zip(pane.canvas.view()[:2], (across, upwards), strict=True):
        both = min(seen[1], content[1]) - max(seen[0], content[0])
        parts.append(both / min(seen[1] - seen[0], content[1] - content[0]))
    return min(parts)


@pytest.mark.slow
@pytest.mark.parametrize("aspect", [False, True])
@pytest.mark.parametrize("zoom", [1.0, 0.1, 3.0])
def test_a_picture_cannot_be_dragged_away(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, aspect: bool, zoom: float
) -> None:
    plotted(array("/field", np.add.outer(np.arange(40.0), np.arange(60.0)), ("y", "x")))
    pane.look().set_aspect(aspect)
    whole = pane.canvas.view()
    pane.canvas.box.scaleBy((zoom, zoom))
    for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1)):
        for _ in range(6):
            pane.canvas.box.translateBy(x=x * 50.0, y=y * 50.0)
            assert overlap(pane, (-0.5, 59.5), (-0.5, 39.5)) > 0.19
    assert pane.canvas.hint.isVisible() or not aspect, "without proportions the view stays inside anyway"
    qtbot.keyClick(pane.canvas, Qt.Key.Key_R)
    assert not pane.canvas.hint.isVisible()
    assert pane.canvas.view()[:2] == (pytest.approx(whole[0]), pytest.approx(whole[1]))


def test_a_line_cannot_be_dragged_away(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/temp", np.array([9.0, 8, 6, 3, 1]), ("depth",)))
    for y in (1, -1):
        for _ in range(6):
            pane.canvas.box.translateBy(x=0, y=y * 40.0)
        low, high = pane.canvas.view()[1]
        assert low < 9
        assert high > 1
        assert pane.canvas.hint.isVisible()
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Home)
    assert pane.canvas.view()[1][0] < 1


LEVELS = np.array([1000.0, 850, 500, 250, 100])
HEIGHTS = {"pressure": ({"units": "hPa"}, True), "height": ({"units": "m", "positive": "up"}, False)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HEIGHTS)
def test_lines_over_levels_are_upright(plotted: Plotted, pane: PlotPane, qtbot: QtBot, kind: str) -> None:
    attributes, grows_down = HEIGHTS[kind]
    values = np.array([290.0, 280, 260, 230, 210])
    mean = array("/mean", values, ("lev",), (2,), long_name="Temperature", units="K")

    def lose(document: MemoryDocument) -> None:
        lost = source_error()
        document.session.fate = lambda path, at: lost if (path, at) == ("/mean", (1,)) else PartState.DONE

    plotted(mean, array("/lev", LEVELS, ("lev",), **attributes), prepare=lose)
    canvas = pane.canvas
    x, y = canvas.line.item.getData()
    assert dict(zip(y.tolist(), x.tolist(), strict=True))[850] == 280
    assert canvas.box.yInverted() == grows_down
    assert canvas.across.labelText == "Temperature [K]"
    assert canvas.upwards.labelText == f"lev [{attributes['units']}]"
    # What could not be read is a band across the chart, at its levels.
    boxes = canvas.states.boxes(ChunkState.FAILED)
    assert boxes.tolist() == [[1, 2, 0, 1]]
    # The pointer and the keys move along the levels.
    canvas.pointed.emit(281.0, 845.0)
    assert pane.element() == (1,)
    canvas.setFocus()
    up = Qt.Key.Key_Up
    qtbot.keyClick(canvas, up, Qt.KeyboardModifier.ShiftModifier)
    assert pane.element() == ((2,) if grows_down else (0,))
    # All of it is seen, and it cannot be dragged away.
    low, high = canvas.view()[1]
    assert low < 100
    assert high > 1000
    for _ in range(6):
        canvas.box.translateBy(x=0, y=900.0)
        canvas.box.translateBy(x=90, y=0)
    across, upwards = canvas.view()[:2]
    assert upwards[0] < 1000
    assert across[0] < 290


@pytest.mark.slow
def test_charts_over_levels_are_upright(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    values = np.add.outer(LEVELS / 10, np.zeros((6, 8))) + np.arange(8.0)
    plotted(
        array("/ta", values, ("lev", "y", "x"), units="K"),
        array("/lev", LEVELS, ("lev",), units="hPa"),
    )
    pane.tools.series_here()
    qtbot.waitUntil(pane.is_settled)
    series = pane.tools.series()
    chart = series.pane.chart
    qtbot.waitUntil(lambda: len(chart.lines) == 1 and np.isfinite(chart.lines[0].numbers).all())
    assert chart.is_upright
    assert chart.box.yInverted()
    column = pane.settle_cursor()[-1]  # type: ignore[index]
    x, y = chart._items[0][0].getData()
    assert dict(zip(y.tolist(), x.tolist(), strict=True)) == {
        level: level / 10 + column for level in LEVELS.tolist()
    }
    (left, right), (low, high) = chart.box.viewRange()
    assert left < x.min() < x.max() < right
    assert low < 100 < 1000 < high
    assert chart.upwards.labelText.endswith("[hPa]")
    assert chart.across.labelText == "K"
    # Up is up, where the axis grows downwards.
    chart.set_cursor(850.0)
    qtbot.keyClick(chart, Qt.Key.Key_Up)
    assert chart.place == 500
    qtbot.keyClick(chart, Qt.Key.Key_Down)
    assert chart.place == 850
    # Its line is that of the slider.
    chart.lineDragged.emit(240.0)
    assert pane.slice_state().indices[0] == 3  # type: ignore[union-attr]
    assert chart.line_place() == 250
    # A profile along the levels as well, one along a row is not.
    qtbot.waitUntil(pane.is_settled)
    pane._presenter.choose_y(0)
    qtbot.waitUntil(pane.is_settled)
    pane.tools.toggle_profile()
    tool = pane.tools.profile()
    tool.set_ends((0, 3), (4, 3))
    assert tool.pane.chart.is_upright
    tool.set_ends((2, 0), (2, 7))
    assert not tool.pane.chart.is_upright
    assert not tool.pane.chart.box.yInverted()
    assert tool.pane.chart.box.viewRange()[0] == pytest.approx([-0.14, 7.14])


@pytest.mark.slow
def test_complex_numbers_say_what_is_drawn_of_them(
    window: MainWindow, opened: Open, settle: Callable[[], None], tmp_path: Path
) -> None:
    values = (np.arange(12.0).reshape(3, 4) * (1 - 2j)).astype(">c8")
    metadata = {
        ".zgroup": '{"zarr_format": 2}',
        "sar/.zarray": json.dumps(
            {
                "zarr_format": 2,
                "shape": [3, 4],
                "chunks": [3, 4],
                "dtype": ">c8",
                "compressor": None,
                "filters": None,
                "fill_value": None,
                "order": "C",
            }
        ),
        "sar/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "V"}),
        "sar/0.0": "base64:" + b64encode(values.tobytes()).decode(),
    }
    path = tmp_path / "complex.json"
    path.write_text(json.dumps({"version": 1, "refs": metadata}), encoding="utf-8")
    document = opened(path)
    window.hierarchy.select_node(document, "/sar")
    settle()
    plot = window.centre.plot
    assert plot is not None
    box, title = plot.header.part, plot.header.title
    assert title.text() == "sar: magnitude"
    names = ["magnitude", "phase", "real", "imaginary"]
    assert [box.itemText(row) for row in range(box.count())] == names
    for name, expected, units, colours in (
        ("phase", np.angle(values), "rad", "Cyclic"),
        ("real", values.real, "V", "Blue–red"),
        ("imaginary", values.imag, "V", "Blue–red"),
    ):
        box.activated.emit(names.index(name))
        settle()
        picture = plot.picture()
        assert picture is not None
        assert picture.values.dtype == np.dtype("f4")
        np.testing.assert_allclose(picture.values, expected, rtol=1e-6)
        assert title.text() == f"sar: {name}"
        assert plot.header.map.currentText() == colours
        assert plot._presenter.subject.shown.units == units
        # So do the table and what is written of it.
        assert plot.tabled() is plot.array()
        assert box.currentText() == name


@pytest.mark.slow
def test_projected_axes_are_not_called_indices(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    latitude, longitude = np.meshgrid(np.linspace(40, 60, 4), np.linspace(0, 20, 5), indexing="ij")
    plotted(
        array("/t", latitude, ("y", "x"), coordinates="lat lon"),
        array("/lat", latitude, ("y", "x"), units="degrees_north"),
        array("/lon", longitude, ("y", "x"), units="degrees_east"),
        array("/y", np.arange(4) * 3000.0, ("y",), units="m", standard_name="projection_y_coordinate"),
        array("/x", np.arange(5) * 3000.0, ("x",), units="m", standard_name="projection_x_coordinate"),
    )
    pane.look().set_projection(ChosenProjection())
    told = "point at an element to read its lat and lon"
    qtbot.waitUntil(lambda: pane.legend.note.text() == told)


@pytest.mark.slow
def test_an_axis_that_is_not_to_scale_is_told(plotted: Plotted, pane: PlotPane) -> None:
    field = np.arange(20.0).reshape(5, 4)
    levels = array("/plev", np.array([1000.0, 850, 500, 100, 10]), ("plev",), units="hPa")
    plotted(array("/ta", field, ("plev", "x")), levels)
    assert "plev is not to scale" in pane.legend.note.text()
    plotted(array("/ta", field, ("y", "x")), array("/y", np.arange(5.0), ("y",)))
    assert "scale" not in pane.legend.note.text()


@pytest.mark.slow
def test_time_is_stepped_and_charted_first(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(
        array("/ta", np.arange(120.0).reshape(3, 2, 4, 5), ("time", "plev", "lat", "lon")),
        array("/time", np.arange(3.0), ("time",), units="days since 2000-01-01"),
        array("/plev", np.array([1000.0, 500]), ("plev",), units="hPa"),
        array("/lat", np.arange(4.0), ("lat",), units="degrees_north"),
        array("/lon", np.arange(5.0), ("lon",), units="degrees_east"),
    )
    assert pane._presenter.stepped == 0
    pane.set_index(1, 1)
    pane.tools.series_here()
    qtbot.waitUntil(pane.is_settled)
    assert pane.tools.series().dimension == 0, "though the other slider was moved last"


@pytest.mark.slow
def test_the_groove_takes_the_handle_along(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/ta", np.zeros((101, 4, 5)), ("time", "y", "x")))
    slider = pane.sliders.findChild(QSlider)
    assert slider is not None
    high = slider.height() // 2
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() // 2, high))
    assert abs(slider.value() - 50) <= 2
    qtbot.mouseMove(slider, QPoint(slider.width() * 3 // 4, high))
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() * 3 // 4, high))
    assert abs(slider.value() - 75) <= 3


@pytest.mark.slow
def test_flags_leave_the_map_its_room(plotted: Plotted, pane: PlotPane) -> None:
    values = (np.arange(20).reshape(4, 5) % 2).astype("i1")
    flags = {"flag_values": [0, 1], "flag_meanings": "land sea"}
    plotted(array("/lsm", values, ("y", "x"), **flags))
    assert pane.flags.isVisible()
    short = pane.flags.width()
    assert short <= 140
    assert isinstance(pane.flags._flags, FlagSet)
    long = {"flag_values": [0, 1], "flag_meanings": "cloudy_without_any_rain_or_snow_or_hail_at_all clear"}
    plotted(array("/cloud", values, ("y", "x"), **long))
    assert short < pane.flags.width() <= 216


@pytest.mark.slow
def test_a_button_without_a_plot_is_not_shown(plotted: Plotted, pane: PlotPane) -> None:
    plotted(array("/ta", np.zeros((3, 4, 5)), ("time", "y", "x")))
    pane.tools.toggle_series()
    assert pane.header.series.isVisible()
    pane.clear()
    assert not pane.header.series.isVisible()
    assert any("Nothing to plot yet" in label.text() for label in pane.cards.findChildren(QLabel))
