"""What rows refer to, as columns, whatever makes them: a gen rule, or the layout of an array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.text_columns import TextColumn

if TYPE_CHECKING:
    from refbrowser.references.rules.layouts import Generated
    from refbrowser.references.rules.rule_rows import GenRows

Ints = npt.NDArray[np.int64]


def columns_of(rule: Generated, rows: Ints) -> ReferenceColumns:
    """Return the references of rows, in that order; a faulty one is `FAULTY`."""
    if isinstance(rule, GenRule):
        return rule.references(rows)
    numbers: dict[str, int] = {}
    url: list[int] = []
    offset: list[int | None] = []
    length: list[int | None] = []
    for some in _windows(rule, rows):
        url += (-1 if text is None else numbers.setdefault(text, len(numbers)) for text in some.urls)
        offset += some.offsets or [None] * len(some)
        length += some.lengths or [None] * len(some)
    kind = [ReferenceKind.WHOLE if each is None else ReferenceKind.RANGE for each in offset]
    return ReferenceColumns(
        np.array(kind, np.uint8),
        np.array(url, np.int32),
        _integers(offset),
        _integers(length),
        tuple(numbers),
    )


def keys_of(rule: Generated, rows: Ints) -> Sequence[str | None]:
    """Return the keys of rows, in that order; None for one that cannot be made."""
    if isinstance(rule, GenRule) and rule.columns is not None:
        values = rule.columns.column("key", rule.columns.space.index_columns(rows), len(rows)).values
        return values.texts if isinstance(values, TextColumn) else [_text(value) for value in values]
    return [key for some in _windows(rule, rows) for key in some.keys]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _windows(rule: Generated, rows: Ints) -> Iterator[GenRows]:
    """Yield rows as windows of neighbours."""
    cuts = np.flatnonzero(np.diff(rows) != 1) + 1
    for some in np.split(rows, cuts):
        if len(some):
            yield rule.rows(int(some[0]), int(some[-1]) + 1)


def _integers(column: list[int | None]) -> Ints:
    return np.array([-1 if each is None else each for each in column], np.int64)
