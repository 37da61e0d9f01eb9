"""What values are written as: arrays of Awkward 0 that grow as rows are added, whatever the rows came as.

Each part is the form of a constructor to which rows can be added without a look at those before: lists have
counts, unions running numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedType, TypeKind
from refbrowser.wings.awkward0.writing.blobs import (
    BufferNumbers,
    Compression,
    GrowingBlob,
    Json,
    Numbering,
    OpenSpool,
    Policy,
    buffer,
    compression_for,
    constructor,
    plain,
)

COUNTS = np.dtype(np.int64)
#: The library keeps signed tags, one byte each.
MOST_POSSIBILITIES = 128


@dataclass(frozen=True, slots=True)
class Spelling:
    """How expressions and names of blobs are spelled, and what was spelled so far.

    Attributes
    ----------
    suffix
        Of the names of blobs.
    used
        The basic arrays that expressions name, in their order.
    """

    suffix: str
    policy: Policy
    used: list[NumbersPart] = field(default_factory=list)


class Part(Protocol):
    """An array that grows."""

    @property
    def length(self) -> int:
        """Rows so far."""
        ...

    def leaves(self) -> Iterator[NumbersPart]:
        """Yield the basic arrays that it may be made of, whatever rows it gets."""
        ...

    def expression(self, spelling: Spelling) -> Json:
        """Return the expression of what was added."""
        ...


class NumbersPart:
    """A basic array.

    Parameters
    ----------
    dtype
        Of one row; may have a shape of its own.
    context
        What it is for: ``JaggedArray.counts``.
    """

    def __init__(self, numbers: BufferNumbers, dtype: np.dtype[Any], context: str, blob: GrowingBlob) -> None:
        self.numbers = numbers
        self.dtype = dtype
        self.context = context
        self.blob = blob
        self.length = 0

    def add(self, values: npt.NDArray[Any]) -> None:
        """Add rows: the first axis, the others are those of `dtype`."""
        self.blob.add(values.astype(self.dtype.base, copy=False))
        self.length += len(values)

    def leaves(self) -> Iterator[NumbersPart]:
        """Yield itself."""
        yield self

    def compression(self, policy: Policy) -> Compression | None:
        """Return how its blob is compressed."""
        return compression_for(policy, self.blob.size, self.dtype.base.type, self.context)

    def blob_name(self, suffix: str) -> str:
        """Return the name of its blob, without the array's prefix."""
        return f"{self.numbers.array}{suffix}"

    def expression(self, spelling: Spelling) -> Json:
        """Return the call of ``frombuffer``."""
        spelling.used.append(self)
        compression = self.compression(spelling.policy)
        decompress = None if compression is None else compression.decompress
        return buffer(self.numbers, spelling.suffix, self.dtype, self.length, decompress)


@dataclass(slots=True)
class ListPart:
    """Lists, each of its own length."""

    number: int
    counts: NumbersPart
    content: Part

    @property
    def length(self) -> int:
        """Rows so far."""
        return self.counts.length

    def leaves(self) -> Iterator[NumbersPart]:
        """Yield the basic arrays."""
        yield self.counts
        yield from self.content.leaves()

    def expression(self, spelling: Spelling) -> Json:
        """Return the call of ``JaggedArray.fromcounts``."""
        below = self.counts.expression(spelling), self.content.expression(spelling)
        return constructor(self.number, "JaggedArray.fromcounts", *below)


@dataclass(slots=True)
class TextPart:
    """Texts, or strings of bytes where `encoding` is None."""

    number: int
    encoding_number: int
    counts: NumbersPart
    content: NumbersPart
    encoding: str | None

    @property
    def length(self) -> int:
        """Rows so far."""
        return self.counts.length

    def leaves(self) -> Iterator[NumbersPart]:
        """Yield the basic arrays."""
        yield self.counts
        yield self.content

    def expression(self, spelling: Spelling) -> Json:
        """Return the call of ``StringArray.fromcounts``."""
        below = self.counts.expression(spelling), self.content.expression(spelling)
        encoding = plain(self.encoding_number, self.encoding)
        return constructor(self.number, "StringArray.fromcounts", *below, encoding)


@dataclass(slots=True)
class FoldedPart:
    """Lists of one size, at least 1."""

    number: int
    size_number: int
    size: int
    content: Part

    @property
    def length(self) -> int:
        """Rows so far."""
        return self.content.length // self.size

    def leaves(self) -> Iterator[NumbersPart]:
        """Yield the basic arrays."""
        yield from self.content.leaves()

    def expression(self, spelling: Spelling) -> Json:
        """Return the call of ``JaggedArray.fromfolding``."""
        size = plain(self.size_number, self.size)
        return constructor(self.number, "JaggedArray.fromfolding", self.content.expression(spelling), size)


@dataclass(slots=True)
class RecordPart:
    """Records: a table with a column for each field, at least one."""

    number: int
    pairs_number: int
    rowstart_number: int
    fields: dict[str, Part]

    @property
    def length(self) -> int:
        """Rows so far."""
        return min(part.length for part in self.fields.values())

    def leaves(self) -> Iterator[NumbersPart]:
        """Yield the basic arrays."""
        for part in self.fields.values():
            yield from part.leaves()

    def expression(self, spelling: Spelling) -> Json:
        """Return the call of ``Table.frompairs``."""
        pairs = [[name, part.expression(spelling)] for name, part in self.fields.items()]
        columns = {"pairs": pairs, "id": self.pairs_number}
        return constructor(self.number, "Table.frompairs", columns, plain(self.rowstart_number, 0))


@dataclass(slots=True)
class MaskedPart:
    """Numbers that may be missing: there is one, of no meaning, for each that is."""

    number: int
    when_number: int
    mask: NumbersPart
    content: NumbersPart

    @property
    def length(self) -> int:
        """Rows so far."""
        return self.mask.length

    def leaves(self) -> Iterator[NumbersPart]:
        """Yield the basic arrays."""
        yield self.mask
        yield self.content

    def expression(self, spelling: Spelling) -> Json:
        """Return the call of ``MaskedArray``."""
        below = self.mask.expression(spelling), self.content.expression(spelling)
        return constructor(self.number, "MaskedArray", *below, plain(self.when_number, True))


@dataclass(slots=True)
class OptionPart:
    """Values that may be missing: only those that are not are there."""

    number: int
    when_number: int
    index: NumbersPart
    content: Part

    @property
    def length(self) -> int:
        """Rows so far."""
        return self.index.length

    def add(self, missing: npt.NDArray[np.bool_]) -> None:
        """Add rows; those that are not missing are to be added to the content next."""
        index = np.cumsum(~missing, dtype=np.int64) + (self.content.length - 1)
        index[missing] = -1
        self.index.add(index)

    def leaves(self) -> Iterator[NumbersPart]:
        """Yield the basic arrays."""
        yield self.index
        yield from self.content.leaves()

    def expression(self, spelling: Spelling) -> Json:
        """Return the call of ``IndexedMaskedArray``."""
        below = self.index.expression(spelling), self.content.expression(spelling)
        return constructor(self.number, "IndexedMaskedArray", *below, plain(self.when_number, -1))


@dataclass(slots=True)
class UnionPart:
    """Values of one of several types each."""

    number: int
    list_number: int
    tags: NumbersPart
    contents: list[Part]

    @property
    def length(self) -> int:
        """Rows so far."""
        return self.tags.length

    def leaves(self) -> Iterator[NumbersPart]:
        """Yield the basic arrays."""
        yield self.tags
        for part in self.contents:
            yield from part.leaves()

    def expression(self, spelling: Spelling) -> Json:
        """Return the call of ``UnionArray.fromtags``."""
        tags = self.tags.expression(spelling)
        if not self.length:
            # The library cannot make a union without rows.
            return tags
        contents = [part.expression(spelling) for part in self.contents]
        listed = {"list": contents, "id": self.list_number}
        return constructor(self.number, "UnionArray.fromtags", tags, listed)


class EmptyPart:
    """No values, of a type that nobody told."""

    def __init__(self, numbers: NumbersPart) -> None:
        self._numbers = numbers
        self.length = 0

    def check(self, count: int) -> None:
        """Raise `E_SCHEMA` where there are values after all."""
        if count:
            raise RefbrowserError(ErrorKind.SCHEMA, "there are values where the type allows none")

    def leaves(self) -> Iterator[NumbersPart]:
        """Yield an array without elements."""
        yield self._numbers

    def expression(self, spelling: Spelling) -> Json:
        """Return the expression of an array without elements."""
        return self._numbers.expression(spelling)


#: Bytes of one row with its inner shape: numpy counts them in C's int.
MOST_ROW = 2**31 - 1


@dataclass(frozen=True, slots=True)
class WrittenType:
    """A type as it is written.

    Attributes
    ----------
    losses
        What is not kept, each once.
    """

    type: NestedType
    losses: tuple[str, ...]


def written_type(type: NestedType) -> WrittenType:
    """Return what values of a type are written as.

    Raises
    ------
    RefbrowserError
        `E_SCHEMA`: they cannot be written: values that hold themselves, records without fields.
    """
    work = _Writable()
    made = work.writable(type, 0)
    return WrittenType(made, tuple(dict.fromkeys(work.losses)))


class _Writable:
    def __init__(self) -> None:
        self.losses: list[str] = []

    def writable(self, type: NestedType, depth: int) -> NestedType:
        """Return a type with options and unions as they can stand."""
        if depth > LIMITS.group_nesting:
            raise RefbrowserError(ErrorKind.BUDGET, f"types nested deeper than {LIMITS.group_nesting} levels")
        below = tuple(self.writable(item, depth + 1) for item in type.items)
        if type.kind is TypeKind.LINK:
            raise RefbrowserError(
                ErrorKind.SCHEMA, "values that hold themselves cannot be written row by row"
            )
        if type.kind is TypeKind.OPAQUE:
            # What cannot be read is missing in all rows.
            return optional(NestedType(TypeKind.EMPTY))
        if type.kind is TypeKind.OPTION:
            return optional(below[0])
        if type.kind is TypeKind.UNION:
            return united(below)
        if type.kind is TypeKind.RECORD:
            return self._record(replace(type, items=below))
        if type.kind is TypeKind.LIST and type.size == 0:
            self.losses.append("lists of the fixed size 0 become lists of any length")
            return replace(type, size=None, items=below)
        return replace(type, items=below)

    def _record(self, type: NestedType) -> NestedType:
        if not type.fields:
            raise RefbrowserError(ErrorKind.SCHEMA, "records without fields have no form in Awkward 0")
        if type.is_tuple:
            self.losses.append("tuples become records whose fields are numbered")
        elif type.name:
            self.losses.append(f"the record name {type.name}")
        return replace(type, is_tuple=False, name="")


def optional(type: NestedType) -> NestedType:
    """Return the type of values that may be missing."""
    return type if type.kind is TypeKind.OPTION else NestedType(TypeKind.OPTION, items=(type,))


def optional_at(type: NestedType, path: Sequence[str]) -> NestedType:
    """Return a type whose values may be missing at a path of fields, or above it."""
    if type.kind is TypeKind.OPTION:
        held = optional_at(type.items[0], path) if path else type.items[0]
        # What an option holds may be missing already.
        return type if held.kind is TypeKind.OPTION else replace(type, items=(held,))
    if path and type.kind is TypeKind.LIST:
        return replace(type, items=(optional_at(type.items[0], path),))
    if path and type.kind is TypeKind.RECORD and path[0] in type.fields:
        below = zip(type.fields, type.items, strict=True)
        items = tuple(optional_at(item, path[1:]) if name == path[0] else item for name, item in below)
        return replace(type, items=items)
    return optional(type)


def united(types: Iterable[NestedType]) -> NestedType:
    """Return the type of values that are of one of several, each of which is there once.

    It is an option where one of them is. Numbers keep their types: not all of them are in others.
    """
    found: list[NestedType] = []
    may_miss = False
    pending = list(types)
    while pending:
        each = pending.pop(0)
        if each.kind is TypeKind.OPTION:
            may_miss = True
            pending.insert(0, each.items[0])
        elif each.kind is TypeKind.UNION:
            pending[:0] = each.items
        elif each.kind is not TypeKind.EMPTY and each not in found:
            found.append(each)
    if not found:
        made = NestedType(TypeKind.EMPTY)
    else:
        made = found[0] if len(found) == 1 else NestedType(TypeKind.UNION, items=tuple(found))
    return optional(made) if may_miss else made


def row_dtype(type: NestedType) -> np.dtype[Any] | None:
    """Return the type of rows that are numbers or regular lists of such; None where they are not."""
    shape: list[int] = []
    while type.kind is TypeKind.LIST and type.size:
        shape.append(type.size)
        type = type.items[0]
    if type.kind is not TypeKind.NUMBER or type.dtype is None or not type.dtype.itemsize:
        return None
    total = type.dtype.itemsize
    for side in shape:
        total *= side
    if total > MOST_ROW:
        return None
    return np.dtype((type.dtype, tuple(shape))) if shape else type.dtype


_ENCODINGS = {TypeKind.STRING: "utf-8", TypeKind.BYTES: None}


def part_of(type: NestedType, open_spool: OpenSpool) -> Part:
    """Return an array without rows.

    Parameters
    ----------
    type
        As `written_type` gives it.

    Raises
    ------
    RefbrowserError
        `E_SCHEMA`: a union has more possibilities than tags can tell.
    """
    return _Making(open_spool).part(type, "")


class _Making:
    """Numbers the parts from the root down, as they stand in the schema."""

    def __init__(self, open_spool: OpenSpool) -> None:
        self._open = open_spool
        self._numbering = Numbering()

    def part(self, type: NestedType, context: str) -> Part:
        """Return the part for a type; `context` is the parameter that it is for."""
        dtype = row_dtype(type)
        if dtype is not None:
            return self._numbers(dtype, context)
        if type.kind is TypeKind.EMPTY:
            return EmptyPart(self._numbers(np.dtype(np.float64), context))
        return _MAKERS[type.kind](self, type)

    def _numbers(self, dtype: np.dtype[Any], context: str) -> NumbersPart:
        return NumbersPart(BufferNumbers.of(self._numbering), dtype, context, GrowingBlob(self._open))

    def list(self, type: NestedType) -> Part:
        """Return lists."""
        number, content = self._numbering.take(), type.items[0]
        if type.size is None:
            counts = self._numbers(COUNTS, "JaggedArray.counts")
            return ListPart(number, counts, self.part(content, "JaggedArray.content"))
        size_number = self._numbering.take()
        return FoldedPart(number, size_number, type.size, self.part(content, "JaggedArray.content"))

    def text(self, type: NestedType) -> Part:
        """Return texts, or strings of bytes."""
        number, encoding = self._numbering.take(), self._numbering.take()
        counts = self._numbers(COUNTS, "StringArray.counts")
        content = self._numbers(np.dtype(np.uint8), "StringArray.content")
        return TextPart(number, encoding, counts, content, _ENCODINGS[type.kind])

    def record(self, type: NestedType) -> Part:
        """Return records."""
        number, pairs, rowstart = (self._numbering.take() for _ in range(3))
        fields = zip(type.fields, type.items, strict=True)
        return RecordPart(
            number, pairs, rowstart, {name: self.part(item, "Table.contents") for name, item in fields}
        )

    def option(self, type: NestedType) -> Part:
        """Return values that may be missing."""
        number, when, content = self._numbering.take(), self._numbering.take(), type.items[0]
        dtype = row_dtype(content)
        if dtype is not None:
            mask = self._numbers(np.dtype(np.bool_), "MaskedArray.mask")
            return MaskedPart(number, when, mask, self._numbers(dtype, "MaskedArray.content"))
        index = self._numbers(COUNTS, "IndexedMaskedArray.mask")
        return OptionPart(number, when, index, self.part(content, "IndexedMaskedArray.content"))

    def union(self, type: NestedType) -> Part:
        """Return values of several types."""
        if len(type.items) > MOST_POSSIBILITIES:
            message = f"a union of {len(type.items)} types: Awkward 0 has at most {MOST_POSSIBILITIES}"
            raise RefbrowserError(ErrorKind.SCHEMA, message)
        number, listed = self._numbering.take(), self._numbering.take()
        tags = self._numbers(np.dtype(np.uint8), "UnionArray.tags")
        return UnionPart(
            number, listed, tags, [self.part(item, "UnionArray.contents") for item in type.items]
        )


_MAKERS: dict[TypeKind, Callable[[_Making, NestedType], Part]] = {
    TypeKind.LIST: _Making.list,
    TypeKind.STRING: _Making.text,
    TypeKind.BYTES: _Making.text,
    TypeKind.RECORD: _Making.record,
    TypeKind.OPTION: _Making.option,
    TypeKind.UNION: _Making.union,
}


@dataclass(frozen=True, slots=True)
class Naming:
    """How blobs are named (serialization text, "Persistence functions"); usually as ``save`` does.

    Attributes
    ----------
    delimiter
        Between the name of an array, where it has one, and the number of a blob.
    """

    delimiter: str = "-"
    suffix: str = ".raw"
    schema_suffix: str = ".json"

    def prefix(self, array: str) -> str:
        """Return what stands before the numbers of an array's blobs."""
        return f"{array}{self.delimiter}" if array else ""

    def schema(self, array: str) -> str:
        """Return the name of the blob that describes an array."""
        return f"{array}{self.schema_suffix}"

    def blobs(self, array: str, part: Part) -> list[str]:
        """Return the names of all blobs that an array may have, its description last."""
        prefix = self.prefix(array)
        names = [f"{prefix}{leaf.blob_name(self.suffix)}" for leaf in part.leaves()]
        return [*names, self.schema(array)]


#: In HDF5, where the blobs of an array are the datasets of a group.
HDF5_NAMING = Naming("/", "", "/schema.json")


def check_names(new: Mapping[str, Iterable[str]], there: Collection[str]) -> None:
    """Make sure that no blob of one array has the name of another's, or one that is there already.

    Parameters
    ----------
    new
        For the name of each array those of its blobs.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: two have one name; nothing was written yet.
    """
    owners: dict[str, str] = {}
    for array, names in new.items():
        for name in names:
            if name in there:
                raise _collision(array, f"a blob {quoted(name)} exists already")
            other = owners.setdefault(name, array)
            if other != array:
                raise _collision(array, f"array {quoted(other)} has a blob {quoted(name)} too")


def _collision(array: str, what: str) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.USAGE,
        f"array {quoted(array)} cannot be written: {what}",
        advice="give it another name or delimiter, or replace the existing array",
    )
