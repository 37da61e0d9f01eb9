"""Positions that follow from all rows before: of counts, of tags, of lists that their elements tell of.

All of an index is looked at once, block by block; what was summed up is kept at every so many items, so that
any row is found from there.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.awkward0.layouts import Layout, ListIndex, ListLayout, NumpyLayout
from refbrowser.formats.awkward0.values.extents import Extent, Positions
from refbrowser.formats.awkward0.values.parts import Parts, place_of, wrong
from refbrowser.formats.awkward0.values.sizes import length
from refbrowser.limits import LIMITS

#: Items between two marks; shorter indexes have one for each item.
STEP, DENSE = 1024, 16_384
#: Items between two marks of tags: each mark has a number for every content.
TAG_STEP = 16_384
#: Items that are looked at together.
BLOCK = 1 << 20
_FAR = float(1 << 62)


def _inner(layout: Layout) -> int:
    """Return the items of one row of an index."""
    return prod(layout.buffer.dtype.shape) if isinstance(layout, NumpyLayout) else 1


async def _block(parts: Parts, layout: Layout, start: int, stop: int) -> Positions:
    """Return items that are only looked at: they do not count as read for the rows."""
    return await parts.apart().flat(layout, Extent.of(start, stop))


async def summed(parts: Parts, counts: Layout, items: Extent) -> tuple[Positions, Positions]:
    """Return where the lists of `items` begin and end, whose lengths are `counts`."""
    total = await length(parts, counts) * _inner(counts)
    step = 1 if total <= DENSE else -(-STEP // _inner(counts)) * _inner(counts)
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


async def _marks_of_counts(parts: Parts, counts: Layout, total: int, step: int) -> Positions:
    """Return the sum of all counts before every `step`-th item, and of all where that is each."""
    marks = [np.zeros(1, np.int64)]
    before = 0
    side = max(1, BLOCK // step) * step
    for start in range(0, total, side):
        block = await _block(parts, counts, start, min(total, start + side))
        if len(block) and int(block.min()) < 0:
            raise wrong(counts, "a count is negative")
        if before + float(block.sum(dtype=np.float64)) > _FAR:
            raise wrong(counts, "the counts add up to more than any length")
        ends = np.cumsum(block) + before
        marks.append(ends[step - 1 :: step])
        before = int(ends[-1])
    return np.concatenate(marks)


async def running(parts: Parts, tags: Layout, items: Extent, kinds: int) -> tuple[Positions, Positions]:
    """Return the tags of `items`, and of each how often it came before (persistence notes, section 3)."""
    total = await length(parts, tags) * _inner(tags)
    step = -(-TAG_STEP // _inner(tags)) * _inner(tags) if _inner(tags) else 1
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
        block = await _block(parts, tags, start, min(total, start + step))
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
        block = await _block(parts, index, start, min(total, start + BLOCK))
        if int(block[0]) < before or bool((block[1:] < block[:-1]).any()):
            raise wrong(index, "the index of a sparse array does not ascend")
        marks.append(block[::STEP])
        before = int(block[-1])
    return np.concatenate(marks)


async def list_table(parts: Parts, layout: ListLayout) -> tuple[Positions, Positions]:
    """Return where every list begins and ends, of arrays whose elements tell which list they are in."""
    kept = parts.marks.get(layout)
    if kept is None:
        index = layout.index[0]
        total = await length(parts, index) * _inner(index)
        if total * np.dtype(np.int64).itemsize > LIMITS.awkward_index:
            message = f"an index of {total} items is not read: all of it would be held"
            raise RefbrowserError(ErrorKind.BUDGET, message, place_of(layout))
        items = [await _block(parts, index, at, min(total, at + BLOCK)) for at in range(0, total, BLOCK)]
        kept = _TABLES[layout.how](layout, np.concatenate([np.zeros(0, np.int64), *items]))
        parts.marks.put(layout, kept)
    starts, stops = kept[:2]
    return starts, stops


def _changes(values: Positions) -> Positions:
    return np.flatnonzero(values[1:] != values[:-1]) + 1


def _by_parents(layout: ListLayout, parents: Positions) -> tuple[Positions, Positions]:
    cuts = np.concatenate([[0], _changes(parents), [len(parents)]]).astype(np.int64)
    rows = int(parents.max(initial=-1)) + 1
    if rows * np.dtype(np.int64).itemsize > LIMITS.awkward_index:
        message = f"the parents tell of {rows} lists, more than are held"
        raise RefbrowserError(ErrorKind.BUDGET, message, place_of(layout))
    starts, stops = np.zeros(max(rows, 0), np.int64), np.zeros(max(rows, 0), np.int64)
    if len(parents):
        of_cut = parents[cuts[:-1]]
        real = of_cut >= 0
        starts[of_cut[real]], stops[of_cut[real]] = cuts[:-1][real], cuts[1:][real]
    return starts, stops


def _by_uniques(layout: ListLayout, uniques: Positions) -> tuple[Positions, Positions]:
    # Of no element the old library makes one empty list.
    cuts = np.concatenate([[0], _changes(uniques), [len(uniques)]]).astype(np.int64)
    return cuts[:-1], cuts[1:]


def _by_local_index(layout: ListLayout, index: Positions) -> tuple[Positions, Positions]:
    steps = index[1:] - index[:-1]
    if bool((steps[index[1:] != 0] != 1).any()):
        raise wrong(layout, "a local index that is not 0 must be one more than the one before")
    cuts = np.append(np.flatnonzero(index == 0), len(index)).astype(np.int64)
    return cuts[:-1], cuts[1:]


_TABLES: dict[ListIndex, Any] = {
    ListIndex.PARENTS: _by_parents,
    ListIndex.UNIQUES: _by_uniques,
    ListIndex.LOCAL_INDEX: _by_local_index,
}
