"""The history of an Icechunk repository in lines: the graph, the operations, what nothing uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refbrowser.views.words import one_line
from refbrowser.wings.icechunk.reading.opening import time_text
from refbrowser.wings.icechunk.reading.operations import OperationsLog
from refbrowser.wings.icechunk.reading.snapshot_graph import GraphSnapshot, SnapshotGraph
from refbrowser.wings.icechunk.reading.unused_objects import FolderUse
from refbrowser.words import binary_size_text, counted

#: Characters of a message.
_MESSAGE = 72
#: Names of unused objects that are shown of each folder.
_EXAMPLES = 3
_NOT_REACHED = "no branch or tag leads here"


def lane_text(each: GraphSnapshot, lanes: int) -> str:
    """Return the columns of one snapshot, two characters each: where it is, what ends there, and passes."""
    last = max((each.lane, *each.joining))
    signs = []
    for lane in range(lanes):
        joins = lane in each.joining
        if lane == each.lane:
            sign = "●" if each.is_reachable else "○"
        elif joins:
            sign = "┴" if lane < last else "╯"
        elif lane in each.passing:
            sign = "┼" if each.lane < lane < last else "│"
        else:
            sign = "─" if each.lane < lane < last else " "
        signs.append(sign + ("─" if each.lane <= lane < last else " "))
    return "".join(signs).rstrip()


def labels(each: GraphSnapshot) -> str:
    """Return the branches and tags that lead to a snapshot; empty where none does."""
    return ", ".join([*map(one_line, each.branches), *(f"tag {one_line(name)}" for name in each.tags)])


def graph_lines(graph: SnapshotGraph, opened: str) -> Iterator[str]:
    """Yield the graph, a line for each snapshot.

    Parameters
    ----------
    opened
        The one that is open, which is marked.
    """
    lanes = graph.lanes
    for each in graph.snapshots:
        facts = each.facts
        named = labels(each)
        marks = [f"({named})" if named else "", "[open]" if facts.id == opened else ""]
        marks.append("" if each.is_reachable else f"[{_NOT_REACHED}]")
        words = " ".join(filter(None, [*marks, one_line(facts.message)[:_MESSAGE]]))
        column = lane_text(each, lanes).ljust(2 * lanes)
        yield f"{column} {facts.id}  {time_text(facts.microseconds)}  {words}"
        if facts.id in graph.ended:
            yield f"{' ' * (2 * each.lane)}… what came before cannot be told: {graph.ended[facts.id]}"
    if graph.is_cut:
        yield f"… more than {counted(len(graph.snapshots), 'snapshot')} (icechunk_snapshots)"


def operation_lines(log: OperationsLog | None) -> Iterator[str]:
    """Yield what was done to a repository, the newest first."""
    if log is None:
        yield "Version 1 of Icechunk keeps no log of operations."
        return
    for each in log.operations:
        yield f"{time_text(each.microseconds)}  {each.text}"
    if log.ended:
        yield f"… {log.ended}"


def unused_total(folders: Sequence[FolderUse]) -> tuple[int, int, bool]:
    """Return how many objects nothing uses as far as that is known, their bytes, and whether it is of all."""
    known = [each for each in folders if each.unused is not None and each.unused_size is not None]
    objects = sum(each.unused or 0 for each in known)
    return objects, sum(each.unused_size or 0 for each in known), len(known) == len(folders)


def unused_lines(folders: Sequence[FolderUse]) -> Iterator[str]:
    """Yield what nothing uses, folder by folder, and how it is deleted."""
    objects, size, is_all = unused_total(folders)
    at_least = "" if is_all else "at least "
    yield f"unused: {at_least}{counted(objects, 'object')}, {binary_size_text(size)}"
    for each in folders:
        if each.unknown:
            yield f"  {each.folder}: not known, {one_line(each.unknown)}"
            continue
        assert each.unused_size is not None
        of = f"{counted(each.objects, 'object')}, {binary_size_text(each.size)}"
        yield f"  {each.folder}: {each.unused} of {of}: {binary_size_text(each.unused_size)} unused"
        yield from (f"    {one_line(key)}" for key in each.examples[:_EXAMPLES])
    if objects:
        yield "repo.garbage_collect(TIME) of icechunk deletes those that are older than TIME, snapshots that"
        yield "nothing leads to among them. A commit that is being made has objects that nothing uses yet."
