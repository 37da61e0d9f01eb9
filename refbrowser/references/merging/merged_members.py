"""Three-way merging of JSON values, member by member; lists, texts and numbers are taken whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Absent(Enum):
    """Stands for what is not there: JSON has a null of its own."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class MemberConflict:
    """A place that both sides changed in other ways; `ABSENT` where it is not.

    Attributes
    ----------
    path
        Names of members from the whole value down; empty for the value itself.
    """

    path: tuple[str, ...]
    base: Any
    ours: Any
    theirs: Any


def same_meaning(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are the same; the order of members does not count, NaN is itself."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_meaning(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_meaning, one, other))
    return type(one) is type(other) and bool(one == other or (one != one and other != other))


def merged_value(
    base: Any, ours: Any, theirs: Any, path: tuple[str, ...] = ()
) -> tuple[Any, list[MemberConflict]]:
    """Return what both sides made of a value, and where they are at odds: there ours stands.

    What neither changed, and what one side alone changed, is taken as it is on the side that changed it.
    Objects that are on both sides are merged by their members, also where the base has none.
    """
    if same_meaning(ours, theirs) or same_meaning(base, theirs):
        return ours, []
    if same_meaning(base, ours):
        return theirs, []
    if not isinstance(ours, Mapping) or not isinstance(theirs, Mapping):
        return ours, [MemberConflict(path, base, ours, theirs)]
    before = base if isinstance(base, Mapping) else {}
    merged: dict[str, Any] = {}
    conflicts: list[MemberConflict] = []
    for name in dict.fromkeys((*ours, *theirs)):
        one, mine, other = (each.get(name, ABSENT) for each in (before, ours, theirs))
        value, found = merged_value(one, mine, other, (*path, name))
        conflicts += found
        if value is not ABSENT:
            merged[name] = value
    return merged, conflicts


def member_at(value: Any, path: Sequence[str]) -> Any:
    """Return what is at a path of names; `ABSENT` where nothing is."""
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return ABSENT
        value = value[name]
    return value


def with_member_at(value: Any, path: Sequence[str], member: Any) -> Any:
    """Return a value with another one at a path of names; `ABSENT` takes it away."""
    if not path:
        return member
    name, *below = path
    inner = dict(value) if isinstance(value, Mapping) else {}
    changed = with_member_at(inner.get(name, ABSENT), below, member)
    if changed is ABSENT:
        inner.pop(name, None)
    else:
        inner[name] = changed
    return inner
