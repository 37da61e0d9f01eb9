"""The rows that differ from the saved state, for the table of references; keys that are gone stand last."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.panes.references.reference_rows import BUDGET, COLUMNS, PENDING, SLICE, ExpansionRows
from refbrowser.app.widgets.table_models import RowStyle
from refbrowser.views.words import CELL_LIMIT

if TYPE_CHECKING:
    from refbrowser.references.document.document import ReferenceDocument
    from refbrowser.views.changed_rows import ChangedRows


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
