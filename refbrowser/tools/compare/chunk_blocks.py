"""Blocks of changes: neighbouring chunks that differ in the same way."""

from __future__ import annotations

from math import prod

import numpy as np

from refbrowser.engine.comparing.differences import ChunkComparison

Box = tuple[range, ...]


def single(coords: tuple[int, ...]) -> Box:
    """Return the box of one chunk."""
    return tuple(range(at, at + 1) for at in coords)


def block_around(chunks: ChunkComparison, coords: tuple[int, ...]) -> Box:
    """Return a box of chunks around one that are all in its state, and that cannot be widened.

    It is widened along one dimension after the other, the last one first.
    """
    states, box = chunks.states, single(coords)
    if states is None or any(not 0 <= at < size for at, size in zip(coords, states.shape, strict=True)):
        return box
    for axis in range(len(box) - 1, -1, -1):
        whole = [slice(part.start, part.stop) for part in box]
        whole[axis] = slice(None)
        alike = np.moveaxis(states[tuple(whole)] == states[coords], axis, 0)
        others = np.flatnonzero(~alike.reshape(len(alike), -1).all(axis=1))
        at = int(others.searchsorted(coords[axis]))
        start = int(others[at - 1]) + 1 if at else 0
        stop = int(others[at]) if at < len(others) else len(alike)
        box = (*box[:axis], range(start, stop), *box[axis + 1 :])
    return box


def count_of(box: Box) -> int:
    """Return how many chunks are in a box."""
    return prod(map(len, box))


def box_text(box: Box) -> str:
    """Return the chunks along each dimension, as ``0:12, 3``."""
    return ", ".join(f"{part.start}:{part.stop}" if len(part) > 1 else str(part.start) for part in box)
