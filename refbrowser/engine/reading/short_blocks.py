"""Stored chunks, and inner chunks of shards, that say themselves to have less than lies in the array."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.errors import ErrorKind, Place, Severity
from refbrowser.findings.finding import Finding
from refbrowser.model.nodes import ArrayNode

Coords = tuple[int, ...]


def tells_shapes(pipeline: CodecPipeline) -> bool:
    """Tell whether stored chunks, or the inner chunks of shards, say which shape they have."""
    inner = None if pipeline.shard is None else pipeline.shard.inner
    return pipeline.tells_shape or (isinstance(inner, CodecPipeline) and inner.tells_shape)


def short_blocks(
    node: ArrayNode, coords: Coords, pipeline: CodecPipeline, data: memoryview, inner: Coords | None = None
) -> Iterator[Finding]:
    """Yield what is to be warned of in a stored chunk: that it, or an inner chunk of it, has too little.

    At the far edges of an array a chunk may end where that does.

    Parameters
    ----------
    coords
        Of the chunk in the grid.
    pipeline
        Decodes `data`.
    inner
        Where in the shard at `coords` they are an inner chunk; None for the whole chunk.

    Raises
    ------
    RefbrowserError
        `DECODE`: it cannot be decoded.
    """
    sides = pipeline.block_shape(data)
    if sides is not None:
        needed = _needed(node, coords, pipeline, inner)
        stored = tuple(needed[axis] for axis in pipeline.axes)
        if any(side < least for side, least in zip(sides, stored, strict=True)):
            yield _short(node, coords, inner, sides, stored)
    shard = pipeline.shard
    if shard is None or not isinstance(shard.inner, CodecPipeline) or not shard.inner.tells_shape:
        return
    start, stop = shard.index_range(len(data))
    for number, (offset, size) in enumerate(shard.inner_ranges(data[start:stop], len(data)).tolist()):
        if offset >= 0:
            place = tuple(map(int, np.unravel_index(number, shard.grid.grid_shape)))
            yield from short_blocks(node, coords, shard.inner, data[offset : offset + size], place)


def _needed(node: ArrayNode, coords: Coords, pipeline: CodecPipeline, inner: Coords | None) -> Coords:
    """Return how many elements of a chunk lie in the array, by axis."""
    if inner is None:
        return node.grid.extent(coords)
    sides, shape = pipeline.shape, node.shape
    starts = [
        start + at * side for start, at, side in zip(node.grid.origin(coords), inner, sides, strict=True)
    ]
    return tuple(
        max(0, min(side, end - start)) for side, start, end in zip(sides, starts, shape, strict=True)
    )


def _short(node: ArrayNode, coords: Coords, inner: Coords | None, sides: Coords, needed: Coords) -> Finding:
    has, needs = (" × ".join(map(str, each)) for each in (sides, needed))
    which = "" if inner is None else f" of the inner chunk ({', '.join(map(str, inner))})"
    return Finding(
        severity=Severity.WARNING,
        kind=ErrorKind.DECODE,
        message=f"the block{which} has {has} elements where {needs} lie in the array: "
        "zeros stand for the others",
        place=Place(path=node.path, key=node.manifest.key(coords)),
    )
