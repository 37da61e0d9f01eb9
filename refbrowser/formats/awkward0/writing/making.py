"""The parts that values of a type are written as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.awkward0.writing.blobs import GrowingBlob, OpenSpool
from refbrowser.formats.awkward0.writing.expressions import BufferNumbers, Numbering
from refbrowser.formats.awkward0.writing.parts import (
    COUNTS,
    MOST_POSSIBILITIES,
    EmptyPart,
    FoldedPart,
    ListPart,
    MaskedPart,
    NumbersPart,
    OptionPart,
    Part,
    RecordPart,
    TextPart,
    UnionPart,
)
from refbrowser.formats.awkward0.writing.written_types import row_dtype
from refbrowser.model.nested import NestedType, TypeKind

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
