"""The attributes of any node as a stream has them: typed, in order."""

from __future__ import annotations

from dataclasses import replace

from refbrowser.errors import quoted
from refbrowser.formats.ncstream.definition import DataType, StreamAttribute
from refbrowser.formats.ncstream.element_types import Element
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE, typed_attributes
from refbrowser.model.netcdf.fill import fill_attribute
from refbrowser.model.netcdf.types import AtomicType
from refbrowser.model.nodes import ArrayNode, Node

_TYPES = {
    AtomicType.CHAR: DataType.STRING,
    AtomicType.STRING: DataType.STRING,
    AtomicType.BYTE: DataType.BYTE,
    AtomicType.UBYTE: DataType.UBYTE,
    AtomicType.SHORT: DataType.SHORT,
    AtomicType.USHORT: DataType.USHORT,
    AtomicType.INT: DataType.INT,
    AtomicType.UINT: DataType.UINT,
    AtomicType.INT64: DataType.LONG,
    AtomicType.UINT64: DataType.ULONG,
    AtomicType.FLOAT: DataType.FLOAT,
    AtomicType.DOUBLE: DataType.DOUBLE,
}
_ATOMIC = {stream: atomic for atomic, stream in _TYPES.items() if atomic is not AtomicType.CHAR} | {
    DataType.CHAR: AtomicType.CHAR,
    DataType.ENUM1: AtomicType.UBYTE,
    DataType.ENUM2: AtomicType.USHORT,
    DataType.ENUM4: AtomicType.UINT,
}


def stream_attributes(node: Node) -> tuple[dict[str, StreamAttribute], list[str]]:
    """Return the attributes of a node, and what is not as in the source; `_FillValue` is left out."""
    found: dict[str, StreamAttribute] = {}
    told = []
    for attribute, note in typed_attributes(node.attributes, node.attribute_types):
        assert isinstance(attribute.type, AtomicType)
        found[attribute.name] = StreamAttribute(attribute.name, _TYPES[attribute.type], attribute.values)
        if note is not None:
            told.append(f"attribute {quoted(attribute.name)}: {note.message}")
    return found, told


def fill_attribute_of(
    node: ArrayNode, element: Element, *, is_told: bool = False
) -> tuple[dict[str, StreamAttribute], list[str]]:
    """Return the attribute `_FillValue`, and what is not as in the source.

    Parameters
    ----------
    is_told
        It tells the fill value of an array that has no such attribute, where it is not the default.
    """
    has_one = FILL_ATTRIBUTE in node.attributes
    own = any(attribute.name == FILL_ATTRIBUTE for attribute in element.attributes)
    if own or not (has_one or is_told):
        return {}, []
    atomic = None if element.is_ragged else _ATOMIC.get(element.type)
    if atomic is None:
        why = f"{FILL_ATTRIBUTE} is left out: there is no attribute of the array's type"
        return {}, [why] if has_one else []
    attribute, note = fill_attribute(node if is_told else replace(node, fill_value=None), atomic)
    if attribute is None:
        why = note.message if note else "it has no value"
        return {}, [f"{FILL_ATTRIBUTE} is left out: {why}"] if has_one else []
    told = [] if has_one else [f"{FILL_ATTRIBUTE} is added: it tells what missing chunks hold"]
    return {FILL_ATTRIBUTE: StreamAttribute(FILL_ATTRIBUTE, _TYPES[atomic], attribute.values)}, told
