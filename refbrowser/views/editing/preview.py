"""What the preview shows: rows of an edit that is not applied yet, and what a check found in them.

The rows are read in slices within a budget of time; the check works at a pace that leaves the window its
time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Flag
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.limits import LIMITS
from refbrowser.references.text.typed_values import first_difference, from_difference
from refbrowser.views.rows import Column, RowStyle
from refbrowser.words import count_text, counted_spaced

if TYPE_CHECKING:
    from refbrowser.model.reference import Reference
    from refbrowser.references.rules.rule_search import SearchTime


class PreviewMark(Flag):
    """What is special about a row."""

    NONE = 0
    #: The document has its key with another reference.
    CHANGED = 1
    #: The document does not have its key.
    NEW = 2
    #: It cannot be read.
    FAULT = 4
    #: Another entry of the document has the same key.
    COLLISION = 8
    #: A later row has the same key and counts instead.
    REPLACED = 16


class PreviewChange(NamedTuple):
    """One cell of a row that changes; without a name what the row was, in words."""

    name: str
    old: str
    new: str = ""


#: What a row was that the document does not have.
NOT_THERE = (PreviewChange("", "not there"),)


#: Characters of a URL that are shown on either side of what differs: the column of notes is narrow.
_AROUND = 2


def _parted(old: str, new: str) -> tuple[str, str]:
    """Return two URLs without most of what both begin and end with: what differs is to be read first."""
    old, new = from_difference(old, new, _AROUND)
    end = first_difference(old[::-1], new[::-1]) - _AROUND
    if old == new or end <= 2 * _AROUND:
        return old, new
    return f"{old[: len(old) - end]}…", f"{new[: len(new) - end]}…"


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One row of the Version 0 view.

    Attributes
    ----------
    before
        What the document has instead, after its last step, cell by cell; empty where it is the same.
    note
        Why the row cannot be read, or with what it collides.
    """

    number: int
    key: str
    url: str = ""
    offset: str = ""
    length: str = ""
    before: tuple[PreviewChange, ...] = ()
    note: str = ""
    mark: PreviewMark = PreviewMark.NONE

    @property
    def change(self) -> str:
        """The whole change in words: each cell from where it differs, then those that were cut as a whole."""
        differing, whole = [], []
        for name, old, new in self.before:
            if not name:
                differing.append(f"was {old}")
                continue
            pair = old or "none", new or "none"
            shown = _parted(*pair) if name == "url" else from_difference(*pair)
            differing.append(f"{name} {shown[0]} → {shown[1]}")
            if shown != pair:
                whole.append(f"{name} {pair[0]} → {pair[1]}")
        return " · ".join(filter(None, (", ".join(differing), ", ".join(whole))))

    @property
    def words(self) -> str:
        """All there is to tell of the row: first the fault of one that cannot be read, else the change."""
        parts = (self.note, self.change) if self.mark & PreviewMark.FAULT else (self.change, self.note)
        return " · ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class PreviewTally:
    """How many rows have a property, as far as that is known.

    Attributes
    ----------
    count
        Rows found.
    first
        The first of them, None where there is none.
    checked
        None when every row was decided; otherwise how many rows were looked at.
    text
        What the first one is, for the tool tip.
    """

    count: int = 0
    first: int | None = None
    checked: int | None = None
    text: str = ""

    @classmethod
    def of(cls, findings: Iterable[Finding], rule: int, *, of_faults: bool) -> PreviewTally:
        """Count what findings tell of a rule: its faults, or what is odd about it."""
        found = list(findings)
        told = [
            each
            for each in found
            if each.kind is not ErrorKind.BUDGET and (each.severity is Severity.FAULT or not of_faults)
        ]
        places = [each.place.row if each.place.rule == rule else dict(each.rows).get(rule) for each in told]
        first = min((row for row in places if row is not None), default=None)
        words = [
            f"{each.place.field or 'rule'}: {each.message}" if of_faults else each.message for each in told
        ]
        checked = [each.checked for each in found if each.checked is not None]
        return cls(sum(each.count for each in told), first, max(checked, default=None), "\n".join(words))

    def plus(self, more: PreviewTally, begin: int = 0) -> PreviewTally:
        """Return both tallies as one; the rows of the other one begin at `begin`."""
        firsts = [self.first, None if more.first is None else begin + more.first]
        checked = [each for each in (self.checked, more.checked) if each is not None]
        return PreviewTally(
            self.count + more.count,
            min((each for each in firsts if each is not None), default=None),
            sum(checked) if checked else None,
            self.text or more.text,
        )

    def words(self, one: str, many: str) -> str:
        """Return ``3 faults``, ``no faults``, ``at least 3 faults in 20 rows checked`` and the like."""
        if self.checked is None:
            return f"no {many}" if self.count == 0 else counted_spaced(self.count, one, many)
        if self.checked == 0:
            return f"at least {count_text(self.count)} {many}" if self.count else f"{many} not checked"
        seen = f"in {count_text(self.checked)} rows checked"
        if self.count == 0:
            return f"no {many} {seen}"
        return f"at least {counted_spaced(self.count, one, many)} {seen}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What a check of all rows found; a part that is None was not checked (yet).

    `removed` counts the keys that the document has here and the edit does not give any more. `findings`
    are those of the checks of rules: the list of findings has the same ones when the edit is applied.
    """

    faults: PreviewTally | None = None
    duplicates: PreviewTally | None = None
    collisions: PreviewTally | None = None
    changed: PreviewTally | None = None
    added: PreviewTally | None = None
    removed: PreviewTally | None = None
    findings: tuple[Finding, ...] = ()


class PreviewSource(Protocol):
    """Rows of an edit: immutable, so that a worker may check what the window shows."""

    @property
    def title(self) -> str:
        """What is shown, in a few words."""
        ...

    @property
    def count(self) -> int:
        """Number of rows, a Python integer of any size."""
        ...

    @property
    def is_quick(self) -> bool:
        """Whether a page of rows takes less than a millisecond or two."""
        ...

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        """Return rows `start` to `stop`."""
        ...

    @property
    def finds_quickly(self) -> bool:
        """Whether `find` takes a millisecond or two; else it belongs off the GUI thread."""
        ...

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | str:
        """Return the row of a key, or the sentence that tells why there is none."""
        ...

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        """Look for faults, duplicates, collisions and changes in all rows.

        Runs on a worker thread. `check` raises when the work is cancelled; `send` takes what is known before
        the end.
        """
        ...


@dataclass(frozen=True, slots=True)
class NoSource:
    """Nothing to preview, and what to say of that."""

    title: str = ""
    count: int = 0
    is_quick: bool = True
    finds_quickly: bool = True
    hint: str = "Choose what to edit: the references that it gives appear here."

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        """Return no rows."""
        return []

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | str:
        """Tell that there is nothing."""
        return "there are no rows"

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        """Find nothing."""
        return CheckReport()


#: Stands in the column of lengths where the whole file is meant.
WHOLE_FILE = "whole file"
#: Bytes of inline text that are shown.
INLINE_SHOWN = 80


@dataclass(frozen=True, slots=True)
class PreviewCells:
    """URL, offset and length of a reference as texts; of inline data a part of it and its length."""

    url: str
    offset: str = ""
    length: str = ""

    @classmethod
    def of(cls, reference: Reference) -> PreviewCells:
        """Return the cells of a reference."""
        # numpy comes with it.
        from refbrowser.model.reference import ByteRange, Inline, WholeFile

        if isinstance(reference, ByteRange):
            return cls(reference.url, str(reference.offset), str(reference.length))
        if isinstance(reference, WholeFile):
            return cls(reference.url, "", WHOLE_FILE)
        if isinstance(reference, Inline):
            shown = reference.data[:INLINE_SHOWN].decode("utf-8", "replace")
            return cls(f"inline: {shown}", "", str(len(reference.data)))
        return cls("")

    def before(self, old: PreviewCells) -> tuple[PreviewChange, ...]:
        """Return what `old` has instead: the cells that differ, by name."""
        return differing(("url", "offset", "length"), old, self)


def differing(names: Iterable[str], old: object, new: object) -> tuple[PreviewChange, ...]:
    """Return those of the texts with these names that differ."""
    pairs = ((name, getattr(old, name) or "", getattr(new, name) or "") for name in names)
    return tuple(PreviewChange(*pair) for pair in pairs if pair[1] != pair[2])


def faulty(error: RefbrowserError) -> PreviewCells:
    """Return the cells of an entry that cannot be read."""
    return PreviewCells(f"cannot be read: {error.message}")


#: Rows that are made at once.
PAGE = 64
#: A search ends after so long, in seconds, and says how far it came.
SECONDS = 5.0


def next_change(
    source: PreviewSource, row: int, step: int, pause: Callable[[], None] = lambda: None
) -> int | str:
    """Return the first changed or new row after `row` (`step` 1) or before it (-1), or that there is none.

    `pause` is called often, and may raise to end the work.
    """
    end = time.monotonic() + SECONDS
    looked = 0
    at = row + step
    while 0 <= at < source.count:
        start = at if step > 0 else max(0, at - PAGE + 1)
        stop = min(at + PAGE, source.count) if step > 0 else at + 1
        rows = source.rows(start, stop)
        for found in rows if step > 0 else reversed(rows):
            if found.mark & (PreviewMark.CHANGED | PreviewMark.NEW):
                return found.number
        looked += len(rows)
        at = stop if step > 0 else start - 1
        pause()
        if time.monotonic() > end:
            where = "next" if step > 0 else "last"
            return f"no change in the {where} {count_text(looked)} rows; the rest was not checked"
    return "no change after this row" if step > 0 else "no change before this row"


#: Seconds of work between two rests, and of each rest.
WORK, REST = 0.002, 0.003
#: Evaluation steps that are spent at once, without a rest.
_STEPS_AT_ONCE = 4_000


class Pace:
    """To be called often by work on a worker thread; it rests every `WORK` seconds, and ends when cancelled.

    Python runs one thread at a time: a busy worker makes the window wait at each step of its painting.

    Parameters
    ----------
    check
        Raises when the work is cancelled.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self._stop = time.perf_counter() + WORK

    def __call__(self) -> None:
        """Rest when it is time to; raises what `check` raises."""
        if time.perf_counter() < self._stop:
            return
        self._check()
        time.sleep(REST)
        self._stop = time.perf_counter() + WORK

    def search_time(self) -> SearchTime:
        """Return the time of a search that keeps the pace: as much work as beside no window, with rests."""
        # numpy comes with it.
        from refbrowser.references.rules.rule_search import SearchTime

        def rest() -> bool:
            self()
            return False

        return SearchTime(rest, LIMITS.search_time * (WORK + REST) / WORK, _STEPS_AT_ONCE)


#: One page takes the GUI thread at most about this long, in seconds; what is left follows later.
BUDGET = 0.004
#: Rows of a source that is not quick are asked for so many at a time.
SLICE = 8
#: Rows that are kept of one source.
ROWS_KEPT = 4_096
GLYPHS = {
    PreviewMark.FAULT: "✕",
    PreviewMark.COLLISION: "≡",
    PreviewMark.REPLACED: "↷",
    PreviewMark.NEW: "+",
    PreviewMark.CHANGED: "●",
}
PENDING = "…"
COLUMNS = (
    Column("", 28, mono=False),
    Column("Row", 44, right=True),
    Column("Key", 76, stretch=2),
    Column("URL", 76, stretch=2, elide_middle=True),
    Column("Offset", 76, right=True),
    Column("Length", 66, right=True),
    Column("Notes", 90, stretch=5, mono=False),
)


class PreviewModel:
    """Rows of a `PreviewSource` as texts and marks.

    Parameters
    ----------
    visible
        Returns the rows that are on the screen; they are computed first.
    later
        Called when the budget left rows out; the table should ask again soon.
    """

    columns: Sequence[Column] = COLUMNS

    def __init__(self, visible: Callable[[], range], later: Callable[[], None]) -> None:
        self.source: PreviewSource = NoSource()
        self._visible = visible
        self._later = later
        self._rows: dict[int, PreviewRow] = {}

    def widest(self) -> dict[int, str]:
        """Return the number of the last row."""
        return {1: str(max(0, self.source.count - 1))}

    def show(self, source: PreviewSource) -> None:
        """Take another source; nothing of the old one is kept."""
        self.source = source
        self._rows = {}

    def forget_rows(self) -> None:
        """Make the rows again: a check knows more of them."""
        self._rows = {}

    def row_count(self) -> int:
        """Return the number of rows."""
        return self.source.count

    def row(self, number: int) -> PreviewRow:
        """Return one row."""
        if number not in self._rows:
            self._rows[number] = self.source.rows(number, number + 1)[0]
        return self._rows[number]

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows; ``…`` for those that the budget left for later."""
        self._compute(start, stop)
        blank = [PENDING] * len(COLUMNS)
        return [
            _texts(row) if (row := self._rows.get(number)) is not None else blank
            for number in range(start, stop)
        ]

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        """Return the marks of rows."""
        rows = (self._rows.get(number) for number in range(start, stop))
        return [RowStyle.NONE if row is None else _look(row.mark)[1] for row in rows]

    def _compute(self, start: int, stop: int) -> None:
        """Compute the rows of a page; those on the screen first where all of them take long."""
        if len(self._rows) > ROWS_KEPT:
            self._rows = {}
        if self.source.is_quick:
            self._add(start, stop)
            return
        seen = self._visible()
        first, last = max(start, seen.start // SLICE * SLICE), min(stop, seen.stop)
        end = time.perf_counter() + BUDGET
        for begin in (*range(first, last, SLICE), *range(start, stop, SLICE)):
            if self._has(begin, min(begin + SLICE, stop)):
                continue
            if time.perf_counter() > end:
                self._later()
                return
            self._add(begin, min(begin + SLICE, stop))

    def _has(self, start: int, stop: int) -> bool:
        return all(number in self._rows for number in range(start, stop))

    def _add(self, start: int, stop: int) -> None:
        if not self._has(start, stop):
            self._rows.update((row.number, row) for row in self.source.rows(start, stop))


@cache
def _look(mark: PreviewMark) -> tuple[str, RowStyle]:
    """Return glyph and style of a mark."""
    glyph = next((glyph for each, glyph in GLYPHS.items() if mark & each), "")
    style = RowStyle.NONE
    if mark & (PreviewMark.CHANGED | PreviewMark.NEW):
        style |= RowStyle.CHANGED
    if mark & PreviewMark.FAULT:
        style |= RowStyle.FAULT
    if mark & PreviewMark.REPLACED:
        style |= RowStyle.REPLACED
    return glyph, style


def _texts(row: PreviewRow) -> list[str]:
    return [_look(row.mark)[0], str(row.number), row.key, row.url, row.offset, row.length, row.words]
