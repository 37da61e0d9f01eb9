from __future__ import annotations

import time
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_arrays import node

from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.coordinates import AxisRole
from refbrowser.views.plot.plan import first_values_plan, middle_plan, plan_view, sampled_plan, widened
from refbrowser.views.plot.slicing import first_slice


def whole(array: ArrayNode):  # type: ignore[no-untyped-def]
    return first_slice(array, [AxisRole.NONE] * len(array.shape))


def test_a_small_slice_is_read_whole() -> None:
    array = node((5, 1000, 2000), (1, 100, 100))
    plan = plan_view(array, whole(array))
    assert (plan.chunks, plan.elements, plan.is_sampled, plan.too_large) == (200, 2_000_000, False, False)
    assert plan.decoded == 200 * 100 * 100 * 4


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 10**4))
def test_no_plan_holds_more_than_the_limit(rows: int, columns: int, tall: int, wide: int) -> None:
    array = node((rows, columns), (tall, wide))
    state = whole(array)
    most = LIMITS.view_points if state.y is None else LIMITS.view_elements
    plan = plan_view(array, state)
    assert plan.elements <= most
    if rows * columns > 4 * most and state.y is not None:
        assert plan.elements > most / 8, "no more is left out than needed"
    for other in (sampled_plan(array, state), middle_plan(array, state)):
        assert other.elements <= most
        assert not other.too_large or prod(array.grid.chunk_shape) * 4 > LIMITS.view_decoded  # type: ignore[union-attr]


def test_a_huge_slice_of_small_chunks_is_asked_for() -> None:
    array = node((100_000, 100_000), (1000, 1000), dtype="<i2")
    state = whole(array)
    assert plan_view(array, state).too_large
    middle = middle_plan(array, state)
    assert not middle.is_sampled
    assert middle.elements > 1_000_000
    assert not sampled_plan(array, state).too_large


def test_many_bytes_in_few_chunks_are_asked_for() -> None:
    array = node((50_000, 50_000), (10_000, 10_000))
    assert plan_view(array, whole(array)).too_large


def test_a_plain_chunk_that_is_larger_than_memory_counts_by_what_is_taken() -> None:
    array = node((100_000, 100_000), (100_000, 100_000))
    plan = plan_view(array, whole(array))
    assert plan.chunks == 1
    assert plan.decoded == plan.elements * 4
    assert not plan.too_large


def test_a_window_is_planned_alone() -> None:
    array = node((1000, 1000), (10, 10))
    plan = plan_view(array, whole(array), [range(5, 25), range(100, 110)])
    assert plan.chunks == 3
    assert plan.covers([range(5, 25), range(100, 110)])
    assert not plan.covers([range(5, 26), range(100, 110)])
    assert plan.finer_than(plan_view(array, whole(array), steps=(1, 2)))


def test_a_window_is_widened_inside_the_array() -> None:
    array = node((100, 100))
    assert widened([range(0, 40), range(50, 90)], whole(array)) == [range(0, 50), range(40, 100)]


def test_a_table_takes_the_first_values() -> None:
    array = node((3, 10**9), (1, 1000), dtype="<U8")
    plan = first_values_plan(array, whole(array).with_y(None))
    assert plan.ranges == (range(0, LIMITS.table_values),)


def test_plans_of_astronomic_arrays_take_no_time() -> None:
    array = node((10**12, 10**12), (1, 1))
    state = whole(array)
    start = time.process_time()
    assert not sampled_plan(array, state).too_large
    assert not middle_plan(array, state).too_large
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize("size", [1, 2, 3])
def test_tiny_arrays(size: int) -> None:
    array = node((size, size))
    assert plan_view(array, whole(array)).elements == (size * size if size > 1 else 1)
