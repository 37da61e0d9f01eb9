"""The dimensions of a gen rule: their values, and row numbers as mixed-radix numbers over their lengths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.templates.syntax import NO_CHARACTER, has_surrogates, text_size

Int64 = npt.NDArray[np.int64]

#: Numbers up to here are computed by numpy: half of int64, so that a sum of two never wraps.
INT_ROOM = 2**62

_MEMBERS = ("start", "stop", "step")


@dataclass(frozen=True)
class RuleDimension:
    """One dimension of a gen rule: a name and its integers, of any size, in order.

    A list may hold texts as well, which jinja2 takes though the specification says int.
    """

    name: str
    values: range | tuple[Any, ...]

    @cached_property
    def has_texts(self) -> bool:
        """Whether some values are texts: there are no bounds then, and no column."""
        return not isinstance(self.values, range) and any(isinstance(value, str) for value in self.values)

    @cached_property
    def length(self) -> int:
        """Number of values; may exceed 2**63."""
        if isinstance(self.values, range):
            return range_length(self.values)
        return len(self.values)

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """Least and greatest value; the dimension must not be empty."""
        if isinstance(self.values, range):
            ends = (self.values[0], self.values[self.length - 1])
            return (min(ends), max(ends))
        return (min(self.values), max(self.values))

    @cached_property
    def fits_int64(self) -> bool:
        """Whether values and positions can be computed by numpy."""
        if not self.length or self.has_texts:
            return not self.length
        step = self.values.step if isinstance(self.values, range) else 1
        low, high = self.bounds
        return all(-INT_ROOM <= number <= INT_ROOM for number in (low, high, step, self.length))

    @cached_property
    def _column(self) -> Int64:
        return np.array(self.values, dtype=np.int64)

    def take(self, indices: Int64) -> Int64:
        """Return the values at `indices` as a column; only where `fits_int64`."""
        if isinstance(self.values, range):
            if self.values.step == 1:
                return indices + self.values.start if self.values.start else indices
            return indices * self.values.step + self.values.start
        return self._column[indices]

    @cached_property
    def _last_index(self) -> dict[int, int]:
        return {value: index for index, value in enumerate(self.values)}

    def last_index(self, value: int) -> int | None:
        """Return the last position of `value`, or None where it is not one of the values."""
        if not isinstance(self.values, range):
            return self._last_index.get(value)
        steps, rest = divmod(value - self.values.start, self.values.step)
        return steps if rest == 0 and 0 <= steps < self.length else None

    @cached_property
    def _sorted(self) -> tuple[Int64, Int64]:
        order = np.argsort(self._column, kind="stable")
        return self._column[order], order

    def last_indices(self, values: Int64) -> Int64:
        """Return the last position of each value, -1 where it is none of them; only where `fits_int64`."""
        if isinstance(self.values, range):
            steps = values - self.values.start
            found = steps // self.values.step
            bad = (found < 0) | (found >= self.length) | (found * self.values.step != steps)
            return np.where(bad, -1, found)
        ordered, order = self._sorted
        place = np.searchsorted(ordered, values, side="right") - 1
        safe = np.maximum(place, 0)
        return np.where((place >= 0) & (ordered[safe] == values), order[safe], -1)

    @cached_property
    def has_repeats(self) -> bool:
        """Whether a value stands in it more than once."""
        return not isinstance(self.values, range) and len(set(self.values)) != len(self.values)


def range_length(values: range) -> int:
    """Return the number of values of a range of any size (`len` stops at 2**63)."""
    return max(0, -((values.start - values.stop) // values.step))


def parse_dimensions(members: Any) -> tuple[tuple[RuleDimension, ...], list[RefbrowserError]]:
    """Read the member `dimensions` of a rule; returns those that are good, and every fault.

    The pointer in the place of a fault is relative to the rule (``/dimensions/i/step``).
    """
    if not isinstance(members, Mapping):
        return (), [_fault("dimensions is not an object", "/dimensions")]
    if not members:
        return (), [_fault("dimensions is empty, one or more are required", "/dimensions")]
    if len(members) > LIMITS.dimensions_per_rule:
        message = f"the rule has more than {LIMITS.dimensions_per_rule} dimensions"
        return (), [RefbrowserError(ErrorKind.BUDGET, message, _place("/dimensions"))]
    found = []
    faults: list[RefbrowserError] = []
    for name, value in members.items():
        values = _parse_values(value, member_pointer(name), faults)
        if values is not None:
            found.append(RuleDimension(name, values))
    return tuple(found), faults


def member_pointer(name: str) -> str:
    """Return the JSON pointer of a dimension, relative to its rule."""
    return f"/dimensions/{name.replace('~', '~0').replace('/', '~1')}"


def _parse_values(value: Any, pointer: str, faults: list[RefbrowserError]) -> range | tuple[Any, ...] | None:
    before = len(faults)
    if isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            if isinstance(item, str):
                _check_text(item, f"{pointer}/{position}", faults)
            else:
                _check_integer(item, f"{pointer}/{position}", faults)
        return tuple(value) if len(faults) == before else None
    if not isinstance(value, Mapping):
        faults.append(_fault("a dimension is an object with stop, or a list of integers", pointer))
        return None
    for member in _MEMBERS:
        if member in value:
            _check_integer(value[member], f"{pointer}/{member}", faults)
    if "stop" not in value:
        faults.append(_fault("the dimension has no stop", pointer))
    if len(faults) != before:
        return None
    if value.get("step", 1) == 0:
        faults.append(_fault("the step of the dimension is 0", f"{pointer}/step"))
        return None
    return range(value.get("start", 0), value["stop"], value.get("step", 1))


def _check_integer(value: Any, pointer: str, faults: list[RefbrowserError]) -> None:
    if type(value) is not int:
        faults.append(_fault(f"not an integer: {quoted(value)}", pointer))
    elif abs(value) >= 10**LIMITS.json_digits:
        message = f"the integer has more than {LIMITS.json_digits} digits"
        faults.append(RefbrowserError(ErrorKind.BUDGET, message, _place(pointer)))


def _check_text(value: str, pointer: str, faults: list[RefbrowserError]) -> None:
    if has_surrogates(value):
        faults.append(_fault(NO_CHARACTER, pointer))
    elif text_size(value) > LIMITS.template_string:
        message = f"the text is longer than {LIMITS.template_string} bytes"
        faults.append(RefbrowserError(ErrorKind.BUDGET, message, _place(pointer)))


def _fault(message: str, pointer: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.SCHEMA, message, _place(pointer))


def _place(pointer: str) -> Place:
    return Place(field="dimensions", pointer=pointer)


@dataclass(frozen=True)
class RowSpace:
    """The cartesian product of dimensions in document order, the last one fastest."""

    dimensions: tuple[RuleDimension, ...]

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return tuple(dimension.length for dimension in self.dimensions)

    @cached_property
    def count(self) -> int:
        """Number of rows; may exceed 2**63."""
        count = 1
        for length in self.lengths:
            count *= length
        return count

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of each dimension."""
        return tuple(dimension.name for dimension in self.dimensions)

    def indices(self, row: int) -> tuple[int, ...]:
        """Return the position in each dimension of one row."""
        found = []
        for length in reversed(self.lengths):
            row, index = divmod(row, length)
            found.append(index)
        return tuple(reversed(found))

    def row(self, indices: Iterable[int]) -> int:
        """Return the row number of positions in each dimension."""
        row = 0
        for index, length in zip(indices, self.lengths, strict=True):
            row = row * length + index
        return row

    def values(self, row: int) -> list[Any]:
        """Return the value of each dimension at one row."""
        return [
            dimension.values[index]
            for dimension, index in zip(self.dimensions, self.indices(row), strict=True)
        ]

    def index_window(self, start: int, stop: int) -> list[Int64]:
        """Return the positions of each dimension for the rows [start, stop), which may be beyond int64.

        No dimension may be longer than `INT_ROOM`.
        """
        steps = np.arange(stop - start, dtype=np.int64)
        first = self.indices(start)
        columns: list[Int64] = []
        carry: Int64 | None = steps
        for index, length in zip(reversed(first), reversed(self.lengths), strict=True):
            if carry is None:
                columns.append(np.full(len(steps), index, dtype=np.int64))
                continue
            total = carry + index
            if not len(total) or int(total.max()) < length:
                columns.append(total)
                carry = None
            else:
                carry, column = np.divmod(total, length)
                columns.append(column)
        return columns[::-1]

    def index_columns(self, rows: Int64) -> list[Int64]:
        """Return the positions of each dimension for any rows (int64)."""
        columns: list[Int64] = []
        rest = rows
        for position in range(len(self.lengths) - 1, -1, -1):
            length = self.lengths[position]
            if position == 0:
                columns.append(rest)
            elif length > INT_ROOM:
                columns.append(rest)
                rest = np.zeros_like(rest)
            else:
                rest, column = np.divmod(rest, length)
                columns.append(column)
        return columns[::-1]
