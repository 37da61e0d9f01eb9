"""The columns of nested rows: the fields of the records that they are, or that they are lists of."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.model.nested import NestedType, TypeKind

#: Columns of one table; further fields of a record are seen when it is unfolded.
COLUMNS_MOST = 100
#: Lists and options around a record that are looked through.
_LEVELS = 64


@dataclass(frozen=True, slots=True)
class NestedColumn:
    """A column of values.

    Attributes
    ----------
    title
        Name of the field; that of the values where they are no records.
    field
        What it shows of each value; None: all of it.
    is_number
        Whether there is one number in each row.
    """

    title: str
    field: str | None
    is_number: bool


def columns_of(kind: NestedType) -> tuple[NestedColumn, ...]:
    """Return the columns of rows of a type."""
    inner, lists = stripped(kind)
    if inner.kind is not TypeKind.RECORD or not inner.fields:
        return (NestedColumn("Value", None, inner.kind is TypeKind.NUMBER and not lists),)
    fields = zip(inner.fields[:COLUMNS_MOST], inner.items, strict=False)
    return tuple(NestedColumn(name, name, not lists and _is_number(item)) for name, item in fields)


def has_lists(kind: NestedType) -> bool:
    """Whether anything within a type has a length."""
    pending = [kind]
    while pending:
        each = pending.pop()
        if each.kind is TypeKind.LIST:
            return True
        pending.extend(each.items)
    return False


def stripped(kind: NestedType) -> tuple[NestedType, int]:
    """Return what is inside of lists and options, and how many lists there are around it."""
    lists = 0
    for _ in range(_LEVELS):
        if kind.kind not in (TypeKind.LIST, TypeKind.OPTION):
            break
        lists += kind.kind is TypeKind.LIST
        kind = kind.items[0]
    return kind, lists


def _is_number(kind: NestedType) -> bool:
    inner, lists = stripped(kind)
    return inner.kind is TypeKind.NUMBER and not lists
