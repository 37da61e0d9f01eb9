"""Dimensions and the variables on them: which share one, which holds its coordinates, the first array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from refbrowser.model.multiscales.conventions import multiscale_of
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


#: Nodes that are looked at: of a longer hierarchy the first ones.
LOOKED_AT = 5_000
#: Attributes that name other variables which tell of coordinates (CF conventions 1.11, chapters 5 and 7).
_NAMING = ("coordinates", "bounds", "grid_mapping", "ancillary_variables", "cell_measures")


#: Ends of the names of boundaries that no attribute names: ``latitude_bounds`` beside ``latitude``.
_BOUNDS = ("bnds", "bounds")


def first_array(hierarchy: Hierarchy) -> ArrayNode | None:
    """Return the variable to show first: numbers, no coordinates, of most dimensions; None for none.

    Of several the one that stands first; of an image in several resolutions the finest. What cannot be read
    is not chosen.
    """
    nodes = [node for node in islice(hierarchy.walk(), LOOKED_AT) if isinstance(node, ArrayNode)]
    told = _told_of(nodes)
    # Below the path of an array stand its parts: the buffers of nested values.
    paths = {node.path for node in nodes}
    best: tuple[tuple[bool, bool, int], ArrayNode] | None = None
    for node in nodes:
        if node.error is not None or node.unreadable is not None or 0 in node.shape:
            continue
        is_part = node.path.rpartition("/")[0] in paths
        is_data = not is_coordinate(node) and node.name not in told and not is_part
        worth = (is_data, _is_number(node), sum(size > 1 for size in node.shape))
        if best is None or worth > best[0]:
            best = (worth, node)
    if best is None:
        return None
    image = multiscale_of(hierarchy, best[1])
    finest = best[1] if image is None else image.levels[0].node
    return finest if finest.unreadable is None else best[1]


def _told_of(nodes: list[ArrayNode]) -> set[str]:
    """Return the names of variables that tell of others: those name them, or their own names say so."""
    names = {node.name for node in nodes}
    told: set[str] = set()
    for node in nodes:
        owner, _, end = node.name.rpartition("_")
        if end in _BOUNDS and owner in names:
            told.add(node.name)
        for name in _NAMING:
            text = node.attributes.get(name)
            if isinstance(text, str):
                told.update(text.split())
    return told


def _is_number(node: ArrayNode) -> bool:
    return node.dtype is not None and node.dtype.kind in "iufb"
