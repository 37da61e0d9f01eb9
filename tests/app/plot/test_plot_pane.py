"""The plot pane as a user sees it: what is on the screen for each kind of array, slice and state."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from plot_memory import MemoryDocument, MemoryManifest, PartState, array, blocked_error, source_error
from PySide6.QtCore import QElapsedTimer, QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QAction, QColor, QImage, QPalette
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QPushButton, QSlider, QSpinBox, QToolButton
from pytestqt.qtbot import QtBot

from refbrowser.app.plot import colour_bar as colour_maps
from refbrowser.app.plot.legends import state_colors
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.app.widgets import theme
from refbrowser.errors import ChangedError, ErrorKind, Place, RefbrowserError
from refbrowser.views.plot.colouring import NO_VALUE
from refbrowser.views.plot.levels import Levels, levels_of
from refbrowser.views.plot.picture import ChunkState

Plotted = Callable[..., MemoryDocument]


def child(pane: PlotPane, kind: type, name: str) -> Any:
    found = pane.findChild(kind, name)
    assert found is not None, name
    return found


def shown_image(pane: PlotPane) -> QImage:
    QApplication.processEvents()
    return pane.canvas.grab().toImage()


def pixel(pane: PlotPane, image: QImage, across: float, upwards: float) -> QColor:
    """Return the colour on the screen at a position of the plot."""
    place = pane.canvas.mapFromScene(pane.canvas.box.mapViewToScene(QPointF(across, upwards)))
    ratio = image.devicePixelRatio()
    return image.pixelColor(round(place.x() * ratio), round(place.y() * ratio))


def near(colour: QColor, wanted: Any, tolerance: int = 3) -> bool:
    red, green, blue = (
        (wanted.red(), wanted.green(), wanted.blue()) if isinstance(wanted, QColor) else wanted[:3]
    )
    pairs = ((colour.red(), red), (colour.green(), green), (colour.blue(), blue))
    return all(abs(int(a) - int(b)) <= tolerance for a, b in pairs)


def ramp(rows: int, columns: int) -> np.ndarray:
    return np.add.outer(np.arange(rows), np.arange(columns)).astype(np.float32)


def hover(pane: PlotPane, across: float, upwards: float) -> str:
    pane.canvas.pointed.emit(across, upwards)
    return pane.status.text()


# Lines, images, sliders


def test_a_line_shows_its_values_over_the_coordinate(plotted: Plotted, pane: PlotPane) -> None:
    depth = np.array([0.0, 10.0, 30.0, 100.0, 300.0])
    plotted(
        array("/temp", np.array([9, 8, 6, 3, 1], np.float32), ("depth",), (2,), units="degC"),
        array("/depth", depth, ("depth",), units="m"),
    )
    x, y = pane.canvas.line.item.getData()
    assert x.tolist() == depth.tolist()
    assert y.tolist() == [9, 8, 6, 3, 1]
    assert pane.canvas.across.labelText == "depth [m]"
    assert pane.canvas.upwards.labelText == "temp [degC]"
    assert not pane.bar.isVisible()
    low, high = pane.canvas.view()[1]
    assert low < 1
    assert high > 9


def test_an_image_has_the_colours_of_its_values(plotted: Plotted, pane: PlotPane) -> None:
    plotted(array("/field", ramp(40, 60), ("y", "x"), (20, 20)))
    levels = pane._presenter.drawing.keeper.levels
    assert levels is not None
    image = shown_image(pane)
    table = colour_maps.table("Viridis")
    for row, column in ((3, 3), (20, 30), (35, 55), (10, 50)):
        part = (row + column - levels.low) / (levels.high - levels.low)
        wanted = table[int(np.clip(part * 255, 0, 254))]
        assert near(pixel(pane, image, column, row), wanted), (row, column)


def test_the_picture_agrees_with_one_made_by_hand(plotted: Plotted, pane: PlotPane) -> None:
    """Every cell of a whole image, north up, against the picture that the levels and the table give."""
    rows, columns = 30, 40
    values = np.sin(np.linspace(0, 3, rows))[:, None] * np.cos(np.linspace(0, 4, columns))[None]
    plotted(
        array("/field", values, ("lat", "lon"), (7, 9)),
        array("/lat", np.linspace(-60, 60, rows), ("lat",), units="degrees_north"),
        array("/lon", np.linspace(0, 90, columns), ("lon",), units="degrees_east"),
    )
    pane.look().set_overlay("coastlines", False)
    levels = pane._presenter.drawing.keeper.levels
    assert levels is not None
    scaled = (values - levels.low) / (levels.high - levels.low) * 255
    wanted = colour_maps.table("Viridis")[np.clip(scaled, 0, 254).astype(int)][..., :3].astype(int)
    image = shown_image(pane)
    got = np.array(
        [[pixel(pane, image, column, row).getRgb()[:3] for column in range(columns)] for row in range(rows)]
    )
    assert np.abs(got - wanted).max() <= 3
    top = pane.canvas.box.mapViewToScene(QPointF(0, rows - 1)).y()
    bottom = pane.canvas.box.mapViewToScene(QPointF(0, 0)).y()
    assert top < bottom, "north is up"


@pytest.mark.parametrize("step", [1, -1])
def test_north_is_up_whichever_way_latitudes_run(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, step: int
) -> None:
    latitudes = np.linspace(-60, 60, 13)[::step]
    values = np.repeat(latitudes[:, None], 5, axis=1)
    plotted(
        array("/field", values, ("lat", "lon")),
        array("/lat", latitudes, ("lat",), units="degrees_north"),
        array("/lon", np.arange(5.0), ("lon",), units="degrees_east"),
    )
    north = int(np.argmax(latitudes))
    scene = pane.canvas.box.mapViewToScene
    qtbot.waitUntil(lambda: "60°N" in pane.canvas.upwards.tick_texts())
    assert scene(QPointF(2, north)).y() < scene(QPointF(2, 12 - north)).y()


def test_depth_grows_downwards(plotted: Plotted, pane: PlotPane) -> None:
    plotted(
        array("/field", ramp(6, 9), ("depth", "x")),
        array("/depth", np.arange(6.0) * 100, ("depth",), units="m", positive="down"),
    )
    scene = pane.canvas.box.mapViewToScene
    assert scene(QPointF(0, 0)).y() < scene(QPointF(0, 5)).y()


def test_latitude_and_longitude_are_the_axes_wherever_they_stand(plotted: Plotted, pane: PlotPane) -> None:
    values = np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6)
    plotted(
        array("/field", values, ("lat", "lon", "time")),
        array("/lat", np.arange(4.0), ("lat",), units="degrees_north"),
        array("/lon", np.arange(5.0), ("lon",), units="degrees_east"),
    )
    state = pane.slice_state()
    assert state is not None
    assert (state.y, state.x, state.sliders) == (0, 1, (2,))
    picture = pane.picture()
    assert picture is not None
    np.testing.assert_array_equal(picture.values, values[:, :, 0])


def test_sliders_move_through_a_four_dimensional_array(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    values = np.random.default_rng(0).normal(size=(3, 4, 8, 9)).astype(np.float32)
    plotted(
        array("/field", values, ("time", "level", "y", "x"), (1, 2, 8, 9)),
        array("/time", np.array([0, 31, 59]), ("time",), units="days since 2003-01-01", calendar="noleap"),
        array("/level", np.array([200, 500, 850, 1000]), ("level",), units="millibars"),
    )
    assert pane.sliders.row_text(0) == "2003-01-01"
    assert pane.sliders.row_text(1) == "200 millibars"
    child(pane, QSlider, "slider_time").setValue(2)
    child(pane, QSpinBox, "index_level").setValue(3)
    qtbot.waitUntil(pane.is_settled)
    assert pane.sliders.row_text(0) == "2003-03-01"
    assert pane.sliders.row_text(1) == "1000 millibars"
    assert child(pane, QSpinBox, "index_time").value() == 2
    picture = pane.picture()
    assert picture is not None
    np.testing.assert_array_equal(picture.values, values[2, 3])
    assert pane.header.slice_label.text() == "[2, 3, :, :]"


@pytest.mark.slow
def test_other_axes_can_be_chosen_and_one_axis_gives_a_line(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    values = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
    plotted(array("/field", values, ("a", "b", "c"), (2, 2, 2)))
    x, y = child(pane, QComboBox, "xAxisCombo"), child(pane, QComboBox, "yAxisCombo")
    assert (x.currentText(), y.currentText()) == ("c", "b")
    x.activated.emit(0)
    qtbot.waitUntil(pane.is_settled)
    picture = pane.picture()
    assert picture is not None
    np.testing.assert_array_equal(picture.values, values[:, :, 0].T)
    y.activated.emit(0)
    qtbot.waitUntil(pane.is_settled)
    state = pane.slice_state()
    assert state is not None
    assert (state.x, state.y) == (1, 0), "choosing the other axis exchanges the two"
    y.activated.emit(3)
    qtbot.waitUntil(pane.is_settled)
    picture = pane.picture()
    assert picture is not None
    np.testing.assert_array_equal(picture.values, values[0, :, 0])
    assert not pane.bar.isVisible()


def test_the_slice_stays_for_an_array_of_the_same_dimensions(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    values = ramp(6, 20).reshape(3, 2, 20)
    document = plotted(
        array("/u", values, ("time", "y", "x"), (1, 2, 20)),
        array("/v", -values, ("time", "y", "x"), (1, 2, 20)),
    )
    pane.sliders.step(0, 2)
    qtbot.waitUntil(pane.is_settled)
    pane.set_array(document, document.node("v"))  # type: ignore[arg-type]
    qtbot.waitUntil(pane.is_settled)
    picture = pane.picture()
    assert picture is not None
    np.testing.assert_array_equal(picture.values, -values[2])


# Chunk states


def held_field(document: MemoryDocument) -> None:
    """Chunk 0.1 is missing, 1.0 fails, 1.1 does not come."""

    def fate(_path: str, coords: tuple[int, ...]) -> Any:
        return {(0, 1): PartState.MISSING, (1, 0): source_error("field/1.0")}.get(coords, PartState.DONE)

    document.session.fate = fate
    document.session.held = lambda _path, coords: coords == (1, 1)
    document.session.gate.clear()


def test_pending_missing_and_failed_chunks_look_different(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    document = plotted(
        array("/field", ramp(40, 60) + 5, ("y", "x"), (20, 30), fill_value=-1.0),
        prepare=held_field,
        wait=False,
    )
    qtbot.waitUntil(lambda: pane.picture() is not None and pane.picture().arrived == 3)  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: bool(len(pane.canvas.states.boxes(ChunkState.FAILED))))
    qtbot.waitUntil(lambda: pane.canvas.image.indices.size > 0)
    assert pane.canvas.image.indices[:20, :30].max() < NO_VALUE
    for rows, columns in ((slice(0, 20), slice(30, 60)), (slice(20, 40), slice(0, 60))):
        assert (pane.canvas.image.indices[rows, columns] == NO_VALUE).all(), "never shown as data"
    assert pane.canvas.states.boxes(ChunkState.MISSING).tolist() == [[0, 1, 1, 2]]
    assert pane.canvas.states.boxes(ChunkState.FAILED).tolist() == [[1, 2, 0, 1]]
    assert pane.canvas.states.boxes(ChunkState.PENDING).tolist() == [[1, 2, 1, 2]]
    assert pane.legend.shown_states() == {ChunkState.PENDING, ChunkState.MISSING, ChunkState.FAILED}
    image = shown_image(pane)
    colours = {}
    for state, (column, row) in {
        ChunkState.MISSING: (45, 10),
        ChunkState.FAILED: (6, 37),
        ChunkState.PENDING: (45, 30),
    }.items():
        ground, mark = state_colors(state)
        patch = [
            pixel(pane, image, column + dx, row + dy) for dx in (0, 0.2, 0.4, 0.6) for dy in (0, 0.3, 0.6)
        ]
        between = [near(colour, ground, 60) or near(colour, mark, 60) for colour in patch]
        assert all(between), state
        colours[state] = tuple(np.mean([colour.getRgb()[:3] for colour in patch], axis=0).astype(int))
    for one, other in (
        (ChunkState.MISSING, ChunkState.FAILED),
        (ChunkState.MISSING, ChunkState.PENDING),
        (ChunkState.FAILED, ChunkState.PENDING),
    ):
        assert max(abs(a - b) for a, b in zip(colours[one], colours[other], strict=True)) > 20
    document.session.gate.set()
    qtbot.waitUntil(pane.is_settled)
    assert pane.legend.shown_states() == {ChunkState.MISSING, ChunkState.FAILED}
    assert "missing chunk, reads as" in hover(pane, 45, 10)
    assert "could not be read: the server answered 404" in hover(pane, 10, 30)


def test_failed_chunks_can_be_tried_again(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(
        array("/field", ramp(40, 60), ("y", "x"), (20, 30)),
        prepare=lambda document: setattr(
            document.session,
            "fate",
            lambda path, coords: source_error() if coords == (0, 0) else PartState.DONE,
        ),
    )
    button = child(pane, QToolButton, "plotRetryButton")
    assert button.isVisible()
    document.session.fate = lambda path, coords: PartState.DONE
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: pane.is_settled() and not pane.legend.isVisible())
    assert pane.picture().all_done  # type: ignore[union-attr]


def test_bands_mark_the_chunks_of_a_line(plotted: Plotted, pane: PlotPane) -> None:
    plotted(
        array("/series", np.arange(100, dtype=np.float32), ("time",), (20,)),
        prepare=lambda document: setattr(
            document.session,
            "fate",
            lambda path, coords: {(3,): PartState.MISSING}.get(coords, PartState.DONE),
        ),
    )
    assert pane.canvas.states.boxes(ChunkState.MISSING).tolist() == [[0, 1, 3, 4]]
    assert np.isnan(pane.canvas.line.numbers[60:80]).all()
    assert not np.isnan(pane.canvas.line.numbers[:60]).any()
    low, high = pane.canvas.view()[1]
    image = shown_image(pane)
    assert near(pixel(pane, image, 72.3, low + 0.8 * (high - low)), state_colors(ChunkState.MISSING)[0], 40)


# Levels


def test_levels_do_not_jump_while_chunks_arrive(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    values = np.random.default_rng(0).uniform(0, 100, (60, 60)).astype(np.float32)
    values[40:, 40:] += 15
    allowed: set[tuple[int, ...]] = {(0, 0)}

    def prepare(document: MemoryDocument) -> None:
        document.session.held = lambda _path, coords: coords not in allowed
        document.session.gate.clear()

    document = plotted(array("/field", values, ("y", "x"), (20, 20)), prepare=prepare, wait=False)
    keeper = pane._presenter.drawing.keeper
    qtbot.waitUntil(lambda: keeper.levels is not None)
    first = keeper.levels
    seen = set()
    for coords in [(row, column) for row in range(3) for column in range(3)][1:-1]:
        allowed.add(coords)
        wanted = len(allowed)
        qtbot.waitUntil(lambda wanted=wanted: pane.picture().arrived >= wanted)  # type: ignore[union-attr, misc]
        qtbot.wait(40)
        seen.add(keeper.levels)
    assert seen == {first}
    document.session.gate.set()
    qtbot.waitUntil(pane.is_settled)
    # Their ends are called percentiles: at the end they are those of the whole picture, whatever came first.
    assert keeper.levels == levels_of(values)


def test_levels_stay_from_slice_to_slice_and_follow_only_far_away(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    field = np.random.default_rng(0).normal(size=(50, 50)).astype(np.float32)
    plotted(array("/field", np.stack([field, field * 1.02, field + 1000]), ("time", "y", "x"), (1, 50, 50)))
    keeper = pane._presenter.drawing.keeper
    first = keeper.levels
    assert first is not None
    pane.sliders.step(0, 1)
    qtbot.waitUntil(pane.is_settled)
    assert keeper.levels == first
    pane.sliders.step(0, 1)
    qtbot.waitUntil(pane.is_settled)
    assert keeper.levels is not None
    assert keeper.levels.low > 900


def test_levels_of_the_user_stay_until_auto(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    field = ramp(50, 50)
    plotted(array("/field", np.stack([field, field + 1000]), ("time", "y", "x"), (1, 50, 50)))
    lower, upper = child(pane, QLineEdit, "lowerLevel"), child(pane, QLineEdit, "upperLevel")
    for field_widget, text in ((lower, "10"), (upper, "20")):
        field_widget.selectAll()
        qtbot.keyClicks(field_widget, text)
        qtbot.keyClick(field_widget, Qt.Key.Key_Return)
    keeper = pane._presenter.drawing.keeper
    assert keeper.levels is not None
    assert (keeper.levels.low, keeper.levels.high) == (10, 20)
    pane.sliders.step(0, 1)
    qtbot.waitUntil(pane.is_settled)
    assert (keeper.levels.low, keeper.levels.high) == (10, 20)
    qtbot.mouseClick(child(pane, QPushButton, "autoLevelsButton"), Qt.MouseButton.LeftButton)
    assert keeper.levels.low >= 1000
    assert float(upper.text()) == pytest.approx(keeper.levels.high, rel=1e-4)


def test_levels_that_make_no_sense_are_taken_back(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/field", ramp(50, 50), ("y", "x")))
    before = pane._presenter.drawing.keeper.levels
    upper = child(pane, QLineEdit, "upperLevel")
    text = upper.text()
    upper.selectAll()
    qtbot.keyClicks(upper, "-1000")
    qtbot.keyClick(upper, Qt.Key.Key_Return)
    assert pane._presenter.drawing.keeper.levels == before
    assert upper.text() == text


def test_a_diverging_map_is_centred_on_zero(plotted: Plotted, pane: PlotPane) -> None:
    plotted(array("/wind", ramp(50, 50) - 20, ("y", "x")))
    pane.header.map.setCurrentText("Blue–red")
    pane.header.map.activated.emit(pane.header.map.currentIndex())
    levels = pane._presenter.drawing.keeper.levels
    assert levels is not None
    assert levels.low == -levels.high


# Pointing


def test_the_element_under_the_pointer_is_told(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(
        array("/field", ramp(13, 24), ("lat", "lon"), (10, 10), units="K"),
        array("/lat", np.linspace(-60, 60, 13), ("lat",), units="degrees_north"),
        array("/lon", np.arange(24) * 15.0, ("lon",), units="degrees_east"),
    )
    with qtbot.waitSignal(pane.elementHovered) as told:
        pane.canvas.pointed.emit(11.4, 1.6)
    text = told.args[0]
    assert "lat 40°S [2]" in text
    assert "lon 165°E [11]" in text
    assert "13 K" in text
    assert "chunk field/0.1" in text
    assert hover(pane, -3, 2) == ""
    pane.canvas.pointed.emit(None, None)
    assert pane.status.text() == ""


def test_the_mouse_points_and_clicks(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/field", ramp(20, 20), ("y", "x"), (10, 10)))
    place = pane.canvas.mapFromScene(pane.canvas.box.mapViewToScene(QPointF(15, 5)))
    qtbot.mouseMove(pane.canvas.viewport(), QPoint(1, 1))
    qtbot.mouseMove(pane.canvas.viewport(), place)
    qtbot.waitUntil(lambda: "chunk field/0.1" in pane.status.text())
    with qtbot.waitSignal(pane.chunkActivated) as clicked:
        qtbot.mouseClick(pane.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert clicked.args == ["field/0.1"]


def test_the_keyboard_moves_a_cursor_over_the_values(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/field", ramp(21, 21), ("y", "x"), (7, 7)))
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Right, shift)
    assert "y [10]   x [10]" in pane.status.text()
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Right, shift)
    assert "y [10]   x [11]" in pane.status.text()
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Up, shift)
    assert "y [9]   x [11]" in pane.status.text(), "up on the screen; row 0 is at the top"
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Escape)
    assert pane.status.text() == ""


def test_keys_step_sliders_maps_and_reset(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/field", np.zeros((3, 4, 5, 6), np.float32), ("a", "b", "y", "x"), (1, 1, 5, 6)))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Right)
    assert pane.slice_state().indices[:2] == (0, 1)  # type: ignore[union-attr]
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Right)
    assert pane.slice_state().indices[:2] == (1, 1)  # type: ignore[union-attr]
    qtbot.keyClick(pane.canvas, Qt.Key.Key_C)
    assert pane.header.map.currentText() == "Cividis"
    qtbot.waitUntil(pane.is_settled)
    for key in (Qt.Key.Key_R, Qt.Key.Key_Home):
        pane.canvas.show_range((1, 2), (1, 2))
        qtbot.keyClick(pane.canvas, key)
        assert pane.canvas.view()[0] == pytest.approx((-0.5, 5.5)), key


# Coding


def test_scale_offset_and_fill_are_applied_or_not(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    stored = np.arange(100, dtype=np.int16).reshape(10, 10)
    stored[4, 4] = -99
    plotted(
        array(
            "/packed",
            stored,
            ("y", "x"),
            fill_value=np.int16(-99),
            _FillValue=-99,
            scale_factor=0.5,
            add_offset=100.0,
            units="K",
        )
    )
    assert pane.bar.strip.title == "K"
    assert "112.5 K" in hover(pane, 5, 2)
    assert "no value" in hover(pane, 4, 4)
    assert pane.canvas.image.indices[4, 4] == NO_VALUE
    pane.bar.levelsEdited.emit(Levels(110, 120))
    qtbot.mouseClick(child(pane, QToolButton, "codingButton"), Qt.MouseButton.LeftButton)
    levels = pane._presenter.drawing.keeper.levels
    assert levels is not None
    assert levels.high < 100, "levels of other units are given up"
    assert hover(pane, 5, 2).startswith("25   y [2]   x [5]")
    assert "-99" in hover(pane, 4, 4).replace("\N{MINUS SIGN}", "-")
    assert pane.canvas.image.indices[4, 4] != NO_VALUE
    assert pane.bar.strip.title == ""


# Superseding, cards, texts


def test_a_superseded_picture_is_never_shown(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    # Longer than any machine sleeps.
    pane._presenter.loader.hold = 60.0
    values = np.stack([np.full((20, 20), index, np.float32) for index in range(5)])

    def prepare(document: MemoryDocument) -> None:
        document.session.held = lambda _path, coords: coords[0] == 1
        document.session.gate.clear()

    document = plotted(array("/field", values, ("time", "y", "x"), (1, 10, 20)), prepare=prepare)
    shown = []
    pane._presenter.loader.shown.connect(lambda picture: shown.append(picture.plan.slice.indices[0]))
    pane.sliders.step(0, 1)
    qtbot.wait(20)
    pane.sliders.step(0, 3)
    qtbot.waitUntil(lambda: pane.is_settled() and pane.picture().plan.slice.indices[0] == 4)  # type: ignore[union-attr]
    document.session.gate.set()
    qtbot.wait(60)
    assert shown == [4]
    assert pane.picture().values.max() == 4  # type: ignore[union-attr]


def test_the_old_picture_stays_for_a_moment_and_then_gives_way(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    pane._presenter.loader.hold = 60.0

    def prepare(document: MemoryDocument) -> None:
        document.session.held = lambda _path, coords: coords[0] == 1
        document.session.gate.clear()

    document = plotted(
        array("/field", ramp(6, 9).reshape(2, 3, 9), ("t", "y", "x"), (1, 3, 3)), prepare=prepare
    )
    first = pane.picture()
    pane.sliders.step(0, 1)
    QApplication.processEvents()
    pane._presenter.loader._look()
    assert pane.picture() is first, "no flicker where the new one comes at once"
    pane._presenter.loader.hold = 0.0
    qtbot.waitUntil(lambda: pane.picture() is not first)
    assert pane.canvas.states.boxes(ChunkState.PENDING).tolist() == [[0, 1, 0, 3]]
    assert (pane.canvas.image.indices == NO_VALUE).all(), "nothing of the old slice is left"
    document.session.gate.set()
    qtbot.waitUntil(pane.is_settled)


def test_untrusted_data_is_a_card_that_leads_to_the_review(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    document = plotted(
        array("/field", ramp(10, 10), ("y", "x")),
        prepare=lambda document: setattr(document.session, "fate", lambda path, coords: blocked_error()),
    )
    assert pane.page() is pane.cards
    assert pane.cards.shown() == "blocked"
    with qtbot.waitSignal(pane.trustReviewRequested):
        qtbot.mouseClick(child(pane, QPushButton, "plotTrustButton"), Qt.MouseButton.LeftButton)
    document.session.fate = lambda path, coords: PartState.DONE
    document.hierarchyChanged.emit()
    qtbot.waitUntil(lambda: pane.page() is pane.canvas)


def test_an_error_is_a_card_that_can_be_tried_again(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(
        array("/field", ramp(10, 10), ("y", "x")),
        prepare=lambda document: setattr(document.session, "fate", lambda path, coords: source_error()),
    )
    assert pane.cards.shown() == "error"
    assert "the server answered 404" in pane.cards.text().lower()
    assert "Ask the provider" in pane.cards.text()
    document.session.fate = lambda path, coords: PartState.DONE
    qtbot.mouseClick(child(pane, QPushButton, "errorRetryButton"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: pane.page() is pane.canvas)


def test_slices_and_charts_are_of_their_own_document(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    cube = array("/field", np.arange(120.0).reshape(5, 4, 6), ("time", "y", "x"))
    first = plotted(cube)
    pane.set_index(0, 3)
    pane.tools.toggle_series()
    qtbot.waitUntil(pane.is_settled)
    plotted(cube)
    assert pane.slice_state().indices[0] == 0  # type: ignore[union-attr]
    assert not pane.tools.is_series
    pane.set_array(first, cube[0])  # type: ignore[arg-type]
    assert pane.slice_state().indices[0] == 3  # type: ignore[union-attr]
    assert pane.tools.is_series
    pane.tools.toggle_series()
    qtbot.waitUntil(pane.is_settled)


def test_a_file_that_was_replaced_is_read_again_by_a_button(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    changed = ChangedError(ErrorKind.SOURCE, "the object changed while it was read", Place(url="a.dat"))
    found = {"a": source_error(), "b": changed}
    for name, error in found.items():

        def fail(document: MemoryDocument, error: RefbrowserError = error) -> None:
            document.session.fate = lambda _path, _coords: error

        plotted(array(f"/{name}", ramp(4, 6), ("y", "x")), prepare=fail)
        assert pane.cards.shown() == "error"
        audit, reload = (child(pane, QPushButton, f"plot{title}Button") for title in ("Audit", "Reload"))
        assert (audit.isVisible(), reload.isVisible()) == (name == "a", name == "b")
    asked: list[str] = []
    action = QAction(pane)
    action.setObjectName("action_reload")
    action.triggered.connect(lambda: asked.append("reload"))
    reload.click()
    assert asked == ["reload"]


def test_an_edit_of_the_document_is_followed(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(array("/field", ramp(10, 10), ("y", "x")))
    node = document.node("field")
    reads = len(document.session.reads)
    document.set_nodes({"field": replace(node, attributes={"units": "K", "scale_factor": 2.0})})
    document.hierarchyChanged.emit()
    assert pane.bar.strip.title == "K"
    assert "18 K" in hover(pane, 5, 4)
    assert len(document.session.reads) == reads, "the chunks are the same: nothing is read again"
    document.set_nodes({"field": replace(node, attributes={"long_name": "wind", "units": "K"})})
    document.hierarchyChanged.emit()
    assert pane.header.title.text() == "wind"
    document.set_nodes({"field": node})
    document.hierarchyChanged.emit()
    assert pane.header.title.text() == "field", "as after an undo"
    document.session.values["/field"] = ramp(10, 10) + 7
    document.set_nodes(
        {"field": replace(node, values=replace(node.chunks, manifest=MemoryManifest("/field", place=1)))}
    )  # type: ignore[arg-type]
    document.hierarchyChanged.emit()
    qtbot.waitUntil(lambda: pane.is_settled() and pane.picture().values[0, 0] == 7)  # type: ignore[union-attr]
    document.set_nodes({})
    document.hierarchyChanged.emit()
    assert pane.page() is pane.cards
    assert pane.array() is None


def test_a_coordinate_that_an_edit_takes_away_is_not_drawn(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    field, values = array("/field", ramp(6, 8), ("lat", "lon"))
    lon = array("/lon", np.arange(8.0) * 10, ("lon",), long_name="east of it", units="degrees_east")
    document = plotted((field, values), lon)
    qtbot.waitUntil(lambda: "east of it" in pane.coordinates()[1].axis_label)
    renamed = replace(lon[0], attributes={"long_name": "longitude", "units": "degrees_east"})
    document.set_nodes({"field": field, "lon": renamed})
    document.hierarchyChanged.emit()
    qtbot.waitUntil(lambda: "longitude" in pane.canvas.across.labelText)
    document.set_nodes({"field": field})
    document.hierarchyChanged.emit()
    assert pane.coordinates()[1].axis_label == "lon index"


def test_scalars_and_texts_are_shown_as_text(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/height", np.array(7429.06, np.float32), units="m"))
    assert pane.page() is pane.values
    assert pane.values.value.text() == "7429.06 m"
    plotted(array("/city", np.array(["Berlin", "Paris", "Oslo"]), ("n",), (2,)))
    assert pane.values.table.row_text(1) == ["1", "Paris"]
    record = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f8")])
    plotted(array("/pairs", record, ("n",)))
    assert pane.values.table.row_text(1)[1:] == ["3", "4.5"]


def test_kinds_of_numbers_are_drawn(plotted: Plotted, pane: PlotPane) -> None:
    for values in (
        np.arange(6) % 2 == 0,
        np.arange(6) + 1j,
        np.array(["2001-01-01", "2001-01-02", "NaT", "2001-01-04"], "M8[D]"),
        np.arange(5).astype("m8[s]"),
        np.arange(6, dtype=">u8"),
    ):
        plotted(array("/a", values, ("n",)))
        assert pane.page() is pane.canvas
        assert len(pane.canvas.line.item.getData()[0]) == len(values)


# Size and speed


def large(rows: int, columns: int) -> np.ndarray:
    return np.lib.stride_tricks.as_strided(np.ones(1, np.int16), (rows, columns), (0, 0))


def test_a_picture_of_ten_thousand_million_values_asks_and_is_never_held(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    document = plotted(array("/field", large(100_000, 100_000), ("y", "x"), (1000, 1000)))
    assert pane.cards.shown() == "question"
    assert "10\N{NARROW NO-BREAK SPACE}000 chunks" in pane.cards.text()
    assert not document.session.reads
    qtbot.mouseClick(child(pane, QPushButton, "plotMiddleButton"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: pane.page() is pane.canvas and pane.is_settled())
    picture = pane.picture()
    assert picture is not None
    assert picture.out.nbytes <= 64 << 20
    assert not picture.plan.is_sampled
    assert picture.plan.chunks <= 4096


def test_zooming_into_a_sampled_picture_reads_the_detail(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from refbrowser.views.plot import plan

    monkeypatch.setattr(plan, "LIMITS", replace(plan.LIMITS, view_elements=10_000))
    values = ramp(1000, 1000)
    plotted(array("/field", values, ("y", "x"), (100, 100)))
    base = pane.picture()
    assert base is not None
    assert base.plan.steps == (10, 10)
    assert "zoom in" in pane.legend.note.text()
    pane.canvas.show_range((200, 260), (300, 360))
    detail = pane._presenter.drawing
    qtbot.waitUntil(lambda: detail.detail is not None and detail.detail.finished)
    assert detail.detail is not None
    assert detail.detail.plan.steps == (1, 1)
    assert hover(pane, 222, 333).startswith("555   y [333]   x [222]")
    image = shown_image(pane)
    levels = detail.keeper.levels
    assert levels is not None
    wanted = colour_maps.table("Viridis")[int((555 - levels.low) / (levels.high - levels.low) * 255)]
    assert near(pixel(pane, image, 222, 333), wanted, 2)
    pane.canvas.show_range((-0.5, 999.5), (-0.5, 999.5))
    qtbot.waitUntil(lambda: detail.detail is None)


def test_a_long_line_is_sampled_and_read_in_detail_where_it_is_looked_at(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from refbrowser.views.plot import plan

    monkeypatch.setattr(plan, "LIMITS", replace(plan.LIMITS, view_points=10_000))
    plotted(array("/series", np.arange(100_000, dtype=np.float32), ("n",), (10_000,)))
    line = pane.canvas.line
    assert line.picture is pane.picture()
    assert pane.picture().plan.steps == (10,)  # type: ignore[union-attr]
    low, high = pane.canvas.view()[1]
    pane.canvas.show_range((50_000, 50_100), (low, high))
    qtbot.waitUntil(lambda: line.picture is not pane.picture() and line.picture.finished)  # type: ignore[union-attr]
    assert line.picture.plan.steps == (1,)  # type: ignore[union-attr]
    assert hover(pane, 50_033, 50_033).startswith("50033   n [50033]")
    pane.canvas.show_range((0, 100_000), (low, high))
    qtbot.waitUntil(lambda: line.picture is pane.picture())


def test_neighbouring_slices_are_read_ahead(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(array("/field", ramp(40, 25).reshape(10, 10, 10), ("t", "y", "x"), (2, 10, 10)))
    qtbot.waitUntil(lambda: len(document.session.reads) == 1)
    pane.sliders.step(0, 1)
    qtbot.waitUntil(lambda: len(document.session.reads) == 3)
    ahead = [selection.axes[0][0] for _path, selection in document.session.reads]
    assert ahead == [0, 1, 2], "index 0 is in the same chunk as 1"


def test_a_read_that_is_cancelled_can_be_taken_up_again(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, tasks: Tasks
) -> None:
    document = plotted(
        array("/field", ramp(40, 60), ("y", "x"), (20, 30)),
        prepare=lambda document: document.session.gate.clear(),
        wait=False,
    )
    qtbot.waitUntil(lambda: pane.picture() is not None)
    tasks.cancel(tasks.statuses()[-1].number)
    qtbot.waitUntil(lambda: pane.page() is pane.cards and pane.is_settled())
    assert pane.cards.heading() == "/field was not read"
    document.session.gate.set()
    qtbot.mouseClick(child(pane, QPushButton, "errorRetryButton"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: pane.page() is pane.canvas and pane.is_settled())


@pytest.mark.slow
def test_the_event_loop_stays_quick_while_twenty_thousand_chunks_arrive(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    clock, gaps = QElapsedTimer(), []
    timer = QTimer()
    timer.setInterval(5)

    def tick() -> None:
        gaps.append(clock.restart())

    timer.timeout.connect(tick)
    plotted(
        array("/field", ramp(1000, 2000), ("y", "x"), (10, 10)),
        prepare=lambda document: setattr(document.session, "delay", 0.001),
        wait=False,
    )
    qtbot.mouseClick(child(pane, QPushButton, "plotLoadAnywayButton"), Qt.MouseButton.LeftButton)
    clock.start()
    timer.start()
    qtbot.waitUntil(lambda: pane.picture() is not None and pane.is_settled())
    timer.stop()
    assert pane.picture().arrived == 20_000  # type: ignore[union-attr]
    assert pane.picture().all_done  # type: ignore[union-attr]
    gaps.sort()
    # Drawing once for each chunk takes seconds; the figures themselves are for the benchmark.
    assert gaps[int(len(gaps) * 0.99)] <= 250, gaps[-10:]
    assert gaps[-1] <= 1000, gaps[-10:]


@pytest.mark.slow
def test_the_colours_follow_the_theme(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    palette, sheet = QPalette(application.palette()), application.styleSheet()
    plotted(array("/field", np.full((10, 10), np.nan), ("y", "x")))
    try:
        theme.apply(application, theme.DARK)
        QApplication.sendPostedEvents(None, QEvent.Type.PaletteChange)
        qtbot.waitUntil(lambda: near(pixel(pane, shown_image(pane), 5, 5), QColor("#3d4551")))
    finally:
        application.setStyleSheet(sheet)
        application.setPalette(palette)
    start = time.monotonic()
    while time.monotonic() - start < 0.05:
        QApplication.processEvents()
