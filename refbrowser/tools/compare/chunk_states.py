"""What a comparison found of the chunks of an array as maps that are painted as any chunk map."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from refbrowser.engine.comparing.differences import ChunkAmounts, ChunkComparison, ChunkState
from refbrowser.views.chunks.chunk_colouring import ColourBy, ColouredMap, MapClass
from refbrowser.views.chunks.chunk_map import ChunkLayout, long_axes_slice
from refbrowser.views.plot.slicing import SliceState

#: In the order of their numbers on the map: what should not be missed has a great one.
_SHOWN = (
    (ChunkState.MISSING, "missing"),
    (ChunkState.SAME, "plain"),
    (ChunkState.APART, "derived"),
    (ChunkState.UNDECIDED, "pending"),
    (ChunkState.MOVED, "moved"),
    (ChunkState.CHANGED, "changed"),
    (ChunkState.ONLY_HERE, "removed"),
    (ChunkState.ONLY_THERE, "added"),
)
_NUMBERS = np.zeros(len(ChunkState), np.uint8)
_NUMBERS[[state for state, _ in _SHOWN]] = np.arange(1, len(_SHOWN) + 1)


def states_slice(
    grid_shape: tuple[int, ...], names: tuple[str, ...], first: tuple[int, ...] | None = None
) -> SliceState:
    """Return the slice of the grid of a comparison to begin with.

    Parameters
    ----------
    names
        Of the dimensions.
    first
        Coordinates of a chunk that is to be seen.
    """
    indices = (0,) * len(grid_shape) if first is None else first
    return long_axes_slice(grid_shape, names, indices)


def next_state(chunks: ChunkComparison, start: tuple[int, ...] | None = None) -> tuple[int, ...] | None:
    """Return the coordinates of the first chunk that differs; None where none does, or it is not known.

    Parameters
    ----------
    start
        The chunk from which on it is looked for; after the last one the first ones are.
    """
    states = chunks.states
    if states is None or not chunks.different:
        return None
    differs = np.isin(states, [state for state in ChunkState if state.differs]).reshape(-1)
    begin = 0
    if start is not None and all(at < size for at, size in zip(start, states.shape, strict=True)):
        begin = int(np.ravel_multi_index(start, states.shape)) if start else 0
    at = begin + int(np.argmax(differs[begin:]))
    if not differs[at]:
        at = int(np.argmax(differs))
    return tuple(int(each) for each in np.unravel_index(at, states.shape)) if states.shape else ()


def states_map(states: npt.NDArray[np.uint8], layout: ChunkLayout) -> ColouredMap:
    """Return the chunks of a layout coloured by how their references compare.

    Parameters
    ----------
    states
        `ChunkState` of each chunk, in the shape of the grid.
    """
    classes = _of_layout(_NUMBERS[states], layout)
    legend = [MapClass("nothing"), *(MapClass(style, one.words) for one, style in _SHOWN)]
    return _map_of(layout, classes, legend)


#: Steps of differences that have a colour of their own.
_STEPS = 5


def amounts_map(amounts: ChunkAmounts, layout: ChunkLayout) -> ColouredMap:
    """Return the chunks of a layout coloured by how much their values differ: steps of equal ratio."""
    numbers = amounts.amount
    counted = np.isfinite(numbers) & (numbers > 0)
    legend = [MapClass("nothing"), MapClass("plain", "the same, or not read")]
    step = np.full(len(numbers), 2, np.uint8)
    if counted.any():
        low, high = float(numbers[counted].min()), float(numbers[counted].max())
        edges = np.unique(np.geomspace(max(low, high * 1e-9), high, _STEPS + 1)[1:])
        step[counted] = 2 + np.minimum(np.searchsorted(edges, numbers[counted]), len(edges) - 1)
        legend += [
            MapClass("scale", f"by up to {edge:.3g}", number, len(edges)) for number, edge in enumerate(edges)
        ]
    step[~counted] = len(legend)
    legend.append(MapClass("changed", "differs in what is no number"))
    grid = np.ones(amounts.grid_shape, np.uint8)
    grid[tuple(amounts.coords.T)] = step
    return _map_of(layout, _of_layout(grid, layout), legend)


def _of_layout(grid: npt.NDArray[np.uint8], layout: ChunkLayout) -> npt.NDArray[np.uint8]:
    """Return the cells of a layout, of a number for each chunk of a grid."""
    state = layout.slice
    at: list[int | slice] = list(state.indices)
    for axis in state.axes:
        at[axis] = slice(None)
    part = grid[tuple(at)]
    if state.y is not None:
        return np.ascontiguousarray(part if state.y < state.x else part.T)
    classes = np.zeros(layout.rows * layout.columns, np.uint8)
    classes[: part.size] = part.reshape(-1)
    return classes.reshape(layout.rows, layout.columns)


def _map_of(layout: ChunkLayout, classes: npt.NDArray[np.uint8], legend: list[MapClass]) -> ColouredMap:
    counts = np.bincount(classes.reshape(-1), minlength=len(legend)).tolist()
    counted = [replace(each, count=counts[number] if number else 0) for number, each in enumerate(legend)]
    return ColouredMap(
        layout, range(layout.rows), range(layout.columns), ColourBy.CHANGE, classes, tuple(counted),
        stored=0, inline=0, missing=0, failed=0, is_complete=True,
    )  # fmt: skip
