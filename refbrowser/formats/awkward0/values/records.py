"""Records: each field is read alone, so that one that cannot be read does not hide the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refbrowser.errors import RefbrowserError, quoted
from refbrowser.formats.awkward0.layouts import Layout, RecordLayout, SliceView
from refbrowser.formats.awkward0.values.extents import Extent, Positions
from refbrowser.formats.awkward0.values.making import list_content, picked, unread
from refbrowser.formats.awkward0.values.parts import Parts, Spot, beyond, wrong
from refbrowser.formats.awkward0.values.sizes import base_length
from refbrowser.formats.awkward0.values.steps import Together

if TYPE_CHECKING:
    from awkward.contents import Content


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
        raise wrong(layout, "a row before the first one is asked for")
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
