"""The operations log of an Icechunk repository: what was done to its branches, tags and settings.

Specification of Icechunk, version 2: the file of what changes (``repo``) has its latest updates, the newest
first, and leads to the file that has those before them. Version 1 keeps no log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from refbrowser.errors import RefbrowserError, quoted
from refbrowser.wings.icechunk.icechunk_limits import ICECHUNK_LIMITS
from refbrowser.wings.icechunk.reading.flatbuffers import Table
from refbrowser.wings.icechunk.reading.repository import ID, IcechunkRepository, id_text

#: Where files of what changes go that are replaced.
_OVERWRITTEN = "overwritten"
_STATES = ("online", "read-only", "offline")


@dataclass(frozen=True, slots=True)
class Operation:
    """What was done.

    Attributes
    ----------
    kind
        As the specification names it, in small letters: ``branch-created``.
    microseconds
        Since 1970, UTC: when.
    text
        What was done, in words.
    """

    kind: str
    microseconds: int
    text: str


@dataclass(frozen=True, slots=True)
class OperationsLog:
    """What was done to a repository, the newest first.

    Attributes
    ----------
    ended
        Why there may be more that is not told; empty where this is all.
    """

    operations: tuple[Operation, ...]
    ended: str = ""


def operations_log(repository: IcechunkRepository) -> OperationsLog | None:
    """Return what was done to a repository; older files of it are read. None where no log is kept."""
    if repository.table is None:
        return None
    found: list[Operation] = []
    most, seen = ICECHUNK_LIMITS.icechunk_operations, set[str]()
    table: Table | None = repository.table
    try:
        while table is not None:
            for operation in _operations(table):
                if len(found) == most:
                    return OperationsLog(tuple(found), f"only the newest {most} are listed")
                found.append(operation)
            name = table.text(8)
            is_new = name is not None and name not in seen
            seen.add(name or "")
            table = repository.overwritten(f"{_OVERWRITTEN}/{name}") if is_new else None
    except RefbrowserError as error:
        return OperationsLog(tuple(found), f"older ones cannot be read: {error.message}")
    return OperationsLog(tuple(found))


def _operations(root: Table) -> Iterator[Operation]:
    updates = root.tables(7)
    for row in range(len(updates)):
        update = updates[row]
        number, table = update.number(0, 1), update.table(1)
        kind, words = _KINDS.get(number, _UNKNOWN)
        yield Operation(kind, update.number(2, 8), words(table or update))


def _name(table: Table, field: int = 0) -> str:
    return quoted(table.text(field) or "")[1:-1]


def _snapshot(table: Table, field: int) -> str:
    return id_text(table.struct(field, ID) or bytes(ID))


def _status(table: Table) -> str:
    status = table.table(0)
    number = 0 if status is None else status.number(0, 1)
    reason = "" if status is None else _name(status, 2)
    state = _STATES[number] if number < len(_STATES) else f"in the state {number}"
    return f"the repository is {state}{f': {reason}' if reason else ''}"


#: An update of which this version of the specification says nothing.
_UNKNOWN: tuple[str, Callable[[Table], str]] = ("unknown", lambda _table: "an operation of an unknown kind")
#: Kinds of updates by their numbers in the union, and what they say.
_KINDS: dict[int, tuple[str, Callable[[Table], str]]] = {
    1: ("repo-initialized", lambda _table: "repository made"),
    2: (
        "repo-migrated",
        lambda table: f"repository migrated from version {table.number(0, 1)} to {table.number(1, 1)}",
    ),
    3: ("config-changed", lambda _table: "configuration changed"),
    4: ("metadata-changed", lambda _table: "metadata of the repository changed"),
    5: ("tag-created", lambda table: f"tag {_name(table)} made"),
    6: ("tag-deleted", lambda table: f"tag {_name(table)} deleted, which led to {_snapshot(table, 1)}"),
    7: ("branch-created", lambda table: f"branch {_name(table)} made"),
    8: ("branch-deleted", lambda table: f"branch {_name(table)} deleted, which led to {_snapshot(table, 1)}"),
    9: ("branch-reset", lambda table: f"branch {_name(table)} reset, which led to {_snapshot(table, 1)}"),
    10: ("new-commit", lambda table: f"{_snapshot(table, 1)} committed to {_name(table)}"),
    11: (
        "commit-amended",
        lambda table: f"{_snapshot(table, 2)} committed to {_name(table)} in place of {_snapshot(table, 1)}",
    ),
    12: ("new-detached-snapshot", lambda table: f"{_snapshot(table, 0)} made, on no branch"),
    13: ("gc-ran", lambda _table: "unused objects deleted (garbage collection)"),
    14: ("expiration-ran", lambda _table: "old snapshots expired"),
    15: (
        "feature-flag-changed",
        lambda table: (
            f"feature flag {table.number(0, 2)} "
            + (("set to on" if table.number(1, 1) else "set to off") if table.number(2, 1) else "unset")
        ),
    ),
    16: ("repo-status-changed", _status),
}
