"""Committing as a function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from refbrowser.api import Path, Progress, StorageOptions, control_of, path_of, settings_of, texts_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, RefbrowserError, native_errors, quoted

if TYPE_CHECKING:
    from refbrowser.references.merging.merge import Choice
    from refbrowser.wings.icechunk.changing.committing import Committed


@native_errors()
def commit(
    repository: Path | Dataset,
    *,
    set_attr: str | Iterable[str] = (),
    rename: str | Iterable[str] = (),
    delete: str | Iterable[str] = (),
    move_prefix: str | Iterable[str] = (),
    source: str = "",
    message: str = "",
    to_branch: str = "",
    favor: str | None = None,
    settle: str | Iterable[str] = (),
    dry_run: bool = False,
    branch: str | None = None,
    tag: str | None = None,
    snapshot: str | None = None,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    progress: Progress | None = None,
) -> Committed:
    """Commit changes to a branch of an Icechunk repository, merged with what others have committed since.

    Parameters
    ----------
    repository
        Its path or URL, or the dataset of a snapshot of it: what others have committed since that was opened
        is kept.
    set_attr
        Attributes as ``PATH:NAME=VALUE``, of the root ``:NAME=VALUE``: text, or JSON; nothing after ``=``
        removes one.
    rename
        Paths as ``OLD=NEW``; dimensions as ``PATH:DIM=NEW``, or ``/:DIM=NEW`` in all arrays.
    delete
        Paths of groups and arrays.
    move_prefix
        Beginnings of the URLs of virtual chunks, as ``OLD=NEW``; or a named container, as ``vcc://NAME=NEW``.
    source
        Another branch, a tag or a snapshot: what it changed since both parted is committed (merged). Empty
        for none; nothing else is changed then.
    message
        Of the commit; empty for what changes, in words.
    to_branch
        The branch to commit to; empty for the one that is opened. A new one starts at what is opened.
    favor
        ``ours`` or ``theirs``: whose value is taken where others have committed a different one.
    settle
        The same for single conflicts, as ``PLACE=ours``: ``/t2m:attributes/units=theirs``.
    dry_run
        Commit nothing.
    branch, tag, snapshot
        What is opened, as `open` has them: the changes are changes of that.
    allow, storage_options
        As `open` has them.
    progress
        Called as `progress(done, total, ...)`.

    Returns
    -------
    Committed
        The `snapshot`, its `changes`, and the `conflicts` that nobody has settled: nothing was committed
        where there are any.

    Raises
    ------
    RefbrowserError
        There is no such group, array, attribute or dimension; the repository cannot be read or written.
    """
    from refbrowser.engine.opening import OpenRequest, open_dataset
    from refbrowser.references.merging.merge import Choice
    from refbrowser.wings.icechunk.changing.asked_changes import asked_changes
    from refbrowser.wings.icechunk.changing.branch_changes import merge_branch
    from refbrowser.wings.icechunk.changing.committing import CommitOrder, commit_changes
    from refbrowser.wings.icechunk.changing.request import CommitRequest
    from refbrowser.wings.icechunk.changing.snapshot_tree import SnapshotTree

    if favor not in (None, Choice.OURS, Choice.THEIRS):
        message = f"a conflict takes 'ours' or 'theirs', not {quoted(favor)}"
        raise RefbrowserError(ErrorKind.USAGE, message)
    request = CommitRequest(
        set_attr=texts_of(set_attr),
        rename=texts_of(rename),
        delete=texts_of(delete),
        move_prefix=texts_of(move_prefix),
    )
    order = CommitOrder(
        branch=to_branch,
        message=message,
        favor=None if favor is None else Choice(favor),
        settled=dict(map(_settled, texts_of(settle))),
        dry_run=dry_run,
    )
    control = control_of(progress)

    def made(dataset: Dataset) -> Committed:
        if source:
            if request != CommitRequest():
                text = "a branch is merged by a commit of its own"
                raise RefbrowserError(ErrorKind.USAGE, text, advice="make the other changes after it")
            return merge_branch(dataset, source, order, control)
        return commit_changes(dataset, asked_changes(SnapshotTree(dataset), request), order, control)

    if isinstance(repository, Dataset):
        return made(repository)
    path, allowed = path_of(repository), texts_of(allow)
    chosen = {"branch": branch, "tag": tag, "snapshot": snapshot}
    opening = {name: value for name, value in chosen.items() if value is not None}
    settings = settings_of(storage_options, [path, *allowed])
    with open_dataset(OpenRequest(path, allowed, settings, options=opening), control) as dataset:
        return made(dataset)


def _settled(text: str) -> tuple[str, Choice]:
    from refbrowser.references.merging.merge import Choice

    place, _, side = text.rpartition("=")
    if not place or side not in (Choice.OURS, Choice.THEIRS):
        message = f"{quoted(text)} is not of the form PLACE=ours or PLACE=theirs"
        raise RefbrowserError(ErrorKind.USAGE, message)
    return place, Choice(side)
