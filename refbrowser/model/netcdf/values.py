"""The nouns of the NCZarr data model, as values that never change ("Abstract Representation").

Nothing is checked when one is made; `refbrowser.model.netcdf.validation` tells what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import ErrorKind, Finding, Place, Severity
from refbrowser.model.netcdf.names import join, split
from refbrowser.model.netcdf.types import AttributeType, DeclaredType, NetcdfType
from refbrowser.model.nodes import ArrayNode, GroupNode


@dataclass(frozen=True, slots=True)
class Note:
    """What was changed to fit a node into the data model, or why part of it does not fit.

    Attributes
    ----------
    message
        One sentence without a full stop, fit for one line; foreign text in it is quoted.
    attribute
        Name of the attribute that it is about, None where it is about the node.
    """

    message: str
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class NetcdfAttribute:
    """Named, typed, ordered values.

    Attributes
    ----------
    values
        Python integers, floats or texts; of `char` one text, of an opaque type bytes, of rows tuples.
    """

    name: str
    type: AttributeType
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class NetcdfDimension:
    """A named size that the variables of its group and of the groups below can share.

    Attributes
    ----------
    anonymous
        It was not declared: it stands for all dimensions of this size that have no name.
    """

    name: str
    size: int
    unlimited: bool = False
    anonymous: bool = False


@dataclass(frozen=True, slots=True)
class DimensionReference:
    """One dimension of a variable ("Dimension Reference").

    Attributes
    ----------
    path
        FQN of the dimension, with escapes.
    size
        Along this variable.
    """

    path: str
    size: int

    @property
    def name(self) -> str:
        """Name of the dimension."""
        return split(self.path)[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetcdfVariable:
    """A variable: a name, a type, references to dimensions (none of a scalar), attributes.

    Attributes
    ----------
    path
        Of the array behind it, as in `ArrayNode.path`.
    node
        The array behind it; None of one that was made without.
    """

    name: str
    type: NetcdfType
    path: str = ""
    dimensions: tuple[DimensionReference, ...] = ()
    attributes: tuple[NetcdfAttribute, ...] = ()
    notes: tuple[Note, ...] = ()
    node: ArrayNode | None = None

    @property
    def is_coordinate(self) -> bool:
        """Whether it holds the coordinates of the dimension whose name it has."""
        return len(self.dimensions) == 1 and self.dimensions[0].name == self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class NetcdfGroup:
    """A group: what it declares, in order.

    Attributes
    ----------
    path
        As in `GroupNode.path`.
    node
        The group behind it; None of one that was made without.
    """

    name: str = ""
    path: str = "/"
    types: tuple[DeclaredType, ...] = ()
    dimensions: tuple[NetcdfDimension, ...] = ()
    variables: tuple[NetcdfVariable, ...] = ()
    attributes: tuple[NetcdfAttribute, ...] = ()
    groups: tuple[NetcdfGroup, ...] = ()
    notes: tuple[Note, ...] = ()
    node: GroupNode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetcdfDataset:
    """A dataset: the root group, whose name does not count in FQNs, and the version of Zarr.

    Attributes
    ----------
    version
        Three numbers, ``2.0.0``.
    """

    root: NetcdfGroup
    version: str = "2.0.0"

    def walk(self) -> Iterator[tuple[tuple[str, ...], NetcdfGroup]]:
        """Yield each group with the names that lead to it, the groups above first, in document order."""
        pending: list[tuple[tuple[str, ...], NetcdfGroup]] = [((), self.root)]
        while pending:
            parts, group = pending.pop()
            yield parts, group
            pending.extend(((*parts, below.name), below) for below in reversed(group.groups))

    def dimensions(self) -> dict[str, NetcdfDimension]:
        """Return every declared dimension by its FQN."""
        return {
            join((*parts, dimension.name)): dimension
            for parts, group in self.walk()
            for dimension in group.dimensions
        }

    def sharing(self) -> dict[str, tuple[NetcdfVariable, ...]]:
        """Return, for the FQN of each dimension that is used, the variables that share it."""
        users: dict[str, list[NetcdfVariable]] = {}
        for _, group in self.walk():
            for variable in group.variables:
                for path in dict.fromkeys(reference.path for reference in variable.dimensions):
                    users.setdefault(path, []).append(variable)
        return {path: tuple(variables) for path, variables in users.items()}

    def notes(self) -> tuple[Finding, ...]:
        """Return all notes as findings, with the path of their node."""
        found: list[Finding] = []
        for _, group in self.walk():
            found += (_finding(note, group.path) for note in group.notes)
            for variable in group.variables:
                found += (_finding(note, variable.path) for note in variable.notes)
        return tuple(found)


def _finding(note: Note, path: str) -> Finding:
    place = Place(path=path, attribute=note.attribute)
    return Finding(severity=Severity.WARNING, kind=ErrorKind.META, message=note.message, place=place)
