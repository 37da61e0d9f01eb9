"""One value of nested rows after the other: what it is, and what is below it.

The classes of awkward are gone through by what they say of themselves, so that nothing is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from refbrowser.model.nested import CUT, UNREAD, NestedRows

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
