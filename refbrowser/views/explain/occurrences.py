"""Every place of a document that gives a key: the one that counts, and those that it shadows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from refbrowser.errors import RefbrowserError
from refbrowser.model.reference import Reference
from refbrowser.references.document.expansion import REFS
from refbrowser.references.rules.gen import NotDecided

if TYPE_CHECKING:
    from refbrowser.references.document.document import ReferenceDocument
    from refbrowser.references.rules.gen import GenRule

#: Shadowed entries that are told; more are only counted.
MOST_SHADOWED = 12
#: Rules that are asked at most; those that come last in the document are asked first.
MOST_RULES = 2_000


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One entry with the key.

    Attributes
    ----------
    origin
        `REFS`, or the number of the rule.
    row
        Within refs (in document order) or within the rule.
    place
        Row of the Version 0 view.
    found
        What it refers to, or why it is faulty.
    alike
        Rows of the rule that have the key because it leaves out a dimension; the last of them is this one.
    """

    origin: int
    row: int
    place: int
    found: Reference | RefbrowserError
    alike: int = 1

    @property
    def is_rule(self) -> bool:
        """Whether it comes from a gen rule."""
        return self.origin != REFS

    def __str__(self) -> str:
        return f"gen rule {self.origin}, row {self.row}" if self.is_rule else f"refs, row {self.row}"


@dataclass(frozen=True, slots=True)
class Occurrences:
    """All entries with one key.

    Attributes
    ----------
    counting
        The last one: what the key stands for. None where there is none, or it was not decided.
    shadowed
        Those before it, the nearest first.
    more
        Shadowed entries that are only counted.
    undecided
        Numbers of rules of which it was not decided whether they give the key, with the rows looked at.
    is_open
        One of those rules comes after every entry that was found, so that its rows would count.
    lost
        Where there is no entry: the fault of a rule or member that may have given one.
    """

    counting: Occurrence | None
    shadowed: tuple[Occurrence, ...] = ()
    more: int = 0
    undecided: tuple[tuple[int, int], ...] = ()
    is_open: bool = False
    lost: RefbrowserError | None = None


@dataclass
class _Found:
    """Occurrences as they are found, from the last entry of the document to the first."""

    entries: list[Occurrence] = field(default_factory=list)
    more: int = 0

    def add(self, entry: Occurrence) -> None:
        if len(self.entries) <= MOST_SHADOWED:
            self.entries.append(entry)
        else:
            self.more += 1


def find_occurrences(
    document: ReferenceDocument, key: str, cancelled: Callable[[], bool] = lambda: False
) -> Occurrences:
    """Return every entry of a document with a key.

    Of the rows of one rule with the key it is the last one; searches in rules are bounded, and end when
    `cancelled` says so.
    """
    found = _Found()
    undecided: list[tuple[int, int]] = []
    is_open = False
    rules = document.rules
    for number in range(len(rules) - 1, max(-1, len(rules) - 1 - MOST_RULES), -1):
        row = rules[number].find(key, cancelled)
        if isinstance(row, NotDecided):
            is_open |= not found.entries
            undecided.append((number, row.rows_checked))
        elif row is not None:
            found.add(_in_rule(document, number, row))
    slots = document.refs.all_slots(key)
    for slot in reversed(slots):
        position = document.refs.position(slot)
        found.add(Occurrence(REFS, position, position, document.expansion.item(position)[1]))
    first, rest = (found.entries[0], found.entries[1:]) if found.entries else (None, [])
    counting = None if is_open else first
    shadowed = ([first] if is_open and first is not None else []) + rest
    lost = document.expansion.lost(key) if first is None and not is_open else None
    return Occurrences(counting, tuple(shadowed), found.more, tuple(undecided), is_open, lost)


def _in_rule(document: ReferenceDocument, number: int, row: int) -> Occurrence:
    place = document.expansion.row_of(number, row)
    found = document.expansion.item(place)[1]
    return Occurrence(number, row, place, found, _rows_alike(document.rules[number]))


def _rows_alike(rule: GenRule) -> int:
    """Return how many rows share each key of a rule, as far as its key leaves out dimensions."""
    key = rule.fields.get("key")
    if key is None or key.template is None:
        return 1
    used = set(key.template.names)
    pairs = zip(rule.space.names, rule.space.lengths, strict=True)
    return prod(length for name, length in pairs if name not in used)
