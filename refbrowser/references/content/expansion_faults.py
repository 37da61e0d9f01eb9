"""What an expansion of a document lacks: members, templates and rules that are faulty, and their number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from refbrowser.errors import quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import MEMBER_WRONG, TEMPLATE_FAULTY
from refbrowser.references.content.content import DocumentContent, ReferenceText, wrong_member
from refbrowser.references.content.finding_places import (
    AnyPositions,
    Found,
    found_error,
    located,
    placed,
    positions_of,
)
from refbrowser.references.rules.rule_faults import static_faults
from refbrowser.references.text.json_text import NodeKind, pointer
from refbrowser.words import counted_plain


def expansion_faults(document: DocumentContent) -> tuple[Finding, ...]:
    """Return why an expansion of a document lacks something, whatever its entries and rows are.

    That are members of the wrong type, faulty templates and rules, and what could not be read when a document
    was made from other files. Entries and rows are not looked at.
    """
    positions = positions_of(document)
    found = [*wrong_members(document, positions), *faulty_templates(document, positions)]
    rules = document.rules if document.known is None else ()
    of_rules = [finding for rule in rules for finding in static_faults(rule)]
    return (*document.unread, *placed(document, found), *located(document, of_rules))


def wrong_members(document: DocumentContent, positions: AnyPositions) -> Iterator[Found]:
    """Yield the members of the top level that are of the wrong type."""
    for name, node in document.wrong_members.items():
        error = wrong_member(name, node)
        yield found_error(error, pointer(name), positions.outer(node.start), MEMBER_WRONG)


def faulty_templates(document: DocumentContent, positions: AnyPositions) -> Iterator[Found]:
    """Yield the faulty templates."""
    if not isinstance(document, ReferenceText) or document.version == 0 or not document.templates.faults:
        return
    node = document.node.member("templates")
    values = {} if node is None else {member.key: member.value for member in node.members}
    for name, error in document.templates.faults:
        value = values.get(name)
        if value is None:
            yield found_error(error, pointer("templates", name), None, TEMPLATE_FAULTY)
            continue
        position = value.start
        if error.place.span is not None and value.kind is NodeKind.STRING:
            position += _inside(document.outer[value.start : value.stop], error.place.span[0])
        where = positions.outer(position)
        yield found_error(error, pointer("templates", name), where, TEMPLATE_FAULTY)


def _inside(raw: bytes, characters: int) -> int:
    """Return where the character of that number stands in the JSON text of a string."""
    return 1 + characters if raw.isascii() and b"\\" not in raw else 0


@dataclass(slots=True)
class LeftOut:
    """How much of a document its expansion lacks.

    Attributes
    ----------
    entries
        Faulty entries of refs.
    rows
        Faulty rows of rules.
    rules
        Rules of which no row is known.
    templates
        Faulty ones: what uses them is among the entries and rows.
    members
        Names of those that are of the wrong type.
    other
        What could not be read when the document was made from other files.
    """

    entries: int = 0
    rows: int = 0
    rules: int = 0
    templates: int = 0
    members: tuple[str, ...] = ()
    other: int = 0

    @classmethod
    def of(cls, document: DocumentContent) -> LeftOut:
        """Return what an expansion lacks whatever its entries and rows are."""
        return cls(
            rules=sum(1 for rule in document.rules if rule.structure_faults),
            templates=len(document.templates.faults) if document.version else 0,
            members=tuple(document.wrong_members),
            other=len(document.unread),
        )

    def __str__(self) -> str:
        counts = (
            (self.entries, "faulty entry of refs", "faulty entries of refs"),
            (self.rows, "faulty row of gen rules", "faulty rows of gen rules"),
            (self.rules, "gen rule", "gen rules"),
            (self.templates, "template", "templates"),
            (self.other, "part that could not be read", "parts that could not be read"),
        )
        parts = [counted_plain(count, one, many) for count, one, many in counts if count]
        return ", ".join([*parts, *(f"the member {quoted(name)}" for name in self.members)])
