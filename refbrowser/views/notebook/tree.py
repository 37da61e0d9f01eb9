"""Groups with the arrays in them, as far as they are shown: a bounded part of a hierarchy of any size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.words import counted_spaced

AnyNode = TypeVar("AnyNode", ArrayNode, GroupNode)
#: Groups that are visited to count what is in a dataset.
_VISITED = 2_000


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is below a group.

    Attributes
    ----------
    groups, arrays
        How many there are, the group itself not among them.
    is_all
        Whether all were counted; else there are more.
    """

    groups: int
    arrays: int
    is_all: bool

    @property
    def words(self) -> str:
        """In words: ``2 groups, 5 arrays``."""
        told = [counted_spaced(self.groups, "group")] if self.groups else []
        told.append(counted_spaced(self.arrays, "array"))
        return f"{'' if self.is_all else 'more than '}{', '.join(told)}"


def counts_below(group: GroupNode) -> Counts:
    """Count the groups and arrays below a group, in a time that does not depend on how many there are."""
    pending, groups, arrays, visited = [group], 0, 0, 0
    while pending and visited < _VISITED:
        node = pending.pop()
        visited += 1
        groups += len(node.groups)
        arrays += len(node.arrays)
        pending.extend(islice(node.groups.values(), _VISITED - visited))
    return Counts(groups, arrays, not pending and groups < visited)


@dataclass
class Room:
    """How much may still be shown.

    Attributes
    ----------
    rows
        Arrays and groups.
    bodies
        Arrays with all that is known of them.
    """

    rows: int
    bodies: int = 0

    def first(self, nodes: Mapping[str, AnyNode], most: int) -> Iterator[AnyNode]:
        """Yield the first arrays or groups of a group as long as there is room."""
        for node in islice(nodes.values(), most):
            if self.rows <= 0:
                return
            self.rows -= 1
            yield node

    def has_body(self) -> bool:
        """Tell whether another array may be shown whole, and count it."""
        self.bodies -= 1
        return self.bodies >= 0
