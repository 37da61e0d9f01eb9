"""Positions that follow from all rows before: of counts, of tags, of ascending indexes.

All of an index is looked at once, block by block; what was summed up is kept at every so many items, so that
any row is found from there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refbrowser.formats.awkward0.layouts import Layout
from refbrowser.formats.awkward0.values.extents import Extent, Positions
from refbrowser.formats.awkward0.values.parts import BLOCK, Parts, items_of, wrong
from refbrowser.formats.awkward0.values.sizes import length

#: Items between two marks; shorter indexes have one for each item.
STEP, DENSE = 1024, 16_384
#: Items between two marks of tags: each mark has a number for every content.
TAG_STEP = 16_384
_FAR = float(1 << 62)


async def summed(parts: Parts, counts: Layout, items: Extent) -> tuple[Positions, Positions]:
    """Return where the lists of `items` begin and end, whose lengths are `counts`."""
    total = await length(parts, counts) * items_of(counts)
    step = 1 if total <= DENSE else -(-STEP // items_of(counts)) * items_of(counts)
    kept = parts.marks.get(counts)
    if kept is None:
        kept = (await _marks_of_counts(parts, counts, total, step),)
        parts.marks.put(counts, kept)
    (marks,) = kept
    if step == 1:
        rows = items.positions()
        return marks[rows], marks[rows + 1]
    near = items.starts // step * step
    read = await parts.flat(counts, Extent(near, items.stops))
    starts, stops, at = [], [], 0
    for first, start, stop in zip(near.tolist(), items.starts.tolist(), items.stops.tolist(), strict=True):
        piece = read[at : at + stop - first]
        at += stop - first
        ends = np.cumsum(piece) + marks[first // step]
        stops.append(ends[start - first :])
        starts.append(stops[-1] - piece[start - first :])
    return np.concatenate(starts), np.concatenate(stops)


async def summed_offsets(parts: Parts, counts: Layout, items: Extent) -> Positions:
    """Return the offsets of one stretch of lists, not empty, whose lengths are `counts`."""
    if items.starts[0]:
        starts, stops = await summed(parts, counts, items)
        return np.append(starts[:1], stops)
    # From the first one on nothing before is needed.
    read = await parts.flat(counts, items)
    _check_counts(counts, read, 0)
    offsets = np.empty(len(read) + 1, np.int64)
    offsets[0] = 0
    np.cumsum(read, out=offsets[1:])
    return offsets


def _check_counts(counts: Layout, block: Positions, before: int) -> None:
    if len(block) and int(block.min()) < 0:
        raise wrong(counts, "a count is negative")
    # Each may be as large as it likes: the sum is estimated before it is taken.
    if before + float(block.max(initial=0)) * len(block) > _FAR and (
        before + float(block.sum(dtype=np.float64)) > _FAR
    ):
        raise wrong(counts, "the counts add up to more than any length")


async def _marks_of_counts(parts: Parts, counts: Layout, total: int, step: int) -> Positions:
    """Return the sum of all counts before every `step`-th item, and of all where that is each."""
    marks = [np.zeros(1, np.int64)]
    before = 0
    side = max(1, BLOCK // step) * step
    for start in range(0, total, side):
        block = await parts.looked_at(counts, start, min(total, start + side))
        _check_counts(counts, block, before)
        ends = np.cumsum(block) + before
        # A view would keep all of the block.
        marks.append(ends[step - 1 :: step].copy())
        before = int(ends[-1])
    return np.concatenate(marks)


async def running(parts: Parts, tags: Layout, items: Extent, kinds: int) -> tuple[Positions, Positions]:
    """Return the tags of `items`, and of each how often it came before (persistence notes, section 3)."""
    total = await length(parts, tags) * items_of(tags)
    step = -(-TAG_STEP // items_of(tags)) * items_of(tags) if items_of(tags) else 1
    kept = parts.marks.get(tags)
    if kept is None:
        kept = (await _marks_of_tags(parts, tags, total, step, kinds),)
        parts.marks.put(tags, kept)
    (marks,) = kept
    near = items.starts // step * step
    read = await parts.flat(tags, Extent(near, items.stops))
    index, at = [], 0
    wanted = []
    for first, start, stop in zip(near.tolist(), items.starts.tolist(), items.stops.tolist(), strict=True):
        piece = read[at : at + stop - first]
        at += stop - first
        places = np.zeros(len(piece), np.int64)
        for kind in range(kinds):
            of_kind = piece == kind
            places[of_kind] = np.arange(np.count_nonzero(of_kind)) + marks[first // step, kind]
        index.append(places[start - first :])
        wanted.append(piece[start - first :])
    return np.concatenate(wanted), np.concatenate(index)


async def _marks_of_tags(
    parts: Parts, tags: Layout, total: int, step: int, kinds: int
) -> npt.NDArray[np.int64]:
    marks = [np.zeros(kinds, np.int64)]
    for start in range(0, total, step):
        block = await parts.looked_at(tags, start, min(total, start + step))
        # A tag of no content is an error in the rows that have it.
        known = block[(block >= 0) & (block < kinds)]
        marks.append(marks[-1] + np.bincount(known, minlength=kinds))
    return np.array(marks)


async def ascending(parts: Parts, index: Layout, extent: Extent) -> tuple[Positions, Positions]:
    """Return which items of an ascending index are rows of `extent`, and where in it these lie.

    Raises
    ------
    RefbrowserError
        `E_SCHEMA`: the index does not ascend.
    """
    total = await length(parts, index)
    kept = parts.marks.get(index)
    if kept is None:
        kept = (await _marks_of_ascending(parts, index, total),)
        parts.marks.put(index, kept)
    (marks,) = kept
    places, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for start, stop in extent.runs:
        # An item equal to its mark may have equals in the stretch before.
        first = max(0, int(np.searchsorted(marks, start, "left")) - 1) * STEP
        last = min(total, int(np.searchsorted(marks, stop, "left")) * STEP)
        if first < last:
            items = await parts.integers(index, Extent.of(first, last))
            inside = (items >= start) & (items < stop)
            places.append(np.flatnonzero(inside) + first)
            rows.append(extent.locate(items[inside]))
    return np.concatenate(places), np.concatenate(rows)


async def _marks_of_ascending(parts: Parts, index: Layout, total: int) -> Positions:
    marks = [np.zeros(0, np.int64)]
    before = 0
    for start in range(0, total, BLOCK):
        block = await parts.looked_at(index, start, min(total, start + BLOCK))
        if int(block[0]) < before or bool((block[1:] < block[:-1]).any()):
            raise wrong(index, "the index of a sparse array does not ascend")
        marks.append(block[::STEP].copy())
        before = int(block[-1])
    return np.concatenate(marks)
