"""Moments of blocks, merged, against numpy over all numbers at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from refbrowser.engine.statistics.distribution import CLASSES, KEPT, Distribution
from refbrowser.engine.statistics.moments import Extremes, Moments

numbers = npst.arrays(
    np.float64,
    st.tuples(st.integers(1, 3), st.integers(0, 30)),
    elements=st.one_of(st.floats(-1e6, 1e6), st.just(np.nan)),
)


@given(numbers, st.integers(0, 30), st.integers(0, 2**32))
def test_merged_blocks_are_the_whole(values: np.ndarray, cut: int, seed: int) -> None:
    weights = np.random.default_rng(seed).random(values.shape[1])
    for weigh in (None, weights):
        merged = Moments.none(len(values))
        for part in (slice(0, cut), slice(cut, None)):
            merged.add(Moments.of(values[:, part], None if weigh is None else weigh[part]))
        filled = np.ones(values.shape[1]) if weigh is None else weigh
        for row, found in enumerate(merged.known_mean):
            known = ~np.isnan(values[row])
            if not filled[known].sum():
                assert np.isnan(found)
                assert np.isnan(merged.deviation[row])
                continue
            mean = np.average(values[row][known], weights=filled[known])
            spread = np.sqrt(np.average((values[row][known] - mean) ** 2, weights=filled[known]))
            assert found == pytest.approx(mean, rel=1e-9, abs=1e-6)
            assert merged.deviation[row] == pytest.approx(spread, rel=1e-6, abs=1e-6)
        together = merged.together()
        all_known = ~np.isnan(values)
        spread_out = np.broadcast_to(filled, values.shape)[all_known]
        if spread_out.sum():
            mean = np.average(values[all_known], weights=spread_out)
            assert together.known_mean[0] == pytest.approx(mean, rel=1e-9, abs=1e-6)


def test_digits_do_not_cancel() -> None:
    values = 1e9 + np.random.default_rng(0).normal(size=(1, 100_000))
    merged = Moments.none(1)
    for at in range(0, 100_000, 999):
        merged.add(Moments.of(values[:, at : at + 999]))
    assert merged.deviation[0] == pytest.approx(values.std(), rel=1e-9)


@given(numbers)
def test_extremes_pass_over_what_is_no_number(values: np.ndarray) -> None:
    found = Extremes.of(values)
    for row, each in enumerate(values):
        known = each[~np.isnan(each)]
        assert found.low[row] == (known.min() if len(known) else pytest.approx(np.nan, nan_ok=True))
        assert found.high[row] == (known.max() if len(known) else pytest.approx(np.nan, nan_ok=True))


PARTS = (0.0, 0.05, 0.5, 0.95, 1.0)


@pytest.mark.parametrize("shift", [0.0, 1e5])
@pytest.mark.slow
def test_quantiles_are_as_near_as_they_say(shift: float) -> None:
    # What comes later lies elsewhere than what the classes were made for.
    chance = np.random.default_rng(1)
    blocks = [chance.normal(270, 9, KEPT), *(chance.normal(270 + shift, 9, 300_000) for _ in range(3))]
    counted = Distribution()
    for block in blocks:
        counted.add(block)
    whole = np.concatenate(blocks)
    assert counted.is_full
    for part, value, error in counted.quantiles(PARTS):
        assert abs(value - np.quantile(whole, part)) <= error, part
        assert error <= (whole.max() - whole.min()) / CLASSES * 2 + abs(shift) / 200
    assert counted.histogram(whole.min(), whole.max(), 10).counts.sum() == whole.size


def test_few_values_have_exact_quantiles() -> None:
    values = np.random.default_rng(2).normal(size=999)
    counted = Distribution()
    counted.add(values[:500])
    counted.add(values[500:])
    assert [each.value for each in counted.quantiles(PARTS)] == np.quantile(values, PARTS).tolist()
    assert np.isnan(Distribution().quantiles([0.5])[0].value)
    assert counted.histogram(-1, 1, 4).counts.tolist() == np.histogram(values, 4, (-1, 1))[0].tolist()


def test_known_values_are_counted_one_by_one() -> None:
    only = np.arange(-50, 50) * 0.01 + 280
    values = np.random.default_rng(3).choice(only, 5000)
    counted = Distribution(only)
    counted.add(values)
    found = counted.quantiles(PARTS)
    assert [each.error for each in found] == [0.0] * len(PARTS)
    assert [each.value for each in found] == pytest.approx(np.quantile(values, PARTS).tolist(), abs=1e-12)


def test_infinities_and_far_numbers_have_their_place() -> None:
    counted = Distribution()
    counted.add(np.linspace(0, 1, KEPT + 1))
    counted.add(np.array([-np.inf, -1e300, 1e300, np.inf]))
    low, high = counted.quantiles([0.0, 1.0])
    assert (low.value, high.value) == (-np.inf, np.inf)


@pytest.mark.parametrize("count", [1, 2])
def test_counts_are_those_of_numpy_at_every_edge(count: int) -> None:
    """What lies on, within and beyond the classes is counted once each, also where they are added twice."""
    counted = Distribution()
    first = np.linspace(-1, 1, KEPT + 1)
    counted.add(first)
    edges = np.array([-3.0, np.nextafter(-3, 0), -1.0, -0.0, 1.0, np.nextafter(3, 0), 3.0, 1e9, -1e9])
    for _ in range(count):
        counted.add(edges)
    whole = np.concatenate([first, *[edges] * count])
    assert counted.histogram(-1e9, 1e9, 7).counts.tolist() == np.histogram(whole, 7, (-1e9, 1e9))[0].tolist()
    for part, value, error in counted.quantiles(PARTS):
        assert abs(value - np.quantile(whole, part)) <= error, part
