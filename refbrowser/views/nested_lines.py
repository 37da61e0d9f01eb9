"""The lines of a nested table: rows, and what is below those that are unfolded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from refbrowser.model.nested import NestedRows
from refbrowser.views.nested_columns import NestedColumn
from refbrowser.views.nested_folds import NestedPath
from refbrowser.views.nested_values import NestedValue, ValueKind, row_value
from refbrowser.views.nested_words import MISSING, UNREADABLE, column_text, short_text
from refbrowser.views.table import Mark

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
