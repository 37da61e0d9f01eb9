"""Attributes as netCDF can hold them in NCZarr, and what it cannot hold."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, TypeVar

from refbrowser.errors import quoted
from refbrowser.formats.nczarr.members import is_internal
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.element_types import element_type
from refbrowser.model.netcdf.fill import fill_attribute
from refbrowser.model.nodes import ArrayNode, GroupNode

#: Attributes that netCDF keeps for itself: it hides them or stumbles over them.
_RESERVED = frozenset(
    {
        "",
        "_Codecs",
        "_IsNetcdf4",
        "_Netcdf4Coordinates",
        "_Netcdf4Dimid",
        "_SuperblockVersion",
        "CLASS",
        "DIMENSION_LIST",
        "NAME",
        "REFERENCE_LIST",
    }
)
#: Control characters that JSON has no letter for; netcdf-c reads no numeric escapes.
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0e-\x1f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

AnyNode = TypeVar("AnyNode", ArrayNode, GroupNode)


def kept_attributes(node: AnyNode) -> tuple[AnyNode, list[str]]:
    """Return a node of the target with the attributes that netCDF reads, and what is told of the others."""
    kept: dict[str, Any] = {}
    told: list[str] = []
    for name, value in node.attributes.items():
        if is_internal(name):
            continue
        why = _why_not(node, name, value)
        if why:
            told.append(f"attribute {quoted(name)} is left out: {why}")
            continue
        items: list[Any] = value if isinstance(value, list) else [value]
        found = [text for text in (name, *items) if isinstance(text, str)]
        if any(map(_CONTROL.search, found)):
            told.append(f"netCDF misreads the control characters in attribute {quoted(name)}")
        if any(map(_SURROGATE.search, found)):
            told.append(f"attribute {quoted(name)} is no Unicode text: what is not becomes '?'")
        kept[_unicode(name)] = (
            [_unicode(item) for item in value] if isinstance(value, list) else _unicode(value)
        )
    return replace(node, attributes=kept), told


def _why_not(node: ArrayNode | GroupNode, name: str, value: Any) -> str:
    """Return why netCDF cannot hold an attribute; nothing where it can."""
    if name in _RESERVED:
        return "netCDF keeps the name for itself"
    if isinstance(value, list) and not value:
        return "it has no values"
    if name == FILL_ATTRIBUTE and isinstance(node, ArrayNode):
        type, _ = element_type(node, fixed_strings=True)
        found, note = fill_attribute(replace(node, fill_value=None), type)
        return note.message if found is None and note is not None else ""
    return ""


def _unicode(value: Any) -> Any:
    return _SURROGATE.sub("?", value) if isinstance(value, str) else value
