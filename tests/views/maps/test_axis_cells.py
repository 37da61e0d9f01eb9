"""The cells of an axis: edges between values, the circle of longitudes, and what is no axis."""

from __future__ import annotations

import numpy as np
import pytest

from refbrowser.views.maps.axis_cells import AxisCells


def cells(values: list[float] | np.ndarray, *arguments: object) -> AxisCells:
    made = AxisCells.of(np.asarray(values, float), *arguments)
    assert made is not None
    return made


def test_edges_lie_halfway() -> None:
    made = cells([0.0, 1.0, 3.0, 7.0])
    assert made.extent == (-0.5, 9.0)
    assert list(np.floor(made.find(np.array([-0.4, 0.4, 0.6, 1.9, 2.1, 4.9, 5.1, 8.9])) + 0.5)) == [
        0, 0, 1, 1, 2, 2, 3, 3,
    ]  # fmt: skip
    assert np.isnan(made.find(np.array([-0.6, 9.1, np.nan]))).all()
    assert list(made.find(np.array([0.0, 1.0, 3.0, 7.0]))) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "values", [np.arange(0, 360, 1.5), np.arange(-180, 180, 1.5), np.arange(358.5, -1, -1.5)]
)
def test_longitudes_close_a_circle(values: np.ndarray) -> None:
    made = cells(values, 360.0)
    assert made.is_round
    asked = np.random.default_rng(1).uniform(-720, 720, 500)
    found = np.floor(made.find(asked) + 0.5).astype(int)
    assert not np.isnan(made.find(asked)).any()
    apart = (values[np.clip(found, 0, len(values) - 1)] - asked + 180) % 360 - 180
    assert np.abs(apart).max() <= 0.75 + 1e-9


def test_longitudes_that_jump_go_on() -> None:
    made = cells([170.0, 175.0, -180.0, -175.0], 360.0)
    assert not made.is_round
    assert list(made.find(np.array([-175.0, 185.0, 180.0, 170.0]))) == [3, 3, 2, 0]
    assert np.isnan(made.find(np.array([0.0]))).all()


def test_values_come_back() -> None:
    made = cells([10.0, 8.0, 3.0, -20.0])
    places = np.array([-0.5, 0.0, 0.25, 1.5, 3.0, 3.5])
    assert made.find(made.at(places)) == pytest.approx(places)


def test_no_cell_reaches_beyond_a_pole() -> None:
    made = cells([-90.0, -45.0, 0.0, 45.0, 90.0], None, (-90.0, 90.0))
    assert made.extent == (-90.0, 90.0)
    assert list(made.find(np.array([-90.0, 90.0, 45.0]))) == pytest.approx([-0.5, 4.5, 3.0], abs=0.51)


@pytest.mark.parametrize(
    "values",
    [[], [np.nan, 1.0], [np.inf, 1.0], [1e300, -1e300], [1.0, 1.0], [0.0, 2.0, 1.0], [1e31, 2e31]],
)
def test_what_is_no_axis(values: list[float]) -> None:
    assert AxisCells.of(np.array(values)) is None
    assert AxisCells.of(None) is None
    assert AxisCells.of(np.array([100.0, 101.0]), None, (-90.0, 90.0)) is None


def test_one_element_is_a_cell() -> None:
    made = cells([5.0])
    assert made.find(np.array([5.0, 5.4])) == pytest.approx([0.0, 0.4])
