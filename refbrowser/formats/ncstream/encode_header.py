"""Definitions as header messages (NcStream grammar, "headerMessage"; wire notes, section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from refbrowser.formats.ncstream.definition import (
    DataType,
    StreamAttribute,
    StreamDefinition,
    StreamDimension,
    StreamGroup,
    StreamVariable,
)
from refbrowser.formats.ncstream.dtypes import STRUCTURES
from refbrowser.formats.ncstream.encode_rows import clean_text, text_of
from refbrowser.formats.ncstream.schema import HEADER

#: What practice writes as the version of a header.
VERSION = 1
#: What practice writes as the length of a dimension that has none.
NO_LENGTH = 2**64 - 1
#: The older field for the type of an attribute knows no unsigned types and numbers the others like variables.
_SIGNED = {
    DataType.UBYTE: DataType.BYTE,
    DataType.USHORT: DataType.SHORT,
    DataType.UINT: DataType.INT,
    DataType.ULONG: DataType.LONG,
}


def header_body(definition: StreamDefinition) -> bytes:
    """Return a definition as a Header."""
    header = HEADER()
    for name in ("location", "title", "id"):
        if text := getattr(definition, name):
            setattr(header, name, clean_text(text))
    header.version = VERSION
    _fill_group(header.root, definition.root)
    data: bytes = header.SerializeToString()
    return data


def _fill_group(target: Any, group: StreamGroup) -> None:
    target.name = clean_text(group.name)
    for dimension in group.dimensions.values():
        _fill_dimension(target.dims.add(), dimension)
    for variable in group.variables.values():
        _fill_variable((target.structs if variable.type in STRUCTURES else target.vars).add(), variable)
    _fill_attributes(target.atts, group.attributes.values())
    for name, names in group.enums.items():
        _fill_enum(target.enumTypes.add(), name, names)
    for child in group.groups.values():
        _fill_group(target.groups.add(), child)


def _fill_enum(target: Any, name: str, names: Mapping[int, str]) -> None:
    target.name = clean_text(name)
    for code, value in names.items():
        entry = target.map.add()
        entry.code, entry.value = code, clean_text(value)


def _fill_dimension(target: Any, dimension: StreamDimension) -> None:
    target.name = "*" if dimension.is_vlen and not dimension.name else clean_text(dimension.name)
    target.length = NO_LENGTH if dimension.is_vlen else dimension.length
    for field, is_set in (
        ("isUnlimited", dimension.is_unlimited),
        ("isVlen", dimension.is_vlen),
        ("isPrivate", dimension.is_private),
    ):
        if is_set:
            setattr(target, field, True)


def _fill_variable(target: Any, variable: StreamVariable) -> None:
    target.name = clean_text(variable.name)
    target.dataType = int(variable.type)
    for dimension in variable.dimensions:
        _fill_dimension(target.shape.add(), dimension)
    _fill_attributes(target.atts, variable.attributes.values())
    if variable.type in STRUCTURES:
        for member in variable.members:
            _fill_variable((target.structs if member.type in STRUCTURES else target.vars).add(), member)
        return
    if variable.immediate is not None:
        target.data = variable.immediate
    if variable.enum_name:
        target.enumType = clean_text(variable.enum_name)


def _fill_attributes(target: Any, attributes: Iterable[StreamAttribute]) -> None:
    for attribute in attributes:
        _fill_attribute(target.add(), attribute)


def _fill_attribute(target: Any, attribute: StreamAttribute) -> None:
    """Write an attribute with both fields for its type, so that older and newer readers understand it."""
    target.name = clean_text(attribute.name)
    target.len = len(attribute.values)
    if attribute.type in (DataType.STRING, DataType.CHAR):
        target.type, target.dataType = 0, int(DataType.STRING)
        target.sdata.extend(map(text_of, attribute.values))
        return
    assert attribute.type.dtype is not None
    target.type = int(_SIGNED.get(attribute.type, attribute.type))
    target.dataType = int(attribute.type)
    if attribute.type in _SIGNED:
        target.unsigned = True
    if attribute.values:
        target.data = np.array(attribute.values, attribute.type.dtype).tobytes()
