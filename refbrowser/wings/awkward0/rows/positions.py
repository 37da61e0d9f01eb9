"""Positions and lengths that only data tell: of lists by their elements, of counts and tags, of layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts.layouts import (
    BrokenLayout,
    ChunkedLayout,
    IndexedLayout,
    Layout,
    LinkLayout,
    ListIndex,
    ListLayout,
    MaskedLayout,
    MaskForm,
    ObjectLayout,
    PlainLayout,
    RecordLayout,
    RegularLayout,
    SliceView,
    UnionLayout,
    VirtualLayout,
    length_of,
)
from refbrowser.wings.awkward0.rows.layout_reading import (
    BLOCK,
    Extent,
    Parts,
    Positions,
    Together,
    again,
    items_of,
    place_of,
    wrong,
)


async def list_table(parts: Parts, layout: ListLayout) -> tuple[Positions, Positions]:
    """Return where every list begins and ends, of arrays whose elements tell which list they are in."""
    kept = parts.marks.get(layout)
    if kept is None:
        index = layout.index[0]
        total = _length(index)
        if total * np.dtype(np.int64).itemsize > AWKWARD_LIMITS.awkward_index:
            message = f"an index of {total} items is not read: all of it would be held"
            raise RefbrowserError(ErrorKind.BUDGET, message, place_of(layout))
        items = [await parts.looked_at(index, at, min(total, at + BLOCK)) for at in range(0, total, BLOCK)]
        kept = _TABLES[layout.how](layout, np.concatenate([np.zeros(0, np.int64), *items]))
        parts.marks.put(layout, kept)
    starts, stops = kept[:2]
    return starts, stops


def _length(index: Layout) -> int:
    length = length_of(index)
    if length is None:
        raise wrong(index, "the length of such an index is not known")
    return length * items_of(index)


def _changes(values: Positions) -> Positions:
    return np.flatnonzero(values[1:] != values[:-1]) + 1


def _by_parents(layout: ListLayout, parents: Positions) -> tuple[Positions, Positions]:
    cuts = np.concatenate([[0], _changes(parents), [len(parents)]]).astype(np.int64)
    rows = int(parents.max(initial=-1)) + 1
    if rows * np.dtype(np.int64).itemsize > AWKWARD_LIMITS.awkward_index:
        message = f"the parents describe {rows} lists, more than can be held"
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
    """Return the offsets of one run of lists, not empty, whose lengths are `counts`."""
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
        # An item equal to its mark may have equals in the run before.
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


async def length(parts: Parts, layout: Layout, depth: int = 0) -> int:
    """Return the number of rows.

    Raises
    ------
    RefbrowserError
        Nothing tells it: the layout is broken, or a cycle of nothing but itself.
    """
    known = length_of(layout)
    if known is not None:
        return known
    if depth > AWKWARD_LIMITS.awkward_depth:
        raise wrong(layout, "its length depends on itself")
    match layout:
        case PlainLayout():
            return _plain(layout)
        case ListLayout():
            return await _lists(parts, layout, depth)
        case RegularLayout():
            return await length(parts, layout.content, depth + 1) // layout.size
        case RecordLayout():
            return await _records(parts, layout, depth)
        case MaskedLayout(form=MaskForm.BITS, content=part) | MaskedLayout(mask=None, content=part):
            return await length(parts, part, depth + 1)
        case MaskedLayout(mask=Layout() as part) | UnionLayout(tags=part) | IndexedLayout(index=part):
            return await length(parts, part, depth + 1)
        case ChunkedLayout():
            return sum(await chunk_sizes(parts, layout, depth))
        case ObjectLayout():
            return await length(parts, layout.content, depth + 1)
        case VirtualLayout(content=Layout() as made):
            return await length(parts, made, depth + 1)
        case VirtualLayout(error=RefbrowserError() as error) | BrokenLayout(error=error):
            raise again(error)
        case LinkLayout():
            return await length(parts, target_of(parts, layout), depth + 1)
    raise wrong(layout, "its length is not known")


def target_of(parts: Parts, link: LinkLayout) -> Layout:
    """Return what a link leads to."""
    target = parts.by_number.get(link.target)
    if target is None:
        raise wrong(link, "it refers to nothing")
    return target


async def chunk_sizes(parts: Parts, layout: ChunkedLayout, depth: int = 0) -> tuple[int, ...]:
    """Return the rows of each chunk."""
    if layout.sizes:
        if len(layout.sizes) > len(layout.chunks) or min(layout.sizes) < 0:
            raise wrong(layout, "the sizes of its chunks are not those of its chunks")
        return layout.sizes
    return tuple([await length(parts, chunk, depth + 1) for chunk in layout.chunks])


def _plain(layout: PlainLayout) -> int:
    if isinstance(layout.value, list | tuple):
        return len(layout.value)
    raise wrong(layout, "a plain value has no rows")


async def _lists(parts: Parts, layout: ListLayout, depth: int) -> int:
    if layout.how in (ListIndex.STARTS_STOPS, ListIndex.COUNTS):
        return await length(parts, layout.index[0], depth + 1)
    if layout.how is ListIndex.OFFSETS:
        return max(0, await length(parts, layout.index[0], depth + 1) - 1)
    return len((await list_table(parts, layout))[0])


async def _records(parts: Parts, layout: RecordLayout, depth: int) -> int:
    if isinstance(layout.view, SliceView):
        return layout.view.length
    if layout.view is not None:
        return await length(parts, layout.view, depth + 1)
    return await base_length(parts, layout, depth)


async def base_length(parts: Parts, layout: RecordLayout, depth: int = 0) -> int:
    """Return how many rows all readable fields of a record have, no matter which of them are viewed.

    A field that leads back to the record is as long as the others make it.
    """
    fields = [each for _, each in layout.fields if not isinstance(each, LinkLayout)]
    found: list[Any] = await Together([length(parts, each, depth + 1) for each in fields])
    known = [size for size in found if not isinstance(size, RefbrowserError)]
    if not known and found:
        raise again(found[0])
    if not known and layout.fields:
        raise wrong(layout, "its length depends on itself")
    return min(known, default=0)
