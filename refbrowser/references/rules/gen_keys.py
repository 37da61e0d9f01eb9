"""The key of a lowered rule as a pattern: a text matched against it gives its integers, and so its row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from refbrowser.references.rules.dimensions import INT_ROOM, Int64, RowSpace
from refbrowser.references.rules.gen_columns import print_text
from refbrowser.references.rules.gen_solver import Plan, Solution, make_plan
from refbrowser.references.rules.integer_expressions import bounds, evaluate, fits_int64
from refbrowser.references.rules.lowering import IntegerPiece, Text

_DIGITS = frozenset("0123456789")
#: No integer of a template has more characters.
_LONGEST = 48
#: Integers of a key that may be cut in several ways, and how many cuts are tried.
_MOST_NUMBERS = 64
_MOST_SPLITS = 10_000
#: The last row that a column has room for.
_LARGEST = 2**63 - 1
#: Combinations of dimensions that arithmetic leaves open, looked at for one key.
_MOST_OPEN = 20_000_000
_BLOCK = 1 << 16


class UndecidedError(Exception):
    """A search reached its bound after `rows` rows."""

    def __init__(self, rows: int) -> None:
        super().__init__(rows)
        self.rows = rows


@dataclass(frozen=True)
class KeyPattern:
    """A lowered key over a space that is not empty."""

    pieces: Text
    space: RowSpace

    @cached_property
    def numbers(self) -> tuple[IntegerPiece, ...]:
        """The pieces that are integers, in order."""
        return tuple(piece for piece in self.pieces if isinstance(piece, IntegerPiece))

    @cached_property
    def plan(self) -> Plan:
        """How the integers give the row."""
        equations = [(piece.value, number) for number, piece in enumerate(self.numbers)]
        return make_plan(self.space, equations, len(equations))

    @cached_property
    def prefix(self) -> str:
        """The text that every key begins with."""
        return self.pieces[0] if self.pieces and isinstance(self.pieces[0], str) else ""

    @cached_property
    def suffix(self) -> str:
        """The text that every key ends with; the whole of a constant key."""
        return self.pieces[-1] if self.pieces and isinstance(self.pieces[-1], str) else ""

    @cached_property
    def may_be_negative(self) -> bool:
        """Whether an integer of a key can have a sign."""
        ranges = [bounds(piece.value, self.space) for piece in self.numbers]
        return any(found is None or found[0] < 0 for found in ranges)

    @cached_property
    def fixed_widths(self) -> tuple[int | None, ...]:
        """Characters of each integer where they are the same at every row, else None."""
        return tuple(self._fixed_width(piece) for piece in self.numbers)

    def _fixed_width(self, piece: IntegerPiece) -> int | None:
        found = bounds(piece.value, self.space)
        if found is None or found[0] < 0:
            return None
        shortest = max(piece.width, len(str(found[0])))
        longest = max(piece.width, len(str(found[1])))
        return longest if shortest == longest else None

    @cached_property
    def digits_after(self) -> tuple[int | None, ...]:
        """Digits between the end of each integer and the end of the run of digits that it is in.

        None where that is not known: another integer of no fixed width follows in the same run.
        """
        found: list[int | None] = []
        widths = list(self.fixed_widths)
        after = 0
        varies = False
        for piece in reversed(self.pieces):
            if isinstance(piece, str):
                leading = len(piece) - len(piece.lstrip("0123456789"))
                is_run = leading == len(piece)
                after, varies = (after + leading, varies) if is_run else (leading, False)
                continue
            width = widths.pop()
            found.append(None if varies and width is None else after)
            varies = varies or width is None
            after += width or 0
        return tuple(reversed(found))

    @property
    def separated(self) -> bool:
        """Whether a text can be cut into its integers in one way only."""
        return None not in self.digits_after

    @property
    def is_injective(self) -> bool:
        """Whether it is proved that no two rows have the same key."""
        return self.separated and not self.plan.open and not self.unused and not self.repeated

    @cached_property
    def unused(self) -> tuple[int, ...]:
        """Slots of dimensions of several values that the key does not name."""
        used = frozenset[int]().union(*(piece.value.uses for piece in self.numbers))
        return tuple(
            slot for slot, length in enumerate(self.space.lengths) if length > 1 and slot not in used
        )

    @cached_property
    def repeated(self) -> tuple[int, ...]:
        """Slots of dimensions that list a value more than once."""
        return tuple(slot for slot, each in enumerate(self.space.dimensions) if each.has_repeats)

    def find(self, key: str) -> int | None:
        """Return the last row with this key, or None.

        Raises
        ------
        UndecidedError
            There are too many ways to read the key, or too many combinations that arithmetic leaves open.
        """
        if not key.startswith(self.prefix) or not key.endswith(self.suffix):
            return None
        best: int | None = None
        for integers in self._splits(key):
            row = self._row(self.plan.run(integers))
            if row is None or (best is not None and row < best):
                continue
            if print_text(self.pieces, self.space.values(row)) == key:
                best = row
        return best

    def _row(self, state: Solution) -> int | None:
        if not state.good:
            return None
        if not self.plan.open:
            return self.space.row(state.positions)
        return self._search(state)

    def _splits(self, key: str) -> Iterable[list[int]]:
        """Return the integers of each way to read the key."""
        if self.separated:
            found = self._only_split(key)
            return [] if found is None else [found]
        if len(self.numbers) > _MOST_NUMBERS:
            raise UndecidedError(0)
        return self._all_splits(key, 0, 0, [_MOST_SPLITS])

    def _only_split(self, key: str) -> list[int] | None:
        integers: list[int] = []
        position = 0
        for piece in self.pieces:
            if isinstance(piece, str):
                if not key.startswith(piece, position):
                    return None
                position += len(piece)
                continue
            stop = next(self._stops(key, position, len(integers)), None)
            if stop is None:
                return None
            integers.append(int(key[position:stop]))
            position = stop
        return integers if position == len(key) else None

    def _all_splits(self, key: str, piece: int, position: int, budget: list[int]) -> Iterator[list[int]]:
        """Yield the integers of each way to read the key from a position on; `budget` is shared."""
        while piece < len(self.pieces) and isinstance(text := self.pieces[piece], str):
            if not key.startswith(text, position):
                return
            position += len(text)
            piece += 1
        if piece == len(self.pieces):
            if position == len(key):
                yield []
            return
        number = sum(isinstance(each, IntegerPiece) for each in self.pieces[:piece])
        for stop in self._stops(key, position, number):
            budget[0] -= 1
            if budget[0] < 0:
                raise UndecidedError(0)
            value = int(key[position:stop])
            for rest in self._all_splits(key, piece + 1, stop, budget):
                yield [value, *rest]

    def _stops(self, key: str, position: int, number: int) -> Iterator[int]:
        start = position + (key[position : position + 1] == "-")
        stop = start
        while stop < len(key) and stop - start < _LONGEST and key[stop] in _DIGITS:
            stop += 1
        width = self.fixed_widths[number]
        if width is not None:
            if start == position and position + width <= stop:
                yield position + width
        elif (after := self.digits_after[number]) is not None:
            if stop - after > start:
                yield stop - after
        else:
            yield from range(stop, start, -1)

    def _search(self, state: Solution) -> int | None:
        """Look through the dimensions that arithmetic leaves open, the last combination first."""
        slots = sorted(self.plan.open)
        inner = RowSpace(tuple(self.space.dimensions[slot] for slot in slots))
        fits = all(fits_int64(expression, self.space) for expression, _ in self.plan.left)
        wanted = [state.inputs[source] for _, source in self.plan.left]
        if not fits or any(abs(value) > INT_ROOM for value in wanted):
            raise UndecidedError(0)
        values = list(state.values)
        for stop in range(inner.count, max(0, inner.count - _MOST_OPEN), -_BLOCK):
            start = max(0, stop - _BLOCK)
            columns = inner.index_window(start, stop)
            for slot, column in zip(slots, columns, strict=True):
                values[slot] = self.space.dimensions[slot].take(column)
            good = np.ones(stop - start, dtype=bool)
            for (expression, _), value in zip(self.plan.left, wanted, strict=True):
                good &= evaluate(expression, values) == value
            if good.any():
                last = int(np.flatnonzero(good)[-1])
                for slot, column in zip(slots, columns, strict=True):
                    state.positions[slot] = int(column[last])
                return self.space.row(state.positions)
        if inner.count > _MOST_OPEN:
            raise UndecidedError(_MOST_OPEN)
        return None


def rows_of(pattern: KeyPattern, equations: Plan, inputs: list[Int64], size: int) -> Int64:
    """Return the last row for columns of integers, -1 where there is none, -2 where it does not fit int64.

    The steps of `equations` must leave nothing open, and values must fit int64.
    """
    state = equations.run(inputs)
    good = np.broadcast_to(np.asarray(state.good), (size,))
    rows = np.zeros(size, dtype=np.int64)
    fits = np.ones(size, dtype=bool)
    is_large = pattern.space.count > INT_ROOM
    for position, length in zip(state.positions, pattern.space.lengths, strict=True):
        if length > 1:
            if is_large:
                fits &= rows <= (_LARGEST - np.maximum(position, 0)) // length
                rows[~fits] = 0
            rows *= length
            rows += position
    rows = rows if fits.all() else np.where(fits, rows, -2)
    return rows if good.all() else np.where(good, rows, -1)
