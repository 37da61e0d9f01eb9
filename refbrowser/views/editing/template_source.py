"""What uses a template, and the preview of the rows that another text of it changes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.references.content.refs import References
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.templates.syntax import names_in
from refbrowser.references.templates.templates import TemplateSet
from refbrowser.views.editing.preview import (
    NOT_THERE,
    WHOLE_FILE,
    CheckReport,
    Pace,
    PreviewCells,
    PreviewMark,
    PreviewRow,
    PreviewSource,
    PreviewTally,
)
from refbrowser.views.editing.range_ends import RangeEnds
from refbrowser.views.editing.reference_draft import cells_of_key
from refbrowser.views.editing.rule_source import RuleSource
from refbrowser.views.editing.typed_input import TemplateDraft

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.references.document.document import Document


#: Distinct URLs or rules that are looked at between two looks at the cancel token.
STEP = 1_000
#: Uses that are listed one by one.
LISTED = 500
RULE_FIELDS = ("key", "url", "offset", "length")


@dataclass(frozen=True, slots=True)
class TemplateUses:
    """What uses one template.

    Attributes
    ----------
    slots
        Entries of `refs` whose URL names it, in document order.
    rules
        Numbers of the gen rules of which a field names it.
    """

    slots: npt.NDArray[np.int64]
    rules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TemplateUse:
    """One use: a field of a gen rule, or the URL of a reference."""

    text: str
    key: str | None = None
    rule: int | None = None
    field: str | None = None

    @property
    def title(self) -> str:
        """Where it is, in a few words."""
        return str(self.key) if self.rule is None else f"gen rule {self.rule}, {self.field}"


@dataclass(frozen=True, slots=True)
class UsesListed:
    """The first uses of a template, those of gen rules first, and how many there are in all."""

    uses: tuple[TemplateUse, ...]
    rule_fields: int
    references: int

    @property
    def count(self) -> int:
        """Number of all uses."""
        return self.rule_fields + self.references


def count_uses(document: Document, check: Callable[[], None]) -> dict[str, int]:
    """Return how many references and rule fields use each template; `check` raises when cancelled."""
    found = dict.fromkeys([*document.templates.texts, *document.places], 0)
    refs = document.refs
    counts = np.bincount(refs.table.url[refs.table.url >= 0], minlength=len(refs.table.urls)).tolist()
    for slot in (*refs.removed.tolist(), *refs.replaced):
        if refs.table.url[slot] >= 0:
            counts[refs.table.url[slot]] -= 1
    texts = chain(
        zip(refs.table.urls, counts, strict=True),
        ((url, 1) for _slot, url in _patched_urls(refs)),
    )
    for number, (text, count) in enumerate(texts):
        if number % STEP == 0:
            check()
        names = document.places if document.is_at_place(text) else names_in(text)
        for name in names:
            if name in found:
                found[name] += count
    for layout in document.layouts:
        for name in document.places if document.is_at_place(layout.head + layout.tail) else ():
            found[name] += 1
    for rule in document.rules:
        for _field, text in _rule_texts(rule):
            for name in names_in(text, _dimensions(rule)):
                if name in found:
                    found[name] += 1
    return found


def listed_uses(document: Document, name: str, uses: TemplateUses) -> UsesListed:
    """Return the first uses of a template one by one, and count all of them."""
    found: list[TemplateUse] = []
    fields = 0
    for number in uses.rules:
        rule = document.rules[number]
        for member, text in _rule_texts(rule):
            if name in names_in(text, _dimensions(rule)):
                fields += 1
                if len(found) < LISTED:
                    found.append(TemplateUse(text, rule=number, field=member))
    slots = [int(slot) for slot in uses.slots[: LISTED - len(found)]]
    for slot, key in zip(slots, document.refs.keys_of(slots), strict=True):
        found.append(TemplateUse(str(document.refs.value(slot).url), key=key))
    return UsesListed(tuple(found), fields, len(uses.slots))


def uses_of(document: Document, name: str, check: Callable[[], None]) -> TemplateUses:
    """Return what uses one template; `check` raises when the work is cancelled."""
    refs = document.refs
    wanted = [number for number, url in enumerate(refs.table.urls) if name in names_in(url)]
    check()
    rows = np.flatnonzero(np.isin(refs.table.url, wanted)) if wanted else np.zeros(0, np.int64)
    check()
    rows = rows[refs.standing()[rows]]
    patched = [slot for slot, url in _patched_urls(refs) if name in names_in(url)]
    written = np.array([slot for slot in patched if slot >= 0], np.int64)
    appended = np.array([slot for slot in patched if slot < 0], np.int64)
    rules = tuple(
        number
        for number, rule in enumerate(document.rules)
        if any(name in names_in(text, _dimensions(rule)) for _field, text in _rule_texts(rule))
    )
    return TemplateUses(np.concatenate([np.sort(np.concatenate([rows, written])), appended]), rules)


def _patched_urls(refs: References) -> Iterator[tuple[int, str]]:
    """Yield slot and URL of the entries that edits left, those at the end last."""
    for slot, patch in refs.replaced.items():
        yield slot, patch.value.url
    for number, patch in enumerate(refs.appended.values()):
        yield -2 - number, patch.value.url


def _rule_texts(rule: GenRule) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each field that is there."""
    texts = zip(RULE_FIELDS, (rule.key, rule.url, rule.offset, rule.length), strict=True)
    return ((field, text) for field, text in texts if text is not None)


def _dimensions(rule: GenRule) -> frozenset[str]:
    return frozenset(name for name, _values in rule.dimensions)


#: Affected references that are compared with what they are, of which there may be millions.
CHECKED_REFERENCES = 20_000
_STEP = 128


def edited_templates(templates: TemplateSet, draft: TemplateDraft) -> TemplateSet:
    """Return the templates of a document with one as it is typed; a given value does not hide it."""
    texts = {
        draft.name if name == draft.old_name else name: draft.text if name == draft.old_name else text
        for name, text in templates.templates.items()
    }
    values = {
        name: value for name, value in templates.values.items() if name not in (draft.name, draft.old_name)
    }
    return TemplateSet(texts, values)


@dataclass(frozen=True, eq=False)
class ReferencesSource:
    """The references of a document that use a template, with other templates."""

    document: Document
    templates: TemplateSet
    slots: npt.NDArray[np.int64]
    ends: RangeEnds
    title: str = ""
    is_quick: bool = True
    finds_quickly: bool = True

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.slots)

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        """Return rows `start` to `stop`."""
        slots = [int(slot) for slot in self.slots[start:stop]]
        keys = self.document.refs.keys_of(slots)
        return [
            self._row(start + place, slot, key)
            for place, (slot, key) in enumerate(zip(slots, keys, strict=True))
        ]

    def _row(self, number: int, slot: int, key: str) -> PreviewRow:
        old = cells_of_key(self.document, key)
        cells, fault = self._cells(slot)
        before = NOT_THERE if old is None else cells.before(old)
        mark = PreviewMark.NEW if old is None else PreviewMark.CHANGED if before else PreviewMark.NONE
        if fault:
            mark |= PreviewMark.FAULT
        row = PreviewRow(number, key, cells.url, cells.offset, cells.length, before, fault, mark)
        return self.ends.marked(row)

    def _cells(self, slot: int) -> tuple[PreviewCells, str]:
        """Return the cells of an entry, and why it cannot be read."""
        value = self.document.refs.value(slot)
        offset = "" if value.offset is None else str(value.offset)
        length = WHOLE_FILE if value.length is None else str(value.length)
        if value.fault is not None:
            return PreviewCells("", offset, length), value.fault.message
        try:
            return PreviewCells(self.templates.render(value.url), offset, length), ""
        except RefbrowserError as error:
            return PreviewCells("", offset, length), error.message

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | str:
        """Return the row of a key."""
        slot = self.document.refs.find_slot(key)
        found = [] if slot is None else (self.slots == slot).nonzero()[0].tolist()
        return found[0] if found else "no reference of this key uses the template"

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        """Count changes and faults among the first references."""
        pause = Pace(check)
        files = self.ends.files(pause.search_time())
        most = min(self.count, CHECKED_REFERENCES)
        tallies = dict.fromkeys((PreviewMark.CHANGED, PreviewMark.NEW, PreviewMark.FAULT), PreviewTally())
        for start in range(0, most, _STEP):
            pause()
            for found in self.rows(start, min(start + _STEP, most)):
                files.end(found.url)
                row = self.ends.marked(found)
                for mark, tally in tallies.items():
                    if row.mark & mark:
                        first = row.number if tally.first is None else tally.first
                        tallies[mark] = PreviewTally(tally.count + 1, first, None, tally.text or row.note)
        checked = None if most == self.count else most
        faults, changed, added = (
            replace(tallies[mark], checked=checked)
            for mark in (PreviewMark.FAULT, PreviewMark.CHANGED, PreviewMark.NEW)
        )
        return CheckReport(
            faults=faults, duplicates=PreviewTally(), collisions=PreviewTally(), changed=changed, added=added
        )


@dataclass(frozen=True, eq=False)
class JoinedSource:
    """Several sources one after the other."""

    title: str
    parts: tuple[PreviewSource, ...] = field(default=())

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((part.count for part in self.parts), initial=0))

    @property
    def count(self) -> int:
        """Number of rows of all."""
        return self._starts[-1]

    @property
    def is_quick(self) -> bool:
        """Whether all of them are."""
        return all(part.is_quick for part in self.parts)

    @property
    def finds_quickly(self) -> bool:
        """Whether all of them do."""
        return all(part.finds_quickly for part in self.parts)

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        """Return rows `start` to `stop`, numbered over all parts."""
        found: list[PreviewRow] = []
        number = max(0, bisect_right(self._starts, start) - 1)
        for part, begin in zip(self.parts[number:], self._starts[number:], strict=False):
            if begin >= stop:
                break
            rows = part.rows(max(0, start - begin), min(stop - begin, part.count))
            found += [replace(row, number=row.number + begin) for row in rows] if begin else rows
        return found

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | str:
        """Return the row of a key in the last part that has it."""
        answer: int | str = "no row has this key"
        for part, begin in zip(reversed(self.parts), reversed(self._starts[:-1]), strict=True):
            found = part.find(key, cancelled)
            if isinstance(found, int):
                return begin + found
            answer = found
        return answer

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        """Add up what the parts find."""
        nothing: dict[str, Any] = dict.fromkeys(PARTS, PreviewTally())
        total = CheckReport(**nothing)
        for part, begin in zip(self.parts, self._starts, strict=False):
            check()
            total = _sum(total, part.check(check, lambda _report: None), begin)
            send(total)
        return total


PARTS = ("faults", "duplicates", "collisions", "changed", "added", "removed")


def _sum(total: CheckReport, report: CheckReport, begin: int) -> CheckReport:
    sums: dict[str, Any] = {
        name: _added(getattr(total, name), getattr(report, name), begin) for name in PARTS
    }
    return CheckReport(**sums)


def _added(total: PreviewTally | None, more: PreviewTally | None, begin: int) -> PreviewTally | None:
    return total if total is None or more is None else total.plus(more, begin)


def template_source(
    document: Document, access: Access | None, draft: TemplateDraft, uses: TemplateUses
) -> JoinedSource:
    """Return what a template as it is typed affects, where `uses` tells who uses it."""
    templates, ends = edited_templates(document.templates, draft), RangeEnds(access)
    parts: list[PreviewSource] = [ReferencesSource(document, templates, uses.slots, ends)]
    for number in uses.rules:
        rule = GenRule(document.rule_nodes[number].to_python(), templates, number)
        parts.append(RuleSource("", rule, document, ends))
    return JoinedSource(f"Template {draft.old_name}", tuple(part for part in parts if part.count))
