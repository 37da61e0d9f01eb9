"""What an audit costs and what it found, in lines of plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from refbrowser.engine.audit.audit_plan import AuditCost, Level
from refbrowser.engine.audit.audit_result import AuditResult, FindingGroup
from refbrowser.views.reports.finding_words import place_words
from refbrowser.words import binary_size_text, counted, rounded_time_text

#: Findings of one group, and files of one code, that are told one by one.
TOLD, FILES_TOLD = 3, 10


@dataclass(frozen=True, slots=True)
class RestOfGroups:
    """Groups of one code that are not shown one by one: how many they are, and places in all."""

    code: str
    title: str
    groups: int
    count: int

    @property
    def words(self) -> str:
        """What is told of them."""
        return f"{self.title}: {counted(self.count, 'more place')} in {counted(self.groups, 'more file')}"


def rolled(groups: Iterable[FindingGroup], most: int) -> Iterator[FindingGroup | RestOfGroups]:
    """Yield groups, of each code at most so many; the others as one."""
    for (code, _), some in groupby(groups, lambda group: (group.code, group.is_fault)):
        same = list(some)
        yield from same[:most]
        rest = same[most:]
        if rest:
            count = sum(group.count for group in rest)
            yield RestOfGroups(code, same[0].kind.title, len(rest), count)


def cost_line(level: Level, cost: AuditCost) -> str:
    """Return what an audit asks for, before it begins."""
    if not (level.asks or cost.compared):
        return "nothing is read"
    parts = [f"{counted(cost.urls, 'file')} asked about"] if level.asks else []
    if cost.compared:
        parts.append(f"{counted(cost.compared, 'file')} compared with the lock")
    if level.reads:
        parts.append(f"{counted(cost.chunks, 'chunk')} read")
    about = "" if cost.is_exact else "about "
    parts.append(f"{about}{counted(cost.requests, 'request')}, {about}{binary_size_text(cost.size)}")
    time = f"{'about ' if cost.seconds >= 1 else ''}{rounded_time_text(cost.seconds)}"
    return f"{'; '.join(parts)}; {time} at the known speed of the link"


def blocked_lines(result: AuditResult | AuditCost) -> Iterator[str]:
    """Yield where it is not allowed to look."""
    for each in result.blocked:
        yield (
            f"not checked: {each.origin} ({counted(each.urls, 'file')}, "
            f"{counted(each.references, 'reference')}); {each.advice}"
        ).rstrip("; ")


def group_lines(group: FindingGroup) -> Iterator[str]:
    """Yield a group: what it is and how often, what it means, the first of its findings."""
    word = "fault" if group.is_fault else "warning"
    where = f" in {group.url}" if group.url else ""
    fix = "; can be fixed in the window or with --fix" if group.has_fix else ""
    yield f"{word}[{group.code}] {group.kind.title}: {counted(group.count, 'place')}{where}{fix}"
    if group.kind.meaning:
        yield f"    for readers: {group.kind.meaning}"
    for finding in group.findings[:TOLD]:
        times = f" [{finding.count:,} of these]" if finding.count > 1 else ""
        place = place_words(finding)
        yield f"    {place}: {finding.message}{times}" if place else f"    {finding.message}{times}"
    more = group.count - sum(finding.count for finding in group.findings[:TOLD])
    if more > 0:
        yield f"    and {more:,} more"


def result_lines(result: AuditResult) -> Iterator[str]:
    """Yield all that was found, and the sum of it."""
    for group in rolled(result.groups, FILES_TOLD):
        if isinstance(group, RestOfGroups):
            yield f"    [{group.code}] {group.words}"
        else:
            yield from group_lines(group)
    for note in result.notes:
        of = f" ({counted(note.count, 'reference')})" if note.count > 1 else ""
        yield f"note[{note.code}] {note.reader} {note.message}{of}"
    yield from blocked_lines(result)
    yield summary_line(result)


def summary_line(result: AuditResult) -> str:
    """Return the sum of an audit in a line."""
    found = f"{counted(result.faults, 'fault')}, {counted(result.warnings, 'warning')}"
    if not result.level.asks:
        return found
    read = f"; {counted(result.chunks, 'chunk')} read" if result.level.reads else ""
    return f"{found}; {counted(result.urls, 'file')} asked about{read} in {rounded_time_text(result.seconds)}"
