"""Slices across each other."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.arrangement.orthogonal import can_be_crossed, is_orthogonal, orthogonal_slices
from refbrowser.views.plot.slicing import SliceState


@given(st.permutations(range(5)), st.lists(st.integers(2, 6), min_size=5, max_size=5), st.data())
def test_they_meet_in_one_element(order: list[int], shape: list[int], data: st.DataObject) -> None:
    indices = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    x, y, third = order[:3]
    state = SliceState(tuple(shape), tuple("abcde"), x, y, indices)
    element = indices[y], indices[x]
    slices = orthogonal_slices(state, third, element)
    assert is_orthogonal(slices)
    assert slices[0] == state
    assert slices[1].y == state.y
    assert slices[2].x == state.x
    assert all(each.indices == indices for each in slices)
    assert {axis for each in slices for axis in each.axes} == {x, y, third}


def test_only_what_has_a_third_dimension_is_crossed() -> None:
    state = SliceState((3, 1, 4, 5), tuple("abcd"), 3, 2, (1, 0, 0, 0))
    assert can_be_crossed(state)
    assert orthogonal_slices(state, 1, None)[1].axes == (2, 0)
    assert orthogonal_slices(state, None, None)[0].indices == (1, 0, 2, 2)
    assert not can_be_crossed(state.with_y(None))
    assert not can_be_crossed(replace(state, shape=(1, 1, 4, 5)))
    assert not can_be_crossed(None)
    assert not is_orthogonal((state, state, state))
    assert not is_orthogonal(())
