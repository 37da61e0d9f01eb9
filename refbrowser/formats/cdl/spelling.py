"""The names that the parts of a dataset get in CDL, and how one part refers to another.

In a netCDF-4 file the groups, types and dimensions of a group share one table, and names are compared in the
composed form of Unicode. What cannot keep its name gets the nearest that is free.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from refbrowser.formats.cdl.words import escaped_name, writable_name
from refbrowser.model.netcdf.names import FreeNames, Parts, join
from refbrowser.model.netcdf.types import (
    CompoundType,
    DeclaredType,
    DimensionReference,
    EnumType,
    NetcdfDataset,
    NetcdfGroup,
)


@dataclass(frozen=True, slots=True)
class GroupSpelling:
    """The names of what a group declares, in the order of its declarations."""

    types: tuple[str, ...]
    dimensions: tuple[str, ...]
    variables: tuple[str, ...]
    groups: tuple[str, ...]


class Spelling:
    """The names of all parts of a dataset."""

    def __init__(self, dataset: NetcdfDataset) -> None:
        #: In the order in which groups are written.
        self._groups: dict[Parts, GroupSpelling] = {}
        self._position: dict[Parts, int] = {}
        #: The spelled path of each dimension by its FQN.
        self._dimensions: dict[str, Parts] = {}
        self._spelled_dimensions: set[Parts] = set()
        self._spelled_types: set[Parts] = set()
        self._types: dict[tuple[Parts, DeclaredType], Parts] = {}
        pending: list[tuple[Parts, Parts, NetcdfGroup]] = [((), (), dataset.root)]
        while pending:
            parts, spelled, group = pending.pop()
            names = _spelled(group)
            self._position[spelled] = len(self._groups)
            self._groups[spelled] = names
            for dimension, name in zip(group.dimensions, names.dimensions, strict=True):
                self._dimensions.setdefault(join((*parts, dimension.name)), (*spelled, name))
                self._spelled_dimensions.add((*spelled, name))
            for declared, name in zip(group.types, names.types, strict=True):
                self._types[spelled, declared] = (*spelled, name)
                self._spelled_types.add((*spelled, name))
            for below, name in zip(reversed(group.groups), reversed(names.groups), strict=True):
                pending.append(((*parts, below.name), (*spelled, name), below))

    def of_group(self, spelled: Parts) -> GroupSpelling:
        """Return the names of what a group declares, by the spelled path of the group."""
        return self._groups[spelled]

    def dimension(self, reference: DimensionReference, group: Parts) -> str | None:
        """Return how a variable in `group` refers to a dimension.

        None where there is no such dimension, or where a later group declares it: ``ncgen`` looks at none.
        """
        target = self._dimensions.get(reference.path)
        if target is None or self._position[target[:-1]] > self._position[group]:
            return None
        return _reference(target, group, self._spelled_dimensions)

    def type(self, type: DeclaredType, group: Parts) -> str | None:
        """Return how a type is referred to in `group`; None where no group around it declares the type."""
        for depth in range(len(group), -1, -1):
            target = self._types.get((group[:depth], type))
            if target is not None:
                return _reference(target, group, self._spelled_types)
        return None


def spelled_fields(type: CompoundType) -> tuple[str, ...]:
    """Return the names of the fields of a compound type."""
    free = FreeNames()
    return tuple(free.take(_wish(field.name)) for field in type.fields)


def spelled_values(type: EnumType) -> dict[int, str]:
    """Return the names of the values of an enumeration."""
    free = FreeNames()
    return {value: free.take(_wish(name)) for value, name in type.names}


def _spelled(group: NetcdfGroup) -> GroupSpelling:
    variables, dimensions = FreeNames(), FreeNames()
    of_variables = tuple(variables.take(_wish(variable.name)) for variable in group.variables)
    of_dimensions = tuple(dimensions.take(_wish(dimension.name)) for dimension in group.dimensions)
    others = FreeNames((*of_variables, *of_dimensions))
    return GroupSpelling(
        variables=of_variables,
        dimensions=of_dimensions,
        types=tuple(others.take(_wish(each.name)) for each in group.types),
        groups=tuple(others.take(_wish(below.name)) for below in group.groups),
    )


def _wish(name: str) -> str:
    return writable_name(unicodedata.normalize("NFC", name))


def _reference(target: Parts, group: Parts, declared: set[Parts]) -> str:
    """Return the bare name where looking outwards from `group` finds the target first, else its path."""
    name = target[-1]
    for depth in range(len(group), -1, -1):
        found = (*group[:depth], name)
        if found in declared:
            if found == target:
                return escaped_name(name)
            break
    return "/" + "/".join(map(escaped_name, target))
