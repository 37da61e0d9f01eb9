"""What values are written as: arrays of Awkward 0 that grow as rows are added, whatever the rows came as.

Each part is the form of a constructor to which rows can be added without a look at those before: lists have
counts, unions running numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.awkward0.writing.blobs import GrowingBlob
from refbrowser.formats.awkward0.writing.expressions import BufferNumbers, Json, buffer, constructor, plain
from refbrowser.formats.awkward0.writing.policy import Compression, Policy, compression_for

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
            raise RefbrowserError(ErrorKind.SCHEMA, "there are values where the type tells of none")

    def leaves(self) -> Iterator[NumbersPart]:
        """Yield an array without elements."""
        yield self._numbers

    def expression(self, spelling: Spelling) -> Json:
        """Return the expression of an array without elements."""
        return self._numbers.expression(spelling)
