from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.plot.colouring import (
    NO_VALUE,
    PIXELS_MOST,
    boxes_of,
    colour_indices,
    decimation,
    extremes,
    window,
)
from refbrowser.views.plot.levels import Levels


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_colours_run_from_the_lower_to_the_upper_level(dtype: str) -> None:
    numbers = np.array([-np.inf, -5, 0, 50, 99.99, 100, 1e30, np.inf, np.nan], dtype)
    assert colour_indices(numbers, Levels(0, 100)).tolist() == [0, 0, 0, 127, 254, 254, 254, 254, NO_VALUE]


def test_small_differences_of_large_numbers_keep_their_colours() -> None:
    numbers = 1e9 + np.arange(10.0)
    indices = colour_indices(numbers, Levels(1e9, 1e9 + 10))
    assert len(set(indices.tolist())) == 10


@given(st.integers(0, 10**6), st.integers(1, 4000))
def test_decimation_leaves_about_a_cell_per_pixel(visible: int, pixels: int) -> None:
    step = decimation(visible, pixels)
    assert step & (step - 1) == 0
    assert step == 1 or visible // step >= max(1, min(pixels, PIXELS_MOST) * 3 // 4)
    assert visible // (step * 2) < max(1, pixels)


@given(st.floats(0, 1000), st.floats(0, 1000), st.integers(1, 1000), st.sampled_from([1, 2, 4, 8]))
def test_a_window_covers_the_view(first: float, second: float, size: int, step: int) -> None:
    low, high = sorted((min(first, size), min(second, size)))
    found = window(low, high, size, step)
    assert 0 <= found.start <= low or found.start == size
    assert min(high, size) <= found.stop <= size
    assert found.step == step


@given(st.integers(1, 5000), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_extremes_are_kept(count: int, pixels: int, seed: int) -> None:
    y = np.random.default_rng(seed).normal(size=count)
    x, reduced = extremes(np.arange(count, dtype=np.float64), y, pixels)
    assert len(x) == len(reduced) <= max(count, 8 * pixels)
    assert reduced.min() == y.min()
    assert reduced.max() == y.max()
    assert (np.diff(x) >= 0).all()


def test_gaps_stay_gaps() -> None:
    y = np.ones(10_000)
    y[2000:4000] = np.nan
    y[7000] = np.nan
    x, reduced = extremes(np.arange(10_000.0), y, 100)
    assert np.isnan(reduced[(x > 2100) & (x < 3900)]).all()
    assert not np.isnan(reduced[x > 5000]).any()


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_boxes_cover_the_marked_cells_and_no_other(rows: int, columns: int, seed: int) -> None:
    marked = np.random.default_rng(seed).random((rows, columns)) < 0.5
    covered = np.zeros((rows, columns), int)
    for top, bottom, left, right in boxes_of(marked).tolist():
        covered[top:bottom, left:right] += 1
    np.testing.assert_array_equal(covered, marked)
    assert boxes_of(np.ones((rows, columns), bool)).tolist() == [[0, rows, 0, columns]]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_colours_of_a_logarithmic_scale_are_those_of_the_logarithms(dtype: str) -> None:
    numbers = np.array([-5, 0, 0.5, 1, 10, 99.99, 100, 1e9, np.inf, np.nan], dtype)
    found = colour_indices(numbers, Levels(1, 100, log=True)).tolist()
    assert found == [0, 0, 0, 0, 127, 254, 254, 254, 254, NO_VALUE]
    spread = 10 ** np.random.default_rng(0).uniform(-2, 4, 1000)
    ours = colour_indices(spread.astype(dtype), Levels(0.01, 1e4, log=True)).astype(int)
    theirs = colour_indices(np.log10(spread), Levels(-2, 4)).astype(int)
    assert np.abs(ours - theirs).max() <= 1


@pytest.mark.parametrize(
    "levels", [Levels(0, 2e-38), Levels(0, 1e-320), Levels(-1e35, 1e35), Levels(1e-310, 1, True)]
)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_number_has_a_colour_between_levels_of_any_distance(levels: Levels, dtype: str) -> None:
    numbers = np.array([levels.low, levels.value(0.5), levels.high], dtype)
    found = colour_indices(numbers, levels)
    assert NO_VALUE not in found.tolist()
    assert found.tolist() == sorted(found.tolist())
