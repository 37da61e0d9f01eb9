"""What the values of a nested type are for everything that shows arrays: numpy types and shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.model.data_type import DataType, RowType
from refbrowser.model.nested import NestedType, TypeKind

_OBJECT = np.dtype(object)


@dataclass(frozen=True, slots=True)
class ElementType:
    """How rows are given as numpy arrays.

    Attributes
    ----------
    dtype
        Of the elements; object where no number is one.
    shape
        Of the regular lists of numbers in each row.
    row_dtype
        Of the numbers in each row, where rows are lists of numbers of a length of their own.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...] = ()
    row_dtype: np.dtype[Any] | None = None

    def named(self, text: str) -> DataType:
        """Return what an element is, of a type that Awkward writes as `text`."""
        if self.row_dtype is None:
            return DataType.of(self.dtype, text)
        return RowType(self.dtype, text, DataType.of(self.row_dtype))


def element_type(kind: NestedType) -> ElementType:
    """Return how the rows of a type are given.

    Numbers and regular lists of them are plain; numbers that may be missing are float64 with NaN (times with
    NaT); lists of numbers are rows of their own length; all else is Python values.
    """
    shape: list[int] = []
    inner = kind
    while inner.kind is TypeKind.LIST and inner.size is not None:
        shape.append(inner.size)
        inner = inner.items[0]
    if inner.kind is TypeKind.NUMBER:
        return ElementType(_native(inner), tuple(shape))
    if kind.kind is TypeKind.EMPTY:
        return ElementType(np.dtype("f8"))
    if kind.kind is TypeKind.OPTION and kind.items[0].kind is TypeKind.NUMBER:
        return ElementType(with_missing(_native(kind.items[0])))
    if kind.kind is TypeKind.LIST and kind.size is None:
        number = kind.items[0]
        if number.kind is TypeKind.NUMBER:
            return ElementType(_OBJECT, row_dtype=_native(number))
        if number.kind is TypeKind.EMPTY:
            return ElementType(_OBJECT, row_dtype=np.dtype("f8"))
    return ElementType(_OBJECT)


def with_missing(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that numbers of a type have where some are missing."""
    if dtype.kind in "mM":
        return dtype
    return np.dtype("c16") if dtype.kind == "c" else np.dtype("f8")


def _native(kind: NestedType) -> np.dtype[Any]:
    """Return the type of numbers in the order of this machine, as awkward has them."""
    assert kind.dtype is not None
    return kind.dtype.newbyteorder("=")


def field_paths(kind: NestedType, most_levels: int, most: int) -> list[tuple[str, ...]]:
    """Return the fields of records in a type, those below them after each: at most so many, so deep.

    Records are found in lists and options too; those of unions have no array of their own.
    """
    found: list[tuple[str, ...]] = []
    pending: list[tuple[NestedType, tuple[str, ...]]] = [(kind, ())]
    while pending and len(found) < most:
        at, path = pending.pop()
        if path:
            found.append(path)
        while at.kind in (TypeKind.LIST, TypeKind.OPTION):
            at = at.items[0]
        if at.kind is TypeKind.RECORD and len(path) < most_levels:
            below = zip(at.fields, at.items, strict=True)
            pending.extend(reversed([(item, (*path, name)) for name, item in below]))
    return found
