"""What expressions build, as plain values: the constructors of Awkward 0, before any element is read.

Spellings are unified: each layout is one *meaning* (persistence notes, section 3). Lengths follow from the
schema alone wherever they can. A layout may be part of several others; cycles go through `LinkLayout`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.formats.awkward0.container import Blob
from refbrowser.model.nested import Buffer, NestedType


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
