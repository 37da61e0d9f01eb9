"""Linked views: what is done in one is done in all, where they have it in common."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from linked_documents import cube_arrays, write_arrays
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.arrangement.view_area import ViewArea
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.views.arrangement.arrangement import Arrangement
from refbrowser.views.arrangement.linking import Link
from refbrowser.views.maps.layouts import ChosenProjection
from refbrowser.views.plot.levels import Levels

Settle = Callable[[], None]
pytestmark = pytest.mark.slow


@pytest.fixture
def beside(
    window: MainWindow, opened: Open, tmp_path: Path, settle: Settle
) -> Callable[..., tuple[PlotPane, PlotPane]]:
    """Open two documents in views beside each other, of which the first is active; link them."""

    def open_both(first: Path, second: Path) -> tuple[PlotPane, PlotPane]:
        for path, action in ((first, None), (second, "split_right")):
            if action is not None:
                window.actions_[action].trigger()
            document = opened(path)
            window.hierarchy.select_node(document, "/t")
            settle()
        area = window.centre.views
        assert area is not None
        one, other = area.views()
        area.activate(one)
        window.actions_["link_views"].trigger()
        settle()
        return one, other

    return open_both


@pytest.fixture
def pair(beside: Callable[..., tuple[PlotPane, PlotPane]], tmp_path: Path) -> tuple[PlotPane, PlotPane]:
    """Views of five times on one grid, and of every second of these on the grid the other way round."""
    first = write_arrays(tmp_path / "a.json", cube_arrays())
    second = write_arrays(tmp_path / "b.json", cube_arrays(step=2, is_descending=True))
    return beside(first, second)


def indices(view: PlotPane) -> tuple[int, ...]:
    state = view.slice_state()
    assert state is not None
    return state.indices


def area_of(window: MainWindow) -> ViewArea:
    assert window.centre.views is not None
    return window.centre.views


def test_slices_follow_by_coordinate(
    window: MainWindow, pair: tuple[PlotPane, PlotPane], settle: Settle
) -> None:
    one, other = pair
    one.set_index(0, 4)
    assert indices(other)[0] == 2
    settle()
    assert (indices(one)[0], indices(other)[0]) == (4, 2)
    # From the other one, too; and nothing comes back from a coarser one.
    other.set_index(0, 1)
    settle()
    assert (indices(one)[0], indices(other)[0]) == (2, 1)
    one.set_index(0, 0)
    one.set_index(0, 3)
    settle()
    assert (indices(one)[0], indices(other)[0]) == (3, 1)
    # Slices are no longer linked on request.
    window.actions_["link_selection"].trigger()
    before = indices(other)
    one.set_index(0, 0)
    settle()
    assert indices(other) == before
    window.actions_["link_selection"].trigger()
    assert indices(other)[0] == 0


def test_what_cannot_follow_stays_and_says_so(
    window: MainWindow, beside: Callable[..., tuple[PlotPane, PlotPane]], tmp_path: Path, settle: Settle
) -> None:
    first = write_arrays(tmp_path / "a.json", cube_arrays())
    arrays = dict(cube_arrays(times=2))
    dimensions, values, _attributes = arrays["t"]
    other_units = {"t": (dimensions, values, {"units": "m"})}
    one, other = beside(first, write_arrays(tmp_path / "b.json", {**arrays, **other_units}))
    one.set_index(0, 4)
    settle()
    assert indices(other)[0] == 0
    note = other._link_note
    assert note.isVisible()
    assert "slice (time has no 2000-01-05)" in note.text()
    assert "levels (other units)" in note.text()
    one.set_index(0, 1)
    settle()
    assert indices(other)[0] == 1
    assert "slice" not in note.text()
    window.actions_["link_views"].trigger()
    assert not note.isVisible()


def test_the_cursor_is_in_all_at_one_coordinate(
    window: MainWindow, pair: tuple[PlotPane, PlotPane], settle: Settle
) -> None:
    one, other = pair
    told: list[object] = []
    other.elementPointed.connect(told.append)
    one.point_at((2, 3))
    # Latitudes fall in the other one.
    assert other.element() == (0, 6, 3)
    assert told == []
    assert other.status.isVisible()
    assert "985 K" in one.status.text()
    assert "985 K" in other.status.text()
    # The readout goes with the slice.
    one.set_index(0, 2)
    settle()
    assert "19015 K" in other.status.text()
    one.canvas.pointed.emit(None, None)
    assert other.element() is None
    assert other.status.text() == ""


def test_zoom_is_of_the_same_values(
    window: MainWindow, pair: tuple[PlotPane, PlotPane], settle: Settle
) -> None:
    one, other = pair
    for view in pair:
        view.look().set_aspect(False)
    one.canvas.show_range((1.5, 6.5), (-0.5, 3.5))
    settle()
    (left, right), (low, high) = other.canvas.box.viewRange()
    assert (left, right) == pytest.approx((1.5, 6.5))
    assert (low, high) == pytest.approx((4.5, 8.5))
    # A view that is only laid out anew moves nothing.
    before = one.canvas.view()[:2]
    other.canvas.viewMoved.emit()
    assert one.canvas.view()[:2] == before


def test_maps_are_in_one_projection(
    window: MainWindow, pair: tuple[PlotPane, PlotPane], settle: Settle
) -> None:
    one, other = pair
    wanted = next(each for each in one.look().options.projections if not each.name.startswith("i"))
    one.look().set_projection(ChosenProjection(wanted.name, (20.0, 0.0)))
    settle()
    assert other.look().options.projection == ChosenProjection(wanted.name, (20.0, 0.0))
    (left, right), (low, high) = one.canvas.box.viewRange()
    one.canvas.show_range((left / 2, right / 2), (low / 2, high / 2))
    settle()
    for mine, theirs in zip(one.canvas.box.viewRange(), other.canvas.box.viewRange(), strict=True):
        assert theirs == pytest.approx(mine, rel=0.05)
    # The cursor is at the same place, whatever draws it.
    one.look().set_projection(ChosenProjection())
    window.actions_["link_zoom"].trigger()
    other.look().set_projection(ChosenProjection(wanted.name))
    settle()
    one.point_at((4, 5))
    assert other.element() == (0, 4, 5)


def test_levels_and_colours_are_those_of_the_active_view(
    window: MainWindow, pair: tuple[PlotPane, PlotPane], settle: Settle
) -> None:
    one, other = pair
    assert other.drawing().keeper.levels == one.drawing().keeper.levels is not None
    one.look().set_levels(Levels(-5.0, 7.0))
    assert other.drawing().keeper.levels == Levels(-5.0, 7.0)
    one.look().set_map("Plasma")
    one.look().set_reverse(True)
    assert other.look().options.reverse
    assert other.drawing().palette.map_title == "Plasma"
    # The user sets them in the other one: it is active then.
    other.bar.levelsEdited.emit(Levels(0.0, 1.0))
    assert window.centre.plot is other
    assert one.drawing().keeper.levels == Levels(0.0, 1.0)
    other.look().set_log(True)
    settle()
    assert one.look().options.log
    # Without the link each has its own again.
    window.actions_["link_views"].trigger()
    settle()
    assert one.bar.high_words.text() != "linked"


def test_a_difference_has_levels_of_its_own_and_times_apart_go_by_position(
    window: MainWindow,
    beside: Callable[..., tuple[PlotPane, PlotPane]],
    tmp_path: Path,
    settle: Settle,
) -> None:
    later = dict(cube_arrays())
    dimensions, values, attributes = later["t"]
    later["t"] = (dimensions, values - 20_000, {**attributes, "long_name": "difference of temperatures"})
    dimensions, values, attributes = later["time"]
    later["time"] = (dimensions, values + 181, attributes)
    first, second = (tmp_path / name for name in ("a.json", "b.json"))
    one, other = beside(write_arrays(first, cube_arrays()), write_arrays(second, later))
    one.set_index(0, 3)
    settle()
    assert indices(other)[0] == 3
    assert other.drawing().keeper.levels != one.drawing().keeper.levels
    note = other._link_note.text()
    assert "levels (another kind of quantity)" in note
    assert note.endswith("time linked by position")
    # What is told is told of the view that is active.
    area_of(window).activate(other)
    settle()
    assert other._link_note.text() == ""
    assert one._link_note.text() == note


def test_an_array_that_is_opened_joins(
    window: MainWindow, pair: tuple[PlotPane, PlotPane], settle: Settle
) -> None:
    one, other = pair
    one.set_index(0, 2)
    settle()
    area = area_of(window)
    window.actions_["new_view"].trigger()
    settle()
    third = area.active
    assert indices(third)[0] == 2
    # Behind another tab it does not follow, and reads nothing; it does when it comes to the front.
    area.activate(one)
    settle()
    one.set_index(0, 4)
    settle()
    assert indices(third)[0] == 2
    area.activate(third)
    settle()
    assert indices(third)[0] == 4
    assert indices(other)[0] == 2


def test_links_are_part_of_the_arrangement(
    window: MainWindow, pair: tuple[PlotPane, PlotPane], settle: Settle
) -> None:
    window.actions_["link_levels"].trigger()
    area = area_of(window)
    state = Arrangement.from_json(area.arrangement_state().as_json())
    assert state.linked == {"selection", "zoom", "cursor", "map"}
    area.links.set_on(False)
    assert not area.arrangement_state().linked
    area.restore(state)
    assert area.links.linked == frozenset(Link) - {Link.LEVELS}
    assert window.actions_["link_views"].isChecked() == area.links.is_on


def test_a_linked_step_does_not_block_the_window(
    window: MainWindow,
    beside: Callable[..., tuple[PlotPane, PlotPane]],
    tmp_path: Path,
    qtbot: QtBot,
    settle: Settle,
) -> None:
    values = np.random.default_rng(0).normal(size=(6, 180, 360))
    arrays = {"t": (("time", "y", "x"), values, {"units": "K"})}
    one, other = beside(write_arrays(tmp_path / "a.json", arrays), write_arrays(tmp_path / "b.json", arrays))
    moves = [0]
    other.viewChanged.connect(lambda: moves.__setitem__(0, moves[0] + 1))
    longest = 0.0
    for index in (1, 2, 3, 4, 5):
        one.set_index(0, index)
        while not (one.is_settled() and other.is_settled()):
            before = time.thread_time()
            QCoreApplication.processEvents()
            longest = max(longest, time.thread_time() - before)
    assert indices(other)[0] == 5
    # Each step moves the other once: nothing goes round.
    assert moves[0] == 5
    assert longest < 0.15
