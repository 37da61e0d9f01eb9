"""References of chosen rows of a rule as columns, each distinct URL made once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.references.rules.dimensions import INT_ROOM, Int64
from refbrowser.references.rules.gen_columns import RuleColumns
from refbrowser.references.rules.gen_fields import placed
from refbrowser.references.rules.gen_rows import FieldColumn
from refbrowser.references.rules.integer_expressions import bounds
from refbrowser.references.rules.lowering import IntegerPiece

Ids = npt.NDArray[np.int32]

_END = 2**63
#: Distinct URLs are found by a table where they can be few, else by sorting.
_TABLE_ROWS = 1 << 16
_TABLE_SHARE = 4
#: URLs that are printed together: their columns of characters take several times what the texts do.
_PRINTED = 1 << 16


def no_references() -> ReferenceColumns:
    """Return columns without rows."""
    empty = np.zeros(0, dtype=np.int64)
    return ReferenceColumns(empty.astype(np.uint8), empty.astype(np.int32), empty, empty, ())


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
        offset = _integers(columns.column("offset", positions, size), "offset", faults)
        length = _integers(columns.column("length", positions, size), "length", faults)
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
    pieces = [piece for piece in columns.texts["url"] if isinstance(piece, IntegerPiece)]
    ranges = []
    for piece, column in zip(pieces, numbers, strict=True):
        low, high = bounds(piece.value, columns.space) or (int(column.min()), int(column.max()))
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


def _integers(column: FieldColumn, name: str, faults: dict[int, RefbrowserError]) -> Int64:
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
