"""Which rows of the Version 0 view differ from the saved state, asked row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.errors import RefbrowserError
from refbrowser.references.document.expansion import REFS

if TYPE_CHECKING:
    from refbrowser.references.document.document import ReferenceDocument
    from refbrowser.references.rules.gen import GenRule


class Difference:
    """Answers for single rows in the time of rendering two, so that a table can mark what it shows.

    A row of refs is compared with the saved entry of its key; a row of a rule with that row of the saved rule
    that has the same fields, else of the one with the same number.

    Attributes
    ----------
    same_templates
        Whether the templates of both are the same.
    partners
        The saved rule that each rule is compared with, and whether all its rows are the same.
    """

    def __init__(self, document: ReferenceDocument, saved: ReferenceDocument) -> None:
        self.document = document
        self.saved = saved
        self.same_templates = document.templates.texts == saved.templates.texts
        # Of entries that both read from one text all but the URL is the same.
        self._is_shared = document.refs.table.start is saved.refs.table.start
        self.partners = [self._partner(rule) for rule in document.rules]

    def changed(self, row: int) -> bool:
        """Tell whether a row differs from the saved state."""
        origin, inner = self.document.expansion.origin(row)
        return self.entry_changed(inner) if origin == REFS else self._generated_changed(origin, inner)

    def entry_changed(self, position: int) -> bool:
        """Tell whether the entry at a position of refs differs from the saved entry of its key."""
        refs, saved = self.document.refs, self.saved.refs
        slot = refs.slot(position)
        is_plain = slot >= 0 and self._is_shared and slot not in refs.replaced and refs.table.url[slot] >= 0
        if is_plain and saved.stands(slot):
            return self._url_of(self.document, slot) != self._url_of(self.saved, slot)
        before = self._saved_slot(slot, refs.key_of(slot))
        if before is None or saved.value_text(before) != refs.value_text(slot):
            return True
        return not self.same_templates and shown(self.document, slot) != shown(self.saved, before)

    @staticmethod
    def _url_of(document: ReferenceDocument, row: int) -> tuple[str, str]:
        """Return the URL of a row of the table, as written and rendered."""
        number, urls = int(document.refs.table.url[row]), document.urls
        return document.refs.table.urls[number], str(urls.faults.get(number, urls.texts[number]))

    def _saved_slot(self, slot: int, key: str) -> int | None:
        """Return the saved entry of a key: that of the same place where it is there more than once."""
        saved = self.saved.refs
        if (
            slot >= 0
            and self._is_shared
            and (slot in saved.replaced or saved.stands(slot))
            and saved.key_of(slot) == key
        ):
            return slot
        return saved.find_slot(key)

    def _generated_changed(self, number: int, row: int) -> bool:
        partner, is_same = self.partners[number]
        if is_same:
            return False
        if partner is None or row >= partner.count:
            return True
        now, before = self.document.rules[number].row(row), partner.row(row)
        return (now.key, now.reference) != (before.key, before.reference)

    def _partner(self, rule: GenRule) -> tuple[GenRule | None, bool]:
        """Return the saved rule to compare with, and whether all its rows are the same."""
        fields = self.document.rule_nodes[rule.index].to_python()
        saved = [node.to_python() for node in self.saved.rule_nodes]
        if fields in saved:
            return self.saved.rules[saved.index(fields)], self.same_templates
        partner = self.saved.rules[rule.index] if rule.index < len(saved) else None
        return partner, False


def shown(document: ReferenceDocument, slot: int) -> object:
    """Return what an entry stands for, or why it cannot be read."""
    try:
        return document.view.reference(slot)
    except RefbrowserError as error:
        return str(error)
