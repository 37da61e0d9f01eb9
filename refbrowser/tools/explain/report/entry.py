"""Where in the document a key stands, every time: in refs, or as a row of a gen rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

from refbrowser.errors import RefbrowserError
from refbrowser.model.reference import ByteRange, Inline, Reference, WholeFile
from refbrowser.references.content.expansion import REFS
from refbrowser.references.content.refs import NONE
from refbrowser.references.rules.layouts import NotDecided
from refbrowser.references.templates.highlight import ListFolds
from refbrowser.references.templates.syntax import Template
from refbrowser.tools.explain.report.explanation import (
    Line,
    Link,
    LinkKind,
    Step,
    StepState,
    json_text,
    plain,
)
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document
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
        Row of the Version 0 view; `NONE` where the rows were not read.
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
    document: Document, key: str, cancelled: Callable[[], bool] = lambda: False
) -> Occurrences:
    """Return every entry of a document with a key.

    Of the rows of one rule with the key it is the last one; searches in rules are bounded, and end when
    `cancelled` says so.
    """
    if document.is_unread:
        return _unread(document, key)
    found = _Found()
    undecided: list[tuple[int, int]] = []
    is_open = False
    rules = document.generated
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


def _unread(document: Document, key: str) -> Occurrences:
    """Return the entry of a set whose references were not read: nobody knows which row it is."""
    try:
        found = document.expansion.reference(key)
    except RefbrowserError as error:
        return Occurrences(Occurrence(REFS, NONE, NONE, error))
    if found is None or isinstance(found, NotDecided):
        return Occurrences(None)
    return Occurrences(Occurrence(REFS, NONE, NONE, found))


def _in_rule(document: Document, number: int, row: int) -> Occurrence:
    place = document.expansion.row_of(number, row)
    found = document.expansion.item(place)[1]
    return Occurrence(number, row, place, found, _rows_alike(document.rules[number]) if document.rules else 1)


def _rows_alike(rule: GenRule) -> int:
    """Return how many rows share each key of a rule, as far as its key leaves out dimensions."""
    key = rule.fields.get("key")
    if key is None or key.template is None:
        return 1
    used = set(key.template.names)
    pairs = zip(rule.space.names, rule.space.lengths, strict=True)
    return prod(length for name, length in pairs if name not in used)


#: Templates and dimensions that are told of an entry.
MOST_NAMED = 20
#: Bytes of an entry that are laid out on one line; of longer ones the beginning is told as it stands.
LONGEST_WRITTEN = 4_000


def reference_text(found: Reference | RefbrowserError) -> str:
    """Return what an entry refers to."""
    if isinstance(found, RefbrowserError):
        return f"faulty: {found.message}"
    if isinstance(found, ByteRange):
        return f"{counted_plain(found.length, 'byte')} from byte {found.offset} of {plain(found.url)}"
    if isinstance(found, WholeFile):
        return f"all of {plain(found.url)}"
    if isinstance(found, Inline):
        return f"{counted_plain(len(found.data), 'byte')} in the document itself"
    return "nothing"


def reference_facts(found: Reference | RefbrowserError) -> dict[str, Any]:
    """Return what an entry refers to, for programs."""
    if isinstance(found, RefbrowserError):
        return {"reference": "faulty", "error": found.message}
    if isinstance(found, ByteRange):
        return {"reference": "range", "url": found.url, "offset": found.offset, "length": found.length}
    if isinstance(found, WholeFile):
        return {"reference": "whole", "url": found.url}
    return {"reference": "inline", "length": len(found.data)} if isinstance(found, Inline) else {}


def entry_step(document: Document, key: str, entries: Occurrences) -> Step:
    """Return the step for a key that has an entry."""
    entry = entries.counting
    assert entry is not None
    if document.rules_are_made or document.is_unread:
        return _made_step(entry)
    lines, templates = _rule_lines(document, entry) if entry.is_rule else _refs_lines(document, key)
    lines += _template_lines(document, templates)
    lines.append(Line(reference_text(entry.found), "Refers to"))
    lines += _shadow_lines(entries)
    state = StepState.WARNING if entries.shadowed or entry.alike > 1 else StepState.OK
    if isinstance(entry.found, RefbrowserError):
        state = StepState.FAULT
        lines += [Line(plain(entry.found.advice), "What to do")] if entry.found.advice else []
    rule = {"rule": entry.origin} if entry.is_rule else {}
    return Step(
        name="entry",
        title=f"Gen rule {entry.origin}" if entry.is_rule else "Reference",
        state=state,
        lines=lines,
        facts={
            "origin": "rule" if entry.is_rule else "refs",
            **rule,
            "row": entry.row,
            "version0_row": entry.place,
            "dimensions": _dimension_values(document, entry),
            "templates": templates,
            "shadowed": [_shadow_facts(other) for other in entries.shadowed],
            **reference_facts(entry.found),
        },
        links=_links(key, entry, templates),
    )


def _made_step(entry: Occurrence) -> Step:
    """Return the step for a key of a store or another file: of the rules made for it nobody knows."""
    found = entry.found
    text = (
        f"{counted_plain(len(found.data), 'byte')} of metadata"
        if isinstance(found, Inline)
        else reference_text(found)
    )
    row = None if entry.place == NONE else entry.place
    facts = {"origin": "made", "version0_row": row, **reference_facts(found)}
    state = StepState.FAULT if isinstance(found, RefbrowserError) else StepState.OK
    return Step(name="entry", title="Reference", state=state, lines=[Line(text, "Refers to")], facts=facts)


def missing_step(document: Document, entries: Occurrences) -> Step:
    """Return the step for a key that has no entry, or none that was found."""
    if entries.lost is not None:
        return _lost_step(entries.lost)
    if not entries.is_open:
        text = "There is no reference with this key, neither in refs nor from a gen rule."
        if document.rules_are_made:
            text = "Nothing is stored under this key."
        return Step(name="entry", title="No reference", lines=[Line(text)], facts={"origin": None})
    lines = [
        Line(f"Whether gen rule {number} gives this key is not known: only {rows} of its rows were checked.")
        for number, rows in entries.undecided[:MOST_NAMED]
    ]
    lines += [Line(f"{other}: {reference_text(other.found)}", "Would be") for other in entries.shadowed]
    return Step(
        name="entry",
        title="Not known",
        state=StepState.FAULT,
        lines=lines,
        facts={"origin": None, "undecided": [number for number, _ in entries.undecided]},
        links=[Link(LinkKind.RULE, f"Edit gen rule {number}", number) for number, _ in entries.undecided[:3]],
    )


def _lost_step(error: RefbrowserError) -> Step:
    """Return the step for a key that what is faulty may have given."""
    lines = [Line("There is no reference with this key; one may be lost."), Line(plain(error), "Fault")]
    if error.advice:
        lines.append(Line(plain(error.advice), "What to do"))
    rule = error.place.rule
    return Step(
        name="entry",
        title="Lost" if rule is None else f"Gen rule {rule} is faulty",
        state=StepState.FAULT,
        lines=lines,
        facts={"origin": None, "lost": error.message},
        links=[] if rule is None else [Link(LinkKind.RULE, f"Edit gen rule {rule}", rule)],
    )


def _refs_lines(document: Document, key: str) -> tuple[list[Line], list[str]]:
    slot = document.refs.find_slot(key)
    assert slot is not None
    position = document.refs.position(slot)
    lines = [Line(f"refs, row {position} of {len(document.refs)}", "From")]
    if not document.is_made:
        lines.append(Line(plain(document.key_pointer(key)), "JSON pointer"))
    lines.append(Line(_written(document.refs.value_text(slot)), "Written as"))
    value = document.refs.value(slot)
    url = value.url if value.kind is None and document.version == 1 else ""
    return lines, _used_templates(document, url)


def _written(raw: bytes) -> str:
    """Return the JSON text of an entry on one line, cut."""
    if len(raw) <= LONGEST_WRITTEN:
        try:
            return plain(json_text(json.loads(raw)), 240)
        except (ValueError, RecursionError):
            pass
    return plain(raw[:LONGEST_WRITTEN].decode("utf-8", "replace"), 240)


def _rule_lines(document: Document, entry: Occurrence) -> tuple[list[Line], list[str]]:
    rule = document.rules[entry.origin]
    values = rule.space.values(entry.row)
    lines = [
        Line(
            f"gen rule {entry.origin}, row {entry.row} of {rule.count} (row {entry.place} of all keys)",
            "From",
        ),
        Line(_dimension_text(_dimension_values(document, entry)), "Dimensions"),
    ]
    templates: list[str] = []
    for name, written in rule.fields.items():
        if written.text is None:
            continue
        try:
            rendered = plain(written.evaluate(values))
        except RefbrowserError as error:
            rendered = f"faulty: {error.message}"
        text = ListFolds().fold(written.text)
        lines.append(Line(rendered if rendered == plain(text) else f"{plain(text, 240)} = {rendered}", name))
        templates += [each for each in _used_templates(document, written.text) if each not in templates]
    return lines, templates


def _dimension_values(document: Document, entry: Occurrence) -> dict[str, int | str]:
    if not entry.is_rule:
        return {}
    space = document.rules[entry.origin].space
    return dict(zip(space.names, space.values(entry.row), strict=True))


def _dimension_text(values: dict[str, int | str]) -> str:
    texts = [f"{plain(name, 60)} = {value}" for name, value in list(values.items())[:MOST_NAMED]]
    return ", ".join(texts) or "none"


def _used_templates(document: Document, text: str) -> list[str]:
    """Return the templates that a jinja-str names, in its order."""
    try:
        template = Template.parse(text)
    except RefbrowserError:
        return []
    texts = document.templates.texts
    return [name for name in dict.fromkeys((*template.calls, *template.names)) if name in texts]


def _template_lines(document: Document, names: list[str]) -> list[Line]:
    templates = document.templates
    lines = []
    for name in names[:MOST_NAMED]:
        given = " (a value that you gave, not saved)" if name in templates.values else ""
        lines.append(Line(f"{json_text(templates.texts[name])}{given}", f"Template {plain(name, 60)}"))
    return lines


def _shadow_lines(entries: Occurrences) -> list[Line]:
    lines = []
    entry = entries.counting
    if entry is not None and entry.alike > 1:
        text = (
            f"{entry.alike} rows of this rule have the key, which leaves out a dimension: the last one wins"
        )
        lines.append(Line(text, "Repeated"))
    for other in entries.shadowed:
        lines.append(Line(f"{other}: {reference_text(other.found)}; a later entry replaces it", "Shadowed"))
    if entries.more:
        lines.append(Line(f"and {counted_plain(entries.more, 'more entry', 'more entries')}", "Shadowed"))
    for number, rows in entries.undecided:
        text = f"whether gen rule {number} gives this key too is not known ({rows} of its rows checked)"
        lines.append(Line(f"{text}; it would have no effect", "Not known"))
    return lines


def _shadow_facts(other: Occurrence) -> dict[str, Any]:
    rule = {"rule": other.origin} if other.is_rule else {}
    origin = "rule" if other.is_rule else "refs"
    return {"origin": origin, **rule, "row": other.row, **reference_facts(other.found)}


def _links(key: str, entry: Occurrence, templates: list[str]) -> list[Link]:
    if entry.is_rule:
        first = Link(LinkKind.RULE, f"Edit gen rule {entry.origin}", entry.origin)
    else:
        first = Link(LinkKind.REFERENCE, "Edit the reference", key)
    named = [Link(LinkKind.TEMPLATE, f"Edit template {plain(name, 40)}", name) for name in templates[:3]]
    return [first, *named]
