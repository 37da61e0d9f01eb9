"""How a plot looks: levels, histogram, proportions, flags, coding, single chunks, other coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from plot_memory import MemoryDocument, array
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QListWidget, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from refbrowser.app.plot.colour_bar import ColourBar
from refbrowser.app.plot.colours import colour_maps
from refbrowser.app.plot.legends import ground_color
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.widgets import theme
from refbrowser.views.plot.colouring import NO_VALUE
from refbrowser.views.plot.levels import Levels

Plotted = Callable[..., MemoryDocument]


def child(pane: PlotPane, kind: type, name: str) -> Any:
    found = pane.findChild(kind, name)
    assert found is not None, name
    return found


def press(qtbot: QtBot, pane: PlotPane, name: str) -> None:
    qtbot.mouseClick(child(pane, QToolButton, name), Qt.MouseButton.LeftButton)


def image_of(pane: PlotPane) -> QImage:
    QApplication.processEvents()
    return pane.canvas.grab().toImage()


def colour_at(pane: PlotPane, across: float, upwards: float) -> tuple[int, ...]:
    """Return the colour on the screen at a position of the plot."""
    image = image_of(pane)
    place = pane.canvas.mapFromScene(pane.canvas.box.mapViewToScene(QPointF(across, upwards)))
    ratio = image.devicePixelRatio()
    colour: QColor = image.pixelColor(round(place.x() * ratio), round(place.y() * ratio))
    return colour.getRgb()[:3]  # type: ignore[return-value]


def near(colour: Any, wanted: Any, tolerance: int = 3) -> bool:
    return bool(np.abs(np.subtract(colour[:3], list(wanted)[:3], dtype=int)).max() <= tolerance)


def hover(pane: PlotPane, across: float, upwards: float) -> str:
    pane.canvas.pointed.emit(across, upwards)
    return pane.status.text()


def levels_of(pane: PlotPane) -> Levels:
    found = pane._presenter.drawing.keeper.levels
    assert found is not None
    return found


def powers(rows: int = 40, columns: int = 60) -> np.ndarray:
    """Return a field that runs over six powers of ten."""
    return 10 ** np.broadcast_to(np.linspace(-2, 4, columns), (rows, columns))


# Scales


def test_logarithmic_levels(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/field", powers(), ("y", "x"), (20, 20)))
    assert not levels_of(pane).log
    qtbot.keyClick(pane.canvas, Qt.Key.Key_L)
    levels = levels_of(pane)
    assert levels.log
    assert child(pane, QToolButton, "logButton").isChecked()
    table = colour_maps.table("Viridis")
    for column in (5, 30, 50):
        part = np.log(powers()[0, column] / levels.low) / np.log(levels.high / levels.low)
        assert near(colour_at(pane, column, 20), table[int(part * 255)]), column
    assert {"0.1", "1", "10", "100", "1000"} <= {text for _value, text in pane.bar.strip.ticks()}
    press(qtbot, pane, "logButton")
    assert not levels_of(pane).log


def test_a_logarithmic_scale_needs_values_above_zero(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/field", -powers(), ("y", "x")))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_L)
    assert not levels_of(pane).log
    assert "no value is above zero" in pane.legend.note.text()


def test_the_values_of_a_line_on_a_logarithmic_axis(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    values = np.array([1.0, 10, 0, 1000, 1e4])
    plotted(array("/series", values, ("n",), units="1"))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_L)
    _x, y = pane.canvas.line.item.getData()
    np.testing.assert_allclose(y, [0, 1, np.nan, 3, 4])
    low, high = pane.canvas.view()[1]
    assert -1 < low < 0
    assert 4 < high < 5
    qtbot.waitUntil(lambda: "100" in pane.canvas.upwards.tick_texts() or not image_of(pane))
    assert "1000" in hover(pane, 3, 3)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_L)
    assert pane.canvas.line.item.getData()[1].max() == 1e4
    assert pane.canvas.view()[1][1] > 1e4


# Histogram


def test_levels_are_dragged_in_the_histogram(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/field", np.linspace(0, 100, 2500).reshape(50, 50), ("y", "x")))
    strip = pane.bar.strip
    width = pane.bar.width()
    qtbot.keyClick(pane.canvas, Qt.Key.Key_H)
    assert strip.histogram is not None
    assert strip.histogram.counts.sum() == 2500
    assert pane.bar.width() > width
    qtbot.wait(1)
    before, span = levels_of(pane), strip.span
    assert span is not None
    start = QPoint(10, round(strip.handle_at(span.part(before.low))))
    end = QPoint(10, round(strip.handle_at(0.5)))
    qtbot.mousePress(strip, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(strip, end)
    during = levels_of(pane)
    qtbot.mouseRelease(strip, Qt.MouseButton.LeftButton, pos=end)
    assert during == levels_of(pane), "the picture follows the pointer"
    assert during.low == pytest.approx(50, abs=2)
    assert during.high == before.high
    assert float(pane.bar.low_field.text()) == pytest.approx(during.low, rel=1e-4)
    # Both at once, held between them.
    start = QPoint(10, round(strip.handle_at(span.part(75))))
    qtbot.mousePress(strip, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(strip, QPoint(10, round(strip.handle_at(span.part(50)))))
    qtbot.mouseRelease(strip, Qt.MouseButton.LeftButton)
    assert levels_of(pane).low == pytest.approx(25, abs=2)
    assert levels_of(pane).high == pytest.approx(before.high - 25, abs=2)
    qtbot.mouseDClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(10, 30))
    assert levels_of(pane) == before
    press(qtbot, pane, "histogramButton")
    assert strip.histogram is None
    assert pane.bar.width() == width


def test_the_colour_bar_says_what_its_ends_are(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/field", np.arange(2500.0).reshape(50, 50), ("y", "x")))
    bar, button = pane.bar, child(pane, QPushButton, "autoLevelsButton")
    pane.resize(640, 520)
    assert (bar.low_words.text(), bar.high_words.text()) == ("2nd percentile", "98th percentile")
    assert "98th percentile" in bar.high_field.toolTip()
    assert "about 2 % of the values lie above and about 2 % of the values lie below" in bar.strip.toolTip()
    top = QPoint(10, 5)
    marked = bar.strip.grab().toImage().pixelColor(top)
    assert near(marked.getRgb(), colour_maps.table("Viridis")[254], 6)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert (bar.low_words.text(), bar.high_words.text()) == ("minimum", "maximum")
    assert (levels_of(pane).low, levels_of(pane).high) == (0, 2499)
    assert bar.strip.toolTip() == ""
    assert bar.strip.grab().toImage().pixelColor(top) != marked, "nothing lies beyond"
    qtbot.keyClick(pane.canvas, Qt.Key.Key_M)
    assert bar.low_words.text() == "2nd percentile"
    bar.high_field.setText("1000")
    bar.high_field.setModified(True)
    bar.high_field.editingFinished.emit()
    assert bar.high_words.text() == "set by you"
    assert "about 60 % of the values lie above" in bar.strip.toolTip()
    assert button.text() == "Auto"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert bar.high_words.text() == "98th percentile"


def test_what_the_ends_are_is_said_before_the_button_has_room(styled: QApplication, qtbot: QtBot) -> None:
    bar = ColourBar()
    qtbot.addWidget(bar)
    bar.show()
    for height, has_words, has_button in ((225, True, True), (187, True, False), (150, False, False)):
        bar.resize(bar.width(), height)
        QApplication.processEvents()
        assert bar.low_words.isHidden() != has_words, height
        assert bar.high_words.isHidden() != has_words, height
        assert bar.auto.isHidden() != has_button, height
        assert bar.strip.height() >= 30, height


def test_a_level_is_never_dragged_past_the_other(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/field", powers(), ("y", "x")))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_L)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_H)
    strip = pane.bar.strip
    span = strip.span
    assert span is not None
    start = QPoint(10, round(strip.handle_at(span.part(levels_of(pane).high))))
    qtbot.mousePress(strip, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(strip, QPoint(10, strip.height() + 300))
    qtbot.mouseRelease(strip, Qt.MouseButton.LeftButton)
    assert 0 < levels_of(pane).low < levels_of(pane).high < 1


def test_a_low_colour_bar_gives_its_room_to_the_colours(qtbot: QtBot) -> None:
    bar = ColourBar()
    qtbot.addWidget(bar)
    bar.resize(bar.width(), 300)
    bar.show()
    assert bar.auto.isVisible()
    bar.resize(bar.width(), 110)
    qtbot.waitUntil(lambda: not bar.auto.isVisible())
    bar.resize(bar.width(), 300)
    qtbot.waitUntil(bar.auto.isVisible)


# Proportions and zoom


def test_true_proportions(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(
        array("/field", np.zeros((30, 20)), ("lat", "lon")),
        array("/lat", np.linspace(-58, 58, 30), ("lat",), units="degrees_north"),
        array("/lon", np.arange(20) * 8.0, ("lon",), units="degrees_east"),
    )
    scene = pane.canvas.box.mapViewToScene

    def cell() -> tuple[float, float]:
        corner, other = scene(QPointF(0, 0)), scene(QPointF(1, 1))
        return abs(other.x() - corner.x()), abs(other.y() - corner.y())

    assert pane.header.aspect.isChecked(), "a map is not stretched"
    qtbot.waitUntil(lambda: cell()[0] / cell()[1] == pytest.approx(2, rel=0.02))
    box = pane.canvas.box.sceneBoundingRect().adjusted(-2, -2, 2, 2)
    assert box.contains(scene(QPointF(-0.5, -0.5)))
    assert box.contains(scene(QPointF(19.5, 29.5)))
    assert box.width() / box.height() == pytest.approx(160 / 120, rel=0.1), "the axes are laid around it"
    left, top, right, bottom = pane.canvas.ci.layout.getContentsMargins()
    assert abs(right - left) < 40, "what is left over is shared out"
    assert abs(bottom - top) < 20
    pane.canvas.show_range((5, 10), (5, 10))
    qtbot.waitUntil(lambda: cell()[0] / cell()[1] == pytest.approx(2, rel=0.02))
    press(qtbot, pane, "aspectButton")
    across, upwards, _size = pane.canvas.view()
    assert across == pytest.approx((-0.5, 19.5))
    assert upwards == pytest.approx((-0.5, 29.5))


def test_proportions_are_kept_for_maps_and_for_other_images(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    grid = (
        array("/lat", np.linspace(-58, 58, 30), ("lat",), units="degrees_north"),
        array("/lon", np.arange(20) * 8.0, ("lon",), units="degrees_east"),
    )
    plotted(array("/plain", np.zeros((30, 20)), ("y", "x")))
    assert not pane.header.aspect.isChecked()
    plotted(array("/map", np.zeros((30, 20)), ("lat", "lon")), *grid)
    assert pane.header.aspect.isChecked()
    qtbot.keyClick(pane.canvas, Qt.Key.Key_A)
    plotted(array("/plain", np.zeros((30, 20)), ("y", "x")))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_A)
    assert pane.header.aspect.isChecked()
    plotted(array("/map", np.zeros((30, 20)), ("lat", "lon")), *grid)
    assert not pane.header.aspect.isChecked()


def test_a_rectangle_drawn_with_the_right_button_is_zoomed_to(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    plotted(array("/field", np.zeros((50, 50)), ("y", "x")))
    box = pane.canvas.box

    def drag(end: QPointF, finished: bool) -> Any:
        class Drag:
            def button(self) -> Any:
                return Qt.MouseButton.RightButton

            def buttonDownPos(self, _button: Any) -> QPointF:
                return box.mapFromView(QPointF(10, 20))

            def pos(self) -> QPointF:
                return box.mapFromView(end)

            def isFinish(self) -> bool:
                return finished

            def accept(self) -> None:
                pass

        return Drag()

    box.mouseDragEvent(drag(QPointF(30, 35), finished=False))
    assert box.rbScaleBox.isVisible()
    box.mouseDragEvent(drag(QPointF(30, 35), finished=True))
    across, upwards, _size = pane.canvas.view()
    assert across == pytest.approx((10, 30), abs=0.1)
    assert upwards == pytest.approx((20, 35), abs=0.1)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_R)
    assert pane.canvas.view()[0] == pytest.approx((-0.5, 49.5))


# Colours


def test_the_map_can_be_reversed_and_changed(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/field", powers(), ("y", "x")))
    first = colour_at(pane, 1, 20)
    pane.look().set_reverse(True)
    assert near(colour_at(pane, 1, 20), colour_maps.table("Viridis")[254])
    assert not near(colour_at(pane, 1, 20), first)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_C)
    assert pane.header.map.currentText() == "Cividis"
    assert near(colour_at(pane, 1, 20), colour_maps.table("Cividis")[254])


def test_every_map_has_a_table_of_its_own() -> None:
    tables = {title: colour_maps.table(title).tobytes() for title in colour_maps.MAPS}
    assert len(set(tables.values())) == len(tables)
    for title, spec in colour_maps.MAPS.items():
        assert colour_maps.table(title)[255, 3] == 0
        ends = colour_maps.table(title)[[0, 127, 254], :3].astype(float)
        middle = np.abs(ends[1] - ends[0]).sum() + np.abs(ends[1] - ends[2]).sum()
        assert not spec.diverging or middle > np.abs(ends[0] - ends[2]).sum() * 0.9, title


# Flags


FLAGS = {"flag_values": [0, 2, 5], "flag_meanings": "good doubtful_value bad", "_FillValue": -1}


def quality() -> np.ndarray:
    values = np.zeros((30, 30), np.int8)
    values[10:20] = 2
    values[20:] = 5
    values[:, 20:] = -1
    values[25:, :10] = 9
    return values


def test_flags_have_colours_and_meanings(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/quality", quality(), ("y", "x"), (10, 30), **FLAGS))
    assert pane.flags.isVisible()
    assert not pane.bar.isVisible()
    assert pane.flags.texts() == ["good  33.3 %", "doubtful value  33.3 %", "bad  25 %", "none of these"]
    table = colour_maps.flag_table(theme.colors().surface)
    assert near(colour_at(pane, 5, 5), table[0])
    assert near(colour_at(pane, 5, 15), table[1])
    assert near(colour_at(pane, 15, 25), table[2])
    assert near(colour_at(pane, 5, 27), QColor(theme.colors().surface).getRgb())
    assert near(colour_at(pane, 25, 5), ground_color().getRgb())
    assert pane.canvas.image.indices[5, 25] == NO_VALUE
    assert "2: doubtful value" in hover(pane, 5, 15)
    assert "9: no flag" in hover(pane, 5, 27)
    assert "no value (fill value" in hover(pane, 25, 5)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_L)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_H)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_C)
    assert not pane.look().options.log, "a scale says nothing of flags"


def test_one_flag_is_coloured_alone(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/quality", quality(), ("y", "x"), **FLAGS))
    entries = child(pane, QListWidget, "flagList")
    place = entries.visualItemRect(entries.item(1)).center()
    qtbot.mouseClick(entries.viewport(), Qt.MouseButton.LeftButton, pos=place)
    table = colour_maps.flag_table(theme.colors().surface)
    assert near(colour_at(pane, 5, 15), table[1])
    assert near(colour_at(pane, 5, 5), table[254])
    qtbot.mouseClick(child(pane, QPushButton, "allFlagsButton"), Qt.MouseButton.LeftButton)
    assert near(colour_at(pane, 5, 5), table[0])
    assert not child(pane, QPushButton, "allFlagsButton").isEnabled()


def test_bits_are_told_together(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    values = np.arange(8, dtype=np.uint8).repeat(8).reshape(8, 8)
    plotted(array("/bits", values, ("y", "x"), flag_masks=[1, 2, 4], flag_meanings="wet cold dark"))
    assert "7: wet + cold + dark" in hover(pane, 3, 7)
    assert "4: dark" in hover(pane, 3, 4)
    assert pane.flags.texts()[0] == "wet  50 %"
    assert "first that matches" in pane.flags.heading.text()
    press(qtbot, pane, "codingButton")
    assert not pane.flags.isVisible()
    assert pane.bar.isVisible()
    assert hover(pane, 3, 7).startswith("7   ")


# Coding


def packed(path: str) -> tuple[Any, np.ndarray]:
    return array(
        path, np.arange(100, dtype=np.int16).reshape(10, 10), ("y", "x"), scale_factor=0.5, add_offset=100.0
    )


def test_coding_and_scale_are_kept_for_each_array(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(packed("/a"), packed("/b"))

    def show(name: str) -> None:
        pane.set_array(document, document.node(name))  # type: ignore[arg-type]
        qtbot.waitUntil(pane.is_settled)

    press(qtbot, pane, "codingButton")
    assert levels_of(pane).high < 100
    show("b")
    assert pane.is_decoded()
    assert levels_of(pane).high > 140
    qtbot.keyClick(pane.canvas, Qt.Key.Key_L)
    show("a")
    assert not pane.is_decoded()
    assert not levels_of(pane).log
    assert not child(pane, QToolButton, "codingButton").isChecked()
    show("b")
    assert levels_of(pane).log


def test_defaults_are_for_what_was_not_shown_before(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(packed("/a"), packed("/b"))
    press(qtbot, pane, "codingButton")
    press(qtbot, pane, "codingButton")
    pane.set_defaults("Magma", decoded=False)
    assert pane.header.map.currentText() == "Magma"
    assert near(colour_at(pane, 9, 9), colour_maps.table("Magma")[254], 8)
    assert pane.is_decoded(), "what is shown stays"
    for name, decoded in (("b", False), ("a", True)):
        pane.set_array(document, document.node(name))  # type: ignore[arg-type]
        qtbot.waitUntil(pane.is_settled)
        assert pane.is_decoded() is decoded
    pane.set_defaults("No such map", decoded=True)
    assert pane.header.map.currentText() == "Viridis"


# Slices and chunks


def test_the_slice_is_kept_past_other_arrays(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    values = np.arange(5 * 3 * 4).reshape(5, 3, 4)
    document = plotted(
        array("/u", values, ("time", "y", "x")),
        array("/series", np.arange(9.0), ("n",)),
        array("/scalar", np.array(1.0), ()),
        array("/v", -values, ("time", "y", "x")),
        array("/mean", np.arange(10).reshape(5, 2), ("time", "station")),
    )
    pane.sliders.step(0, 3)
    for name in ("series", "scalar", "v"):
        pane.set_array(document, document.node(name))  # type: ignore[arg-type]
        qtbot.waitUntil(pane.is_settled)
    picture = pane.picture()
    assert picture is not None
    np.testing.assert_array_equal(picture.values, -values[3])


def test_a_chunk_is_shown(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    values = np.arange(4 * 40 * 60).reshape(4, 40, 60)
    plotted(array("/field", values, ("t", "y", "x"), (2, 10, 20)))
    pane.show_chunk((1, 2, 1))
    qtbot.waitUntil(lambda: pane.is_settled() and pane.canvas.outline() is not None)
    state = pane.slice_state()
    assert state is not None
    assert state.indices[0] == 2
    outline = pane.canvas.outline()
    assert outline is not None
    assert (outline.left(), outline.right()) == (19.5, 39.5)
    assert (outline.top(), outline.bottom()) == (19.5, 29.5)
    (left, right), (low, high), _size = pane.canvas.view()
    assert left < 19.5 < 39.5 < right < 59
    assert low < 19.5 < 29.5 < high < 39
    pane.sliders.step(0, 1)
    qtbot.waitUntil(pane.is_settled)
    pane.show_chunk((1, 0, 0))
    assert state.with_index(0, 3) == pane.slice_state(), "the slice is part of the chunk already"
    assert pane.canvas.view()[0][0] <= -0.5 + 1e-6
    before = pane.canvas.view()
    pane.show_chunk((9, 0, 0))
    pane.show_chunk((0, 0))
    assert pane.canvas.view() == before, "there is no such chunk"
    qtbot.keyClick(pane.canvas, Qt.Key.Key_R)
    assert pane.canvas.outline() is None


@pytest.mark.slow
def test_a_chunk_of_what_is_too_large_is_shown_at_once(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from refbrowser.views.plot import plan

    monkeypatch.setattr(plan, "LIMITS", replace(plan.LIMITS, view_chunks=9))
    plotted(array("/field", np.zeros((100, 100)), ("y", "x"), (10, 10)))
    assert pane.cards.shown() == "question"
    pane.show_chunk((9, 4))
    qtbot.waitUntil(lambda: pane.page() is pane.canvas and pane.is_settled())
    outline = pane.canvas.outline()
    assert outline is not None
    assert (outline.top(), outline.left()) == (89.5, 39.5)
    picture = pane.picture()
    assert picture is not None
    assert picture.plan.covers((range(90, 100), range(40, 50)))


def test_a_chunk_of_a_line_is_shown(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/series", np.arange(100.0), ("n",), (10,)))
    pane.show_chunk((4,))
    left, right = pane.canvas.view()[0]
    assert 30 < left < 40
    assert 49 < right < 60


# Auxiliary coordinates


def test_latitude_and_longitude_of_a_curvilinear_grid(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    latitudes = np.linspace(40, 60, 20).reshape(4, 5)
    plotted(
        array("/field", np.zeros((2, 4, 5)), ("t", "y", "x"), coordinates="lon lat height"),
        array("/lat", latitudes, ("y", "x"), units="degrees_north"),
        array("/lon", -latitudes * 2, ("y", "x"), units="degrees_east"),
    )
    qtbot.waitUntil(lambda: f"lat {latitudes[2, 3]:.7g}°N" in hover(pane, 3, 2))
    assert f"lon {latitudes[2, 3] * 2:.7g}°W" in hover(pane, 3, 2)
    pane.sliders.step(0, 1)
    qtbot.waitUntil(pane.is_settled)
    assert f"lat {latitudes[1, 1]:.7g}°N" in hover(pane, 1, 1), "they are the same for each time"


# Colour maps that fit the quantity


def test_signed_quantities_have_a_map_with_a_middle(plotted: Plotted, pane: PlotPane) -> None:
    wind = np.linspace(-2, 10, 100).reshape(10, 10)
    plotted(array("/u", wind, ("y", "x"), standard_name="eastward_wind"))
    assert pane.header.map.currentText() == "Blue–red"
    assert pane.bar.strip.levels is not None
    assert pane.bar.strip.levels.low == -pane.bar.strip.levels.high
    plotted(array("/t", wind, ("y", "x")))
    assert pane.header.map.currentText() == "Viridis"
    assert pane.bar.strip.levels is not None
    assert pane.bar.strip.levels.low > -3


def test_a_chosen_map_is_for_all_of_its_kind(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    values = np.linspace(-2, 10, 100).reshape(10, 10)
    signed: dict[str, Any] = {"standard_name": "eastward_wind"}
    plotted(array("/u", values, ("y", "x"), **signed))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_C)
    assert pane.header.map.currentText() == "Green–violet"
    plotted(array("/t", values, ("y", "x")))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_C)
    assert pane.header.map.currentText() == "Cividis"
    plotted(array("/v", values, ("y", "x"), **signed))
    assert pane.header.map.currentText() == "Green–violet"
    pane.set_defaults("Magma", decoded=True)
    assert pane.header.map.currentText() == "Green–violet"
    plotted(array("/s", values, ("y", "x")))
    assert pane.header.map.currentText() == "Magma"


# Axes


def test_a_line_of_times_has_dates_upwards(plotted: Plotted, pane: PlotPane) -> None:
    times: dict[str, Any] = {"units": "days since 2001-01-01", "calendar": "360_day"}
    plotted(array("/time", np.arange(0.0, 360.0, 30.0), ("time",), **times))
    pane.canvas.grab()
    assert "2001-07" in pane.canvas.upwards.tick_texts()
    assert not pane.header.log.isVisible()
    pane.header.coding.click()
    pane.canvas.grab()
    assert "100" in pane.canvas.upwards.tick_texts()
    assert pane.header.log.isVisible()


def test_numbers_close_together_are_told_apart(plotted: Plotted, pane: PlotPane) -> None:
    plotted(array("/bounds", np.array([5.62236e8, 5.622361e8]), ("bounds",)))
    pane.canvas.grab()
    texts = pane.canvas.upwards.tick_texts()
    assert len(texts) > 2
    assert len(set(texts)) == len(texts)


def test_long_labels_are_cut_but_for_their_units(plotted: Plotted, pane: PlotPane) -> None:
    name = "threshold angle between the line of sight to the satellite and the local zenith " * 2
    plotted(array("/angle", np.arange(5.0), ("n",), long_name=name, units="degree"))
    label = pane.canvas.upwards.labelText
    assert label.startswith("threshold angle between")
    assert label.endswith("… [degree]")
    length = pane.canvas.upwards.label.boundingRect().width()
    assert length <= pane.canvas.upwards.size().height()


def test_no_number_at_all_leaves_plain_axes(plotted: Plotted, pane: PlotPane) -> None:
    plotted(array("/full", np.linspace(1000, 2000, 30), ("x",)))
    plotted(
        array("/empty", np.full(30, np.nan), ("x",)),
        array("/x", np.full(30, np.nan), ("x",)),
    )
    pane.canvas.grab()
    assert "10" in pane.canvas.across.tick_texts()
    assert "nan" not in pane.canvas.across.tick_texts()
    assert pane.canvas.view()[1] == (0.0, 1.0)


def test_a_line_goes_through_the_element_that_was_chosen(plotted: Plotted, pane: PlotPane) -> None:
    plotted(array("/field", np.arange(60.0).reshape(3, 4, 5), ("time", "y", "x")))
    pane.canvas.clicked.emit(3.0, 2.0)
    pane.header.yChosen.emit(None)
    state = pane.slice_state()
    assert state is not None
    assert state.indices[1] == 2
    pane.header.xChosen.emit(0)
    state = pane.slice_state()
    assert state is not None
    assert (state.x, state.indices[1]) == (0, 2)


@pytest.mark.slow
def test_a_plot_without_values_says_why(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/empty", np.full((10, 10), np.nan), ("y", "x")))
    assert pane.canvas.message.text() == "Every value here is missing."
    assert pane.canvas.message.isVisible()
    middle = pane.canvas.mapFromScene(pane.canvas.box.sceneBoundingRect().center())
    assert (pane.canvas.message.geometry().center() - middle).manhattanLength() < 6
    written = np.full(20, 9.96921e36, np.float32)
    plotted(array("/unwritten", written, ("x",), units="days since 2000-01-01"))
    assert "nothing was ever written" in pane.canvas.message.text()
    assert "Without CF" in pane.canvas.message.text()
    qtbot.mouseClick(pane.header.coding, Qt.MouseButton.LeftButton)
    assert not pane.canvas.message.isVisible()
    plotted(array("/full", np.zeros((10, 10)), ("y", "x")))
    assert not pane.canvas.message.isVisible()


def test_a_line_of_flags_has_their_meanings_upwards(plotted: Plotted, pane: PlotPane) -> None:
    flags: dict[str, Any] = {"flag_values": [0, 1, 2], "flag_meanings": "clear partly_cloudy overcast"}
    plotted(array("/weather", np.array([0, 1, 2, 1], np.int8), ("time",), **flags))
    pane.canvas.grab()
    assert pane.canvas.upwards.tick_texts() == ["clear", "partly cloudy", "overcast"]


@pytest.mark.slow
def test_levels_of_the_user_are_kept_for_each_array(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    values = np.arange(100.0).reshape(10, 10)
    document = plotted(array("/a", values, ("y", "x")), array("/b", values, ("y", "x")))

    def low_of(name: str) -> float:
        pane.set_array(document, document.node(name))  # type: ignore[arg-type]
        qtbot.waitUntil(pane.is_settled)
        return levels_of(pane).low

    pane.bar.low_field.selectAll()
    qtbot.keyClicks(pane.bar.low_field, "20")
    qtbot.keyClick(pane.bar.low_field, Qt.Key.Key_Return)
    assert low_of("b") < 2
    assert low_of("a") == 20
    qtbot.mouseClick(pane.bar.auto, Qt.MouseButton.LeftButton)
    assert low_of("b") < 2
    assert low_of("a") < 2


def test_a_map_is_seen_whole_in_a_view_that_becomes_smaller(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    plotted(
        array("/field", np.zeros((45, 90)), ("lat", "lon")),
        array("/lat", np.linspace(-88, 88, 45), ("lat",), units="degrees_north"),
        array("/lon", np.arange(90) * 4.0, ("lon",), units="degrees_east"),
    )
    for width, height in ((700, 1200), (700, 500), (1400, 500), (600, 600)):
        pane.resize(width, height)
        qtbot.wait(30)
        across, upwards, _size = pane.canvas.view()
        assert across == pytest.approx((-0.5, 89.5), abs=1)
        assert upwards == pytest.approx((-0.5, 44.5), abs=1)
