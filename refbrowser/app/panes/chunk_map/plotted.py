"""Which chunks the plot shows: the part of the chunk grid that its slice touches."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refbrowser.app.plot.pane import PlotPane
    from refbrowser.model.grid import RegularChunkGrid
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.plot.slicing import SliceState


def plotted_parts(plot: PlotPane, node: ArrayNode) -> tuple[range, ...] | None:
    """Return the chunks along each dimension that are plotted, or None where another array is."""
    shown, state = plot.array(), plot.slice_state()
    grid = node.grid
    if shown is None or state is None or grid is None or shown.path != node.path or state.shape != node.shape:
        return None
    parts = [
        range(index // side, index // side + 1)
        for index, side in zip(state.indices, grid.chunk_shape, strict=True)
    ]
    for axis, taken in zip(state.axes, _ranges(plot, state, grid), strict=True):
        side = grid.chunk_shape[axis]
        parts[axis] = range(taken[0] // side, taken[-1] // side + 1) if taken else range(0)
    return tuple(parts)


def _ranges(plot: PlotPane, state: SliceState, grid: RegularChunkGrid) -> tuple[range, ...]:
    """Return the indices along the axes of the plot; a part of them where only that is read."""
    picture = plot.picture()
    if picture is not None and picture.plan.slice == state:
        return picture.plan.ranges
    return tuple(range(grid.shape[axis]) for axis in state.axes)
