"""Centred, stepped and other scales of colours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refbrowser.views.plot.colouring import NO_VALUE, colour_indices, step_indices, step_places
from refbrowser.views.plot.levels import BY_USER, LevelKeeper, Levels, Scale, histogram

VALUES = np.linspace(-3.7, 12.4, 2000)


def keeper(**scale: object) -> LevelKeeper:
    found = LevelKeeper()
    found.extremes = True
    found.take(VALUES, complete=True)
    found.set_scale(Scale(**scale), VALUES)  # type: ignore[arg-type]
    return found


def test_centred_about_a_number() -> None:
    centred = keeper(centre=2.0)
    assert centred.levels == Levels(2 - 10.4, 2 + 10.4)
    assert centred.ends == ("symmetric", "symmetric")
    # Next pictures are centred too; so are levels after the user's own.
    centred.set_by_user(Levels(0, 1))
    assert centred.levels == Levels(0, 1)
    centred.auto(VALUES)
    assert centred.levels == Levels(-8.4, 12.4)
    centred.set_scale(Scale(), VALUES)
    assert centred.levels == Levels(-3.7, 12.4)


def test_steps_of_the_data_are_round_and_those_of_the_user_equal() -> None:
    stepped = keeper(steps=8)
    assert stepped.edges == (-5.0, -2.5, 0.0, 2.5, 5.0, 7.5, 10.0, 12.5)
    assert stepped.levels == Levels(-5, 12.5)
    assert stepped.ends == ("rounded down", "rounded up")
    stepped.set_by_user(Levels(0, 1))
    assert stepped.edges == tuple(part / 8 for part in range(9))
    assert keeper(steps=4, centre=1.0).edges == tuple(1.0 + 10 * part for part in range(-2, 3))


def test_typed_edges_are_the_levels_until_others_come() -> None:
    typed = keeper(edges=(0.0, 1.0, 5.0, 20.0))
    assert (typed.levels, typed.ends, typed.by_user) == (Levels(0, 20), BY_USER, True)
    assert typed.edges == (0, 1, 5, 20)
    typed.auto(VALUES)
    assert typed.edges == ()
    assert typed.levels == Levels(-3.7, 12.4)
    for wrong in ((1.0,), (1.0, 1.0), (2.0, 1.0), (0.0, np.nan), tuple(range(200))):
        with pytest.raises(ValueError, match=r"step|rise"):
            Scale(edges=wrong)


def test_fixed_levels_stay_whatever_comes() -> None:
    fixed = keeper(is_fixed=True)
    before = fixed.levels
    assert not fixed.take(VALUES * 1000, complete=True)
    assert fixed.levels == before
    loose = keeper()
    assert loose.take(VALUES * 1000, complete=True)
    # Those of a part of the first picture are none yet.
    first = LevelKeeper()
    first.scale = Scale(is_fixed=True)
    first.take(VALUES[:10], complete=False)
    assert first.take(VALUES, complete=True)
    assert not first.take(VALUES * 1000, complete=True)


def test_logarithms_on_both_sides_of_zero() -> None:
    both = keeper(both_signs=True, even_within=0.1)
    levels = both.levels
    assert levels is not None
    assert levels.linear == 0.1
    parts = [levels.part(value) for value in (-3.7, -0.1, 0.0, 0.1, 12.4)]
    assert parts[0] == 0
    assert parts[-1] == pytest.approx(1)
    assert parts[2] - parts[1] == pytest.approx(parts[3] - parts[2])
    wanted = np.arcsinh(np.array([-3.7, 0.05, 7.0]) / 0.1)
    place = (wanted[1:] - wanted[0]) / (np.arcsinh(124) - wanted[0])
    assert colour_indices(np.array([0.05, 7.0]), levels).tolist() == (place * 255).astype(int).tolist()
    assert histogram(VALUES, levels).counts.sum() == len(VALUES)  # type: ignore[union-attr]
    # A logarithmic scale is another one.
    both.set_log(True, VALUES)
    assert both.levels is not None
    assert both.levels.log
    assert not both.scale.both_signs


@settings(max_examples=50)
@given(st.floats(-1e300, 1e299), st.floats(1e-3, 1e300), st.floats(0, 1), st.floats(0, 1e10))
def test_values_and_parts_of_both_signs_agree(low: float, width: float, part: float, within: float) -> None:
    if not low < low + width < 1e300:
        return
    levels = Scale(both_signs=True, even_within=within).curved(Levels(low, low + width))
    assert levels.part(levels.value(part)) == pytest.approx(part, abs=1e-3)


def test_colours_of_steps() -> None:
    numbers = np.array([-1, 0, 0.99, 1, 4.9, 5, 20, 99, np.nan], np.float32)
    one, two, three = step_places(3).tolist()
    found = step_indices(numbers, (0, 1, 5, 20)).tolist()
    assert found == [one, one, one, two, two, three, three, three, NO_VALUE]
    assert (one, three) == (0, 254)
    assert step_indices(np.array([[1.0, np.nan]]), (0, 2)).tolist() == [[127, NO_VALUE]]


@settings(max_examples=50)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30, unique=True).map(sorted),
    st.lists(st.floats(-2e6, 2e6), min_size=1, max_size=30),
)
def test_a_number_has_the_colour_of_its_own_step(edges: list[float], numbers: list[float]) -> None:
    places = step_places(len(edges) - 1)
    for number, found in zip(numbers, step_indices(np.array(numbers), edges).tolist(), strict=True):
        step = sum(number >= edge for edge in edges[1:-1])
        assert found == places[step]


def test_a_scale_as_plain_values() -> None:
    scale = Scale(centre=1.0, steps=7, is_fixed=True)
    assert scale.said() == {"centre": 1.0, "steps": 7, "is_fixed": True}
    assert Scale.of(scale.said()) == scale
    assert Scale.of({"edges": [0, 1, 2.5]}).said() == {"edges": [0.0, 1.0, 2.5]}
    assert Scale().said() == {}
    for wrong in (
        *({"centre": "0"}, {"centre": float("nan")}, {"steps": 1.5}, {"steps": 10**9}, {"edges": [1, 0]}),
        *({"is_fixed": 1}, {"edges": 3}, {"other": 1}, [], {"even_within": -1}, {"centre": 10**400}),
    ):
        with pytest.raises(ValueError, match=r"expected|rise|below|at most"):
            Scale.of(wrong)
