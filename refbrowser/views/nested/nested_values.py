"""One value of nested rows after the other: what it is, what is below it, and its words and columns.

The classes of awkward are gone through by what they say of themselves, so that nothing is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from refbrowser.model.nested import CUT, UNREAD, NestedRows, NestedType, TypeKind
from refbrowser.views.numbers import hex_text, value_text
from refbrowser.words import counted

#: Wrappers around one value (options, indexes, possibilities) that are gone through.
_WRAPPERS = 64


class ValueKind(Enum):
    """What a value is."""

    NUMBER = auto()
    STRING = auto()
    BYTES = auto()
    LIST = auto()
    RECORD = auto()
    #: An option without a value.
    MISSING = auto()
    #: There is one, but it cannot be read.
    UNREADABLE = auto()


@dataclass(frozen=True, slots=True, eq=False)
class NestedValue:
    """A value within nested rows.

    Attributes
    ----------
    content, at
        A layout of awkward without options and indexes around it, and the place in it.
    path
        As that of `NestedFault`.
    """

    kind: ValueKind
    rows: NestedRows
    content: Any = field(default=None, repr=False)
    at: int = 0
    path: str = ""

    @property
    def length(self) -> int:
        """How many values are right below a list or a record; 0 for others."""
        if self.kind is ValueKind.LIST:
            start, stop = self._span()
            return stop - start
        return len(self.content.contents) if self.kind is ValueKind.RECORD else 0

    @property
    def is_tuple(self) -> bool:
        """Whether it is a record whose fields have no names."""
        return self.kind is ValueKind.RECORD and bool(self.content.is_tuple)

    @property
    def fields(self) -> list[str]:
        """Names of the fields of a record."""
        return list(self.content.fields) if self.kind is ValueKind.RECORD else []

    @property
    def type_name(self) -> str:
        """What a record is called; empty where it has no name."""
        name = self.content.parameter("__record__") if self.kind is ValueKind.RECORD else None
        return name if isinstance(name, str) else ""

    def item(self, number: int) -> NestedValue:
        """Return an element of a list, or a field of a record by its number."""
        if self.kind is ValueKind.LIST:
            return value_at(self.rows, self.content.content, self._span()[0] + number, self.path)
        name = self.content.fields[number]
        path = f"{self.path}/{name}" if self.path else name
        return value_at(self.rows, self.content.contents[number], self.at, path)

    def field(self, name: str, number: int = 0) -> NestedValue | None:
        """Return a field of a record, None where it has none of that name; `number` is where it may be."""
        if self.kind is not ValueKind.RECORD:
            return None
        names = self.content.fields
        if number >= len(names) or names[number] != name:
            if name not in names:
                return None
            number = names.index(name)
        return self.item(number)

    def scalar(self) -> Any:
        """Return a number, text or bytes."""
        if self.kind is ValueKind.NUMBER:
            return self.content.data[self.at]
        start, stop = self._span()
        data = bytes(self.content.content.data[start:stop])
        return data.decode("utf-8", "replace") if self.kind is ValueKind.STRING else data

    def size(self) -> int:
        """Return how many bytes a text or bytes are."""
        start, stop = self._span()
        return stop - start

    def numbers(self) -> Any:
        """Return the elements of a list of plain numbers as an array; None for other lists."""
        inner = self.content.content
        if not inner.is_numpy or inner.data.ndim != 1:
            return None
        start, stop = self._span()
        return inner.data[start:stop]

    def _span(self) -> tuple[int, int]:
        content = self.content
        if content.is_regular:
            return self.at * content.size, (self.at + 1) * content.size
        return int(content.starts.data[self.at]), int(content.stops.data[self.at])


def row_value(rows: NestedRows, row: int) -> NestedValue:
    """Return one row of those that were read, by its place among them."""
    return value_at(rows, rows.content, row, "")


def value_at(rows: NestedRows, content: Any, at: int, path: str) -> NestedValue:
    """Return the value at a place of a layout."""
    for _ in range(_WRAPPERS):
        if is_faulty(rows, path):
            return NestedValue(ValueKind.UNREADABLE, rows, path=path)
        if content.is_union:
            tag = int(content.tags.data[at])
            at, content = int(content.index.data[at]), content.contents[tag]
            path = f"{path}/#{tag}" if path else f"#{tag}"
        elif content.is_option:
            if _is_missing(content, at):
                if content.parameter(UNREAD):
                    return NestedValue(ValueKind.UNREADABLE, rows, path=f"{path}/{CUT}".lstrip("/"))
                return NestedValue(ValueKind.MISSING, rows, path=path)
            at, content = _place_in(content, at), content.content
        elif content.is_indexed:
            at, content = int(content.index.data[at]), content.content
        elif content.is_numpy and content.data.ndim > 1:
            content = content.to_RegularArray()
        else:
            return NestedValue(_kind_of(content), rows, content, at, path)
    return NestedValue(ValueKind.UNREADABLE, rows, path=path)


def is_faulty(rows: NestedRows, path: str) -> bool:
    """Whether a value at a path could not be read."""
    return any(
        not fault.path or path == fault.path or path.startswith(f"{fault.path}/") for fault in rows.faults
    )


def fault_of(rows: NestedRows, path: str) -> Exception | None:
    """Return why the values at a path could not be read, None where they could."""
    for fault in rows.faults:
        if not fault.path or path == fault.path or path.startswith(f"{fault.path}/"):
            return fault.error
    return None


def _is_missing(content: Any, at: int) -> bool:
    """Whether an option has no value at a place; only that place of its mask is looked at."""
    if content.is_indexed:
        return int(content.index.data[at]) < 0
    mask = getattr(content, "mask", None)
    if mask is None:
        return False
    if hasattr(content, "lsb_order"):
        bit = at % 8 if content.lsb_order else 7 - at % 8
        return bool(mask.data[at // 8] >> bit & 1) != content.valid_when
    return bool(mask.data[at]) != content.valid_when


def _place_in(content: Any, at: int) -> int:
    return int(content.index.data[at]) if content.is_indexed else at


def _kind_of(content: Any) -> ValueKind:
    if content.is_record:
        return ValueKind.RECORD
    if content.is_list:
        role = content.parameter("__array__")
        return {"string": ValueKind.STRING, "bytestring": ValueKind.BYTES}.get(role, ValueKind.LIST)
    return ValueKind.NUMBER


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
        count = counted(value.length, "element")
        return f"{count}   {short_text(value)}"
    if value.kind is ValueKind.RECORD:
        return f"{value.type_name}   {short_text(value)}".strip()
    if value.kind is ValueKind.UNREADABLE:
        error = fault_of(value.rows, value.path)
        return f"cannot be read: {error}" if error is not None else "cannot be read"
    return MISSING
