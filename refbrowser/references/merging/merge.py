"""Three-way merging of reference documents: what theirs changed, as edits of ours, and what is at odds.

What nobody edited keeps its bytes: the result is our document with edits. Metadata is merged member by
member, rules are matched by what they say, references key by key; consolidated metadata follows what it
repeats.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.model.report import Report, first_of
from refbrowser.references.content.consolidated import (
    CONSOLIDATED,
    CONSOLIDATED_V3,
    NODE_V3,
    consolidated_edit,
)
from refbrowser.references.content.content import DocumentContent, Edit
from refbrowser.references.content.refs import References
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.compare import changed_keys
from refbrowser.references.edits.edits import (
    AddTemplate,
    Compound,
    InsertRule,
    MoveRule,
    RemoveMember,
    RemoveReference,
    RemoveRule,
    RemoveTemplate,
    SetMember,
    SetReference,
    SetRule,
    SetTemplate,
    SetVersion,
    metadata_value,
    with_refs_object,
)
from refbrowser.references.edits.many_edits import RemoveReferences, SetReferences, runs_of
from refbrowser.references.edits.outer_edits import KNOWN_MEMBERS, rule_values, top_members
from refbrowser.references.edits.text_patch import patch_between
from refbrowser.references.merging.merged_members import (
    ABSENT,
    MemberConflict,
    member_at,
    merged_value,
    same_meaning,
    with_member_at,
)
from refbrowser.references.merging.merged_rules import ORDER, merged_rules, rule_text
from refbrowser.references.text.json_text import JsonError, JsonReader, parse, pointer
from refbrowser.words import counted

#: Keys that become single edits; of more the references are taken over as a whole, where one side alone
#: changed so many.
MOST = 50_000
#: Edits of so few keys are spaced as their neighbours.
_FEW = 200
#: Rules and entries whose faults are looked at after merging.
_LOOKED = 1_000


class Choice(StrEnum):
    """Whose value settles a conflict."""

    BASE = "base"
    OURS = "ours"
    THEIRS = "theirs"


class MergePart(StrEnum):
    """What a conflict is about."""

    MEMBER = "member"
    TEMPLATE = "template"
    RULE = "rule"
    METADATA = "metadata"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place that both sides changed in other ways: ours stands there until it is settled.

    Attributes
    ----------
    name
        Of the template or member; the key; of a rule its number in the result.
    path
        Names of members below that, in a rule or in the metadata of a key; empty for all of it.
    base, ours, theirs
        What it is on each side; `ABSENT` where it is not. Of the order of rules: lists of rules as text.
    """

    part: MergePart
    name: str
    path: tuple[str, ...]
    base: Any
    ours: Any
    theirs: Any
    version: int = 1

    @property
    def pointer(self) -> str:
        """The JSON pointer of the place in the merged document: of its key, for what is in metadata."""
        if self.part is MergePart.TEMPLATE:
            return pointer("templates", self.name)
        if self.part is MergePart.RULE:
            return pointer("gen") if self.path == (ORDER,) else pointer("gen", self.name, *self.path)
        if self.part is MergePart.MEMBER:
            return pointer(self.name, *self.path)
        return pointer(self.name) if self.version == 0 else pointer("refs", self.name)

    @property
    def inner(self) -> str:
        """The JSON pointer in the metadata of the key; empty where it is all of it, or none."""
        return pointer(*self.path) if self.part is MergePart.METADATA and self.path else ""

    def value(self, choice: Choice) -> Any:
        """Return what it is on one side; `ABSENT` where it is not."""
        return getattr(self, choice.value)

    def edit(self, document: ReferenceDocument, choice: Choice) -> Edit:
        """Return the edit of the merged document that settles the conflict.

        Parameters
        ----------
        document
            As it is now: other conflicts may be settled.

        Raises
        ------
        RefbrowserError
            The place is not there any more.
        """
        value = self.value(choice)
        edits: Iterable[Edit] = ()
        if self.part is MergePart.TEMPLATE:
            edits = template_edits(document, self.name, value)
        elif self.part is MergePart.MEMBER:
            now = top_members(document).get(self.name, ABSENT)
            whole = with_member_at(now, self.path, value)
            if whole is not ABSENT:
                edits = (SetMember(self.name, whole),)
            elif now is not ABSENT:
                edits = (RemoveMember(self.name),)
        elif self.part is MergePart.RULE:
            edits = self._rule_edits(document, value)
        elif self.part is MergePart.METADATA and self.path:
            json = with_member_at(_parsed(value_of(document.refs, self.name)), self.path, value)
            edits = _metadata_edits(document, self.name, json)
        else:
            edits = key_edits(document, self.name, value)
        return Compound(f"Take {choice} for {self.name}", tuple(edits))

    def _rule_edits(self, document: ReferenceDocument, value: Any) -> Iterator[Edit]:
        rules = rule_values(document)
        if self.path == (ORDER,):
            yield from order_edits(rules, value)
            return
        at = next((n for n in _near(int(self.name), len(rules)) if self._stands(rules[n])), None)
        if self.ours is ABSENT and not self.path:
            if value is not ABSENT:
                yield InsertRule(min(int(self.name), len(rules)), value)
        elif at is None:
            raise RefbrowserError(ErrorKind.USAGE, f"gen rule {self.name} is not as it was merged")
        elif not self.path and value is ABSENT:
            yield RemoveRule(at)
        else:
            yield SetRule(at, with_member_at(rules[at], self.path, value))

    def _stands(self, fields: Any) -> bool:
        return same_meaning(member_at(fields, self.path), self.ours)

    def is_open(self, document: ReferenceDocument) -> bool:
        """Whether ours stands at the place, or else something was done about it since the merge."""
        if self.part is MergePart.RULE:
            return self._is_open_rule(rule_values(document))
        if self.part is MergePart.TEMPLATE:
            now = document.templates.templates.get(self.name, ABSENT)
        elif self.part is MergePart.MEMBER:
            now = member_at(top_members(document).get(self.name, ABSENT), self.path)
        else:
            now = _parsed(value_of(document.refs, self.name))
            if not self.path:
                return same_meaning(now, _parsed(self.ours))
            now = member_at(now, self.path)
        return same_meaning(now, self.ours)

    def _is_open_rule(self, rules: Sequence[Any]) -> bool:
        if self.path == (ORDER,):
            ours = list(self.ours)
            return [text for text in map(rule_text, rules) if text in ours] == ours
        if self.ours is ABSENT and not self.path:
            return not any(same_meaning(rule, self.theirs) or same_meaning(rule, self.base) for rule in rules)
        return any(map(self._stands, rules))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON; a side that does not have it has no member."""
        sides = {choice.value: self.value(choice) for choice in Choice}
        return {
            "part": str(self.part),
            "name": self.name,
            "pointer": self.pointer,
            "inner": self.inner or None,
            "path": list(self.path),
            "version": self.version,
            **{side: value for side, value in sides.items() if value is not ABSENT},
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Merged(Report):
    """What came of a merge.

    Attributes
    ----------
    document
        The result: ours with `edits`. Where there are conflicts ours stands.
    edits
        What makes it of ours: undone as one step with `edit`.
    conflicts
        Those that are not settled.
    settled
        Those that were, by the side that was favoured.
    warnings
        What does not fit together any more, though no place was changed by both.
    """

    document: ReferenceDocument
    edits: tuple[Edit, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    settled: tuple[Conflict, ...] = ()
    warnings: tuple[Finding, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield edits, conflicts and warnings."""
        yield f"merged: {counted(len(self.edits), 'edit')}, {counted(len(self.conflicts), 'conflict')}"
        yield from first_of([f"conflict: {each.pointer}" for each in self.conflicts])
        yield from first_of([f"warning: {each.message}" for each in self.warnings])

    @property
    def edit(self) -> Edit:
        """All edits as one step."""
        return Compound("Merge", self.edits)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, without the document."""
        return {
            "edits": len(self.edits),
            "conflicts": [each.to_json() for each in self.conflicts],
            "settled": [each.to_json() for each in self.settled],
            "warnings": [each.to_json() for each in self.warnings],
        }


def merge_documents(
    base: ReferenceDocument,
    ours: ReferenceDocument,
    theirs: ReferenceDocument,
    favor: Choice | None = None,
    pause: Callable[[], None] = lambda: None,
) -> Merged:
    """Return what both sides made of a document.

    A side that is byte for byte the base gives the other side, byte for byte.

    Parameters
    ----------
    favor
        Whose value settles conflicts; None leaves them.
    pause
        Called often; may raise to end the work.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: both sides changed too many references; or a document cannot be made the version of the
        others.
    """
    if _same_text(base, theirs) or _same_text(ours, theirs):
        return Merged(ours)
    if _same_text(base, ours):
        return Merged(theirs, (patch_between(ours, theirs, "Take theirs"),))
    return merged_by_parts(base, ours, theirs, favor, pause)


def merged_by_parts(
    base: ReferenceDocument,
    ours: ReferenceDocument,
    theirs: ReferenceDocument,
    favor: Choice | None = None,
    pause: Callable[[], None] = lambda: None,
) -> Merged:
    """Return the same without looking whether a side is the base byte for byte; raises as it does."""
    merging = _Merging((ours, theirs), base, ours, theirs, pause)
    merged = merging.merged()
    if favor is None or not merged.conflicts:
        return merged
    document, edits = merged.document, list(merged.edits)
    if favor is not Choice.OURS:
        for conflict in merged.conflicts:
            edits.append(conflict.edit(document, favor))
            document = _applied(document, edits[-1])
    return replace(merged, document=document, edits=tuple(edits), conflicts=(), settled=merged.conflicts)


def _same_text(one: ReferenceDocument, other: ReferenceDocument) -> bool:
    """Tell whether two documents have the same bytes."""
    if one.outer != other.outer or len(one.refs) != len(other.refs):
        return False
    return one.to_bytes() == other.to_bytes()


def _applied(document: ReferenceDocument, edit: Edit) -> ReferenceDocument:
    changed = document.apply(edit)
    assert isinstance(changed, ReferenceDocument)
    return changed


@dataclass(slots=True, eq=False)
class _Merging:
    """One merge, as it goes on; `document` is ours as it is edited."""

    inputs: tuple[ReferenceDocument, ...]
    base: ReferenceDocument
    ours: ReferenceDocument
    theirs: ReferenceDocument
    pause: Callable[[], None]
    document: ReferenceDocument = field(init=False)
    edits: list[Edit] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)

    def merged(self) -> Merged:
        self.document = self.ours
        self._settle_version()
        if self.document.version == 1:
            self._merge_members()
            self._merge_templates()
            self._merge_rules()
        self._merge_references()
        return Merged(
            self.document, tuple(self.edits), tuple(self.conflicts), warnings=tuple(self._warnings())
        )

    def _do(self, edit: Edit) -> None:
        self.document = _applied(self.document, edit)
        self.edits.append(edit)

    def _note(self, part: MergePart, name: str, found: Iterable[MemberConflict]) -> None:
        version = self.document.version
        self.conflicts += [
            Conflict(part, name, each.path, each.base, each.ours, each.theirs, version) for each in found
        ]

    # The version

    def _settle_version(self) -> None:
        """Bring all three to one version: that to which a side changed it."""
        versions = self.base.version, self.ours.version, self.theirs.version
        wanted = versions[2] if versions[0] == versions[1] else versions[1]
        if self.ours.version != wanted:
            self._do(SetVersion(wanted))
        self.ours = self.document
        self.base = _applied(self.base, SetVersion(wanted))
        self.theirs = _applied(self.theirs, SetVersion(wanted))

    # Outside of refs

    def _merge_members(self) -> None:
        base, ours, theirs = (
            {name: value for name, value in top_members(each).items() if name not in KNOWN_MEMBERS}
            for each in (self.base, self.ours, self.theirs)
        )
        for name in dict.fromkeys((*ours, *theirs)):
            sides = (side.get(name, ABSENT) for side in (base, ours, theirs))
            merged, found = merged_value(*sides)
            self._note(MergePart.MEMBER, name, found)
            if not same_meaning(merged, ours.get(name, ABSENT)):
                self._do(RemoveMember(name) if merged is ABSENT else SetMember(name, merged))

    def _merge_templates(self) -> None:
        base, ours, theirs = (dict(each.templates.templates) for each in (self.base, self.ours, self.theirs))
        for name in dict.fromkeys((*ours, *theirs)):
            sides = [side.get(name, ABSENT) for side in (base, ours, theirs)]
            merged, found = merged_value(*sides)
            self._note(MergePart.TEMPLATE, name, found)
            if not same_meaning(merged, sides[1]):
                for edit in template_edits(self.document, name, merged):
                    self._do(edit)

    def _merge_rules(self) -> None:
        sides = [rule_values(each) for each in (self.base, self.ours, self.theirs)]
        result = merged_rules(*sides)
        for edit in result.edits(sides[1]):
            self._do(edit)
        places = {id(rule): place for place, rule in enumerate(result.rules)}
        for each in result.conflicts:
            at = each.at if each.rule is None else places[id(each.rule)]
            self._note(MergePart.RULE, str(at), [each.conflict])

    # References

    def _merge_references(self) -> None:
        theirs = changed_keys(self.base.refs, self.theirs.refs, MOST, self.pause)
        if theirs is None:
            self._take_over()
        else:
            self._merge_keys(theirs)

    def _take_over(self) -> None:
        """Take the references of theirs as a whole, and put what ours changed over them."""
        ours = changed_keys(self.base.refs, self.ours.refs, MOST, self.pause)
        if ours is None:
            message = f"both sides changed more than {MOST:,} references"
            raise RefbrowserError(
                ErrorKind.BUDGET, message, advice="merge documents whose references were folded into rules"
            )
        before = self.document
        # Ours and theirs change places for the references; what is at odds does not.
        framed = with_refs_object(before)
        assert isinstance(framed, ReferenceDocument)
        taken = replace(framed, refs=self.theirs.refs, region=self.theirs.region, known=None)
        self.document, self.ours, self.theirs, self.edits = taken, taken, self.ours, []
        known, edits = len(self.conflicts), self.edits
        self._merge_keys(ours)
        self.conflicts[known:] = [
            replace(each, ours=each.theirs, theirs=each.ours) for each in self.conflicts[known:]
        ]
        for each in self.conflicts[known:]:
            self.document = _applied(self.document, each.edit(self.document, Choice.OURS))
        self.edits = [*edits, patch_between(before, self.document, "Take their references")]

    def _merge_keys(self, keys: list[str]) -> None:
        metadata = [key for key in keys if is_metadata_key(key)]
        self._merge_metadata(metadata)
        values: dict[str, Any] = {}
        gone: list[str] = []
        known = set(metadata)
        for key in keys:
            self.pause()
            if key in known:
                continue
            base, ours, theirs = self._values(key)
            merged, found = merged_value(base, ours, theirs)
            self._note(MergePart.REFERENCE, key, found)
            if not same_meaning(merged, ours):
                if merged is ABSENT:
                    gone.append(key)
                else:
                    values[key] = merged
        for edit in reference_edits(self.document.refs, values, gone):
            self._do(edit)

    def _values(self, key: str) -> tuple[Any, Any, Any]:
        base, ours, theirs = (value_of(each.refs, key) for each in (self.base, self.ours, self.theirs))
        return base, ours, theirs

    # Metadata

    def _merge_metadata(self, keys: list[str]) -> None:
        """Merge metadata member by member, first what repeats other metadata."""
        for key in sorted(keys, key=lambda each: (not each.endswith(CONSOLIDATED), each.count("/"))):
            values = self._values(key)
            base, ours, theirs = (_parsed(value) for value in values)
            if not isinstance(ours, dict) or not isinstance(theirs, dict):
                self._merge_whole(key, values)
                continue
            if _repeats(key):
                base, theirs = (self._without_copies(key, each, ours) for each in (base, theirs))
            merged, found = merged_value(base, ours, theirs)
            self._note(MergePart.METADATA, key, found)
            if not same_meaning(merged, ours):
                for edit in _metadata_edits(self.document, key, merged):
                    self._do(edit)

    def _merge_whole(self, key: str, values: tuple[Any, Any, Any]) -> None:
        """Merge metadata that is no object on a side, or not there."""
        merged, found = merged_value(*values)
        parsed = tuple(map(_parsed, values))
        if found and same_meaning(parsed[1], parsed[2]):
            return
        self._note(MergePart.METADATA, key, found)
        if not same_meaning(merged, values[1]):
            for edit in key_edits(self.document, key, merged):
                self._do(edit)

    def _without_copies(self, key: str, value: Any, ours: Any) -> Any:
        """Return metadata in which the copies of what stands on its own are as in ours."""
        if not isinstance(value, dict):
            return value
        folder = key[: len(key) - len(key.rpartition("/")[2])]
        path, ends = (("metadata",), "") if key.endswith(CONSOLIDATED) else (
            (CONSOLIDATED_V3, "metadata"), f"/{NODE_V3}"
        )  # fmt: skip
        copies = member_at(value, path)
        mine = member_at(ours, path)
        if not isinstance(copies, dict):
            return value
        mine = mine if isinstance(mine, dict) else {}
        for name in dict.fromkeys((*copies, *mine)):
            if any(each.refs.find_slot(f"{folder}{name}{ends}") is not None for each in self._sides):
                value = with_member_at(value, (*path, name), mine.get(name, ABSENT))
        return value

    @property
    def _sides(self) -> tuple[ReferenceDocument, ...]:
        return self.base, self.ours, self.theirs

    # What does not fit together

    def _warnings(self) -> Iterator[Finding]:
        known = {each.message for side in self.inputs for each in (*_url_faults(side), *_rule_faults(side))}
        found = {each.message: each for each in (*_url_faults(self.document), *_rule_faults(self.document))}
        for text, each in found.items():
            if text not in known:
                yield replace(each, message=f"neither side had this fault: {text}")


def _fault(error: RefbrowserError, where: str, place: Place) -> Finding:
    return Finding(
        severity=Severity.WARNING, kind=error.kind, message=f"{error.message} in {where}", place=place
    )


def _url_faults(document: ReferenceDocument) -> Iterator[Finding]:
    """Yield why URLs of entries cannot be made, with what stands in them."""
    table = document.refs.table.urls
    for number, error in list(document.urls.faults.items())[:_LOOKED]:
        yield _fault(error, quoted(table[number]), Place(url=table[number]))
    patches = [*document.refs.replaced.values(), *document.refs.appended.values()][:_LOOKED]
    for patch in patches:
        url = patch.value.url
        if document.renders is None or "{" not in url:
            continue
        try:
            document.renders.render(url)
        except RefbrowserError as error:
            yield _fault(error, quoted(url), Place(url=url))


def _rule_faults(document: ReferenceDocument) -> Iterator[Finding]:
    """Yield why the first row of rules cannot be made."""
    for rule in document.rules[:_LOOKED]:
        if rule.count and (error := rule.row(0).error) is not None:
            yield _fault(error, f"the gen rule of {quoted(rule.key or '')}", Place(rule=rule.index, row=0))


# Values of keys


def value_of(refs: References, key: str) -> Any:
    """Return the JSON value of a key of `refs`; `ABSENT` where it is not there."""
    slot = refs.find_slot(key)
    if slot is None:
        return ABSENT
    return JsonReader(refs.value_text(slot)).value(0).to_python()


def reference_edits(refs: References, values: Mapping[str, Any], gone: Sequence[str]) -> Iterator[Edit]:
    """Yield what gives keys that are no metadata these values, and takes others away."""
    if len(gone) > _FEW:
        found = sorted(filter(lambda at: at is not None, map(refs.find, gone)))  # type: ignore[type-var]
        yield RemoveReferences(runs_of(np.array(found, np.int64)))
    else:
        yield from map(RemoveReference, gone)
    if len(values) > _FEW:
        yield SetReferences(tuple(values.items()))
    else:
        yield from itertools.starmap(SetReference, values.items())


def _parsed(value: Any) -> Any:
    """Return the JSON that a value of a metadata key is; the value itself where it is none."""
    if not isinstance(value, str):
        return value
    try:
        return parse(value.encode("utf-8", "surrogatepass")).to_python()
    except JsonError:
        return value


def _repeats(key: str) -> bool:
    """Tell whether metadata may repeat other metadata."""
    return key.rpartition("/")[2] in (CONSOLIDATED, NODE_V3)


def _metadata_edits(document: DocumentContent, key: str, json: Any) -> Iterator[Edit]:
    """Yield what gives a metadata key other JSON, and what gives it to the metadata that repeats it.

    What the key itself repeats is not touched: it was merged on its own.
    """
    yield SetReference(key, metadata_value(document, key, json))
    yield from _copy_edits(document, key, json)


def key_edits(document: DocumentContent, key: str, value: Any) -> Iterator[Edit]:
    """Yield what gives a key another value, or takes it away; copies in consolidated metadata follow."""
    if value is not ABSENT:
        yield SetReference(key, value)
    elif document.refs.find_slot(key) is not None:
        yield RemoveReference(key)
    if is_metadata_key(key):
        yield from _copy_edits(document, key, _parsed(value))


def _copy_edits(document: DocumentContent, key: str, json: Any) -> Iterator[Edit]:
    if key.rpartition("/")[2] == CONSOLIDATED:
        return
    for other, changed in consolidated_edit(document, key, None if json is ABSENT else json):
        if _is_above(other, key):
            left = _without_copy(changed, key, other) if json is ABSENT else changed
            yield SetReference(other, metadata_value(document, other, left))


def _is_above(other: str, key: str) -> bool:
    """Tell whether a document is one that repeats `key`, not one that `key` repeats."""
    folder = other.rpartition("/")[0]
    return other != key and (not folder or key.startswith(f"{folder}/"))


def _without_copy(json: Any, key: str, other: str) -> Any:
    """Return consolidated metadata without its copy of a key."""
    folder = other[: len(other) - len(other.rpartition("/")[2])]
    name = key.removeprefix(folder)
    if other.endswith(CONSOLIDATED):
        return with_member_at(json, ("metadata", name), ABSENT)
    return with_member_at(json, (CONSOLIDATED_V3, "metadata", name.removesuffix(f"/{NODE_V3}")), ABSENT)


# Edits that settle


def template_edits(document: DocumentContent, name: str, value: Any) -> Iterator[Edit]:
    """Yield what gives a template another text, adds it, or takes it away."""
    there = name in document.templates.templates
    if value is ABSENT:
        if there:
            yield RemoveTemplate(name)
    else:
        yield SetTemplate(name, value) if there else AddTemplate(name, value)


def _near(at: int, count: int) -> list[int]:
    """Return all numbers below `count`, those closest to one first."""
    return sorted(range(count), key=lambda number: (abs(number - at), number))


def order_edits(rules: Sequence[Any], wanted: Sequence[str]) -> Iterator[Edit]:
    """Yield moves that bring rules into an order; others stay where they are between them."""
    texts = list(map(rule_text, rules))
    places = [place for place, text in enumerate(texts) if text in wanted]
    order = iter(sorted((texts[place] for place in places), key=wanted.index))
    for place in places:
        text = next(order)
        at = texts.index(text, place)
        if at != place:
            yield MoveRule(at, place)
            texts.insert(place, texts.pop(at))
