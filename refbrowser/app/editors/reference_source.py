"""Preview of one reference that is added, changed or renamed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from refbrowser.app.editors.cells import Cells, faulty
from refbrowser.app.editors.draft import is_integer
from refbrowser.app.editors.preview_source import NOT_THERE, Change, CheckReport, Mark, PreviewRow, Tally
from refbrowser.app.editors.reference_draft import ReferenceDraft
from refbrowser.errors import RefbrowserError
from refbrowser.model.reference import ByteRange, Inline, Missing, Reference, WholeFile
from refbrowser.references.document.reference_values import decode_inline

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document
    from refbrowser.references.templates.templates import TemplateSet


@dataclass(frozen=True, slots=True)
class ReferenceSource:
    """The row of the reference as it is typed, and of its old key where that changes."""

    document: Document
    key: str
    title: str
    entries: tuple[PreviewRow, ...]
    is_quick: bool = True
    finds_quickly: bool = True

    @classmethod
    def of(
        cls,
        document: Document,
        saved: Document | None,
        key: str | None,
        draft: ReferenceDraft,
    ) -> ReferenceSource:
        """Return the preview of a draft of the entry `key` (None for a new one)."""
        entries = [_typed_row(document, saved, draft)]
        if key is not None and key != draft.key:
            old = saved_cells(saved, key)
            was = "" if old is None else ", ".join(filter(None, (old.url, old.offset, old.length)))
            before = (Change("", was),) if was else ()
            entries.append(PreviewRow(1, key, before=before, note="this key goes", mark=Mark.REPLACED))
        return cls(document, draft.key, f"Reference {draft.key}", tuple(entries))

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.entries)

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        """Return rows `start` to `stop`."""
        return list(self.entries[start:stop])

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | str:
        """Return the row of a key, or that there is none."""
        found = next((row.number for row in self.entries if row.key == key), None)
        return "no row has this key" if found is None else found

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        """Count what the rows say, and look for the key in the gen rules."""
        typed = self.entries[0]
        report = CheckReport(
            faults=_tally(typed, Mark.FAULT),
            duplicates=Tally(),
            changed=_tally(typed, Mark.CHANGED),
            added=_tally(typed, Mark.NEW),
            removed=Tally(1, 1) if len(self.entries) > 1 else Tally(),
        )
        send(report)
        return replace(report, collisions=self._collisions(check))

    def _collisions(self, check: Callable[[], None]) -> Tally:
        undecided = 0
        for number, rule in enumerate(self.document.rules):
            check()
            found = rule.find(self.key)
            if isinstance(found, int):
                return Tally(1, 0, None, f"row {found} of gen rule {number} has this key too, and counts")
            undecided += 0 if found is None else found.rows_checked
        return Tally(checked=undecided) if undecided else Tally()


def _tally(row: PreviewRow, mark: Mark) -> Tally:
    return Tally(1, row.number, None, row.note) if row.mark & mark else Tally()


def _typed_row(document: Document, saved: Document | None, draft: ReferenceDraft) -> PreviewRow:
    mistakes = "; ".join(draft.mistakes().values())
    try:
        cells = Cells.of(typed_reference(draft, document.templates))
    except RefbrowserError as error:
        cells, mistakes = faulty(error), mistakes or error.message
    row = PreviewRow(0, draft.key, cells.url, cells.offset, cells.length)
    if mistakes:
        return replace(row, mark=Mark.FAULT, note=mistakes)
    old = saved_cells(saved, draft.key)
    if old is None:
        return replace(row, mark=Mark.NEW, before=NOT_THERE)
    return row if old == cells else replace(row, mark=Mark.CHANGED, before=cells.before(old))


def typed_reference(draft: ReferenceDraft, templates: TemplateSet) -> Reference:
    """Return what a draft stands for, rendered; a value that cannot be read yet is `Missing`.

    Raises
    ------
    RefbrowserError
        The URL cannot be rendered.
    """
    value = draft.value()
    if isinstance(value, str) and not draft.mistakes():
        return Inline(decode_inline(value))
    if not isinstance(value, list) or not draft.has_url:
        return Missing()
    url = templates.render(value[0])
    if len(value) == 3 and is_integer(value[1]) and is_integer(value[2]):
        return ByteRange(url, value[1], value[2])
    return WholeFile(url)


def saved_cells(saved: Document | None, key: str) -> Cells | None:
    """Return the cells of an entry of `refs` in the saved state, None where it has none."""
    slot = None if saved is None else saved.refs.find_slot(key)
    if slot is None or saved is None:
        return None
    try:
        return Cells.of(saved.view.reference(slot))
    except RefbrowserError as error:
        return faulty(error)
