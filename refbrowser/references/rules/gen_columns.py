"""Columns of a gen rule: its fields for many rows at once, by numpy where lowered, else by closures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.rules import text_columns
from refbrowser.references.rules.dimensions import INT_ROOM, Int64, RowSpace
from refbrowser.references.rules.gen_fields import RuleField, below_zero, parse_integer, placed
from refbrowser.references.rules.gen_rows import FieldColumn, GenRows
from refbrowser.references.rules.integer_expressions import (
    Affine,
    IntegerExpression,
    as_column,
    bounds,
    evaluate,
    fits_int64,
)
from refbrowser.references.rules.lowering import IntegerPiece, Text, lower_template, most_size
from refbrowser.references.rules.text_columns import Digits, TextColumn
from refbrowser.references.templates.evaluate import Scope


def print_text(pieces: Text, values: Sequence[int]) -> str:
    """Return a lowered text at the values of the dimensions."""
    return "".join(
        piece if isinstance(piece, str) else _printed(piece, evaluate(piece.value, values))
        for piece in pieces
    )


def _printed(piece: IntegerPiece, value: int) -> str:
    return f"{value:0{piece.width}d}" if piece.width else str(value)


def slots_of(pieces: Text) -> frozenset[int]:
    """Return the slots of the dimensions that a lowered text depends on."""
    return frozenset().union(*(piece.value.uses for piece in pieces if isinstance(piece, IntegerPiece)))


@dataclass(frozen=True)
class RuleColumns:
    """The fields of one rule over its space, which is not empty.

    Attributes
    ----------
    index
        Position of the rule in `gen`, for the place of errors.
    """

    fields: Mapping[str, RuleField]
    space: RowSpace
    scope: Scope
    index: int

    @cached_property
    def texts(self) -> dict[str, Text]:
        """Fields that are lowered to pieces of text, by name."""
        found = {}
        for name, field in self.fields.items():
            pieces = self._lowered(field)
            if pieces is not None:
                found[name] = pieces
        return found

    @cached_property
    def integers(self) -> dict[str, IntegerExpression]:
        """Of offset and length those that are lowered to one integer."""
        found = {}
        for name in ("offset", "length"):
            value = _as_integer(name, self.texts.get(name))
            if value is not None:
                found[name] = value
        return found

    def _lowered(self, field: RuleField) -> Text | None:
        if field.template is None or field.compiled is None or field.faults:
            return None
        pieces = lower_template(field.template, field.compiled, self.scope, self.space)
        limit = LIMITS.key_length if field.name == "key" else LIMITS.url_length
        if pieces is None or most_size(pieces) > limit or not self._agrees(field, pieces):
            return None
        return pieces

    def _agrees(self, field: RuleField, pieces: Text) -> bool:
        """Whether the closures give the same text on a sample of rows."""
        assert field.compiled is not None
        count = self.space.count
        for row in {0, count // 3, count // 2, count - 1}:
            values = self.space.values(row)
            try:
                text = field.compiled.render(tuple(values))
            except RefbrowserError:
                return False
            if text != print_text(pieces, values):
                return False
        return True

    @cached_property
    def by_numpy(self) -> frozenset[str]:
        """Fields that are computed as numpy columns: lowered, and within int64 at every row."""
        if self.is_wide:
            return frozenset()
        found = {name for name, value in self.integers.items() if fits_int64(value, self.space)}
        for name in ("key", "url"):
            pieces = self.texts.get(name)
            if pieces is not None and self._printable(pieces):
                found.add(name)
        return frozenset(found)

    def _printable(self, pieces: Text) -> bool:
        if any(isinstance(piece, str) and not text_columns.separable(piece) for piece in pieces):
            return False
        values = [piece.value for piece in pieces if isinstance(piece, IntegerPiece)]
        return all(fits_int64(value, self.space) for value in values)

    def slots(self, name: str) -> frozenset[int]:
        """Return the slots of the dimensions that a field depends on."""
        if name in self.texts:
            return slots_of(self.texts[name])
        compiled = self.fields[name].compiled
        uses = compiled.uses if compiled is not None else ()
        return frozenset(self.space.names.index(each) for each in uses)

    @cached_property
    def is_wide(self) -> bool:
        """Whether a dimension is too long for int64 positions."""
        return any(length > INT_ROOM for length in self.space.lengths)

    def window(self, start: int, stop: int) -> GenRows:
        """Return the entries of rows [start, stop), which must exist."""
        size = stop - start
        positions = None if self.is_wide else self.space.index_window(start, stop)

        def make(name: str) -> FieldColumn | None:
            if name not in self.fields:
                return None
            if positions is None:
                column = self._by_closures(name, map(self.space.values, range(start, stop)))
            else:
                column = self.column(name, positions, size)
            faults = {
                each: placed(error, self.index, name, start + each) for each, error in column.faults.items()
            }
            return FieldColumn(column.values, faults)

        return GenRows(start, size, make)

    def column(self, name: str, positions: Sequence[Int64], size: int) -> FieldColumn:
        """Return a field at positions in the dimensions; the places of its errors have no row yet."""
        if name not in self.by_numpy:
            return self._by_closures(name, self._value_rows(positions))
        if name in ("key", "url"):
            return FieldColumn(self.print_numbers(name, self.numbers(name, positions, size), size), {})
        value = self.integers[name]
        column = as_column(evaluate(value, self.values(name, positions)), size)
        least = bounds(value, self.space)
        if least is not None and least[0] >= 0:
            return FieldColumn(column, {})
        bad = np.flatnonzero(column < 0).tolist()
        return FieldColumn(column, {each: below_zero(name, int(column[each])) for each in bad})

    def values(self, name: str, positions: Sequence[Int64]) -> list[Any]:
        """Return by slot the values of the dimensions that a field depends on, None for the others."""
        slots = self.slots(name)
        return [
            dimension.take(positions[slot]) if slot in slots else None
            for slot, dimension in enumerate(self.space.dimensions)
        ]

    def numbers(self, name: str, positions: Sequence[Int64], size: int) -> list[Int64]:
        """Return the integers in a key or URL, in order; only where it is computed by numpy."""
        values = self.values(name, positions)
        pieces = [piece for piece in self.texts[name] if isinstance(piece, IntegerPiece)]
        return [as_column(evaluate(piece.value, values), size) for piece in pieces]

    def print_numbers(self, name: str, numbers: Sequence[Int64], size: int) -> TextColumn:
        """Return the texts of a key or URL with these integers."""
        waiting = iter(numbers)
        parts = [
            piece if isinstance(piece, str) else Digits(next(waiting), piece.width)
            for piece in self.texts[name]
        ]
        return text_columns.build(parts, size)

    def _value_rows(self, positions: Sequence[Int64]) -> Iterator[tuple[int, ...]]:
        columns = []
        for dimension, column in zip(self.space.dimensions, positions, strict=True):
            if dimension.fits_int64:
                columns.append(dimension.take(column).tolist())
            else:
                columns.append([dimension.values[position] for position in column.tolist()])
        return zip(*columns, strict=True)

    def _by_closures(self, name: str, rows: Iterable[Iterable[int]]) -> FieldColumn:
        field = self.fields[name]
        found: list[Any] = []
        faults: dict[int, RefbrowserError] = {}
        for position, values in enumerate(rows):
            try:
                found.append(field.evaluate(values))
            except RefbrowserError as error:
                found.append(None)
                faults[position] = error
        return FieldColumn(found, faults)


def _as_integer(name: str, pieces: Text | None) -> IntegerExpression | None:
    """Return the integer that a lowered offset or length renders to, whatever white space is around it."""
    if pieces is None:
        return None
    numbers = [piece for piece in pieces if isinstance(piece, IntegerPiece)]
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if len(numbers) == 1 and not "".join(texts).strip(" \t\n\r"):
        return numbers[0].value
    if numbers:
        return None
    try:
        return Affine(parse_integer(name, "".join(texts)))
    except RefbrowserError:
        return None
