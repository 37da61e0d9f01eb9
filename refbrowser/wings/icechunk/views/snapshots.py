"""The branches and tags of an Icechunk repository, and what each snapshot changed, in words."""

from __future__ import annotations

from collections.abc import Sequence

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.views.words import one_line, plain_lines
from refbrowser.wings.icechunk.reading.opening import IcechunkOrigin
from refbrowser.words import count_text, counted_spaced

#: Lines of each kind of change.
_LINES = 200
#: Characters of a message that is seen whole in its row, and of one that is shown below.
_SHORT, _MESSAGE = 40, 10_000


def named_snapshots(origin: IcechunkOrigin) -> list[tuple[str, str, str]]:
    """Return ``branch`` or ``tag``, name and snapshot of each branch and tag; ``main`` is the first."""
    repository = origin.repository
    branches = sorted(repository.branches.items(), key=lambda each: (each[0] != "main", each[0]))
    tags = sorted(repository.tags.items())
    return [("branch", *each) for each in branches] + [("tag", *each) for each in tags]


def compared_snapshot(origin: IcechunkOrigin, snapshot: str, way: str, name: str) -> str:
    """Return the snapshot that another one is compared with; a file of the repository may be read.

    Parameters
    ----------
    way
        ``before``: the one before it; else `name` is its identifier.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is none before; it cannot be read.
    """
    if way != "before":
        return name
    parent = origin.repository.facts(snapshot).parent
    if parent is None:
        message = f"snapshot {snapshot} is the first: there is none before it"
        raise RefbrowserError(ErrorKind.USAGE, message)
    return parent


def snapshot_text(origin: IcechunkOrigin, snapshot: str) -> str:
    """Return the message of a snapshot where it is long, and what it changed; files are read.

    Raises
    ------
    RefbrowserError
        They cannot be read.
    """
    message = origin.repository.facts(snapshot).message.strip()
    lines = [*plain_lines(message, _MESSAGE).splitlines(), ""] if len(message) > _SHORT else []
    return "\n".join([*lines, *change_lines(origin, snapshot)])


def change_lines(origin: IcechunkOrigin, snapshot: str) -> list[str]:
    """Return what a snapshot changed, a line for each group or array; files of the repository are read.

    Raises
    ------
    RefbrowserError
        They cannot be read.
    """
    repository = origin.repository
    changes = repository.changes(snapshot)
    facts = repository.facts(snapshot)
    paths: dict[bytes, str] = {}
    for name in (facts.parent, snapshot):
        try:
            nodes = () if name is None else repository.snapshot(name).nodes
        except RefbrowserError:
            continue  # It expired: what was deleted has no name then.
        paths |= {node.id: f"/{node.path}" for node in nodes}

    def told(word: str, nodes: Sequence[bytes]) -> list[str]:
        lines = sorted(f"{word} {one_line(paths.get(node, 'a node of an older snapshot'))}" for node in nodes)
        more = [f"{word} {count_text(len(lines) - _LINES)} more"] if len(lines) > _LINES else []
        return lines[:_LINES] + more

    found = told("new", changes.new) + told("deleted", changes.deleted)
    found += told("metadata changed:", changes.updated)
    found += [f"moved {one_line(old)} to {one_line(new)}" for old, new in changes.moved[:_LINES]]
    for node, count in list(changes.chunks.items())[:_LINES]:
        where = one_line(paths.get(node, "an array of an older snapshot"))
        found.append(f"{counted_spaced(count, 'chunk')} of {where}")
    return found or ["Nothing was changed."]
