"""A dataset of any format in the NCZarr data model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from refbrowser.errors import quoted
from refbrowser.model.data_type import SequenceType
from refbrowser.model.netcdf.attributes import typed_attributes
from refbrowser.model.netcdf.dimensions import DimensionTable
from refbrowser.model.netcdf.element_types import element_type
from refbrowser.model.netcdf.fill import fill_attribute
from refbrowser.model.netcdf.names import FreeNames, Parts
from refbrowser.model.netcdf.types import (
    DimensionReference,
    NetcdfAttribute,
    NetcdfDataset,
    NetcdfGroup,
    NetcdfType,
    NetcdfVariable,
    Note,
    TypeTable,
)
from refbrowser.model.nodes import ArrayNode, Flavour, GroupNode, Hierarchy, Node

#: What the array of a root that is an array is called: a variable has a name.
ROOT_ARRAY = "data"

_VERSIONS = {Flavour.ZARR_V2: "2.0.0", Flavour.NCZARR: "2.0.0"}


def netcdf_view(hierarchy: Hierarchy) -> NetcdfDataset:
    """Return a dataset as netCDF sees it: every dimension declared, every attribute typed.

    What the model has no words for is shown as the nearest that it has, and told in the notes of its group or
    variable; an array whose shape or type is not known is told in a note of its group. Time and memory grow
    with the metadata, not with the data.
    """
    return NetcdfDataset(
        root=_View(hierarchy).group((), _group_of(hierarchy.root)),
        version=_VERSIONS.get(hierarchy.flavour, "3.0.0"),
    )


def _group_of(root: Node) -> GroupNode:
    return root if isinstance(root, GroupNode) else GroupNode(arrays={"": root})


class _View:
    """Makes the groups, once all dimensions and types are known."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._fixed_strings = hierarchy.flavour == Flavour.NCZARR
        self._dimensions = DimensionTable()
        self._types = TypeTable()
        self._of_variables: dict[Parts, list[_Variable]] = {}
        groups = dict(_walk((), _group_of(hierarchy.root)))
        for parts, node in groups.items():
            self._dimensions.declare(parts, node)
            for name, each in node.types.items():
                self._types.take(
                    element_type(ArrayNode(path=name, type=each), fixed_strings=False)[0], parts, name
                )
        for parts, node in groups.items():
            self._of_variables[parts] = [self._variable(parts, *item) for item in _named(node)]
        self._types.declare({parts: self._taken(parts, node) for parts, node in groups.items()})

    def group(self, parts: Parts, node: GroupNode) -> NetcdfGroup:
        """Return one group with all below it."""
        notes = [_not_shown(array) for array in node.arrays.values() if not _is_known(array)]
        attributes = _attributes(node, notes)
        return NetcdfGroup(
            name=parts[-1] if parts else "",
            path=node.path,
            types=self._types.declared_in(parts),
            dimensions=self._dimensions.declared_in(parts),
            variables=tuple(each.made(self._types) for each in self._of_variables[parts]),
            attributes=tuple(attributes),
            groups=tuple(self.group((*parts, name), below) for name, below in node.groups.items()),
            notes=tuple(notes),
            node=node,
        )

    def _variable(self, group: Parts, name: str, node: ArrayNode) -> _Variable:
        type, told = element_type(node, fixed_strings=self._fixed_strings)
        # Only its data tell how many rows a sequence has.
        shared = replace(node, shape=node.shape[:-1]) if isinstance(node.type, SequenceType) else node
        references, notes = self._dimensions.references(group, shared)
        if told:
            notes.append(Note(told))
        if not node.name:
            notes.append(Note(f"the array of the root has no name; it is shown as {quoted(name)}"))
        self._types.add(type, group, name)
        return _Variable(name, node, type, references, notes)

    def _taken(self, parts: Parts, node: GroupNode) -> Iterator[str]:
        """Yield the names that a type in a group cannot have: in a netCDF-4 file all share one table."""
        yield from (variable.name for variable in self._of_variables[parts])
        yield from node.groups
        yield from (dimension.name for dimension in self._dimensions.declared_in(parts))


class _Variable:
    """A variable whose type has no name yet."""

    def __init__(
        self,
        name: str,
        node: ArrayNode,
        type: NetcdfType,
        references: tuple[DimensionReference, ...],
        notes: list[Note],
    ) -> None:
        self.name = name
        self._node = node
        self._type = type
        self._references = references
        self._notes = notes

    def made(self, types: TypeTable) -> NetcdfVariable:
        """Return the variable."""
        node, notes = self._node, self._notes
        type = types.named(self._type)
        fill, told = fill_attribute(node, type)
        if told is not None:
            notes.append(told)
        attributes = [*([fill] if fill is not None else []), *_attributes(node, notes)]
        return NetcdfVariable(
            name=self.name,
            type=type,
            path=node.path,
            dimensions=self._references,
            attributes=tuple(attributes),
            notes=tuple(notes),
            node=node,
        )


def _walk(parts: Parts, group: GroupNode) -> Iterator[tuple[Parts, GroupNode]]:
    yield parts, group
    for name, below in group.groups.items():
        yield from _walk((*parts, name), below)


def _named(group: GroupNode) -> Iterator[tuple[str, ArrayNode]]:
    """Yield the arrays that can be shown with the names of their variables."""
    free = FreeNames((*group.arrays, *group.groups))
    for name, node in group.arrays.items():
        if _is_known(node):
            yield name or free.take(ROOT_ARRAY), node


def _is_known(node: ArrayNode) -> bool:
    return node.error is None and node.dtype is not None


def _not_shown(node: ArrayNode) -> Note:
    error = node.error or node.unreadable
    why = "its type is not known" if error is None else error.message
    return Note(f"the array {quoted(node.path)} is not shown: {why}")


def _attributes(node: Any, notes: list[Note]) -> list[NetcdfAttribute]:
    """Return the typed attributes of a node, and add what is to be told about them to `notes`."""
    found = []
    for attribute, note in typed_attributes(node.attributes, node.attribute_types):
        found.append(attribute)
        if note is not None:
            notes.append(note)
    return found
