"""The snapshots of an Icechunk repository as a graph: which lead to which, and what leads to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from refbrowser.errors import RefbrowserError
from refbrowser.wings.icechunk.icechunk_limits import ICECHUNK_LIMITS
from refbrowser.wings.icechunk.reading.repository import MAIN, IcechunkRepository, SnapshotFacts


@dataclass(frozen=True, slots=True)
class GraphSnapshot:
    """One snapshot, and how it is drawn.

    Attributes
    ----------
    branches, tags
        Names that lead to it.
    is_reachable
        Whether a branch or tag leads to it, or to one that came after it.
    lane
        The column it stands in.
    joining
        Columns right of it that end at it: snapshots that came after it.
    passing
        Columns of others that go on beside it.
    goes_on
        Whether its own column goes on: there is a snapshot before it.
    """

    facts: SnapshotFacts
    branches: tuple[str, ...]
    tags: tuple[str, ...]
    is_reachable: bool
    lane: int
    joining: tuple[int, ...] = ()
    passing: tuple[int, ...] = ()
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class SnapshotGraph:
    """Snapshots, each before those that it came from, the newest first.

    Attributes
    ----------
    ended
        Why snapshots before one cannot be told, by its identifier.
    is_cut
        Whether there are more than are listed.
    """

    snapshots: tuple[GraphSnapshot, ...]
    ended: Mapping[str, str] = field(default_factory=dict)
    is_cut: bool = False

    @property
    def lanes(self) -> int:
        """How many columns it has."""
        beside = (max((each.lane, *each.joining, *each.passing)) for each in self.snapshots)
        return max(beside, default=-1) + 1

    def of(self, name: str) -> GraphSnapshot | None:
        """Return the snapshot of an identifier; None where it is not listed."""
        return next((each for each in self.snapshots if each.facts.id == name), None)


def snapshot_graph(repository: IcechunkRepository, others: Iterable[str] = ()) -> SnapshotGraph:
    """Return the snapshots that branches and tags lead to, and all others that are known.

    Of version 1 the file of each is read.

    Parameters
    ----------
    others
        Identifiers of further ones: of version 1 nothing but a listing of the repository tells those that
        nothing leads to.
    """
    most = ICECHUNK_LIMITS.icechunk_snapshots
    found: dict[str, SnapshotFacts] = {}
    ended: dict[str, str] = {}
    named = [*repository.branches.values(), *repository.tags.values()]
    is_cut = not _follow(repository, named, found, ended, most)
    reachable = frozenset(found)
    newest = sorted(repository.known.values(), key=lambda facts: -facts.microseconds)
    more = [*(facts.id for facts in newest), *others]
    is_cut |= not _follow(repository, more, found, ended, most)
    return SnapshotGraph(_drawn(repository, _ordered(found), reachable), ended, is_cut)


def _follow(
    repository: IcechunkRepository,
    names: Iterable[str],
    found: dict[str, SnapshotFacts],
    ended: dict[str, str],
    most: int,
) -> bool:
    """Add snapshots and those that they came from; return whether all were, at most so many."""
    for name in names:
        at: str | None = name
        after = ""
        while at is not None and at not in found:
            if len(found) >= most:
                return False
            try:
                facts = repository.facts(at)
            except RefbrowserError as error:
                ended[after or at] = error.message
                break
            found[at] = facts
            after, at = at, facts.parent
    return True


def _ordered(found: Mapping[str, SnapshotFacts]) -> list[SnapshotFacts]:
    """Return snapshots, each before that which it came from; of those that may be next, the newest."""
    left = dict.fromkeys(found, 0)
    for facts in found.values():
        if facts.parent in left:
            left[facts.parent] += 1
    ready = [(-facts.microseconds, name) for name, facts in found.items() if not left[name]]
    heapify(ready)
    ordered = []
    while ready:
        _, name = heappop(ready)
        facts = found[name]
        ordered.append(facts)
        if facts.parent in left:
            left[facts.parent] -= 1
            if not left[facts.parent]:
                heappush(ready, (-found[facts.parent].microseconds, facts.parent))
    # Those of a circle, which no library writes, stand at the end.
    done = {facts.id for facts in ordered}
    return ordered + [facts for name, facts in found.items() if name not in done]


def _drawn(
    repository: IcechunkRepository, ordered: list[SnapshotFacts], reachable: frozenset[str]
) -> tuple[GraphSnapshot, ...]:
    """Return snapshots with their columns: each takes the first that waits for it, or is free.

    The first column is that of the branch ``main``.
    """
    branches, tags = _by_snapshot(repository.branches), _by_snapshot(repository.tags)
    there = {facts.id for facts in ordered}
    main = repository.branches.get(MAIN)
    is_kept = main in there
    waiting: list[str | None] = [main] if is_kept else []
    drawn = []
    for facts in ordered:
        own = [lane for lane, name in enumerate(waiting) if name == facts.id]
        free = next((lane for lane, name in enumerate(waiting) if name is None), len(waiting))
        lane, *joining = own or [free]
        passing = tuple(
            number
            for number, name in enumerate(waiting)
            if name is not None and name != facts.id and not (is_kept and number == 0)
        )
        is_kept = is_kept and facts.id != main
        if lane == len(waiting):
            waiting.append(None)
        for number in joining:
            waiting[number] = None
        goes_on = facts.parent in there
        waiting[lane] = facts.parent if goes_on else None
        while waiting and waiting[-1] is None:
            waiting.pop()
        drawn.append(
            GraphSnapshot(
                facts,
                branches.get(facts.id, ()),
                tags.get(facts.id, ()),
                facts.id in reachable,
                lane,
                tuple(joining),
                passing,
                goes_on,
            )
        )
    return tuple(drawn)


def _by_snapshot(names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, snapshot in sorted(names.items()):
        found[snapshot] = (*found.get(snapshot, ()), name)
    return found
