"""The sides of blocks: they cover an array once, and are as large as they may be."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.exporting.block_sides import (
    boxes,
    count_boxes,
    cut_sides,
    grown_sides,
    is_run,
    run_sides,
)

SHAPES = st.lists(st.integers(1, 20), max_size=4).map(tuple)


@st.composite
def cases(draw):
    shape = draw(SHAPES)
    unit = tuple(draw(st.integers(1, 25)) for _ in shape)
    return shape, unit, draw(st.integers(1, 5000))


def order_of(shape, sides):
    """Return the numbers of all elements in the order in which blocks bring them."""
    numbers = np.arange(prod(shape)).reshape(shape)
    return np.concatenate([numbers[(*box, ...)].reshape(-1) for box in boxes(shape, sides)])


@pytest.mark.slow
@given(cases())
def test_blocks_of_any_sides_cover_every_element_once(case) -> None:
    shape, unit, most = case
    for sides in (
        grown_sides(shape, unit, most),
        run_sides(shape, unit, most),
        cut_sides(shape, most),
    ):
        assert sorted(order_of(shape, sides)) == list(range(prod(shape)))
        assert count_boxes(shape, sides) == len(list(boxes(shape, sides)))


@given(cases())
def test_runs_come_in_the_order_of_the_elements(case) -> None:
    shape, unit, most = case
    sides = run_sides(shape, unit, most)
    assert order_of(shape, sides).tolist() == list(range(prod(shape)))
    assert is_run(shape, sides)
    assert prod(sides) <= most


@given(cases())
def test_is_run_tells_whether_blocks_are_stretches(case) -> None:
    shape, unit, _ = case
    sides = tuple(min(side, length) for side, length in zip(unit, shape, strict=True))
    numbers = np.arange(prod(shape)).reshape(shape)
    blocks = [numbers[(*box, ...)].reshape(-1) for box in boxes(shape, sides)]
    stretches = all(block[-1] - block[0] == len(block) - 1 for block in blocks)
    assert is_run(shape, sides) <= stretches


@given(cases())
def test_grown_blocks_hold_whole_units(case) -> None:
    shape, unit, most = case
    sides = grown_sides(shape, unit, most)
    clipped = tuple(min(side, length) for side, length in zip(unit, shape, strict=True))
    assert prod(sides) <= max(most, prod(clipped))
    for side, step, length in zip(sides, clipped, shape, strict=True):
        assert side % step == 0 or side == length


def test_equal_parts_are_preferred() -> None:
    assert cut_sides((100, 10), 700) == (50, 10)
    assert cut_sides((97, 10), 700) == (70, 10)
