"""Chunked arrays: of each chunk what the rows need of it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.formats.awkward0.layouts import ChunkedLayout
from refbrowser.formats.awkward0.types import type_of
from refbrowser.formats.awkward0.values.extents import Extent
from refbrowser.formats.awkward0.values.making import as_numbers, concatenated
from refbrowser.formats.awkward0.values.numbers import numpy_content
from refbrowser.formats.awkward0.values.parts import Parts, Spot, beyond, wrong
from refbrowser.formats.awkward0.values.sizes import chunk_sizes, length
from refbrowser.formats.awkward0.values.steps import all_of

if TYPE_CHECKING:
    from awkward.contents import Content


async def chunked(parts: Parts, layout: ChunkedLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of a chunked array; of chunks of several types, a union of those that are touched."""
    sizes = await chunk_sizes(parts, layout)
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    if extent.reach > ends[-1]:
        raise beyond(layout, extent.reach, ends[-1])
    wanted = []
    for start, stop in extent.runs:
        for at, (first, last) in enumerate(pairwise(ends)):
            low, high = max(start, first), min(stop, last)
            if low < high:
                wanted.append((at, low - first, high - first))
    if not wanted:
        wanted = [(0, 0, 0)] if layout.chunks else []
    steps = [_chunk(parts, layout, at, Extent.of(low, high), spot) for at, low, high in wanted]
    kind = type_of(layout)
    found = [as_numbers(each, kind) for each in await all_of(*steps)]
    return concatenated(found) if found else _of_no_chunk(layout)


async def _chunk(parts: Parts, layout: ChunkedLayout, at: int, extent: Extent, spot: Spot) -> Content:
    chunk = layout.chunks[at]
    if extent.size and extent.reach > await length(parts, chunk):
        raise wrong(layout, f"chunk {at} is shorter than its size")
    return await parts.content(chunk, extent, spot.below())


def _of_no_chunk(layout: ChunkedLayout) -> Content:
    from awkward.contents import EmptyArray

    if layout.dtype is not None and layout.dtype.dtype is not None:
        return numpy_content(np.zeros(0, layout.dtype.dtype))
    return EmptyArray()
