"""Contours and arrows over a picture: where they are, which way they point, what they follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from plot_memory import MemoryDocument, array
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from refbrowser.app.dialogs.marks_dialog import MarksDialog
from refbrowser.app.plot.overlays.arrow_overlay import DrawnArrows
from refbrowser.app.plot.overlays.contour_overlay import DrawnContours
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.views.maps.layouts import ChosenProjection
from refbrowser.views.overlays.composite import Composite
from refbrowser.views.overlays.contours import Spacing
from refbrowser.views.overlays.marks import Marks

Plotted = Callable[..., MemoryDocument]
LATITUDES, LONGITUDES = np.linspace(60, -60, 31), np.linspace(0, 348, 30)
DIMENSIONS = ("time", "lat", "lon")


def fields(**more: Any) -> list[tuple[Any, np.ndarray]]:
    """Return a temperature that falls southwards, both components of a wind, and coordinates."""
    ones = np.ones((3, 31, 30))
    warm = ones * LATITUDES[:, None] + np.array([0, 10, 20])[:, None, None]
    east = {"standard_name": "eastward_wind", "units": "m s-1"}
    north = {"standard_name": "northward_wind", "units": "m s-1"}
    return [
        array("/t", warm, DIMENSIONS, (1, 31, 30), units="K", **more),
        array("/wind_e", ones * np.array([10, 0, -10])[:, None, None], DIMENSIONS, (1, 31, 30), **east),
        array("/wind_n", ones * np.array([0, 10, 0])[:, None, None], DIMENSIONS, (1, 31, 30), **north),
        array("/height", ones[0] * LONGITUDES, ("lat", "lon"), units="m"),
        array("/lat", LATITUDES, ("lat",), units="degrees_north"),
        array("/lon", LONGITUDES, ("lon",), units="degrees_east"),
    ]


def drawn(pane: PlotPane, name: str) -> Any:
    return pane._presenter.drawing.overlays._drawn[name]


@pytest.fixture
def shown(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> PlotPane:
    plotted(*fields())
    pane.look().set_overlay("coastlines", False)
    qtbot.waitUntil(pane.is_settled)
    return pane


def test_contours_lie_where_the_values_are(shown: PlotPane, qtbot: QtBot) -> None:
    shown.look().set_marks(Marks(spacing=Spacing((0.0, 30.0))))
    shown.look().set_overlay("contours", True)
    assert not shown.is_settled()
    qtbot.waitUntil(shown.is_settled)
    contours: DrawnContours = drawn(shown, "contours")
    item = contours.item
    assert item.texts == ["0", "30"]
    # Rows are 4 degrees apart, from the north.
    rows = item.strokes[..., 1]
    np.testing.assert_allclose(np.unique(rows.round(6)), [(60 - 30) / 4, 60 / 4])
    shown.set_index(0, 1)
    qtbot.waitUntil(shown.is_settled)
    np.testing.assert_allclose(np.unique(item.strokes[..., 1].round(6)), [(70 - 30) / 4, 70 / 4])
    shown.canvas.grab()
    assert item.names
    assert all(abs(name.angle) < 1 for name in item.names)
    shown.look().set_overlay("contours", False)
    assert len(item.strokes) == 0


def test_contours_of_another_array(shown: PlotPane, qtbot: QtBot) -> None:
    shown.look().set_marks(Marks(contours_of="/height", spacing=Spacing(every=100)))
    shown.look().set_overlay("contours", True)
    qtbot.waitUntil(shown.is_settled)
    item = drawn(shown, "contours").item
    assert item.texts == ["0", "100", "200", "300"]
    np.testing.assert_allclose(np.unique(item.strokes[..., 0].round(3))[-3:], [8.333, 16.667, 25])
    before = item.strokes
    shown.set_index(0, 2)
    qtbot.waitUntil(shown.is_settled)
    assert item.strokes is before, "it has no time: nothing is made anew"
    shown.look().set_marks(Marks(contours_of="/not/there"))
    qtbot.waitUntil(shown.is_settled)
    assert len(item.strokes) == 0


def test_contours_leave_out_what_is_missing(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    values = np.tile(np.arange(40.0), (30, 1))
    values[:, :20] = -999
    plotted(array("/a", values, ("y", "x"), missing_value=-999.0))
    pane.look().set_marks(Marks(spacing=Spacing((10.5, 30.5))))
    pane.look().set_overlay("contours", True)
    qtbot.waitUntil(pane.is_settled)
    assert set(np.unique(drawn(pane, "contours").item.strokes[..., 0])) == {30.5}


def test_arrows_point_where_the_wind_goes(shown: PlotPane, qtbot: QtBot) -> None:
    shown.look().set_overlay("arrows", True)
    qtbot.waitUntil(shown.is_settled)
    arrows: DrawnArrows = drawn(shown, "arrows")
    item = arrows.item
    assert item.told == "10 m s-1"
    count = len(item.feet)
    assert 10 < count < 31 * 30
    for time, way in ((0, (1, 0)), (1, (0, -1)), (2, (-1, 0))):
        # On the screen, downwards is positive; latitudes fall with the index, and north is up.
        shown.set_index(0, time)
        qtbot.waitUntil(shown.is_settled)
        strokes, dots = item.strokes()
        shafts = (strokes[:, 1] - strokes[:, 0])[: len(item.feet)]
        assert not len(dots)
        np.testing.assert_allclose(shafts / np.hypot(*shafts.T)[:, None], np.tile(way, (count, 1)), atol=1e-6)
        # Their middles are where the values are.
        np.testing.assert_allclose(strokes[:count].mean(axis=1), item.in_pixels(item.feet))


def test_arrows_are_offered_where_there_are_components(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    t, *_rest = fields()
    plotted(t)
    assert "arrows" not in {overlay.name for overlay in pane.look().options.overlays}
    plotted(*fields())
    assert "arrows" in {overlay.name for overlay in pane.look().options.overlays}
    flags = {"flag_values": [0, 1], "flag_meanings": "a b"}
    plotted(array("/flags", np.zeros((20, 30), np.int8), ("y", "x"), **flags))
    assert "contours" not in {overlay.name for overlay in pane.look().options.overlays}


def test_components_that_the_user_chose(shown: PlotPane, qtbot: QtBot) -> None:
    shown.look().set_overlay("arrows", True)
    shown.look().set_marks(replace(Marks(), arrows=("/wind_n", "/wind_e")))
    qtbot.waitUntil(shown.is_settled)
    item = drawn(shown, "arrows").item
    strokes, _dots = item.strokes()
    shafts = (strokes[:, 1] - strokes[:, 0])[: len(item.feet)]
    # What blows to the east is drawn as what blows to the north.
    assert (shafts[:, 1] < 0).all()
    np.testing.assert_allclose(shafts[:, 0], 0, atol=1e-6)


def test_they_are_remembered_with_their_array(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(*fields())
    marks = Marks("/height", Spacing(every=50), ("/wind_n", "/wind_e"))
    pane.look().set_marks(marks)
    pane.set_array(document, document.hierarchy.find("/wind_e"))  # type: ignore[arg-type]
    assert pane.look().options.marks == Marks()
    pane.set_array(document, document.hierarchy.find("/t"))  # type: ignore[arg-type]
    qtbot.waitUntil(pane.is_settled)
    assert pane.look().options.marks == marks
    assert Marks.of(marks.said()) == marks


def test_the_dialog_of_marks(shown: PlotPane, qtbot: QtBot) -> None:
    dialog = MarksDialog(shown)
    qtbot.addWidget(dialog)
    dialog.show()

    def part(kind: type, name: str) -> Any:
        found = dialog.findChild(kind, name)
        assert found is not None, name
        return found

    def choose(name: str, path: str) -> None:
        combo = part(QComboBox, name)
        combo.setCurrentIndex(combo.findData(path))
        combo.activated.emit(combo.currentIndex())

    part(QCheckBox, "marks_contours").click()
    assert "contours" in shown.look().options.overlaid
    values = part(QLineEdit, "marksValues")
    values.setText("every x")
    values.setModified(True)
    values.editingFinished.emit()
    assert part(QLabel, "marksFault").text() == "Type numbers with commas between them, or every and a number"
    values.setText("every 20")
    values.setModified(True)
    values.editingFinished.emit()
    assert shown.look().options.marks == Marks(spacing=Spacing(every=20))
    choose("marksContoursOf", "/height")
    assert shown.look().options.marks.contours_of == "/height"
    assert part(QComboBox, "marksAcross").currentData() == "/wind_e"
    choose("marksUpwards", "/t")
    assert shown.look().options.marks.arrows == ("/wind_e", "/t")
    part(QCheckBox, "marks_arrows").click()
    assert shown.look().options.overlaid >= {"contours", "arrows"}


def bands(**more: Any) -> tuple[Any, np.ndarray]:
    """Return four bands that grow to the right, each in its own range; one has a hole."""
    columns = np.tile(np.linspace(0, 1, 40), (20, 1))
    values = np.stack([columns, 100 * columns, -columns, 1 - columns])
    values[1, 5, 5] = np.nan
    return array("/reflectance", values, ("band", "lat", "lon"), (1, 20, 40), **more)


def test_three_bands_are_drawn_as_colours(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(bands())
    pane.look().set_marks(Marks(composite=Composite("band", ("0", "1", "3"), 0)))
    pane.look().set_overlay("composite", True)
    qtbot.waitUntil(pane.is_settled)
    composite = drawn(pane, "composite")
    colours = composite.colours
    step = 40 // colours.shape[1]
    wanted = np.linspace(0, 1, 40)[::step] * 255
    np.testing.assert_allclose(colours[0, :, 0], wanted, atol=1)
    np.testing.assert_allclose(colours[0, :, 1], wanted, atol=1)
    np.testing.assert_allclose(colours[0, :, 2], 255 - wanted, atol=1)
    rect = composite.item.mapRectToParent(composite.item.boundingRect())
    assert (rect.left(), rect.top(), rect.right(), rect.bottom()) == (-0.5, -0.5, 39.5, 19.5)
    if step == 1:
        assert colours[5, 5].tolist() == [0, 0, 0, 0]
    said: list[str] = []
    pane.elementHovered.connect(said.append)
    pane.point_at((3, 39))
    assert said[-1].startswith("red band 0 1, green band 1 100, blue band 3 0   "), (
        "the values that are seen, first"
    )
    pane.point_at((5, 5))
    assert "green band 1 no value" in said[-1]
    # The slider of the bands changes what is below alone.
    pane.set_index(0, 2)
    qtbot.waitUntil(pane.is_settled)
    assert (composite.colours == colours).all()
    pane.look().set_overlay("composite", False)
    assert composite.item.image is None


def test_three_arrays_are_drawn_as_colours(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(*fields())
    pane.look().set_marks(Marks(composite=Composite("", ("/t", "/wind_e", "/height"), 0)))
    pane.look().set_overlay("composite", True)
    qtbot.waitUntil(pane.is_settled)
    colours = drawn(pane, "composite").colours
    # It is warm in the north; wind and height are the same everywhere, or grow eastwards.
    assert colours[0, 0].tolist() == [255, 128, 0, 255]
    assert colours[-1, -1, 0] < 20
    assert colours[0, -1, 2] > 235


def test_bands_in_the_dialog(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(bands())
    dialog = MarksDialog(pane)
    qtbot.addWidget(dialog)
    dialog.show()
    red = dialog.findChild(QComboBox, "marks_red")
    assert red is not None
    assert red.isEnabled()
    assert [red.itemData(row) for row in range(red.count())] == ["0", "1", "2", "3"]
    red.setCurrentIndex(3)
    red.activated.emit(3)
    assert pane.look().options.marks.composite == Composite("band", ("3", "1", "2"))


def test_lines_go_on_where_the_earth_meets_itself(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(*fields())
    pane.look().set_marks(Marks(spacing=Spacing((30.0,))))
    pane.look().set_overlay("contours", True)
    qtbot.waitUntil(pane.is_settled)
    plain = len(drawn(pane, "contours").item.strokes)
    pane.look().set_projection(ChosenProjection("north"))
    qtbot.waitUntil(pane.is_settled)
    ends = drawn(pane, "contours").item.strokes.reshape(-1, 2).round(-1)
    ends, counts = np.unique(ends, axis=0, return_counts=True)
    # A circle: each end is that of another piece.
    assert set(counts) == {2}
    assert len(ends) == plain + 1


def test_eastwards_is_east_where_the_grid_is_turned(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    rows, columns = np.indices((20, 30))
    where = {"coordinates": "lon lat", "units": "m s-1"}
    plotted(
        array("/e", np.full((20, 30), 10.0), ("y", "x"), standard_name="eastward_wind", **where),
        array("/n", np.zeros((20, 30)), ("y", "x"), standard_name="northward_wind", **where),
        # Longitudes grow with the rows, latitudes with the columns.
        array("/lon", 10 + rows * 0.5, ("y", "x"), units="degrees_east"),
        array("/lat", 40 + columns * 0.5, ("y", "x"), units="degrees_north"),
    )
    pane.look().set_projection(ChosenProjection())
    pane.look().set_overlay("arrows", True)
    qtbot.waitUntil(pane.is_settled)
    item = drawn(pane, "arrows").item

    def error() -> float:
        strokes, _dots = item.strokes()
        shafts = (strokes[:, 1] - strokes[:, 0])[: len(item.feet)]
        along_rows = item.in_pixels(item.feet + np.array([0.0, 1.0])) - item.in_pixels(item.feet)
        cosines = (shafts * along_rows).sum(axis=1) / np.hypot(*shafts.T) / np.hypot(*along_rows.T)
        return float(np.abs(cosines - 1).max())

    # It is found beside the thread of the window where the elements are.
    qtbot.waitUntil(lambda: error() < 1e-3)


def test_what_they_are_of_is_said_below(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(*fields())
    pane.look().set_marks(Marks(contours_of="/height"))
    pane.look().set_overlay("contours", True)
    pane.look().set_overlay("arrows", True)
    qtbot.waitUntil(pane.is_settled)
    note = pane.legend.note.text()
    assert "contours of height [m]" in note
    assert "arrows of wind_e and wind_n" in note
    assert pane.bar.isVisibleTo(pane)
    pane.look().set_marks(Marks(composite=Composite("", ("/t", "/wind_e", "/height"))))
    pane.look().set_overlay("composite", True)
    qtbot.waitUntil(pane.is_settled)
    assert "red t, green wind_e, blue height" in pane.legend.note.text()
    # The bar is that of the picture below.
    assert not pane.bar.isVisibleTo(pane)
    pane.look().set_overlay("composite", False)
    assert pane.bar.isVisibleTo(pane)
    assert "red" not in pane.legend.note.text()


def test_bands_as_colours_are_chosen_for_each_array(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(*fields())
    pane.look().set_overlay("composite", True)
    pane.look().set_overlay("contours", True)
    pane.set_array(document, document.hierarchy.find("/wind_e"))  # type: ignore[arg-type]
    qtbot.waitUntil(pane.is_settled)
    assert {"composite", "contours"} & pane.look().options.overlaid == {"contours"}
    pane.set_array(document, document.hierarchy.find("/t"))  # type: ignore[arg-type]
    qtbot.waitUntil(pane.is_settled)
    assert "composite" in pane.look().options.overlaid
