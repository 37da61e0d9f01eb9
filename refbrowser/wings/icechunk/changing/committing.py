"""Commits to a branch: on its newest snapshot, whoever has moved it, and never in the place of another's.

The library swaps the branch only where it still leads to the snapshot that was merged with. On a disk it
cannot: there all commits of this program wait for each other, and each looks afterwards whether it is there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.zarr.documents import NODE_V3
from refbrowser.io.origins import scheme_of, split_url
from refbrowser.model.report import Report
from refbrowser.references.merging.merge import Choice, Conflict
from refbrowser.references.merging.merged_members import ABSENT, same_meaning
from refbrowser.wings.icechunk.changing.applying import Applied, apply_changes, locations_of
from refbrowser.wings.icechunk.changing.change_set import ChangeSet, metadata_in
from refbrowser.wings.icechunk.changing.merged_changes import MergedChanges, Settled, merged_changes, place_of
from refbrowser.wings.icechunk.changing.snapshot_tree import SnapshotTree
from refbrowser.wings.icechunk.icechunk_limits import ICECHUNK_LIMITS
from refbrowser.wings.icechunk.reading.repository import is_id
from refbrowser.wings.icechunk.writing.containers import Container, containers_of
from refbrowser.wings.icechunk.writing.repository_place import (
    MAIN,
    check_writable,
    library,
    storage_of,
    told_of,
    with_containers,
)

#: Seconds between two looks at a lock.
_PAUSE = 0.05
#: Characters of a message that is made of what changes.
_MESSAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitOrder:
    """How changes are committed.

    Attributes
    ----------
    branch
        That gets the commit; empty for the one that is open.
    message
        Empty for what changes, in words.
    favor, settled
        As `merged_changes` has them.
    copies
        Chunks are copied into the repository, not referred to.
    dry_run
        Nothing is written.
    """

    branch: str = ""
    message: str = ""
    favor: Choice | None = None
    settled: Settled = field(default_factory=dict)
    copies: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Committed(Report):
    """What was committed, or would be.

    Attributes
    ----------
    target, branch
        The repository, and its branch.
    base, tip, snapshot
        The snapshot that was changed, the newest of the branch that it was merged with, and what was
        committed; empty where nothing was.
    changes
        What was changed of `tip`.
    conflicts
        That nobody has settled: nothing was committed then.
    chunks, copied
        As `Applied` has them.
    containers
        Virtual chunk containers that lie elsewhere now: the configuration says so, no snapshot.
    strays
        Snapshots that another program made in a repository on this disk at the same moment, to which the
        branch does not lead: it is about to commit, or the disk let both commit, and its commit was lost.
    """

    target: str
    branch: str
    base: str
    tip: str
    message: str
    changes: ChangeSet
    conflicts: Sequence[Conflict] = ()
    snapshot: str = ""
    chunks: int = 0
    copied: int = 0
    containers: int = 0
    strays: Sequence[str] = ()

    @property
    def is_merged(self) -> bool:
        """Whether others had committed since."""
        return self.base != self.tip

    def lines(self) -> Iterator[str]:
        """Yield what became of it, and what changes."""
        what = f"committed {self.snapshot}" if self.snapshot else "not committed"
        yield f"{self.target}: {what}, branch {self.branch}"
        yield from (f"  {path}: {line}" for path, line in self.changes.lines())
        yield from (f"  conflict: {place_of(each)}" for each in self.conflicts)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "target": self.target,
            "branch": self.branch,
            "base": self.base,
            "tip": self.tip,
            "snapshot": self.snapshot or None,
            "message": self.message,
            "changes": self.changes.to_json(),
            "conflicts": [_conflict_json(each) for each in self.conflicts],
            "chunks": self.chunks,
            "copied": self.copied,
            "containers": self.containers,
            "strays": [*self.strays],
        }


def _conflict_json(conflict: Conflict) -> dict[str, Any]:
    """Return a conflict as JSON; a side that does not have it has no member."""
    sides = {choice.value: conflict.value(choice) for choice in Choice}
    there = {side: value for side, value in sides.items() if value is not ABSENT}
    return {"place": place_of(conflict), **there}


def message_of(changes: ChangeSet) -> str:
    """Return what changes, in one line."""
    lines = [f"{path}: {what}" if path != "/" else what for path, what in changes.lines()]
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    return f"{lines[0][:_MESSAGE]}{more}" if lines else ""


def branch_of(dataset: Dataset, branch: str = "") -> str:
    """Return the branch that a commit goes to: the one that is named, or the one that is open.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: none is named, and a tag or snapshot is open.
    """
    chosen = SnapshotTree(dataset).origin.chosen
    kind, _, name = chosen.partition(" ")
    if branch or kind == "branch":
        return branch or name or MAIN
    message = f"{chosen} is open, and commits go to a branch"
    raise RefbrowserError(ErrorKind.USAGE, message, advice="name one: --to-branch NAME")


def commit_changes(
    dataset: Dataset, changes: ChangeSet, order: CommitOrder, control: JobControl | None = None
) -> Committed:
    """Commit changes of the snapshot that is open, merged with what others have committed since.

    Parameters
    ----------
    dataset
        Of the snapshot; what may be read of it, and how, holds for its newer ones.

    Raises
    ------
    RefbrowserError
        `E_IO`: the repository cannot be written, or too many others commit; `E_META`, `E_USAGE`: a change
        cannot be made.
    """
    return _Committing(dataset, order, control or JobControl()).commit(changes)


def commit_steps(
    dataset: Dataset,
    steps: Sequence[tuple[ChangeSet, str]],
    order: CommitOrder,
    control: JobControl | None = None,
) -> list[Committed]:
    """Commit several changes, each of what is left by those before it, with a message each.

    Ends where one has conflicts; steps that change nothing make no commit.
    """
    control = control or JobControl()
    # What is opened from then on is a snapshot, of no branch.
    order = replace(order, branch=branch_of(dataset, order.branch))
    made: list[Committed] = []
    opened = dataset
    try:
        for changes, message in steps:
            if changes.is_empty:
                continue
            found = commit_changes(opened, changes, replace(order, message=message), control)
            made.append(found)
            if found.conflicts or not found.snapshot:
                break
            if opened is not dataset:
                opened.close()
            opened = open_snapshot(dataset, found.snapshot, control)
    finally:
        if opened is not dataset:
            opened.close()
    return made


def open_snapshot(dataset: Dataset, snapshot: str, control: JobControl) -> Dataset:
    """Open another snapshot of the repository of a dataset, as that is read."""
    allowed = tuple(str(each) for each in dataset.access.allowed)
    settings = dict(dataset.access.settings)
    request = OpenRequest(dataset.path, allow=allowed, options={"snapshot": snapshot}, settings=settings)
    return open_dataset(request, control)


@dataclass(slots=True)
class _Committing:
    dataset: Dataset
    order: CommitOrder
    control: JobControl
    branch: str = field(init=False)
    _repository: Any = field(init=False)

    def commit(self, changes: ChangeSet) -> Committed:
        icechunk = library()
        self.branch = branch_of(self.dataset, self.order.branch)
        target = self.dataset.path
        with told_of(target), _alone(target, self.control) if not self.order.dry_run else _nobody():
            self._repository = self._open(icechunk)
            for _ in range(ICECHUNK_LIMITS.icechunk_commits):
                self.control.check()
                found = self._try(changes, icechunk)
                if found is not None:
                    return found
        message = f"others have committed {ICECHUNK_LIMITS.icechunk_commits} times meanwhile"
        raise RefbrowserError(ErrorKind.IO, message, Place(document=target), "try again")

    def _open(self, icechunk: Any) -> Any:
        target = self.dataset.path
        if "://" not in target:
            check_writable(target)
        settings = self.dataset.access.connection(split_url(target).origin)
        return icechunk.Repository.open(storage_of(target, settings))

    def _try(self, changes: ChangeSet, icechunk: Any) -> Committed | None:
        """Commit to the branch as it is; None where somebody else did so meanwhile."""
        base = SnapshotTree(self.dataset)
        opened = base.origin.snapshot.facts.id
        is_new = self.branch not in self._repository.list_branches()
        tip = opened if is_new else self._repository.lookup_branch(self.branch)
        with _opened(self.dataset, tip, self.control) as newest:
            tree = SnapshotTree(newest)
            merged = (
                MergedChanges(changes)
                if tip == opened
                else merged_changes(changes, base, tree, self.order.favor, self.order.settled)
            )
            told = merged.changes
            found = Committed(
                target=self.dataset.path,
                branch=self.branch,
                base=opened,
                tip=tip,
                message=self.order.message or message_of(told),
                changes=told,
                conflicts=tuple(merged.conflicts),
            )
            if merged.conflicts or self.order.dry_run or told.is_empty:
                return found
            found = replace(found, containers=self._move_containers(told))
            if not self.order.copies:
                self._add_containers(locations_of(told, tree, self.dataset.access))
            if is_new:
                self._repository.create_branch(self.branch, opened)
            known = _snapshots_in(self.dataset.path)
            session = self._repository.writable_session(self.branch)
            if session.snapshot_id != tip:
                return None
            done = apply_changes(session, told, tree, self.dataset, self.control, copies=self.order.copies)
            _check(session, told)
            if not session.has_uncommitted_changes:
                return found
            try:
                snapshot = session.commit(found.message)
            except icechunk.ConflictError:
                return None
        return self._there(found, snapshot, done, _snapshots_in(self.dataset.path) - known)

    def _move_containers(self, changes: ChangeSet) -> int:
        """Let the configuration say where named containers lie; tells how many."""
        icechunk = library()
        moved = [each for each in changes.prefixes if each.container]
        config, granted = self._repository.config, {}
        for prefix in moved:
            known = (config.virtual_chunk_containers or {}).values()
            if all(each.name != prefix.container for each in known):
                message = f"the repository has no virtual chunk container {quoted(prefix.container)}"
                raise RefbrowserError(ErrorKind.USAGE, message)
            access = self.dataset.access
            place = access.locate(prefix.new)
            beginning = prefix.new if scheme_of(prefix.new) else f"file://{os.path.abspath(prefix.new)}"
            made = Container(f"{beginning.rstrip('/')}/", place.origin, access.connection(place.origin))
            config.set_virtual_chunk_container(
                icechunk.VirtualChunkContainer(made.prefix, made.store(icechunk), name=prefix.container)
            )
            granted[made.prefix] = made.granted(icechunk)
        if moved:
            self._save_config(config, granted)
        return len(moved)

    def _save_config(self, config: Any, granted: Mapping[str, Any]) -> None:
        credentials = library().containers_credentials(granted)
        self._repository = self._repository.reopen(config=config, authorize_virtual_chunk_access=credentials)
        self._repository.save_config()

    def _add_containers(self, locations: Sequence[Any]) -> None:
        """Let the configuration say where virtual chunks lie, before any refers to there."""
        icechunk = library()
        if not locations:
            return
        containers = containers_of(locations, self.dataset.access)
        config = self._repository.config
        prefixes = list(config.virtual_chunk_containers or ())
        containers = [
            each for each in containers if not any(each.prefix.startswith(known) for known in prefixes)
        ]
        if with_containers(config, containers):
            self._save_config(config, {each.prefix: each.granted(icechunk) for each in containers})

    def _there(self, found: Committed, snapshot: str, done: Applied, new: set[str]) -> Committed | None:
        """Return what was committed; None where another program has put its own in its place.

        Parameters
        ----------
        new
            Snapshots that were not there before.
        """
        newest = islice(self._repository.ancestry(branch=self.branch), ICECHUNK_LIMITS.icechunk_commits)
        history = {each.id for each in newest}
        if snapshot not in history:
            return None
        strays = tuple(sorted(new - history))
        return replace(found, snapshot=snapshot, chunks=done.chunks, copied=done.copied, strays=strays)


def _snapshots_in(target: str) -> set[str]:
    """Return the snapshots in a repository on this disk; none of those in a bucket, which lose no commit."""
    try:
        return (
            set() if "://" in target else {each for each in os.listdir(f"{target}/snapshots") if is_id(each)}
        )
    except OSError:
        return set()


def _check(session: Any, changes: ChangeSet) -> None:
    """Compare the metadata that a session has with what it was to get."""
    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.sync import sync

    for each in changes.nodes:
        key = f"{each.path}/{NODE_V3}".removeprefix("/")
        found = sync(session.store.get(key, default_buffer_prototype()))
        now = None if found is None else metadata_in(each.path, found.to_bytes())
        if each.after is None and now is None:
            continue
        if now is None or each.after is None or not _agrees(each.after, now):
            message = "Icechunk keeps other metadata than was to be committed"
            raise RefbrowserError(ErrorKind.META, message, Place(path=each.shown))


def _agrees(wanted: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Tell whether all that is wanted is there; the library may add what is the usual."""
    return all(same_meaning(value, now.get(name)) for name, value in wanted.items())


@contextmanager
def _opened(dataset: Dataset, snapshot: str, control: JobControl) -> Iterator[Dataset]:
    if SnapshotTree(dataset).origin.snapshot.facts.id == snapshot:
        yield dataset
        return
    with open_snapshot(dataset, snapshot, control) as found:
        yield found


@contextmanager
def _nobody() -> Iterator[None]:
    yield


@contextmanager
def _alone(target: str, control: JobControl) -> Iterator[None]:
    """Let no other commit of this program into a repository on this disk; buckets need no such thing.

    Raises
    ------
    RefbrowserError
        `E_IO`: others are at it for too long.
    """
    lock = _lock_of(target)
    if lock is None:
        yield
        return
    descriptor, take = lock
    try:
        until = time.monotonic() + ICECHUNK_LIMITS.icechunk_wait
        while not take(descriptor):
            control.check()
            if time.monotonic() > until:
                message = f"another commit goes on for {ICECHUNK_LIMITS.icechunk_wait} s"
                raise RefbrowserError(ErrorKind.IO, message, Place(path=target), "try again")
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)


def _lock_of(target: str) -> tuple[int, Callable[[int], bool]] | None:
    """Return what is locked, and what tries to; None where there is nothing to lock, or no way to."""
    if "://" in target:
        return None
    try:
        import fcntl
    except ImportError:
        return None
    try:
        # The folder itself: nothing is left in it, and the system lets go of it when a process ends.
        descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise RefbrowserError(ErrorKind.IO, quoted(error.strerror), Place(path=target)) from error

    def take(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # File systems without locks.
        return True

    return descriptor, take
