"""Numbered parts are those of the grid."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.engine.reading.parts import PartTable
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.selection import Selection


@st.composite
def taken(draw: st.DrawFn):
    grids, axes = [], []
    for _ in range(draw(st.integers(0, 3))):
        size, side = draw(st.integers(0, 40)), draw(st.integers(1, 9))
        bound = st.none() | st.integers(-size - 2, size + 2)
        axes.append(slice(draw(bound), draw(bound), draw(st.integers(1, 20) | st.integers(-20, -1))))
        grids.append((size, side))
    grid = RegularChunkGrid(tuple(size for size, _ in grids), tuple(side for _, side in grids))
    return grid, Selection.from_index(tuple(axes), grid.shape)


@given(taken())
def test_parts_by_number_are_those_of_the_grid(case) -> None:
    grid, selection = case
    wanted = list(grid.parts(selection))
    table = PartTable(grid, selection)
    assert len(table) == len(wanted)
    assert [table[number] for number in range(len(table))] == wanted
    coords = np.array([part.coords for part in wanted]).reshape(len(wanted), grid.ndim)
    np.testing.assert_array_equal(table.coords(0, len(table)), coords)
    assert table.all_whole(0, len(table)) == all(part.whole for part in wanted) or not wanted
    for start in range(len(wanted)):
        np.testing.assert_array_equal(table.coords(start, len(wanted)), coords[start:])


def test_indices_near_the_end_of_int64() -> None:
    size = 2**63 - 1
    grid = RegularChunkGrid((size,), (2**40,))
    selection = Selection.from_index(slice(size - 5, size), grid.shape)
    assert [PartTable(grid, selection)[0]] == list(grid.parts(selection))
