"""How many rows a layout has: what its schema tells, and where that is not enough what its data do."""

from __future__ import annotations

from typing import Any

from refbrowser.errors import RefbrowserError
from refbrowser.formats.awkward0.layouts import (
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
)
from refbrowser.formats.awkward0.lengths import length_of
from refbrowser.formats.awkward0.values.parts import Parts, again, wrong
from refbrowser.formats.awkward0.values.steps import Together
from refbrowser.formats.awkward0.values.tables import list_table
from refbrowser.limits import LIMITS


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
    if depth > LIMITS.awkward_depth:
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
