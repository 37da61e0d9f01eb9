"""One finding of an opened document, where it leads to, and how it is repaired; all of them as one value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from refbrowser.errors import NOWHERE, ErrorKind, Place, RefbrowserError, Severity, SpareCommaError
from refbrowser.findings.finding import Remedy
from refbrowser.io.origins import scheme_of

if TYPE_CHECKING:
    from refbrowser.references.content.content import Edit

#: Findings that are listed one by one; the rest is counted.
MOST = 10_000

#: A row of the tree: its kind (``document``, ``group``, ``array``, ``template``, ``templates``, ``rule``,
#: ``rules``) and its place (path, name or number; empty for a document and for lists).
Spot = tuple[str, str | int]


class FindingOrigin(StrEnum):
    """Where a finding is known from."""

    DOCUMENT = "document"
    STRUCTURE = "structure"
    READING = "reading"
    LOCK = "lock"
    PERMISSION = "permission"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Fix:
    """What one click does: make an edit, or show a dialog that begins with a text."""

    remedy: Remedy
    title: str
    edit: Edit | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFinding:
    """One line of the list of findings.

    Attributes
    ----------
    count
        How many places share it; the first is given.
    spot
        The row of the tree that it belongs to.
    """

    severity: Severity
    kind: ErrorKind
    message: str
    origin: FindingOrigin
    spot: Spot
    place: Place = NOWHERE
    advice: str = ""
    count: int = 1
    fix: Fix | None = None

    @property
    def is_fault(self) -> bool:
        """Whether something cannot be read because of it."""
        return self.severity is Severity.FAULT

    @property
    def where(self) -> str:
        """The place in few words: what a person looks for first."""
        return place_text(self.place, self.spot)

    @property
    def line(self) -> int | None:
        """The line of the document that it is about; None where it is about none."""
        return self.place.line if self.place.is_in_document else None

    @property
    def text(self) -> str:
        """The finding as one line of plain text, as it is copied."""
        times = f" [{self.count} times]" if self.count > 1 else ""
        line = f", line {self.line}, column {self.place.column}" if self.line is not None else ""
        advice = f" {self.advice}" if self.advice else ""
        return f"{self.severity}[{self.kind}] {self.where}{line}: {self.message}{times}.{advice}"


class Badge(NamedTuple):
    """How many findings a row of the tree has, with all that is below it."""

    faults: int = 0
    warnings: int = 0


@dataclass(frozen=True)
class FindingList:
    """All findings of one document: faults first, each kind in the order of the document.

    Attributes
    ----------
    items
        At most `MOST`.
    faults, warnings
        How many there are, listed or not.
    """

    items: tuple[ListedFinding, ...] = ()
    faults: int = 0
    warnings: int = 0
    badges: Mapping[Spot, Badge] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Iterable[ListedFinding]) -> FindingList:
        """Sort, count and cut what was found."""
        everything = list(found)
        faults = [finding for finding in everything if finding.is_fault]
        warnings = [finding for finding in everything if not finding.is_fault]
        items = tuple((faults + warnings)[:MOST])
        return cls(items, len(faults), len(warnings), _badges(faults, warnings))

    @property
    def count(self) -> int:
        """How many there are."""
        return self.faults + self.warnings

    @property
    def more(self) -> int:
        """How many are not listed."""
        return self.count - len(self.items)

    def badge(self, spot: Spot) -> Badge:
        """Return how many findings a row of the tree has."""
        return self.badges.get(spot, _NO_BADGE)

    def first_at(self, spot: Spot) -> ListedFinding | None:
        """Return the first finding of a row of the tree itself; None where it has none."""
        return self._first.get(spot)

    @cached_property
    def _first(self) -> dict[Spot, ListedFinding]:
        first: dict[Spot, ListedFinding] = {}
        for finding in self.items:
            first.setdefault(finding.spot, finding)
        return first


_NO_BADGE = Badge()


def finding_of_opening(error: RefbrowserError) -> ListedFinding:
    """Return why a document could not be opened: that is its one fault."""
    is_comma = isinstance(error, SpareCommaError) and scheme_of(error.place.document or "") is None
    return ListedFinding(
        fix=Fix(Remedy.MEND, "Open it without the comma") if is_comma else None,
        severity=Severity.FAULT,
        kind=error.kind,
        message=error.message,
        origin=FindingOrigin.DOCUMENT,
        spot=("document", ""),
        place=error.place,
        advice=error.advice,
    )


def _badges(faults: Iterable[ListedFinding], warnings: Iterable[ListedFinding]) -> dict[Spot, Badge]:
    counts = [Counter(_with_above(findings)) for findings in (faults, warnings)]
    return {spot: Badge(counts[0][spot], counts[1][spot]) for spot in (*counts[0], *counts[1])}


def _with_above(findings: Iterable[ListedFinding]) -> Iterable[Spot]:
    for finding in findings:
        yield finding.spot
        yield from spots_above(finding.spot)


def spots_above(spot: Spot) -> list[Spot]:
    """Return the rows of the tree that a row is below, the document last."""
    kind, place = spot
    if kind == "document":
        return []
    above: list[Spot] = []
    if kind in ("array", "group"):
        parts = str(place).strip("/").split("/")[:-1]
        above = [("group", "/" + "/".join(parts[:depth])) for depth in range(len(parts), 0, -1)]
    elif kind in ("template", "rule"):
        above = [(f"{kind}s", "")]
    return [*above, ("document", "")]


def place_text(place: Place, spot: Spot) -> str:
    """Return a place in few words: ``rule 0, offset, row 3``, ``template u``, ``temp/0.0``."""
    if place.rule is not None:
        parts = [f"rule {place.rule}"]
        parts += [place.field] if place.field is not None else []
        parts += [f"row {place.row}"] if place.row is not None else []
        return ", ".join(parts)
    if spot[0] == "template":
        return f"template {spot[1]}"
    if place.key is not None:
        return place.key
    if place.path is not None:
        return place.path
    if place.url is not None:
        return place.url
    if place.pointer:
        return place.pointer
    return "document" if spot[0] == "document" else str(spot[1])
