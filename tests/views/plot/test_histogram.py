from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.plot.levels import BINS, Levels, histogram


def test_every_value_is_counted_where_it_is() -> None:
    found = histogram(np.array([0, 0, 0, 10, np.nan, 10]), Levels(0, 10))
    assert found is not None
    assert (found.span.low, found.span.high) == (0, 10)
    assert found.counts[0] == 3
    assert found.counts[-1] == 2
    assert found.counts.sum() == 5
    assert found.heights.max() == 1
    assert found.heights[-1] == np.sqrt(2 / 3)


def test_a_stray_value_does_not_press_the_others_together() -> None:
    found = histogram(np.concatenate([np.linspace(0, 1, 1000), [1e30]]), Levels(0, 1))
    assert found is not None
    assert found.span.high == 4
    assert found.counts.sum() == 1000


def test_bars_stand_on_the_scale_of_the_levels() -> None:
    values = 10.0 ** np.arange(-2, 4).repeat(10)
    found = histogram(np.concatenate([values, [0, -5]]), Levels(0.01, 1000, log=True))
    assert found is not None
    assert found.span.log
    filled = np.flatnonzero(found.counts)
    assert found.counts[filled].tolist() == [10] * 6, "equal ratios are equally far apart; zero has no place"
    assert np.ptp(np.diff(filled)) <= 1
    assert histogram(np.array([0.0, -1]), Levels(1, 2, log=True)) is None
    assert histogram(np.array([np.nan]), Levels(1, 2)) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_the_levels_are_on_the_strip(values: list[float], low: float, width: float) -> None:
    levels = Levels(low, low + width)
    found = histogram(np.array(values), levels)
    assert found is not None
    assert len(found.counts) == BINS
    assert found.span.low <= levels.low + 1e-6
    assert found.span.high >= levels.high - 1e-6
