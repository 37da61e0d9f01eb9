"""The editable source, of either kind. Immutable; an edit gives another document."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

from refbrowser.errors import Finding
from refbrowser.references.checks.findings import document_findings
from refbrowser.references.document.content import DocumentContent, Edit, Packed, ReferenceText
from refbrowser.references.document.expansion import Expansion

__all__ = ["Document", "Edit", "Packed", "ReferenceDocument"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Document(DocumentContent):
    """A document: what it says, what it stands for, what is wrong with it, and how it is edited.

    A `ReferenceDocument` is a text that somebody wrote; a `ManifestDocument` is what a store, a stream, an
    archive or any other file gave.
    """

    @cached_property
    def expansion(self) -> Expansion:
        """The Version 0 view."""
        return Expansion(self)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Every fault and warning of the top level, templates and refs (those of rules: `GenRule.faults`)."""
        return document_findings(self)

    @abstractmethod
    def written(self) -> ReferenceDocument:
        """Return the document as the text that other software reads: itself where it has one."""

    def apply(self, edit: Edit) -> Document:
        """Return the document after an edit.

        Raises
        ------
        RefbrowserError
            The edit cannot be made.
        """
        changed = edit.apply(self)
        assert isinstance(changed, Document)
        return changed


@dataclass(frozen=True, eq=False, kw_only=True)
class ReferenceDocument(ReferenceText, Document):
    """A reference document, Version 0 or 1.

    Lossless: an unedited document gives back its bytes, an edit changes only what was edited.
    """
