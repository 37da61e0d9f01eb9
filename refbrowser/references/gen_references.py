"""References of chosen rows of a rule as columns, each distinct URL made once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.references.dimensions import Int64
from refbrowser.references.gen_columns import RuleColumns
from refbrowser.references.gen_fields import placed
from refbrowser.references.gen_rows import FieldColumn
from refbrowser.references.text_columns import TextColumn

_END = 2**63


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
) -> tuple[tuple[str, ...], np.ndarray[tuple[int], np.dtype[np.int32]]]:
    """Return the distinct URLs, and which of them each row has."""
    codes = np.zeros(size, dtype=np.int64)
    for slot in sorted(columns.slots("url")):
        # The code of several dimensions may pass int64 only where there are more rows than that.
        codes = codes * columns.space.lengths[slot] + positions[slot]
    _, first, ids = np.unique(codes, return_index=True, return_inverse=True)
    column = columns.column("url", [each[first] for each in positions], len(first))
    texts = column.values.texts if isinstance(column.values, TextColumn) else column.values
    if column.faults:
        bad = {int(code): error for code, error in column.faults.items()}
        for row in np.flatnonzero(np.isin(ids, list(bad))).tolist():
            faults.setdefault(row, placed(bad[int(ids[row])], 0, "url", None))
    return tuple(str(text or "") for text in texts), ids.astype(np.int32)


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
