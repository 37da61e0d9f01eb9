from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.plot.levels import (
    LevelKeeper,
    Levels,
    beyond,
    found_in,
    histogram,
    levels_of,
    outside,
    still_fit,
)


@given(st.lists(st.floats(width=32), max_size=200))
def test_levels_rise_and_hold_most_values(values: list[float]) -> None:
    sample = np.array(values, np.float64)
    levels = levels_of(sample)
    if not np.isfinite(sample).any():
        assert levels is None
        return
    assert levels is not None
    assert levels.low < levels.high
    assert outside(levels, sample) <= 0.25 or len(values) < 400


def test_outliers_do_not_set_the_levels() -> None:
    sample = np.concatenate([np.linspace(0, 1, 10_000), [1e30, -1e30]])
    levels = levels_of(sample)
    assert levels is not None
    assert -0.1 < levels.low < levels.high < 1.1


def test_one_value_has_a_colour_in_the_middle() -> None:
    for value in (0.0, 5.0, -3.0):
        levels = levels_of(np.full(10, value))
        assert levels is not None
        assert (levels.low + levels.high) / 2 == pytest.approx(value)


def test_levels_stay_while_they_fit() -> None:
    levels = Levels(0, 100)
    assert still_fit(levels, np.linspace(-5, 105, 1000), complete=False)
    assert not still_fit(levels, np.linspace(-15, 105, 1000), complete=True)
    assert not still_fit(levels, np.linspace(200, 300, 1000), complete=False)
    assert not still_fit(levels, np.linspace(50, 51, 1000), complete=False), "all would have one colour"
    assert still_fit(levels, np.full(100, 50.0), complete=True), "a constant slice changes nothing"
    assert still_fit(levels, np.full(100, np.nan), complete=True)


def test_levels_of_a_part_are_those_of_all_once_it_is_there() -> None:
    keeper, whole = LevelKeeper(), np.linspace(0, 110, 1000)
    assert keeper.take(whole[:900], complete=False)
    assert keeper.levels != levels_of(whole)
    assert not keeper.take(whole[:950], complete=False), "while it fills they stay"
    assert keeper.take(whole, complete=True)
    assert keeper.levels == levels_of(whole)
    assert not keeper.take(whole + 1, complete=True), "from one slice to the next they stay"


def test_the_keeper_holds_what_the_user_set() -> None:
    keeper = LevelKeeper()
    assert keeper.take(np.linspace(0, 1, 100), complete=False)
    keeper.set_by_user(Levels(5, 6))
    assert not keeper.take(np.linspace(0, 1, 100), complete=True)
    assert keeper.levels == Levels(5, 6)
    assert keeper.auto(np.linspace(0, 1, 100))
    assert not keeper.by_user
    keeper.symmetric = True
    keeper.auto(np.linspace(-1, 4, 100))
    assert keeper.levels is not None
    assert keeper.levels.low == -keeper.levels.high
    keeper.auto(np.linspace(1, 4, 100))
    assert keeper.levels.low > 0, "nothing lies below zero"


def test_logarithmic_levels_count_what_is_above_zero() -> None:
    values = np.concatenate([10.0 ** np.linspace(-3, 3, 1001), np.zeros(500), [-7]])
    levels = levels_of(values, log=True)
    assert levels is not None
    assert levels.log
    assert 1e-3 < levels.low < 2e-3
    assert 5e2 < levels.high < 1e3
    assert levels_of(np.array([0.0, -1]), log=True) is None
    assert outside(levels, np.array([0.0, -1, 1])) == 0, "zero is no reason for other levels"
    flat = levels_of(np.full(5, 3.0), log=True)
    assert flat is not None
    assert flat.part(3.0) == pytest.approx(0.5)


@given(st.floats(1e-6, 1e6), st.floats(1.01, 1e6), st.floats(-1, 2), st.booleans())
def test_parts_and_values_are_inverse(low: float, ratio: float, part: float, log: bool) -> None:
    levels = Levels(low, low * ratio, log)
    assert levels.part(levels.low) == pytest.approx(0)
    assert levels.part(levels.high) == pytest.approx(1)
    assert levels.part(levels.value(part)) == pytest.approx(part, abs=1e-6)


def test_logarithmic_levels_begin_above_zero() -> None:
    for low in (0.0, -1.0):
        with pytest.raises(ValueError, match="above zero"):
            Levels(low, 5, log=True)
    assert Levels(1, 10, log=True).part(0) == -np.inf


def test_the_keeper_changes_between_scales() -> None:
    values = 10.0 ** np.linspace(0, 4, 1000)
    keeper = LevelKeeper()
    keeper.take(values, complete=True)
    keeper.set_log(True, values)
    assert keeper.levels is not None
    assert keeper.levels.log
    keeper.set_by_user(Levels(10, 100))
    assert keeper.levels == Levels(10, 100, log=True)
    keeper.set_log(False, values)
    assert keeper.levels == Levels(10, 100), "what the user set stays"
    keeper.set_by_user(Levels(-5, 100))
    keeper.set_log(True, values)
    assert keeper.levels.log
    assert keeper.levels.low >= 1, "levels that have no place on the scale are given up"
    keeper.auto(np.array([-3.0, -1]))
    assert keeper.levels == levels_of(np.array([-3.0, -1])), "a linear scale where nothing is above zero"


def test_levels_are_a_finite_number_apart() -> None:
    for low, high in ((0.0, np.inf), (-1.7e308, 1.7e308)):
        with pytest.raises(ValueError, match="finite"):
            Levels(low, high)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("values", [[-1.7e308, 0, 1.7e308], [1e-310, 1e-5, 1.0], [1e-300, 1e300]])
def test_numbers_of_any_size_have_levels_and_places_between_them(values: list[float], log: bool) -> None:
    levels = levels_of(np.array(values * 40), log)
    assert levels is not None
    assert levels.part(levels.low) == 0
    assert levels.part(levels.high) == pytest.approx(1)
    assert levels.value(0) == levels.low
    assert levels.value(1) == pytest.approx(levels.high)
    assert np.isfinite([levels.value(-3), levels.value(4)]).all()
    counted = histogram(np.array(values), levels)
    assert counted is not None


def test_levels_say_what_their_ends_are() -> None:
    sample = np.arange(1000.0)
    keeper = LevelKeeper()
    keeper.auto(sample)
    assert keeper.levels is not None
    assert keeper.ends == ("2nd percentile", "98th percentile")
    assert (keeper.levels.low, keeper.levels.high) == tuple(np.quantile(sample, [0.02, 0.98]))
    assert beyond(keeper.levels, sample) == (0.02, 0.02)
    keeper.extremes = True
    keeper.auto(sample)
    assert keeper.levels == Levels(0, 999)
    assert keeper.ends == ("minimum", "maximum")
    assert beyond(keeper.levels, sample) == (0, 0)
    keeper.set_by_user(Levels(100, 900))
    assert keeper.ends == ("set by you", "set by you")
    assert beyond(Levels(100, 900), np.array([0.0, 500, 901, 902, np.nan])) == (0.25, 0.5)
    # Most values are one: the percentiles are equal, and the extremes are taken.
    keeper.extremes = False
    keeper.auto(np.array([0.0, *[5.0] * 998, 9.0]))
    assert keeper.levels == Levels(0, 9)
    assert keeper.ends == ("minimum", "maximum")
    keeper.auto(np.full(5, 3.0))
    assert keeper.ends == ("below the only value", "above the only value")
    keeper.symmetric = True
    keeper.extremes = True
    keeper.auto(np.array([-1.0, 4.0]))
    assert keeper.levels == Levels(-4, 4)
    assert keeper.ends == ("symmetric about zero", "maximum")
    keeper.symmetric, keeper.log = False, True
    keeper.auto(np.array([-5.0, 0, 1, 10]))
    assert keeper.levels == Levels(1, 10, log=True)
    assert beyond(keeper.levels, np.array([-5.0, 0, 0.5, 10])) == (0.5, 0)


def test_one_value_next_to_nothing_has_levels():
    found = found_in(np.full(3, 5e-324), log=True)
    assert found is not None
    assert 0 < found.levels.low < found.levels.high
