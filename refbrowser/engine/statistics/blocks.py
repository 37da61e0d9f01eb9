"""Blocks of an array: what is read together where all of it is read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from itertools import pairwise
from math import prod

import numpy as np

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_axes import ChunkAxis
from refbrowser.model.nodes import ArrayNode

#: Indices along each dimension.
Box = tuple[range, ...]
#: Bytes of stored elements that are read together.
BLOCK = 32 << 20


def blocks_of(node: ArrayNode, whole: Box) -> Iterator[Box]:
    """Yield the boxes that are read together: whole chunks, or parts of those that need not be read whole."""
    itemsize = max(node.known_dtype.itemsize, 1)
    most = max(BLOCK // itemsize, 1)
    sides = [min(side, max(len(part), 1)) for side, part in zip(node.grid.largest, whole, strict=True)]
    if _is_raw(node) or prod(node.grid.largest) * itemsize > LIMITS.chunk_size:
        for axis in range(len(sides)):
            while prod(sides) > most and sides[axis] > 1:
                sides[axis] = -(-sides[axis] // 2)
    for axis in range(len(sides) - 1, -1, -1):
        times = min(most // max(prod(sides), 1), -(-len(whole[axis]) // sides[axis]))
        sides[axis] *= max(times, 1)
    axes = zip(whole, sides, node.grid.dimensions, strict=True)
    yield from itertools.product(*(_cuts(part, side, axis) for part, side, axis in axes))


def _is_raw(node: ArrayNode) -> bool:
    """Whether parts of chunks can be read alone."""
    if node.assembled is not None or node.nested is not None:
        return False
    return CodecPipeline.for_array(node, node.grid.largest).is_raw


def _cuts(part: range, side: int, axis: ChunkAxis) -> list[range]:
    """Return pieces of at most so many indices; of whole chunks where one is not longer."""
    if not part:
        return []
    if side < axis.largest:
        edges = [*range(part.start, part.stop, side), part.stop]
    else:
        numbers = np.arange(axis.chunk_of(part.start) + 1, axis.chunk_of(part[-1]) + 1, dtype=np.int64)
        borders = [*axis.starts(numbers).tolist(), part.stop]
        edges, last = [part.start], part.start
        for border in borders:
            if border - edges[-1] > side and last > edges[-1]:
                edges.append(last)
            last = border
        edges.append(part.stop)
    return [range(start, stop) for start, stop in pairwise(edges)]
