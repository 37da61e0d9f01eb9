"""Awkward 2 contents that are made from positions: lists, picked rows, unions, rows that are missing."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.formats.awkward0.values.extents import Positions

if TYPE_CHECKING:
    from awkward.contents import Content


def list_content(starts: Positions, counts: Positions, content: Content, **options: Any) -> Content:
    """Return lists: with offsets where they follow each other, else with starts and stops."""
    from awkward.contents import ListArray
    from awkward.index import Index64

    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    if ((counts == 0) | (offsets[:-1] == starts)).all():
        return adjoining(offsets, content, **options)
    return ListArray(Index64(starts), Index64(starts + counts), content, **options)


def adjoining(offsets: Positions, content: Content, **options: Any) -> Content:
    """Return lists that follow each other from the first element on."""
    from awkward.contents import ListOffsetArray
    from awkward.index import Index64

    return ListOffsetArray(Index64(offsets), content, **options)


def regular(content: Content, inner: tuple[int, ...], rows: int) -> Content:
    """Return a content as `rows` regular lists of the sizes `inner`, the outermost first."""
    from awkward.contents import RegularArray

    for place in reversed(range(len(inner))):
        content = RegularArray(content, inner[place], zeros_length=rows * prod(inner[:place]))
    return content


def unread(size: int) -> Content:
    """Return rows of which nothing is known: they are all missing."""
    from awkward.contents import EmptyArray, IndexedOptionArray
    from awkward.index import Index64

    return IndexedOptionArray(Index64(np.full(size, -1, np.int64)), EmptyArray())


def picked(content: Content, rows: Positions) -> Content:
    """Return rows of a content in another order."""
    from awkward.contents import IndexedArray
    from awkward.index import Index64

    if len(rows) == content.length and (rows == np.arange(len(rows))).all():
        return content
    return without_index(IndexedArray.simplified(Index64(rows), content))


def without_index(content: Content) -> Content:
    """Return a content whose rows lie in their order."""
    from awkward.contents import IndexedArray

    return content.project() if isinstance(content, IndexedArray) else content


def optional(content: Content, rows: Positions) -> Content:
    """Return rows of a content, of which those at -1 are missing."""
    from awkward.contents import IndexedOptionArray
    from awkward.index import Index64

    return IndexedOptionArray.simplified(Index64(rows), content)


def union_of(tags: Positions, rows: Positions, contents: Sequence[Content]) -> Content:
    """Return a union that keeps the type of each content; where one may miss rows, all may.

    Parameters
    ----------
    tags, rows
        Which content each row is of, and which of its rows.
    """
    from awkward.contents import UnionArray
    from awkward.index import Index8, Index64

    below = [without_index(each) for each in contents]
    if any(each.is_option for each in below):
        below = [_may_miss(each) for each in below]
    # Those of a union within one are possibilities of the outer one.
    make = UnionArray.simplified if any(each.is_union for each in below) else UnionArray
    options: dict[str, Any] = {"mergebool": False} if make is not UnionArray else {}
    return make(Index8(tags.astype(np.int8)), Index64(rows), below, **options)


def _may_miss(content: Content) -> Content:
    from awkward.contents import UnmaskedArray

    if content.is_option:
        return content.to_IndexedOptionArray64()
    return content if content.is_union else UnmaskedArray(content)


def concatenated(contents: Sequence[Content]) -> Content:
    """Return contents one after the other; of types that are not alike, a union of them."""
    import awkward

    filled = [each for each in contents if each.length] or list(contents[:1])
    if len(filled) == 1:
        return filled[0]
    return awkward.concatenate(filled, mergebool=False, highlevel=False)
