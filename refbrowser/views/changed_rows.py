"""Which rows of the Version 0 view differ from the saved state: one asked for, or all, listed and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.references.content.chunk_codes import Rows, union_of, without_rows
from refbrowser.references.content.expansion import REFS
from refbrowser.references.content.table import ODD
from refbrowser.references.content.unread_references import changed_by_key
from refbrowser.references.rules.layouts import Generated

if TYPE_CHECKING:
    from refbrowser.references.content.refs import References
    from refbrowser.references.content.table import ReferenceTable
    from refbrowser.references.document.document import Document


class Difference:
    """Answers for single rows in the time of rendering two, so that a table can mark what it shows.

    A row of refs is compared with the saved entry of its key; a row of a rule with that row of the saved rule
    that has the same fields, else of the one with the same number.

    Attributes
    ----------
    same_templates
        Whether the templates of both are the same.
    partners
        What was saved of each rule or layout, and whether all its rows are the same.
    """

    def __init__(self, document: Document, saved: Document) -> None:
        self.document = document
        self.saved = saved
        self.same_templates = document.templates.texts == saved.templates.texts
        # Of entries that both read from one text all but the URL is the same.
        self._is_shared = _share_rows(document.refs, saved.refs)
        self.partners = [*map(self._partner, range(len(document.generated)))]

    def changed(self, row: int) -> bool:
        """Tell whether a row differs from the saved state."""
        origin, inner = self.document.expansion.origin(row)
        return self.entry_changed(inner) if origin == REFS else self._generated_changed(origin, inner)

    def entry_changed(self, position: int) -> bool:
        """Tell whether the entry at a position of refs differs from the saved entry of its key."""
        refs, saved = self.document.refs, self.saved.refs
        slot = refs.slot(position)
        is_plain = slot >= 0 and self._is_shared and slot not in refs.replaced and refs.table.url[slot] >= 0
        if is_plain and saved.stands(slot):
            return self._url_of(self.document, slot) != self._url_of(self.saved, slot)
        before = self._saved_slot(slot, refs.key_of(slot))
        if before is None or saved.value_text(before) != refs.value_text(slot):
            return True
        return not self.same_templates and shown(self.document, slot) != shown(self.saved, before)

    @staticmethod
    def _url_of(document: Document, row: int) -> tuple[str, str]:
        """Return the URL of a row of the table, as written and rendered."""
        number, urls = int(document.refs.table.url[row]), document.urls
        return document.refs.table.urls[number], str(urls.faults.get(number, urls.texts[number]))

    def _saved_slot(self, slot: int, key: str) -> int | None:
        """Return the saved entry of a key: that of the same place where it is there more than once."""
        saved = self.saved.refs
        if (
            slot >= 0
            and self._is_shared
            and (slot in saved.replaced or saved.stands(slot))
            and saved.key_of(slot) == key
        ):
            return slot
        return saved.find_slot(key)

    def _generated_changed(self, number: int, row: int) -> bool:
        partner, is_same = self.partners[number]
        if is_same:
            return False
        if partner is None or row >= partner.count:
            return True
        now, before = self.document.generated[number].row(row), partner.row(row)
        return (now.key, now.reference) != (before.key, before.reference)

    def _partner(self, number: int) -> tuple[Generated | None, bool]:
        """Return the saved rule or layout to compare with, and whether all its rows are the same."""
        if not self.document.rules:
            theirs = self.saved.generated
            other = theirs[number] if number < len(theirs) else None
            return other, other == self.document.generated[number]
        fields = self.document.rule_nodes[number].to_python()
        saved = [node.to_python() for node in self.saved.rule_nodes]
        if fields in saved:
            return self.saved.rules[saved.index(fields)], self.same_templates
        partner = self.saved.rules[number] if number < len(saved) else None
        return partner, False


def shown(document: Document, slot: int) -> object:
    """Return what an entry stands for, or why it cannot be read."""
    try:
        return document.view.reference(slot)
    except RefbrowserError as error:
        return str(error)


#: Rows of rules that are compared one by one; of more, all rows of the rule are listed.
COMPARED = 200_000
#: Entries that are compared one by one where the documents share no table.
ENTRIES = 200_000
#: Keys that are gone and are listed.
REMOVED = 10_000
_PAGE = 512
_FIELDS = ("keys", "urls", "offsets", "lengths")


@dataclass(frozen=True)
class ChangedRows:
    """Rows that differ, rising, and what they belong to.

    Attributes
    ----------
    parts
        The rows, in parts.
    removed, removed_count
        Keys of `refs` that are in the saved state alone, the first of them; and how many there are.
    below
        Path of a directory (without slashes at the ends) to how many keys at or below it differ; 0 where that
        is not counted.
    templates
        Names of the templates that are new or have another text.
    rules
        Number of a rule to how many of its rows are listed.
    is_exact
        Whether each of the rows does differ: too many rows are listed where they were not compared.
    """

    parts: tuple[Rows | range, ...] = ()
    removed: tuple[str, ...] = ()
    removed_count: int = 0
    below: Mapping[str, int] = field(default_factory=dict)
    templates: frozenset[str] = frozenset()
    rules: Mapping[int, int] = field(default_factory=dict)
    is_exact: bool = True

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(part) for part in self.parts), initial=0))

    @property
    def count(self) -> int:
        """Number of rows."""
        return self._starts[-1]

    def row(self, number: int) -> int:
        """Return the row of the Version 0 view that is the `number`-th of those that differ.

        Raises
        ------
        IndexError
            There are not so many.
        """
        if 0 <= number < self.count:
            for part, start in zip(self.parts, self._starts, strict=False):
                if number < start + len(part):
                    return int(part[number - start])
        raise IndexError(number)

    def rows(self, start: int, stop: int) -> Rows:
        """Return the rows of the Version 0 view that are numbers `start` to `stop` of those that differ."""
        found = []
        for part, first in zip(self.parts, self._starts, strict=False):
            found.append(np.array(part[max(start - first, 0) : max(stop - first, 0)], np.int64))
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def number_of(self, row: int) -> int | None:
        """Return the number of a row of the Version 0 view; None where it does not differ."""
        number = self.find(row)
        return number if number < self.count and self.row(number) == row else None

    def mask(self, start: int, stop: int) -> npt.NDArray[np.bool_]:
        """Return which rows of the Version 0 view differ, from `start` to before `stop`."""
        found = np.zeros(stop - start, bool)
        found[self.rows(self.find(start), self.find(stop)) - start] = True
        return found

    def find(self, row: int) -> int:
        """Return how many rows that differ stand before a row: its own number where it differs."""
        before = 0
        for part in self.parts:
            if isinstance(part, range):
                before += min(max(row - part.start, 0), len(part))
            else:
                before += int(part.searchsorted(row))
        return before


def changed_rows(difference: Difference, pause: Callable[[], None] = lambda: None) -> ChangedRows:
    """Return which rows of a document differ from its saved state; `pause` may raise to end the work."""
    document, saved = difference.document, difference.saved
    here, there = document.refs, saved.refs
    is_exact = True
    if document.is_unread and (keys := changed_by_key(here, there)) is not None:
        return _of_keys(document, keys)
    if _share_rows(here, there):
        positions, removed, lost = _of_one_table(difference, pause)
    else:
        positions, removed, is_exact = _of_other_tables(difference, pause)
        lost = np.zeros(0, np.int64)
    counts = _directories(here, positions)
    counts.update(_directory(key) for key in removed)
    counts.update(_directories_of_rows(there.table, lost))
    removed += there.table.keys(lost[:REMOVED].tolist())
    parts: list[Rows | range] = [positions] if len(positions) else []
    rules: dict[int, int] = {}
    left = COMPARED
    for number, (partner, is_same) in enumerate(difference.partners):
        if is_same:
            continue
        found = _of_rule(document, number, partner, left, pause)
        left -= min(left, document.generated[number].count)
        is_exact &= not isinstance(found, range)
        rules[number] = len(found)
        if len(found):
            parts.append(found)
            counts.update(_of_generated(document, number, found))
    return ChangedRows(
        tuple(parts),
        tuple(removed[:REMOVED]),
        len(removed) + max(0, len(lost) - REMOVED),
        _with_above(counts),
        _templates(document, saved),
        rules,
        is_exact,
    )


def _share_rows(here: References, there: References) -> bool:
    """Return whether two states have the rows of one table, which need not be read to tell."""
    return here.table is there.table or here.table.origin is there.table.origin


def _of_keys(document: Document, keys: Sequence[str]) -> ChangedRows:
    """Return what edits of references that were not read changed: nobody knows which rows they are."""
    removed = [key for key in keys if document.left_reference(key) is None]
    below = _with_above(Counter(map(_directory, keys)))
    return ChangedRows(removed=tuple(removed[:REMOVED]), removed_count=len(removed), below=below)


# Entries of refs


def _of_one_table(difference: Difference, pause: Callable[[], None]) -> tuple[Rows, list[str], Rows]:
    """Compare by columns what both read from one text, and one by one what edits put over it.

    Returns the positions that differ, the keys that are gone, and the rows that are gone without more ado.
    """
    here, there = difference.document.refs, difference.saved.refs
    touched = {*here.replaced, *there.replaced}
    if len(here.table.duplicates):
        # Another entry may have the key of one that is gone.
        touched.update(here.removed.tolist(), there.removed.tolist())
    over = np.array(sorted(touched), np.int64)
    lost = without_rows(without_rows(here.removed, there.removed), over)
    back = without_rows(without_rows(there.removed, here.removed), over)
    if here.appended or here.replaced or there.appended or there.replaced:
        lost, back, doubtful = _sure(difference, lost, back)
        over = union_of(over, doubtful)
    rows = np.flatnonzero(_urls_differ(difference))
    for others in (over, here.removed, there.removed):
        rows = without_rows(rows, others)
    pause()
    rows = union_of(rows, back)
    sure = rows - here.removed.searchsorted(rows)
    slots = [row for row in over.tolist() if row in here.replaced or here.stands(row)]
    slots += [-2 - number for number in range(len(here.appended))]
    found = []
    for slot in slots:
        pause()
        position = here.position(slot)
        if difference.entry_changed(position):
            found.append(position)
    positions = union_of(sure, np.array(found, np.int64)).astype(np.int64)
    return positions, _gone(difference, over.tolist(), pause), lost


def _sure(difference: Difference, lost: Rows, back: Rows) -> tuple[Rows, Rows, Rows]:
    """Return rows that are gone or back without those whose key an edited entry has; and those."""
    here, there = difference.document.refs, difference.saved.refs
    doubtful = []
    for refs in (here, there):
        for patch in (*refs.replaced.values(), *refs.appended.values()):
            doubtful += refs.table.find_all(patch.key)
    same = np.array(sorted(set(doubtful)), np.int64)
    return without_rows(lost, same), without_rows(back, same), same


def _gone(difference: Difference, rows: Iterable[int], pause: Callable[[], None]) -> list[str]:
    """Return the saved keys of rows that edits touched, and of appended entries, that are not there now."""
    here, there = difference.document.refs, difference.saved.refs
    keys: dict[str, None] = {}
    for row in rows:
        pause()
        if row in there.replaced or there.stands(row):
            keys[there.key_of(row)] = None
    keys.update(dict.fromkeys(there.appended))
    return [key for key in keys if here.find_slot(key) is None]


def _urls_differ(difference: Difference) -> npt.NDArray[np.bool_]:
    """Return which rows of the shared table have another URL, as written or rendered."""
    states = (difference.document, difference.saved)
    now, then = (state.refs.table for state in states)
    if difference.same_templates and now.url is then.url and now.urls == then.urls:
        return np.zeros(len(now), bool)
    numbers: dict[tuple[str, str], int] = {}
    columns = []
    for state in states:
        table, rendered = state.refs.table, state.urls
        names = [
            numbers.setdefault((url, str(rendered.faults.get(at, rendered.texts[at]))), len(numbers))
            for at, url in enumerate(table.urls)
        ]
        of_url = np.array(names or [0], np.int64)
        url = table.url.astype(np.int64)
        columns.append(np.where(url >= 0, of_url[np.maximum(url, 0)], url))
    return np.asarray(columns[0] != columns[1])


def _of_other_tables(difference: Difference, pause: Callable[[], None]) -> tuple[Rows, list[str], bool]:
    """Compare entry by entry, up to a bound; those beyond it are listed all."""
    here, there = difference.document.refs, difference.saved.refs
    found = []
    for position in range(min(len(here), ENTRIES)):
        pause()
        if difference.entry_changed(position):
            found.append(position)
    rest = np.arange(min(len(here), ENTRIES), len(here))
    gone = []
    for position in range(min(len(there), ENTRIES)):
        pause()
        key = there.key(position)
        if here.find_slot(key) is None:
            gone.append(key)
    is_exact = len(here) <= ENTRIES and len(there) <= ENTRIES
    return np.concatenate([np.array(found, np.int64), rest]), gone, is_exact


def _directories(refs: References, positions: Rows) -> Counter[str]:
    """Return how many of the entries at positions are in each directory."""
    counts: Counter[str] = Counter()
    if not len(positions):
        return counts
    kept = len(refs.table) - len(refs.removed)
    slots = np.array(refs.slots(int(positions[0]), int(positions[-1]) + 1), np.int64)
    slots = slots[positions - positions[0]]
    patched = np.array([*refs.replaced], np.int64)
    single = (positions >= kept) | np.isin(slots, patched)
    counts.update(_directories_of_rows(refs.table, slots[~single]))
    counts.update(map(_directory, map(refs.key_of, slots[single].tolist())))
    return counts


def _directories_of_rows(table: ReferenceTable, rows: Rows) -> Counter[str]:
    """Return how many rows of a table are in each directory."""
    counts: Counter[str] = Counter()
    if not len(rows):
        return counts
    numbers = table.group.of(rows)
    for group, count in zip(*np.unique(numbers, return_counts=True), strict=True):
        if group != ODD:
            counts[table.groups[group][0].strip("/")] += int(count)
    counts.update(map(_directory, table.keys(rows[numbers == ODD].tolist())))
    return counts


def _directory(key: str) -> str:
    return key.rpartition("/")[0].strip("/")


def _with_above(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts of directories with all that is below each."""
    found: Counter[str] = Counter()
    for directory, number in counts.items():
        parts = directory.split("/") if directory else []
        for depth in range(len(parts) + 1):
            found["/".join(parts[:depth])] += number
    return dict(found)


# Templates and rules


def _templates(document: Document, saved: Document) -> frozenset[str]:
    before = saved.templates.texts
    return frozenset(
        name for name, text in document.templates.texts.items() if name not in before or before[name] != text
    )


def _of_rule(
    document: Document,
    number: int,
    partner: Generated | None,
    most: int,
    pause: Callable[[], None],
) -> Rows | range:
    """Return the rows of a rule that differ from those of the saved one; all where they are too many."""
    rule = document.generated[number]
    first = document.expansion.row_of(number, 0)
    if partner is None or rule.count > most:
        return range(first, first + rule.count)
    found: list[int] = []
    for start in range(0, rule.count, _PAGE):
        pause()
        size = min(_PAGE, rule.count - start)
        now, then = (_cells(each, start, size) for each in (rule, partner))
        found += [start + at for at in range(size) if at >= len(then) or now[at] != then[at]]
    return np.array(found, np.int64) + first


def _cells(rule: Generated, start: int, size: int) -> list[Sequence[object]]:
    size = max(0, min(size, rule.count - start))
    if not size:
        return []
    rows = rule.rows(start, start + size)
    columns = [getattr(rows, name) for name in _FIELDS]
    return list(zip(*(column if column is not None else [None] * size for column in columns), strict=True))


def _of_generated(document: Document, number: int, found: Rows | range) -> dict[str, int]:
    """Return how many of the rows of a rule are in each directory; 0 where that is not counted."""
    directories = [each.strip("/") for each in document.generated[number].directories() or ()]
    if len(directories) == 1:
        return {directories[0]: len(found)}
    return dict.fromkeys(directories, 0)
