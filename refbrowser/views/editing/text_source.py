"""What an edit of the document's text changes: in a few words, and row by row for the preview."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from refbrowser.errors import RefbrowserError
from refbrowser.references.edits.text_patch import TextPatch
from refbrowser.views.changed_rows import ChangedRows, Difference, changed_rows
from refbrowser.views.editing.preview import (
    NOT_THERE,
    CheckReport,
    Pace,
    PreviewCells,
    PreviewChange,
    PreviewMark,
    PreviewRow,
    PreviewTally,
    faulty,
)
from refbrowser.views.editing.reference_draft import cells_of_key
from refbrowser.words import counted, counted_plain

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document

#: Rows that are looked at one by one to tell those that are new from those that are others.
_COUNTED = 20_000
_PAGE = 128


@dataclass(frozen=True, eq=False)
class TextEdit:
    """An edit of the text that can be made: the document after it, and what is another in that.

    Attributes
    ----------
    words
        What it changes.
    """

    patch: TextPatch
    before: Document
    after: Document
    rows: ChangedRows
    words: str

    @classmethod
    def of(cls, before: Document, patch: TextPatch, pause: Callable[[], None]) -> TextEdit:
        """Return what a patch of the text comes to.

        Raises
        ------
        RefbrowserError
            The text is no document any more.
        """
        after = before.apply(patch)
        rows = changed_rows(Difference(after, before), pause)
        source = TextEditSource(before, after, rows)
        return cls(patch, before, after, rows, _words(source.check(pause, lambda _report: None), source))


@dataclass(frozen=True, eq=False)
class TextEditSource:
    """The rows that an edit of the text changes, then the keys that are gone."""

    before: Document
    after: Document
    changed: ChangedRows
    title: str = "What the text that is typed changes"
    is_quick: bool = True
    finds_quickly: bool = True
    hint: str = field(default="This changes no reference.")

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.changed.count + len(self.changed.removed)

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        """Return rows `start` to `stop`."""
        return [self._row(number) for number in range(start, min(stop, self.count))]

    def _row(self, number: int) -> PreviewRow:
        if number >= self.changed.count:
            lost = self.changed.removed[number - self.changed.count]
            was = cells_of_key(self.before, lost) or PreviewCells("")
            gone = (PreviewChange("", f"removed: {was.url}"),)
            return PreviewRow(number, lost, before=gone, note="removed", mark=PreviewMark.CHANGED)
        key, reference = self.after.expansion.item(self.changed.row(number))
        if isinstance(reference, RefbrowserError):
            cells, note, is_fault = faulty(reference), reference.message, True
        else:
            cells, note, is_fault = PreviewCells.of(reference), "", False
        old = None if key is None else cells_of_key(self.before, key)
        before = NOT_THERE if old is None else cells.before(old)
        mark = PreviewMark.NEW if old is None else PreviewMark.CHANGED if before else PreviewMark.NONE
        mark |= PreviewMark.FAULT if is_fault else PreviewMark.NONE
        return PreviewRow(number, key or "", cells.url, cells.offset, cells.length, before, note, mark)

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | str:
        """Return the row of a key."""
        found = self.after.expansion.find(key)
        if isinstance(found, int):
            number = self.changed.find(found)
            if number < self.changed.count and self.changed.row(number) == found:
                return number
        if key in self.changed.removed:
            return self.changed.count + self.changed.removed.index(key)
        return "this key is the same"

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        """Count what is changed and new among the first rows."""
        pause = Pace(check)
        most = min(self.changed.count, _COUNTED)
        checked = None if most == self.changed.count else most
        tallies = {
            mark: PreviewTally(checked=checked)
            for mark in (PreviewMark.CHANGED, PreviewMark.NEW, PreviewMark.FAULT)
        }
        for start in range(0, most, _PAGE):
            pause()
            for row in self.rows(start, min(start + _PAGE, most)):
                for mark, tally in tallies.items():
                    if row.mark & mark:
                        first = row.number if tally.first is None else tally.first
                        tallies[mark] = replace(
                            tally, count=tally.count + 1, first=first, text=tally.text or row.note
                        )
        return CheckReport(
            faults=tallies[PreviewMark.FAULT],
            duplicates=PreviewTally(),
            collisions=PreviewTally(),
            changed=tallies[PreviewMark.CHANGED],
            added=tallies[PreviewMark.NEW],
            removed=PreviewTally(self.changed.removed_count),
        )


def _words(report: CheckReport, source: TextEditSource) -> str:
    """Return what an edit changes: keys that are others, new and gone, and templates."""
    told: list[str] = []
    for tally, what in ((report.changed, "changed"), (report.added, "added"), (report.removed, "removed")):
        if tally is not None and tally.count:
            more = "" if tally.checked is None else "at least "
            told.append(
                f"{more}{counted(tally.count, 'key')} {what}" if not told else f"{more}{tally.count:,} {what}"
            )
    if source.changed.templates:
        told.append(f"{counted_plain(len(source.changed.templates), 'template')} changed")
    before, after = len(source.before.rules), len(source.after.rules)
    if before != after:
        told.append(f"{counted_plain(after, 'gen rule')}, {before} before")
    return ", ".join(told) or "Only the text changes, no reference."
