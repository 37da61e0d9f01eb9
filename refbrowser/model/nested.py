"""Values that are lists, records, options and unions of one another: their types, and what makes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import NOWHERE, ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.reference import Reference

#: Attributes of an array that is made of buffers: its name in a file of expressions, and these; how many rows
#: it has and the form of its buffers, as ``awkward.from_buffers`` takes them.
NAME_ATTRIBUTE, SCHEMA_ATTRIBUTE = "awkward0_name", "awkward0_schema"
LENGTH_ATTRIBUTE, FORM_ATTRIBUTE = "awkward_length", "awkward_form"
#: All that tell how it is stored, and not what it is.
STORED_ATTRIBUTES = (NAME_ATTRIBUTE, SCHEMA_ATTRIBUTE, LENGTH_ATTRIBUTE, FORM_ATTRIBUTE)
#: Parameter of contents whose missing values are none: they could not be read.
UNREAD = "__unread__"
#: Last part of the path of a fault where a cycle is cut.
CUT = "#link"


class TypeKind(StrEnum):
    """What the values of a type are."""

    NUMBER = "number"
    LIST = "list"
    RECORD = "record"
    OPTION = "option"
    UNION = "union"
    STRING = "string"
    BYTES = "bytes"
    #: Of no element: an empty array whose type nobody told.
    EMPTY = "empty"
    #: The same type as one above it: a cycle.
    LINK = "link"
    #: Cannot be read: broken, refused, or made by a function that is not run.
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class NestedType:
    """The type of one element of a nested array.

    Attributes
    ----------
    dtype
        Of numbers: of one, in the byte order of the file.
    size
        Of lists: how long each is, None where each has a length of its own.
    items
        Types below: of the elements of lists, of what an option holds (one each), of fields, of the
        possibilities of a union.
    fields
        Names of the fields of a record, one for each of `items`; those of a tuple are ``0``, ``1``...
    name
        Of a record (``TLorentzVectorArray``); of a link, that of the type it leads to; of what cannot be
        read, why in a word or two.
    is_tuple
        Whether a record is written as a tuple.
    """

    kind: TypeKind
    dtype: np.dtype[Any] | None = None
    size: int | None = None
    items: tuple[NestedType, ...] = ()
    fields: tuple[str, ...] = ()
    name: str = ""
    is_tuple: bool = False

    @property
    def known_dtype(self) -> np.dtype[Any]:
        """The type of its numbers; asking what is none is an error."""
        if self.dtype is None:
            raise RefbrowserError(ErrorKind.META, f"the elements are not numbers: {self.kind}")
        return self.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """Elements of one type that lie one after the other in a range of bytes, after it was decoded.

    Attributes
    ----------
    reference
        Where the stored bytes are: a range, a whole file or member (`WholeFile`), or in the document.
    codecs
        What decodes them, in the order of decoding: names as in ``call``, without their module where that is
        the name (``zlib``, ``lzma``, ``lz4``, ``bz2``, ``blosc``, ``zstd``). Empty: any part may be read
        alone.
    dtype
        Of one element, with its byte order; may have a shape of its own (``dtype.shape``) or fields.
    count
        Elements.
    offset
        Bytes of the decoded range before the first element.
    stored
        Bytes of the stored range, None where that is not known.
    name
        Of the blob.
    place
        Where errors are.
    """

    reference: Reference
    dtype: np.dtype[Any]
    count: int
    codecs: tuple[str, ...] = ()
    offset: int = 0
    stored: int | None = None
    name: str = ""
    place: Place = NOWHERE

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.count * self.dtype.itemsize


@dataclass(frozen=True, slots=True, eq=False)
class BufferPart:
    """Elements of a buffer from `start` to `stop`."""

    buffer: Buffer
    start: int
    stop: int

    @property
    def nbytes(self) -> int:
        """Bytes of these elements."""
        return (self.stop - self.start) * self.buffer.dtype.itemsize


class BufferReader(Protocol):
    """Reads elements of buffers: fetched by range where that is enough, decoded within bounds, kept."""

    def read_all(self, parts: Sequence[BufferPart]) -> list[npt.NDArray[Any] | RefbrowserError]:
        """Return the elements of each part, or why they cannot be read; those of all are fetched together.

        Elements have the shape ``(stop - start, *buffer.dtype.shape)``, the byte order of the file, and are
        not to be written to.

        Raises
        ------
        Cancelled
            Nobody waits for them any more.
        """
        ...


@dataclass(frozen=True, slots=True)
class NestedFault:
    """What of nested values cannot be read, and why.

    Attributes
    ----------
    path
        Names of fields from the row down, and ``#1`` for a possibility of a union, joined by ``/``; empty for
        the rows themselves. Its last part is `CUT` where a cycle goes on that is read no further.
    """

    path: str
    error: RefbrowserError

    @property
    def is_cut(self) -> bool:
        """Whether the values go on here, and are sound as far as they were read."""
        return self.path.rpartition("/")[2] == CUT


@dataclass(frozen=True, slots=True, eq=False)
class NestedRows:
    """Rows that were read.

    Attributes
    ----------
    content
        An ``awkward.contents.Content``, one entry a row. What could not be read below a field is missing
        (`None`) there, in an option that has the parameter `UNREAD`, so that the other fields are seen.
    faults
        What that is. A value at or below one of these paths is unreadable, not missing.
    """

    content: Any
    faults: tuple[NestedFault, ...] = ()

    def __repr__(self) -> str:
        # That of the content goes down to the last level, of which linked rows have a thousand.
        return f"<NestedRows: {len(self.content)} rows, {len(self.faults)} faults>"


class NestedValues(Protocol):
    """What makes the rows of an array whose elements are nested (`Rows`)."""

    @property
    def type(self) -> NestedType:
        """The type of one row."""
        ...

    @property
    def length(self) -> int:
        """How many rows there are."""
        ...

    def linked(self, name: str) -> NestedType:
        """Return the type that links of a name in `type` lead to; it has links itself."""
        ...

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All that it is made from, in document order, each once."""
        ...

    def parts(self, start: int, stop: int) -> list[BufferPart]:
        """Return what of each buffer rows from `start` to `stop` may need: never less than is read."""
        ...

    def turned(self, turns: int) -> NestedValues:
        """Return the same rows, in which cycles are followed for no more than so many turns."""
        ...

    def rows(self, start: int, stop: int, reader: BufferReader) -> NestedRows:
        """Return the rows from `start` to `stop`; only what these need is read.

        Raises
        ------
        RefbrowserError
            None of them can be read.
        """
        ...


def unread(size: int) -> Any:
    """Return a content of rows of which nothing is known: all are missing, and marked as not read."""
    from awkward.contents import EmptyArray, IndexedOptionArray
    from awkward.index import Index64

    index = Index64(np.full(size, -1, np.int64))
    return IndexedOptionArray(index, EmptyArray(), parameters={UNREAD: True})


#: Names of fields, ``[]`` for the elements of a list, ``#1`` for a possibility of a union; from a row down.
TypePath = tuple[str, ...]

ITEMS = "[]"


class _Composed(Protocol):
    """A type made of types: of a source, or of a target."""

    @property
    def kind(self) -> TypeKind: ...
    @property
    def fields(self) -> Sequence[str]: ...
    @property
    def items(self) -> Sequence[object]: ...


def parts_of_kind(
    source: NestedType, kind: TypeKind, path: TypePath = ()
) -> Iterator[tuple[TypePath, NestedType]]:
    """Yield the parts of a type that are of a kind, with their places."""
    if source.kind is kind:
        yield path, source
    for step, item in zip(steps_of(source), source.items, strict=True):
        yield from parts_of_kind(item, kind, (*path, *step))


def steps_of(type: _Composed) -> list[TypePath]:
    """Return the steps of a path that lead to each of the types right below."""
    if type.kind is TypeKind.RECORD:
        return [(name,) for name in type.fields]
    if type.kind is TypeKind.UNION:
        return [(f"#{number}",) for number in range(len(type.items))]
    return [(ITEMS,) if type.kind is TypeKind.LIST else ()] * len(type.items)


_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
#: Names of records that would be taken for something else.
_NUMBERS = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64", "float128", "complex64", "complex128", "complex256"),
    *("datetime64", "timedelta64"),
)
_RESERVED = frozenset(
    {"unknown", "string", "bytes", "option", "tuple", "struct", "union", "categorical", *_NUMBERS}
)
_TEXTS = {TypeKind.STRING: "string", TypeKind.BYTES: "bytes", TypeKind.EMPTY: "unknown"}


def type_text(kind: NestedType) -> str:
    """Return a type on one line, as ``str(ak.type(array))`` gives it without the length.

    What Awkward has no word for is ``link[...]`` for a cycle and ``unreadable[...]``. Types of shared parts
    can be far longer than they are large: what is too long is cut, and ends with ``…``.
    """
    writing = _Writing()
    try:
        writing.add(kind)
    except _FullError:
        return "".join(writing.words)[: LIMITS.awkward_type_text] + "…"
    return "".join(writing.words)


class _FullError(Exception):
    """The text is too long."""


class _Writing:
    """Writes a type word by word, up to the limit."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._length = 0

    def put(self, text: str) -> None:
        self.words.append(text)
        self._length += len(text)
        if self._length > LIMITS.awkward_type_text:
            raise _FullError

    def add(self, kind: NestedType) -> None:
        match kind.kind:
            case TypeKind.LIST:
                self.put("var * " if kind.size is None else f"{kind.size} * ")
                self.add(kind.items[0])
            case TypeKind.OPTION:
                self._option(kind)
            case TypeKind.RECORD:
                self._record(kind)
            case TypeKind.UNION:
                self._between("union[", [(None, item) for item in kind.items], "]")
            case _:
                self.put(_plain_text(kind))

    def _option(self, kind: NestedType) -> None:
        (inner,) = kind.items
        if inner.kind is TypeKind.LIST:
            self._between("option[", [(None, inner)], "]")
        else:
            self.put("?")
            self.add(inner)

    def _between(self, head: str, items: list[tuple[str | None, NestedType]], tail: str) -> None:
        self.put(head)
        for at, (name, item) in enumerate(items):
            self.put(", " if at else "")
            if name is not None:
                self.put(f"{name if _IDENTIFIER.fullmatch(name) else json.dumps(name)}: ")
            self.add(item)
        self.put(tail)

    def _record(self, kind: NestedType) -> None:
        names: tuple[str | None, ...] = (None,) * len(kind.items) if kind.is_tuple else kind.fields
        items = list(zip(names, kind.items, strict=True))
        if kind.name and _IDENTIFIER.fullmatch(kind.name) and kind.name not in _RESERVED:
            self._between(f"{kind.name}[", items, "]")
            return
        head, tail = ("(", ")") if kind.is_tuple else ("{", "}")
        if kind.name:
            before, after = ("tuple[[", "]") if kind.is_tuple else ("struct[{", "}")
            head, tail = before, f'{after}, parameters={{"__record__": {json.dumps(kind.name)}}}]'
        self._between(head, items, tail)


def _plain_text(kind: NestedType) -> str:
    if kind.kind is TypeKind.NUMBER and kind.dtype is not None:
        return number_text(kind.dtype)
    if kind.kind is TypeKind.LINK:
        return f"link[{quoted(kind.name)[1:-1]}]"
    if kind.kind is TypeKind.OPAQUE:
        return f"unreadable[{quoted(kind.name)[1:-1]}]"
    return _TEXTS[kind.kind]


def number_text(dtype: np.dtype[Any]) -> str:
    """Return the name of a type of numbers, without its byte order: ``int64``, ``datetime64[ns]``."""
    return dtype.newbyteorder("=").name
