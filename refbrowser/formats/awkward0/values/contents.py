"""Rows of any layout: which function makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.awkward0.layouts import (
    BrokenLayout,
    ByteIndexedLayout,
    ByteListLayout,
    ChunkedLayout,
    IndexedLayout,
    Layout,
    LinkLayout,
    ListLayout,
    MaskedLayout,
    NumpyLayout,
    ObjectLayout,
    PlainLayout,
    RecordLayout,
    RegularLayout,
    SparseLayout,
    UnionLayout,
    VirtualLayout,
)
from refbrowser.formats.awkward0.values.byte_positions import byte_indexed, byte_lists
from refbrowser.formats.awkward0.values.chunks import chunked
from refbrowser.formats.awkward0.values.extents import Extent
from refbrowser.formats.awkward0.values.indexes import indexed, sparse
from refbrowser.formats.awkward0.values.lists import folded, lists
from refbrowser.formats.awkward0.values.making import unread
from refbrowser.formats.awkward0.values.masks import masked
from refbrowser.formats.awkward0.values.numbers import basic
from refbrowser.formats.awkward0.values.parts import Parts, Reader, Spot, again, beyond, place_of, wrong
from refbrowser.formats.awkward0.values.records import records
from refbrowser.formats.awkward0.values.sizes import length, target_of
from refbrowser.formats.awkward0.values.steps import all_of
from refbrowser.formats.awkward0.values.unions import unions
from refbrowser.model.nested import CUT

if TYPE_CHECKING:
    from awkward.contents import Content


async def _object(parts: Parts, layout: ObjectLayout, extent: Extent, spot: Spot) -> Content:
    below = await parts.content(layout.content, extent, spot.below())
    return (
        below.copy(parameters={**below.parameters, "__record__": layout.generator})
        if below.is_record
        else below
    )


async def _virtual(parts: Parts, layout: VirtualLayout, extent: Extent, spot: Spot) -> Content:
    if layout.content is None:
        message = f"{quoted(layout.generator)} would make this array, and is not run"
        raise again(layout.error or RefbrowserError(ErrorKind.UNSAFE, message, place_of(layout)))
    return await parts.content(layout.content, extent, spot.below())


async def _plain(parts: Parts, layout: PlainLayout, extent: Extent, spot: Spot) -> Content:
    import awkward

    if not isinstance(layout.value, list | tuple):
        raise wrong(layout, "a plain value has no rows")
    if extent.reach > len(layout.value):
        raise beyond(layout, extent.reach, len(layout.value))
    rows = [layout.value[row] for start, stop in extent.runs for row in range(start, stop)]
    try:
        made = awkward.from_iter(rows, allow_record=False, highlevel=False)
        for name in spot.fields:
            made = made[name]
    except (TypeError, ValueError, OverflowError, IndexError) as error:
        raise wrong(layout, f"these values are no array: {quoted(error)}") from None
    return made


async def _link(parts: Parts, layout: LinkLayout, extent: Extent, spot: Spot) -> Content:
    if not extent.size:
        return unread(0)
    target = target_of(parts, layout)
    known = await length(parts, target)
    if extent.reach > known:
        raise beyond(target, extent.reach, known)
    if spot.turns >= parts.turns:
        message = f"the values go on in themselves: {parts.turns} turns of them are read"
        parts.note(spot.named(CUT), RefbrowserError(ErrorKind.BUDGET, message, place_of(layout)))
        return unread(extent.size)
    # As a task of its own: otherwise each turn would wait within the one before.
    (made,) = await all_of(parts.content(target, extent, spot.turned()))
    return made


async def _broken(parts: Parts, layout: BrokenLayout, extent: Extent, spot: Spot) -> Content:
    raise again(layout.error)


#: What reads each kind of layout.
READERS: dict[type[Layout], Reader] = {
    NumpyLayout: basic,
    ListLayout: lists,
    ByteListLayout: byte_lists,
    ByteIndexedLayout: byte_indexed,
    RegularLayout: folded,
    RecordLayout: records,
    UnionLayout: unions,
    MaskedLayout: masked,
    IndexedLayout: indexed,
    SparseLayout: sparse,
    ChunkedLayout: chunked,
    ObjectLayout: _object,
    VirtualLayout: _virtual,
    PlainLayout: _plain,
    LinkLayout: _link,
    BrokenLayout: _broken,
}
