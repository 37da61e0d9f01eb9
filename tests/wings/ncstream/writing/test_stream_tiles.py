"""The tiles of exported streams."""

from __future__ import annotations

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from refbrowser.wings.ncstream.writing.stream_plan import tile_sides

SIDES = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 25)), max_size=4)


@given(SIDES, st.integers(1, 5000), st.sampled_from([1, 2, 8]))
def test_tiles_are_no_larger_than_asked_for(sides, size, itemsize) -> None:
    shape, chunk = (tuple(each) for each in zip(*sides, strict=True)) if sides else ((), ())
    tiles = tile_sides(shape, chunk, itemsize, size)
    assert prod(tiles) * itemsize <= max(size, itemsize)
    assert all(1 <= side <= length for side, length in zip(tiles, shape, strict=True))
