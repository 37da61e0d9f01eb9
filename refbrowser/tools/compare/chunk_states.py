"""The states of the chunks of a comparison as a map that is painted as any chunk map."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refbrowser.engine.comparing.differences import ChunkComparison, ChunkState
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
    chunks: ChunkComparison, names: tuple[str, ...], first: tuple[int, ...] | None = None
) -> SliceState:
    """Return the slice of the grid of a comparison to begin with.

    Parameters
    ----------
    names
        Of the dimensions.
    first
        Coordinates of a chunk that is to be seen.
    """
    indices = (0,) * len(chunks.grid_shape) if first is None else first
    return long_axes_slice(chunks.grid_shape, names, indices)


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
    state = layout.slice
    at: list[int | slice] = list(state.indices)
    for axis in state.axes:
        at[axis] = slice(None)
    part = _NUMBERS[states[tuple(at)]]
    if state.y is not None:
        classes = part if state.y < state.x else part.T
    else:
        classes = np.zeros(layout.rows * layout.columns, np.uint8)
        classes[: part.size] = part.reshape(-1)
        classes = classes.reshape(layout.rows, layout.columns)
    classes = np.ascontiguousarray(classes)
    counts = np.bincount(classes.reshape(-1), minlength=len(_SHOWN) + 1).tolist()
    legend = [MapClass("nothing")]
    legend += [MapClass(style, one.words, count=counts[n]) for n, (one, style) in enumerate(_SHOWN, 1)]
    return ColouredMap(
        layout, range(layout.rows), range(layout.columns), ColourBy.CHANGE, classes, tuple(legend),
        stored=0, inline=0, missing=0, failed=0, is_complete=True,
    )  # fmt: skip
