"""Preview of one gen rule as it is typed, against the rule that was saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from refbrowser.app.editors.cells import WHOLE_FILE
from refbrowser.app.editors.names import Names
from refbrowser.app.editors.preview_source import CheckReport, Mark, PreviewRow, Tally
from refbrowser.app.theme import count_text
from refbrowser.errors import ErrorKind, Finding, RefbrowserError, Severity
from refbrowser.references.gen import GenRows, GenRule
from refbrowser.references.gen_changes import RowCount, rule_changes
from refbrowser.references.gen_unique import find_duplicates

if TYPE_CHECKING:
    from refbrowser.references.document import ReferenceDocument

#: Evaluation steps for the search of faults and duplicates, first a little and then more.
SEARCH_STEPS = (20_000, 2_000_000)
#: A rule whose fields take fewer evaluation steps than this for a row gives a page of rows at once.
QUICK_STEPS = 80


@dataclass(frozen=True, eq=False)
class RuleSource:
    """Rows of a rule with what the saved rule has for the same keys.

    Attributes
    ----------
    rule
        As it is typed.
    base
        The rule of the saved document that it comes from; None for a new one.
    document
        What the rule stands in, for collisions.
    """

    title: str
    rule: GenRule
    base: GenRule | None
    document: ReferenceDocument

    @classmethod
    def of(
        cls, document: ReferenceDocument, saved: ReferenceDocument | None, index: int, fields: Any
    ) -> RuleSource:
        """Return the preview of rule `index` with other members."""
        rule = GenRule(fields, document.templates, index)
        number = None if saved is None else counterpart(document, saved, index)
        base = None if saved is None or number is None else saved.rules[number]
        return cls(f"Gen rule {index}: {rule.key or ''}", rule, base, document)

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.rule.count

    @property
    def is_quick(self) -> bool:
        """Whether a page of rows takes a millisecond or two."""
        rules = (self.rule,) if self.base is None else (self.rule, self.base)
        return all(_steps(rule) <= QUICK_STEPS for rule in rules)

    # Rows

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        """Return rows `start` to `stop`."""
        rows = self.rule.rows(start, stop)
        entries = _entries(rows)
        return [
            _preview_row(rows.start + place, new, old)
            for place, (new, old) in enumerate(zip(entries, self._before(rows, entries), strict=True))
        ]

    def _before(self, rows: GenRows, entries: list[Entry]) -> Iterable[Entry | None]:
        """Return what the saved rule has for the key of each row, None where it does not have the key."""
        base = self.base
        if base is None:
            return [None] * len(entries)
        if self.is_aligned:
            return _entries(base.rows(rows.start, rows.start + len(entries)))
        return [None if entry.key is None else _entry_of_key(base, entry.key) for entry in entries]

    @cached_property
    def is_aligned(self) -> bool:
        """Whether rows of the same number have the same key in the saved rule."""
        base = self.base
        return (
            base is not None
            and base.key == self.rule.key
            and base.space == self.rule.space
            and base.templates.texts == self.rule.templates.texts
        )

    def find(self, key: str) -> int | str:
        """Return the last row with a key, or the sentence that tells why there is none."""
        found = self.rule.find(key)
        if found is None:
            return "no row has this key"
        if isinstance(found, int):
            return found
        return f"not decided: the key is not in the {count_text(found.rows_checked)} rows that were looked at"

    @cached_property
    def names(self) -> Names:
        """What can be named in the rule's fields."""
        return Names(self.rule.space.names, self.rule.templates)

    # The check

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        """Look for what changes, faults, duplicates and collisions; the quick parts first."""

        def pause() -> None:
            check()
            # Python code elsewhere, the typing above all, gets its turn.
            time.sleep(0.0005)

        report = CheckReport(**self._changes(pause))
        send(report)
        for steps in SEARCH_STEPS:
            pause()
            report = replace(report, faults=_faults(self.rule.faults(steps)))
            send(report)
            if report.faults is not None and report.faults.checked is None:
                break
        for steps in SEARCH_STEPS:
            pause()
            report = replace(report, duplicates=_duplicates(find_duplicates(self.rule, steps)))
            send(report)
            if report.duplicates is not None and report.duplicates.checked is None:
                break
        return report

    def _changes(self, pause: Callable[[], None]) -> dict[str, Tally]:
        if self.base is None:
            return {
                "changed": Tally(),
                "added": Tally(self.count, 0 if self.count else None),
                "removed": Tally(),
            }
        changes = rule_changes(self.rule, self.base, pause)
        removed = replace(changes.removed, first=None)
        return {
            "changed": _tally(changes.changed),
            "added": _tally(changes.added),
            "removed": _tally(removed),
        }


def _tally(count: RowCount) -> Tally:
    return Tally(count.count, count.first, count.checked)


def _faults(findings: list[Finding]) -> Tally:
    """Return how many faults there are; an open end is a warning among the findings."""
    faults = [finding for finding in findings if finding.severity is Severity.FAULT]
    rows = [finding.place.row for finding in faults if finding.place.row is not None]
    text = "\n".join(f"{finding.place.field or 'rule'}: {finding.message}" for finding in faults)
    checked = next((finding.count for finding in findings if finding.severity is not Severity.FAULT), None)
    return Tally(sum(finding.count for finding in faults), min(rows, default=None), checked, text)


def _duplicates(finding: Finding | None) -> Tally:
    if finding is None:
        return Tally()
    if finding.kind is ErrorKind.BUDGET:
        return Tally(checked=0, text=finding.message)
    return Tally(finding.count, finding.place.row, None, finding.message)


class Entry(NamedTuple):
    """Key and reference of one row as texts; what does not render is empty, and `fault` tells why."""

    key: str | None
    url: str
    offset: str
    length: str
    fault: RefbrowserError | None

    def before(self, old: Entry) -> str:
        """Return what the saved entry of the same key has instead, by name."""
        if old.fault is not None:
            return "" if self.fault is not None else f"could not be read: {old.fault.message}"
        names = ("url", "offset", "length")
        different = [name for name in names if getattr(self, name) != getattr(old, name)]
        return ", ".join(f"{name} {getattr(old, name)}" for name in different)


def _entries(rows: GenRows) -> list[Entry]:
    size = len(rows)
    offsets = [""] * size if rows.offsets is None else [_text(value) for value in rows.offsets]
    lengths = [WHOLE_FILE] * size if rows.lengths is None else [_text(value) for value in rows.lengths]
    urls = [url or "" for url in rows.urls]
    faults = [rows.faults.get(place) for place in range(size)]
    return [Entry(*cells) for cells in zip(rows.keys, urls, offsets, lengths, faults, strict=True)]


def _text(value: int | None) -> str:
    return "" if value is None else str(value)


def _entry_of_key(rule: GenRule, key: str) -> Entry | None:
    found = rule.find(key)
    return _entries(rule.rows(found, found + 1))[0] if isinstance(found, int) else None


def _preview_row(number: int, new: Entry, old: Entry | None) -> PreviewRow:
    mark, note = Mark.NONE, ""
    if new.fault is not None:
        mark, note = Mark.FAULT, new.fault.message
    before = "not there" if old is None else new.before(old)
    if old is None:
        mark |= Mark.NEW
    elif before:
        mark |= Mark.CHANGED
    return PreviewRow(number, new.key or "", new.url, new.offset, new.length, before, note, mark)


def _steps(rule: GenRule) -> int:
    """Return the evaluation steps of one row; a lowered field is as one step."""
    lowered = frozenset() if rule.columns is None else rule.columns.by_numpy
    return sum(
        1 if name in lowered else field.compiled.steps
        for name, field in rule.fields.items()
        if field.compiled is not None
    )


def counterpart(document: ReferenceDocument, saved: ReferenceDocument, index: int) -> int | None:
    """Return the number that a rule has in the saved document; None for one that was added since.

    Rules before and after those that changed are matched by their text; what is left is paired in order.
    """
    now, then = document.rule_nodes, saved.rule_nodes
    if len(now) == len(then):
        return index
    head = _same(document, saved, range(min(len(now), len(then))), 0)
    tail = _same(document, saved, range(min(len(now), len(then)) - head), -1)
    if index < head:
        return index
    if index >= len(now) - tail:
        return index - len(now) + len(then)
    return index if index < len(then) - tail else None


def _same(document: ReferenceDocument, saved: ReferenceDocument, numbers: range, end: int) -> int:
    """Return how many rules are the same from the beginning (0) or the end (-1)."""
    for number in numbers:
        now, then = (each.rule_nodes[number if end == 0 else -1 - number] for each in (document, saved))
        if document.outer[now.start : now.stop] != saved.outer[then.start : then.stop]:
            return number
    return len(numbers)
