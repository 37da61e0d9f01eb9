"""Unions: of each content the rows that are named; one that cannot be read does not hide the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.formats.awkward0.layouts import UnionLayout
from refbrowser.formats.awkward0.values.extents import Extent, Positions
from refbrowser.formats.awkward0.values.indexes import gathered
from refbrowser.formats.awkward0.values.making import (
    MOST_POSSIBILITIES,
    picked,
    regular,
    union_of,
    unread,
)
from refbrowser.formats.awkward0.values.parts import Parts, Spot, outer_shape, wrong
from refbrowser.formats.awkward0.values.steps import Together, all_of
from refbrowser.formats.awkward0.values.sums import running

if TYPE_CHECKING:
    from awkward.contents import Content


async def unions(parts: Parts, layout: UnionLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of a union."""
    inner, items = outer_shape(layout.tags, extent)
    kinds = len(layout.contents)
    if kinds > MOST_POSSIBILITIES:
        raise wrong(layout, f"{kinds} possibilities; at most {MOST_POSSIBILITIES} are read")
    if layout.index is None:
        tags, rows = await running(parts, layout.tags, items, kinds)
    else:
        tags, rows = await all_of(parts.flat(layout.tags, items), parts.flat(layout.index, items))
        rows = _as_long(layout, tags, rows)
    if len(tags) and not 0 <= int(tags.min()) <= int(tags.max()) < kinds:
        raise wrong(layout, f"a tag is none of its {kinds} possibilities")
    return regular(await _combined(parts, layout, tags, rows, spot), inner, extent.size)


def _as_long(layout: UnionLayout, tags: Positions, rows: Positions) -> Positions:
    if len(rows) < len(tags):
        raise wrong(layout, "the index is shorter than the tags")
    return rows


async def _combined(
    parts: Parts, layout: UnionLayout, tags: Positions, rows: Positions, spot: Spot
) -> Content:
    from awkward.contents import EmptyArray

    spots = [spot.named(f"#{kind}") for kind in range(len(layout.contents))]
    of_kind = [rows[tags == kind] for kind in range(len(layout.contents))]
    steps = [
        gathered(parts, below, wanted, each)
        for below, wanted, each in zip(layout.contents, of_kind, spots, strict=True)
    ]
    found: list[Any] = await Together(steps)
    local = np.zeros(len(tags), np.int64)
    contents = []
    for kind, (each, wanted) in enumerate(zip(found, of_kind, strict=True)):
        if isinstance(each, RefbrowserError):
            if len(wanted):
                parts.note(spots[kind], each)
            each = unread(len(wanted))
        contents.append(each)
        local[tags == kind] = np.arange(len(wanted))
    if not contents:
        return EmptyArray()
    return picked(contents[0], local) if len(contents) == 1 else union_of(tags, local, contents)
