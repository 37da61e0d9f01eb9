"""Which variable of a dataset is shown first: the data that it was made for, not its coordinates."""

from __future__ import annotations

from itertools import islice

from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.views.dimension_uses import is_coordinate

#: Nodes that are looked at: of a longer hierarchy the first ones.
LOOKED_AT = 5_000
#: Attributes that name other variables which tell of coordinates (CF conventions 1.11, chapters 5 and 7).
_NAMING = ("coordinates", "bounds", "grid_mapping", "ancillary_variables", "cell_measures")


#: Ends of the names of boundaries that no attribute names: ``latitude_bounds`` beside ``latitude``.
_BOUNDS = ("bnds", "bounds")


def first_array(hierarchy: Hierarchy) -> ArrayNode | None:
    """Return the variable to show first: numbers, no coordinates, of most dimensions; None for none.

    Of several the one that stands first. What cannot be read is not chosen.
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
    return None if best is None else best[1]


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
