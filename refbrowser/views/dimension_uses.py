"""Dimensions and the variables on them: which share one, and which one holds its coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode, Hierarchy

#: Variables of one dimension that are listed at most.
LISTED = 1_000


@dataclass(frozen=True, slots=True)
class DimensionUse:
    """The variables of a dimension.

    Attributes
    ----------
    variables
        Those that have it, in document order; at most `LISTED`.
    count
        How many have it.
    """

    variables: tuple[ArrayNode, ...]
    count: int


def is_coordinate(node: ArrayNode) -> bool:
    """Tell whether an array is a coordinate variable: of one dimension, which has its name.

    The netCDF User's Guide, "Coordinate Variables".
    """
    return len(node.shape) == 1 and node.dimensions == (node.name,)


def dimension_path(group: str, name: str) -> str:
    """Return the full name of a dimension that a group declares, without escapes."""
    return f"{group.rstrip('/')}/{name}"


def dimension_at(hierarchy: Hierarchy, path: str) -> tuple[GroupNode, Dimension] | None:
    """Return a declared dimension by its full name, with its group; None where there is none.

    A name may hold ``/``: the group that lies deepest counts.
    """
    at = path.rfind("/")
    while at >= 0:
        group = hierarchy.find(path[:at] or "/")
        if isinstance(group, GroupNode) and path[at + 1 :] in group.dimensions:
            return group, group.dimensions[path[at + 1 :]]
        at = path.rfind("/", 0, at)
    return None


def declared_paths(hierarchy: Hierarchy, node: ArrayNode) -> tuple[str | None, ...]:
    """Return the full name of each dimension of an array; None for one that no group declares.

    Where the format names no more than the last part, it is the nearest group with such a dimension whose
    length fits (The netCDF User's Guide, "Groups": a dimension is seen in the groups below its own).
    """
    known = node.dimension_paths or (None,) * len(node.shape)
    names = node.dimensions or (None,) * len(node.shape)
    return tuple(
        path or (None if name is None else _nearest(hierarchy, node.path, name, size))
        for path, name, size in zip(known, names, node.shape, strict=False)
    )


def _nearest(hierarchy: Hierarchy, path: str, name: str, size: int) -> str | None:
    above = path
    while above:
        above = above.rpartition("/")[0]
        group = hierarchy.find(above or "/")
        found = group.dimensions.get(name) if isinstance(group, GroupNode) else None
        if found is not None and found.size == size:
            return dimension_path(above, name)
    return None


def variables_of(hierarchy: Hierarchy, path: str, check: Callable[[], object] = lambda: None) -> DimensionUse:
    """Return the variables that share a dimension, by its full name; `check` raises where that is to stop."""
    name = path.rpartition("/")[2]
    found: list[ArrayNode] = []
    count = 0
    for node in hierarchy.walk():
        check()
        if not isinstance(node, ArrayNode) or not _may_have(node, path, name):
            continue
        if path in declared_paths(hierarchy, node):
            count += 1
            if len(found) < LISTED:
                found.append(node)
    return DimensionUse(tuple(found), count)


def _may_have(node: ArrayNode, path: str, name: str) -> bool:
    return path in node.dimension_paths or any(
        each is not None and (each == name or path.endswith(f"/{each}")) for each in node.dimensions
    )
