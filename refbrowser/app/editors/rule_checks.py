"""Faults and repeated keys of a gen rule: by arithmetic where that tells, else by looking, in small steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from refbrowser.app.editors.preview_source import Tally
from refbrowser.errors import ErrorKind, Finding, Severity, quoted
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.gen_unique import find_duplicates

#: Evaluation steps that are spent at once, without a rest.
STEPS_AT_ONCE = 4_000
#: Rows that are looked at from each end of a rule where arithmetic does not tell.
LOOKED_ROWS = 5_000
#: Rows whose keys are compared with each other.
COMPARED_KEYS = 50_000
_BLOCK = 64


def faults(rule: GenRule, pause: Callable[[], None]) -> Tally:
    """Count the faults of a rule; `pause` is called between blocks of rows and may end the work."""
    findings = rule.faults(STEPS_AT_ONCE)
    if all(finding.severity is Severity.FAULT for finding in findings):
        tally = _tally(findings)
        in_rows = [finding.count for finding in findings if finding.place.row is not None]
        if len(in_rows) <= 1:
            return tally
        # A row with two faults is one row; arithmetic tells how many only where one fault is in all.
        if max(in_rows) == rule.count:
            return replace(tally, count=rule.count + len(findings) - len(in_rows))
    count, first, text = 0, None, ""
    checked = 0
    for start, stop in _ends(rule):
        pause()
        found = rule.rows(start, stop).faults
        checked += stop - start
        count += len(found)
        if found and first is None:
            first = start + min(found)
            text = found[min(found)].message
    return Tally(count, first, None if checked == rule.count else checked, text)


def _tally(findings: list[Finding]) -> Tally:
    rows = [finding.place.row for finding in findings if finding.place.row is not None]
    text = "\n".join(f"{finding.place.field or 'rule'}: {finding.message}" for finding in findings)
    return Tally(sum(finding.count for finding in findings), min(rows, default=None), None, text)


def _ends(rule: GenRule) -> Iterator[tuple[int, int]]:
    """Yield blocks of rows from the beginning and from the end."""
    head = range(min(rule.count, LOOKED_ROWS))
    tail = range(max(len(head), rule.count - LOOKED_ROWS), rule.count)
    for part in (head, tail):
        for start in range(part.start, part.stop, _BLOCK):
            yield start, min(start + _BLOCK, part.stop)


def duplicates(rule: GenRule, pause: Callable[[], None]) -> Tally:
    """Count the rows whose key a later row of the rule has again."""
    finding = find_duplicates(rule, STEPS_AT_ONCE)
    if finding is None:
        return Tally()
    if finding.kind is not ErrorKind.BUDGET:
        return Tally(finding.count, finding.place.row, None, finding.message)
    if rule.count > COMPARED_KEYS:
        return Tally(checked=0, text=finding.message)
    return _compared(rule, pause)


def _compared(rule: GenRule, pause: Callable[[], None]) -> Tally:
    seen: dict[str, int] = {}
    count, first, text = 0, None, ""
    for start in range(0, rule.count, _BLOCK):
        pause()
        for row, key in enumerate(rule.rows(start, start + _BLOCK).keys, start):
            if key is None:
                continue
            if key in seen:
                count += 1
                if first is None:
                    first, text = seen[key], f"rows {seen[key]} and {row} have the key {quoted(key)}"
            seen[key] = row
    return Tally(count, first, None, text)
