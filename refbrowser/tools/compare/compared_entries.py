"""The differences of a comparison as a list in sections: what is counted, looked for and chosen in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from refbrowser.engine.comparing.differences import (
    ArrayComparison,
    Comparison,
    Difference,
    DifferenceKind,
    Equality,
)
from refbrowser.references.edits.compare import Side
from refbrowser.tools.compare.comparison_words import chunk_words, row_of, untold_words, value_words


class ComparedSection(StrEnum):
    """What differences are about, in the order in which they are listed."""

    STRUCTURE = "Structure"
    DIMENSIONS = "Dimensions"
    ATTRIBUTES = "Attributes"
    METADATA = "Metadata"
    REFERENCES = "References"
    RULES = "Gen rules"
    TEMPLATES = "Templates"
    VALUES = "Values"
    #: No differences.
    SPELLED = "Spelled differently, but the same"


_SECTIONS = {
    DifferenceKind.GROUP: ComparedSection.STRUCTURE,
    DifferenceKind.ARRAY: ComparedSection.STRUCTURE,
    DifferenceKind.DIMENSION: ComparedSection.DIMENSIONS,
    DifferenceKind.ATTRIBUTE: ComparedSection.ATTRIBUTES,
    DifferenceKind.RULE: ComparedSection.RULES,
    DifferenceKind.TEMPLATE: ComparedSection.TEMPLATES,
    DifferenceKind.KEY: ComparedSection.REFERENCES,
}


@dataclass(frozen=True, slots=True)
class ComparedEntry:
    """One line of the list.

    Attributes
    ----------
    path
        Of the node that it is about; empty for the document.
    what
        What of it: ``attribute units``, ``references``.
    note
        What it means, or how much differs.
    difference
        Of structure, metadata or a document; None for references and values of an array.
    array
        The array whose references or values differ; else None.
    """

    section: ComparedSection
    path: str
    what: str
    side: Side
    note: str = ""
    difference: Difference | None = None
    array: ArrayComparison | None = None

    @property
    def title(self) -> str:
        """What it is about in one line."""
        if self.array is not None:
            return self.path
        if self.difference is not None and self.section is ComparedSection.ATTRIBUTES:
            return f"{self.path}  {self.difference.name}"
        return f"{self.path}  {self.what}".strip() if self.path else self.what

    @property
    def texts(self) -> tuple[str, str]:
        """What it is on both sides, whole; empty where it is not."""
        return ("", "") if self.difference is None else (self.difference.here, self.difference.there)

    def holds(self, words: Sequence[str]) -> bool:
        """Tell whether all words, in lower case, stand in what is said of it."""
        said = " ".join((self.section, self.title, self.note, *self.texts)).lower()
        return all(word in said for word in words)


def entries_of(comparison: Comparison) -> tuple[ComparedEntry, ...]:
    """Return all that differs, and last what is only written otherwise, section by section."""
    found = [*_differences(comparison), *_arrays(comparison)]
    order = {section: number for number, section in enumerate(ComparedSection)}
    return tuple(sorted(found, key=lambda each: order[each.section]))


def _differences(comparison: Comparison) -> Iterator[ComparedEntry]:
    for each in comparison.differences:
        yield _entry(_SECTIONS.get(each.kind, ComparedSection.METADATA), each)
    for each in comparison.spelled:
        yield _entry(ComparedSection.SPELLED, each)


def _entry(section: ComparedSection, difference: Difference) -> ComparedEntry:
    row = row_of(difference)
    return ComparedEntry(section, difference.path, row.what, row.side, row.note, difference)


def _arrays(comparison: Comparison) -> Iterator[ComparedEntry]:
    for each in comparison.arrays:
        if each.chunks.different or each.chunks.undecided:
            note = chunk_words(each.chunks)
            yield ComparedEntry(
                ComparedSection.REFERENCES, each.path, "references", Side.BOTH, note, array=each
            )
        values = each.values
        if values is not None and (values.different or values.has_stale or not values.is_complete):
            note = value_words(values)
            yield ComparedEntry(ComparedSection.VALUES, each.path, "values", Side.BOTH, note, array=each)
        elif values is None and each.verdict is Equality.NOT_COMPARED and not each.chunks.undecided:
            note = untold_words(each.chunks)
            yield ComparedEntry(ComparedSection.VALUES, each.path, "values", Side.BOTH, note, array=each)
