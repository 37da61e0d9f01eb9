"""What an audit found: findings in groups, marks of chunks, counts, and how it is repaired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.audit.audit_plan import BlockedOrigin, Level
from refbrowser.engine.audit.reader_notes import ReaderNote
from refbrowser.engine.expectations.expected_results import ExpectedResult
from refbrowser.engine.findings.chunk_table import ChunkMarks, Ints
from refbrowser.errors import Severity
from refbrowser.findings.finding import Finding, FindingKind
from refbrowser.findings.kinds import kind_of
from refbrowser.model.report import Report, first_of
from refbrowser.words import counted

if TYPE_CHECKING:
    from refbrowser.references.content.content import Edit
    from refbrowser.references.document.document import Document

#: Findings of one group that are kept; the others are counted.
KEPT = 200
#: Groups that are kept apart; what comes after them is told by code alone.
MOST_GROUPS = 10_000
#: What `--fail-on` takes beside codes.
WARNING = "warning"


@dataclass(slots=True, eq=False)
class FindingGroup:
    """Findings of one code about one file, or about the document where they name no file.

    Attributes
    ----------
    kind
        What they are, and what they mean for a reader.
    severity
        The worst of them.
    url
        The file; empty for the document.
    findings
        The first of them, at most `KEPT`.
    count
        Places that they are about, those that are not kept among them.
    """

    kind: FindingKind
    severity: Severity
    url: str = ""
    findings: list[Finding] = field(default_factory=list)
    count: int = 0

    @property
    def code(self) -> str:
        """The code of its findings."""
        return self.kind.code

    @property
    def is_fault(self) -> bool:
        """Whether something cannot be read because of it."""
        return self.severity is Severity.FAULT

    @property
    def has_fix(self) -> bool:
        """Whether an edit repairs any of it."""
        return any(finding.fix is not None for finding in self.findings)

    def add(self, finding: Finding) -> None:
        """Add a finding of its code."""
        if len(self.findings) < KEPT:
            self.findings.append(finding)
        self.count += finding.count
        if finding.severity is Severity.FAULT:
            self.severity = Severity.FAULT

    def fix(self, document: Document) -> Edit | None:
        """Return one edit that makes the fixes of all its findings; None where there is none."""
        return joined_fix(document, self.findings, f"Fix: {self.kind.title}")


def joined_fix(document: Document, findings: Iterable[Finding], title: str) -> Edit | None:
    """Return one edit that makes the fixes of findings, one undo step; None where there is none.

    Keys that are taken away are named by where they stand, so that all go at once.
    """
    from refbrowser.references.edits.edits import Compound, RemoveReference, SetReference
    from refbrowser.references.edits.many_edits import RemoveReferences, SetReferences, runs_of
    from refbrowser.references.edits.outer_edits import RemoveRule

    refs = document.refs
    places: list[Ints] = []
    values: dict[str, Any] = {}
    rules: set[int] = set()
    others: list[Edit] = []
    seen: list[Any] = []
    for fix in (finding.fix for finding in findings if finding.fix is not None):
        if fix in seen:
            continue
        seen.append(fix)
        if isinstance(fix, RemoveReferences):
            places += [np.arange(start, stop, dtype=np.int64) for start, stop in fix.runs]
        elif isinstance(fix, RemoveReference):
            slot = refs.find_slot(fix.key)
            if slot is not None:
                places.append(np.array([refs.position(slot)], np.int64))
        elif isinstance(fix, SetReferences):
            values |= dict(fix.values)
        elif isinstance(fix, SetReference):
            values[fix.key] = fix.value
        elif isinstance(fix, RemoveRule):
            rules.add(fix.index)
        else:
            others.append(fix)
    edits = [*others, *([SetReferences(tuple(values.items()))] if values else [])]
    # From the last on: the numbers of those before stay.
    edits += [RemoveRule(index) for index in sorted(rules, reverse=True)]
    if places:
        edits.append(RemoveReferences(runs_of(np.unique(np.concatenate(places)))))
    return Compound(title, tuple(edits)) if edits else None


@dataclass(frozen=True, slots=True, eq=False)
class ArrayMarks:
    """The chunks of one array that findings are about, to be drawn on its grid.

    Attributes
    ----------
    codes
        The codes, the worst first.
    coords
        Of the chunks, int64, shape (n, ndim).
    code
        For each its position in `codes`, uint8.
    """

    codes: tuple[str, ...]
    coords: Ints
    code: npt.NDArray[np.uint8]


@dataclass(slots=True, eq=False, repr=False)
class AuditResult(Report):
    """What was found so far.

    Attributes
    ----------
    level
        How far the audit went.
    groups
        What was found: faults first, then by code and file.
    notes
        What other software makes of the document: no faults.
    marks
        The chunks that findings are about.
    blocked
        Where it was not allowed to look.
    urls, chunks
        Files that were asked about, and chunks that were read and decoded.
    size, requests, seconds
        Bytes and requests that it took, and how long.
    is_complete
        Whether it went to its end.
    asked
        Those of the groups that asking and reading gave: all but what `refbrowser check` tells.
    states
        Of each file that was asked about, as the document spells it: the code of what is worst about it;
        empty where nothing is.
    read
        The chunks of each array that were read, as numbers in C order of its grid, in parts.
    expected
        What each variable and pattern of files has of what should be there.
    is_edited
        Whether the document was edited since files were asked about and chunks were read.
    """

    level: Level
    groups: list[FindingGroup] = field(default_factory=list)
    notes: tuple[ReaderNote, ...] = ()
    marks: ChunkMarks = field(default_factory=ChunkMarks)
    blocked: tuple[BlockedOrigin, ...] = ()
    urls: int = 0
    chunks: int = 0
    size: int = 0
    requests: int = 0
    seconds: float = 0.0
    is_complete: bool = False
    asked: list[FindingGroup] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    read: dict[str, list[Ints]] = field(default_factory=dict)
    expected: tuple[ExpectedResult, ...] = ()
    is_edited: bool = False

    def lines(self) -> Iterator[str]:
        """Yield faults and warnings, worst first."""
        looked = f"; {counted(self.urls, 'file')} and {counted(self.chunks, 'chunk')} looked at"
        cut = "" if self.is_complete else ", interrupted"
        yield (
            f"audit ({self.level}{cut}): {counted(self.faults, 'fault')}, {counted(self.warnings, 'warning')}"
            f"{looked if self.level.asks else ''}"
        )
        groups = [(each, each.findings[0].message) for each in self.groups]
        yield from first_of(
            [f"{each.severity}: {each.kind.title} [{each.count}]: {first}" for each, first in groups]
        )

    @property
    def faults(self) -> int:
        """Places with faults."""
        return sum(group.count for group in self.groups if group.is_fault)

    @property
    def warnings(self) -> int:
        """Places with warnings."""
        return sum(group.count for group in self.groups if not group.is_fault)

    @property
    def findings(self) -> list[Finding]:
        """All findings that are kept, those of worse groups first."""
        return [finding for group in self.groups for finding in group.findings]

    def counts(self) -> dict[str, int]:
        """Return how many places there are of each code."""
        found: dict[str, int] = {}
        for group in self.groups:
            found[group.code] = found.get(group.code, 0) + group.count
        return found

    def fails(self, fail_on: Iterable[str] = ()) -> bool:
        """Tell whether there are faults, or anything of the codes that are not to be there.

        Parameters
        ----------
        fail_on
            Codes of findings or of notes about other readers, or `WARNING` for every warning.
        """
        unwanted = set(fail_on)
        if self.faults or (WARNING in unwanted and self.warnings):
            return True
        return bool(unwanted & ({group.code for group in self.groups} | {note.code for note in self.notes}))

    def exit_code(self, fail_on: Iterable[str] = ()) -> int:
        """Return the exit code of the command line: 2 with faults, 3 where just permissions are missing."""
        if self.fails(fail_on):
            return 2
        return 3 if self.blocked else 0

    def array_marks(self, path: str) -> ArrayMarks | None:
        """Return the chunks of an array that findings are about; None where there are none."""
        found = self.marks.of(path)
        if not found:
            return None
        severe = {group.code for group in self.groups if group.is_fault}
        codes = sorted(found, key=lambda code: (code not in severe, code))
        coords = np.concatenate([found[code] for code in codes])
        numbers = np.repeat(np.arange(len(codes)), [len(found[code]) for code in codes]).astype(np.uint8)
        return ArrayMarks(tuple(codes), coords, numbers)


class Grouping:
    """Groups of findings as they come."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], FindingGroup] = {}

    def add(self, finding: Finding) -> None:
        """Add a finding to its group."""
        kind = kind_of(finding)
        key = kind.code, finding.place.url or ""
        if key not in self._groups and len(self._groups) >= MOST_GROUPS:
            key = key[0], ""
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = FindingGroup(kind, finding.severity, key[1])
        group.add(finding)

    def groups(self) -> list[FindingGroup]:
        """Return them: faults first, then by code and file."""
        return sorted(self._groups.values(), key=lambda each: (not each.is_fault, each.code, each.url))
