"""Layouts again with other parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from refbrowser.formats.awkward0 import layouts
from refbrowser.formats.awkward0.layouts import Layout


def with_parts(layout: Layout, new: Mapping[Layout, Any]) -> Layout:
    """Return a layout with others in place of its parts; those that are not in `new` stay."""
    match layout:
        case layouts.ListLayout():
            return layouts.ListLayout(
                number=layout.number,
                id=layout.id,
                function=layout.function,
                how=layout.how,
                index=tuple([new.get(part, part) for part in layout.index]),
                content=new.get(layout.content, layout.content),
                is_text=layout.is_text,
                encoding=layout.encoding,
            )
        case layouts.RecordLayout(view=view):
            fields = tuple([(name, new.get(part, part)) for name, part in layout.fields])
            own = new.get(view, view) if isinstance(view, Layout) else view
            return replace(layout, fields=fields, view=own)
        case layouts.ByteListLayout():
            index = tuple([new.get(part, part) for part in layout.index])
            return replace(layout, index=index, content=new.get(layout.content, layout.content))
        case layouts.UnionLayout(tags=tags, index=order):
            contents = tuple([new.get(part, part) for part in layout.contents])
            own = None if order is None else new.get(order, order)
            return replace(layout, tags=new.get(tags, tags), index=own, contents=contents)
        case layouts.ChunkedLayout():
            return replace(layout, chunks=tuple([new.get(part, part) for part in layout.chunks]))
    return _with_single(layout, new)


def _with_single(layout: Layout, new: Mapping[Layout, Any]) -> Layout:
    """Return the same of a layout whose parts have a field each."""
    match layout:
        case layouts.MaskedLayout(mask=mask, content=content):
            own = None if mask is None else new.get(mask, mask)
            return replace(layout, mask=own, content=new.get(content, content))
        case (
            layouts.IndexedLayout(index=index, content=content)
            | layouts.SparseLayout(index=index, content=content)
            | layouts.ByteIndexedLayout(index=index, content=content)
        ):
            return replace(layout, index=new.get(index, index), content=new.get(content, content))
        case layouts.RegularLayout(content=content) | layouts.ObjectLayout(content=content):
            return replace(layout, content=new.get(content, content))
        case layouts.VirtualLayout(content=Layout() as content):
            return replace(layout, content=new.get(content, content))
    return layout
