"""Regions of any make on small grids: which elements they have, against each element looked at alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.views.plot.coordinates import AxisRole, Coordinate
from refbrowser.views.regions.region import Both, Bounds, Condition, Either, Outside, Polygon, Region
from refbrowser.views.regions.region_cells import RegionCells
from refbrowser.views.regions.region_drawing import (
    DrawnShape,
    drawn_region,
    outlines_of,
    replaced,
    shape_of,
)
from refbrowser.views.regions.region_grid import RegionGrid, boxes_of

NAMES = ("time", "lat", "lon")


@st.composite
def grids(draw: st.DrawFn) -> RegionGrid:
    sizes = [draw(st.integers(1, 3)), draw(st.integers(2, 7)), draw(st.integers(2, 9))]
    lat = np.linspace(-71.5, 73.25, sizes[1])[:: draw(st.sampled_from([1, -1]))].copy()
    lon = draw(st.sampled_from([-180.5, 0.25, 77.75])) + np.arange(sizes[2]) * (360 / sizes[2])
    return RegionGrid(
        "/a",
        (
            Coordinate("time", sizes[0], AxisRole.TIME, np.arange(sizes[0]) * 1.0),
            Coordinate("lat", sizes[1], AxisRole.LATITUDE, lat),
            Coordinate("lon", sizes[2], AxisRole.LONGITUDE, lon),
        ),
    )


degrees = st.integers(-200, 400).map(float)
bounds = st.one_of(
    st.builds(Bounds, st.just("lat"), st.integers(-90, 90).map(float), st.integers(-90, 90).map(float)),
    st.builds(Bounds, st.just("lon"), degrees, degrees),
    st.builds(
        lambda name, low, high: Bounds(name, float(low), float(high), by_index=True),
        st.sampled_from(NAMES),
        st.integers(0, 4),
        st.integers(0, 9),
    ),
)
corners = st.tuples(st.integers(-90, 89).map(float), st.integers(-90, 90).map(float))
polygons = st.builds(Polygon, st.lists(corners, min_size=3, max_size=5).map(tuple))
conditions = st.builds(Condition, st.sampled_from([">", "<="]), st.integers(-1, 1).map(float))


def joined(parts: st.SearchStrategy[Region]) -> st.SearchStrategy[Region]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(Both, several), st.builds(Either, several), st.builds(Outside, parts))


regions = st.recursive(st.one_of(bounds, polygons, conditions), joined, max_leaves=5)


def has(region: Region, grid: RegionGrid, index: tuple[int, ...], value: float) -> bool:
    """Tell whether one element is in a region, as a reader of its text would."""
    if isinstance(region, Both):
        return all(has(part, grid, index, value) for part in region.parts)
    if isinstance(region, Either):
        return any(has(part, grid, index, value) for part in region.parts)
    if isinstance(region, Outside):
        return not has(region.part, grid, index, value)
    if isinstance(region, Condition):
        return value > region.number if region.sign == ">" else value <= region.number
    lat, lon = (float(grid.coordinates[axis].values[index[axis]]) for axis in (1, 2))  # type: ignore[index]
    if isinstance(region, Polygon):
        west = min(x for x, _y in region.corners)
        x, turns = west + (lon - west) % 360, 0
        sides = zip(region.corners, [*region.corners[1:], region.corners[0]], strict=True)
        for (x0, y0), (x1, y1) in sides:
            if (y0 > lat) != (y1 > lat):
                turns += x > x0 + (lat - y0) * (x1 - x0) / (y1 - y0)
        return turns % 2 == 1
    axis = NAMES.index(region.name)
    assert region.low is not None
    assert region.high is not None
    if region.by_index:
        return region.low <= index[axis] < region.high
    if region.name == "lat":
        return min(region.low, region.high) <= lat <= max(region.low, region.high)
    reach = region.high - region.low
    return reach >= 360 or (lon - region.low) % 360 <= reach % 360


@pytest.mark.slow
@given(grids(), regions, st.integers(0, 999))
def test_each_element_is_in_it_as_the_text_says(grid: RegionGrid, region: Region, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=grid.shape)
    cells = RegionCells(grid, region)
    expected = np.array([has(region, grid, index, values[index]) for index in np.ndindex(*grid.shape)])
    expected = expected.reshape(grid.shape)
    inside = cells.inside(grid.whole, values, None)[0]
    assert np.broadcast_to(True if inside is None else inside, grid.shape).tolist() == expected.tolist()
    # What is read has all of it, and nothing twice.
    boxes = boxes_of(grid.reach(region), [range(size) for size in grid.shape])
    read = np.zeros(grid.shape, int)
    for box in boxes:
        read[tuple(slice(part.start, part.stop) for part in box)] += 1
        numbers = values[tuple(slice(part.start, part.stop) for part in box)]
        part = cells.inside(box, numbers, None)[0]
        of_box = expected[tuple(slice(each.start, each.stop) for each in box)]
        assert np.broadcast_to(True if part is None else part, of_box.shape).tolist() == of_box.tolist()
    assert read.max(initial=0) <= 1
    assert (read[expected] == 1).all()


def a_map(turn: float = 0.0, order: int = 1) -> RegionGrid:
    lat = Coordinate("lat", 18, AxisRole.LATITUDE, np.linspace(85, -85, 18)[::order].copy())
    lon = Coordinate("lon", 36, AxisRole.LONGITUDE, turn + np.arange(36) * 10.0)
    return RegionGrid("/a", (lat, lon))


spots = st.tuples(st.integers(0, 17), st.integers(0, 35)).map(lambda spot: (float(spot[0]), float(spot[1])))


@given(spots, spots, st.sampled_from([1, -1]), st.sampled_from([0.0, -180.0]))
def test_a_rectangle_that_is_drawn_is_drawn_the_same(
    one: tuple[float, float], other: tuple[float, float], order: int, turn: float
) -> None:
    if one[0] == other[0] or one[1] == other[1]:
        return
    grid = a_map(turn, order)
    region = drawn_region(grid, (0, 1), DrawnShape((one, other), is_rectangle=True))
    again = shape_of(region, grid, (0, 1))
    assert again is not None
    assert sorted(np.array(again.corners).T[0]) == pytest.approx(sorted((one[0], other[0])))
    assert sorted(np.array(again.corners).T[1]) == pytest.approx(sorted((one[1], other[1])))


def test_outlines_go_on_at_the_other_side_of_the_seam() -> None:
    region: Any = Both((Bounds("lat", 0, 30), Bounds("lon", -20, 30)))
    rings = outlines_of(region, a_map(), (0, 1))
    assert [(ring[:, 1].min(), ring[:, 1].max()) for ring in rings] == [(-0.5, 3.0), (34.0, 35.5)]
    assert shape_of(region, a_map(), (0, 1)) is None
    assert len(outlines_of(region, a_map(-180.0), (0, 1))) == 1
    polygon = Polygon(((-20.0, 0.0), (30.0, 0.0), (0.0, 60.0)))
    assert len(outlines_of(polygon, a_map(), (0, 1))) == 2
    assert len(outlines_of(Outside(Either((polygon, region))), a_map(-180.0), (0, 1))) == 2


def test_in_a_projection_the_shorter_way_is_meant() -> None:
    shape = DrawnShape(((2.0, 1.0), (8.0, 34.0)), is_rectangle=True)
    short = drawn_region(a_map(), (0, 1), shape, shortest=True)
    assert str(short) == "lat 5..65, lon 340..10"
    line = DrawnShape(((2.0, 1.0), (2.0, 34.0), (8.0, 34.0)), is_rectangle=False)
    polygon = drawn_region(a_map(), (0, 1), line, shortest=True)
    assert isinstance(polygon, Polygon)
    assert [x for x, _y in polygon.corners] == [10.0, -20.0, -20.0]


def test_conditions_stay_when_it_is_drawn_anew() -> None:
    before = Both((Bounds("lat", 0, 1), Bounds("lon", 0, 1), Condition(">", 3)))
    polygon = Polygon(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)))
    assert replaced(before, polygon) == Both((polygon, Condition(">", 3)))
    assert replaced(Both(()), polygon) == polygon
    assert replaced(Condition(">", 3), polygon) == Both((polygon, Condition(">", 3)))
