"""Rows that an index picks from a content: of any order, and of sparse arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import quoted
from refbrowser.formats.awkward0.layouts import IndexedLayout, Layout, SparseLayout
from refbrowser.formats.awkward0.types import type_of
from refbrowser.formats.awkward0.values.extents import Extent, Positions
from refbrowser.formats.awkward0.values.making import as_numbers, concatenated, optional, picked, regular
from refbrowser.formats.awkward0.values.parts import Parts, Spot, beyond, outer_shape, wrong
from refbrowser.formats.awkward0.values.sizes import length
from refbrowser.formats.awkward0.values.sums import ascending

if TYPE_CHECKING:
    from awkward.contents import Content


async def gathered(parts: Parts, layout: Layout, rows: Positions, spot: Spot) -> Content:
    """Return the `rows` of a layout, in their order, each checked."""
    if not len(rows):
        return await parts.content(layout, Extent.of(0, 0), spot)
    if int(rows.min()) < 0:
        raise wrong(layout, "a row before the first one is asked for")
    known = await length(parts, layout)
    if int(rows.max()) >= known:
        raise beyond(layout, int(rows.max()) + 1, known)
    covered = Extent.around(rows)
    return picked(await parts.content(layout, covered, spot), covered.locate(rows))


async def indexed(parts: Parts, layout: IndexedLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of an indexed array."""
    inner, items = outer_shape(layout.index, extent)
    rows = await parts.flat(layout.index, items)
    return regular(await gathered(parts, layout.content, rows, spot.below()), inner, extent.size)


async def sparse(parts: Parts, layout: SparseLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of a sparse array: of its length only those that are asked for are made."""
    if extent.reach > layout.length:
        raise beyond(layout, extent.reach, layout.length)
    places, rows = await ascending(parts, layout.index, extent)
    kind = type_of(layout)
    content = as_numbers(await gathered(parts, layout.content, places, spot.below()), kind)
    parts.hold(layout, extent.size * np.dtype(np.int64).itemsize)
    where = np.full(extent.size, content.length, np.int64)
    # Of equal ones the first counts, which is the last to be written.
    where[rows[::-1]] = np.arange(len(rows))[::-1]
    default = _default(layout, content, spot)
    if default is None:
        return optional(content, np.where(where == content.length, -1, where))
    default = as_numbers(default, kind)
    return picked(concatenated([content, default]) if content.length else default, where)


def _default(layout: SparseLayout, content: Content, spot: Spot) -> Content | None:
    """Return one row of the default; None where there is none of such a type."""
    import awkward

    if layout.default is None:
        return _zero(content)
    try:
        made = awkward.from_iter([layout.default], highlevel=False)
        for name in spot.fields:
            made = made[name]
    except (TypeError, ValueError, OverflowError, IndexError) as error:
        raise wrong(layout, f"its default is no value: {quoted(error)}") from None
    return made


def _zero(content: Content) -> Content | None:
    from awkward.contents import ListOffsetArray, NumpyArray, RegularArray
    from awkward.index import Index64

    if isinstance(content, NumpyArray):
        return NumpyArray(np.zeros(1, content.data.dtype), parameters=content.parameters)
    if isinstance(content, RegularArray):
        zero: Any = _zero(content.content)
        below = None if zero is None else picked(zero, np.zeros(content.size, np.int64))
        return None if below is None else RegularArray(below, content.size, zeros_length=1)
    if content.is_list:
        offsets = Index64(np.zeros(2, np.int64))
        return ListOffsetArray(offsets, content.content[:0], parameters=content.parameters)
    return None
