"""The findings of an audit as lines that fold: by kind, by file, single places; and all about one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from refbrowser.engine.audit.audit_result import FindingGroup
from refbrowser.errors import Severity
from refbrowser.findings.finding import Finding, FindingKind
from refbrowser.findings.kinds import kind_of
from refbrowser.views.reports.finding_words import place_words
from refbrowser.views.words import one_line
from refbrowser.words import counted

if TYPE_CHECKING:
    from refbrowser.engine.audit.audit_result import AuditResult
    from refbrowser.engine.findings.listed_finding import ListedFinding
    from refbrowser.model.nodes import Hierarchy

#: Files of one kind that are listed at first; more are folded, and places always are.
UNFOLDED = 5


class Order(StrEnum):
    """What comes first."""

    SEVERITY = "severity"
    COUNT = "count"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class PageChoice:
    """What is chosen of the findings, and how they are shown.

    Attributes
    ----------
    faults, warnings
        Whether these are shown.
    text
        What kind, file, key or message hold, whatever the case; empty for everything.
    turned
        Keys of lines that are folded or unfolded, other than they would be.
    """

    faults: bool = True
    warnings: bool = True
    text: str = ""
    order: Order = Order.SEVERITY
    turned: frozenset[tuple[str, ...]] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class AuditLine:
    """One line.

    Attributes
    ----------
    key
        What stays the same when more is found.
    groups
        The groups that it stands for; of a single place the one that it is in.
    finding
        The place; None of a kind or file.
    is_folded
        Whether what is below it is hidden; None where nothing is below it.
    """

    key: tuple[str, ...]
    depth: int
    text: str
    where: str
    count: int
    severity: Severity
    groups: tuple[FindingGroup, ...]
    finding: Finding | None = None
    is_folded: bool | None = None

    @property
    def kind(self) -> FindingKind:
        """What kind of finding it is."""
        return self.groups[0].kind if self.finding is None else kind_of(self.finding)

    @property
    def is_fault(self) -> bool:
        """Whether something cannot be read because of it."""
        return self.severity is Severity.FAULT

    @property
    def first(self) -> Finding | None:
        """The place that a click goes to: its own, or the first below it."""
        if self.finding is not None:
            return self.finding
        return next((each for group in self.groups for each in group.findings), None)

    @property
    def has_fix(self) -> bool:
        """Whether an edit repairs it, or some of what is below it."""
        if self.finding is not None:
            return self.finding.fix is not None
        return any(group.has_fix for group in self.groups)

    @property
    def mark(self) -> str:
        """A triangle before what folds."""
        return "" if self.is_folded is None else "▸ " if self.is_folded else "▾ "


@dataclass(frozen=True, slots=True, eq=False)
class AuditPage:
    """The lines, and how many places there are.

    Attributes
    ----------
    shown, faults, warnings
        Places that the filter lets through, and all of each severity.
    fixable
        Places of each code that edits repair.
    """

    lines: tuple[AuditLine, ...] = ()
    shown: int = 0
    faults: int = 0
    warnings: int = 0
    fixable: Mapping[str, int] = field(default_factory=dict)
    _places: dict[tuple[str, ...], int] = field(default_factory=dict)

    def find(self, key: tuple[str, ...]) -> int:
        """Return the number of the line with a key; -1 where it is not there."""
        return self._places.get(key, -1)


def page_of(result: AuditResult, choice: PageChoice, check: Callable[[], object] = lambda: None) -> AuditPage:
    """Return the lines of a result.

    Parameters
    ----------
    check
        Raises where they are not wanted any more.
    """
    wanted = choice.text.strip().casefold()
    groups = []
    for group in result.groups:
        check()
        is_wanted = choice.faults if group.is_fault else choice.warnings
        if is_wanted and (not wanted or _holds(group, wanted)):
            groups.append(group)
    lines = tuple(_lines(groups, choice, wanted))
    shown = sum(group.count for group in groups)
    places = {line.key: number for number, line in enumerate(lines)}
    return AuditPage(lines, shown, result.faults, result.warnings, _fixable(result.groups), places)


def _fixable(groups: Iterable[FindingGroup]) -> dict[str, int]:
    found: dict[str, int] = {}
    for group in groups:
        findings = list(group.findings)
        count = sum(finding.count for finding in findings if finding.fix is not None)
        if all(finding.fix is not None for finding in findings):
            # Those that are not kept, too.
            count = group.count
        if count:
            found[group.code] = found.get(group.code, 0) + count
    return found


def _holds(group: FindingGroup, text: str) -> bool:
    """Tell whether a group, or a place in it, holds a text."""
    head = f"{group.code} {group.kind.title} {group.url}".casefold()
    return text in head or any(_place_holds(finding, text) for finding in list(group.findings))


def _place_holds(finding: Finding, text: str) -> bool:
    place = finding.place
    return text in f"{place.key or ''} {place.path or ''} {place.pointer or ''} {finding.message}".casefold()


def _lines(groups: Sequence[FindingGroup], choice: PageChoice, wanted: str) -> Iterator[AuditLine]:
    ordered = sorted(groups, key=lambda group: (not group.is_fault, group.code))
    kinds = [tuple(same) for _, same in groupby(ordered, lambda group: (group.is_fault, group.code))]
    if choice.order is Order.COUNT:
        kinds.sort(key=lambda same: -sum(group.count for group in same))
    elif choice.order is Order.FILE:
        kinds.sort(key=lambda same: min(group.url for group in same))
    for same in kinds:
        yield from _of_kind(same, choice, wanted)


def _of_kind(same: Sequence[FindingGroup], choice: PageChoice, wanted: str) -> Iterator[AuditLine]:
    first, count = same[0], sum(group.count for group in same)
    if len(same) == 1:
        yield from _of_group(first, choice, wanted, depth=0)
        return
    key = (first.code, str(first.severity))
    folded = (len(same) > UNFOLDED) ^ (key in choice.turned) and not wanted
    yield AuditLine(key, 0, _title(first), _files(same), count, first.severity, tuple(same), is_folded=folded)
    if not folded:
        if choice.order is Order.COUNT:
            same = sorted(same, key=lambda group: -group.count)
        for group in same:
            yield from _of_group(group, choice, wanted, depth=1)


def _of_group(group: FindingGroup, choice: PageChoice, wanted: str, depth: int) -> Iterator[AuditLine]:
    findings, key = list(group.findings), (group.code, str(group.severity), group.url)
    if len(findings) == 1 and not depth:
        only = findings[0]
        yield AuditLine(
            key, 0, _title(group), _where(only, group), group.count, group.severity, (group,), finding=only
        )
        return
    if depth and len(findings) == 1:
        only = findings[0]
        text = one_line(group.url) or _message(only)
        yield AuditLine(
            key, 1, text, one_line(place_words(only)), group.count, group.severity, (group,), only
        )
        return
    folded = (key not in choice.turned) and not wanted
    where = one_line(group.url) or "the document"
    text = one_line(group.url) if depth else _title(group)
    yield AuditLine(key, depth, text, where, group.count, group.severity, (group,), is_folded=folded)
    if folded:
        return
    for number, finding in enumerate(findings):
        if wanted and not _place_holds(finding, wanted) and wanted not in _head(group):
            continue
        yield AuditLine(
            (*key, str(number)), depth + 1, _message(finding), one_line(place_words(finding)), finding.count,
            finding.severity, (group,), finding,
        )  # fmt: skip
    rest = group.count - sum(finding.count for finding in findings)
    if rest > 0:
        text = f"and {counted(rest, 'more place')}, which are not listed one by one"
        yield AuditLine((*key, "rest"), depth + 1, text, "", rest, group.severity, (group,))


def _head(group: FindingGroup) -> str:
    return f"{group.code} {group.kind.title} {group.url}".casefold()


def _where(finding: Finding, group: FindingGroup) -> str:
    """Return where a line that stands for a file or place is: the file first, as it is what one looks for."""
    return one_line(group.url or place_words(finding) or "the document")


def _title(group: FindingGroup) -> str:
    title = group.kind.title
    return one_line(f"{title[:1].upper()}{title[1:]}")


def _message(finding: Finding) -> str:
    return one_line(f"{finding.message[:1].upper()}{finding.message[1:]}")


def about(line: AuditLine) -> tuple[tuple[str, str], ...]:
    """Return all that is known of a line, pairs of a heading and plain text; the first heading is empty."""
    kind, first = line.kind, line.first
    rows = [("", f"{kind.title[:1].upper()}{kind.title[1:]}")]
    if first is not None and first.message:
        rows.append(("What", one_line(first.message)))
    advice = "" if first is None else first.advice
    # Where an edit is known, what else may be done about others of its kind is wrong here.
    general = "" if first is not None and first.fix is not None and advice else kind.advice
    what = " ".join(part for part in (_sentence(advice), general) if part)
    if what:
        rows.append(("What to do", what))
    if line.finding is None and len(line.groups) > 1:
        rows.append(("Where", f"{counted(line.count, 'place')} in {_files(line.groups)}"))
    elif first is not None:
        rows += _where_rows(first, line.count)
    if kind.meaning:
        rows.append(("For readers", kind.meaning))
    return tuple(rows)


def _files(groups: Sequence[FindingGroup]) -> str:
    """Return how many files groups are about; what is about the document is among them as a group."""
    return counted(len(groups), "file" if all(group.url for group in groups) else "group")


def _sentence(text: str) -> str:
    return "" if not text else f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _where_rows(finding: Finding, count: int) -> Iterator[tuple[str, str]]:
    words = place_words(finding)
    if words:
        more = f", and {counted(count - 1, 'more place')}" if count > 1 else ""
        yield "Where", one_line(words) + more
    if finding.place.url:
        yield "File", one_line(finding.place.url)


def copied(lines: Iterable[AuditLine]) -> str:
    """Return lines as plain text, as they are put on the clipboard."""
    found = []
    for line in lines:
        severity = "fault" if line.is_fault else "warning"
        indent = "    " * line.depth
        where = f" ({line.where})" if line.where else ""
        found.append(
            f"{indent}{severity}[{line.kind.code}] {line.text}{where}: {counted(line.count, 'place')}"
        )
    return "\n".join(found)


def listed(finding: Finding, hierarchy: Hierarchy | None) -> ListedFinding:
    """Return a finding of an audit as lists of findings have it: with the node that it belongs to."""
    from refbrowser.engine.findings.collected_findings import listed_finding
    from refbrowser.engine.findings.listed_finding import FindingOrigin

    return listed_finding(finding, FindingOrigin.AUDIT, hierarchy)
