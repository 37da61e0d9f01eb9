"""A dataset as CDL, in the notation of ``ncdump -h``.

``ncgen`` reads it wherever netCDF can express the dataset; what it cannot express stands in a comment.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from refbrowser.errors import quoted
from refbrowser.formats.cdl.words import (
    SECTIONS,
    CdlSpelling,
    comment,
    constants,
    escaped_name,
    opaque_constant,
    spelled_fields,
    spelled_values,
    unwritable,
)
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.names import Parts
from refbrowser.model.netcdf.types import (
    AtomicType,
    CompoundType,
    DeclaredType,
    EnumType,
    NetcdfAttribute,
    NetcdfDataset,
    NetcdfDimension,
    NetcdfGroup,
    NetcdfType,
    NetcdfVariable,
    Note,
    OpaqueType,
    VlenType,
)

#: Names that netcdf-c keeps for itself, and refuses.
RESERVED = frozenset(
    {
        "CLASS",
        "DIMENSION_LIST",
        "NAME",
        "REFERENCE_LIST",
        "_ARRAY_DIMENSIONS",
        "_Netcdf4Coordinates",
        "_Netcdf4Dimid",
        "_nc3_strict",
    }
)
#: ``ncgen`` carries these out, for variables of floating numbers; they then have the attribute.
_QUANTIZE = frozenset(
    {
        "_QuantizeBitGroomNumberOfSignificantDigits",
        "_QuantizeGranularBitRoundNumberOfSignificantDigits",
    }
)


def variable_attributes(variable: NetcdfVariable, owner: str, type_name: str) -> Iterator[str]:
    """Yield the attributes of a variable, without indentation.

    Parameters
    ----------
    owner
        The variable as it stands before the colon.
    type_name
        Its type as it stands in CDL.
    """
    floating = isinstance(variable.type, AtomicType) and variable.type.is_float
    for attribute, why in _judged(variable.attributes):
        if attribute.name == FILL_ATTRIBUTE:
            same = attribute.type == variable.type and len(attribute.values) == 1
            why = _unspoken(attribute) if same else f"it must be one value of type {type_name}"
        elif attribute.name in _QUANTIZE:
            integer = isinstance(attribute.type, AtomicType) and attribute.type.is_integer
            why = None if floating and integer else "ncgen would execute it"
        yield _line(attribute, owner, type_name, why)


def group_attributes(attributes: Sequence[NetcdfAttribute]) -> Iterator[str]:
    """Yield the attributes of a group, without indentation."""
    for attribute, why in _judged(attributes):
        yield _line(attribute, "", "", why)


def note_comment(note: Note) -> str:
    """Return what was noted about a node as a comment."""
    return comment(note.message if note.attribute is None else f"{quoted(note.attribute)}: {note.message}")


def _judged(attributes: Sequence[NetcdfAttribute]) -> Iterator[tuple[NetcdfAttribute, str | None]]:
    """Yield each attribute of a node, with why netCDF cannot hold it or None."""
    seen = set()
    for attribute in attributes:
        name = unicodedata.normalize("NFC", attribute.name)
        why = unwritable(name)
        if name in RESERVED:
            why = f"the name {quoted(name)} is reserved by netCDF"
        elif name in seen:
            why = f"another attribute is named {quoted(name)}"
        seen.add(name)
        yield attribute, why


def _line(attribute: NetcdfAttribute, owner: str, type_name: str, why: str | None) -> str:
    values = _values(attribute.type, attribute.values)
    if not isinstance(attribute.type, AtomicType):
        why = why or (None if type_name and attribute.name == FILL_ATTRIBUTE else "its type is opaque")
        prefix = f"{type_name or escaped_name(attribute.type.name)} "
    else:
        prefix = "string " if attribute.type is AtomicType.STRING else ""
    line = f"{prefix}{owner}:{escaped_name(attribute.name)} = {values} ;"
    if why is not None:
        return comment(f"{line} ({why})")
    if not attribute.values and attribute.type is not AtomicType.CHAR:
        return f"{line.removeprefix('string ')} {comment(f'no values of type {attribute.type}')}"
    return line


def _values(type: NetcdfType, values: Sequence[Any]) -> str:
    if isinstance(type, AtomicType):
        return constants(type, values)
    if isinstance(type, EnumType):
        names = spelled_values(type)
        return ", ".join(escaped_name(names[value]) if value in names else str(value) for value in values)
    if isinstance(type, VlenType):
        return ", ".join(f"{{{_values(type.elements, row) if row else ''}}}" for row in values)
    return ", ".join(map(opaque_constant, values))


def _unspoken(attribute: NetcdfAttribute) -> str | None:
    """Return why the fill value of a variable cannot be written: values of enumerations have names."""
    type: NetcdfType = attribute.type
    found: set[Any] = set(attribute.values)
    if isinstance(type, VlenType):
        type, found = type.elements, {item for row in attribute.values for item in row}
    unnamed = found - {value for value, _ in type.names} if isinstance(type, EnumType) else None
    return f"no value of the enumeration is {min(unnamed)}" if unnamed else None


#: The largest size that ``ncgen`` reads without the suffix of a 64-bit integer.
_PLAIN_SIZE = 2**32 - 1


def cdl_text(dataset: NetcdfDataset, name: str) -> str:
    """Return a dataset as CDL.

    Parameters
    ----------
    name
        Of the dataset, after ``netcdf``.
    """
    return "".join(cdl_lines(dataset, name))


def cdl_lines(dataset: NetcdfDataset, name: str) -> Iterator[str]:
    """Yield the lines of `cdl_text` one by one, each with its end."""
    return _Writer(dataset).dataset(name)


class _Writer:
    """Writes groups, the outer ones first."""

    def __init__(self, dataset: NetcdfDataset) -> None:
        self._root = dataset.root
        self._spelling = CdlSpelling(dataset)

    def dataset(self, name: str) -> Iterator[str]:
        """Yield all lines."""
        # ncgen takes any text before the brace for the name.
        spelled = escaped_name("".join(name.split()).replace("{", "_"))
        yield f"netcdf {spelled or 'unnamed'} {{\n"
        yield from self._body((), self._root)
        yield "}\n"

    def _body(self, group: Parts, node: NetcdfGroup) -> Iterator[str]:
        """Yield what a group declares; `group` is its spelled path."""
        names = self._spelling.of_group(group)
        indent = "  " * len(group)
        if node.types:
            yield f"{indent}types:\n"
            for type, name in zip(node.types, names.types, strict=True):
                for line in self._type(type, name, group):
                    yield f"{indent}  {line}\n"
        if node.dimensions:
            yield f"{indent}dimensions:\n"
            for dimension, name in zip(node.dimensions, names.dimensions, strict=True):
                yield f"{indent}\t{_dimension(dimension, name)}\n"
        if node.variables:
            yield f"{indent}variables:\n"
            for variable, name in zip(node.variables, names.variables, strict=True):
                for line in self._variable(variable, name, group):
                    yield f"{indent}\t{line}\n"
        if node.attributes:
            yield f"\n{indent}// {'group' if group else 'global'} attributes:\n"
            for line in group_attributes(node.attributes):
                yield f"{indent}\t\t{line}\n"
        for note in node.notes:
            yield f"{indent}{note_comment(note)}\n"
        for below, name in zip(node.groups, names.groups, strict=True):
            spelled = escaped_name(name)
            yield f"\n{indent}group: {spelled} {{{_was(below.name, name)}\n"
            yield from self._body((*group, name), below)
            yield f"{indent}  }} // group {spelled}\n"

    def _type(self, type: DeclaredType, name: str, group: Parts) -> Iterator[str]:
        told = _was(type.name, name)
        spelled = escaped_name(name)
        if not is_expressible(type):
            yield comment(f"the type {quoted(type.name)} has no bytes, which netCDF does not allow")
        elif isinstance(type, OpaqueType):
            yield f"opaque({type.size}) {spelled} ;{told}"
        elif isinstance(type, EnumType):
            values = (f"{escaped_name(each)} = {value}" for value, each in spelled_values(type).items())
            yield f"{type.base} enum {spelled} {{{', '.join(values)}}} ;{told}"
        elif isinstance(type, VlenType):
            yield f"{self._type_name(type.elements, group)}(*) {spelled} ;{told}"
        else:
            yield from self._compound(type, spelled, told, group)

    def _compound(self, type: CompoundType, spelled: str, told: str, group: Parts) -> Iterator[str]:
        yield f"compound {spelled} {{{told}"
        for field, field_name in zip(type.fields, spelled_fields(type), strict=True):
            sizes = f"({', '.join(map(str, field.shape))})" if field.shape else ""
            of_type = self._type_name(field.type, group)
            yield f"  {of_type} {escaped_name(field_name)}{sizes} ;{_was(field.name, field_name)}"
        yield f"}}; // {spelled}"

    def _variable(self, variable: NetcdfVariable, name: str, group: Parts) -> Iterator[str]:
        of_type = self._type_name(variable.type, group)
        sizes = [self._spelling.dimension(reference, group) for reference in variable.dimensions]
        if of_type is None or None in sizes:
            why = "netCDF lacks its type" if of_type is None else "a dimension is not declared before it"
            yield comment(f"the variable {quoted(variable.name)} is not written: {why}")
            return
        shape = f"({', '.join(filter(None, sizes))})" if sizes else ""
        yield f"{of_type} {escaped_name(name)}{shape} ;{_was(variable.name, name)}"
        # With a colon right after it such a name would be the head of a section.
        owner = escaped_name(name) + (" " if name in SECTIONS else "")
        for line in variable_attributes(variable, owner, of_type):
            yield f"\t{line}"
        for note in variable.notes:
            yield f"\t{note_comment(note)}"

    def _type_name(self, type: NetcdfType, group: Parts) -> str | None:
        """Return a type as it is referred to in a group; None where that cannot be."""
        if isinstance(type, AtomicType):
            return str(type)
        return self._spelling.type(type, group) if is_expressible(type) else None


def is_expressible(type: NetcdfType) -> bool:
    """Whether netCDF has a type: it takes none without bytes."""
    if isinstance(type, OpaqueType):
        return type.size > 0
    if isinstance(type, VlenType):
        return is_expressible(type.elements)
    if isinstance(type, EnumType):
        return bool(type.names)
    if isinstance(type, CompoundType):
        return bool(type.fields) and all(
            is_expressible(field.type) and 0 not in field.shape for field in type.fields
        )
    return True


def _dimension(dimension: NetcdfDimension, name: str) -> str:
    spelled = escaped_name(name)
    told = _was(dimension.name, name)
    if dimension.unlimited or dimension.size == 0:
        # To netCDF a size of 0 is an unlimited one.
        fixed = "" if dimension.unlimited else ", fixed in the dataset"
        return f"{spelled} = UNLIMITED ; // ({dimension.size} currently){fixed}{told.replace(' //', ',')}"
    suffix = "LL" if dimension.size > _PLAIN_SIZE else ""
    return f"{spelled} = {dimension.size}{suffix} ;{told}"


def _was(name: str, spelled: str) -> str:
    """Return the comment that a part has another name in the dataset."""
    return "" if unicodedata.normalize("NFC", name) == spelled else f" {comment(f'named {quoted(name)}')}"
