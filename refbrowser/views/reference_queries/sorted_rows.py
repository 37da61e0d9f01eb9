"""Rows of the Version 0 view in the order of a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.references.content.chunk_codes import pack, split_key
from refbrowser.references.content.table import ODD
from refbrowser.views.reference_queries.found_rows import FoundRows, ListOfRows
from refbrowser.views.reference_queries.rule_columns import columns_of, keys_of
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document

Ints = npt.NDArray[np.int64]

#: Rows that are sorted at most: each takes some hundred bytes meanwhile.
MOST_SORTED = 2_000_000
_BLOCK = 65_536


@dataclass(frozen=True, slots=True)
class _Some:
    """Some of the rows, all of one origin: where they are among all, what they refer to, their keys."""

    at: Ints
    origin: int
    columns: ReferenceColumns
    read_keys: Callable[[], Sequence[str | None]]


@dataclass(frozen=True)
class RowValues:
    """What rows tell, in columns, each made when it is first asked for.

    Attributes
    ----------
    rows
        Rows of the Version 0 view, int64.
    check
        Called often; raises to end the work.
    """

    document: Document
    rows: Ints
    check: Callable[[], None] = lambda: None

    @cached_property
    def _parts(self) -> list[_Some]:
        expansion = self.document.expansion
        ends = np.cumsum([expansion.refs_rows, *expansion.gen_rows])
        origins = ends.searchsorted(self.rows, side="right") - 1
        parts = []
        for origin in np.unique(origins).tolist():
            at = np.flatnonzero(origins == origin)
            for some in np.array_split(at, -(-len(at) // _BLOCK)):
                self.check()
                parts.append(self._of_refs(some) if origin < 0 else self._of_rule(some, origin))
        return parts

    @cached_property
    def _slots(self) -> Ints:
        refs = self.document.refs
        return refs.slot_column(0, len(refs))

    def _of_refs(self, at: Ints) -> _Some:
        slots = self._slots[self.rows[at]]
        keys_of = self.document.refs.keys_of
        return _Some(at, -1, self.document.view.columns(slots), lambda: keys_of(slots.tolist()))

    def _of_rule(self, at: Ints, origin: int) -> _Some:
        rule = self.document.generated[origin]
        rows = self.rows[at] - self.document.expansion.row_of(origin, 0)
        return _Some(at, origin, columns_of(rule, rows), lambda: keys_of(rule, rows))

    def _column(self, of: Callable[[_Some], npt.ArrayLike]) -> Ints:
        found = np.zeros(len(self.rows), np.int64)
        for part in self._parts:
            found[part.at] = of(part)
        return found

    @property
    def kinds(self) -> Ints:
        """The `ReferenceKind` of each."""
        return self._column(lambda part: part.columns.kind)

    @property
    def offsets(self) -> Ints:
        """Where the range begins; -1 where there is none."""
        return self._column(
            lambda part: np.where(part.columns.kind == ReferenceKind.RANGE, part.columns.offset, -1)
        )

    @property
    def lengths(self) -> Ints:
        """Bytes of the range or value; -1 where they are not known."""
        return self._column(lambda part: part.columns.length)

    @property
    def origins(self) -> Ints:
        """The number of the gen rule; -1: ``refs``."""
        return self._column(lambda part: part.origin)

    @property
    def urls(self) -> Ints:
        """The rank of the URL among all of them."""
        texts: list[str] = [""] * len(self.rows)
        for part in self._parts:
            for at, number in zip(part.at.tolist(), part.columns.url.tolist(), strict=True):
                texts[at] = part.columns.urls[number] if number >= 0 else ""
        return _ranks(texts)

    @property
    def keys(self) -> Ints:
        """The rank of the key: coordinates as numbers, all else as text."""
        groups: list[str] = [""] * len(self.rows)
        codes = np.zeros(len(self.rows), np.uint64)
        for part in self._parts:
            self.check()
            plain = self._plain_rows(part)
            table = self.document.refs.table
            if plain is None:
                pairs = [_parts_of(key) for key in part.read_keys()]
                found = [group for group, _code in pairs]
                codes[part.at] = [code for _group, code in pairs]
            else:
                found = [table.groups[number][0] for number in table.group.of(plain).tolist()]
                codes[part.at] = table.code[plain]
            for at, group in zip(part.at.tolist(), found, strict=True):
                groups[at] = group
        ranks = _ranks(groups)
        order = np.lexsort((codes, ranks))
        is_new = np.ones(len(order), bool)
        is_new[1:] = (np.diff(ranks[order]) != 0) | (codes[order][1:] != codes[order][:-1])
        found_ranks = np.zeros(len(order), np.int64)
        found_ranks[order] = np.cumsum(is_new)
        return found_ranks

    def _plain_rows(self, part: _Some) -> Ints | None:
        """Return the rows of the table that these are; None where one of them is no chunk, or was edited."""
        refs = self.document.refs
        if part.origin >= 0:
            return None
        slots = self._slots[self.rows[part.at]]
        if (slots < 0).any() or np.isin(slots, list(refs.replaced)).any():
            return None
        return None if (refs.table.group.of(slots) == ODD).any() else slots


def _parts_of(key: str | None) -> tuple[str, int]:
    parts = None if key is None else split_key(key)
    code = None if parts is None else pack(parts[1])
    if parts is None or code is None:
        return key or "", 0
    return parts[0][0], code


def _ranks(values: Sequence[str]) -> Ints:
    rank = {value: at for at, value in enumerate(sorted(set(values)))}
    return np.array([rank[value] for value in values], np.int64)


def sorted_rows(
    document: Document,
    found: FoundRows,
    column: Callable[[RowValues], Ints],
    *,
    is_descending: bool,
    check: Callable[[], None] = lambda: None,
) -> FoundRows:
    """Return rows in the order of a column; those that are alike in it stay in theirs.

    Parameters
    ----------
    column
        Returns the values that they are sorted by.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: there are too many.
    """
    if found.count > MOST_SORTED:
        message = f"{count_text(found.count)} rows are too many to be sorted"
        advice = f"Filter them first: up to {count_text(MOST_SORTED)} are sorted."
        raise RefbrowserError(ErrorKind.BUDGET, message, advice=advice)
    if not found.count:
        return found
    rows = np.array(found.rows(0, found.count), np.int64)
    values = column(RowValues(document, rows, check))
    order = np.argsort(-values if is_descending else values, kind="stable")
    return FoundRows((ListOfRows(rows[order]),), found.unsearched)
