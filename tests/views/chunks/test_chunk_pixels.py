"""From cells to pixels: each pixel shows the greatest number of the cells it covers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.chunks.chunk_pixels import MARKS_MOST, TILE, Span, mark_few, painted, pooled


@given(
    st.integers(1, 40), st.integers(1, 40), st.integers(1, 60), st.integers(1, 60),
    st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0, 8.0]), st.integers(0, 20), st.integers(0, 3),
)  # fmt: skip
def test_no_number_is_lost_and_none_is_made(
    rows: int, columns: int, high: int, wide: int, scale: float, start: int, seed: int
) -> None:
    classes = np.random.default_rng(seed).integers(1, 200, (rows, columns)).astype(np.uint8)
    down, across = Span(start % rows, scale, high), Span(0, scale, wide)
    found = pooled(classes, range(rows), range(columns), down, across)
    assert found.shape == (high, wide)
    for y in range(high):
        top = down.cell_at(y)
        bottom = max(top + 1, int(np.ceil(down.start + (y + 1) / scale)))
        for x in range(0, wide, 7):
            left = across.cell_at(x)
            right = max(left + 1, int(np.ceil((x + 1) / scale)))
            part = classes[top:bottom, left:right]
            assert found[y, x] == (part.max() if part.size else 0), (y, x)


def test_a_map_that_leaves_cells_out_is_drawn_as_large() -> None:
    classes = np.arange(1, 13, dtype=np.uint8).reshape(3, 4)
    found = pooled(classes, range(0, 9, 3), range(0, 12, 3), Span(0, 1, 9), Span(0, 1, 12))
    np.testing.assert_array_equal(found, np.repeat(np.repeat(classes, 3, axis=0), 3, axis=1))


def test_a_part_of_the_map_stands_where_it_belongs() -> None:
    classes = np.full((2, 2), 7, np.uint8)
    found = pooled(classes, range(4, 6), range(1, 3), Span(3, 1, 5), Span(0, 1, 5))
    wanted = np.zeros((5, 5), np.uint8)
    wanted[1:3, 1:3] = 7
    np.testing.assert_array_equal(found, wanted)


def test_patterns_are_laid_from_the_corner() -> None:
    patterns = np.arange(2 * TILE * TILE, dtype=np.uint32).reshape(2, TILE, TILE)
    numbers = np.ones((TILE + 3, 2 * TILE), np.uint8)
    found = painted(numbers, patterns)
    np.testing.assert_array_equal(found[:TILE, :TILE], patterns[1])
    np.testing.assert_array_equal(found[TILE:, TILE:], patterns[1][:3])


def test_few_pixels_are_made_larger_and_many_are_not() -> None:
    colours = np.zeros(256, np.uint32)
    colours[5] = 99
    numbers = np.ones((100, 100), np.uint8)
    numbers[50, 50], numbers[0, 0] = 5, 5
    image = np.zeros((100, 100), np.uint32)
    mark_few(image, numbers, colours)
    assert (image == 99).sum() == 9 + 4
    assert image[49, 51] == image[1, 1] == 99
    numbers[:] = 5
    assert numbers.size > MARKS_MOST
    image[:] = 0
    mark_few(image, numbers, colours)
    assert not image.any()
