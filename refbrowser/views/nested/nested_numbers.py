"""The numbers of one field of nested rows, all in one line: which row each is of, how long lists are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.nested.plain_rows import row_type
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.data_type import DataType
from refbrowser.model.nested import NestedRows, NestedType, TypeKind
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.views.nested.nested_values import is_faulty, stripped
from refbrowser.views.numbers import DateScale
from refbrowser.views.plot.interpretation import Interpretation

#: Fields that one can choose from.
CHOICES_MOST = 500
#: Layouts in layouts that are gone through.
_LEVELS = 200


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """A field whose values can be plotted or counted.

    Attributes
    ----------
    path
        Names of fields from the row down; none for the rows themselves.
    kind
        Type of its values, within lists and options.
    lists
        How many lists are around one.
    node, is_own
        The array that it is a field of, and whether that is the one shown.
    """

    path: tuple[str, ...]
    kind: NestedType
    lists: int
    node: ArrayNode
    is_own: bool = True

    @property
    def title(self) -> str:
        """What it is called; a field of another array has the name of that before its own."""
        name = self.node.name or "values"
        return ".".join(self.path if self.path and self.is_own else (name, *self.path))

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, or may be."""
        return self.kind.kind in (TypeKind.NUMBER, TypeKind.UNION)


def choices_of(node: ArrayNode, is_own: bool = True) -> list[FieldChoice]:
    """Return the fields of an array that are not records themselves, in order."""
    found: list[FieldChoice] = []
    kind = row_type(node, node.shape) if node.nested is None else node.nested.type
    pending: list[tuple[tuple[str, ...], NestedType, int]] = [((), kind, 0)]
    while pending and len(found) < CHOICES_MOST:
        path, each, above = pending.pop()
        inner, lists = stripped(each)
        if inner.kind is TypeKind.RECORD and inner.fields and len(path) < _LEVELS:
            below = zip(inner.fields, inner.items, strict=True)
            pending.extend(reversed([((*path, name), item, above + lists) for name, item in below]))
        else:
            found.append(FieldChoice(path, inner, above + lists, node, is_own))
    return found


def neighbours_of(hierarchy: Hierarchy | None, node: ArrayNode) -> list[FieldChoice]:
    """Return the numbers of the arrays beside one that have as many rows: they may be of the same things."""
    above = None if hierarchy is None else _group_of(hierarchy, node)
    found: list[FieldChoice] = []
    for other in () if above is None else above.arrays.values():
        is_sound = other.error is None and other.unreadable is None and other.dtype is not None
        if is_sound and other.path != node.path and other.shape[:1] == node.shape[:1] and other.shape:
            found += [choice for choice in choices_of(other, is_own=False) if choice.is_number]
        if len(found) >= CHOICES_MOST:
            break
    return found[:CHOICES_MOST]


def _group_of(hierarchy: Hierarchy, node: ArrayNode) -> GroupNode | None:
    """Return the group that an array lies in; None where that has the parts of another array."""
    path = node.path.rpartition("/")[0]
    found = hierarchy.find(path)
    return found if isinstance(found, GroupNode) else None


@dataclass(frozen=True, slots=True, eq=False)
class FieldNumbers:
    """What a field holds in rows that were read.

    Attributes
    ----------
    numbers
        All of them; NaN where one is missing. None at all where the values are no numbers.
    rows
        The row of each.
    values
        How many values there are that are not missing, numbers or not.
    missing, unreadable
        Values, or lists and records of them, that are not there, or cannot be read.
    lengths
        Of lists, a line for each level from outside.
    """

    numbers: npt.NDArray[np.float64]
    rows: npt.NDArray[np.int64]
    values: int
    missing: int
    unreadable: int
    lengths: tuple[npt.NDArray[np.int64], ...]


#: Of no rows.
NO_NUMBERS = FieldNumbers(np.zeros(0), np.zeros(0, np.int64), 0, 0, 0, ())


def field_numbers(rows: NestedRows, first: int, path: Sequence[str]) -> FieldNumbers:
    """Return what a field holds in rows, of which the first one has a number."""
    found = _Found(rows)
    places = np.arange(first, first + rows.content.length, dtype=np.int64)
    found.walk(_At(rows.content, places, tuple(path)))
    return found.told()


def joined(parts: Sequence[FieldNumbers]) -> FieldNumbers:
    """Return what a field holds in rows that were read one part after the other."""
    if len(parts) == 1:
        return parts[0]
    levels = range(max(len(part.lengths) for part in parts))
    return FieldNumbers(
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.rows for part in parts]),
        sum(part.values for part in parts),
        sum(part.missing for part in parts),
        sum(part.unreadable for part in parts),
        tuple(
            np.concatenate([part.lengths[level] for part in parts if level < len(part.lengths)])
            for level in levels
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _At:
    """A layout on the way down.

    Attributes
    ----------
    places
        The row of each of its entries.
    fields
        Names that are still to be gone down.
    path
        As that of `NestedFault`.
    level
        How many lists are around it.
    """

    content: Any = field(repr=False)
    places: npt.NDArray[np.int64]
    fields: tuple[str, ...]
    path: str = ""
    level: int = 0

    def below(self, name: str) -> str:
        """Return the path of a field or possibility."""
        return f"{self.path}/{name}" if self.path else name


class _Found:
    """What is found on the way down the layouts."""

    def __init__(self, rows: NestedRows) -> None:
        self._of = rows
        self._numbers: list[npt.NDArray[np.float64]] = []
        self._rows: list[npt.NDArray[np.int64]] = []
        self._lengths: list[list[npt.NDArray[np.int64]]] = []
        self._values = self._missing = self._unreadable = 0

    def told(self) -> FieldNumbers:
        """Return all of it."""
        return FieldNumbers(
            np.concatenate([np.zeros(0), *self._numbers]),
            np.concatenate([np.zeros(0, np.int64), *self._rows]),
            self._values,
            self._missing,
            self._unreadable,
            tuple(np.concatenate(lengths) for lengths in self._lengths),
        )

    def walk(self, at: _At) -> None:
        """Go down a layout."""
        content = at.content
        if is_faulty(self._of, at.path):
            self._unreadable += len(at.places)
        elif content.is_union:
            self._union(at)
        elif content.is_option:
            self._option(at)
        elif content.is_indexed:
            self.walk(replace(at, content=content.project()))
        elif content.is_numpy and content.data.ndim > 1:
            self.walk(replace(at, content=content.to_RegularArray()))
        elif content.is_record:
            self._record(at)
        elif content.is_list and content.parameter("__array__") in ("string", "bytestring"):
            self._values += len(at.places)
        elif content.is_list:
            self._list(at)
        elif content.is_numpy and not at.fields:
            self._add(content.data[: len(at.places)], at.places)

    def _union(self, at: _At) -> None:
        tags = np.asarray(at.content.tags.data)[: len(at.places)]
        for tag in range(len(at.content.contents)):
            inner = at.content.project(tag)
            self.walk(replace(at, content=inner, places=at.places[tags == tag], path=at.below(f"#{tag}")))

    def _option(self, at: _At) -> None:
        is_there = np.asarray(at.content.mask_as_bool(valid_when=True))[: len(at.places)].astype(bool)
        inner, count = at.content.project(), int(np.count_nonzero(is_there))
        self._missing += len(at.places) - count
        if not inner.is_numpy or inner.data.ndim > 1 or at.fields:
            self.walk(replace(at, content=inner, places=at.places[is_there]))
            return
        # A number that is missing keeps its place: another field has one there.
        numbers = np.full(len(at.places), np.nan)
        numbers[is_there] = as_floats(inner.data[:count])
        self._add(numbers, at.places, count)

    def _record(self, at: _At) -> None:
        if at.fields and at.fields[0] in at.content.fields:
            name, *left = at.fields
            inner = at.content.content(name)
            self.walk(replace(at, content=inner, fields=tuple(left), path=at.below(name)))

    def _list(self, at: _At) -> None:
        lists = at.content.to_ListOffsetArray64(True)
        offsets = np.asarray(lists.offsets.data)[: len(at.places) + 1]
        lengths = np.diff(offsets).astype(np.int64)
        while len(self._lengths) <= at.level:
            self._lengths.append([])
        self._lengths[at.level].append(lengths)
        inside = lists.content[: int(offsets[-1])]
        self.walk(replace(at, content=inside, places=np.repeat(at.places, lengths), level=at.level + 1))

    def _add(self, values: npt.NDArray[Any], places: npt.NDArray[np.int64], count: int | None = None) -> None:
        self._numbers.append(as_floats(values))
        self._rows.append(places)
        self._values += len(places) if count is None else count


def as_floats(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return numbers as a plot has them: seconds for times, the size of complex ones."""
    shown = Interpretation(ArrayNode(path="/", type=DataType.of(values.dtype)), decoded=False)
    return shown.numbers(values).astype(np.float64, copy=False)


def dates_of(kind: NestedType) -> DateScale | None:
    """Return how the numbers of a field of times become dates."""
    return (
        None
        if kind.dtype is None
        else Interpretation(ArrayNode(path="/", type=DataType.of(kind.dtype)), False).dates
    )


def paired(across: FieldNumbers, upwards: FieldNumbers) -> tuple[FieldNumbers, FieldNumbers]:
    """Return the numbers of two fields so that each has one of the other beside it.

    A field with one number in each row has it beside all numbers of the other one in that row.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: both have lists, of lengths that differ.
    """
    if np.array_equal(across.rows, upwards.rows):
        return across, upwards
    if _is_one_a_row(across):
        return _spread(across, upwards), upwards
    if _is_one_a_row(upwards):
        return across, _spread(upwards, across)
    raise RefbrowserError(
        ErrorKind.USAGE,
        "the lists of both fields have different lengths, so their values do not belong together",
        advice="choose a field with one value in each row, or two of the same list",
    )


def spread_in_rows(found: FieldNumbers) -> npt.NDArray[np.float64]:
    """Return a place for each number: those of a row lie between it and the next one, in order."""
    if not len(found.rows):
        return np.zeros(0)
    order = np.argsort(found.rows, kind="stable")
    _rows, starts, inverse, counts = np.unique(
        found.rows[order], return_index=True, return_inverse=True, return_counts=True
    )
    places = np.empty(len(order))
    places[order] = (np.arange(len(order)) - starts[inverse]) / counts[inverse]
    return found.rows + places


def _is_one_a_row(field: FieldNumbers) -> bool:
    return bool(np.all(np.diff(field.rows) > 0))


def _spread(single: FieldNumbers, other: FieldNumbers) -> FieldNumbers:
    """Return the number that a field has in each row of another one's numbers; NaN where it has none."""
    if not len(single.rows):
        return replace(single, numbers=np.full(len(other.rows), np.nan), rows=other.rows)
    at = np.minimum(np.searchsorted(single.rows, other.rows), len(single.rows) - 1)
    numbers = np.where(single.rows[at] == other.rows, single.numbers[at], np.nan)
    return replace(single, numbers=numbers, rows=other.rows)
