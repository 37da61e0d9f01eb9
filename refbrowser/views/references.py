"""The table of references: its columns, and its rows: the whole Version 0 view, those that differ, the first.

A column is one `ReferenceColumn` of `COLUMNS`, and nothing else: whatever rows the table shows give a
`ReferenceRow` each, and the columns make their texts of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from refbrowser.formats.registry import title_of
from refbrowser.views.reference_queries.reference_query import KINDS
from refbrowser.views.rows import Column, RowStyle
from refbrowser.views.words import CELL_LIMIT
from refbrowser.words import count_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from refbrowser.references.content.expansion import Page
    from refbrowser.references.content.refs import References
    from refbrowser.references.document.document import Document
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


class ReferenceRow(NamedTuple):
    """What one row of the table tells, before it is text.

    Attributes
    ----------
    row
        Its number in the Version 0 view; None for a key that is gone.
    text
        The URL, the inline value, or what is wrong.
    origin
        Where it comes from: ``refs``, a rule, the format of a file.
    """

    row: int | None
    key: str
    kind: str
    text: str
    offset: int | None
    length: int | None
    origin: str


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _largest(numbers: npt.NDArray[np.int64]) -> str:
    return str(int(numbers.max(initial=0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceColumn(Column):
    """A column of the references.

    Attributes
    ----------
    text
        Returns the text of a row.
    widest
        Returns the widest text that a document's rows can have; None where no column is measured by it.
    order
        The member of `RowValues` that rows are sorted by.
    """

    text: Callable[[ReferenceRow], str]
    widest: Callable[[Document], str] | None = None
    order: str = "rows"


def _widest_row(document: Document) -> str:
    return count_text(max(0, document.expansion.rows - 1))


KEY = ReferenceColumn(
    title="Key",
    width=148,
    stretch=2,
    elide_middle=True,
    text=attrgetter("key"),
    order="keys",
)
COLUMNS = (
    ReferenceColumn(
        title="Row",
        width=48,
        right=True,
        text=lambda row: "" if row.row is None else count_text(row.row),
        widest=_widest_row,
        order="rows",
    ),
    KEY,
    ReferenceColumn(title="Kind", width=58, mono=False, text=attrgetter("kind"), order="kinds"),
    ReferenceColumn(
        title="URL or text",
        width=130,
        stretch=3,
        elide_middle=True,
        text=attrgetter("text"),
        order="urls",
    ),
    ReferenceColumn(
        title="Offset",
        width=84,
        right=True,
        text=lambda row: _number(row.offset),
        widest=lambda document: _largest(document.refs.table.offset),
        order="offsets",
    ),
    ReferenceColumn(
        title="Length",
        width=72,
        right=True,
        text=lambda row: _number(row.length),
        widest=lambda document: _largest(document.refs.table.length),
        order="lengths",
    ),
    ReferenceColumn(title="From", width=56, mono=False, text=attrgetter("origin"), order="origins"),
)


def cells(row: ReferenceRow) -> list[str]:
    """Return the texts of a row, column by column."""
    return [column.text(row) for column in COLUMNS]


_INLINE, _FAULTY = 1, 4
#: One page takes the GUI thread about this long at most, in seconds; the rest of it follows a little later.
BUDGET = 0.004
#: Rows of rules that are not arithmetic are asked for so many at a time.
SLICE = 8
#: Rows that are kept.
ROWS_KEPT = 8_192
PENDING = ["…"] * len(COLUMNS)
#: Characters of an inline value that are shown while the document is read.
_FIRST_SHOWN = 400

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
        document: Document,
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
        """Return the widest texts of the columns whose numbers may be wider than those that are seen."""
        return {
            number: column.widest(self.document)
            for number, column in enumerate(COLUMNS)
            if column.widest is not None
        }

    def row(self, number: int) -> int | None:
        """Return the row of the Version 0 view: the same."""
        return number

    def number_of(self, row: int) -> int | None:
        """Return where a row of the Version 0 view is shown: at its number."""
        return row

    def key(self, row: int) -> str | None:
        """Return the key of a row; None where it could not be made."""
        return self._expansion.key(row)

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows; ``…`` for those that the budget left for later."""
        self._compute(start, stop)
        return [self._rows[row][0] if row in self._rows else PENDING for row in range(start, stop)]

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        """Return the marks of rows, as the saved state is now."""
        return [self._style(row) for row in range(start, stop)]

    def _style(self, row: int) -> RowStyle:
        if row not in self._rows:
            return RowStyle.NONE
        style = self._rows[row][1]
        return style | RowStyle.CHANGED if self._is_changed is not None and self._is_changed(row) else style

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
            text = page.urls[at] or ""
            if at in page.errors:
                text = page.errors[at].message
            elif kind == _INLINE:
                text = self._inline_text(row)
            shown = ReferenceRow(
                row,
                page.keys[at] or "",
                KINDS[kind],
                text,
                page.offsets[at],
                page.lengths[at],
                self._origin_text(page.origins[at]),
            )
            self._rows[row] = cells(shown), style

    def _origin_text(self, origin: int) -> str:
        document = self.document
        if not document.has_keys:
            return title_of(document.format)
        if document.store is not None:
            return "store"
        return "refs" if origin < 0 else f"rule {origin}"

    def _inline_text(self, row: int) -> str:
        refs = self.document.refs
        return refs.value_beginning(refs.slot(row), 4 * CELL_LIMIT).decode("utf-8", "replace")


class FirstRows:
    """The first references of a document that is still being read, never edited; no template is rendered."""

    columns = COLUMNS

    def __init__(self, refs: References) -> None:
        self._refs = refs

    def row_count(self) -> int:
        """Return the number of rows that are known."""
        return len(self._refs)

    def key(self, row: int) -> str | None:
        """Return the key of a row."""
        return self._refs.key(row)

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows."""
        keys = self._refs.keys(start, stop)
        return [cells(self._row(row, key)) for row, key in enumerate(keys, start)]

    def _row(self, row: int, key: str) -> ReferenceRow:
        # Of the columns, not read again from the text: it is the thread of the window that asks.
        table = self._refs.table
        number, offset, length = int(table.url[row]), int(table.offset[row]), int(table.length[row])
        if number < 0:
            text = table.value_beginning(row, _FIRST_SHOWN).decode("utf-8", "replace")
            return ReferenceRow(row, key, "inline", text, None, None, "refs")
        if length < 0:
            return ReferenceRow(row, key, "whole", table.urls[number], None, None, "refs")
        return ReferenceRow(row, key, "range", table.urls[number], offset, length, "refs")


class Listing(Protocol):
    """Rows of the Version 0 view, in an order."""

    @property
    def count(self) -> int:
        """Number of rows."""
        ...

    def row(self, number: int) -> int:
        """Return the row of the Version 0 view that is the `number`-th."""
        ...

    def rows(self, start: int, stop: int) -> Iterable[int]:
        """Return the rows of the Version 0 view that are numbers `start` to `stop`."""
        ...

    def number_of(self, row: int) -> int | None:
        """Return the number of a row of the Version 0 view; None where it is not listed."""
        ...


class ListedRows:
    """Those rows of an `ExpansionRows` that are listed, in the order of the list.

    Parameters
    ----------
    later
        Called when the budget left rows out: the table should ask again soon.
    """

    columns = COLUMNS

    def __init__(self, rows: ExpansionRows, listing: Listing, later: Callable[[], None]) -> None:
        self._inner, self._later = rows, later
        self.listing = listing
        self.document = rows.document

    def row_count(self) -> int:
        """Return the number of rows."""
        return self.listing.count

    def runs(self, start: int, stop: int) -> tuple[tuple[int, int], ...]:
        """Return which rows of the Version 0 view are shown from `start` to before `stop`, as rising runs."""
        runs: list[tuple[int, int]] = []
        for row in sorted(map(int, self.listing.rows(start, min(stop, self.listing.count)))):
            if runs and runs[-1][1] == row:
                runs[-1] = (runs[-1][0], row + 1)
            else:
                runs.append((row, row + 1))
        return tuple(runs)

    def row(self, number: int) -> int | None:
        """Return the row of the Version 0 view; None for a key that is gone."""
        return self.listing.row(number) if number < self.listing.count else None

    def number_of(self, row: int) -> int | None:
        """Return where a row of the Version 0 view is shown; None where it is not listed."""
        return self.listing.number_of(row)

    def key(self, number: int) -> str | None:
        """Return the key of a row; None where it could not be made, or is gone."""
        row = self.row(number)
        return None if row is None else self._inner.key(row)

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows; ``…`` for those that the budget left for later."""
        stop = min(stop, self.listing.count)
        texts: list[list[str]] = []
        end = time.perf_counter() + BUDGET
        for first, last in self._runs(start, stop):
            if time.perf_counter() > end:
                self._later()
                return texts + [PENDING] * (stop - start - len(texts))
            texts += self._inner.page(first, last)
        return texts

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        """Return the marks of rows."""
        runs = self._runs(start, min(stop, self.listing.count))
        return [style for first, last in runs for style in self._inner.styles(first, last)]

    def _runs(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return rows of the Version 0 view as short runs of neighbours."""
        runs: list[tuple[int, int]] = []
        for row in map(int, self.listing.rows(start, stop) if start < stop else ()):
            if runs and runs[-1][1] == row and row - runs[-1][0] < SLICE:
                runs[-1] = (runs[-1][0], row + 1)
            else:
                runs.append((row, row + 1))
        return runs


class ChangedOnlyRows(ListedRows):
    """Rows that a `ChangedRows` lists, and then the keys that are gone."""

    def __init__(
        self,
        rows: ExpansionRows,
        changes: ChangedRows,
        saved: Document,
        later: Callable[[], None],
    ) -> None:
        super().__init__(rows, changes, later)
        self._saved = saved
        self._gone = changes.removed

    def row_count(self) -> int:
        """Return the number of rows."""
        return super().row_count() + len(self._gone)

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows; ``…`` for those that the budget left for later."""
        count = self.listing.count
        gone = self._gone[max(0, start - count) : max(0, stop - count)]
        return super().page(start, stop) + [self._gone_cells(key) for key in gone]

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        """Return the marks of rows."""
        gone = max(0, stop - max(start, self.listing.count))
        return super().styles(start, stop) + [RowStyle.CHANGED | RowStyle.REPLACED] * gone

    def _gone_cells(self, key: str) -> list[str]:
        refs = self._saved.refs
        slot = refs.find_slot(key)
        text = b"" if slot is None else refs.value_beginning(slot, 4 * CELL_LIMIT)
        return cells(ReferenceRow(None, key, "gone", text.decode("utf-8", "replace"), None, None, "saved"))
