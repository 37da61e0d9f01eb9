"""Elements that lie anywhere among bytes (releases before 0.5.6): gathered, and as many as fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.awkward0.layouts import ByteIndexedLayout, ByteListLayout, ListIndex, NumpyLayout
from refbrowser.formats.awkward0.values.extents import Extent, Positions
from refbrowser.formats.awkward0.values.making import list_content
from refbrowser.formats.awkward0.values.numbers import shown
from refbrowser.formats.awkward0.values.parts import Parts, Spot, beyond, place_of, wrong
from refbrowser.formats.awkward0.values.steps import all_of
from refbrowser.formats.awkward0.values.sums import summed
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from awkward.contents import Content


async def byte_lists(parts: Parts, layout: ByteListLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of lists whose positions count bytes."""
    index = layout.index
    if layout.how is ListIndex.COUNTS:
        starts, stops = await summed(parts, index[0], extent)
    else:
        starts, stops = await all_of(parts.integers(index[0], extent), parts.integers(index[1], extent))
    if len(stops) < len(starts) or (len(starts) and (int(starts.min()) < 0 or (stops < starts).any())):
        raise wrong(layout, "a list begins before 0, or ends before it begins")
    size = layout.dtype.itemsize
    counts = (stops - starts) // size
    if float(counts.sum(dtype=np.float64)) * size > LIMITS.awkward_rows:
        message = f"these lists hold more than {LIMITS.awkward_rows} bytes"
        raise RefbrowserError(ErrorKind.BUDGET, message, place_of(layout), "read fewer rows at a time")
    ends = np.cumsum(counts)
    within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)
    values = await _elements(parts, layout.content, np.repeat(starts, counts) + within * size, layout.dtype)
    return list_content(ends - counts, counts, shown(layout, values, spot.fields))


async def byte_indexed(parts: Parts, layout: ByteIndexedLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of elements at positions that count bytes."""
    starts = await parts.integers(layout.index, extent)
    return shown(layout, await _elements(parts, layout.content, starts, layout.dtype), spot.fields)


async def _elements(
    parts: Parts, content: NumpyLayout, starts: Positions, dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Return the elements that begin at bytes of a content."""
    if not len(starts):
        return np.zeros((0, *dtype.shape), dtype.base)
    if int(starts.min()) < 0:
        raise wrong(content, "a byte before the first one is asked for")
    if int(starts.max()) > content.buffer.count - dtype.itemsize:
        raise beyond(content, int(starts.max()) + dtype.itemsize, content.buffer.count)
    covered = Extent.covering(starts, starts + dtype.itemsize)
    data = np.ascontiguousarray(await parts.elements(content, covered)).view(np.uint8)
    rows = data[covered.locate(starts)[:, None] + np.arange(dtype.itemsize)]
    return np.ascontiguousarray(rows).view(dtype.base).reshape(len(starts), *dtype.shape)
