"""The checks of gen rules: what is wrong with one, where its keys repeat, and what it makes again.

Each check stands once, in `RULE_CHECKS` or `PAIR_CHECKS`, and yields findings with place, message and fix.
From these lists follow the list of findings, `check` on the command line and the chips of the editor: all
with the same bounds (`LIMITS.template_steps_job`, `LIMITS.search_time`, `MOST_KEYS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.errors import Place, quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import NOT_DECIDED, RULE_KEYS_REPEAT, RULE_REPLACES
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.references.content.chunk_codes import BITS, split_key, unpack_many
from refbrowser.references.content.finding_places import located
from refbrowser.references.content.table import ODD
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.rule_faults import find_faults
from refbrowser.references.rules.rule_keys import KeyPattern
from refbrowser.references.rules.rule_search import SearchTime

if TYPE_CHECKING:
    from refbrowser.references.content.content import DocumentContent
    from refbrowser.references.content.refs import References

#: Rules of more rows are not enumerated to look for equal keys: 8 bytes for each.
_MOST_ROWS = 2_000_000
_BLOCK = 1 << 16
#: Rows that are looked at together at least.
_LEAST = 64
_EXAMPLES = 3
#: What comparing two rules costs, and making a key of one, in steps of `LIMITS.template_steps_job`.
_PAIR_STEPS = _KEY_STEPS = 10
#: Keys that are looked up one by one in one rule, at most; beyond, collisions are not decided.
MOST_KEYS = 200_000
_PAGE = 4096
#: Coordinates of chunks that are looked up at once.
_COORDS = 1 << 14
_MISSING, _UNDECIDED = -1, -2


class Steps:
    """Steps left for keys that collide, over all rules of a document."""

    def __init__(self) -> None:
        self.left = LIMITS.template_steps_job

    def take(self, steps: int) -> bool:
        """Take steps; tell whether there were so many."""
        self.left -= steps
        return self.left >= 0


@dataclass(frozen=True, slots=True)
class RuleContext:
    """What a rule stands in, and what its checks may spend.

    Attributes
    ----------
    refs
        The entries that are written out.
    left, steps
        Shared by all checks of a document.
    """

    refs: References
    left: SearchTime = field(default_factory=SearchTime)
    steps: Steps = field(default_factory=Steps)


class Aspect(StrEnum):
    """What a check is about: the editor counts each for itself."""

    FAULTS = "faults"
    DUPLICATES = "duplicates"
    COLLISIONS = "collisions"


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A check of one rule."""

    aspect: Aspect
    find: Callable[[RuleContext, GenRule], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class PairCheck:
    """A check of a rule against one that comes before it."""

    aspect: Aspect
    find: Callable[[RuleContext, GenRule, GenRule], Iterable[Finding]]


def check_rule(context: RuleContext, rule: GenRule, earlier: Iterable[GenRule]) -> Iterator[Finding]:
    """Yield the findings of a rule in its document, those of each check in order."""
    for check in RULE_CHECKS:
        yield from check.find(context, rule)
    for other in earlier:
        if context.left.cancelled():
            return
        if not context.steps.take(_PAIR_STEPS):
            yield _too_many(rule, "rows of earlier rules")
            return
        for pair in PAIR_CHECKS:
            yield from pair.find(context, other, rule)


def all_findings(
    document: DocumentContent, cancelled: Callable[[], bool] = lambda: False
) -> tuple[Finding, ...]:
    """Return everything that is wrong with a document or odd about it.

    Those of the document and refs come first, then those of each rule in order; each has a JSON pointer, line
    and column, and for a rule the field and row. A finding that many rows share stands once, with its count.

    Parameters
    ----------
    cancelled
        Asked now and then; what is left is then not looked at.
    """
    context = RuleContext(document.refs, SearchTime(cancelled))
    of_rules: list[Finding] = []
    # The rules of a store that was not edited were made here, a rule for each array: none is at fault.
    for rule in document.rules if document.known is None else ():
        if cancelled():
            break
        of_rules += check_rule(context, rule, document.rules[: rule.index])
    return (*document.findings, *located(document, of_rules))


def findings_beside(
    context: RuleContext, rules: Iterable[GenRule], rule: GenRule, aspect: Aspect
) -> Iterator[Finding]:
    """Yield the findings of one aspect of a rule that takes the place of the one of its number.

    What later rules make of its rows is among them, as `all_findings` tells it of those.
    """
    for check in RULE_CHECKS:
        if check.aspect is aspect:
            yield from check.find(context, rule)
    pairs = [each for each in PAIR_CHECKS if each.aspect is aspect]
    for other in rules if pairs else ():
        if other.index == rule.index:
            continue
        earlier, later = sorted((other, rule), key=lambda each: each.index)
        if context.left.cancelled():
            return
        if not context.steps.take(_PAIR_STEPS):
            yield _too_many(rule, "rows of other rules")
            return
        for pair in pairs:
            yield from pair.find(context, earlier, later)


# Faults of the fields


def _field_faults(context: RuleContext, rule: GenRule) -> list[Finding]:
    return find_faults(rule, left=context.left)


# Keys that repeat


def _repeated(context: RuleContext, rule: GenRule) -> Iterator[Finding]:
    found = find_duplicates(rule, context.left)
    if found is not None:
        yield found


def find_duplicates(rule: GenRule, left: SearchTime | None = None) -> Finding | None:
    """Return a warning that keys of the rule repeat, or that this was not decided; None where they do not.

    By proof where the key is lowered, else by comparing hashes where the rows can be enumerated.
    """
    return rule.remembered("duplicates", lambda left: _duplicates(rule, left), left)


def _duplicates(rule: GenRule, left: SearchTime) -> Finding | None:
    if rule.count < 2 or rule.fields["key"].faults:
        return None
    pattern = rule.pattern
    if pattern is not None and pattern.is_injective:
        return None
    if pattern is not None and (pattern.unused or pattern.repeated):
        return _warning(rule, _certain(pattern), exact=_is_exact(pattern))
    compiled = rule.fields["key"].compiled
    each = max(1, compiled.steps) if compiled is not None and pattern is None else 1
    if rule.count > min(_MOST_ROWS, LIMITS.template_steps_job // each):
        return _not_decided(rule, "none")
    return _enumerated(rule, left, min(max(left.steps // each, _LEAST), _BLOCK))


def _not_decided(rule: GenRule, checked: int | str) -> Finding:
    message = f"whether keys of the rule repeat is not decided ({rule.count} rows, {checked} checked)"
    known = checked if isinstance(checked, int) else 0
    return NOT_DECIDED.finding(message, _place(rule, None), checked=known)


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
    advice = "name each dimension in the key, with a separator between"
    return RULE_KEYS_REPEAT.finding(message, _place(rule, row), advice=advice, count=count)


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
        kind = RULE_REPLACES if self.count else NOT_DECIDED
        checked = 0 if self.not_decided else None
        return kind.finding("; ".join(parts), place, count=max(1, self.count), checked=checked)


def find_collisions(
    rule: GenRule, keys: Iterable[str], cancelled: Callable[[], bool] = lambda: False
) -> Collisions:
    """Look up keys in a rule, one by one."""
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


# Entries of refs that a rule makes again


def _replaced_refs(context: RuleContext, rule: GenRule) -> Iterator[Finding]:
    found = _met_in_refs(context, rule) if context.steps.take(len(context.refs)) else None
    finding = _too_many(rule, "entries of refs") if found is None else found.finding(rule.index)
    if finding is not None:
        yield finding


def _met_in_refs(context: RuleContext, rule: GenRule) -> Collisions | None:
    """Look up the keys of refs that a rule may make again; None where they are too many.

    Chunk keys are looked up as coordinates, block by block; others one by one.
    """
    if not rule.count:
        return Collisions(0, (), 0)
    refs, prefix = context.refs, rule.static_prefix
    listed = rule.directories()
    folders = None if listed is None else frozenset(listed)
    slots: list[int] = []
    rows: list[int] = []
    undecided = 0
    standing = refs.standing()
    for number, (start, separator) in enumerate(refs.table.groups):
        if number == ODD or not (start.startswith(prefix) or prefix.startswith(start)):
            continue
        if folders is not None and not any(each.startswith(start.rpartition("/")[0]) for each in folders):
            continue
        group = refs.table.rows_of((start, separator))
        if group is None:
            continue
        at, codes = group.rows(), group.codes(refs.table.code)
        kept = standing[at]
        encoding = ChunkKeyEncoding("v2", "." if separator == "." else "/")
        for ndim, places, some in _by_dimensions(at[kept], codes[kept]):
            if context.left.is_over:
                return None
            found = rule.find_chunks(start, np.stack(unpack_many(some, ndim), axis=1), encoding)
            undecided += int(np.count_nonzero(found == _UNDECIDED))
            hits = np.flatnonzero(found >= 0)
            slots += places[hits].tolist()
            rows += found[hits].tolist()
    others = [(key, slot) for key, slot in _written_keys(refs) if _may_be(key, prefix, folders)]
    if len(others) > MOST_KEYS:
        return None
    for number, (key, slot) in enumerate(others):
        if number % _LEAST == 0 and context.left.cancelled():
            break
        row = rule.find(key, context.left.cancelled)
        if isinstance(row, int):
            slots.append(slot)
            rows.append(row)
        elif row is not None:
            undecided += 1
    # Entries that were added stand after those of the table, the first at -2.
    order = sorted(range(len(slots)), key=lambda at: (slots[at] < 0, abs(slots[at])))[:_EXAMPLES]
    examples = tuple((refs.key_of(slots[at]), rows[at]) for at in order)
    return Collisions(len(slots), examples, undecided)


def _written_keys(refs: References) -> Iterator[tuple[str, int]]:
    """Yield the keys of refs that are no coordinates, and those of entries that were edited."""
    yield from refs.odd_keys()
    for row, patch in refs.replaced.items():
        if split_key(patch.key) is not None:
            yield patch.key, row
    for number, key in enumerate(refs.appended):
        if split_key(key) is not None:
            yield key, -2 - number


def _may_be(key: str, prefix: str, folders: frozenset[str] | None) -> bool:
    return key.startswith(prefix) and (folders is None or key.rpartition("/")[0] in folders)


def _by_dimensions(rows: np.ndarray, codes: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield blocks of rows and codes of the same number of coordinates."""
    ndims = codes >> np.uint64(BITS)
    for ndim in np.unique(ndims).tolist():
        which = np.flatnonzero(ndims == ndim)
        for start in range(0, len(which), _COORDS):
            block = which[start : start + _COORDS]
            yield ndim, rows[block], codes[block]


# Rows of a rule that a later one makes again


def _replaced_rows(context: RuleContext, earlier: GenRule, later: GenRule) -> Iterator[Finding]:
    """Yield a warning that rows of a rule are replaced by those of a later one."""
    if not earlier.count or not later.count or not earlier.may_meet(later):
        return
    fewest = min(earlier.count, later.count)
    if fewest > MOST_KEYS or not context.steps.take(fewest * _KEY_STEPS):
        yield _too_many(later, f"rows of rule {earlier.index}")
        return
    few, other = (earlier, later) if earlier.count <= later.count else (later, earlier)
    page = min(_PAGE, max(_LEAST, context.left.steps // _KEY_STEPS))
    met = find_collisions(other, _keys_of(few, page, context.left.cancelled), context.left.cancelled)
    if met.count:
        shown = ", ".join(quoted(key) for key, _ in met.examples)
        key, row = met.examples[0]
        same = few.find(key, context.left.cancelled)
        yield RULE_REPLACES.finding(
            f"the rule replaces {met.count} rows of rule {earlier.index}, among them {shown}",
            _place(later, None),
            count=met.count,
            rows=((other.index, row), *([(few.index, same)] if isinstance(same, int) else [])),
            checked=0 if met.not_decided else None,
        )
    elif met.not_decided:
        yield _too_many(later, f"rows of rule {earlier.index}")


def _keys_of(rule: GenRule, page: int, cancelled: Callable[[], bool]) -> Iterator[str]:
    for start in range(0, rule.count, page):
        if cancelled():
            return
        for key in rule.rows(start, min(start + page, rule.count)).keys:
            if key is not None:
                yield key


def _too_many(rule: GenRule, what: str) -> Finding:
    message = f"whether the rule replaces {what} was not decided: there are too many keys"
    return NOT_DECIDED.finding(message, _place(rule, None), checked=0)


RULE_CHECKS = (
    RuleCheck(Aspect.FAULTS, _field_faults),
    RuleCheck(Aspect.DUPLICATES, _repeated),
    RuleCheck(Aspect.COLLISIONS, _replaced_refs),
)
PAIR_CHECKS = (PairCheck(Aspect.COLLISIONS, _replaced_rows),)
