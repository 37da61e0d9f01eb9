"""What other software does differently with a document: facts, not faults, of the rules of readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.engine.readers.features import document_features
from refbrowser.engine.readers.rules import rule_book

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document


@dataclass(frozen=True, slots=True)
class ReaderNote:
    """One thing that a reader does differently.

    Attributes
    ----------
    code
        Its stable name, for ``--fail-on``.
    reader
        The software.
    message
        What it does.
    count
        References that it is about; 1 where it is about the document.
    """

    code: str
    reader: str
    message: str
    count: int = 1


def note_codes() -> tuple[str, ...]:
    """Return the codes of all notes."""
    return tuple(sorted(rule.note for rule in rule_book().rules if rule.note))


def reader_notes(document: Document) -> tuple[ReaderNote, ...]:
    """Return what other readers make of a document that somebody wrote; of others nothing is said."""
    counts = document_features(document)
    book, features = rule_book(), frozenset(counts)
    found = ((rule, rule.concerned(features)) for rule in book.rules if rule.note)
    return tuple(
        ReaderNote(
            rule.note, book.readers[rule.reader].title, rule.reason, max(counts[each] for each in concerned)
        )
        for rule, concerned in found
        if concerned
    )
