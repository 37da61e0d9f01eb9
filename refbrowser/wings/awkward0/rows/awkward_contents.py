"""Awkward 2 contents that are made from positions: lists, picked rows, unions, rows that are missing."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.exact_numbers import is_exact
from refbrowser.model.nested import NestedType
from refbrowser.wings.awkward0.rows.layout_reading import Positions

if TYPE_CHECKING:
    from awkward.contents import Content

#: Tags of awkward are signed bytes.
MOST_POSSIBILITIES = 128


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

    if content.is_union:
        return _optional_union(content, rows)
    return IndexedOptionArray.simplified(Index64(rows), content)


def _optional_union(content: Content, rows: Positions) -> Content:
    """Return rows of a union: what is missing is of its first possibility.

    Awkward's own way makes numbers of different types into those of one, which not all of them are.
    """
    from awkward.contents import UnionArray
    from awkward.index import Index8, Index64

    there = rows >= 0
    first, *others = content.contents
    tags = np.zeros(len(rows), np.int8)
    tags[there] = np.asarray(content.tags)[rows[there]]
    index = np.full(len(rows), first.length, np.int64)
    index[there] = np.asarray(content.index)[rows[there]]
    below = [optional(first, np.append(np.arange(first.length), -1)), *map(_may_miss, others)]
    return UnionArray(Index8(tags), Index64(index), below)


def union_of(tags: Positions, rows: Positions, contents: Sequence[Content]) -> Content:
    """Return a union that keeps the type of each content; where one may miss rows, all may.

    Parameters
    ----------
    tags, rows
        Which content each row is of, and which of its rows.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: unions within it have too many possibilities together.
    """
    from awkward.contents import UnionArray
    from awkward.index import Index8, Index64

    tags, rows, below = _distinct(*_flattened(tags, rows, list(map(without_index, contents))))
    if len(below) == 1:
        return picked(below[0], rows)
    if len(below) > MOST_POSSIBILITIES:
        message = f"unions of {len(below)} possibilities together; at most {MOST_POSSIBILITIES} are read"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    if any(each.is_option for each in below):
        below = list(map(_may_miss, below))
    return UnionArray(Index8(tags.astype(np.int8)), Index64(rows), below)


def _flattened(
    tags: Positions, rows: Positions, contents: Sequence[Content]
) -> tuple[Positions, Positions, list[Content]]:
    """Return a union whose possibilities are no unions: those of one within it are its own."""
    first: list[int] = []
    flat: list[Content] = []
    for each in contents:
        first.append(len(flat))
        flat.extend(each.contents if each.is_union else [each])
    outer, inner = np.array(first, np.int64)[tags], np.array(rows, np.int64)
    for kind, each in enumerate(contents):
        if each.is_union:
            here = np.flatnonzero(tags == kind)
            outer[here] += np.asarray(each.tags)[rows[here]]
            inner[here] = np.asarray(each.index)[rows[here]]
    return outer, inner, flat


def _distinct(
    tags: Positions, rows: Positions, contents: Sequence[Content]
) -> tuple[Positions, Positions, list[Content]]:
    """Return a union that has possibilities of one and the same type once."""
    alike: dict[str, list[int]] = {}
    for number, each in enumerate(contents):
        alike.setdefault(_kind(each), []).append(number)
    place, shift = np.zeros(len(contents), np.int64), np.zeros(len(contents), np.int64)
    made: list[Content] = []
    for numbers in alike.values():
        pieces = [contents[number] for number in numbers]
        joined = _joined(pieces)
        if joined is None:
            place[numbers] = np.arange(len(made), len(made) + len(numbers))
            made.extend(pieces)
        else:
            place[numbers] = len(made)
            shift[numbers] = np.cumsum([0, *(each.length for each in pieces[:-1])])
            made.append(joined)
    return place[tags], rows + shift[tags], made


def _kind(content: Content) -> str:
    """Return the type of what is there of a content, as text."""
    from awkward.types import OptionType

    type = content.form.type
    return str(type.content if isinstance(type, OptionType) else type)


def _joined(contents: Sequence[Content]) -> Content | None:
    """Return contents of one type one after the other; None where awkward would make another type of them.

    It makes numbers of the unions within them of one type: large integers would be others as floats.
    """
    import awkward

    if len(contents) == 1:
        return contents[0]
    made = awkward.concatenate(contents, mergebool=False, highlevel=False)
    return made if _kind(made) == _kind(contents[0]) else None


def _may_miss(content: Content) -> Content:
    from awkward.contents import UnmaskedArray

    return content.to_IndexedOptionArray64() if content.is_option else UnmaskedArray(content)


def concatenated(contents: Sequence[Content]) -> Content:
    """Return contents one after the other; of types that are not alike, a union of them."""
    filled = [each for each in contents if each.length] or list(contents[:1])
    if len(filled) == 1:
        return filled[0]
    if len(set(map(_kind, filled))) == 1 and (joined := _joined(filled)) is not None:
        return joined
    lengths = [each.length for each in filled]
    rows = [np.arange(length) for length in lengths]
    return union_of(np.repeat(np.arange(len(filled)), lengths), np.concatenate(rows), filled)


def as_numbers(content: Content, kind: NestedType) -> Content:
    """Return numbers in the type that others beside them need; what is of no such type as it is.

    Raises
    ------
    RefbrowserError
        `E_DECODE`: an integer is too large for it.
    """
    from awkward.contents import NumpyArray

    if kind.dtype is None or not content.is_numpy:
        return content
    data, dtype = np.asarray(content.data), kind.dtype.newbyteorder("=")
    if data.dtype == dtype:
        return content
    made = data.astype(dtype)
    if not is_exact(data, made):
        raise RefbrowserError(
            ErrorKind.DECODE,
            f"an integer among numbers of type {dtype} is too large to be one of them",
            advice="read the buffers of the array separately",
        )
    return NumpyArray(made)
