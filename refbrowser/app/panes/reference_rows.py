"""The rows of the references table: the whole Version 0 view, those that differ, the first that were read."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from refbrowser.app.widgets.table_models import Column, RowStyle
from refbrowser.formats.registry import title_of
from refbrowser.views.words import CELL_LIMIT, count_text

if TYPE_CHECKING:
    from refbrowser.app.controller.reading import FirstRows
    from refbrowser.references.document.document import ReferenceDocument
    from refbrowser.references.document.expansion import Page
    from refbrowser.views.changed_rows import ChangedRows


@dataclass(frozen=True, slots=True)
class SelectedRows:
    """The selected rows by where they come from.

    Attributes
    ----------
    entries
        Positions in `refs` as first ones and ends that do not belong.
    rules
        Numbers of the gen rules that give the others.
    generated
        How many rows those are.
    """

    entries: tuple[tuple[int, int], ...] = ()
    rules: tuple[int, ...] = ()
    generated: int = 0

    @property
    def count(self) -> int:
        """Number of entries of refs."""
        return sum(stop - start for start, stop in self.entries)


def split_rows(runs: tuple[tuple[int, int], ...], refs_rows: int, gen_rows: list[int]) -> SelectedRows:
    """Return rows of the Version 0 view, given as runs, by where they come from."""
    entries = tuple((start, min(stop, refs_rows)) for start, stop in runs if start < refs_rows)
    generated, rules, first = 0, [], refs_rows
    for number, rows in enumerate(gen_rows):
        own = sum(max(0, min(stop, first + rows) - max(start, first)) for start, stop in runs)
        if own:
            rules.append(number)
            generated += own
        first += rows
    return SelectedRows(entries, tuple(rules), generated)


COLUMNS = (
    Column("Row", 48, right=True),
    Column("Key", 148, 2, elide=Qt.TextElideMode.ElideMiddle),
    Column("Kind", 58, mono=False),
    Column("URL or text", 130, 3, elide=Qt.TextElideMode.ElideMiddle),
    Column("Offset", 84, right=True),
    Column("Length", 72, right=True),
    Column("From", 56, mono=False),
)
#: Numbers of the columns.
_ROW, KEY, _OFFSET, _LENGTH = 0, 1, 4, 5
#: Words for `ReferenceKind`, in its order.
KINDS = ("missing", "inline", "range", "whole", "fault")
_INLINE, _FAULTY = 1, 4
#: One page takes the GUI thread about this long at most, in seconds; the rest of it follows a little later.
BUDGET = 0.004
#: Rows of rules that are not arithmetic are asked for so many at a time.
SLICE = 8
#: Rows that are kept.
ROWS_KEPT = 8_192
PENDING = ["…"] * len(COLUMNS)

Row = tuple[list[str], RowStyle]


class ExpansionRows:
    """Rows of a document's expansion; a row that differs from the saved state is marked.

    Parameters
    ----------
    is_changed
        Tells of a row whether it differs from the saved state; None where nothing does.
    later
        Called when the budget left rows out: the table should ask again soon.
    """

    columns = COLUMNS

    def __init__(
        self,
        document: ReferenceDocument,
        is_changed: Callable[[int], bool] | None,
        later: Callable[[], None],
    ) -> None:
        self.document = document
        self._expansion = document.expansion
        self._is_changed = is_changed
        self._later = later
        self._rows: dict[int, Row] = {}

    def row_count(self) -> int:
        """Return the number of rows."""
        return self._expansion.rows

    def widest(self) -> dict[int, str]:
        """Return the last row's number, and the largest offset and length that the document's `refs` have."""
        table = self.document.refs.table
        offset, length = (int(numbers.max(initial=0)) for numbers in (table.offset, table.length))
        return {_ROW: count_text(max(0, self.row_count() - 1)), _OFFSET: str(offset), _LENGTH: str(length)}

    def row(self, number: int) -> int | None:
        """Return the row of the Version 0 view: the same."""
        return number

    def number_of(self, row: int) -> int | None:
        """Return where a row of the Version 0 view is shown: at its number."""
        return row

    def key(self, row: int) -> str | None:
        """Return the key of a row; None where it could not be made."""
        return self._expansion.item(row)[0]

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows; ``…`` for those that the budget left for later."""
        self._compute(start, stop)
        return [self._rows[row][0] if row in self._rows else PENDING for row in range(start, stop)]

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        """Return the marks of rows."""
        return [self._rows[row][1] if row in self._rows else RowStyle.NONE for row in range(start, stop)]

    def _compute(self, start: int, stop: int) -> None:
        if len(self._rows) > ROWS_KEPT:
            self._rows.clear()
        end = time.perf_counter() + BUDGET
        for first in range(start, stop, SLICE):
            if first in self._rows:
                continue
            if time.perf_counter() > end:
                self._later()
                return
            self._add(self._expansion.items(first, min(first + SLICE, stop)))

    def _add(self, page: Page) -> None:
        for at, kind in enumerate(page.kinds):
            row = page.start + at
            style = RowStyle.FAULT if kind == _FAULTY else RowStyle.NONE
            if self._is_changed is not None and self._is_changed(row):
                style |= RowStyle.CHANGED
            text = page.urls[at] or ""
            if at in page.errors:
                text = page.errors[at].message
            elif kind == _INLINE:
                text = self._inline_text(row)
            offset, length = page.offsets[at], page.lengths[at]
            origin = page.origins[at]
            self._rows[row] = (
                [
                    count_text(row),
                    page.keys[at] or "",
                    KINDS[kind],
                    text,
                    "" if offset is None else str(offset),
                    "" if length is None else str(length),
                    self._origin_text(origin),
                ],
                style,
            )

    def _origin_text(self, origin: int) -> str:
        document = self.document
        if document.derived is not None:
            return title_of(document.derived.format)
        if document.store is not None:
            return "store"
        return "refs" if origin < 0 else f"rule {origin}"

    def _inline_text(self, row: int) -> str:
        refs = self.document.refs
        return refs.value_text(refs.slot(row))[: 4 * CELL_LIMIT].decode("utf-8", "replace")


class FirstRowsModel:
    """Rows of a document that is still being read."""

    columns = COLUMNS

    def __init__(self, rows: FirstRows) -> None:
        self._rows = rows

    def row_count(self) -> int:
        """Return the number of rows that are known."""
        return self._rows.count

    def key(self, row: int) -> str | None:
        """Return the key of a row."""
        return self._rows.key(row)

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows."""
        return self._rows.texts(start, stop)


class ChangedOnlyRows:
    """Rows of an `ExpansionRows` that a `ChangedRows` lists.

    Parameters
    ----------
    later
        Called when the budget left rows out: the table should ask again soon.
    """

    columns = COLUMNS

    def __init__(
        self,
        rows: ExpansionRows,
        changes: ChangedRows,
        saved: ReferenceDocument,
        later: Callable[[], None],
    ) -> None:
        self._inner = rows
        self._saved = saved
        self._later = later
        self.changes = changes
        self.document = rows.document

    def row_count(self) -> int:
        """Return the number of rows."""
        return self.changes.count + len(self.changes.removed)

    def row(self, number: int) -> int | None:
        """Return the row of the Version 0 view; None for a key that is gone."""
        return self.changes.row(number) if number < self.changes.count else None

    def number_of(self, row: int) -> int | None:
        """Return where a row of the Version 0 view is shown; None where it does not differ."""
        number = self.changes.find(row)
        return number if number < self.changes.count and self.changes.row(number) == row else None

    def key(self, number: int) -> str | None:
        """Return the key of a row; None where it could not be made, or is gone."""
        row = self.row(number)
        return None if row is None else self._inner.key(row)

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows; ``…`` for those that the budget left for later."""
        count = self.changes.count
        texts: list[list[str]] = []
        end = time.perf_counter() + BUDGET
        for first, last in self._runs(start, min(stop, count)):
            if time.perf_counter() > end:
                self._later()
                texts += [PENDING] * (min(stop, count) - start - len(texts))
                break
            texts += self._inner.page(first, last)
        gone = self.changes.removed[max(0, start - count) : max(0, stop - count)]
        return texts + [self._gone(key) for key in gone]

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        """Return the marks of rows."""
        count = self.changes.count
        runs = self._runs(start, min(stop, count))
        styles = [style for first, last in runs for style in self._inner.styles(first, last)]
        gone = max(0, stop - max(start, count))
        return styles + [RowStyle.CHANGED | RowStyle.REPLACED] * gone

    def _runs(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return rows of the Version 0 view as short runs of neighbours."""
        rows = self.changes.rows(start, stop).tolist() if start < stop else []
        runs: list[tuple[int, int]] = []
        for row in rows:
            if runs and runs[-1][1] == row and row - runs[-1][0] < SLICE:
                runs[-1] = (runs[-1][0], row + 1)
            else:
                runs.append((row, row + 1))
        return runs

    def _gone(self, key: str) -> list[str]:
        refs = self._saved.refs
        slot = refs.find_slot(key)
        text = b"" if slot is None else refs.value_text(slot)[: 4 * CELL_LIMIT]
        return ["", key, "gone", text.decode("utf-8", "replace"), "", "", "saved"]
