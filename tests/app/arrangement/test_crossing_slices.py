"""Three orthogonal slices: lines in each move the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from linked_documents import write_arrays
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.arrangement.view_area import ViewArea
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.views.arrangement.arrangement import Arrangement

Settle = Callable[[], None]
pytestmark = pytest.mark.slow
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def area(window: MainWindow, opened: Open, tmp_path: Path, settle: Settle) -> ViewArea:
    """Three slices of a cube of 5 levels, 7 rows and 9 columns at each of 3 times; and an array like it."""
    values = np.arange(3 * 5 * 7 * 9, dtype=float).reshape(3, 5, 7, 9)
    arrays = {name: (("time", "z", "y", "x"), values * sign, {}) for name, sign in (("t", 1), ("u", -1))}
    arrays["flat"] = (("y", "x"), values[0, 0], {})
    document = opened(write_arrays(tmp_path / "cube.json", arrays))
    window.hierarchy.select_node(document, "/t")
    settle()
    views = window.centre.views
    assert views is not None
    # The level is what was moved last.
    views.active.set_index(1, 2)
    settle()
    window.actions_["three_slices"].trigger()
    settle()
    return views


def slices(area: ViewArea) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    states = [view.slice_state() for view in area.crossing.views]
    return [(state.axes, state.indices) for state in states if state is not None]


def held(area: ViewArea) -> list[dict[int, int]]:
    """Return where each view is held."""
    states = [view.slice_state() for view in area.crossing.views]
    return [{axis: state.indices[axis] for axis in state.sliders} for state in states if state is not None]


def cross(area: ViewArea, view: PlotPane) -> tuple[int, int] | None:
    return area.crossing._lines[view].element


def test_three_slices_cross_in_one_element(window: MainWindow, area: ViewArea) -> None:
    assert [axes for axes, _indices in slices(area)] == [(2, 3), (2, 1), (1, 3)]
    assert held(area) == [{0: 0, 1: 2}, {0: 0, 3: 4}, {0: 0, 2: 3}]
    assert [cross(area, view) for view in area.crossing.views] == [(3, 4), (3, 2), (2, 4)]
    assert window.actions_["three_slices"].isChecked()


def test_lines_are_dragged(area: ViewArea, settle: Settle, qtbot: QtBot) -> None:
    first = area.crossing.views[0]
    canvas = first.canvas

    def on_screen(across: float, upwards: float) -> QPointF:
        return canvas.mapFromScene(canvas.box.mapViewToScene(QPointF(across, upwards))).toPointF()

    start, end = on_screen(4.0, 1.0).toPoint(), on_screen(8.0, 1.0).toPoint()
    port = canvas.viewport()
    QTest.mouseMove(port, start)
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    for part in (0.3, 0.6, 1.0):
        QTest.mouseMove(port, start + (end - start) * part)
        qtbot.wait(20)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=end)
    settle()
    assert held(area) == [{0: 0, 1: 2}, {0: 0, 3: 8}, {0: 0, 2: 3}]
    assert cross(area, first) == (3, 8)
    # The picture stayed where it was.
    assert canvas.box.viewRange()[0] == pytest.approx([-0.5, 8.5], abs=1.5)


def test_keys_clicks_and_sliders_move_all(area: ViewArea, settle: Settle) -> None:
    first, second, third = area.crossing.views
    first.canvas.setFocus()
    QTest.keyClick(first.canvas, Qt.Key.Key_Right, SHIFT)
    settle()
    assert cross(area, first) == (3, 5)
    assert held(area)[1][3] == 5
    second.elementChosen.emit((0, 4, 1, 5))
    settle()
    assert [cross(area, view) for view in (first, second, third)] == [(1, 5), (1, 4), (4, 5)]
    assert held(area)[0] == {0: 0, 1: 4}
    # A dimension that is on no axis is that of all.
    third.set_index(0, 2)
    settle()
    assert [each[0] for each in held(area)] == [2, 2, 2]
    values = [view.picture().values for view in area.crossing.views]  # type: ignore[union-attr]
    assert [value.shape for value in values] == [(7, 9), (7, 5), (5, 9)]
    assert values[0][1, 5] == values[1][1, 4] == values[2][4, 5]


def test_another_array_is_shown_in_all_and_one_of_other_dimensions_ends_it(
    window: MainWindow, area: ViewArea, settle: Settle
) -> None:
    document = window.documents.current
    assert document is not None
    window.hierarchy.select_node(document, "/u")
    settle()
    assert [view.array().path for view in area.crossing.views] == ["/u"] * 3  # type: ignore[union-attr]
    assert [axes for axes, _indices in slices(area)] == [(2, 3), (2, 1), (1, 3)]
    window.hierarchy.select_node(document, "/flat")
    settle()
    assert not area.crossing.is_on
    assert len(area.views()) == 3


def test_they_end_with_the_command_or_a_view(window: MainWindow, area: ViewArea, settle: Settle) -> None:
    state = Arrangement.from_json(area.arrangement_state().as_json())
    plots = [view.state() for view in area.views()]
    assert sorted(state.crossing) == [0, 1, 2]
    window.actions_["three_slices"].trigger()
    settle()
    assert len(area.views()) == 1
    assert not window.actions_["three_slices"].isChecked()
    # They come back with what they showed.
    document = window.documents.current
    assert document is not None
    for view, plot in zip(area.restore(state), plots, strict=True):
        assert plot is not None
        view.restore(document, plot)
    settle()
    assert area.crossing.is_on
    assert cross(area, area.crossing.views[0]) == (3, 4)
    area.close_view(area.views()[1])
    settle()
    assert not area.crossing.is_on
    assert len(area.views()) == 2
