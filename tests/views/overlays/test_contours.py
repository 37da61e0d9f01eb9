"""Lines of equal values: where they run, at which values, and where they are named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refbrowser.views.overlays.contours import (
    LEVELS_MOST,
    STROKES_MOST,
    Spacing,
    contours_of,
    line_names,
    thinned_contours,
    under_names,
)
from refbrowser.views.plot.levels import Levels


def test_circles_lie_where_they_are() -> None:
    y, x = np.mgrid[-60:61, -60:61] / 20
    at = np.array([1.03, 2.02])
    found = contours_of(np.hypot(x, y), at.tolist())
    places = found.strokes / 20 - 3
    radii = np.hypot(places[..., 0], places[..., 1])
    np.testing.assert_allclose(radii - at[found.lines][:, None], 0, atol=2e-3)
    # Each end of a stroke is that of another one: lines are closed.
    for line in (0, 1):
        ends, counts = np.unique(
            found.strokes[found.lines == line].reshape(-1, 2).round(9), axis=0, return_counts=True
        )
        assert set(counts) == {2}
        assert len(ends) > 50


def test_a_saddle_joins_the_corners_that_its_middle_is_like() -> None:
    low = contours_of(np.array([[1.0, 0.0], [0.0, 1.0]]), [0.6]).strokes
    np.testing.assert_allclose(sorted(map(tuple, low.mean(axis=1))), [(0.2, 0.2), (0.8, 0.8)])
    high = contours_of(np.array([[1.0, 0.0], [0.0, 1.0]]), [0.4]).strokes
    np.testing.assert_allclose(sorted(map(tuple, high.mean(axis=1))), [(0.2, 0.8), (0.8, 0.2)])
    other = contours_of(np.array([[0.0, 1.0], [1.0, 0.0]]), [0.6]).strokes
    np.testing.assert_allclose(sorted(map(tuple, other.mean(axis=1))), [(0.2, 0.8), (0.8, 0.2)])


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.floats(-2, 2))
def test_the_field_has_the_value_on_each_end(seed: int, at: float) -> None:
    random = np.random.default_rng(seed)
    field = random.normal(size=tuple(random.integers(2, 8, 2)))
    field[random.random(field.shape) < 0.1] = np.nan
    found = contours_of(field, [at])
    for row, column in found.strokes.reshape(-1, 2):
        top, left = int(row), int(column)
        bottom, right = min(top + 1, len(field) - 1), min(left + 1, field.shape[1] - 1)
        # On a side one of the two is whole.
        assert row == top or column == left
        near, far = field[top, left], field[bottom if row > top else top, right if column > left else left]
        assert near + (far - near) * ((row - top) + (column - left)) == pytest.approx(at, abs=1e-6)


def test_nothing_is_drawn_where_there_is_nothing() -> None:
    assert len(contours_of(np.full((5, 5), np.nan), [0.0]).lines) == 0
    assert len(contours_of(np.zeros((5, 5)), [0.0]).lines) == 0
    assert len(contours_of(np.zeros((1, 5)), [0.0]).lines) == 0
    assert len(contours_of(np.array([[0.0, 1.0], [np.inf, 1.0]]), [0.5]).lines) == 0


def test_of_too_many_strokes_some_elements_are_left_out() -> None:
    noise = np.random.default_rng(3).normal(size=(300, 300))
    found = thinned_contours(noise, [0.0])
    assert 1_000 < len(found.lines) <= STROKES_MOST
    assert found.strokes.max() > 290


def test_the_values_of_lines() -> None:
    levels = Levels(0.3, 41.0)
    assert Spacing().between(levels) == (5, 10, 15, 20, 25, 30, 35, 40)
    assert Spacing().between(levels, (0.0, 7.0, 41.0)) == (0, 7, 41)
    assert Spacing().between(Levels(1, 1000, log=True)) == (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    assert Spacing.of("every 12").between(levels) == (12, 24, 36)
    assert Spacing.of("3; 1, 2").between(levels) == (1, 2, 3)
    assert [Spacing.of(text).text for text in ("every 12", "3 1", "")] == ["every 12", "1, 3", ""]
    assert len(Spacing.of("every 1e-9").between(levels)) == LEVELS_MOST
    for wrong in ("a", "every", "every 0", "every 1 2", "nan", "1e999", " ".join(["1"] * 99)):
        with pytest.raises(ValueError, match=r"type|finite|at most"):
            Spacing.of(wrong)


def test_names_lie_along_their_lines_and_apart() -> None:
    x = np.linspace(0, 600, 301)
    slope = np.stack([x, x / 2 + 20], axis=1)
    level = np.stack([x, np.full(301, 360.0)], axis=1)
    strokes = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in (slope, level)])
    lines = np.repeat([0, 1], 300)
    names = line_names(strokes, lines, (600.0, 400.0))
    assert {name.line for name in names} == {0, 1}
    assert all(
        name.angle == pytest.approx(np.degrees(np.arctan(0.5)) if name.line == 0 else 0, abs=0.1)
        for name in names
    )
    assert all(
        np.hypot(one.x - two.x, one.y - two.y) > 40 for one in names for two in names if one is not two
    )
    one = next(name for name in names if name.line == 1)
    under = under_names(strokes, [one], [(40, 14)])
    assert 15 < under.sum() < 30
    assert line_names(strokes[:5], lines[:5], (600.0, 400.0)) == []
