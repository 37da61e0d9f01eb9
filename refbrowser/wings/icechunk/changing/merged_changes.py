"""Three-way merging over snapshots: changes of one after which others committed, and what is at odds.

Metadata is merged member by member, chunks one by one, by the merging of reference documents. A node that
others moved is found by its identifier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.zarr.documents import NODE_V3
from refbrowser.model.reference import ByteRange, Inline, Reference, WholeFile
from refbrowser.references.merging.merge import Choice, Conflict, MergePart
from refbrowser.references.merging.merged_members import (
    ABSENT,
    MemberConflict,
    merged_value,
    same_meaning,
    with_member_at,
)
from refbrowser.wings.icechunk.changing.change_set import ChangeSet, Coords, NodeChange
from refbrowser.wings.icechunk.changing.snapshot_tree import SnapshotTree, TreeNode, encoding_of

#: What is at odds, and whose value it takes; None is not decided.
Settled = Mapping[str, Choice]


@dataclass(slots=True)
class MergedChanges:
    """Changes as they can be made of what others have committed.

    Attributes
    ----------
    changes
        Where there are conflicts, and nobody has settled them, ours.
    conflicts
        Those that nobody has settled.
    """

    changes: ChangeSet
    conflicts: list[Conflict] = field(default_factory=list)


def place_of(conflict: Conflict) -> str:
    """Return the place of a conflict: ``/PATH:member/name`` in metadata; the path of a chunk, or a node."""
    path = "/" + conflict.name.removesuffix(NODE_V3).rstrip("/")
    return f"{path}:{'/'.join(conflict.path)}" if conflict.path else path


def merged_changes(
    changes: ChangeSet,
    base: SnapshotTree,
    tip: SnapshotTree,
    favor: Choice | None = None,
    settled: Settled | None = None,
) -> MergedChanges:
    """Return changes of a snapshot as they can be made of a later one.

    Parameters
    ----------
    base, tip
        The snapshot that they are changes of, and the newest one of the branch.
    favor, settled
        Whose value conflicts take: all, or those at some places (`place_of`).

    Raises
    ------
    RefbrowserError
        Manifests cannot be read; or ours is wanted of what others deleted.
    """
    return _Merging(base, tip, favor, settled or {}).merged(changes)


@dataclass(slots=True)
class _Merging:
    base: SnapshotTree
    tip: SnapshotTree
    favor: Choice | None
    settled: Settled
    conflicts: list[Conflict] = field(default_factory=list)

    def merged(self, changes: ChangeSet) -> MergedChanges:
        before = self.base
        moves: list[tuple[str, str]] = []
        for old, new in changes.moves:
            theirs = self._now(before.node(old))
            before = before.moved(old, new)
            moves += self._move(old, new, theirs)
        self.base = before
        nodes = [made for each in changes.nodes if (made := self._node(each)) is not None]
        gone = {each.path for each in nodes if each.after is None}
        # A group in which others have added something, or kept it, stays.
        stay = {path for path in gone if any(each.path not in gone for each in self.tip.below(path))}
        nodes = [each for each in nodes if not (each.is_empty or each.path in stay)]
        result = ChangeSet(nodes, moves, changes.prefixes)
        return MergedChanges(result.checked(), self.conflicts)

    def _now(self, node: TreeNode) -> TreeNode | None:
        """Return what a node of the base is now, wherever others moved it; None where they deleted it."""
        return self.tip.by_id.get(node.stored.id) or self.tip.nodes.get(node.path)

    def _choice(self, conflict: Conflict) -> Choice:
        """Return whose value a conflict takes, and take note of it where nobody has said."""
        choice = self.settled.get(place_of(conflict), self.favor)
        if choice is None:
            self.conflicts.append(conflict)
        return choice or Choice.OURS

    def _move(self, old: str, new: str, theirs: TreeNode | None) -> Sequence[tuple[str, str]]:
        if theirs is not None and theirs.path == new:
            return ()
        if theirs is None or theirs.path != old:
            now = ABSENT if theirs is None else theirs.path
            if self._choice(Conflict(MergePart.MEMBER, old, (), old, new, now)) is not Choice.OURS:
                return ()
            if theirs is None:
                raise _deleted(old)
        at = old if theirs is None else theirs.path
        self.tip = self.tip.moved(at, new)
        return ((at, new),)

    def _node(self, ours: NodeChange) -> NodeChange | None:
        """Return the change of one node of the tip; None where nothing is left of it."""
        before = self.base.nodes.get(ours.path)
        now = self.tip.nodes.get(ours.path) if before is None else self._now(before)
        name = f"{ours.path}/{NODE_V3}".removeprefix("/")
        if before is None:
            return self._new(ours, now, name)
        if now is None:
            if ours.after is None:
                return None
            conflict = Conflict(MergePart.METADATA, name, (), ours.before, ours.after, ABSENT)
            if self._choice(conflict) is Choice.OURS and not self.conflicts:
                raise _deleted(ours.path)
            return None
        if ours.after is None:
            return self._deletion(ours, before, now, name)
        merged, found = merged_value(ours.before, ours.after, now.metadata)
        for each in found:
            merged = self._settle(merged, each, name)
        return NodeChange(now.path, now.metadata, merged, self._chunks(ours, before, now))

    def _settle(self, merged: Any, found: MemberConflict, name: str) -> Any:
        conflict = Conflict(MergePart.METADATA, name, found.path, found.base, found.ours, found.theirs)
        choice = self._choice(conflict)
        return merged if choice is Choice.OURS else with_member_at(merged, found.path, conflict.value(choice))

    def _new(self, ours: NodeChange, now: TreeNode | None, name: str) -> NodeChange | None:
        if now is None:
            return ours
        if same_meaning(now.metadata, ours.after) and not ours.chunks:
            return None
        conflict = Conflict(MergePart.METADATA, name, (), ABSENT, ours.after, now.metadata)
        if self._choice(conflict) is not Choice.OURS:
            return None
        return replace(ours, before=now.metadata)

    def _deletion(self, ours: NodeChange, before: TreeNode, now: TreeNode, name: str) -> NodeChange | None:
        is_same = same_meaning(ours.before, now.metadata) and before.manifests == now.manifests
        if not is_same:
            conflict = Conflict(MergePart.METADATA, name, (), ours.before, ABSENT, now.metadata)
            if self._choice(conflict) is not Choice.OURS:
                return None
        return NodeChange(now.path, now.metadata, None)

    def _chunks(self, ours: NodeChange, before: TreeNode, now: TreeNode) -> dict[Coords, Reference | None]:
        """Return the chunks that are set: those that others set, too, are conflicts."""
        chunks = dict(ours.chunks)
        if not chunks or before.manifests == now.manifests:
            return chunks
        coords = list(chunks)
        was, is_now = self.base.references_at(before, coords), self.tip.references_at(now, coords)
        keys = encoding_of(now.metadata)
        for at in coords:
            values = [_value(each) for each in (was[at], chunks[at], is_now[at])]
            if values[0] == values[2] or values[1] == values[2]:
                continue
            key = f"{now.path}/{keys.encode(at)}".removeprefix("/")
            choice = self._choice(Conflict(MergePart.REFERENCE, key, (), *values))
            if choice is Choice.THEIRS:
                del chunks[at]
        return chunks


def _value(reference: Reference | None) -> Any:
    """Return a reference as a document has it."""
    if isinstance(reference, ByteRange):
        return [reference.url, reference.offset, reference.length]
    if isinstance(reference, WholeFile):
        return [reference.url]
    return reference.data.hex() if isinstance(reference, Inline) else ABSENT


def _deleted(path: str) -> RefbrowserError:
    message = "others have deleted it: your change of it cannot be kept"
    advice = "take theirs, or commit to a new branch (--to-branch)"
    return RefbrowserError(ErrorKind.META, message, Place(path=f"/{path}"), advice)
