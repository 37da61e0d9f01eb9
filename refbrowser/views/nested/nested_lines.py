"""The lines of a nested table: rows, and what is below those that are unfolded."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from refbrowser.model.nested import NestedRows
from refbrowser.views.nested.nested_values import (
    MISSING,
    UNREADABLE,
    NestedColumn,
    NestedValue,
    ValueKind,
    column_text,
    row_value,
    short_text,
)
from refbrowser.views.plot.table import Mark

if TYPE_CHECKING:
    pass


#: From the row of the array down: its number, then that of the element or field on each level.
NestedPath = tuple[int, ...]


class _Open:
    """The lines below one unfolded value.

    Attributes
    ----------
    count
        How many values are right below it.
    size
        Lines below it in all.
    below
        Those of them that are unfolded themselves.
    """

    __slots__ = ("_keys", "_starts", "below", "count", "size")

    def __init__(self, count: int) -> None:
        self.count = self.size = count
        self.below: dict[int, _Open] = {}
        self._keys: list[int] = []
        self._starts: list[int] | None = None

    def line(self, child: int) -> int:
        """Return the line of a value right below, counted from the first of them."""
        at = bisect_right(self._keys, child - 1)
        if not at:
            return child
        last = self._keys[at - 1]
        return self.starts()[at - 1] + self.below[last].size + child - last

    def starts(self) -> list[int]:
        """Return the lines of the unfolded ones."""
        if self._starts is None:
            self._starts, more = [], 0
            for key in self._keys:
                self._starts.append(key + more)
                more += self.below[key].size
        return self._starts

    def child(self, line: int) -> tuple[int, int]:
        """Return which value right below a line is of, and the line below that value (-1: its own)."""
        at = bisect_right(self.starts(), line) - 1
        if at < 0:
            return line, -1
        key, inside = self._keys[at], line - self.starts()[at]
        size = self.below[key].size
        return (key, inside - 1) if inside <= size else (key + inside - size, -1)

    def put(self, child: int, opened: _Open) -> None:
        """Unfold a value right below."""
        self.below[child] = opened
        insort(self._keys, child)
        self._starts = None

    def drop(self, child: int) -> int:
        """Fold a value right below; returns how many lines are gone."""
        self._keys.remove(child)
        self._starts = None
        return self.below.pop(child).size

    def grow(self, lines: int) -> None:
        """Note that there are more lines below, or less."""
        self.size += lines
        self._starts = None


class NestedFolds:
    """The rows of an array of any length, some of them unfolded."""

    def __init__(self, rows: int) -> None:
        self._root = _Open(rows)

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return self._root.size

    @property
    def unfolded(self) -> int:
        """How many lines there are more than rows."""
        return self._root.size - self._root.count

    def path(self, line: int) -> NestedPath:
        """Return what is on a line."""
        opened, path = self._root, []
        while line >= 0:
            child, line = opened.child(line)
            path.append(child)
            if line >= 0:
                opened = opened.below[child]
        return tuple(path)

    def line(self, path: NestedPath) -> int:
        """Return the line of a value; of one that is folded away that of what it is folded into."""
        opened, line = self._root, -1
        for child in path:
            line += 1 + opened.line(child)
            inner = opened.below.get(child)
            if inner is None:
                break
            opened = inner
        return line

    def is_open(self, path: NestedPath) -> bool:
        """Whether a value is unfolded."""
        return self._find(path) is not None

    def count(self, path: NestedPath) -> int:
        """Return how many values are shown right below one."""
        opened = self._find(path)
        return 0 if opened is None else opened.count

    def unfold(self, path: NestedPath, count: int) -> None:
        """Show the `count` values right below one."""
        above = self._find(path[:-1])
        if above is None or path[-1] in above.below or count <= 0:
            return
        above.put(path[-1], _Open(count))
        self._grow(path[:-1], count)

    def fold(self, path: NestedPath) -> None:
        """Show nothing below a value."""
        above = self._find(path[:-1])
        if above is None or path[-1] not in above.below:
            return
        self._grow(path[:-1], -above.drop(path[-1]))

    def fold_all(self) -> None:
        """Show the rows alone."""
        self._root = _Open(self._root.count)

    def _find(self, path: NestedPath) -> _Open | None:
        opened: _Open | None = self._root
        for child in path:
            opened = None if opened is None else opened.below.get(child)
        return opened

    def _grow(self, path: NestedPath, lines: int) -> None:
        opened = self._root
        opened.grow(lines)
        for child in path:
            opened = opened.below[child]
            opened.grow(lines)


_BELOW = (ValueKind.LIST, ValueKind.RECORD)


class Cell(NamedTuple):
    """What is in a cell."""

    text: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class NestedLine:
    """One line.

    Attributes
    ----------
    label
        The number of a row or an element, or the name of a field.
    where
        How a program would get there (``[3].muons[0]``).
    length
        Of a list; None of anything else.
    below
        How many values are below it when it is unfolded.
    cells
        One for each column; or a single one, which has the room of all.
    """

    path: NestedPath
    label: str
    where: str
    length: int | None
    below: int
    cells: Sequence[Cell]

    @property
    def depth(self) -> int:
        """On which level it is; rows are on 0."""
        return len(self.path) - 1


@dataclass(frozen=True, slots=True)
class _Place:
    """A value, and whether its fields are columns."""

    value: NestedValue
    is_tabular: bool
    label: str
    where: str


class LineMaker:
    """Makes the lines of rows that were read.

    Parameters
    ----------
    columns
        Of the table.
    """

    def __init__(self, columns: Sequence[NestedColumn]) -> None:
        self._columns = columns
        self._has_fields = columns[0].field is not None

    def line(self, rows: NestedRows, first: int, path: NestedPath) -> NestedLine:
        """Return a line of rows, of which the first one read has a number."""
        place = self._place(rows, first, path)
        value = place.value
        length = value.length if value.kind is ValueKind.LIST else None
        return NestedLine(path, place.label, place.where, length, len(self._below(place)), self._cells(place))

    def value(self, rows: NestedRows, first: int, path: NestedPath) -> NestedValue:
        """Return the value that is on a line."""
        return self._place(rows, first, path).value

    def pending(self, path: NestedPath) -> NestedLine:
        """Return a line whose values are not read yet."""
        cells = [Cell("…", Mark.PENDING)] * len(self._columns)
        return NestedLine(path, str(path[-1]), f"[{path[0]}]", None, 0, cells)

    def failed(self, path: NestedPath) -> NestedLine:
        """Return a line whose values cannot be read."""
        cells = [Cell(UNREADABLE, Mark.FAILED)] * len(self._columns)
        return NestedLine(path, str(path[-1]), f"[{path[0]}]", None, 0, cells)

    def _place(self, rows: NestedRows, first: int, path: NestedPath) -> _Place:
        place = _Place(row_value(rows, path[0] - first), True, str(path[0]), f"[{path[0]}]")
        for number in path[1:]:
            place = self._child(place, number)
        return place

    def _child(self, place: _Place, number: int) -> _Place:
        value = place.value
        if value.kind is ValueKind.LIST:
            return _Place(value.item(number), place.is_tabular, str(number), f"{place.where}[{number}]")
        field = self._below(place)[number]
        name = value.fields[field]
        return _Place(value.item(field), False, name, f"{place.where}.{name}")

    def _below(self, place: _Place) -> Sequence[int]:
        """Return the numbers of the elements, or fields, that are shown below a value."""
        value = place.value
        if value.kind is ValueKind.LIST:
            return range(value.length)
        if value.kind is not ValueKind.RECORD:
            return ()
        every = range(value.length)
        if not (place.is_tabular and self._has_fields):
            return every
        # Plain ones are columns already, the first ones.
        shown = len(self._columns)
        return [number for number in every if number >= shown or value.item(number).kind in _BELOW]

    def _cells(self, place: _Place) -> list[Cell]:
        value = place.value
        if place.is_tabular and self._has_fields and value.kind in _BELOW:
            return [
                self._column_cell(value, column.field or "", number)
                for number, column in enumerate(self._columns)
            ]
        return [_cell(value, short_text(value))]

    @staticmethod
    def _column_cell(value: NestedValue, name: str, number: int) -> Cell:
        if value.kind is ValueKind.LIST:
            if value.length and _is_unreadable(value, name):
                return Cell(UNREADABLE, Mark.FAILED)
            return Cell(column_text(value, name, number), Mark.VALUE)
        found = value.field(name, number)
        return Cell("", Mark.VALUE) if found is None else _cell(found, short_text(found))


def _is_unreadable(value: NestedValue, name: str) -> bool:
    """Whether a field of the first record in lists cannot be read: then it is unreadable in all of them."""
    while value.kind is ValueKind.LIST and value.length:
        value = value.item(0)
    found = value.field(name)
    return value.kind is ValueKind.UNREADABLE or (found is not None and found.kind is ValueKind.UNREADABLE)


def _cell(value: NestedValue, text: str) -> Cell:
    if value.kind is ValueKind.MISSING:
        return Cell(MISSING, Mark.MISSING)
    if value.kind is ValueKind.UNREADABLE:
        return Cell(UNREADABLE, Mark.FAILED)
    is_nan = value.kind is ValueKind.NUMBER and text in ("nan", "NaT")
    return Cell(text, Mark.NO_VALUE if is_nan else Mark.VALUE)
