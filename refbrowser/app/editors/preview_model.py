"""The preview's rows for a `VirtualTable`: the visible ones first, within a budget of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache

from refbrowser.app.editors.preview_source import Mark, NoSource, PreviewRow, PreviewSource
from refbrowser.views.rows import Column, RowStyle

#: One page takes the GUI thread at most about this long, in seconds; what is left follows later.
BUDGET = 0.004
#: Rows of a source that is not quick are asked for so many at a time.
SLICE = 8
#: Rows that are kept of one source.
ROWS_KEPT = 4_096
GLYPHS = {
    Mark.FAULT: "✕",
    Mark.COLLISION: "≡",
    Mark.REPLACED: "↷",
    Mark.NEW: "+",
    Mark.CHANGED: "●",
}
PENDING = "…"
COLUMN_COUNT = 7


class PreviewModel:
    """Rows of a `PreviewSource` as texts and marks.

    Parameters
    ----------
    visible
        Returns the rows that are on the screen; they are computed first.
    later
        Called when the budget left rows out; the table should ask again soon.
    """

    def __init__(self, visible: Callable[[], range], later: Callable[[], None]) -> None:
        self.source: PreviewSource = NoSource()
        self._visible = visible
        self._later = later
        self._rows: dict[int, PreviewRow] = {}

    @property
    def columns(self) -> Sequence[Column]:
        """The columns; those of numbers are as wide as the rows need."""
        digits = len(str(self.source.count))
        return (
            Column("", 28, mono=False),
            Column("Row", max(44, 20 + 9 * digits), right=True),
            Column("Key", 96, stretch=2),
            Column("URL", 96, stretch=2, elide_middle=True),
            Column("Offset", 76 if digits < 7 else 130, right=True),
            Column("Length", 66, right=True),
            Column("Notes", 150, stretch=5, mono=False),
        )

    def show(self, source: PreviewSource) -> None:
        """Take another source; nothing of the old one is kept."""
        self.source = source
        self._rows = {}

    def row_count(self) -> int:
        """Return the number of rows."""
        return self.source.count

    def row(self, number: int) -> PreviewRow:
        """Return one row."""
        if number not in self._rows:
            self._rows[number] = self.source.rows(number, number + 1)[0]
        return self._rows[number]

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows; ``…`` for those that the budget left for later."""
        self._compute(start, stop)
        blank = [PENDING] * COLUMN_COUNT
        return [
            _texts(row) if (row := self._rows.get(number)) is not None else blank
            for number in range(start, stop)
        ]

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        """Return the marks of rows."""
        rows = (self._rows.get(number) for number in range(start, stop))
        return [RowStyle.NONE if row is None else _look(row.mark)[1] for row in rows]

    def _compute(self, start: int, stop: int) -> None:
        """Compute the rows of a page; those on the screen first where all of them take long."""
        if len(self._rows) > ROWS_KEPT:
            self._rows = {}
        if self.source.is_quick:
            self._add(start, stop)
            return
        seen = self._visible()
        first, last = max(start, seen.start // SLICE * SLICE), min(stop, seen.stop)
        end = time.perf_counter() + BUDGET
        for begin in (*range(first, last, SLICE), *range(start, stop, SLICE)):
            if self._has(begin, min(begin + SLICE, stop)):
                continue
            if time.perf_counter() > end:
                self._later()
                return
            self._add(begin, min(begin + SLICE, stop))

    def _has(self, start: int, stop: int) -> bool:
        return all(number in self._rows for number in range(start, stop))

    def _add(self, start: int, stop: int) -> None:
        if not self._has(start, stop):
            self._rows.update((row.number, row) for row in self.source.rows(start, stop))


@cache
def _look(mark: Mark) -> tuple[str, RowStyle]:
    """Return glyph and style of a mark."""
    glyph = next((glyph for each, glyph in GLYPHS.items() if mark & each), "")
    style = RowStyle.NONE
    if mark & (Mark.CHANGED | Mark.NEW):
        style |= RowStyle.CHANGED
    if mark & Mark.FAULT:
        style |= RowStyle.FAULT
    if mark & Mark.REPLACED:
        style |= RowStyle.REPLACED
    return glyph, style


def _texts(row: PreviewRow) -> list[str]:
    return [_look(row.mark)[0], str(row.number), row.key, row.url, row.offset, row.length, row.words]
