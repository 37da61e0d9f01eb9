"""Where elements lie, and which element of one level is which of another."""

from __future__ import annotations

from refbrowser.model.multiscales.axis_transform import AxisTransform, IndexMap


def test_corners_and_centres() -> None:
    one = AxisTransform.from_corner(-10.0, 100.0)
    assert one == AxisTransform(-10.0, 95.0)
    assert one.corner == 100.0


def test_levels_in_one_space() -> None:
    to_half = IndexMap.between(AxisTransform(10.0, 5.0), AxisTransform(20.0, 10.0))
    assert to_half == IndexMap(0.5, -0.25)
    assert to_half.inverse == IndexMap.between(AxisTransform(20.0, 10.0), AxisTransform(10.0, 5.0))
    assert [to_half.index(at, 4) for at in (0, 1, 2, 7, 99)] == [0, 0, 1, 3, 3]


def test_levels_that_reach_equally_far() -> None:
    assert IndexMap.of_sizes(8, 4) == IndexMap(0.5, -0.25)
    assert IndexMap.of_sizes(3, 3) == IndexMap(1.0, 0.0)


def test_windows_take_each_element_that_is_touched() -> None:
    to_half = IndexMap.of_sizes(8, 4)
    assert to_half.window(range(8), 4) == range(4)
    assert to_half.window(range(2, 4), 4) == range(1, 2)
    assert to_half.window(range(1, 4), 4) == range(2)
    assert to_half.inverse.window(range(1, 3), 8) == range(2, 6)
    assert to_half.window(range(20, 30), 4) == range(4, 4)
    # Sizes that do not divide leave no element out.
    third = IndexMap.of_sizes(10, 3)
    assert third.window(range(10), 3) == range(3)
    assert third.inverse.window(range(3), 10) == range(10)
    # Of a falling axis over a rising one.
    assert IndexMap(-1.0, 7.0).window(range(0, 2), 8) == range(6, 8)
