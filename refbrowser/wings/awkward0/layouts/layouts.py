"""Layouts: what schema expressions say of arrays, their parts by path, and how long they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.model.nested import Buffer, NestedType
from refbrowser.wings.awkward0.files.container import Blob
from refbrowser.wings.awkward0.layouts import layouts


class ListIndex(StrEnum):
    """How a list array tells where its lists are; the names are those of the parameters."""

    STARTS_STOPS = "starts, stops"
    COUNTS = "counts"
    OFFSETS = "offsets"
    PARENTS = "parents"
    UNIQUES = "uniques"
    LOCAL_INDEX = "index"


class MaskForm(StrEnum):
    """How a masked array tells what is missing."""

    BYTES = "bytes"
    BITS = "bits"
    INDEX = "index"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Layout:
    """What all layouts have.

    Attributes
    ----------
    number
        That of the expression.
    id
        Its id; None where it has none.
    function
        Canonical name of the constructor (``JaggedArray.fromcounts``, ``frombuffer``); empty for values.
    """

    number: int = 0
    id: int | None = None
    function: str = ""

    @property
    def key(self) -> str:
        """What its buffers are named after: ``node12``."""
        return f"node{self.id}" if self.id is not None else f"nodex{self.number}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NumpyLayout(Layout):
    """A basic array (``frombuffer``); its shape is ``(buffer.count, *buffer.dtype.shape)``.

    Attributes
    ----------
    blob
        Where the bytes of the buffer lie in the container; None for plain values of the schema.
    """

    buffer: Buffer
    blob: Blob | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ListLayout(Layout):
    """Lists, and texts where `encoding` is not empty.

    Attributes
    ----------
    how
        What `index` is: two layouts (starts, stops) or one.
    index
        Integers; starts may have several dimensions, the outer ones are regular.
    is_text
        Whether each list of bytes is a string.
    encoding
        Python's name of it, one of `text_codecs`; None for bytes.
    """

    how: ListIndex
    index: tuple[Layout, ...]
    content: Layout
    is_text: bool = False
    encoding: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ByteListLayout(Layout):
    """Lists of elements in bytes: `index` counts bytes of the content (releases before 0.5.6).

    Attributes
    ----------
    how
        ``STARTS_STOPS`` or ``COUNTS``.
    content
        Bytes.
    dtype
        Of the elements; they may lie anywhere, and a list holds as many as fit in its bytes.
    """

    how: ListIndex
    index: tuple[NumpyLayout, ...]
    content: NumpyLayout
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ByteIndexedLayout(Layout):
    """Elements that begin at the bytes of the content that `index` tells (releases before 0.5.6)."""

    index: NumpyLayout
    content: NumpyLayout
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RegularLayout(Layout):
    """Lists of one size: ``fromfolding`` of a content whose length is a multiple of it."""

    content: Layout
    size: int


@dataclass(frozen=True, slots=True)
class SliceView:
    """Rows ``start, start + step, ...`` of a table."""

    start: int
    step: int
    length: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RecordLayout(Layout):
    """A table, or vectors; as long as its shortest field.

    Attributes
    ----------
    view
        Which rows: a slice, or integers; None for all.
    name
        Class of vectors (``TLorentzVectorArray``), else empty.
    is_jagged
        Fields are lists of one common structure, and the vectors are the elements of these (vector classes
        with jagged arguments).
    """

    fields: tuple[tuple[str, Layout], ...]
    view: SliceView | Layout | None = None
    name: str = ""
    is_jagged: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class UnionLayout(Layout):
    """Elements of several contents; without `index` the running number of each tag counts."""

    tags: Layout
    index: Layout | None
    contents: tuple[Layout, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MaskedLayout(Layout):
    """Elements that may be missing.

    Attributes
    ----------
    mask
        None where nothing is missing (``fromcontent``).
    masked_when
        The truth value, or of `MaskForm.INDEX` the integer, that means missing.
    is_lsb
        Of bits: the least significant comes first.
    """

    form: MaskForm
    mask: Layout | None
    content: Layout
    masked_when: bool | int = True
    is_lsb: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IndexedLayout(Layout):
    """Elements of a content in the order of an index."""

    index: Layout
    content: Layout


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SparseLayout(Layout):
    """`length` elements, all of them the default but those that an ascending index names.

    Attributes
    ----------
    default
        A plain value; None for zero of the content's type.
    """

    length: int
    index: Layout
    content: Layout
    default: Any = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChunkedLayout(Layout):
    """Arrays one after the other; they may differ in type.

    Attributes
    ----------
    sizes
        Rows of each chunk, empty where the schema does not tell; the last may use a part of its chunk
        (`AppendableArray`).
    """

    chunks: tuple[Layout, ...]
    sizes: tuple[int, ...] = ()
    dtype: NestedType | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ObjectLayout(Layout):
    """A content of which a function would make objects: it is named, and never called.

    `is_foreign` tells that it is none of the functions that are known here.
    """

    content: Layout
    generator: str
    is_foreign: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class VirtualLayout(Layout):
    """An array that a function makes when it is needed.

    Attributes
    ----------
    generator
        As the schema spells it, parts joined by ``.``.
    content
        What it makes, where it is one of ours; None where it is not run.
    type
        What the schema says of the type.
    length
        What the schema says of the length; None where it does not.
    target
        Files and URLs that the arguments name.
    error
        Why it is not run.
    """

    generator: str
    content: Layout | None = None
    type: NestedType | None = None
    length: int | None = None
    target: tuple[str, ...] = ()
    error: RefbrowserError | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlainLayout(Layout):
    """A plain value: a number, a text, a list of them, a dict; at the root, or an argument."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinkLayout(Layout):
    """A reference to a layout that this one is a part of; `target` is its expression's number."""

    target: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BrokenLayout(Layout):
    """Nothing can be made of the expression."""

    error: RefbrowserError


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
