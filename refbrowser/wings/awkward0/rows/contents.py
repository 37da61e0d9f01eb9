"""Rows of any layout: indexes, lists, masks, records, unions, and which function makes which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.nested import CUT, unread
from refbrowser.wings.awkward0.layouts.layouts import (
    BrokenLayout,
    ByteIndexedLayout,
    ByteListLayout,
    ChunkedLayout,
    IndexedLayout,
    Layout,
    LinkLayout,
    ListIndex,
    ListLayout,
    MaskedLayout,
    MaskForm,
    NumpyLayout,
    ObjectLayout,
    PlainLayout,
    RecordLayout,
    RegularLayout,
    SliceView,
    SparseLayout,
    UnionLayout,
    VirtualLayout,
)
from refbrowser.wings.awkward0.layouts.types import type_of
from refbrowser.wings.awkward0.rows.awkward_contents import (
    MOST_POSSIBILITIES,
    adjoining,
    as_numbers,
    concatenated,
    list_content,
    optional,
    picked,
    regular,
    union_of,
)
from refbrowser.wings.awkward0.rows.basic_elements import basic, byte_indexed, byte_lists, chunked, texts
from refbrowser.wings.awkward0.rows.layout_reading import (
    Extent,
    Parts,
    Positions,
    Reader,
    Spot,
    Together,
    again,
    all_of,
    beyond,
    outer_shape,
    place_of,
    wrong,
)
from refbrowser.wings.awkward0.rows.positions import (
    ascending,
    base_length,
    length,
    list_table,
    running,
    summed,
    summed_offsets,
    target_of,
)

if TYPE_CHECKING:
    from awkward.contents import Content


async def gathered(parts: Parts, layout: Layout, rows: Positions, spot: Spot) -> Content:
    """Return the `rows` of a layout, in their order, each checked."""
    if not len(rows):
        return await parts.content(layout, Extent.of(0, 0), spot)
    if int(rows.min()) < 0:
        raise wrong(layout, "a row before the first one is requested")
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
        raise wrong(layout, f"its default is not a value: {quoted(error)}") from None
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


async def masked(parts: Parts, layout: MaskedLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of a masked array."""
    if layout.mask is None:
        return await parts.content(layout.content, extent, spot.below())
    if layout.form is MaskForm.INDEX:
        return await _by_index(parts, layout, extent, spot)
    known = await length(parts, layout.content)
    if extent.reach > known:
        raise beyond(layout.content, extent.reach, known)
    read = _bits if layout.form is MaskForm.BITS else _bytes
    truth = read(parts, layout, layout.mask, extent)
    mask, content = await all_of(truth, parts.content(layout.content, extent, spot.below()))
    return _optional(content, mask, bool(layout.masked_when))


def _optional(content: Content, mask: npt.NDArray[np.bool_], masked_when: bool) -> Content:
    from awkward.contents import ByteMaskedArray
    from awkward.index import Index8

    if content.is_union:
        return optional(content, np.where(mask == masked_when, -1, np.arange(len(mask))))
    return ByteMaskedArray.simplified(Index8(mask.view(np.int8)), content, not masked_when)


async def _mask_elements(
    parts: Parts, layout: MaskedLayout, mask: Layout, extent: Extent
) -> npt.NDArray[Any]:
    if isinstance(mask, NumpyLayout) and not mask.buffer.dtype.shape:
        values = await parts.elements(mask, extent)
        if values.dtype.kind in "biu":
            return values
    raise wrong(layout, "the mask is not an array of numbers or booleans")


async def _bytes(parts: Parts, layout: MaskedLayout, mask: Layout, extent: Extent) -> npt.NDArray[np.bool_]:
    return await _mask_elements(parts, layout, mask, extent) != 0


async def _bits(parts: Parts, layout: MaskedLayout, mask: Layout, extent: Extent) -> npt.NDArray[np.bool_]:
    first, last = extent.starts // 8, -(-extent.stops // 8)
    packed = await _mask_elements(parts, layout, mask, Extent(first, last))
    if packed.dtype.itemsize != 1:
        raise wrong(layout, "the bit mask is not an array of bytes")
    order: Any = "little" if layout.is_lsb else "big"
    bits = np.unpackbits(np.ascontiguousarray(packed).view(np.uint8), bitorder=order).view(np.bool_)
    found, at = [], 0
    for (start, stop), low, high in zip(extent.runs, first.tolist(), last.tolist(), strict=True):
        found.append(bits[at + start - low * 8 : at + stop - low * 8])
        at += (high - low) * 8
    return np.concatenate(found)


async def _by_index(parts: Parts, layout: MaskedLayout, extent: Extent, spot: Spot) -> Content:
    assert layout.mask is not None
    rows: Positions = await parts.integers(layout.mask, extent)
    there = rows != int(layout.masked_when)
    content = await gathered(parts, layout.content, rows[there], spot.below())
    return optional(content, np.where(there, np.cumsum(there) - 1, -1))


async def records(parts: Parts, layout: RecordLayout, extent: Extent, spot: Spot) -> Content:
    """Return rows of a table, or the field of them that alone is wanted."""
    base, rows = await _viewed(parts, layout, extent)
    if spot.fields:
        found = await _chosen(parts, layout, base, spot)
    else:
        found = await _all_fields(parts, layout, base, spot)
    return found if rows is None else picked(found, rows)


async def _viewed(parts: Parts, layout: RecordLayout, extent: Extent) -> tuple[Extent, Positions | None]:
    """Return which rows of the fields are read, and in which order they are shown; None for their own."""
    if not extent.size:
        return Extent.of(0, 0), None
    view = layout.view
    known = await base_length(parts, layout)
    if view is None or (isinstance(view, SliceView) and view.step == 1):
        first = 0 if view is None else view.start
        _check(layout, int(extent.starts[0]) + first, extent.reach + first, known)
        return Extent(extent.starts + first, extent.stops + first), None
    if isinstance(view, SliceView):
        # Their ends are compared as Python's integers: a step may be as large as it likes.
        ends = [view.start + view.step * row for row in (int(extent.starts[0]), extent.reach - 1)]
        _check(layout, min(ends), max(ends) + 1, known)
        # Of one row the step does not matter, of several it is no larger than the table by now.
        step = view.step if extent.size > 1 else 0
        rows = ends[0] + step * (extent.positions() - extent.starts[0])
    else:
        rows = await parts.integers(view, extent)
        _check(layout, int(rows.min()), int(rows.max()) + 1, known)
    base = Extent.around(rows)
    return base, base.locate(rows)


def _check(layout: Layout, first: int, reach: int, known: int) -> None:
    if first < 0:
        raise wrong(layout, "a row before the first one is requested")
    if reach > known:
        raise beyond(layout, reach, known)


async def _chosen(parts: Parts, layout: RecordLayout, base: Extent, spot: Spot) -> Content:
    name = spot.fields[0]
    for each, below in layout.fields:
        if each == name:
            return await parts.content(below, base, spot.chosen())
    raise wrong(layout, f"there is no field {quoted(name)}")


async def _all_fields(parts: Parts, layout: RecordLayout, base: Extent, spot: Spot) -> Content:
    names = [name for name, _ in layout.fields]
    steps = [parts.content(below, base, spot.named(name)) for name, below in layout.fields]
    found: list[Any] = await Together(steps)
    for name, each in zip(names, found, strict=True):
        if isinstance(each, RefbrowserError):
            parts.note(spot.named(name), each)
    contents = [None if isinstance(each, RefbrowserError) else each for each in found]
    return (
        _zipped(layout, names, contents, base.size)
        if layout.is_jagged
        else _record(layout, names, contents, base.size)
    )


def _record(layout: RecordLayout, names: list[str], contents: list[Content | None], rows: int) -> Content:
    from awkward.contents import RecordArray

    parameters = {"__record__": layout.name} if layout.name else None
    filled = [unread(rows) if each is None else each for each in contents]
    return RecordArray(filled, names, length=rows, parameters=parameters)


def _zipped(layout: RecordLayout, names: list[str], contents: list[Content | None], rows: int) -> Content:
    """Return lists of records of fields that are lists of one structure."""
    known = [each for each in contents if each is not None]
    if not known or not all(_is_list(each) for each in known):
        return _record(layout, names, contents, rows)
    packed = [None if each is None else each.to_ListOffsetArray64(True) for each in contents]
    first = next(each for each in packed if each is not None)
    offsets = first.offsets.data
    for each in packed:
        if each is not None and (each.offsets.data != offsets).any():
            raise wrong(layout, "its fields are lists of different lengths")
    inner = [None if each is None else each.content[: int(offsets[-1])] for each in packed]
    below = _zipped(layout, names, inner, int(offsets[-1]))
    return list_content(offsets[:-1], offsets[1:] - offsets[:-1], below)


def _is_list(content: Content) -> bool:
    return bool(content.is_list) and content.parameter("__array__") not in ("string", "bytestring")


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
        raise wrong(layout, f"a tag is outside its {kinds} possibilities")
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


async def _object(parts: Parts, layout: ObjectLayout, extent: Extent, spot: Spot) -> Content:
    below = await parts.content(layout.content, extent, spot.below())
    return (
        below.copy(parameters={**below.parameters, "__record__": layout.generator})
        if below.is_record
        else below
    )


async def _virtual(parts: Parts, layout: VirtualLayout, extent: Extent, spot: Spot) -> Content:
    if layout.content is None:
        message = f"{quoted(layout.generator)} would make this array, but is not run"
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
        raise wrong(layout, f"these values are not an array: {quoted(error)}") from None
    return made


async def _link(parts: Parts, layout: LinkLayout, extent: Extent, spot: Spot) -> Content:
    if not extent.size:
        return unread(0)
    target = target_of(parts, layout)
    known = await length(parts, target)
    if extent.reach > known:
        raise beyond(target, extent.reach, known)
    if spot.turns >= parts.turns:
        message = f"the values contain themselves: {parts.turns} levels of them are read"
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
