"""The types of the NCZarr data model: atomic, opaque and compound; and those that netCDF-4 has beside them.

To the list of the seed ("Types") ``char``, ``float`` and ``double`` are added, which files in practice have,
and enumerations and rows of their own length, which streams have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, Severity
from refbrowser.findings.finding import Finding
from refbrowser.model.netcdf.names import FreeNames, Parts, join, split
from refbrowser.model.nodes import ArrayNode, GroupNode


class AtomicType(StrEnum):
    """The types that need no declaration, by their netCDF names."""

    CHAR = "char"
    BYTE = "byte"
    UBYTE = "ubyte"
    SHORT = "short"
    USHORT = "ushort"
    INT = "int"
    UINT = "uint"
    INT64 = "int64"
    UINT64 = "uint64"
    FLOAT = "float"
    DOUBLE = "double"
    STRING = "string"

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The numpy type of the numbers; None of char and string."""
        return _DTYPES.get(self)

    @property
    def known_dtype(self) -> np.dtype[Any]:
        """The numpy type of the numbers; asking char and string is an error."""
        return _DTYPES[self]

    @property
    def default_fill(self) -> Any:
        """What netCDF reads where nothing was written and no fill value is set."""
        return _DEFAULT_FILLS[self]

    @property
    def is_integer(self) -> bool:
        """Whether its values are integers."""
        return self.dtype is not None and self.dtype.kind in "iu"

    @property
    def is_float(self) -> bool:
        """Whether its values are floating numbers."""
        return self.dtype is not None and self.dtype.kind == "f"


_DTYPES: dict[Any, np.dtype[Any]] = {
    AtomicType.BYTE: np.dtype("i1"),
    AtomicType.UBYTE: np.dtype("u1"),
    AtomicType.SHORT: np.dtype("i2"),
    AtomicType.USHORT: np.dtype("u2"),
    AtomicType.INT: np.dtype("i4"),
    AtomicType.UINT: np.dtype("u4"),
    AtomicType.INT64: np.dtype("i8"),
    AtomicType.UINT64: np.dtype("u8"),
    AtomicType.FLOAT: np.dtype("f4"),
    AtomicType.DOUBLE: np.dtype("f8"),
}

#: The atomic type of each numpy type that is one.
ATOMIC_OF = {dtype: atomic for atomic, dtype in _DTYPES.items()}

#: The atomic types by name.
ATOMIC_BY_NAME = {str(atomic): atomic for atomic in AtomicType}

_DEFAULT_FILLS: dict[AtomicType, Any] = {
    AtomicType.CHAR: "\0",
    AtomicType.BYTE: -127,
    AtomicType.UBYTE: 255,
    AtomicType.SHORT: -32767,
    AtomicType.USHORT: 65535,
    AtomicType.INT: -2147483647,
    AtomicType.UINT: 4294967295,
    AtomicType.INT64: -9223372036854775806,
    AtomicType.UINT64: 18446744073709551614,
    AtomicType.FLOAT: 9.969209968386869e36,
    AtomicType.DOUBLE: 9.969209968386869e36,
    AtomicType.STRING: "",
}


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """Elements of `size` bytes whose meaning is not known."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class EnumType:
    """Integers whose values have names.

    Attributes
    ----------
    base
        The type of the integers.
    names
        Values and their names, in order.
    """

    name: str
    base: AtomicType
    names: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class VlenType:
    """Rows of elements of one type, each row with a length of its own.

    A sequence (CDM) is such a row of a compound type.
    """

    name: str
    elements: NetcdfType


@dataclass(frozen=True, slots=True)
class CompoundField:
    """One field of a compound type: a type repeated over `shape`."""

    name: str
    type: NetcdfType
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CompoundType:
    """Ordered, named fields, like a struct of C."""

    name: str
    fields: tuple[CompoundField, ...]


DeclaredType = OpaqueType | CompoundType | EnumType | VlenType
NetcdfType = AtomicType | DeclaredType
#: What attributes can be of; rows and enumerations are those of fill values only.
AttributeType = AtomicType | OpaqueType | EnumType | VlenType


def type_text(type: NetcdfType) -> str:
    """Return the name of a type for people: ``int``, ``compound point``, ``int(*) row``."""
    if isinstance(type, AtomicType):
        return str(type)
    return f"{_KINDS[type.__class__](type)} {type.name}"


_KINDS: dict[Any, Callable[[Any], str]] = {
    OpaqueType: lambda type: f"opaque({type.size})",
    CompoundType: lambda type: "compound",
    EnumType: lambda type: f"{type.base} enum",
    VlenType: lambda type: f"{type_text(type.elements).strip()}(*)",
}


#: Complex numbers are known to other software by these fields.
_COMPLEX: dict[DeclaredType, str] = {
    CompoundType("", (CompoundField("r", part), CompoundField("i", part))): name
    for part, name in ((AtomicType.FLOAT, "complex64"), (AtomicType.DOUBLE, "complex128"))
}


@dataclass(slots=True)
class _Use:
    """Around which users a type was found, and a name after the first; or where it is declared, with what."""

    group: Parts
    wish: str
    is_declared: bool = False


class TypeTable:
    """Gathers the types that a dataset declares and uses, then declares them."""

    def __init__(self) -> None:
        self._uses: dict[DeclaredType, _Use] = {}
        #: All types in their order: one that is declared more than once stands here as often.
        self._entries: list[tuple[DeclaredType, _Use]] = []
        self._named: dict[DeclaredType, DeclaredType] = {}
        self._declared: dict[Parts, list[DeclaredType]] = {}

    def take(self, type: NetcdfType, group: Parts, name: str) -> None:
        """Note that a group declares a type, which those who use it without a name mean from now on."""
        if isinstance(type, AtomicType):
            return
        self._add_inner(type, group, name)
        use = _Use(group, name, is_declared=True)
        self._uses.setdefault(type, use)
        self._entries.append((type, use))

    def add(self, type: NetcdfType, group: Parts, user: str) -> None:
        """Note that `user`, a variable in `group`, has a type without a name."""
        if isinstance(type, AtomicType):
            return
        self._add_inner(type, group, user)
        use = self._uses.get(type)
        if use is None:
            use = self._uses[type] = _Use(group, type.name or _COMPLEX.get(type, f"{user}_t"))
            self._entries.append((type, use))
        elif not use.is_declared:
            use.group = _common(use.group, group)

    def _add_inner(self, type: DeclaredType, group: Parts, user: str) -> None:
        if isinstance(type, CompoundType):
            for field in type.fields:
                self.add(field.type, group, f"{user}_{field.name}")
        if isinstance(type, VlenType):
            self.add(type.elements, group, f"{user}_row")

    def declare(self, taken: Mapping[Parts, Iterable[str]]) -> None:
        """Give each structure its place and its name.

        Parameters
        ----------
        taken
            For each group the names that a type in it cannot have.
        """
        free: dict[Parts, FreeNames] = {}
        for _, use in self._entries:
            names = free.setdefault(use.group, FreeNames(taken.get(use.group, ())))
            if use.is_declared:
                use.wish = names.take(use.wish)
        for structure, use in self._entries:
            name = use.wish if use.is_declared else free[use.group].take(use.wish)
            # What a type holds was noted before it.
            named = replace(self._with_names(structure), name=name)
            self._named.setdefault(structure, named)
            self._declared.setdefault(use.group, []).append(named)

    def named(self, type: NetcdfType) -> NetcdfType:
        """Return a type that was added as it is declared."""
        return type if isinstance(type, AtomicType) else self._named[type]

    def declared_in(self, group: Parts) -> tuple[DeclaredType, ...]:
        """Return the types that a group declares; one that another holds comes first."""
        return tuple(self._declared.get(group, ()))

    def _with_names(self, structure: DeclaredType) -> DeclaredType:
        if isinstance(structure, VlenType):
            return replace(structure, elements=self.named(structure.elements))
        if not isinstance(structure, CompoundType):
            return structure
        fields = (replace(field, type=self.named(field.type)) for field in structure.fields)
        return replace(structure, fields=tuple(fields))


def _common(first: Parts, second: Parts) -> Parts:
    """Return the innermost group around two groups."""
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    return first[:same]


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
