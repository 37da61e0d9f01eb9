"""The history of an Icechunk repository as a report: graph of snapshots, operations, unused objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.wings.icechunk.history.request import HistoryRequest
from refbrowser.wings.icechunk.reading.opening import IcechunkOrigin, time_text
from refbrowser.wings.icechunk.reading.operations import OperationsLog, operations_log
from refbrowser.wings.icechunk.reading.repository import is_id
from refbrowser.wings.icechunk.reading.snapshot_graph import GraphSnapshot, SnapshotGraph, snapshot_graph
from refbrowser.wings.icechunk.reading.unused_objects import FolderUse, unused_objects
from refbrowser.wings.icechunk.views.history_words import (
    graph_lines,
    operation_lines,
    unused_lines,
    unused_total,
)


@dataclass(frozen=True, slots=True)
class History:
    """The history of a repository.

    Attributes
    ----------
    path
        Of the repository.
    version
        Of Icechunk, 1 or 2.
    snapshot
        The one that was opened.
    operations
        None where it was not asked for, or no log is kept.
    unused
        What nothing uses, by folder; None where it was not asked for.
    """

    request: HistoryRequest
    path: str
    version: int
    snapshot: str
    graph: SnapshotGraph
    operations: OperationsLog | None
    unused: tuple[FolderUse, ...] | None

    def lines(self) -> Iterator[str]:
        """Yield it as lines of text."""
        yield from graph_lines(self.graph, self.snapshot)
        if self.request.operations:
            yield ""
            yield from operation_lines(self.operations)
        if self.unused is not None:
            yield ""
            yield from unused_lines(self.unused)

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        log = self.operations
        return {
            "path": self.path,
            "version": self.version,
            "snapshot": self.snapshot,
            "snapshots": [_snapshot(each) for each in self.graph.snapshots],
            "ended": dict(self.graph.ended),
            "complete": not self.graph.is_cut,
            "operations": None
            if log is None
            else [
                {"kind": each.kind, "time": time_text(each.microseconds), "text": each.text}
                for each in log.operations
            ],
            "unused": None if self.unused is None else _unused(self.unused),
        }

    def exit_code(self) -> int:
        """Return 0."""
        return 0


def history(request: HistoryRequest, dataset: Dataset, control: JobControl) -> History:
    """Return the history of the repository that a dataset is a snapshot of.

    Raises
    ------
    RefbrowserError
        E_USAGE: it is none, or cannot be listed.
    """
    origin = dataset.document.made_from(IcechunkOrigin)
    if origin is None:
        message = "this is no Icechunk repository: only those keep a history"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=dataset.path))
    repository = origin.repository
    # Of version 1 only a listing tells those that nothing leads to.
    listed = repository.large.objects("snapshots/") if request.unused else None
    graph = snapshot_graph(repository, [name for name, _ in listed or () if is_id(name)])
    return History(
        request,
        origin.path,
        repository.version,
        origin.snapshot.facts.id,
        graph,
        operations_log(repository) if request.operations else None,
        unused_objects(repository, graph, control) if request.unused else None,
    )


def _snapshot(each: GraphSnapshot) -> dict[str, Any]:
    return {
        "id": each.facts.id,
        "parent": each.facts.parent,
        "time": time_text(each.facts.microseconds),
        "message": each.facts.message,
        "branches": list(each.branches),
        "tags": list(each.tags),
        "reachable": each.is_reachable,
        "lane": each.lane,
    }


def _unused(folders: tuple[FolderUse, ...]) -> dict[str, Any]:
    objects, size, is_all = unused_total(folders)
    return {
        "objects": objects,
        "bytes": size,
        "complete": is_all,
        "folders": {
            each.folder: {
                "objects": each.objects,
                "bytes": each.size,
                "unused_objects": each.unused,
                "unused_bytes": each.unused_size,
                "examples": list(each.examples),
                **({"unknown": each.unknown} if each.unknown else {}),
            }
            for each in folders
        },
    }
