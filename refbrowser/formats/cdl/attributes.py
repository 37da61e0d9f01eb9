"""Attributes in CDL: one line each, a comment where netCDF cannot hold the attribute."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from refbrowser.errors import quoted
from refbrowser.formats.cdl.spelling import spelled_values
from refbrowser.formats.cdl.words import comment, constants, escaped_name, opaque_constant, unwritable
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.types import (
    AtomicType,
    EnumType,
    NetcdfAttribute,
    NetcdfType,
    NetcdfVariable,
    Note,
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
            why = None if floating and integer else "ncgen would carry it out"
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
            why = f"netCDF keeps the name {quoted(name)} for itself"
        elif name in seen:
            why = f"there is another attribute {quoted(name)}"
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
