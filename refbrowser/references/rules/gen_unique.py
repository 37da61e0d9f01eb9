"""Whether the keys of rules repeat, and which keys of `refs` a rule makes again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.errors import ErrorKind, Finding, Place, Severity, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.rules.rule_keys import KeyPattern
from refbrowser.references.rules.rule_search import SearchTime

if TYPE_CHECKING:
    from refbrowser.references.rules.gen import GenRule

#: Rules of more rows are not enumerated to look for equal keys: 8 bytes for each.
_MOST_ROWS = 2_000_000
_BLOCK = 1 << 16
#: Evaluation steps between two looks at the time, and rows that are looked at together at least.
_STEPS, _LEAST = 200_000, 64
_EXAMPLES = 3


def may_meet(one: GenRule, other: GenRule) -> bool:
    """Tell whether keys of two rules may be in the same folder."""
    mine, theirs = one.static_prefix, other.static_prefix
    if not (mine.startswith(theirs) or theirs.startswith(mine)):
        return False
    folders, others = one.directories(), other.directories()
    return folders is None or others is None or not set(folders).isdisjoint(others)


def find_duplicates(
    rule: GenRule, steps: int = LIMITS.template_steps_job, left: SearchTime | None = None
) -> Finding | None:
    """Return a warning that keys of the rule repeat, or that this was not decided; None where they do not.

    By proof where the key is lowered, else by comparing hashes where the rows can be enumerated.
    """
    if rule.count < 2 or rule.fields["key"].faults:
        return None
    pattern = rule.pattern
    if pattern is not None and pattern.is_injective:
        return None
    if pattern is not None and (pattern.unused or pattern.repeated):
        return _warning(rule, _certain(pattern), exact=_is_exact(pattern))
    compiled = rule.fields["key"].compiled
    each = max(1, compiled.steps) if compiled is not None and pattern is None else 1
    if rule.count > min(_MOST_ROWS, steps // each):
        return _not_decided(rule, "none")
    return _enumerated(rule, left or SearchTime(), min(max(_STEPS // each, _LEAST), _BLOCK))


def _not_decided(rule: GenRule, checked: int | str) -> Finding:
    message = f"whether keys of the rule repeat is not decided ({rule.count} rows, {checked} checked)"
    return Finding(
        severity=Severity.WARNING, kind=ErrorKind.BUDGET, message=message, place=_place(rule, None)
    )


def _certain(pattern: KeyPattern) -> int:
    """Return how many rows have a key that another row has after them, at least."""
    distinct = 1
    for slot, dimension in enumerate(pattern.space.dimensions):
        if slot not in pattern.unused:
            distinct *= dimension.length if slot not in pattern.repeated else len(set(dimension.values))
    return pattern.space.count - distinct


def _is_exact(pattern: KeyPattern) -> bool:
    return pattern.separated and not pattern.plan.open


def _enumerated(rule: GenRule, left: SearchTime, block: int) -> Finding | None:
    hashes = np.empty(rule.count, dtype=np.int64)
    for start in range(0, rule.count, block):
        if start and left.is_over:
            return _not_decided(rule, start)
        keys = rule.rows(start, start + block).keys
        hashes[start : start + len(keys)] = [hash(key) if key is not None else -1 for key in keys]
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    equal = ordered[1:] == ordered[:-1]
    suspects = order[np.flatnonzero(np.append(equal, False) | np.insert(equal, 0, False))]
    seen: dict[str, int] = {}
    first: int | None = None
    count = 0
    for number, row in enumerate(np.sort(suspects).tolist(), 1):
        if number % _LEAST == 0 and left.is_over:
            return _not_decided(rule, row)
        key = rule.rows(row, row + 1).keys[0]
        if key is None:
            continue
        if key in seen:
            count += 1
            first = seen[key] if first is None else first
        seen[key] = row
    return _warning(rule, count, exact=True, row=first) if count else None


def _warning(rule: GenRule, count: int, *, exact: bool, row: int | None = 0) -> Finding:
    amount = count if exact else f"at least {count}"
    message = f"keys of the rule repeat: {amount} rows are replaced by later ones of the same rule"
    return Finding(
        severity=Severity.WARNING,
        kind=ErrorKind.REF,
        message=message,
        place=_place(rule, row),
        advice="name each dimension in the key, with a separator between",
        count=count,
    )


def _place(rule: GenRule, row: int | None) -> Place:
    return Place(rule=rule.index, field="key", row=row, pointer=f"/gen/{rule.index}/key")


@dataclass(frozen=True, slots=True)
class Collisions:
    """Keys that a rule makes again: how many, the first with their rows, and how many were not decided."""

    count: int
    examples: tuple[tuple[str, int], ...]
    not_decided: int

    def finding(self, rule: int) -> Finding | None:
        """Return a warning about the rule at position `rule`, or None where there is nothing to say."""
        if not self.count and not self.not_decided:
            return None
        parts = []
        if self.count:
            shown = ", ".join(quoted(key) for key, _ in self.examples)
            parts.append(f"the rule replaces {self.count} entries of refs, among them {shown}")
        if self.not_decided:
            parts.append(f"for {self.not_decided} entries of refs it was not decided")
        row = self.examples[0][1] if self.examples else None
        place = Place(rule=rule, field="key", row=row, pointer=f"/gen/{rule}/key")
        return Finding(
            severity=Severity.WARNING,
            kind=ErrorKind.REF if self.count else ErrorKind.BUDGET,
            message="; ".join(parts),
            place=place,
            count=max(1, self.count),
        )


def find_collisions(
    rule: GenRule, keys: Iterable[str], cancelled: Callable[[], bool] = lambda: False
) -> Collisions:
    """Look up keys of `refs` in a rule; the document narrows them down to `GenRule.directories`."""
    count = not_decided = 0
    examples: list[tuple[str, int]] = []
    for key in keys:
        found = rule.find(key, cancelled)
        if found is None:
            continue
        if not isinstance(found, int):
            not_decided += 1
            continue
        count += 1
        if len(examples) < _EXAMPLES:
            examples.append((key, found))
    return Collisions(count, tuple(examples), not_decided)
