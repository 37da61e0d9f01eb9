from __future__ import annotations

import numpy as np
import pytest
from view_arrays import node

from refbrowser.model.selection import Selection
from refbrowser.views.plot.bands import Bands
from refbrowser.views.plot.coordinates import AxisRole, role_of
from refbrowser.views.plot.slicing import SliceMemory, SliceState, chunk_window, dimension_names, first_slice

PLAIN = AxisRole.NONE


def test_the_last_two_dimensions_are_the_axes() -> None:
    state = first_slice(node((2, 3, 4, 5)), [PLAIN] * 4)
    assert (state.y, state.x, state.sliders) == (2, 3, (0, 1))
    assert state.text() == "0,0,:,:"


def test_dimensions_of_one_are_no_axes() -> None:
    state = first_slice(node((1, 10_855)), [PLAIN] * 2)
    assert (state.y, state.x) == (None, 1)
    state = first_slice(node((4, 1, 5)), [PLAIN] * 3)
    assert (state.y, state.x) == (0, 2)
    assert first_slice(node((1, 1)), [PLAIN] * 2).axes == (1,)


def test_a_scalar_has_no_axis() -> None:
    state = first_slice(node(()), [])
    assert state.axes == ()
    assert state.index([]) == ()
    assert state.text() == ""


def test_a_map_is_found_by_its_roles() -> None:
    roles = [AxisRole.LONGITUDE, AxisRole.TIME, AxisRole.LATITUDE]
    state = first_slice(node((4, 5, 6)), roles)
    assert (state.y, state.x) == (2, 0)


def test_samples_of_pictures_come_after_their_axes() -> None:
    for names, y, x in ((("Y", "X", "S"), 0, 1), (("x", "z", "y"), 2, 0), (("y", "z", "t"), 1, 2)):
        state = first_slice(node((4, 5, 3), dimensions=names), [PLAIN] * 3)
        assert (state.y, state.x) == (y, x)


def test_names_are_made_up_where_there_are_none() -> None:
    assert dimension_names(node((2, 3), dimensions=("lat", None))) == ("lat", "dim 1")
    assert dimension_names(node((2, 3), dimensions=())) == ("dim 0", "dim 1")


def test_indices_stay_by_name_and_size() -> None:
    before = first_slice(node((5, 3, 4, 6), dimensions=("time", "level", "y", "x")), [PLAIN] * 4)
    before = before.with_index(0, 4).with_index(1, 2)
    after = first_slice(node((5, 7, 4, 6), dimensions=("time", "level", "y", "x")), [PLAIN] * 4, before)
    assert after.indices == (4, 0, 0, 0)
    same = first_slice(node((5, 3, 4, 6), dimensions=("time", "level", "y", "x")), [PLAIN] * 4, before)
    assert same == before


def test_slices_are_remembered_past_other_arrays() -> None:
    memory = SliceMemory()
    field = node((5, 3, 4, 6), dimensions=("time", "level", "y", "x"))
    state = first_slice(field, [PLAIN] * 4).with_index(0, 4).with_index(1, 2).with_x(0)
    memory.keep(state, field.dimensions)
    series = node((5, 9), dimensions=("time", "station"))
    memory.keep(memory.first(series, [PLAIN] * 2).with_y(None).with_index(0, 3), series.dimensions)
    scalar = node((), dimensions=())
    memory.keep(memory.first(scalar, []), ())
    again = memory.first(field, [PLAIN] * 4)
    assert again.axes == state.axes
    assert again.indices == (3, 2, 0, 0), "the newest index of a dimension counts"
    assert memory.first(node((3, 8), dimensions=("level", "x")), [PLAIN] * 2).indices == (2, 0)
    assert memory.first(node((7, 8), dimensions=("level", "x")), [PLAIN] * 2).indices == (0, 0)


def test_the_elements_of_a_chunk() -> None:
    field = node((5, 7), chunks=(2, 7))
    assert chunk_window(field, (2, 0)) == (range(4, 5), range(7))
    assert chunk_window(field, (3, 0)) is None
    assert chunk_window(field, (0,)) is None
    assert chunk_window(field, (-1, 0)) is None


def test_changes_give_new_values() -> None:
    state = SliceState((3, 4, 5), ("a", "b", "c"), 2, 1, (0, 0, 0))
    assert state.with_index(0, 9).indices == (2, 0, 0)
    assert state.with_index(0, -1).indices == (0, 0, 0)
    assert state.with_x(1).axes == (2, 1)
    assert state.with_x(0).axes == (1, 0)
    assert state.with_y(2).axes == (2, 1)
    assert state.with_y(None).axes == (2,)
    assert state.with_y(None).with_y(2) == state.with_y(None), "a line cannot use one dimension twice"
    assert state.with_y(None).with_y(0).axes == (0, 2)


def test_the_index_selects_what_it_says() -> None:
    values = np.arange(3 * 4 * 5).reshape(3, 4, 5)
    state = SliceState((3, 4, 5), ("a", "b", "c"), 0, 2, (0, 2, 0))
    np.testing.assert_array_equal(values[state.index([range(1, 5, 2), range(0, 3)])], values[0:3, 2, 1:5:2])


@pytest.mark.parametrize(
    ("name", "attributes", "role"),
    [
        ("a", {"units": "degrees_north"}, AxisRole.LATITUDE),
        ("a", {"units": "degree_east"}, AxisRole.LONGITUDE),
        ("a", {"units": "degreesE"}, AxisRole.LONGITUDE),
        ("a", {"standard_name": "projection_x_coordinate", "units": "m"}, AxisRole.EAST),
        ("a", {"units": "days since 1900-01-01"}, AxisRole.TIME),
        ("a", {"units": "m", "positive": "down"}, AxisRole.DOWN),
        ("a", {"units": "hPa"}, AxisRole.DOWN),
        ("a", {"units": "m", "positive": "up"}, AxisRole.UP),
        ("a", {"units": "m", "standard_name": "altitude"}, AxisRole.UP),
        ("a", {"axis": "Y"}, AxisRole.NORTH),
        ("lat", {}, AxisRole.LATITUDE),
        ("lat", {"units": 7}, AxisRole.LATITUDE),
        ("level", {}, AxisRole.OTHER),
    ],
)
def test_roles(name: str, attributes: dict[str, object], role: AxisRole) -> None:
    assert role_of(name, attributes) is role


def test_slices_are_parallel_that_are_held_elsewhere() -> None:
    state = first_slice(node((2, 3, 4, 5)), [PLAIN] * 4)
    assert state.is_parallel(state.with_index(0, 1))
    assert not state.is_parallel(state.with_x(0))
    assert not state.is_parallel(first_slice(node((2, 3, 4, 6)), [PLAIN] * 4))
    assert not state.is_parallel(None)


@pytest.mark.parametrize(
    ("text", "axes", "written", "window"),
    [
        ("1,:,:", (1, 2), "1,:,:", None),
        (":,2,:", (0, 2), ":,2,:", None),
        (":,:,3", (0, 1), ":,:,3", None),
        ("1,2,:", (2,), "1,2,:", None),
        ("1,2,3", (1, 2), "1,:,:", None),
        ("...", (1, 2), "0,:,:", None),
        ("1:3,:,:", (1, 2), "1,:,:", None),
        ("1:2,0:3,:", (1, 2), "1,:,:", (range(3), range(5))),
        ("-1,::2,4:1:-1", (1, 2), "2,:,:", (range(3), range(2, 5))),
        ("0,1:1,:", (1, 2), "0,:,:", None),
    ],
)
def test_a_selection_is_a_slice_and_a_part_of_it(
    text: str, axes: tuple[int, ...], written: str, window: tuple[range, ...] | None
) -> None:
    before = SliceState((3, 4, 5), ("t", "y", "x"), 2, 1, (0, 0, 0))
    state, part = before.selected(Selection.from_text(text, before.shape), None)
    assert (state.axes, state.text(), part) == (axes, written, window)
    # What is written of it is read as the same.
    again, once_more = before.selected(Selection.from_text(state.text(part), before.shape), None)
    assert (again.axes, again.text(), once_more) == (axes, written, window)


def test_axes_that_the_user_exchanged_stay() -> None:
    turned = SliceState((3, 4, 5), ("t", "y", "x"), 1, 2, (0, 0, 0))
    state, part = turned.selected(Selection.from_text("2,:,1:3", turned.shape), None)
    assert (state.axes, part) == ((2, 1), (range(1, 3), range(4)))
    line = turned.with_y(None)
    assert line.selected(Selection.from_text("2", turned.shape), None)[0].axes == (1, 2)


def test_bands_that_are_selected_whole_are_colours() -> None:
    bands = Bands(0)
    state = SliceState((3, 4, 5), ("rgb", "y", "x"), 2, 1, (0, 0, 0), bands)
    assert state.selected(Selection.from_text("1,:,:", state.shape), bands)[0].bands is None
    one = state.with_bands(None)
    in_colour, part = one.selected(Selection.from_text(state.text(), state.shape), bands)
    assert (in_colour.bands, in_colour.axes, part) == (bands, (1, 2), None)


def test_a_scalar_has_one_slice() -> None:
    state = SliceState((), (), 0, None, ())
    assert state.selected(Selection.from_text("", ()), None) == (state, None)
    assert state.text() == ""
