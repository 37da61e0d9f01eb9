"""Lists that their elements tell of: by parents, by unique numbers, by numbers within each list."""

from __future__ import annotations

from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.awkward0.layouts import Layout, ListIndex, ListLayout
from refbrowser.formats.awkward0.lengths import length_of
from refbrowser.formats.awkward0.values.extents import Positions
from refbrowser.formats.awkward0.values.parts import BLOCK, Parts, items_of, place_of, wrong
from refbrowser.limits import LIMITS


async def list_table(parts: Parts, layout: ListLayout) -> tuple[Positions, Positions]:
    """Return where every list begins and ends, of arrays whose elements tell which list they are in."""
    kept = parts.marks.get(layout)
    if kept is None:
        index = layout.index[0]
        total = _length(index)
        if total * np.dtype(np.int64).itemsize > LIMITS.awkward_index:
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
