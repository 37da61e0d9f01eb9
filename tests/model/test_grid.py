from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unequal_grids import grids

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.chunk_axes import axis_of
from refbrowser.model.grid import RectilinearChunkGrid, RegularChunkGrid, grid_of, sides_text
from refbrowser.model.selection import Selection


@st.composite
def grids_and_selections(draw):
    shape = tuple(draw(st.lists(st.integers(0, 11), max_size=3)))
    grid = draw(grids(shape))
    bound = st.none() | st.integers(-12, 12)
    index = tuple(
        draw(st.builds(slice, bound, bound, st.integers(-7, 7).filter(bool)))
        if size == 0 or draw(st.booleans())
        else draw(st.integers(-size, size - 1))
        for size in shape
    )
    return grid, index


@given(grids_and_selections())
def test_parts_put_together_what_numpy_takes(case):
    grid, index = case
    array = np.arange(np.prod(grid.shape, dtype=int)).reshape(grid.shape)
    selection = Selection.from_index(index, grid.shape)
    result = np.full(selection.shape, -1)
    box = selection.box(result)
    parts = list(grid.parts(selection))
    for part in parts:
        chunk = np.full(grid.stored_shape(part.coords), -2)
        low, extent = grid.origin(part.coords), grid.extent(part.coords)
        cut = tuple(slice(a, a + n) for a, n in zip(low, extent, strict=True))
        chunk[tuple(slice(n) for n in extent)] = array[cut]
        assert (box[part.target] == -1).all()
        box[part.target] = chunk[part.inside]
        assert part.whole == (chunk[part.inside].shape == chunk.shape)
        assert grid.part(selection, part.coords) == part
        assert part.coords in grid
    assert np.array_equal(result, array[index])
    assert grid.count(selection) == len(parts)
    coords = [part.coords for part in parts]
    assert coords == sorted(set(coords))
    columns = grid.coords(selection)
    assert columns.shape == (len(parts), len(grid.shape))
    assert [tuple(row) for row in columns.tolist()] == coords


def test_a_selection_takes_nothing_of_other_chunks():
    grid = RegularChunkGrid((10, 10), (2, 3))
    selection = Selection.from_index((slice(0, 10, 4), 5), grid.shape)
    assert grid.part(selection, (1, 1)) is None
    assert grid.part(selection, (0, 4)) is None
    assert grid.part(selection, (9, 9)) is None


def test_a_0d_array_has_one_chunk():
    grid = RegularChunkGrid((), ())
    (part,) = grid.parts(Selection.whole(()))
    assert (grid.size, grid.grid_shape, part.coords, part.whole) == (1, (), (), True)
    assert grid.coords(Selection.whole(())).shape == (1, 0)


def test_an_empty_array_has_no_chunk():
    grid = RegularChunkGrid((4, 0), (2, 3))
    assert (grid.size, grid.grid_shape) == (0, (2, 0))
    assert list(grid.parts(Selection.whole(grid.shape))) == []


def test_huge_grids_are_not_enumerated():
    grid = RegularChunkGrid((2**62, 2**40), (1, 7))
    whole = Selection.whole(grid.shape)
    assert grid.size == grid.count(whole) == 2**62 * -(-(2**40) // 7)
    assert [part.coords for part in islice(grid.parts(whole), 2)] == [(0, 0), (0, 1)]
    assert grid.extent((0, grid.grid_shape[1] - 1)) == (1, 2**40 % 7)
    sparse = Selection.from_index((slice(0, None, 3), 0), grid.shape)
    assert grid.count(sparse) == -(-(2**62) // 3)


@pytest.mark.parametrize(("shape", "chunks"), [((2,), (2, 2)), ((2,), (0,)), ((-1,), (1,)), ((1,), (-1,))])
def test_grids_that_cannot_be(shape, chunks):
    with pytest.raises(RefbrowserError) as caught:
        RegularChunkGrid(shape, chunks)
    assert caught.value.kind is ErrorKind.META


@given(grids_and_selections())
def test_columns_tell_what_each_chunk_does(case):
    grid, index = case
    coords = grid.coords(Selection.from_index(index, grid.shape))
    each = [tuple(row) for row in coords.tolist()]
    assert grid.extents(coords).tolist() == [list(grid.extent(at)) for at in each]
    assert grid.origins(coords).tolist() == [list(grid.origin(at)) for at in each]
    found = {}
    for shape, rows in grid.by_stored_shape(coords):
        assert list(rows) == sorted(rows)
        found |= dict.fromkeys(rows.tolist(), shape)
    assert [found[row] for row in range(len(each))] == [grid.stored_shape(at) for at in each]
    assert all(grid.chunk_of(grid.origin(at)) == at for at in each)


MONTHS = grid_of([axis_of(90, [31, 28, 31]), axis_of(180, [180])])


def test_unequal_chunks_in_words():
    assert sides_text(MONTHS) == "[31, 28, 31]×180"
    assert sides_text(grid_of([axis_of(40, [1, 5, 1], np.array([2, 7, 3]))])) == "[2 of 1, 7 of 5, 3 of 1]"
    many = grid_of([axis_of(55, list(range(1, 11)))])
    assert sides_text(many) == "[1, 2, 3, 4, 5, 6, … 10 chunks]"
    padded = grid_of([axis_of(90, [31, 31, 31], extents=np.array([31, 28, 31]))])
    assert sides_text(padded) == "[31, 28 (stored as 31), 31]"
    assert sides_text(RegularChunkGrid((4, 6), (2, 3))) == "2×3"


def test_a_grid_that_is_not_regular_says_so():
    assert isinstance(MONTHS, RectilinearChunkGrid)
    with pytest.raises(RefbrowserError, match="unequal sides") as caught:
        MONTHS.regular  # noqa: B018
    assert caught.value.kind is ErrorKind.META
    assert grid_of([axis_of(9, [3, 3, 3])]) == RegularChunkGrid((9,), (3,))


def test_sides_are_written_out_up_to_a_limit():
    assert MONTHS.written_out == ((31, 28, 31), 180)
    with pytest.raises(RefbrowserError) as caught:
        grid_of([axis_of(10**12, [1, 2], np.array([10**12 - 2, 1]))]).written_out  # noqa: B018
    assert caught.value.kind is ErrorKind.BUDGET
