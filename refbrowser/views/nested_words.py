"""Nested values as people read them in one line: lists shortened in their middle, records by their fields."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.views.nested_values import NestedValue, ValueKind, fault_of
from refbrowser.views.numbers import hex_text, value_text

#: What stands for values that are not there, and for those that cannot be read.
MISSING, UNREADABLE = "missing", "! unreadable"
#: Elements of a list, and fields of a record, that are written before the rest is left out.
HEAD, FIELDS = 4, 6
#: Levels that are written; of what is below them only an ellipsis.
DEPTH = 4
#: Characters of a text that are written.
TEXT = 200

_Part = Callable[[NestedValue, int], str]


def short_text(value: NestedValue, depth: int = DEPTH) -> str:
    """Return a value in one line."""
    if value.kind is ValueKind.LIST:
        return _list_text(value, depth, short_text)
    if value.kind is ValueKind.RECORD:
        return _record_text(value, depth)
    return _plain_text(value, depth)


def column_text(value: NestedValue, name: str, number: int = 0, depth: int = DEPTH) -> str:
    """Return a field of a record, or of all records of lists, in one line; `number` is where it may be."""

    def part(item: NestedValue, left: int) -> str:
        return column_text(item, name, number, left)

    if value.kind is ValueKind.LIST:
        return _list_text(value, depth, part)
    if value.kind is ValueKind.RECORD:
        found = value.field(name, number)
        return "" if found is None else short_text(found, depth)
    return _plain_text(value, depth)


def _list_text(value: NestedValue, depth: int, part: _Part) -> str:
    count = value.length
    if count and depth <= 0:
        return "[…]"
    if count <= HEAD + 1:
        return f"[{', '.join(part(value.item(at), depth - 1) for at in range(count))}]"
    head = ", ".join(part(value.item(at), depth - 1) for at in range(HEAD))
    return f"[{head}, … {part(value.item(count - 1), depth - 1)}]"


def _record_text(value: NestedValue, depth: int) -> str:
    names = value.fields
    opening, closing = "()" if value.is_tuple else "{}"
    if names and depth <= 0:
        return f"{opening}…{closing}"
    parts = []
    for number, name in enumerate(names[:FIELDS]):
        text = short_text(value.item(number), depth - 1)
        parts.append(text if value.is_tuple else f"{name}: {text}")
    more = ", …" if len(names) > FIELDS else ""
    return f"{opening}{', '.join(parts)}{more}{closing}"


def _plain_text(value: NestedValue, depth: int) -> str:
    if value.kind is ValueKind.MISSING:
        return MISSING
    if value.kind is ValueKind.UNREADABLE:
        return UNREADABLE if depth == DEPTH else "!"
    if value.kind is ValueKind.BYTES:
        return hex_text(value.scalar())
    if value.kind is ValueKind.STRING:
        text = value.scalar()
        shown = text if len(text) <= TEXT else f"{text[:TEXT]}…"
        # Alone in its cell a text stands as it is.
        return shown if depth == DEPTH else f'"{shown}"'
    return value_text(value.scalar())


def exact_text(value: NestedValue) -> str:
    """Return what a value is, with all digits of a number and its type, and the length of what has one."""
    if value.kind is ValueKind.NUMBER:
        number = value.scalar()
        return f"{value_text(number, 17)}   {number.dtype}"
    if value.kind is ValueKind.STRING:
        return f"{len(value.scalar())} characters   {short_text(value)}"
    if value.kind is ValueKind.BYTES:
        return short_text(value)
    if value.kind is ValueKind.LIST:
        count = "1 element" if value.length == 1 else f"{value.length:,} elements"
        return f"{count}   {short_text(value)}"
    if value.kind is ValueKind.RECORD:
        return f"{value.type_name}   {short_text(value)}".strip()
    if value.kind is ValueKind.UNREADABLE:
        error = fault_of(value.rows, value.path)
        return f"cannot be read: {error}" if error is not None else "cannot be read"
    return MISSING
