"""How many elements layouts have, as far as the schema tells."""

from __future__ import annotations

from refbrowser.formats.awkward0 import layouts
from refbrowser.formats.awkward0.layouts import Layout, ListIndex, MaskForm


def length_of(layout: Layout) -> int | None:
    """Return how many elements a layout has; None where only its data tell, or nothing can.

    Lengths of links are not told: what leads back to an array says nothing of its length.
    """
    match layout:
        case layouts.NumpyLayout():
            return layout.buffer.count
        case layouts.ListLayout():
            return _of_list(layout)
        case layouts.ByteListLayout():
            return length_of(layout.index[0])
        case layouts.RegularLayout():
            inner = length_of(layout.content)
            return None if inner is None else inner // layout.size
        case layouts.RecordLayout():
            return _of_record(layout)
        case layouts.UnionLayout():
            return length_of(layout.tags)
        case layouts.MaskedLayout():
            return _of_masked(layout)
        case layouts.IndexedLayout() | layouts.ByteIndexedLayout():
            return length_of(layout.index)
        case layouts.SparseLayout():
            return layout.length
        case layouts.ChunkedLayout():
            return _of_chunks(layout)
        case layouts.ObjectLayout():
            return length_of(layout.content)
        case layouts.VirtualLayout():
            made = None if layout.content is None else length_of(layout.content)
            return layout.length if made is None else made
    return None


def _of_list(layout: layouts.ListLayout) -> int | None:
    length = length_of(layout.index[0])
    if length is None or layout.how in (ListIndex.STARTS_STOPS, ListIndex.COUNTS):
        return length
    if layout.how is ListIndex.OFFSETS:
        return max(length - 1, 0)
    # Parents, uniques and local indexes have one number for each element of the content.
    return 0 if length == 0 else None


def _of_record(layout: layouts.RecordLayout) -> int | None:
    if isinstance(layout.view, layouts.SliceView):
        return layout.view.length
    if layout.view is not None:
        return length_of(layout.view)
    known = [length for length in (length_of(field) for _, field in layout.fields) if length is not None]
    if known:
        return min(known)
    return None if layout.fields else 0


def _of_masked(layout: layouts.MaskedLayout) -> int | None:
    if layout.mask is None or layout.form is MaskForm.BITS:
        return length_of(layout.content)
    return length_of(layout.mask)


def _of_chunks(layout: layouts.ChunkedLayout) -> int | None:
    if layout.sizes or not layout.chunks:
        return sum(layout.sizes)
    lengths = [length_of(chunk) for chunk in layout.chunks]
    known = [length for length in lengths if length is not None]
    return sum(known) if len(known) == len(lengths) else None
