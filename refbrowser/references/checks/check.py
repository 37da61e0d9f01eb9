"""Every fault and warning of a document: top level, templates, refs and rules, and where keys collide."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from refbrowser.errors import ErrorKind, Finding, Place, Severity, quoted
from refbrowser.limits import LIMITS
from refbrowser.references.checks.positions import located
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.gen_unique import may_meet
from refbrowser.references.rules.rule_search import SearchTime

#: What comparing two rules costs, and making a key of one, in steps of `LIMITS.template_steps_job`.
_PAIR_STEPS = _KEY_STEPS = 10
#: Keys that are looked up in one rule, at most; beyond, collisions are not decided.
MOST_KEYS = 200_000
_PAGE = 4096


class _Steps:
    """Steps left for keys that collide, over all rules of a document."""

    def __init__(self) -> None:
        self.left = LIMITS.template_steps_job

    def take(self, steps: int) -> bool:
        """Take steps; tell whether there were so many."""
        self.left -= steps
        return self.left >= 0


def all_findings(
    document: ReferenceDocument, cancelled: Callable[[], bool] = lambda: False
) -> tuple[Finding, ...]:
    """Return everything that is wrong with a document or odd about it.

    Those of the document and refs come first, then those of each rule in order; each has a JSON pointer, line
    and column, and for a rule the field and row. A finding that many rows share stands once, with its count.

    Parameters
    ----------
    cancelled
        Asked now and then; what is left is then not looked at.
    """
    steps, left = _Steps(), SearchTime(cancelled)
    of_rules: list[Finding] = []
    # The rules of a store that was not edited were made here, a rule for each array: none is at fault.
    for rule in document.rules if document.known is None else ():
        if cancelled():
            break
        of_rules += _of_rule(document, rule, steps, left)
    return (*document.findings, *located(document, of_rules))


def _of_rule(
    document: ReferenceDocument, rule: GenRule, steps: _Steps, left: SearchTime
) -> Iterator[Finding]:
    yield from rule.faults(left=left)
    repeated = rule.duplicates(left)
    if repeated is not None:
        yield repeated
    keys = _keys_of_refs(document, rule) if steps.take(len(document.refs)) else None
    if keys is None:
        yield _not_decided(rule, "entries of refs")
    else:
        replaced = rule.collisions(keys, left.cancelled).finding(rule.index)
        if replaced is not None:
            yield replaced
    for earlier in document.rules[: rule.index]:
        if left.cancelled():
            return
        if not steps.take(_PAIR_STEPS):
            yield _not_decided(rule, "rows of earlier rules")
            return
        found = _replaced_rows(earlier, rule, steps, left.cancelled)
        if found is not None:
            yield found


def _keys_of_refs(document: ReferenceDocument, rule: GenRule) -> list[str] | None:
    """Return the keys of refs that a rule may make again; None where they are too many."""
    folders = rule.directories()
    wanted = None if folders is None else frozenset(folders)
    prefix = rule.static_prefix
    refs = document.refs
    keys: list[str] = []
    for start in range(0, len(refs), _PAGE):
        for key in refs.keys(start, min(start + _PAGE, len(refs))):
            if key.startswith(prefix) and (wanted is None or key.rpartition("/")[0] in wanted):
                keys.append(key)
        if len(keys) > MOST_KEYS:
            return None
    return keys


def _replaced_rows(
    earlier: GenRule, later: GenRule, steps: _Steps, cancelled: Callable[[], bool]
) -> Finding | None:
    """Return a warning that rows of a rule are replaced by those of a later one."""
    if not earlier.count or not later.count or not may_meet(earlier, later):
        return None
    fewest = min(earlier.count, later.count)
    if fewest > MOST_KEYS or not steps.take(fewest * _KEY_STEPS):
        return _not_decided(later, f"rows of rule {earlier.index}")
    few, other = (earlier, later) if earlier.count <= later.count else (later, earlier)
    keys = [
        key
        for start in range(0, few.count, _PAGE)
        for key in few.rows(start, min(start + _PAGE, few.count)).keys
        if key is not None
    ]
    met = other.collisions(keys, cancelled)
    if not met.count:
        return _not_decided(later, f"rows of rule {earlier.index}") if met.not_decided else None
    shown = ", ".join(quoted(key) for key, _ in met.examples)
    return Finding(
        severity=Severity.WARNING,
        kind=ErrorKind.REF,
        message=f"the rule replaces {met.count} rows of rule {earlier.index}, among them {shown}",
        place=Place(rule=later.index, field="key", pointer=f"/gen/{later.index}/key"),
        count=met.count,
    )


def _not_decided(rule: GenRule, what: str) -> Finding:
    return Finding(
        severity=Severity.WARNING,
        kind=ErrorKind.BUDGET,
        message=f"whether the rule replaces {what} was not decided: there are too many keys",
        place=Place(rule=rule.index, field="key", pointer=f"/gen/{rule.index}/key"),
    )
