"""Cells of a table by what the user types: a row, a row and a column, or the whole index of an element."""

from __future__ import annotations

import re
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.views.table import TableLayout

#: Digits of a number that are read: no dimension needs more.
_DIGITS = 30


@dataclass(frozen=True, slots=True)
class NamedCell:
    """A cell, and where along the dimensions that are not on the table's axes.

    Attributes
    ----------
    cell
        Row and column.
    held
        An index for each dimension of the array, where all were given; else None.
    """

    cell: tuple[int, int]
    held: tuple[int, ...] | None = None


def cell_from_text(layout: TableLayout, text: str, current: tuple[int, int] = (0, 0)) -> NamedCell:
    """Return the cell that a text names: ``12``, ``12, 40`` or ``0, 3, 12, 40``, and the name of a field.

    Negative numbers count from the end. `current` gives the column where only a row is named.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it names none.
    """
    words = [word for word in re.split(r"[\s,;]+", text.strip().strip("[]()")) if word]
    part = 0
    if layout.fields and words and words[-1] in layout.fields:
        part = layout.fields.index(words.pop())
    axes, shape = layout.slice.axes, layout.slice.shape
    numbers = [_number(layout, word) for word in words]
    parts = max(1, len(layout.fields))
    if axes and len(numbers) == 1:
        row = _inside(layout, axes[0], numbers[0])
        column = current[1] if part == 0 else current[1] // parts * parts + part
        return NamedCell((row, column))
    if axes and len(numbers) == len(axes):
        along = [_inside(layout, axis, number) for axis, number in zip(axes, numbers, strict=True)]
        return NamedCell((along[0], along[1] * parts + part))
    if len(numbers) == len(shape):
        held = tuple(_inside(layout, axis, number) for axis, number in enumerate(numbers))
        row, column = layout.cell_of([held[axis] for axis in axes])
        return NamedCell((row, column + part), held)
    raise _unknown(layout, f"{quoted(text)} names no cell")


def _number(layout: TableLayout, word: str) -> int:
    if re.fullmatch(r"[-+\u2212]?[0-9][0-9_]*", word) is None or len(word) > _DIGITS:
        raise _unknown(layout, f"{quoted(word)} is no number")
    return int(word.replace("_", "").replace("\u2212", "-"))


def _inside(layout: TableLayout, axis: int, number: int) -> int:
    size = layout.slice.shape[axis]
    if not -size <= number < size:
        name = layout.slice.names[axis]
        raise _unknown(layout, f"{name} has the indices 0 to {size - 1}, not {number}")
    return number % size


def _unknown(layout: TableLayout, message: str) -> RefbrowserError:
    advice = "type a row, or a row and a column: 12, 40"
    return RefbrowserError(ErrorKind.USAGE, message, Place(path=layout.node.path), advice)
