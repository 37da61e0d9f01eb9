"""What types can be written as, and what of them is lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedType, TypeKind

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
            self.losses.append(f"that records are called {type.name}")
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
