"""Three-way merging of gen rules: matched by what they say, wherever they stand; their order is kept.

Later rules count where two give the same key, so that order is part of what a document says.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from refbrowser.references.content.content import Edit
from refbrowser.references.edits.outer_edits import InsertRule, MoveRule, RemoveRule, SetRule
from refbrowser.references.merging.merged_members import ABSENT, MemberConflict, merged_value

#: Members that make two rules one where the others were changed.
_TELLING = ("url", "dimensions", "offset", "length", "key")
#: Stands in the path of a conflict for the order of all rules.
ORDER = "order"


def rule_text(fields: Any) -> str:
    """Return a rule as text: the order of its members does not count, but that of its dimensions does."""
    if isinstance(fields, dict):
        fields = dict(sorted(fields.items()))
    return json.dumps(fields)


@dataclass(slots=True, eq=False)
class MergedRule:
    """A rule of the result: its fields, and its number on each side that has it."""

    fields: Any
    ours: int | None = None
    theirs: int | None = None


@dataclass(frozen=True, slots=True)
class RuleConflict:
    """A rule, or the order of all, that both sides changed in other ways.

    Attributes
    ----------
    rule
        The rule of the result; None for one that is not in it, and for the order.
    at
        Where a rule that is not in the result would stand.
    conflict
        The place in its fields, and what is there. For the order the path is `ORDER`, and the values are
        lists of rules as text (`rule_text`).
    """

    rule: MergedRule | None
    at: int
    conflict: MemberConflict


@dataclass(slots=True, eq=False)
class MergedRules:
    """The rules of the result in their order, and what is at odds."""

    rules: list[MergedRule] = field(default_factory=list)
    conflicts: list[RuleConflict] = field(default_factory=list)

    def edits(self, ours: Sequence[Any]) -> Iterator[Edit]:
        """Yield what makes these of our rules; rules that nobody changed keep their text."""
        for rule in self.rules:
            if rule.ours is not None and rule_text(rule.fields) != rule_text(ours[rule.ours]):
                yield SetRule(rule.ours, rule.fields)
        kept = {rule.ours for rule in self.rules}
        for number in reversed(range(len(ours))):
            if number not in kept:
                yield RemoveRule(number)
        now = [number for number in range(len(ours)) if number in kept]
        for place, rule in enumerate(self.rules):
            if rule.ours is None:
                yield InsertRule(place, rule.fields)
                now.insert(place, -1)
            elif now[place] != rule.ours:
                at = now.index(rule.ours)
                yield MoveRule(at, place)
                now.insert(place, now.pop(at))


def merged_rules(base: Sequence[Any], ours: Sequence[Any], theirs: Sequence[Any]) -> MergedRules:
    """Return what both sides made of the rules; where they are at odds ours stand."""
    texts = [list(map(rule_text, rules)) for rules in (base, ours, theirs)]
    result = MergedRules()
    if texts[1] == texts[2] or texts[0] == texts[2]:
        result.rules = [MergedRule(fields, ours=number) for number, fields in enumerate(ours)]
        return result
    return _Merging(base, ours, theirs, result).merged()


class _Merging:
    def __init__(
        self, base: Sequence[Any], ours: Sequence[Any], theirs: Sequence[Any], result: MergedRules
    ) -> None:
        self.base, self.ours, self.theirs, self.result = base, ours, theirs, result
        self.of_ours = _matched(base, ours)
        self.of_theirs = _matched(base, theirs)
        #: Rules of the result that the base has, by their number there.
        self.kept: dict[int, MergedRule] = {}

    def merged(self) -> MergedRules:
        odds = [each for number in range(len(self.base)) for each in self._from_base(number)]
        mine = self._sequence_of_ours()
        added = self._added(mine, odds)
        order = self._order()
        if order is not None and order != self._orders()[1]:
            # They alone moved rules: theirs is the frame into which ours are put.
            rules = _put(self._sequence_of_theirs(added), mine)
        else:
            if order is None:
                self._note_order()
            rules = _put(mine, self._sequence_of_theirs(added))
        self.result.rules = rules
        places = {id(rule): place for place, rule in enumerate(rules)}
        self.result.conflicts += [
            RuleConflict(rule, at if rule is None else places[id(rule)], conflict)
            for rule, at, conflict in odds
        ]
        return self.result

    def _from_base(self, number: int) -> Iterator[tuple[MergedRule | None, int, MemberConflict]]:
        """Merge one rule of the base; yields what is at odds."""
        mine, other = self.of_ours.get(number), self.of_theirs.get(number)
        values = (
            self.base[number],
            ABSENT if mine is None else self.ours[mine],
            ABSENT if other is None else self.theirs[other],
        )
        merged, conflicts = _merged_fields(*values)
        rule = None
        if merged is not ABSENT:
            rule = self.kept[number] = MergedRule(merged, mine, other)
        for each in conflicts:
            yield rule, number, each

    def _sequence_of_ours(self) -> list[MergedRule]:
        """Return the rules of our side that are in the result, in its order."""
        back = {place: number for number, place in self.of_ours.items()}
        found = []
        for place, fields in enumerate(self.ours):
            if place not in back:
                found.append(MergedRule(fields, place))
            elif back[place] in self.kept:
                found.append(self.kept[back[place]])
        return found

    def _added(
        self, mine: list[MergedRule], odds: list[tuple[MergedRule | None, int, MemberConflict]]
    ) -> dict[int, MergedRule]:
        """Return the rules that they added, by their number; those that we added too are ours."""
        taken = set(self.of_theirs.values())
        new = [rule for rule in mine if rule.ours not in set(self.of_ours.values())]
        by_text: dict[str, list[MergedRule]] = defaultdict(list)
        by_key: dict[str, list[MergedRule]] = defaultdict(list)
        for rule in new:
            by_text[rule_text(rule.fields)].append(rule)
            by_key[_key(rule.fields)].append(rule)
        found: dict[int, MergedRule] = {}
        for place, fields in enumerate(self.theirs):
            if place in taken:
                continue
            same = next((r for r in by_text[rule_text(fields)] if r.theirs is None), None)
            alike = same or next((r for r in by_key[_key(fields)] if r.theirs is None), None)
            if alike is None:
                found[place] = MergedRule(fields, None, place)
                continue
            alike.theirs = place
            found[place] = alike
            if same is None:
                # Both give the same keys: the later one would hide the other.
                odds.append((alike, place, MemberConflict((), ABSENT, alike.fields, fields)))
        return found

    def _sequence_of_theirs(self, added: dict[int, MergedRule]) -> list[MergedRule]:
        back = {place: number for number, place in self.of_theirs.items()}
        found = []
        for place in range(len(self.theirs)):
            rule = added[place] if place in added else self.kept.get(back[place])
            if rule is not None:
                found.append(rule)
        return found

    # Order

    def _orders(self) -> tuple[list[int], list[int], list[int]]:
        """Return in which order base, ours and theirs have the rules that all of them have."""
        numbers = [n for n in self.kept if n in self.of_ours and n in self.of_theirs]
        return (
            sorted(numbers),
            sorted(numbers, key=self.of_ours.__getitem__),
            sorted(numbers, key=self.of_theirs.__getitem__),
        )

    def _order(self) -> list[int] | None:
        before, mine, theirs = self._orders()
        if before == theirs or mine == theirs:
            return mine
        return theirs if before == mine else None

    def _note_order(self) -> None:
        lists = [[rule_text(self.kept[n].fields) for n in order] for order in self._orders()]
        self.result.conflicts.append(RuleConflict(None, 0, MemberConflict((ORDER,), *lists)))


def _merged_fields(base: Any, ours: Any, theirs: Any) -> tuple[Any, list[MemberConflict]]:
    """Merge the fields of a rule; an order of dimensions that differs is a difference."""
    texts = [each if each is ABSENT else rule_text(each) for each in (base, ours, theirs)]
    if texts[1] == texts[2] or texts[0] == texts[2]:
        return ours, []
    if texts[0] == texts[1]:
        return theirs, []
    merged, conflicts = merged_value(base, ours, theirs)
    if not conflicts and texts[1] == rule_text(merged) and _orders_apart(base, theirs):
        conflicts = [MemberConflict((), base, ours, theirs)]
    return merged, conflicts


def _orders_apart(base: Any, theirs: Any) -> bool:
    """Tell whether they changed nothing but the order of dimensions, which no member shows."""
    return merged_value(base, base, theirs)[0] is base


def _key(fields: Any) -> str:
    return str(fields.get("key")) if isinstance(fields, dict) else rule_text(fields)


def _matched(base: Sequence[Any], side: Sequence[Any]) -> dict[int, int]:
    """Return which rule of a side is which of the base: by text, else by key, else a neighbour."""
    found: dict[int, int] = {}
    free = dict.fromkeys(range(len(side)))
    for name in (rule_text, _key):
        places: dict[str, list[int]] = defaultdict(list)
        for place in free:
            places[name(side[place])].append(place)
        for number, fields in enumerate(base):
            if number not in found and places[name(fields)]:
                found[number] = places[name(fields)].pop(0)
                del free[found[number]]
    for number, fields in enumerate(base):
        if number in found:
            continue
        wanted = found.get(number - 1, number - 1) + 1
        if wanted in free and _share(fields, side[wanted]):
            found[number] = wanted
            del free[wanted]
    return found


def _share(one: Any, other: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    return any(name in one and one.get(name) == other.get(name) for name in _TELLING)


def _put(frame: list[MergedRule], others: list[MergedRule]) -> list[MergedRule]:
    """Return a sequence with the rules of another one that it lacks, each behind the one that it follows."""
    result = list(frame)
    there = {id(rule) for rule in frame}
    shared = {id(rule) for rule in others}
    before: MergedRule | None = None
    for rule in others:
        if id(rule) not in there:
            at = 0 if before is None else next(n for n, each in enumerate(result) if each is before) + 1
            # Behind what the frame alone has at this place.
            while before is not None and at < len(result) and id(result[at]) not in shared:
                at += 1
            result.insert(at, rule)
            there.add(id(rule))
        before = rule
    return result
