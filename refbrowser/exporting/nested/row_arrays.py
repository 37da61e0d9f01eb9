"""Which arrays an export by rows takes: nested ones whole, not their fields and buffers beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.request import ArrayChoice
from refbrowser.model.nested import FORM_ATTRIBUTE, LENGTH_ATTRIBUTE, SCHEMA_ATTRIBUTE, TypeKind
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy, Node
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Attributes that tell how an array is stored: they are not true of what is written.
_OF_STORAGE = (SCHEMA_ATTRIBUTE, FORM_ATTRIBUTE, LENGTH_ATTRIBUTE)


def chosen_nodes(
    hierarchy: Hierarchy, choices: tuple[ArrayChoice, ...] | None
) -> Iterator[tuple[ArrayNode, Selection | None]]:
    """Yield the arrays to be exported, with what is taken of each.

    Where none are named, the fields and buffers of a nested array are left out: they are in it.
    """
    if choices is None:
        nodes = (node for node in walk_whole(hierarchy) if isinstance(node, ArrayNode))
        yield from ((_described(hierarchy, node), None) for node in nodes)
        return
    for choice in choices:
        found = hierarchy.find(choice.path)
        assert isinstance(found, ArrayNode)
        yield _described(hierarchy, found), choice.selection


def _described(hierarchy: Hierarchy, node: ArrayNode) -> ArrayNode:
    """Return an array with the attributes of its parts' group, where it is nested."""
    above = hierarchy.find(node.path.rpartition("/")[0])
    if node.nested is None or not isinstance(above, GroupNode) or node.name not in above.groups:
        return node
    return replace(node, attributes={**above.groups[node.name].attributes, **node.attributes})


def walk_whole(hierarchy: Hierarchy) -> Iterator[Node]:
    """Yield every node, parents first, but what a nested array is made from and its group."""
    pending: list[Node] = [hierarchy.root]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, GroupNode):
            nested = {name for name, array in node.arrays.items() if array.nested is not None}
            groups = [group for name, group in node.groups.items() if name not in nested]
            pending.extend(reversed([*node.arrays.values(), *groups]))


def groups_above(dataset: Dataset, paths: Sequence[str], *, whole: bool) -> list[GroupNode]:
    """Return the groups of the target above arrays, parents first; those of nested arrays are their own."""
    if whole:
        return [node for node in walk_whole(dataset.hierarchy) if isinstance(node, GroupNode)]
    groups = [node for node in dataset.hierarchy.walk() if isinstance(node, GroupNode)]
    return [group for group in groups if any(path.startswith(group.path.rstrip("/") + "/") for path in paths)]


def written_nodes(dataset: Dataset, choices: tuple[ArrayChoice, ...] | None) -> list[Node]:
    """Return the groups and arrays that are written of a dataset."""
    arrays = [node for node, _ in chosen_nodes(dataset.hierarchy, choices)]
    return [*groups_above(dataset, [node.path for node in arrays], whole=choices is None), *arrays]


def is_plain(node: ArrayNode) -> bool:
    """Tell whether the elements of an array are numbers or texts, each of them there.

    Of nested arrays these are the ones that any format holds as a plain array.
    """
    if node.nested is None:
        return True
    type = node.nested.type
    if type.kind is TypeKind.STRING:
        return True
    while type.kind is TypeKind.LIST and type.size is not None:
        type = type.items[0]
    return type.kind is TypeKind.NUMBER


def rows_taken(node: ArrayNode, selection: Selection | None) -> range:
    """Return the rows that are taken of an array with one.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the selection is no range of rows that goes forwards.
    """
    if selection is None:
        return range(node.shape[0]) if node.shape else range(1)
    rows = selection.axes[0] if selection.axes else range(1)
    whole = Selection.whole(node.shape)
    others = selection.axes[1:] == whole.axes[1:] and not selection.dropped and not selection.backwards
    if others:
        return rows
    raise RefbrowserError(
        ErrorKind.USAGE,
        "rows are selected by a forward range",
        Place(path=node.path),
        "write for example 10:20",
    )


def as_complete(node: ArrayNode) -> ArrayNode:
    """Return a plain array as it is written: one of a file of expressions, which misses nothing, is filled.

    Formats that need one then have nothing to tell.
    """
    is_made = SCHEMA_ATTRIBUTE in node.attributes or SCHEMA_ATTRIBUTE in node.internal_attributes
    if not is_made and node.nested is None:
        return node
    fill = node.fill_value
    if fill is None and node.dtype is not None:
        fill = "" if node.dtype.hasobject else np.zeros((), node.dtype)[()]
    return replace(node, attributes=told_attributes(node), fill_value=fill)


def told_attributes(node: Node) -> dict[str, Any]:
    """Return the attributes of a node that stay true wherever it is written."""
    if SCHEMA_ATTRIBUTE not in node.attributes:
        return dict(node.attributes)
    return {name: value for name, value in node.attributes.items() if name not in _OF_STORAGE}
