"""Dimensions in the tree, and the arrays that hold the coordinates of one; no Qt here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from refbrowser.app.widgets.plain_text import one_line
from refbrowser.app.widgets.theme import count_text

if TYPE_CHECKING:
    from refbrowser.model.nodes import Dimension, Node


def dimensions_of(node: Node | None) -> Iterator[tuple[str, Dimension]]:
    """Yield the dimensions that a group declares, with the full name of each."""
    from refbrowser.views.dimension_uses import dimension_path

    for name, dimension in getattr(node, "dimensions", {}).items() if hasattr(node, "groups") else ():
        yield dimension_path(node.path, name), dimension  # type: ignore[union-attr]


def size_words(dimension: Dimension) -> str:
    """Return the size of a dimension, and that it has no limit where it has none."""
    size = count_text(dimension.size)
    return f"{size} unlimited" if dimension.unlimited else size


def coordinate_words(node: Node | None) -> list[str]:
    """Return that a node is a coordinate variable, as a line of its own; none where it is not."""
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.dimension_uses import is_coordinate

    if not isinstance(node, ArrayNode) or not is_coordinate(node):
        return []
    return [f"Coordinate variable of dimension {one_line(node.name)}"]
