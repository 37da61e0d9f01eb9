"""The editable source: a reference document, Version 0 or 1. Immutable; an edit gives another document."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from refbrowser.errors import Finding
from refbrowser.references.checks.findings import document_findings
from refbrowser.references.document.content import DocumentContent, Edit, Packed
from refbrowser.references.document.expansion import Expansion

__all__ = ["Edit", "Packed", "ReferenceDocument"]


@dataclass(frozen=True, eq=False)
class ReferenceDocument(DocumentContent):
    """A reference document: what it says, what it stands for, what is wrong with it, and how it is edited.

    Lossless: an unedited document gives back its bytes, an edit changes only what was edited.
    """

    @cached_property
    def expansion(self) -> Expansion:
        """The Version 0 view."""
        return Expansion(self)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Every fault and warning of the top level, templates and refs (those of rules: `GenRule.faults`)."""
        return document_findings(self)

    def apply(self, edit: Edit) -> ReferenceDocument:
        """Return the document after an edit.

        Raises
        ------
        RefbrowserError
            The edit cannot be made.
        """
        changed = edit.apply(self)
        assert isinstance(changed, ReferenceDocument)
        return changed
