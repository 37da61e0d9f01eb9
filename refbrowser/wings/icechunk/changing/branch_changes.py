"""What another branch changed since it parted from one, to be committed to that: merging of branches."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.reference import Reference
from refbrowser.references.merging.merge import Choice, Conflict
from refbrowser.wings.icechunk.changing.change_set import ChangeSet, Coords, NodeChange
from refbrowser.wings.icechunk.changing.committing import (
    CommitOrder,
    Committed,
    branch_of,
    commit_changes,
    open_snapshot,
)
from refbrowser.wings.icechunk.changing.snapshot_tree import SnapshotTree, TreeNode, origin_of
from refbrowser.wings.icechunk.reading.repository import IcechunkRepository

_OTHER = {Choice.OURS: Choice.THEIRS, Choice.THEIRS: Choice.OURS}


def merge_branch(dataset: Dataset, name: str, order: CommitOrder, control: JobControl) -> Committed:
    """Commit to a branch what another one changed since both parted.

    Parameters
    ----------
    dataset
        Of the branch that gets the commit.
    name
        The other branch, a tag, or a snapshot.
    order
        Ours is the branch that gets the commit.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is none of that name, or both have no snapshot in common.
    """
    origin = origin_of(dataset.document)
    branch = branch_of(dataset, order.branch)
    theirs = _named(origin.repository, name)
    common = _common(origin.repository, origin.snapshot.facts.id, theirs)
    settled = {place: _OTHER.get(choice, choice) for place, choice in order.settled.items()}
    order = replace(
        order,
        branch=branch,
        message=order.message or f"Merge {name} into {branch}",
        # To the commit the other branch is what is new.
        favor=None if order.favor is None else _OTHER.get(order.favor, order.favor),
        settled=settled,
    )
    with ExitStack() as stack:
        base, other = (
            stack.enter_context(open_snapshot(dataset, each, control)) for each in (common, theirs)
        )
        changes = snapshot_changes(SnapshotTree(base), SnapshotTree(other))
        found = commit_changes(base, changes, order, control)
    return replace(found, conflicts=[_turned(each) for each in found.conflicts])


def _turned(conflict: Conflict) -> Conflict:
    return replace(conflict, ours=conflict.theirs, theirs=conflict.ours)


def _named(repository: IcechunkRepository, name: str) -> str:
    """Return the snapshot that a name stands for: of a branch, else of a tag, else itself."""
    for known in (repository.branches, repository.tags):
        if name in known:
            return known[name]
    try:
        return repository.chosen(None, None, name)
    except RefbrowserError:
        message = f"there is no branch, tag or snapshot {quoted(name)}"
        advice = f"known: {', '.join(list(repository.branches)[:20])}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=advice) from None


def _common(repository: IcechunkRepository, ours: str, theirs: str) -> str:
    """Return the newest snapshot that two histories share."""
    mine = {facts.id for facts in repository.history(ours)}
    found = next((facts.id for facts in repository.history(theirs) if facts.id in mine), None)
    if found is None:
        raise RefbrowserError(ErrorKind.USAGE, "the two have no snapshot in common")
    return found


def snapshot_changes(before: SnapshotTree, after: SnapshotTree) -> ChangeSet:
    """Return what became of a snapshot in a later one: nodes by identifier, chunks where manifests differ.

    Raises
    ------
    RefbrowserError
        Manifests cannot be read.
    """
    moves = _moves(before, after)
    moved = before
    for old, new in moves:
        moved = moved.moved(old, new)
    nodes: list[NodeChange] = []
    for path, node in after.nodes.items():
        was = moved.by_id.get(node.stored.id) or moved.nodes.get(path)
        chunks = _chunks(before, was, after, node)
        nodes.append(NodeChange(path, None if was is None else was.metadata, node.metadata, chunks))
    kept = {each.path for each in nodes}
    gone = [NodeChange(path, node.metadata, None) for path, node in moved.nodes.items() if path not in kept]
    return ChangeSet([each for each in (*nodes, *gone) if not each.is_empty], moves).checked()


def _moves(before: SnapshotTree, after: SnapshotTree) -> list[tuple[str, str]]:
    """Return which nodes have another path; what is in a group goes with it."""
    moves: list[tuple[str, str]] = []
    now = before
    for node in before.nodes.values():
        there = after.by_id.get(node.stored.id)
        here = now.by_id[node.stored.id]
        if there is not None and there.path != here.path and there.path not in now.nodes:
            now = now.moved(here.path, there.path)
            moves.append((here.path, there.path))
    return moves


def _chunks(
    before: SnapshotTree, was: TreeNode | None, after: SnapshotTree, node: TreeNode
) -> dict[Coords, Reference | None]:
    """Return the chunks of an array that are other ones."""
    if was is not None and was.manifests == node.manifests:
        return {}
    old = {} if was is None else dict(before.references(was))
    new = dict(after.references(node))
    found: dict[Coords, Reference | None] = {at: value for at, value in new.items() if old.get(at) != value}
    return {**found, **dict.fromkeys(at for at in old if at not in new)}
