"""How two reference documents differ beside what they describe: templates, rules, members, other keys.

Rules are compared by what they generate: one that gives for each of its keys what the other document has too,
by whatever rule or entry, is written otherwise and means the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from refbrowser.engine.comparing.chunk_differences import absolute_url, reference_text
from refbrowser.engine.comparing.differences import Difference, DifferenceKind
from refbrowser.engine.comparing.node_differences import value_text
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import RefbrowserError
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.model.reference import ByteRange, WholeFile
from refbrowser.references.content.chunk_codes import Group, group_of_chunks, split_key
from refbrowser.references.document.document import Document
from refbrowser.references.edits.compare import Part, Side, changed_keys, is_chunk, other_keys
from refbrowser.references.edits.outer_edits import KNOWN_MEMBERS
from refbrowser.references.rules.layouts import NotDecided

#: Rows of one rule, and of all rules, that are looked up in the other document.
RULE_ROWS, ALL_ROWS = 20_000, 60_000
#: Keys that are no chunks, and written otherwise, that are looked up in both documents.
KEYS = 10_000
#: Rows that are asked for at a time.
_BLOCK = 1_000


class DocumentDifferences:
    """The differences of two documents that somebody wrote, and what they only spell otherwise.

    Attributes
    ----------
    differences
        What counts.
    spelled
        What means the same: rules that give the same rows, templates that come to the same, the version.
    unlooked
        Rows of rules and keys, of no array, that were not looked at, because there are too many.

    Parameters
    ----------
    same_references
        The references of all arrays are the same.
    """

    def __init__(self, here: Dataset, there: Dataset, control: JobControl, *, same_references: bool) -> None:
        self.differences: list[Difference] = []
        self.spelled: list[Difference] = []
        self.unlooked = 0
        self._sides = here, there
        self._control = control
        self._left = ALL_ROWS
        documents = here.document, there.document
        if any(document.rules_are_made for document in documents):
            return
        self._grids = chunk_grids(here.hierarchy, there.hierarchy)
        self._compare_tops()
        before = len(self.differences)
        self._compare_rules()
        self._compare_keys()
        is_same = same_references and len(self.differences) == before
        self._compare_templates(before, is_same=is_same)

    def _compare_tops(self) -> None:
        texts = [side.document.written() for side in self._sides]
        versions = [str(text.version) for text in texts]
        if versions[0] != versions[1]:
            self.spelled.append(Difference(DifferenceKind.MEMBER, "", "version", Side.BOTH, *versions))
        mine, theirs = (
            {} if text.version == 0 or side.document.from_parquet else text.node.to_python()
            for text, side in zip(texts, self._sides, strict=True)
        )
        for each in _compared(DifferenceKind.MEMBER, mine, theirs):
            if each.name not in KNOWN_MEMBERS:
                self.differences.append(each)

    def _compare_templates(self, place: int, *, is_same: bool) -> None:
        """Compare templates: they are a difference where something that may come of them is one."""
        mine, theirs = (side.document.templates.templates for side in self._sides)
        found = list(_compared(DifferenceKind.TEMPLATE, mine, theirs))
        # One that the other does not have gives its text to URLs that are written out there.
        self.spelled += (each for each in found if is_same or each.side is not Side.BOTH)
        self.differences[place:place] = [each for each in found if not is_same and each.side is Side.BOTH]

    # Rules

    def _compare_rules(self) -> None:
        sides = [[node.to_python() for node in side.document.rule_nodes] for side in self._sides]
        texts = [[_rule_text(fields) for fields in rules] for rules in sides]
        if texts[0] == texts[1]:
            return
        equal = set(texts[0]) & set(texts[1])
        left = [[number for number, text in enumerate(side) if text not in equal] for side in texts]
        if not left[0] and not left[1]:
            name = "the order of the rules"
            self.spelled.append(Difference(DifferenceKind.RULE, "", name, Side.BOTH))
        told = [{number: self._rows_differ(at, number) for number in left[at]} for at in (0, 1)]
        for number in sorted({*left[0], *left[1]}):
            self._note_rule(number, texts, told)

    def _note_rule(
        self, number: int, texts: list[list[str]], told: list[dict[int, tuple[bool, str]]]
    ) -> None:
        both = number in told[0] and number in told[1]
        for at, side in enumerate((Side.HERE, Side.THERE)):
            if number not in told[at]:
                continue
            differs, note = told[at][number]
            mine, theirs = (
                rules[number] if number in found else "" for rules, found in zip(texts, told, strict=True)
            )
            if both:
                differs = differs or told[1][number][0]
                note = note or told[1][number][1]
                side = Side.BOTH
            elif side is Side.HERE:
                theirs = ""
            else:
                mine = ""
            found = Difference(DifferenceKind.RULE, "", f"rule {number}", side, mine, theirs, note)
            (self.differences if differs else self.spelled).append(found)
            if both:
                return

    def _rows_differ(self, at: int, number: int) -> tuple[bool, str]:
        """Return whether a rule gives a key something else than the other document has, and words for it."""
        mine, theirs = self._sides[at], self._sides[1 - at]
        rule = mine.document.rules[number]
        if rule.structure_faults:
            return True, rule.structure_faults[0].message
        checked = different = 0
        first = ""
        are_chunks = True
        for start, stop in self._blocks(rule.count):
            self._control.check()
            rows = rule.rows(start, stop)
            for place, key in enumerate(rows.keys):
                checked += 1
                are_chunks = are_chunks and key is not None and is_chunk(self._grids, key)
                if key is None or place in rows.faults or not _gives_alike(mine, theirs, key):
                    different += 1
                    first = first or (key or f"row {start + place}")
        if different:
            return True, f"{different:,} of {checked:,} rows differ, the first is {first}"
        if checked < rule.count:
            # Those of arrays are compared there, all of them.
            self.unlooked += 0 if are_chunks else rule.count - checked
            return False, f"not decided ({checked:,} of {rule.count:,} rows checked)"
        return False, f"the same {checked:,} references"

    def _blocks(self, count: int) -> Iterator[tuple[int, int]]:
        """Yield rows to be checked: all, or the beginning, the end and some between."""
        most = min(RULE_ROWS, self._left)
        if count <= most:
            self._left -= count
            yield from ((at, min(at + _BLOCK, count)) for at in range(0, count, _BLOCK))
            return
        blocks = most // _BLOCK
        self._left -= blocks * _BLOCK
        for number in range(blocks):
            start = (count - _BLOCK) * number // max(blocks - 1, 1)
            yield start, start + _BLOCK

    # Keys

    def _compare_keys(self) -> None:
        """Compare the keys that are neither metadata nor chunks, by what they come to."""
        here, there = (side.document for side in self._sides)
        if not any(map(_may_have_others, (here, there))):
            # Very many references are not read to find none.
            return
        keys = changed_keys(here.refs, there.refs, KEYS, self._control.check, self._grids)
        if keys is None:
            # Too many to be looked up: as they are written.
            part = other_keys(here, there, self._grids, self._control.check)
        else:
            part = self._looked_up(keys)
        self.unlooked += part.skipped
        for each in part.examples:
            self.differences.append(
                Difference(DifferenceKind.KEY, "", each.name, each.side, each.here, each.there)
            )
        counts = (part.only_here, Side.HERE), (part.only_there, Side.THERE), (part.different, Side.BOTH)
        for count, side_of in counts:
            more = count - sum(each.side is side_of for each in part.examples)
            if more:
                name = f"and {more:,} more keys that are not chunks"
                self.differences.append(Difference(DifferenceKind.KEY, "", name, side_of))

    def _looked_up(self, keys: list[str]) -> Part:
        part = Part("Keys")
        for key in keys:
            self._control.check()
            if _gives_alike(*self._sides, key):
                continue
            here, there = (_text_of(side, key) for side in self._sides)
            side = Side.HERE if there is None else Side.THERE if here is None else Side.BOTH
            part.note(side, key, here or "", there or "")
        return part


def _may_have_others(document: Document) -> bool:
    """Tell whether a document may have keys that are neither metadata nor chunks."""
    refs = document.refs
    if not document.is_unread or refs.at_hand is refs or len(refs.by_key):
        return True
    return not all(map(is_metadata_key, refs.at_hand.keys(0, len(refs.at_hand))))


def _compared(
    kind: DifferenceKind, mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Iterator[Difference]:
    for name in dict.fromkeys((*mine, *theirs)):
        if name not in theirs:
            yield Difference(kind, "", name, Side.HERE, here=_text(mine[name]))
        elif name not in mine:
            yield Difference(kind, "", name, Side.THERE, there=_text(theirs[name]))
        elif _rule_text(mine[name]) != _rule_text(theirs[name]):
            yield Difference(kind, "", name, Side.BOTH, _text(mine[name]), _text(theirs[name]))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else value_text(value)


def _rule_text(fields: Any) -> str:
    """Return fields as text in which the order of members does not count, but that of dimensions does."""
    if isinstance(fields, dict):
        fields = dict(sorted(fields.items()))
    return json.dumps(fields, ensure_ascii=False)


def _gives_alike(mine: Dataset, theirs: Dataset, key: str) -> bool:
    """Tell whether a key stands for the same bytes on both sides; one that is on neither does not."""
    found: list[Any] = []
    for side in (mine, theirs):
        try:
            given = side.document.expansion.reference(key)
        except RefbrowserError as error:
            found.append(error.message)
            continue
        if isinstance(given, ByteRange | WholeFile):
            given = replace(given, url=absolute_url(given.url, side))
        found.append(given)
    if any(each is None or isinstance(each, NotDecided) for each in found):
        return False
    return bool(found[0] == found[1])


def _text_of(side: Dataset, key: str) -> str | None:
    """Return what a key stands for, as documents write it; None where it is not there."""
    try:
        given = side.document.expansion.reference(key)
    except RefbrowserError as error:
        return f"cannot be read: {error.message}"
    if given is None:
        return None
    return "not decided" if isinstance(given, NotDecided) else reference_text(given)


def chunk_grids(*hierarchies: Hierarchy) -> dict[Group, list[tuple[tuple[int, ...], tuple[int, ...]]]]:
    """Return the grids of all arrays by the group of their chunk keys, as `other_keys` takes them."""
    grids: dict[Group, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    for node in chain.from_iterable(hierarchy.walk() for hierarchy in hierarchies):
        if not isinstance(node, ArrayNode) or not node.has_manifest:
            continue
        shape = node.manifest.grid_shape
        found = group_of_chunks(node.key_prefix, len(shape), node.chunk_keys)
        if found is None:
            found = split_key(node.key_prefix + node.chunk_keys.encode((0,) * len(shape)))
            shape = ()
        if found is not None:
            grids.setdefault(found[0], []).append((found[1], shape))
    return grids
