"""What an export takes of a dataset: the arrays that are named, in the shape that is taken of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from refbrowser.engine.nested.nested_variables import streamable, with_streamable
from refbrowser.engine.session import readable_grid
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.request import ArrayChoice
from refbrowser.exporting.targets.netcdf import target_dimensions
from refbrowser.model.data_type import SequenceType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.selection import Selection
from refbrowser.model.values import Chunks

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Chosen:
    """A dataset as it is taken.

    Attributes
    ----------
    hierarchy
        With the arrays that are taken, in the shape that is taken of them.
    sources
        For the path of each array, the array itself and what is taken of it.
    left_out
        Why nested arrays, that nobody named, are not taken.
    """

    hierarchy: Hierarchy
    sources: dict[str, tuple[ArrayNode, Selection | None]]
    left_out: tuple[RefbrowserError, ...] = ()


def chosen_of(dataset: Dataset, arrays: tuple[ArrayChoice, ...] | None, target: str) -> Chosen:
    """Return what is taken of a dataset; all of it where no arrays are named.

    Parameters
    ----------
    target
        What is to have it, in words.

    Raises
    ------
    RefbrowserError
        A selection goes backwards, an array of which a part is chosen is not readable, or the target cannot
        have the elements of one that is named.
    """
    hierarchy = dataset.hierarchy
    if arrays is None:
        hierarchy, left_out = with_streamable(hierarchy, target)
        nodes = (node for node in hierarchy.walk() if isinstance(node, ArrayNode))
        return Chosen(hierarchy, {node.path: (node, None) for node in nodes}, tuple(left_out))
    sources: dict[str, tuple[ArrayNode, Selection | None]] = {}
    taken: dict[str, ArrayNode] = {}
    for choice in arrays:
        node = hierarchy.find(choice.path)
        assert isinstance(node, ArrayNode)
        node = streamable(node, target)
        sources[node.path] = node, choice.selection
        taken[node.path] = node
        if choice.selection is not None:
            taken[node.path] = _part(node, choice.selection)
    if not isinstance(hierarchy.root, GroupNode):
        return Chosen(replace(hierarchy, root=next(iter(taken.values()))), sources)
    groups = [group for group in _groups(hierarchy) if _holds(group, taken)]
    declared, fitted = target_dimensions(groups, taken.values(), {group.path: group.path for group in groups})
    nodes_by_path = dict(zip(taken, fitted, strict=True))

    def cut(group: GroupNode) -> GroupNode:
        return replace(
            group,
            dimensions=declared.get(group.path, {}),
            arrays={
                name: nodes_by_path[node.path]
                for name, node in group.arrays.items()
                if node.path in nodes_by_path
            },
            groups={name: cut(below) for name, below in group.groups.items() if _holds(below, taken)},
        )

    return Chosen(replace(hierarchy, root=cut(hierarchy.root)), sources)


def _part(node: ArrayNode, selection: Selection) -> ArrayNode:
    """Return an array with the shape of a part of it.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the part goes backwards. The array is not readable.
    """
    grid = readable_grid(node)
    if selection.backwards:
        message = "an export keeps the order of elements: steps are positive"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(path=node.path))
    kept = [axis for axis in range(len(node.shape)) if axis not in selection.dropped]
    sides = [max(1, min(grid.largest[axis], len(selection.axes[axis]))) for axis in kept]
    type = node.type
    if isinstance(type, SequenceType) and len(node.shape) - 1 not in kept:
        type = type.structure
    return replace(
        node,
        shape=selection.shape,
        values=Chunks(grid=RegularChunkGrid(selection.shape, tuple(sides)), codecs=node.codecs),
        dimensions=tuple(node.dimensions[axis] for axis in kept if node.dimensions),
        dimension_paths=tuple(node.dimension_paths[axis] for axis in kept if node.dimension_paths),
        type=type,
    )


def _groups(hierarchy: Hierarchy) -> Iterator[GroupNode]:
    return (node for node in hierarchy.walk() if isinstance(node, GroupNode))


def _holds(group: GroupNode, taken: dict[str, ArrayNode]) -> bool:
    return group.path == "/" or any(path.startswith(f"{group.path}/") for path in taken)
