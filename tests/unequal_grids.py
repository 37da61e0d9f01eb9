"""Chunk grids of any sides, drawn by Hypothesis."""

import numpy as np
from hypothesis import strategies as st

from refbrowser.model.chunk_axes import axis_of
from refbrowser.model.grid import RegularChunkGrid, grid_of


@st.composite
def axes(draw, size, longest=6):
    """Chunks of any sides, some of them padded, that cover a dimension."""
    sides, extents = [], []
    while sum(extents) < size or not sides:
        sides.append(draw(st.integers(1, longest)))
        extents.append(draw(st.integers(1, sides[-1])))
    return axis_of(size, sides, extents=np.array(extents))


@st.composite
def grids(draw, shape, longest=6):
    """A regular grid, or one of unequal chunks."""
    if draw(st.booleans()):
        return RegularChunkGrid(shape, tuple(draw(st.integers(1, longest)) for _ in shape))
    return grid_of([draw(axes(size, longest)) for size in shape])
