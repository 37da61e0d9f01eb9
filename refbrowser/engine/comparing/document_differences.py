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

from refbrowser.engine.comparing.chunk_differences import absolute_url
from refbrowser.engine.comparing.differences import Difference, DifferenceKind
from refbrowser.engine.comparing.node_differences import value_text
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import RefbrowserError
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.model.reference import ByteRange, WholeFile
from refbrowser.references.document.chunk_codes import Group, group_of_chunks, split_key
from refbrowser.references.edits.compare import Side, other_keys
from refbrowser.references.edits.outer_edits import KNOWN_MEMBERS
from refbrowser.references.rules.layouts import NotDecided

#: Rows of one rule, and of all rules, that are looked up in the other document.
RULE_ROWS, ALL_ROWS = 20_000, 60_000
#: Rows that are asked for at a time.
_BLOCK = 1_000


class DocumentDifferences:
    """The differences of two documents that somebody wrote, and what they only spell otherwise.

    Attributes
    ----------
    differences
        What counts.
    spelled
        What means the same: rules that give the same rows, templates that one alone has, the version.
    """

    def __init__(self, here: Dataset, there: Dataset, control: JobControl) -> None:
        self.differences: list[Difference] = []
        self.spelled: list[Difference] = []
        self._sides = here, there
        self._control = control
        self._left = ALL_ROWS
        documents = here.document, there.document
        if any(document.rules_are_made for document in documents):
            return
        self._compare_tops()
        self._compare_templates()
        self._compare_rules()
        self._compare_keys()

    def _compare_tops(self) -> None:
        texts = [side.document.written() for side in self._sides]
        versions = [str(text.version) for text in texts]
        if versions[0] != versions[1]:
            self.spelled.append(Difference(DifferenceKind.MEMBER, "", "version", Side.BOTH, *versions))
        if "0" in versions or any(side.document.from_parquet for side in self._sides):
            # These have no place for other members.
            return
        mine, theirs = (text.node.to_python() for text in texts)
        for each in _compared(DifferenceKind.MEMBER, mine, theirs):
            if each.name not in KNOWN_MEMBERS:
                self.differences.append(each)

    def _compare_templates(self) -> None:
        mine, theirs = (side.document.templates.templates for side in self._sides)
        for each in _compared(DifferenceKind.TEMPLATE, mine, theirs):
            # One that the other does not have gives its text to URLs that are written out there.
            (self.differences if each.side is Side.BOTH else self.spelled).append(each)

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
        for start, stop in self._blocks(rule.count):
            self._control.check()
            rows = rule.rows(start, stop)
            for place, key in enumerate(rows.keys):
                checked += 1
                if key is None or place in rows.faults or not _gives_alike(mine, theirs, key):
                    different += 1
                    first = first or (key or f"row {start + place}")
        if different:
            return True, f"{different:,} of {checked:,} rows differ, the first is {first}"
        if checked < rule.count:
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
        grids = chunk_grids(*(side.hierarchy for side in self._sides))
        here, there = (side.document for side in self._sides)
        part = other_keys(here, there, grids, self._control.check)
        for each in part.examples:
            self.differences.append(
                Difference(DifferenceKind.KEY, "", each.name, each.side, each.here, each.there)
            )
        counts = (part.only_here, Side.HERE), (part.only_there, Side.THERE), (part.different, Side.BOTH)
        for count, side_of in counts:
            more = count - sum(each.side is side_of for each in part.examples)
            if more:
                name = f"and {more:,} more keys that are no chunks"
                self.differences.append(Difference(DifferenceKind.KEY, "", name, side_of))


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
            found.append(side.document.expansion.reference(key))
        except RefbrowserError as error:
            found.append(error.message)
    if any(each is None or isinstance(each, NotDecided) for each in found):
        return False
    if found[0] == found[1]:
        return True
    places = [
        replace(each, url=absolute_url(each.url, side)) if isinstance(each, ByteRange | WholeFile) else each
        for each, side in zip(found, (mine, theirs), strict=True)
    ]
    return bool(places[0] == places[1])


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
