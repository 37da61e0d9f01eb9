"""Preview of a replacement of URL prefixes: each thing that changes, with what it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.app.editors.cells import WHOLE_FILE
from refbrowser.app.editors.prefix_changes import PrefixChanges, outer_urls
from refbrowser.app.editors.preview_source import Change, CheckReport, Mark, PreviewRow, Tally
from refbrowser.errors import RefbrowserError
from refbrowser.references.document.table import WHOLE
from refbrowser.references.edits.url_prefixes import with_new_prefix

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document


@dataclass(frozen=True, eq=False)
class PrefixSource:
    """Templates, gen rules and entries of `refs` whose URL changes, in this order."""

    document: Document
    changes: PrefixChanges
    title: str = "URLs"
    is_quick: bool = True
    finds_quickly: bool = False

    @property
    def count(self) -> int:
        """Number of things that change."""
        return self.changes.count

    @property
    def _outer(self) -> list[tuple[str, str]]:
        return outer_urls(self.document, self.changes)

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        """Return rows `start` to `stop`."""
        outer = self._outer
        found = [
            self._row(number, name, url, "", "") for number, (name, url) in list(enumerate(outer))[start:stop]
        ]
        first = max(start, len(outer))
        slots = self.changes.slots[first - len(outer) : max(stop - len(outer), 0)].tolist()
        keys = self.document.refs.keys_of(slots)
        for number, (slot, key) in enumerate(zip(slots, keys, strict=True), first):
            found.append(self._row(number, key, *self._cells(slot)))
        return found

    def _cells(self, slot: int) -> tuple[str, str, str]:
        """Return URL, offset and length of an entry; those of the table without reading its text again."""
        refs = self.document.refs
        table = refs.table
        if refs.patch(slot) is None and table.url[slot] >= 0:
            url, offset, length = (
                table.urls[table.url[slot]],
                int(table.offset[slot]),
                int(table.length[slot]),
            )
            return (url, "", WHOLE_FILE) if length == WHOLE else (url, str(offset), str(length))
        value = refs.value(slot)
        return (
            (value.url, "", WHOLE_FILE)
            if value.length is None
            else (value.url, str(value.offset), str(value.length))
        )

    def _row(self, number: int, name: str, url: str, offset: str, length: str) -> PreviewRow:
        edit = self.changes.edit
        after = self.document.shown_url(with_new_prefix(url, edit.old, edit.new))
        if edit.old == edit.new:
            return PreviewRow(number, name, after, offset, length)
        change = Change("url", self.document.shown_url(url), after)
        return PreviewRow(number, name, after, offset, length, (change,), mark=Mark.CHANGED)

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | str:
        """Return the row of a key, a template (``template u``) or a rule, or that it does not change."""
        outer = [name for name, _url in self._outer]
        if key in outer:
            return outer.index(key)
        slot = self.document.refs.find_slot(key)
        found = [] if slot is None else np.flatnonzero(self.changes.slots == slot).tolist()
        return len(outer) + found[0] if found else "the URL of this key does not change"

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        """Count what changes: every row; and whether the first URLs can be rendered then."""
        none = Tally()
        same = self.changes.edit.old == self.changes.edit.new
        changed = none if same or not self.count else Tally(self.count, 0)
        return CheckReport(
            changed=changed, added=none, removed=none, faults=none, duplicates=none, collisions=none
        )


def mistake_in(document: Document, changes: PrefixChanges) -> str:
    """Return why the first URL that changes could not be written so, or nothing."""
    from refbrowser.references.templates.syntax import Template

    if document.version == 0:
        return ""
    for example in changes.examples:
        try:
            Template.parse(example.after)
        except RefbrowserError as error:
            return error.message
    return ""
