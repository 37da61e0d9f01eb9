"""Objects of an Icechunk repository that no branch and no tag needs: what a garbage collection would delete.

They are those that nothing of a reachable snapshot names. What cannot be read may name any: then nothing is
said of what it could name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.wings.icechunk.reading.chunk_references import RefKinds
from refbrowser.wings.icechunk.reading.flatbuffers import Buffer, Tables
from refbrowser.wings.icechunk.reading.manifest_file import ManifestFile
from refbrowser.wings.icechunk.reading.repository import (
    ID,
    IcechunkRepository,
    ManifestFacts,
    Snapshot,
    id_texts,
)
from refbrowser.wings.icechunk.reading.snapshot_graph import SnapshotGraph

#: Folders of a repository whose objects belong to snapshots.
FOLDERS = ("chunks", "manifests", "snapshots", "transactions")
#: References that are looked at together, and names that are given as examples.
_BLOCK, _EXAMPLES = 1 << 18, 20


@dataclass(frozen=True, slots=True)
class FolderUse:
    """What of one folder nothing uses.

    Attributes
    ----------
    objects, size
        How many are listed in it, and their bytes.
    unused, unused_size
        How many of these nothing uses, and their bytes; None where that is not known.
    examples
        Keys of some that nothing uses.
    unknown
        Why it is not known; empty where it is.
    """

    folder: str
    objects: int
    size: int
    unused: int | None
    unused_size: int | None
    examples: tuple[str, ...] = ()
    unknown: str = ""


def unused_objects(
    repository: IcechunkRepository, graph: SnapshotGraph, control: JobControl
) -> tuple[FolderUse, ...]:
    """Return what no reachable snapshot uses, folder by folder.

    The repository is listed, and the snapshots and manifests that branches and tags lead to are read.

    Raises
    ------
    RefbrowserError
        E_USAGE: it cannot be listed; else why a listing failed.
    """
    used: dict[str, set[str]] = {folder: set() for folder in FOLDERS}
    unknown = dict.fromkeys(FOLDERS, "")
    reachable = [each.facts.id for each in graph.snapshots if each.is_reachable]
    needed = {*reachable, *repository.branches.values(), *repository.tags.values()}
    lost = [why for name, why in graph.ended.items() if name in needed]
    if graph.is_cut or lost:
        why = lost[0] if lost else "there are more than are listed"
        unknown = dict.fromkeys(FOLDERS, f"not all snapshots are known: {why}")
    used["snapshots"].update(reachable)
    used["transactions"].update(reachable)
    try:
        told = _manifests_of(repository, reachable, control)
        used["manifests"].update(told)
    except RefbrowserError as error:
        unknown |= dict.fromkeys(("manifests", "chunks"), f"a snapshot cannot be read: {error.message}")
    if not unknown["chunks"]:
        try:
            used["chunks"] = _chunks_of(repository, told, control)
        except RefbrowserError as error:
            unknown["chunks"] = error.message
    return tuple(_use(repository, folder, used[folder], unknown[folder]) for folder in FOLDERS)


def _use(repository: IcechunkRepository, folder: str, used: set[str], unknown: str) -> FolderUse:
    listed = repository.large.objects(f"{folder}/")
    if listed is None:
        message = "a web server does not list the objects of a repository"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="open it in its bucket, or as a folder")
    objects = size = unused = unused_size = 0
    examples: list[str] = []
    for name, own in listed:
        objects, size = objects + 1, size + own
        if name not in used:
            unused, unused_size = unused + 1, unused_size + own
            if len(examples) < _EXAMPLES:
                examples.append(f"{folder}/{name}")
    if unknown:
        return FolderUse(folder, objects, size, None, None, (), unknown)
    return FolderUse(folder, objects, size, unused, unused_size, tuple(examples))


def _manifests_of(
    repository: IcechunkRepository, snapshots: Sequence[str], control: JobControl
) -> dict[str, ManifestFacts]:
    """Return what snapshots tell of their manifests."""
    found: dict[str, ManifestFacts] = {}
    for done, name in enumerate(snapshots):
        control.token.check()
        control.progress(done, len(snapshots), note="snapshots")
        snapshot: Snapshot = repository.snapshot(name)
        found |= snapshot.manifests
        named = {extent.manifest for node in snapshot.nodes for extent in node.extents}
        found |= dict.fromkeys(named - found.keys(), ManifestFacts(0, 0))
    return found


def _chunks_of(
    repository: IcechunkRepository, told: dict[str, ManifestFacts], control: JobControl
) -> set[str]:
    """Return the identifiers of the chunks in the repository that manifests name."""
    if sum(facts.references for facts in told.values()) > LIMITS.references:
        message = f"the manifests have more than {LIMITS.references} references (references)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    found: set[str] = set()
    for done, (name, root) in enumerate(repository.manifests([*told], told)):
        control.token.check()
        control.progress(done, len(told), note="manifests")
        if isinstance(root, RefbrowserError):
            message = f"manifest {name} cannot be read: {root.message}"
            raise RefbrowserError(root.kind, message, Place(key=f"manifests/{name}"))
        manifest = ManifestFile.of(root, name, told[name].references or None)
        found.update(_natives(root.buffer, manifest.arrays.values()))
    return found


def _natives(buffer: Buffer, arrays: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield the identifiers of the native chunks of arrays in a manifest."""
    for start, count in arrays:
        for first in range(0, count, _BLOCK):
            at = start + 4 * np.arange(first, min(first + _BLOCK, count), dtype=np.int64)
            kinds = RefKinds.of(Tables(buffer, at + buffer.values("<u4", at).astype(np.int64)))
            rows = buffer.rows(kinds.ids[kinds.is_native], ID)
            yield from id_texts(np.unique(rows, axis=0))
