"""The preview's rows for a `VirtualTable`: the visible ones first, within a budget of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from refbrowser.app.editors.preview_source import Mark, NoSource, PreviewRow, PreviewSource
from refbrowser.app.row_model import Column, RowStyle

#: One page takes the GUI thread at most about this long, in seconds; what is left follows later.
BUDGET = 0.004
#: Rows of a source that is not quick are asked for so many at a time.
SLICE = 4
#: Rows that are kept of one source.
ROWS_KEPT = 4_096
GLYPHS = {
    Mark.FAULT: "✕",
    Mark.COLLISION: "⧉",
    Mark.REPLACED: "↷",
    Mark.NEW: "+",
    Mark.CHANGED: "●",
}
PENDING = "…"


class PreviewModel:
    """Rows of a `PreviewSource` as texts and marks.

    Parameters
    ----------
    visible
        Returns the rows that are on the screen; they are computed first.
    later
        Called when the budget left rows out; the table should ask again soon.
    """

    columns: Sequence[Column] = (
        Column("", 44, mono=False),
        Column("Row", 70, right=True),
        Column("Key", 190),
        Column("URL", 230),
        Column("Offset", 130, right=True),
        Column("Length", 100, right=True),
        Column("Notes", 220, mono=False),
    )

    def __init__(self, visible: Callable[[], range], later: Callable[[], None]) -> None:
        self.source: PreviewSource = NoSource()
        self._visible = visible
        self._later = later
        self._rows: dict[int, PreviewRow] = {}

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
        blank = [PENDING] * len(self.columns)
        return [
            _texts(row) if (row := self._rows.get(number)) is not None else blank
            for number in range(start, stop)
        ]

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        """Return the marks of rows."""
        empty = PreviewRow(0, "")
        return [_style(self._rows.get(number, empty).mark) for number in range(start, stop)]

    def _compute(self, start: int, stop: int) -> None:
        if len(self._rows) > ROWS_KEPT:
            self._rows = {}
        if self.source.is_quick:
            if start not in self._rows or stop - 1 not in self._rows:
                self._rows.update((row.number, row) for row in self.source.rows(start, stop))
            return
        visible = range(max(start, self._visible().start), min(stop, self._visible().stop))
        end = time.perf_counter() + BUDGET
        for wanted in (visible, range(start, stop)):
            for first in range(wanted.start // SLICE * SLICE, wanted.stop, SLICE):
                if first in self._rows:
                    continue
                if time.perf_counter() > end:
                    self._later()
                    return
                rows = self.source.rows(first, min(first + SLICE, stop))
                self._rows.update((row.number, row) for row in rows)


def _texts(row: PreviewRow) -> list[str]:
    glyph = next((glyph for mark, glyph in GLYPHS.items() if row.mark & mark), "")
    was = f"was {row.before}" if row.before else ""
    notes = " · ".join(filter(None, (row.note, was)))
    return [glyph, str(row.number), row.key, row.url, row.offset, row.length, notes]


def _style(mark: Mark) -> RowStyle:
    style = RowStyle.NONE
    if mark & (Mark.CHANGED | Mark.NEW):
        style |= RowStyle.CHANGED
    if mark & Mark.FAULT:
        style |= RowStyle.FAULT
    if mark & Mark.REPLACED:
        style |= RowStyle.REPLACED
    return style
