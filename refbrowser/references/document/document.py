"""The editable source, of either kind. Immutable; an edit gives another document."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.references.content.content import DocumentContent, Edit, Packed, ReferenceText
from refbrowser.references.content.expansion import Expansion
from refbrowser.references.findings.text_findings import document_findings
from refbrowser.references.rules.rule_search import SearchTime
from refbrowser.references.templates.syntax import uses_in

__all__ = ["Document", "Edit", "Packed", "ReferenceDocument"]

#: Templates that an error names.
_NAMED = 10


@dataclass(frozen=True, eq=False, kw_only=True)
class Document(DocumentContent):
    """A document: what it says, what it stands for, what is wrong with it, and how it is edited.

    A `ReferenceDocument` is a text that somebody wrote; a `ManifestDocument` is what a store, a stream, an
    archive or any other file gave.
    """

    def to_plain_chunks(self, skip_bad: bool = False) -> Iterator[bytes]:
        """Yield a text of Version 1 that every reader takes: no templates, no rules, nothing but ``refs``.

        Raises
        ------
        RefbrowserError
            An entry is faulty, and `skip_bad` is not set.
        """
        yield b'{"version": 1, "refs": '
        for portion in self.expansion.to_version0(skip_bad):
            yield portion.removesuffix(b"\n") if portion.endswith(b"}\n") else portion
        yield b"}\n"

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

    @property
    def lacking(self) -> Sequence[str]:
        """URLs of files that it would tell more of if they might be read."""
        return () if self.origin is None else self.origin.lacking

    def check_values(self, values: Mapping[str, str]) -> None:
        """Raise where a value is given for a template that is not there.

        A name that URLs or rules use, and that no template has, may be given one. Where the search for it
        takes too long, it counts as used.

        Parameters
        ----------
        values
            By name, as the user gave them.

        Raises
        ------
        RefbrowserError
            E_USAGE: there is no such template; the message names those that there are.
        """
        there, left = self.templates.templates, SearchTime()
        for name in values:
            if name not in there and not self._uses(name, left):
                named = ", ".join(quoted(known) for known in list(there)[:_NAMED]) or "none"
                more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
                message = f"the document has no template {quoted(name)}; it has {named}{more}"
                raise RefbrowserError(ErrorKind.USAGE, message, Place(document=self.name))

    def _uses(self, name: str, left: SearchTime) -> bool:
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        return any(
            left.is_over or (word.search(text) and uses_in(text, name, only_calls=name in hidden))
            for text, hidden in self.templated()
        )

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
