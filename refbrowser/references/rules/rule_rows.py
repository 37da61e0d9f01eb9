"""The rows of a gen rule: its four fields read and compiled, one row of them by closures, many as columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, Reference, ReferenceColumns, ReferenceKind, WholeFile
from refbrowser.references.rules import text_columns
from refbrowser.references.rules.dimensions import INT_ROOM, Int64, RowSpace
from refbrowser.references.rules.integer_expressions import (
    Affine,
    IntegerExpression,
    as_column,
    bounds,
    evaluate,
    fits_int64,
)
from refbrowser.references.rules.lowering import IntegerFragment, Text, lower_template, most_size
from refbrowser.references.rules.text_columns import Digits, TextColumn
from refbrowser.references.templates.evaluate import Compiled, Scope, compile_template
from refbrowser.references.templates.syntax import Template
from refbrowser.references.templates.templates import TemplateSet

FIELDS = ("key", "url", "offset", "length")

_INTEGER = re.compile(r"[ \t\n\r]*([-+]?[0-9]+)[ \t\n\r]*")


@dataclass(frozen=True, slots=True, eq=False)
class RuleField:
    """One jinja-str of a rule.

    Attributes
    ----------
    text
        As it stands in the document, or None where it is absent or not text.
    compiled
        Its closures, or None where it cannot be parsed.
    faults
        What is wrong whatever the row is.
    """

    name: str
    text: str | None
    template: Template | None
    compiled: Compiled | None
    faults: tuple[RefbrowserError, ...]

    def evaluate(self, values: Iterable[Any]) -> str | int:
        """Return the text, or for offset and length the integer, at the values of the dimensions.

        Raises
        ------
        RefbrowserError
            The field is faulty at these values.
        """
        if self.compiled is None:
            raise self.faults[0]
        compiled = self.compiled
        text = compiled.run([*values, LIMITS.template_steps_entry - compiled.steps])
        if self.name in ("key", "url"):
            return checked_name(self.name, text)
        return parse_integer(self.name, text)


def read_field(name: str, fields: Mapping[str, Any], scope: Scope) -> RuleField | None:
    """Read one field of a rule; None where it is absent and need not be there."""
    if name not in fields:
        if name in ("key", "url"):
            return RuleField(name, None, None, None, (_schema(f"the rule has no {name}"),))
        other = "length" if name == "offset" else "offset"
        if other in fields:
            fault = _schema(f"the rule has {other} without {name}, they are required together")
            return RuleField(name, None, None, None, (fault,))
        return None
    text = fields[name]
    if not isinstance(text, str):
        fault = _schema(f"{name} is not text: {quoted(text)}", 'write it as text: "1000"')
        return RuleField(name, None, None, None, (fault,))
    try:
        template = Template.parse(text)
        compiled = compile_template(template, scope)
    except RefbrowserError as error:
        return RuleField(name, text, None, None, (error,))
    return RuleField(name, text, template, compiled, compiled.errors)


def rule_scope(names: Iterable[str], templates: TemplateSet) -> Scope:
    """Return what names mean in a rule: its dimensions, and the document's templates.

    A name that is both is faulty where it is used.
    """
    slots = {name: slot for slot, name in enumerate(names) if name not in templates.texts}
    faults = {
        name: RefbrowserError(ErrorKind.TEMPLATE, "it is the name of a dimension too")
        for name in names
        if name in templates.texts
    }
    return Scope(slots, templates.scope.templates, {**templates.scope.faults, **faults})


def parse_integer(name: str, text: str) -> int:
    """Return the offset or length that a rendered text stands for: an integer not below 0.

    Raises
    ------
    RefbrowserError
        E_TEMPLATE where it is not, E_BUDGET where it has too many digits.
    """
    match = _INTEGER.fullmatch(text)
    if match is None:
        advice = "use // for whole division, or the filter int" if "." in text else ""
        raise RefbrowserError(
            ErrorKind.TEMPLATE, f"{name} does not render to an integer: {quoted(text)}", Place(), advice
        )
    digits = match[1]
    if len(digits) > LIMITS.json_digits:
        message = f"{name} has more than {LIMITS.json_digits} digits"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place())
    value = int(digits)
    if value < 0:
        raise below_zero(name, value)
    return value


def below_zero(name: str, value: int) -> RefbrowserError:
    """Return the error of an offset or length below 0."""
    return RefbrowserError(ErrorKind.TEMPLATE, f"{name} is below 0: {value}")


def checked_name(name: str, text: str) -> str:
    """Return a key or URL, or raise E_BUDGET where it is too long."""
    limit = LIMITS.key_length if name == "key" else LIMITS.url_length
    if len(text) > limit:
        message = f"the {name} is longer than {limit} characters"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place())
    return text


def placed(error: RefbrowserError, rule: int, name: str, row: int | None) -> RefbrowserError:
    """Return the error with rule, field, row and pointer."""
    pointer = f"/gen/{rule}/{name}"
    place = replace(error.place, rule=rule, field=name, row=row, pointer=pointer)
    return RefbrowserError(error.kind, error.message, place, error.advice)


def _schema(message: str, advice: str = "") -> RefbrowserError:
    return RefbrowserError(ErrorKind.SCHEMA, message, Place(), advice)


Texts = TextColumn | list[str | None]
Integers = Int64 | list[int | None]
Faults = Mapping[int, RefbrowserError]


@dataclass(frozen=True, slots=True)
class GenRow:
    """One generated entry: its key where that renders, and a reference or the error of the entry."""

    row: int
    key: str | None
    reference: Reference | None
    error: RefbrowserError | None


@dataclass(frozen=True, slots=True)
class FieldColumn:
    """One field of a window: a column, and the error of each position where it is faulty."""

    values: Texts | Integers
    faults: Faults


class GenRows:
    """A window of generated entries as columns; position k is row `start` + k.

    Lists of Python values are made when they are asked for; `key_column` and the like are the columns as they
    were computed (a `TextColumn` or int64 where the rule is lowered).
    """

    def __init__(self, start: int, size: int, column: Callable[[str], FieldColumn | None]) -> None:
        self.start = start
        self._size = size
        self._make = column
        self._columns: dict[str, FieldColumn | None] = {}

    def __len__(self) -> int:
        return self._size

    def column(self, name: str) -> FieldColumn | None:
        """Return a field as it was computed; None for the offset and length of whole files."""
        if name not in self._columns:
            self._columns[name] = self._make(name)
        return self._columns[name]

    @cached_property
    def keys(self) -> list[str | None]:
        """Key of each row, None where it does not render."""
        return _texts(self.column("key"), self._size)

    @cached_property
    def urls(self) -> list[str | None]:
        """URL of each row, None where it does not render."""
        return _texts(self.column("url"), self._size)

    @cached_property
    def offsets(self) -> list[int | None] | None:
        """Offset of each row, None where it is faulty; None as a whole for rules of whole files."""
        return _integers(self.column("offset"))

    @cached_property
    def lengths(self) -> list[int | None] | None:
        """Length of each row, None where it is faulty; None as a whole for rules of whole files."""
        return _integers(self.column("length"))

    @cached_property
    def faults(self) -> dict[int, RefbrowserError]:
        """Position in the window to the first error of that row."""
        found: dict[int, RefbrowserError] = {}
        for name in ("length", "offset", "url", "key"):
            column = self.column(name)
            if column is not None:
                found.update(column.faults)
        return found

    def reference(self, position: int) -> Reference:
        """Return the reference at a position of the window.

        Raises
        ------
        RefbrowserError
            The entry is faulty.
        """
        if position in self.faults:
            raise self.faults[position]
        url = self.urls[position]
        assert url is not None
        if self.offsets is None or self.lengths is None:
            return WholeFile(url)
        offset, length = self.offsets[position], self.lengths[position]
        assert offset is not None
        assert length is not None
        return ByteRange(url, offset, length)


def _texts(column: FieldColumn | None, size: int) -> list[str | None]:
    if column is None:
        return [None] * size
    values = column.values
    return list(values.texts) if isinstance(values, TextColumn) else values  # type: ignore[return-value]


def _integers(column: FieldColumn | None) -> list[int | None] | None:
    if column is None:
        return None
    values = column.values
    found: list[int | None] = values if isinstance(values, list) else values.tolist()  # type: ignore
    for position in column.faults:
        found[position] = None
    return found


def print_text(fragments: Text, values: Sequence[int]) -> str:
    """Return a lowered text at the values of the dimensions."""
    return "".join(
        fragment if isinstance(fragment, str) else _printed(fragment, evaluate(fragment.value, values))
        for fragment in fragments
    )


def _printed(fragment: IntegerFragment, value: int) -> str:
    return f"{value:0{fragment.width}d}" if fragment.width else str(value)


def slots_of(fragments: Text) -> frozenset[int]:
    """Return the slots of the dimensions that a lowered text depends on."""
    return frozenset().union(
        *(fragment.value.uses for fragment in fragments if isinstance(fragment, IntegerFragment))
    )


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
        """Fields that are lowered to fragments of text, by name."""
        found = {}
        for name, field in self.fields.items():
            fragments = self._lowered(field)
            if fragments is not None:
                found[name] = fragments
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
        fragments = lower_template(field.template, field.compiled, self.scope, self.space)
        limit = LIMITS.key_length if field.name == "key" else LIMITS.url_length
        if fragments is None or most_size(fragments) > limit or not self._agrees(field, fragments):
            return None
        return fragments

    def _agrees(self, field: RuleField, fragments: Text) -> bool:
        """Whether the closures give the same text on a sample of rows."""
        assert field.compiled is not None
        count = self.space.count
        for row in {0, count // 3, count // 2, count - 1}:
            values = self.space.values(row)
            try:
                text = field.compiled.render(tuple(values))
            except RefbrowserError:
                return False
            if text != print_text(fragments, values):
                return False
        return True

    @cached_property
    def by_numpy(self) -> frozenset[str]:
        """Fields that are computed as numpy columns: lowered, and within int64 at every row."""
        if self.is_wide:
            return frozenset()
        found = {name for name, value in self.integers.items() if fits_int64(value, self.space)}
        for name in ("key", "url"):
            fragments = self.texts.get(name)
            if fragments is not None and self._printable(fragments):
                found.add(name)
        return frozenset(found)

    def _printable(self, fragments: Text) -> bool:
        if any(isinstance(fragment, str) and not text_columns.separable(fragment) for fragment in fragments):
            return False
        values = [fragment.value for fragment in fragments if isinstance(fragment, IntegerFragment)]
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
        fragments = [fragment for fragment in self.texts[name] if isinstance(fragment, IntegerFragment)]
        return [as_column(evaluate(fragment.value, values), size) for fragment in fragments]

    def print_numbers(self, name: str, numbers: Sequence[Int64], size: int) -> TextColumn:
        """Return the texts of a key or URL with these integers."""
        waiting = iter(numbers)
        parts = [
            fragment if isinstance(fragment, str) else Digits(next(waiting), fragment.width)
            for fragment in self.texts[name]
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


def _as_integer(name: str, fragments: Text | None) -> IntegerExpression | None:
    """Return the integer that a lowered offset or length renders to, whatever white space is around it."""
    if fragments is None:
        return None
    numbers = [fragment for fragment in fragments if isinstance(fragment, IntegerFragment)]
    texts = [fragment for fragment in fragments if isinstance(fragment, str)]
    if len(numbers) == 1 and not "".join(texts).strip(" \t\n\r"):
        return numbers[0].value
    if numbers:
        return None
    try:
        return Affine(parse_integer(name, "".join(texts)))
    except RefbrowserError:
        return None


Ids = npt.NDArray[np.int32]

_END = 2**63
#: Distinct URLs are found by a table where they can be few, else by sorting.
_TABLE_ROWS = 1 << 16
_TABLE_SHARE = 4
#: URLs that are printed together: their columns of characters take several times what the texts do.
_PRINTED = 1 << 16


def references(columns: RuleColumns, rows: Int64) -> ReferenceColumns:
    """Return the references of rows (int64, each within the rule), in that order.

    An entry that is faulty, or whose range ends beyond 2**63, is `FAULTY` with its error.
    """
    size = len(rows)
    positions = columns.space.index_columns(rows)
    faults: dict[int, RefbrowserError] = {}
    _key_faults(columns, positions, size, faults)
    urls, ids = _urls(columns, positions, size, faults)
    kind = np.full(size, ReferenceKind.WHOLE, dtype=np.uint8)
    offset = np.zeros(size, dtype=np.int64)
    length = np.full(size, -1, dtype=np.int64)
    if "offset" in columns.fields:
        kind[:] = ReferenceKind.RANGE
        offset = _integer_column(columns.column("offset", positions, size), "offset", faults)
        length = _integer_column(columns.column("length", positions, size), "length", faults)
        # Both are below 2**63: their sum as unsigned integers does not wrap.
        ends = offset.astype(np.uint64) + length.astype(np.uint64)
        for row in np.flatnonzero(ends > np.uint64(_END)).tolist():
            faults.setdefault(row, _beyond("length"))
    placed_faults = {}
    for row, error in faults.items():
        kind[row] = ReferenceKind.FAULTY
        ids[row] = -1
        name = error.place.field or "url"
        placed_faults[row] = placed(error, columns.index, name, int(rows[row]))
    return ReferenceColumns(kind, ids, offset, length, urls, {}, placed_faults)


def _key_faults(
    columns: RuleColumns, positions: Sequence[Int64], size: int, faults: dict[int, RefbrowserError]
) -> None:
    if "key" not in columns.texts:
        _keep(columns.column("key", positions, size), "key", faults)


def _keep(column: FieldColumn, name: str, faults: dict[int, RefbrowserError]) -> None:
    for row, error in column.faults.items():
        faults.setdefault(row, placed(error, 0, name, None))


def _urls(
    columns: RuleColumns, positions: Sequence[Int64], size: int, faults: dict[int, RefbrowserError]
) -> tuple[tuple[str, ...], Ids]:
    """Return the distinct URLs, and which of them each row has."""
    if "url" in columns.by_numpy:
        numbers = columns.numbers("url", positions, size)
        first, ids = _distinct(*_number_codes(columns, numbers, size))
        texts: list[str] = []
        for start in range(0, len(first), _PRINTED):
            rows = first[start : start + _PRINTED]
            texts += columns.print_numbers("url", [column[rows] for column in numbers], len(rows)).texts
        return _without_repeats(texts, ids)
    slots = sorted(columns.slots("url"))
    ranges = [(positions[slot], 0, columns.space.lengths[slot]) for slot in slots]
    first, ids = _distinct(*_codes(ranges, size))
    column = columns.column("url", [each[first] for each in positions], len(first))
    assert isinstance(column.values, list)
    if column.faults:
        for row in np.flatnonzero(np.isin(ids, list(column.faults))).tolist():
            faults.setdefault(row, placed(column.faults[int(ids[row])], 0, "url", None))
    return _without_repeats([str(text or "") for text in column.values], ids)


def _number_codes(columns: RuleColumns, numbers: Sequence[Int64], size: int) -> tuple[Int64, int]:
    fragments = [fragment for fragment in columns.texts["url"] if isinstance(fragment, IntegerFragment)]
    ranges = []
    for fragment, column in zip(fragments, numbers, strict=True):
        low, high = bounds(fragment.value, columns.space) or (int(column.min()), int(column.max()))
        ranges.append((column, low, high - low + 1))
    return _codes(ranges, size)


def _codes(ranges: Sequence[tuple[Int64, int, int]], size: int) -> tuple[Int64, int]:
    """Return one number for each combination of columns, and how many there can be."""
    codes = np.zeros(size, dtype=np.int64)
    total = 1
    for column, low, length in ranges:
        shifted = column - low
        if total * length > INT_ROOM:
            # Combinations that are there, counted, take the place of those that can be.
            codes, total = _counted(codes)
            shifted, length = _counted(shifted)
        codes = codes * length + shifted
        total *= length
    return codes, total


def _counted(codes: Int64) -> tuple[Int64, int]:
    distinct, numbers = np.unique(codes, return_inverse=True)
    return numbers.astype(np.int64), max(1, len(distinct))


def _distinct(codes: Int64, total: int) -> tuple[Int64, Ids]:
    """Return the first row of each code, and for each row which code it has."""
    if total > _TABLE_SHARE * len(codes) + _TABLE_ROWS:
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        return first.astype(np.int64), inverse.astype(np.int32)
    seen = np.zeros(total, dtype=bool)
    seen[codes] = True
    number = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    ids: Ids = number[codes]
    first = np.zeros(int(number[-1]) + 1 if total else 0, dtype=np.int64)
    first[ids] = np.arange(len(codes))
    return first, ids


def _without_repeats(texts: list[str], ids: Ids) -> tuple[tuple[str, ...], Ids]:
    if len(set(texts)) == len(texts):
        return tuple(texts), ids
    distinct: dict[str, int] = {}
    places = np.array([distinct.setdefault(text, len(distinct)) for text in texts], dtype=np.int32)
    return tuple(distinct), places[ids]


def _integer_column(column: FieldColumn, name: str, faults: dict[int, RefbrowserError]) -> Int64:
    _keep(column, name, faults)
    values = column.values
    if isinstance(values, np.ndarray):
        return np.maximum(values, 0) if column.faults else values
    assert isinstance(values, list)
    found = np.zeros(len(values), dtype=np.int64)
    for row, value in enumerate(values):
        if isinstance(value, int) and value < _END:
            found[row] = value
        elif value is not None:
            faults.setdefault(row, _beyond(name))
    return found


def _beyond(name: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.RANGE, "the range ends beyond 2**63", Place(field=name))
