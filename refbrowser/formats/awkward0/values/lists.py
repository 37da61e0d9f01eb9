"""Lists: where each begins and ends, checked, and the elements that these rows need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from refbrowser.formats.awkward0.layouts import Layout, ListIndex, ListLayout, RegularLayout
from refbrowser.formats.awkward0.values.extents import Extent, Positions
from refbrowser.formats.awkward0.values.making import adjoining, list_content, regular
from refbrowser.formats.awkward0.values.parts import Parts, Spot, beyond, outer_shape, wrong
from refbrowser.formats.awkward0.values.sizes import length
from refbrowser.formats.awkward0.values.steps import all_of
from refbrowser.formats.awkward0.values.sums import summed, summed_offsets
from refbrowser.formats.awkward0.values.tables import list_table
from refbrowser.formats.awkward0.values.texts import texts

if TYPE_CHECKING:
    from awkward.contents import Content


async def lists(parts: Parts, layout: ListLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of a list array."""
    inner, flat = outer_shape(layout.index[0], extent)
    if flat.is_single and layout.how in (ListIndex.COUNTS, ListIndex.OFFSETS):
        made = await _adjoining(parts, layout, flat, spot)
    else:
        made = await _anywhere(parts, layout, flat, spot)
    return regular(made, inner, extent.size)


async def _adjoining(parts: Parts, layout: ListLayout, items: Extent, spot: Spot) -> Content:
    """Return lists each of which begins where the one before ends."""
    if not items.size:
        offsets = np.zeros(1, np.int64)
    elif layout.how is ListIndex.COUNTS:
        offsets = await summed_offsets(parts, layout.index[0], items)
    else:
        offsets = await parts.integers(layout.index[0], Extent(items.starts, items.stops + 1))
        if int(offsets[0]) < 0 or bool((offsets[1:] < offsets[:-1]).any()):
            raise wrong(layout, "a list begins before 0, or ends before it begins")
    first, last = int(offsets[0]), int(offsets[-1])
    if first == last:
        first = last = 0
    await _check_reach(parts, layout, last)
    below = await parts.content(layout.content, Extent.of(first, last), spot.below())
    offsets = offsets - offsets[0] if offsets[0] else offsets
    if layout.is_text:
        return texts(layout, offsets[:-1], np.diff(offsets), below)
    return adjoining(offsets, below)


async def _check_reach(parts: Parts, layout: ListLayout, reach: int) -> None:
    known = await length(parts, layout.content)
    if reach > known:
        raise beyond(layout.content, reach, known)


async def _anywhere(parts: Parts, layout: ListLayout, items: Extent, spot: Spot) -> Content:
    """Return lists that may lie anywhere in the content."""
    starts, stops = await _bounds(parts, layout, items)
    starts, stops = _checked(layout, starts, stops)
    covered = Extent.covering(starts, stops)
    await _check_reach(parts, layout, covered.reach)
    below = await parts.content(layout.content, covered, spot.below())
    counts = stops - starts
    first = covered.locate(starts)
    first[counts == 0] = 0
    return texts(layout, first, counts, below) if layout.is_text else list_content(first, counts, below)


def _checked(layout: Layout, starts: Positions, stops: Positions) -> tuple[Positions, Positions]:
    if len(stops) < len(starts):
        raise wrong(layout, "there are fewer stops than starts")
    if len(starts) and (int(starts.min()) < 0 or bool((stops < starts).any())):
        raise wrong(layout, "a list begins before 0, or ends before it begins")
    return starts, stops


async def _bounds(parts: Parts, layout: ListLayout, items: Extent) -> tuple[Positions, Positions]:
    """Return where each list begins and ends in the content."""
    index = layout.index[0]
    if layout.how is ListIndex.STARTS_STOPS:
        starts, stops = await all_of(parts.flat(index, items), parts.flat(layout.index[1], items))
        return starts, stops
    if layout.how is ListIndex.OFFSETS:
        return await _offsets(parts, index, items)
    if layout.how is ListIndex.COUNTS:
        return await summed(parts, index, items)
    starts, stops = await list_table(parts, layout)
    rows = items.positions()
    return starts[rows], stops[rows]


async def _offsets(parts: Parts, index: Layout, items: Extent) -> tuple[Positions, Positions]:
    if not items.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    offsets = await parts.integers(index, Extent(items.starts, items.stops + 1))
    sizes = items.stops - items.starts + 1
    ends = np.cumsum(sizes)
    return np.delete(offsets, ends - 1), np.delete(offsets, ends - sizes)


async def folded(parts: Parts, layout: RegularLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of lists of one size."""
    from awkward.contents import RegularArray

    if layout.size < 0:
        raise wrong(layout, "lists have a negative size")
    below = extent.times(layout.size)
    known = await length(parts, layout.content)
    if below.reach > known:
        raise beyond(layout.content, below.reach, known)
    inner = await parts.content(layout.content, below, spot.below())
    return RegularArray(inner, layout.size, zeros_length=extent.size)
