"""Where chunks stand on a map: every chunk of a slice has one cell, and the cell leads back to it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_arrays import node

from refbrowser.views.chunks.chunk_map import ChunkLayout, first_chunk_slice, with_axes_of, wrapped_columns
from refbrowser.views.plot.slicing import SliceState


@st.composite
def layouts(draw: st.DrawFn) -> ChunkLayout:
    shape = tuple(draw(st.lists(st.integers(1, 70), min_size=0, max_size=3)))
    names = tuple(f"d{axis}" for axis in range(len(shape)))
    indices = tuple(draw(st.integers(0, size - 1)) for size in shape)
    x = draw(st.integers(0, max(0, len(shape) - 1)))
    rest = [axis for axis in range(len(shape)) if axis != x]
    y = draw(st.sampled_from([None, *rest]))
    return ChunkLayout.of(SliceState(shape, names, x, y, indices))


@given(layouts())
def test_cells_and_chunks_lead_to_each_other(layout: ChunkLayout) -> None:
    cells = list(product(range(layout.rows), range(layout.columns)))
    found = {cell: coords for cell in cells if (coords := layout.coords_at(*cell)) is not None}
    assert len(found) == layout.size
    assert len(set(found.values())) == layout.size
    for cell, coords in found.items():
        assert layout.cell_of(coords) == cell
    rows, columns = np.arange(layout.rows), np.arange(layout.columns)
    coords, held = layout.coords(rows, columns)
    assert [tuple(each) for each in coords.tolist()] == list(found.values())
    assert held.ravel().tolist() == [cell in found for cell in cells]
    down, across, on_map = layout.cells(coords)
    assert on_map.all()
    assert list(zip(down.tolist(), across.tolist(), strict=True)) == list(found)


@given(layouts(), st.data())
def test_boxes_hold_the_chunks_of_a_part_and_no_other(layout: ChunkLayout, data: st.DataObject) -> None:
    parts = []
    for size in layout.slice.shape:
        start = data.draw(st.integers(0, size - 1))
        parts.append(range(start, data.draw(st.integers(start + 1, size))))
    inside = {
        (row, column)
        for top, bottom, left, right in layout.boxes(parts)
        for row, column in product(range(top, bottom), range(left, right))
    }
    wanted = {
        (row, column)
        for row, column in product(range(layout.rows), range(layout.columns))
        if (coords := layout.coords_at(row, column)) is not None
        and all(at in part for at, part in zip(coords, parts, strict=True))
    }
    assert inside == wanted


def test_outside_there_is_no_chunk() -> None:
    layout = ChunkLayout.of(SliceState((5, 7), ("y", "x"), 1, 0, (0, 0)))
    assert layout.coords_at(5, 0) is None
    assert layout.coords_at(-1, 0) is None
    assert layout.coords_at(0, 7) is None
    assert layout.cell_of((1, 2, 3)) is None


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (48, 48), (49, 20), (3650, 200), (10**6, 2000)])
def test_a_row_of_a_wrapped_map_is_a_round_number(count: int, columns: int) -> None:
    assert wrapped_columns(count) == columns


@pytest.mark.parametrize(
    ("shape", "chunks", "axes"),
    [
        ((12, 180, 360), (1, 90, 360), (1, 0)),
        ((40, 40), (10, 10), (0, 1)),
        ((30, 1, 1), (10, 1, 1), (None, 0)),
        ((100,), (10,), (None, 0)),
        ((5, 40, 60), (5, 10, 10), (1, 2)),
        ((), (), (None, 0)),
    ],
)  # fmt: skip
def test_the_dimensions_with_the_most_chunks_come_first(shape, chunks, axes) -> None:
    state = first_chunk_slice(node(shape, chunks))
    assert (state.y, state.x) == axes


def test_the_slice_of_the_same_grid_stays() -> None:
    array = node((8, 40, 40), (1, 10, 10))
    before = first_chunk_slice(array).with_index(2, 3)
    assert first_chunk_slice(array, before) is before
    assert first_chunk_slice(node((9, 40, 40), (1, 10, 10)), before) is not before


@pytest.mark.parametrize("axes", [(1, 2), (2, 1), (0, 2), (None, 0)])
def test_the_axes_of_the_plot_are_taken_where_they_have_chunks(axes: tuple[int | None, int]) -> None:
    plotted = SliceState((8, 40, 40), ("a", "b", "c"), axes[1], axes[0], (0, 0, 0))
    turned = with_axes_of(first_chunk_slice(node((8, 40, 40), (1, 10, 10))), plotted)
    assert turned.x == plotted.x
    assert plotted.y is None or turned.y == plotted.y
    assert len(set(turned.axes)) == 2
    whole = first_chunk_slice(node((8, 40, 40), (8, 40, 40)))
    assert with_axes_of(whole, plotted) is whole


def test_without_a_dimension_there_is_no_axis_to_take() -> None:
    scalar = first_chunk_slice(node((), ()))
    assert with_axes_of(scalar, SliceState((), (), 0, None, ())) is scalar
