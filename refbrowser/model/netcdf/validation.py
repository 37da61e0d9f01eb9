"""What is wrong with a dataset by the grammar of the NCZarr data model, and where.

The grammar is that of an abstract tree: the seed puts no text between its tokens (no marks around groups, no
word that tells a dimension from a variable), so what is checked is a dataset as a value; of texts it is the
lexemes: names, fully qualified names and versions ("Lexical Tokens"). Where the seed contradicts itself the
wider reading holds (``nczarr.md``, section 7). A fault breaks the grammar, a warning is what netcdf-c refuses
all the same, or has beyond the grammar (enumerations, rows of their own length).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.model.netcdf.names import Parts, join, name_fault, name_refused, split
from refbrowser.model.netcdf.types import (
    AtomicType,
    CompoundField,
    CompoundType,
    DeclaredType,
    EnumType,
    NetcdfAttribute,
    NetcdfDataset,
    NetcdfDimension,
    NetcdfGroup,
    NetcdfType,
    NetcdfVariable,
    OpaqueType,
    VlenType,
    type_text,
)

_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+\Z")


def validate(dataset: NetcdfDataset) -> Iterator[Finding]:
    """Yield what is wrong with a dataset, group by group.

    The place of a finding has the FQN of the group, dimension, type or variable, and the attribute's name.
    """
    if not _VERSION.match(dataset.version):
        yield _fault(f"the version {quoted(dataset.version)} is not three numbers", "/")
    dimensions = dataset.dimensions()
    # Many variables have the same dimensions.
    faults = {path: fqn_fault(path) for path in dimensions}
    types: dict[Parts, frozenset[DeclaredType]] = {}
    for parts, group in dataset.walk():
        types[parts] = frozenset(group.types)
        yield from _GroupCheck(parts, group, dimensions, faults, types).findings()


def fqn_fault(text: str) -> str | None:
    """Return why a text is no fully qualified name, or None."""
    try:
        parts = split(text)
    except RefbrowserError as error:
        return error.message
    return next(filter(None, map(name_fault, parts)), None)


class _GroupCheck:
    """Checks one group, without the groups in it."""

    def __init__(
        self,
        parts: Parts,
        group: NetcdfGroup,
        dimensions: Mapping[str, NetcdfDimension],
        faults: Mapping[str, str | None],
        types: Mapping[Parts, frozenset[DeclaredType]],
    ) -> None:
        self._parts = parts
        self._group = group
        self._path = join(parts)
        self._dimensions = dimensions
        #: Why the names of dimensions are not fully qualified ones.
        self._faults = faults
        #: Of this group and those around it.
        self._types = [types[parts[:depth]] for depth in range(len(parts) + 1)]

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong."""
        group = self._group
        if self._parts:
            yield from _name(self._parts[-1], self._path)
        yield from self._names()
        for type in group.types:
            yield from self._declared_type(type)
        for dimension in group.dimensions:
            yield from self._dimension(dimension)
        for variable in group.variables:
            yield from self._variable(variable)
        yield from _attributes(group.attributes, self._path)

    def _names(self) -> Iterator[Finding]:
        """Yield names that are there twice: among each kind, and among those that netCDF keeps together."""
        group = self._group
        variables = [variable.name for variable in group.variables]
        groups = [below.name for below in group.groups]
        types = [type.name for type in group.types]
        dimensions = [dimension.name for dimension in group.dimensions]
        kinds = {"dimension": dimensions, "variable": variables, "group": groups, "type": types}
        for kind, names in kinds.items():
            for name in _twice(names):
                yield _fault(f"two {kind}s are named {quoted(name)}", self._at(name))
        for together in ((variables, groups, types), (dimensions,)):
            for name in _alike(*together):
                message = f"to netCDF the name {quoted(name)} equals that of another part"
                yield _warning(message, self._at(name))

    def _declared_type(self, type: DeclaredType) -> Iterator[Finding]:
        path = self._at(type.name)
        yield from _name(type.name, path)
        if isinstance(type, OpaqueType):
            yield from _size(type.size, "an opaque type", path)
        elif isinstance(type, CompoundType):
            yield from self._fields(type, path)
        elif isinstance(type, EnumType):
            yield _warning(f"{quoted(type_text(type))} is not a type of NCZarr", path)
            yield from self._enumeration(type, path)
        else:
            yield _warning(f"{quoted(type_text(type))} is not a type of NCZarr", path)
            yield from self._type(type.elements, path)

    def _enumeration(self, type: EnumType, path: str) -> Iterator[Finding]:
        wrong = [value for value, _ in type.names if not _is_of_type(value, type.base)]
        if wrong:
            yield _fault(f"the value {quoted(wrong[0])} is not of type {type.base}", path)
        for name in _twice([name for _, name in type.names]):
            yield _warning(f"two values are named {quoted(name)}", path)

    def _fields(self, type: CompoundType, path: str) -> Iterator[Finding]:
        if not type.fields:
            yield _fault("a compound type has no field", path)
        for name in _twice([field.name for field in type.fields]):
            yield _fault(f"two fields are named {quoted(name)}", path)
        for field in type.fields:
            yield from self._field(field, path)

    def _field(self, field: CompoundField, path: str) -> Iterator[Finding]:
        yield from _name(field.name, path)
        if field.type is AtomicType.STRING:
            message = f"field {quoted(field.name)} is a string, which has no fixed size in NCZarr"
            yield _warning(message, path)
        yield from self._type(field.type, path)
        for size in field.shape:
            yield from _size(size, f"field {quoted(field.name)}", path)

    def _type(self, type: NetcdfType, path: str) -> Iterator[Finding]:
        if isinstance(type, AtomicType):
            return
        if not any(type in declared for declared in self._types):
            yield _fault(f"the type {quoted(type_text(type))} is not declared in a group around", path)

    def _dimension(self, dimension: NetcdfDimension) -> Iterator[Finding]:
        path = self._at(dimension.name)
        yield from _name(dimension.name, path)
        if not _is_size(dimension.size):
            yield _fault(f"the size {quoted(dimension.size)} is not an integer of at least 0", path)
        elif dimension.size == 0 and not dimension.unlimited:
            yield _warning("the size is 0; to netCDF that is an unlimited dimension", path)

    def _variable(self, variable: NetcdfVariable) -> Iterator[Finding]:
        path = self._at(variable.name)
        yield from _name(variable.name, path)
        yield from self._type(variable.type, path)
        for reference in variable.dimensions:
            dimension = self._dimensions.get(reference.path)
            fault = fqn_fault(reference.path) if dimension is None else self._faults[reference.path]
            if fault is not None:
                yield _fault(fault, path)
            elif dimension is None:
                yield _fault(f"there is no dimension {quoted(reference.path)}", path)
            elif not _agrees(reference.size, dimension):
                message = f"dimension {quoted(reference.path)} has {dimension.size} elements, here"
                yield _fault(f"{message} {quoted(reference.size)}", path)
        yield from _attributes(variable.attributes, path)

    def _at(self, name: str) -> str:
        return join((*self._parts, name))


def _attributes(attributes: tuple[NetcdfAttribute, ...], path: str) -> Iterator[Finding]:
    for name in _twice([attribute.name for attribute in attributes]):
        yield _fault(f"two attributes are named {quoted(name)}", path, name)
    for name in _alike([attribute.name for attribute in attributes]):
        yield _warning("to netCDF another attribute has the same name", path, name)
    for attribute in attributes:
        yield from _name(attribute.name, path, attribute.name)
        yield from _values(attribute, path)


def _values(attribute: NetcdfAttribute, path: str) -> Iterator[Finding]:
    type: Any = attribute.type
    name = attribute.name
    if isinstance(type, CompoundType):
        yield _fault("an attribute cannot have a compound type", path, name)
        return
    if not attribute.values:
        yield _warning("the attribute has no values", path, name)
    if type is AtomicType.CHAR and len(attribute.values) > 1:
        yield _fault(f"an attribute of type char holds {len(attribute.values)} texts", path, name)
    wrong = next((value for value in attribute.values if not _is_of_type(value, type)), None)
    if wrong is not None:
        yield _fault(f"the value {quoted(wrong)} is not of type {type_text(type)}", path, name)
    elif type is AtomicType.STRING and any("\0" in value for value in attribute.values):
        yield _fault("a string holds NUL", path, name)


def _is_of_type(value: Any, type: NetcdfType) -> bool:
    if isinstance(type, EnumType):
        return _is_of_type(value, type.base)
    if isinstance(type, VlenType):
        return isinstance(value, tuple) and all(_is_of_type(item, type.elements) for item in value)
    if isinstance(type, CompoundType):
        return False
    if isinstance(type, OpaqueType):
        return isinstance(value, bytes) and len(value) == type.size
    if type.dtype is None:
        return isinstance(value, str)
    if type.is_float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    bounds = np.iinfo(type.dtype)
    integer = isinstance(value, int) and not isinstance(value, bool)
    return integer and int(bounds.min) <= value <= int(bounds.max)


def _name(name: str, path: str, attribute: str | None = None) -> Iterator[Finding]:
    fault = name_fault(name)
    refused = None if fault else name_refused(name)
    if fault is not None:
        yield _fault(fault, path, attribute)
    elif refused is not None:
        yield _warning(f"{refused}: netCDF refuses it", path, attribute)


def _size(size: int, what: str, path: str) -> Iterator[Finding]:
    if not _is_size(size):
        yield _fault(f"the size {quoted(size)} of {what} is not an integer of at least 0", path)
    elif size == 0:
        yield _warning(f"{what} has the size 0, which netCDF refuses", path)


def _is_size(size: Any) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and size >= 0


def _agrees(size: int, dimension: NetcdfDimension) -> bool:
    # Along an unlimited dimension an array may end early: the rest reads as fill values.
    return size == dimension.size or (dimension.unlimited and _is_size(size) and size < dimension.size)


def _twice(names: Iterable[str]) -> list[str]:
    """Return the names that are there more than once."""
    listed = list(names)
    if len(set(listed)) == len(listed):
        return []
    return [name for name, count in Counter(listed).items() if count > 1]


def _alike(*kinds: Iterable[str]) -> list[str]:
    """Return the names that one of another kind has, or that differ in the form of their letters only."""
    return _twice(unicodedata.normalize("NFC", name) for names in kinds for name in dict.fromkeys(names))


def _fault(message: str, path: str, attribute: str | None = None) -> Finding:
    return _finding(Severity.FAULT, message, path, attribute)


def _warning(message: str, path: str, attribute: str | None = None) -> Finding:
    return _finding(Severity.WARNING, message, path, attribute)


def _finding(severity: Severity, message: str, path: str, attribute: str | None) -> Finding:
    place = Place(path=path, attribute=attribute)
    return Finding(severity=severity, kind=ErrorKind.META, message=message, place=place)
