"""Whether a group may describe images at all: asked of all groups, so that few load what conventions say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refbrowser.model.nodes import GroupNode, Hierarchy

#: Attributes of a group of which conventions make images, levels and what goes with them.
_ATTRIBUTES = frozenset({"multiscales", "ome", "labels", "well"})
#: Attributes that say where an image lies, beside those that begin with ``spatial:``.
_PLACES = frozenset({"proj:transform", "geo"})


def may_name_levels(attributes: Mapping[str, Any]) -> bool:
    """Tell whether attributes of a group may name levels, labels or images."""
    return not _ATTRIBUTES.isdisjoint(attributes)


def may_describe(group: GroupNode) -> bool:
    """Tell whether a group may describe images, or have overviews of one."""
    return may_name_levels(group.attributes) or "overview_1" in group.groups


def says_where(attributes: Mapping[str, Any]) -> bool:
    """Tell whether attributes say where an image lies."""
    if not _PLACES.isdisjoint(attributes):
        return True
    # Asked of every node: a generator takes twice as long.
    for name in attributes:  # noqa: SIM110
        if name[:8] == "spatial:":
            return True
    return False


def has_images(hierarchy: Hierarchy) -> bool:
    """Tell whether a dataset may have something that a convention of images is about."""
    return any(
        says_where(node.attributes) or (isinstance(node, GroupNode) and may_describe(node))
        for node in hierarchy.walk()
    )
