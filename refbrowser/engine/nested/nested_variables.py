"""Nested arrays as variables: rows of numbers, texts, structures; fields of other records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.data_type import DataType, RowType
from refbrowser.model.nested import NestedType, TypeKind
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy, Node

#: What elements of variables are called and where there are none, by what nested ones are.
_TYPES: dict[TypeKind, tuple[str, Any]] = {TypeKind.STRING: ("string", ""), TypeKind.BYTES: ("opaque", b"")}


def may_miss(node: ArrayNode) -> bool:
    """Tell whether numbers of an array may be missing, which variables have no word for."""
    kind = None if node.nested is None else node.nested.type
    return kind is not None and kind.kind is TypeKind.OPTION and kind.items[0].kind is TypeKind.NUMBER


def streamable(node: ArrayNode, target: str) -> ArrayNode:
    """Return an array as the target can have it; itself where it is not nested.

    Parameters
    ----------
    target
        What is to have it, in words.

    Raises
    ------
    RefbrowserError
        `E_META`: it has no such elements.
    """
    if node.nested is None or node.dtype is None or not node.dtype.hasobject:
        return node
    if isinstance(node.type, RowType):
        return replace(node, fill_value=np.zeros(0, node.type.row_dtype))
    kind = node.nested.type
    if kind.kind in _TYPES:
        name, fill = _TYPES[kind.kind]
        return replace(node, type=replace(node.type, name=name), fill_value=fill)
    dtype = _structure(kind)
    if dtype is None:
        message = f"{target} has no elements of type {quoted(node.type.name)}"
        raise RefbrowserError(ErrorKind.META, message, Place(path=node.path), "choose fields of it")
    return replace(node, type=DataType.of(dtype))


def _structure(kind: NestedType) -> np.dtype[Any] | None:
    """Return records of numbers as a type of numpy; None for others."""
    if kind.kind is not TypeKind.RECORD or not kind.fields or len(set(kind.fields)) < len(kind.fields):
        return None
    members = []
    for name, item in zip(kind.fields, kind.items, strict=True):
        shape = []
        while item.kind is TypeKind.LIST and item.size is not None:
            shape.append(item.size)
            item = item.items[0]
        if item.kind is not TypeKind.NUMBER or item.dtype is None or not name:
            return None
        members.append((name, item.dtype.newbyteorder("="), tuple(shape)))
    return np.dtype(members)


def with_streamable(hierarchy: Hierarchy, target: str) -> tuple[Hierarchy, list[RefbrowserError]]:
    """Return a dataset with what the target can have of its nested arrays, and why it cannot have the rest.

    Those that it cannot have are represented by their fields; the buffers that they are made from are left
    out.
    """
    if not any(isinstance(node, ArrayNode) and node.nested is not None for node in hierarchy.walk()):
        return hierarchy, []
    left_out: list[RefbrowserError] = []

    def fitted(group: GroupNode, *, is_part: bool) -> GroupNode:
        arrays: dict[str, ArrayNode] = {}
        groups: dict[str, GroupNode] = {}
        for name, array in group.arrays.items():
            if array.nested is None:
                if not is_part:
                    arrays[name] = array
                continue
            try:
                arrays[name] = streamable(array, target)
            except RefbrowserError as error:
                below = group.groups.get(name)
                part = None if below is None else fitted(below, is_part=True)
                if part is None or not (part.arrays or part.groups):
                    left_out.append(error)
                else:
                    groups[name] = part
        for name, below in group.groups.items():
            stands_for = group.arrays.get(name)
            if stands_for is None or (stands_for.nested is None and not is_part):
                groups[name] = fitted(below, is_part=is_part)
        kept: dict[str, Any] = {} if is_part else dict(group.attributes)
        return replace(group, arrays=arrays, groups=groups, attributes=kept)

    root: Node = hierarchy.root
    if isinstance(root, GroupNode):
        root = fitted(root, is_part=False)
    return replace(hierarchy, root=root), left_out
