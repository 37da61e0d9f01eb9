"""Which rows of the Version 0 view differ from the saved state, asked row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.errors import RefbrowserError
from refbrowser.references.expansion import REFS

if TYPE_CHECKING:
    from refbrowser.references.document import ReferenceDocument
    from refbrowser.references.gen import GenRule


class Difference:
    """Answers for single rows in the time of rendering two, so that a table can mark what it shows.

    A row of refs is compared with the saved entry of its key; a row of a rule with that row of the saved rule
    that has the same fields, else of the one with the same number.
    """

    def __init__(self, document: ReferenceDocument, saved: ReferenceDocument) -> None:
        self.document = document
        self._saved = saved
        self._same_templates = document.templates.texts == saved.templates.texts
        self._partners = [self._partner(rule) for rule in document.rules]

    def changed(self, row: int) -> bool:
        """Tell whether a row differs from the saved state."""
        origin, inner = self.document.expansion.origin(row)
        return self._ref_changed(inner) if origin == REFS else self._generated_changed(origin, inner)

    def _ref_changed(self, position: int) -> bool:
        refs, saved = self.document.refs, self._saved.refs
        slot = refs.slot(position)
        before = saved.find_slot(refs.key_of(slot))
        if before is None or saved.value_text(before) != refs.value_text(slot):
            return True
        return not self._same_templates and _shown(self.document, slot) != _shown(self._saved, before)

    def _generated_changed(self, number: int, row: int) -> bool:
        partner, is_same = self._partners[number]
        if is_same:
            return False
        if partner is None or row >= partner.count:
            return True
        now, before = self.document.rules[number].row(row), partner.row(row)
        return (now.key, now.reference) != (before.key, before.reference)

    def _partner(self, rule: GenRule) -> tuple[GenRule | None, bool]:
        """Return the saved rule to compare with, and whether all its rows are the same."""
        fields = self.document.rule_nodes[rule.index].to_python()
        saved = [node.to_python() for node in self._saved.rule_nodes]
        if fields in saved:
            return self._saved.rules[saved.index(fields)], self._same_templates
        partner = self._saved.rules[rule.index] if rule.index < len(saved) else None
        return partner, False


def _shown(document: ReferenceDocument, slot: int) -> object:
    try:
        return document.view.reference(slot)
    except RefbrowserError as error:
        return str(error)
