"""What the preview shows: rows of an edit that is not applied yet, and what a check found in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Flag
from typing import NamedTuple, Protocol

from refbrowser.errors import ErrorKind, Finding, Severity
from refbrowser.references.text.typed_values import from_difference
from refbrowser.views.words import count_text


class Mark(Flag):
    """What is special about a row."""

    NONE = 0
    #: Its key is in the saved state with another reference.
    CHANGED = 1
    #: Its key is not in the saved state.
    NEW = 2
    #: It cannot be read.
    FAULT = 4
    #: Another entry of the document has the same key.
    COLLISION = 8
    #: A later row has the same key and counts instead.
    REPLACED = 16


class Change(NamedTuple):
    """One cell of a row that changes; without a name what the row was, in words."""

    name: str
    old: str
    new: str = ""


#: What a row was that the saved state does not have.
NOT_THERE = (Change("", "not there"),)


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One row of the Version 0 view.

    Attributes
    ----------
    before
        What the saved state has instead, cell by cell; empty where it is the same.
    note
        Why the row cannot be read, or with what it collides.
    """

    number: int
    key: str
    url: str = ""
    offset: str = ""
    length: str = ""
    before: tuple[Change, ...] = ()
    note: str = ""
    mark: Mark = Mark.NONE

    @property
    def change(self) -> str:
        """The whole change in words: each cell from where it differs, then those that were cut as a whole."""
        differing, whole = [], []
        for name, old, new in self.before:
            if not name:
                differing.append(f"was {old}")
                continue
            pair = old or "none", new or "none"
            shown = from_difference(*pair)
            differing.append(f"{name} {shown[0]} → {shown[1]}")
            if shown != pair:
                whole.append(f"{name} {pair[0]} → {pair[1]}")
        return " · ".join(filter(None, (", ".join(differing), ", ".join(whole))))

    @property
    def words(self) -> str:
        """All there is to tell of the row: first the fault of one that cannot be read, else the change."""
        parts = (self.note, self.change) if self.mark & Mark.FAULT else (self.change, self.note)
        return " · ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Tally:
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
    def of(cls, findings: Iterable[Finding], rule: int, *, of_faults: bool) -> Tally:
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

    def words(self, one: str, many: str) -> str:
        """Return ``3 faults``, ``no faults``, ``at least 3 faults in 20 rows checked`` and the like."""
        if self.checked is None:
            return (
                f"no {many}"
                if self.count == 0
                else f"{count_text(self.count)} {one if self.count == 1 else many}"
            )
        if self.checked == 0:
            return f"at least {count_text(self.count)} {many}" if self.count else f"{many} not checked"
        seen = f"in {count_text(self.checked)} rows checked"
        if self.count == 0:
            return f"no {many} {seen}"
        return f"at least {count_text(self.count)} {one if self.count == 1 else many} {seen}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What a check of all rows found; a part that is None was not checked (yet).

    `removed` counts the keys that the saved state has here and the edit does not give any more.
    """

    faults: Tally | None = None
    duplicates: Tally | None = None
    collisions: Tally | None = None
    changed: Tally | None = None
    added: Tally | None = None
    removed: Tally | None = None


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
