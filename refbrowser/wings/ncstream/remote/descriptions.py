"""What a service of CDM Remote offers and a dataset as NcML, as XML (wire notes, section 6)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamDimension,
    StreamGroup,
    StreamType,
    StreamVariable,
)

#: What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def safe(text: str) -> str:
    """Return a text as XML can hold it."""
    return _FORBIDDEN.sub("\ufffd", text)


def document(root: Element) -> str:
    """Return a document with its declaration, indented."""
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, "unicode")}\n'


#: The kinds of datasets that CDM has words for.
_FEATURES = frozenset(
    {"GRID", "FMRC", "SWATH", "CURVILINEAR", "IMAGE", "RADIAL", "POINT", "PROFILE", "SECTION", "STATION"}
    | {"STATION_PROFILE", "STATION_RADIAL", "TRAJECTORY", "UGRID"}
)
#: Those of CF that have other words there.
_OF_CF = {"TIMESERIES": "STATION", "TIMESERIESPROFILE": "STATION_PROFILE", "TRAJECTORYPROFILE": "SECTION"}


def capabilities_xml(definition: StreamDefinition, url: str) -> str:
    """Return the capabilities of a service that offers a dataset at `url`."""
    root = Element("cdmRemoteCapabilities", location=url)
    SubElement(root, "featureDataset", type=_feature(definition), url=url)
    return document(root)


def _feature(definition: StreamDefinition) -> str:
    for name in ("cdm_data_type", "featureType"):
        attribute = definition.root.attributes.get(name)
        if attribute is not None and attribute.values:
            word = str(attribute.values[0]).upper()
            word = _OF_CF.get(word, word)
            if word in _FEATURES:
                return word
    return "ANY"


_NAMESPACE = "http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2"
#: NcML has one word for a structure, and says of unsigned numbers in an attribute.
_TYPES = {
    StreamType.STRING: "String",
    StreamType.STRUCTURE: "Structure",
    StreamType.SEQUENCE: "Sequence",
    StreamType.UBYTE: "byte",
    StreamType.USHORT: "short",
    StreamType.UINT: "int",
    StreamType.ULONG: "long",
}
_UNSIGNED = frozenset({StreamType.UBYTE, StreamType.USHORT, StreamType.UINT, StreamType.ULONG})
#: What parts texts where they do not hold it; some of no language, where they hold all others.
_SEPARATORS = ("|", ";", "#", "~", "^", "\t", *map(chr, range(0xE000, 0xE100)))


def ncml_text(definition: StreamDefinition, url: str) -> str:
    """Return the NcML of a dataset that is found at `url`."""
    root = Element("netcdf", xmlns=_NAMESPACE, location=safe(url))
    _fill_group(root, definition.root)
    return document(root)


def _fill_group(target: Element, group: StreamGroup) -> None:
    for name, names in group.enums.items():
        typedef = SubElement(target, "enumTypedef", name=safe(name), type=_width(names))
        for code, text in names.items():
            SubElement(typedef, "enum", key=str(code)).text = safe(text)
    for dimension in group.dimensions.values():
        _add_dimension(target, dimension)
    _add_attributes(target, group.attributes.values())
    for variable in group.variables.values():
        _add_variable(target, variable)
    for child in group.groups.values():
        _fill_group(SubElement(target, "group", name=safe(child.name)), child)


def _width(names: Iterable[int]) -> str:
    most = max(names, default=0)
    return "enum1" if most < 1 << 8 else "enum2" if most < 1 << 16 else "enum4"


def _add_dimension(target: Element, dimension: StreamDimension) -> None:
    added = SubElement(target, "dimension", name=safe(dimension.name), length=str(dimension.length))
    if dimension.is_unlimited:
        added.set("isUnlimited", "true")


def _add_variable(target: Element, variable: StreamVariable) -> None:
    word = _TYPES.get(variable.type, variable.type.name.lower())
    added = SubElement(target, "variable", name=safe(variable.name), type=word)
    # Scalars have the attribute too, empty.
    added.set("shape", " ".join(map(_shape_word, variable.dimensions)))
    if variable.enum_name:
        added.set("typedef", safe(variable.enum_name))
    _add_attributes(added, variable.attributes.values())
    if variable.type in _UNSIGNED and "_Unsigned" not in variable.attributes:
        SubElement(added, "attribute", name="_Unsigned", value="true")
    for member in variable.members:
        _add_variable(added, member)


def _shape_word(dimension: StreamDimension) -> str:
    if dimension.is_vlen:
        return "*"
    # Words of a shape are parted by blanks; a private dimension is known by its length only.
    if dimension.is_private or not dimension.name:
        return str(dimension.length)
    return safe(dimension.name).replace(" ", r"\ ")


def _add_attributes(target: Element, attributes: Iterable[StreamAttribute]) -> None:
    for attribute in attributes:
        added = SubElement(target, "attribute", name=safe(attribute.name))
        if attribute.type not in (StreamType.STRING, StreamType.CHAR):
            added.set("type", _TYPES.get(attribute.type, attribute.type.name.lower()))
        if attribute.type in _UNSIGNED:
            added.set("isUnsigned", "true")
        values = [safe(str(value)) for value in attribute.values]
        if len(values) > 1 and attribute.type in (StreamType.STRING, StreamType.CHAR):
            free = (mark for mark in _SEPARATORS if not any(mark in value for value in values))
            separator = next(free, _SEPARATORS[0])
            added.set("separator", separator)
            added.set("value", separator.join(values))
        else:
            added.set("value", " ".join(values))
