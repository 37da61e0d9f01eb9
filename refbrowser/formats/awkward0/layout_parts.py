"""What layouts are made of, in the order of the schema: for walks over all kinds of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refbrowser.errors import RefbrowserError
from refbrowser.formats.awkward0 import layouts
from refbrowser.formats.awkward0.layouts import Layout, ListIndex, MaskForm

#: Roles of the buffers of an index, as they are named in references (persistence notes, section 6).
INDEX_ROLES = {
    ListIndex.STARTS_STOPS: ("starts", "stops"),
    ListIndex.COUNTS: ("counts",),
    ListIndex.OFFSETS: ("offsets",),
    ListIndex.PARENTS: ("parents",),
    ListIndex.UNIQUES: ("uniques",),
    ListIndex.LOCAL_INDEX: ("index",),
}
Part = tuple[str, Layout]


def parts(layout: Layout) -> tuple[Part, ...]:
    """Return the layouts right below one, each with its role; fields have ``field:`` and their name."""
    return tuple(_parts(layout))


def _parts(layout: Layout) -> Iterator[Part]:
    match layout:
        case layouts.ListLayout() | layouts.ByteListLayout():
            yield from zip(INDEX_ROLES[layout.how], layout.index, strict=True)
            yield "content", layout.content
        case layouts.RecordLayout():
            if isinstance(layout.view, Layout):
                yield "index", layout.view
            for name, field in layout.fields:
                yield f"field:{name}", field
        case layouts.UnionLayout():
            yield "tags", layout.tags
            if layout.index is not None:
                yield "index", layout.index
            for at, content in enumerate(layout.contents):
                yield f"content {at}", content
        case layouts.MaskedLayout():
            if layout.mask is not None:
                # Awkward 2 calls one of integers an index.
                yield "index" if layout.form is MaskForm.INDEX else "mask", layout.mask
            yield "content", layout.content
        case layouts.IndexedLayout() | layouts.SparseLayout() | layouts.ByteIndexedLayout():
            yield "index", layout.index
            yield "content", layout.content
        case layouts.ChunkedLayout():
            for at, chunk in enumerate(layout.chunks):
                yield f"chunk {at}", chunk
        case layouts.RegularLayout() | layouts.ObjectLayout():
            yield "content", layout.content
        case layouts.VirtualLayout():
            if layout.content is not None:
                yield "content", layout.content


def walk(layout: Layout) -> Iterator[Layout]:
    """Yield a layout and all that it is made of, each once, parents first."""
    seen = {layout}
    pending = [layout]
    while pending:
        item = pending.pop()
        yield item
        below = [part for _, part in parts(item) if part not in seen]
        seen.update(below)
        pending.extend(reversed(below))


def error_at(layout: Layout, fields: Sequence[str]) -> RefbrowserError | None:
    """Return why the values of a layout, or of a field in it, cannot be made; None where they can."""
    names = list(fields)
    while True:
        if isinstance(layout, layouts.BrokenLayout | layouts.VirtualLayout) and layout.error is not None:
            return layout.error
        if isinstance(layout, layouts.RecordLayout):
            below = dict(layout.fields).get(names.pop(0)) if names else None
        else:
            below = dict(parts(layout)).get("content")
        if below is None:
            return None
        layout = below
