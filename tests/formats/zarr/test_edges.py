from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from zarr_metadata import zarr_json

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.zarr.shapes import parse_edges
from refbrowser.model.grid import RegularChunkGrid


def grid_json(*chunk_shapes, kind="inline"):
    return {"name": "rectilinear", "configuration": {"kind": kind, "chunk_shapes": list(chunk_shapes)}}


def parsed(hierarchy, grid, shape=(4, 6)):
    return hierarchy({"a/zarr.json": zarr_json(shape=list(shape), chunk_grid=grid)}).find("/a")


def test_the_example_of_the_specification(hierarchy):
    grid = grid_json(4, [1, 2, 3], [[4, 2]], [[1, 3], 3], [4, 4, 4])
    node = parsed(hierarchy, grid, (6, 6, 6, 6, 6))
    assert node.unreadable is None
    # Chunks that lie behind the array are none of it.
    assert node.grid.grid_shape == (2, 3, 2, 4, 2)
    assert node.grid.stored_shape((1, 2, 1, 3, 1)) == (4, 3, 4, 3, 4)
    assert node.grid.extent((1, 2, 1, 3, 1)) == (2, 3, 2, 3, 2)
    assert node.grid.spelling == [4, [1, 2, 3], 4, [[1, 3], 3], 4]


def test_the_index_of_the_specification(hierarchy):
    node = parsed(hierarchy, grid_json([16, 10], [24, 14]), (26, 38))
    coords = node.grid.chunk_of((20, 15))
    assert coords == (1, 0)
    assert np.subtract((20, 15), node.grid.origin(coords)).tolist() == [4, 15]


def test_a_grid_of_equal_chunks_is_regular(hierarchy):
    node = parsed(hierarchy, grid_json([[2, 2]], [3, 3]))
    assert node.grid == RegularChunkGrid((4, 6), (2, 3))


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        (grid_json([2, 2], [3, 2]), "add up to 5, the dimension has 6"),
        (grid_json([2, 2], 0), "a positive integer"),
        (grid_json([2, 2], -3), "a positive integer"),
        (grid_json([2, 2], True), "a positive integer"),
        (grid_json([2, 2], 3.0), "a positive integer"),
        (grid_json([2, 2], [3, 0, 3]), "a positive integer"),
        (grid_json([2, 2], [3, -1, 4]), "a positive integer"),
        (grid_json([2, 2], [3, "3"]), "a positive integer"),
        (grid_json([2, 2], [[3, 0], 6]), "a positive integer"),
        (grid_json([2, 2], [[3, 2, 1]]), "a run of edges"),
        (grid_json([2, 2], [[3]]), "a run of edges"),
        (grid_json([2, 2], [[[3, 1], 2]]), "a positive integer"),
        (grid_json([2, 2], [10**30, 3]), "a positive integer"),
        (grid_json([2, 2], []), "the list of its edges is empty"),
        (grid_json([2, 2]), "each of 2 dimensions"),
        (grid_json(*[1] * 40), "each of 2 dimensions"),
        (grid_json([2, 2], [3, 3], kind="file"), "'inline'"),
        ({"name": "rectilinear"}, "'inline'"),
    ],
)
def test_edges_that_cannot_be_are_told(hierarchy, grid, words):
    node = parsed(hierarchy, grid)
    assert node.unreadable.kind is ErrorKind.META
    assert words in node.unreadable.message
    assert node.unreadable.place.key == "a/zarr.json"
    assert node.shape == (4, 6)


def test_runs_of_edges_may_be_of_any_length(hierarchy):
    node = parsed(hierarchy, grid_json([[1, 10**12]], [[1, 3], [3, 2**62]]), (10**12, 6))
    assert node.grid.grid_shape == (10**12, 4)
    tall = parsed(hierarchy, grid_json([2, [1, 10**12]], [2, 2, [1, 10**12]]), (10**12, 10**12))
    assert tall.grid.grid_shape == (10**12 - 1, 10**12 - 2)


def test_longer_edges_than_are_counted(hierarchy):
    node = parsed(hierarchy, grid_json([2, 2**62], 6))
    assert node.unreadable.kind is ErrorKind.BUDGET


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**64) | st.floats() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=12,
)


@given(st.lists(st.integers(0, 2**63 - 1), max_size=3), JSON)
def test_any_edges_are_a_grid_or_an_error(shape, told):
    for chunk_shapes in (told, [told] * len(shape), [[told, 2**62, [1, 2**62]] for _ in shape]):
        with suppress(RefbrowserError):
            grid = parse_edges(tuple(shape), {"kind": "inline", "chunk_shapes": chunk_shapes})
            assert grid.shape == tuple(shape)
            last = tuple(count - 1 for count in grid.grid_shape)
            if grid.size:
                assert np.add(grid.origin(last), grid.extent(last)).tolist() == shape
                assert grid.chunk_of([size - 1 for size in shape]) == last
