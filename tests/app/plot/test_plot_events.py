"""The plot as hands use it: wheel, drags and double clicks, typed numbers, keys that belong to it alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from plot_memory import array
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QSlider, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from refbrowser.app.plot.axes.chart import LineChart, chart_line
from refbrowser.app.plot.canvas import PlotCanvas
from refbrowser.app.plot.header import PlotHeader
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.views.plot.picture import ChunkState
from refbrowser.views.plot.slicing import SliceState

Plotted = Callable[..., object]
LEFT = Qt.MouseButton.LeftButton
#: Everything, in indices, of an image of 40 x 60.
WHOLE = ((-0.5, 59.5), (-0.5, 39.5))


@pytest.fixture
def image(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> PlotPane:
    days = {"units": "days since 2000-02-28", "calendar": "360_day"}
    plotted(
        array("/field", np.arange(9600.0).reshape(4, 40, 60), ("time", "y", "x")),
        array("/time", np.arange(4.0), ("time",), **days),  # type: ignore[arg-type]
    )
    assert seen(pane) == approximately(WHOLE)
    # The axes take their room when they are painted.
    pane.canvas.grab()
    qtbot.wait(50)
    pane.canvas.grab()
    return pane


def seen(pane: PlotPane) -> tuple[tuple[float, float], tuple[float, float]]:
    across, upwards, _size = pane.canvas.view()
    return across, upwards


def approximately(view: tuple[tuple[float, float], tuple[float, float]]) -> object:
    return (pytest.approx(view[0], abs=0.2), pytest.approx(view[1], abs=0.2))


def place(pane: PlotPane, across: float, upwards: float) -> QPoint:
    """Return where on the screen a position of the plot is."""
    return pane.canvas.mapFromScene(pane.canvas.box.mapViewToScene(QPointF(across, upwards)))


def wheel(pane: PlotPane, at: QPoint, turns: int) -> None:
    viewport = pane.canvas.viewport()
    event = QWheelEvent(
        QPointF(at),
        QPointF(viewport.mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * turns),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(viewport, event)


def drag(qtbot: QtBot, pane: PlotPane, button: Qt.MouseButton, start: QPoint, end: QPoint) -> None:
    viewport = pane.canvas.viewport()
    qtbot.mousePress(viewport, button, pos=start)
    for part in range(1, 9):
        qtbot.mouseMove(viewport, start + (end - start) * part / 8)
        qtbot.wait(20)
    qtbot.mouseRelease(viewport, button, pos=end)


def test_the_wheel_zooms_about_the_pointer(image: PlotPane, qtbot: QtBot) -> None:
    at = place(image, 10, 30)
    wheel(image, at, 2)
    qtbot.waitUntil(lambda: seen(image)[0][1] - seen(image)[0][0] < 50)
    left, right = seen(image)[0]
    assert 10 - left < right - 10, "the element under the pointer stays there"
    found = image.canvas.position_at(image.canvas.mapToScene(at))
    assert found == pytest.approx((10, 30), abs=0.6)
    wheel(image, at, -20)
    qtbot.waitUntil(lambda: seen(image)[0][1] - seen(image)[0][0] > 59)
    assert seen(image)[0][1] - seen(image)[0][0] < 75, "no further than a little more than everything"


def test_dragging_pans_and_a_double_click_shows_all(image: PlotPane, qtbot: QtBot) -> None:
    viewport = image.canvas.viewport()
    wheel(image, place(image, 30, 20), 4)
    before = seen(image)
    start, end = place(image, 30, 20), place(image, 34, 20)
    drag(qtbot, image, LEFT, start, end)
    qtbot.waitUntil(lambda: seen(image)[0][0] == pytest.approx(before[0][0] - 4, abs=1))
    assert seen(image)[0][1] - seen(image)[0][0] == pytest.approx(before[0][1] - before[0][0])
    qtbot.mouseClick(viewport, LEFT, pos=start)
    qtbot.mouseDClick(viewport, LEFT, pos=start)
    qtbot.mouseRelease(viewport, LEFT, pos=start)
    qtbot.waitUntil(lambda: seen(image) == approximately(WHOLE))


def test_the_right_button_zooms_to_a_rectangle(image: PlotPane, qtbot: QtBot) -> None:
    drag(qtbot, image, Qt.MouseButton.RightButton, place(image, 10, 10), place(image, 30, 25))
    qtbot.waitUntil(lambda: seen(image) == approximately(((10, 30), (10, 25))))


def test_an_index_can_be_typed(image: PlotPane, qtbot: QtBot) -> None:
    field, slider = image.findChild(QSpinBox, "index_time"), image.findChild(QSlider, "slider_time")
    assert field is not None
    assert slider is not None
    assert image.sliders.row_text(0) == "2000-02-28"
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "2")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: image.is_settled() and slider.value() == 2)
    assert image.sliders.row_text(0) == "2000-02-30", "a day of this calendar"
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: image.is_settled() and field.value() == 3)
    picture = image.picture()
    assert picture is not None
    assert picture.values[0, 0] == 7200
    assert image.sliders.row_text(0) == "2000-03-01"


def test_letters_are_for_the_plot_that_has_the_focus(image: PlotPane, qtbot: QtBot) -> None:
    field = image.findChild(QSpinBox, "index_time")
    assert field is not None
    before = image.look().options
    for widget in (field, image.bar.low_field, image.header.x_axis):
        widget.setFocus()
        for key in (Qt.Key.Key_L, Qt.Key.Key_H, Qt.Key.Key_A, Qt.Key.Key_C):
            qtbot.keyClick(widget, key)
    assert image.look().options == before
    assert image.header.map.currentText() == "Viridis"
    for name, key in (("log", Qt.Key.Key_L), ("histogram", Qt.Key.Key_H), ("aspect", Qt.Key.Key_A)):
        image.canvas.setFocus()
        qtbot.keyClick(image.canvas, key)
        assert getattr(image.look().options, name) is not getattr(before, name)
    qtbot.keyClick(image.canvas, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert image.look().options.log, "with Ctrl it is another key"


def test_axes_are_chosen_with_the_keyboard(image: PlotPane, qtbot: QtBot) -> None:
    combo = image.header.y_axis
    combo.setFocus()
    qtbot.keyClick(combo, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: image.is_settled() and image.canvas.line.picture is not None)
    state = image.slice_state()
    assert state is not None
    assert (state.x, state.y) == (2, None)
    assert image.canvas.line.heights.tolist() == np.arange(60.0).tolist()


def test_right_goes_right_on_a_line_whose_coordinate_falls(
    plotted: Plotted, pane: PlotPane, qtbot: QtBot
) -> None:
    distances = np.array([1000.0, 850, 500, 100])
    plotted(
        array("/profile", np.arange(4.0), ("distance",)),
        array("/distance", distances, ("distance",), units="km"),
    )
    pane.point_at((1,))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert pane.element() == (0,), "1000 km is right of 850"


def test_the_cursor_of_a_chart_goes_right_where_the_places_fall(qtbot: QtBot) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    chart = LineChart("chart", "Chart", around)
    places, states = np.array([1000.0, 850, 500, 100]), np.full(4, ChunkState.DONE, np.uint8)
    chart.set_lines([chart_line(places, np.arange(4.0), states, "#000000", "o", states < 0)])
    chart.set_cursor(850.0)
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert chart.place == 1000
    qtbot.keyClick(chart, Qt.Key.Key_Left)
    assert chart.place == 850


def test_rings_are_around_points_of_stale_files_however_many_points_there_are(qtbot: QtBot) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    chart = LineChart("chart", "Chart", around)
    chart.resize(300, 200)
    chart.grab()
    places = np.arange(100_000.0)
    states, stale = np.full(len(places), ChunkState.DONE, np.uint8), np.zeros(len(places), bool)
    stale[[7, 50_000]] = True
    stale[90_000:] = True
    numbers = np.where(places == 50_000, np.nan, places)
    chart.set_lines([chart_line(places, numbers, states, "#000000", "o", stale)])
    (drawn,) = chart.ringed_places()
    # One that stands alone has its ring, one without a value has none, and many together have some.
    assert drawn[0] == 7
    assert 2 < len(drawn) < 300
    assert drawn[1:].min() >= 90_000
    chart.set_lines([chart_line(places, numbers, states, "#000000", "o", stale & False)])
    assert [len(each) for each in chart.ringed_places()] == [0]


def test_home_brings_the_lines_of_a_chart_back(qtbot: QtBot) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    chart = LineChart("chart", "Chart", around)
    states = np.full(4, ChunkState.DONE, np.uint8)
    chart.set_lines([chart_line(np.arange(4.0), np.arange(4.0), states, "#000000", "o", states < 0)])
    whole = chart.box.viewRange()
    chart.box.setXRange(1, 1.5, padding=0)
    assert chart.box.viewRange() != whole
    qtbot.keyClick(chart, Qt.Key.Key_Home)
    assert np.allclose(chart.box.viewRange(), whole)


def test_names_of_dimensions_come_before_that_of_the_colours(qtbot: QtBot) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    header = PlotHeader(around)
    header.set_slice(
        SliceState((2, 20, 30), ("time", "latitude", "longitude"), 2, 1, (0, 0, 0)), has_axes=True
    )
    around.show()
    least = header.minimumSizeHint().width()
    for width in (900, 700, 560, least):
        header.resize(width, 80)
        header.layout().activate()
        whole = [combo.width() >= combo.sizeHint().width() for combo in (header.x_axis, header.y_axis)]
        assert all(whole) or header.map.width() == header.map.minimumWidth(), width
        assert all(whole) or width == least, width
        # The letters before them come only where there is room.
        assert header.minimumSizeHint().width() <= least + 40, "what is shown does not hold the window"


def test_a_picture_that_came_whole_is_drawn_once(image: PlotPane, qtbot: QtBot) -> None:
    presenter, told = image._presenter, []
    presenter.loader.hold = 60.0  # the picture is shown when it is whole
    presenter.stage.valuesChanged.connect(lambda: told.append("values"))
    presenter.stage.pictureEnded.connect(lambda: told.append("ended"))
    image.elementPointed.connect(lambda _index: told.append("pointed"))
    image.arrayChanged.connect(lambda: told.append("array"))
    image.viewChanged.connect(lambda: told.append("view"))
    image.sliders.step(0, 1)
    qtbot.waitUntil(lambda: "ended" in told)
    assert told == ["view", "values", "ended"], "nobody points at it, and it is the same array"
    image.canvas.pointed.emit(3.0, 4.0)
    assert told.pop() == "pointed"
    image.sliders.step(0, 1)
    qtbot.waitUntil(lambda: told.count("ended") == 2)
    assert told[3:] == ["view", "pointed", "values", "ended"], "its value is another one"
    image.canvas.pointed.emit(None, None)
    image.canvas.pointed.emit(None, None)
    assert told.count("pointed") == 2, "once that there is none"


def test_a_move_of_a_slider_concerns_neither_controls_nor_axes(
    image: PlotPane, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    presenter, told = image._presenter, []
    presenter.changed.connect(lambda: told.append("changed"))
    presenter.stage.controlsChanged.connect(lambda: told.append("controls"))
    image.viewChanged.connect(lambda: told.append("view"))
    image.settled.connect(lambda: told.append("settled"))
    monkeypatch.setattr(PlotCanvas, "set_scales", lambda _self, *_scales: told.append("axes"))
    image.sliders.step(0, 1)
    qtbot.waitUntil(lambda: "settled" in told)
    assert told == ["view", "settled"]
    presenter.choose_y(0)
    qtbot.waitUntil(lambda: told.count("settled") == 2)
    assert {"changed", "controls", "axes"} <= set(told), "another axis does"


def test_a_logarithmic_axis_is_laid_out_anew(image: PlotPane, qtbot: QtBot) -> None:
    image._presenter.choose_y(None)
    qtbot.waitUntil(image.is_settled)
    image.look().set_log(True)
    assert image.canvas.upwards.log
