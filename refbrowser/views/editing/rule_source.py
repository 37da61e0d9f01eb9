"""Preview of one gen rule as it is typed, against the rule that the document has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from refbrowser.errors import RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.references.findings.rule_findings import Aspect, RuleContext, findings_beside
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.rule_changes import RowCount, rule_changes, same_keys
from refbrowser.references.rules.rule_rows import GenRows
from refbrowser.views.editing.preview import (
    NOT_THERE,
    WHOLE_FILE,
    CheckReport,
    Pace,
    PreviewCells,
    PreviewChange,
    PreviewMark,
    PreviewRow,
    PreviewTally,
    differing,
)
from refbrowser.views.editing.range_ends import RangeEnds
from refbrowser.views.editing.text_marks import Names
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.references.document.document import Document

#: Rows that are compared with those of the document where arithmetic does not tell how many change.
COMPARED_ROWS = 5_000
#: Rows at each end of a rule that are looked at for how many rows have a fault.
LOOKED_ROWS = 5_000
_BLOCK = 64
#: A rule whose fields take fewer evaluation steps than this for a row gives a page of rows at once.
QUICK_STEPS = 80


@dataclass(frozen=True, eq=False)
class RuleSource:
    """Rows of a rule with what the rule of the document, after its last step, has for the same keys.

    Attributes
    ----------
    rule
        As it is typed.
    document
        What has the rule as it is without that.
    ends
        Of the files that its rows refer to.
    """

    title: str
    rule: GenRule
    document: Document
    ends: RangeEnds

    @classmethod
    def of(cls, document: Document, access: Access | None, index: int, fields: Any) -> RuleSource:
        """Return the preview of rule `index` with other members."""
        rule = GenRule(fields, document.templates, index)
        return cls(f"Gen rule {index}", rule, document, RangeEnds(access))

    @property
    def base(self) -> GenRule:
        """The rule as the document has it."""
        return self.document.rules[self.rule.index]

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.rule.count

    @property
    def is_quick(self) -> bool:
        """Whether a page of rows takes a millisecond or two."""
        looks_up = self._compares == "key" or self._repeats
        return not looks_up and all(_steps(rule) <= QUICK_STEPS for rule in (self.rule, self.base))

    @property
    def finds_quickly(self) -> bool:
        """Whether a key is found by arithmetic."""
        return _finds_quickly(self.rule)

    @cached_property
    def _repeats(self) -> bool:
        """Whether rows may have a key that a later row has again, which can be told by arithmetic."""
        pattern = self.rule.pattern
        return pattern is not None and not pattern.is_injective and _finds_quickly(self.rule)

    @cached_property
    def _compares(self) -> Literal["row", "key", "nothing"]:
        """How rows meet those of the document: by their number where that is the same key, or by key."""
        base, rule = self.base, self.rule
        if base.space == rule.space and same_keys(rule, base):
            return "row"
        if _finds_quickly(base):
            return "key"
        return "row" if base.space == rule.space else "nothing"

    # Rows

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        """Return rows `start` to `stop`."""
        rows = self.rule.rows(start, stop)
        entries = _entries(rows)
        before = self._before(rows, entries)
        return [
            self._row(rows.start + place, new, old)
            for place, (new, old) in enumerate(zip(entries, before, strict=True))
        ]

    def _before(self, rows: GenRows, entries: list[Entry]) -> Iterable[Entry | None]:
        """Return what the rule of the document has for each row, None where it does not have the key.

        A row of which that is not known is compared with itself.
        """
        base = self.base
        if self._compares == "row":
            return _entries(base.rows(rows.start, rows.start + len(entries)))
        if self._compares == "key":
            return [entry if entry.key is None else _entry_of_key(base, entry.key) for entry in entries]
        return entries

    def _row(self, number: int, new: Entry, old: Entry | None) -> PreviewRow:
        mark, notes = PreviewMark.NONE, []
        if new.fault is not None:
            mark = PreviewMark.FAULT
            notes.append(new.fault.message)
        elif new.key is not None and self._repeats and (last := self.rule.find(new.key)) != number:
            mark = PreviewMark.REPLACED
            notes.append(f"row {last} has this key again, and wins")
        if new.key is not None and self.document.refs.find_slot(new.key) is not None:
            mark |= PreviewMark.COLLISION
            notes.append("also in refs, this row wins")
        before = NOT_THERE if old is None else new.before(old)
        if old is None:
            mark |= PreviewMark.NEW
        elif before:
            mark |= PreviewMark.CHANGED
        return self.ends.marked(
            PreviewRow(number, new.key or "", new.url, new.offset, new.length, before, "; ".join(notes), mark)
        )

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | str:
        """Return the last row with a key, or the sentence that tells why there is none."""
        found = self.rule.find(key, cancelled)
        if found is None:
            return "no row has this key"
        if isinstance(found, int):
            return found
        return f"not known: the key is not in the {count_text(found.rows_checked)} rows that were checked"

    @cached_property
    def names(self) -> Names:
        """What can be named in the rule's fields."""
        return Names(self.rule.space.names, self.rule.templates)

    # The check

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        """Look for what changes, then make the checks of `RULE_CHECKS`, one aspect after the other."""
        pause = Pace(check)
        report = CheckReport(**self._changes(pause))
        send(report)
        context = RuleContext(self.document.refs, pause.search_time())
        for aspect in Aspect:
            findings = list(findings_beside(context, self.document.rules, self.rule, aspect))
            tally = PreviewTally.of(findings, self.rule.index, of_faults=aspect is Aspect.FAULTS)
            if aspect is Aspect.FAULTS:
                tally = self._red_rows(findings, tally, pause)
                past = self._ranges(pause)
                tally = tally.plus(PreviewTally.of(past, self.rule.index, of_faults=True))
                findings += past
            told = (*report.findings, *findings)
            report = replace(report, findings=told, **{aspect.value: tally})
            send(report)
        return report

    def _ranges(self, pause: Pace) -> list[Finding]:
        """Return the rows that no file can have: the list of findings has them when the edit is applied."""
        from refbrowser.engine.findings.range_findings import rule_range_findings

        found = rule_range_findings(self.document, self.rule, self.ends.files(pause.search_time()))
        # A fix is an edit of the rule that the document has, not of what is typed.
        return [replace(each, fix=None) for each in found]

    def _red_rows(
        self, findings: list[Finding], tally: PreviewTally, pause: Callable[[], None]
    ) -> PreviewTally:
        """Count a row with two faults once: rows are looked at where findings do not tell their number."""
        faults = [each for each in findings if each.severity is Severity.FAULT]
        in_rows = [each.count for each in faults if each.place.row is not None]
        if len(in_rows) <= 1:
            return tally
        if max(in_rows) == self.count:
            return replace(tally, count=self.count + len(faults) - len(in_rows))
        count = len(faults) - len(in_rows)
        head = range(min(self.count, LOOKED_ROWS))
        tail = range(max(len(head), self.count - LOOKED_ROWS), self.count)
        for part in (head, tail):
            for start in range(part.start, part.stop, _BLOCK):
                pause()
                count += len(self.rule.rows(start, min(start + _BLOCK, part.stop)).faults)
        looked = len(head) + len(tail)
        return replace(tally, count=count, checked=tally.checked if looked == self.count else looked)

    def _changes(self, pause: Callable[[], None]) -> dict[str, Any]:
        changes = rule_changes(self.rule, self.base, pause, COMPARED_ROWS)
        removed = replace(changes.removed, first=None)
        return {
            "changed": _tally(changes.changed),
            "added": _tally(changes.added),
            "removed": _tally(removed),
        }


def _tally(count: RowCount) -> PreviewTally:
    return PreviewTally(count.count, count.first, count.checked)


class Entry(NamedTuple):
    """Key and reference of one row as texts; what does not render is empty, and `fault` tells why."""

    key: str | None
    url: str
    offset: str
    length: str
    fault: RefbrowserError | None

    def before(self, old: Entry) -> tuple[PreviewChange, ...]:
        """Return what the other entry has instead, by name."""
        if old.fault is not None:
            return (
                () if self.fault is not None else (PreviewChange("", f"not readable: {old.fault.message}"),)
            )
        return differing(("key", "url", "offset", "length"), old, self)


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
    if not isinstance(found, int):
        return None
    row = rule.row(found)
    cells = PreviewCells("") if row.reference is None else PreviewCells.of(row.reference)
    return Entry(key, cells.url, cells.offset, cells.length, row.error)


def _finds_quickly(rule: GenRule) -> bool:
    pattern = rule.pattern
    return pattern is not None and pattern.separated and not pattern.plan.open


def _steps(rule: GenRule) -> int:
    """Return the evaluation steps of one row; a lowered field is as one step."""
    lowered = frozenset() if rule.columns is None else rule.columns.by_numpy
    return sum(
        1 if name in lowered else field.compiled.steps
        for name, field in rule.fields.items()
        if field.compiled is not None
    )
