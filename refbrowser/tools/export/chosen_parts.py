"""Parts of arrays that are exported: the coordinates beside them are cut likewise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array, Dataset
    from refbrowser.exporting.request import ArrayChoice
    from refbrowser.model.selection import Selection


def with_coordinates(dataset: Dataset, choices: Sequence[ArrayChoice]) -> tuple[ArrayChoice, ...]:
    """Return choices of arrays, in which coordinates that are taken whole are cut as their arrays are.

    A coordinate of arrays that are cut in different ways stays whole.
    """
    cut: dict[str, list[Selection]] = {}
    for choice in choices:
        if choice.selection is not None:
            for path, part in _beside(dataset.array(choice.path), choice.selection):
                cut.setdefault(path, []).append(part)
    found = []
    for choice in choices:
        parts = cut.get(choice.path, [])
        is_same = bool(parts) and choice.selection is None and all(part == parts[0] for part in parts)
        found.append(replace(choice, selection=parts[0]) if is_same else choice)
    return tuple(found)


def _beside(array: Array, selection: Selection) -> Iterator[tuple[str, Selection]]:
    """Yield the coordinates of an array by their paths, with what belongs to a selection."""
    from refbrowser.views.plot.reading import auxiliary_nodes, coordinate_nodes
    from refbrowser.views.plot.resolution import named_node

    hierarchy = array.dataset.hierarchy
    node = named_node(hierarchy, array.node)
    for axis, coordinate in enumerate(coordinate_nodes(hierarchy, node)):
        if coordinate is not None:
            yield coordinate.path, selection.of_axis(axis)
    for each in auxiliary_nodes(hierarchy, node):
        yield each.node.path, selection.of_axes(each.dimensions)
