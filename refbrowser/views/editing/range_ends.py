"""Ranges of a preview that end past the ends of their files: a check asks for these, then rows show it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from refbrowser.views.editing.preview import PreviewMark, PreviewRow

if TYPE_CHECKING:
    from refbrowser.engine.findings.range_findings import FileEnds
    from refbrowser.io.access.access import Access
    from refbrowser.references.rules.rule_search import SearchTime


@dataclass(frozen=True, eq=False)
class RangeEnds:
    """The ends of the local files that rows of a preview refer to, as far as a check asked for them.

    Rows are made on the window's thread, which waits for no file system.
    """

    access: Access | None = None
    _sizes: dict[str, int | None] = field(default_factory=dict)

    def files(self, left: SearchTime) -> FileEnds:
        """Return what asks for the ends of files, in a task."""
        from refbrowser.engine.findings.range_findings import FileEnds

        return FileEnds(self.access, left, self._sizes)

    def marked(self, row: PreviewRow) -> PreviewRow:
        """Return a row with a fault where its range ends past the known end of its file."""
        size = self._sizes.get(row.url)
        if size is None or not (row.offset.isdecimal() and row.length.isdecimal()):
            return row
        end = int(row.offset) + int(row.length)
        if end <= size:
            return row
        from refbrowser.engine.findings.range_findings import past_end_words

        note = "; ".join(filter(None, (row.note, past_end_words(end, size, row.url))))
        return replace(row, note=note, mark=row.mark | PreviewMark.FAULT)
