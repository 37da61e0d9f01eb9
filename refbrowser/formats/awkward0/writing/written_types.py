"""What types can be written as, and what of them is lost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedType, TypeKind

#: Bytes of one row with its inner shape: numpy counts them in C's int.
MOST_ROW = 2**31 - 1
_NUMERIC = "iufc"


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
            self.losses.append(f"that records are called {type.name}")
        return replace(type, is_tuple=False, name="")


def optional(type: NestedType) -> NestedType:
    """Return the type of values that may be missing."""
    return type if type.kind is TypeKind.OPTION else NestedType(TypeKind.OPTION, items=(type,))


def united(types: Iterable[NestedType]) -> NestedType:
    """Return the type of values that are of one of several: types that awkward makes one are one.

    It is an option where one of them is.
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
        elif each.kind is not TypeKind.EMPTY:
            _include(found, each)
    if not found:
        made = NestedType(TypeKind.EMPTY)
    else:
        made = found[0] if len(found) == 1 else NestedType(TypeKind.UNION, items=tuple(found))
    return optional(made) if may_miss else made


def _include(found: list[NestedType], new: NestedType) -> None:
    for at, other in enumerate(found):
        both = merged(other, new)
        if both is not None:
            found[at] = both
            return
    found.append(new)


def merged(one: NestedType, other: NestedType) -> NestedType | None:
    """Return the type of values of two types where awkward keeps them in one array, else None."""
    kinds = {one.kind, other.kind}
    if TypeKind.EMPTY in kinds:
        return other if one.kind is TypeKind.EMPTY else one
    if TypeKind.OPTION in kinds:
        both = merged(_held(one), _held(other))
        return None if both is None else optional(both)
    if len(kinds) > 1:
        return None
    if one.kind is TypeKind.NUMBER:
        dtype = _common(one.dtype, other.dtype)
        return None if dtype is None else replace(one, dtype=dtype)
    if one.kind is TypeKind.LIST:
        items = merged(one.items[0], other.items[0])
        size = one.size if one.size == other.size else None
        return None if items is None else replace(one, items=(items,), size=size)
    if one.kind is TypeKind.RECORD:
        return _merged_records(one, other)
    return one if one.kind in (TypeKind.STRING, TypeKind.BYTES) else None


def _held(type: NestedType) -> NestedType:
    return type.items[0] if type.kind is TypeKind.OPTION else type


def _common(one: np.dtype[Any] | None, other: np.dtype[Any] | None) -> np.dtype[Any] | None:
    assert one is not None
    assert other is not None
    if one == other:
        return one
    return np.result_type(one, other) if {one.kind, other.kind} <= set(_NUMERIC) else None


def _merged_records(one: NestedType, other: NestedType) -> NestedType | None:
    if set(one.fields) != set(other.fields):
        return None
    theirs = dict(zip(other.fields, other.items, strict=True))
    items = [merged(item, theirs[name]) for name, item in zip(one.fields, one.items, strict=True)]
    if any(item is None for item in items):
        return None
    return replace(one, items=tuple(item for item in items if item is not None))


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
