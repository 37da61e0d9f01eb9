"""The attributes of any node as a stream has them: typed, in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from refbrowser.codecs.sharding import filled
from refbrowser.errors import quoted
from refbrowser.formats.ncstream.definition import DataType, StreamAttribute, StreamVariable
from refbrowser.formats.ncstream.dtypes import STRUCTURES
from refbrowser.formats.ncstream.element_types import Convert, Element, Values
from refbrowser.model.data_type import MemberAttributes
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE, typed_attribute, typed_attributes
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


def stream_attributes(node: Node | MemberAttributes) -> tuple[dict[str, StreamAttribute], list[str]]:
    """Return the attributes of a node, and what is not as in the source; `_FillValue` is left out."""
    found: dict[str, StreamAttribute] = {}
    told = []
    for attribute, note in typed_attributes(node.attributes, node.attribute_types):
        assert isinstance(attribute.type, AtomicType)
        found[attribute.name] = StreamAttribute(attribute.name, _TYPES[attribute.type], attribute.values)
        if note is not None:
            told.append(f"attribute {quoted(attribute.name)}: {note.message}")
        elif node.attributes[attribute.name] == [] and attribute.name not in node.attribute_types:
            told.append(f"attribute {quoted(attribute.name)}: a list of nothing is written as an empty text")
    return found, told


def member_attributes(said: MemberAttributes) -> tuple[dict[str, StreamAttribute], list[str]]:
    """Return the attributes of a member of structures, `_FillValue` too, and what is not as in the source."""
    found, told = stream_attributes(said)
    if FILL_ATTRIBUTE in said.attributes:
        value, type = said.attributes[FILL_ATTRIBUTE], said.attribute_types.get(FILL_ATTRIBUTE)
        attribute, _ = typed_attribute(FILL_ATTRIBUTE, value, type)
        assert isinstance(attribute.type, AtomicType)
        found[FILL_ATTRIBUTE] = StreamAttribute(FILL_ATTRIBUTE, _TYPES[attribute.type], attribute.values)
    return found, told


def fill_attribute_of(
    node: ArrayNode, element: Element, convert: Convert | None
) -> tuple[dict[str, StreamAttribute], list[str]]:
    """Return the attribute `_FillValue` of what an array becomes, and what is not as in the source.

    What the array's own attribute says counts; else its fill value, unless that is what netCDF takes by
    default. Structures have none: their members do (`fill_attribute_of_member`).

    Parameters
    ----------
    element, convert
        What the array, or a part of each of its elements, becomes.
    """
    atomic = None if element.is_ragged else _ATOMIC.get(element.type)
    of_times = next((each for each in element.attributes if each.name == FILL_ATTRIBUTE), None)
    told: list[str] = []
    if FILL_ATTRIBUTE in node.attributes:
        why = "there is no attribute of the array's type"
        if atomic is not None and of_times is None and _kind(node, ()) != "c":
            attribute, note = fill_attribute(replace(node, fill_value=None), atomic)
            if attribute is not None:
                return _fill(atomic, attribute.values[0]), []
            why = note.message if note is not None else "it has no value"
        told.append(f"{FILL_ATTRIBUTE} is left out: {why}")
    held = _held(node, convert)
    if held is None or element.type in STRUCTURES or (of_times and held.tolist() == list(of_times.values)):
        return {}, told
    found, left_out = _of_fill(held, atomic, _kind(node, ()))
    if found:
        told.append(f"{FILL_ATTRIBUTE} is added: it tells the array's fill value")
    if left_out:
        told.append(f"the fill value {quoted(node.fill_value)} is left out: {left_out}")
    return found, told


def fill_attribute_of_member(
    node: ArrayNode, convert: Convert | None, names: Sequence[str], member: StreamVariable
) -> tuple[dict[str, StreamAttribute], list[str]]:
    """Return the attribute `_FillValue` of a member of structures, from the fill value of these.

    Parameters
    ----------
    convert
        Makes the structures of the stream of those of the array.
    names
        Of the member, from the outermost one.
    """
    held = _held(node, convert)
    if held is None or FILL_ATTRIBUTE in member.attributes:
        return {}, []
    for name in names:
        held = held[name]
    found, left_out = _of_fill(held, _ATOMIC.get(member.type), _kind(node, names))
    label = quoted(".".join(names))
    if found:
        return found, [f"{FILL_ATTRIBUTE} of the member {label} is added: it tells the fill value"]
    return {}, [f"the fill value of the member {label} is left out: {left_out}"] if left_out else []


def _fill(atomic: AtomicType, value: Any) -> dict[str, StreamAttribute]:
    return {FILL_ATTRIBUTE: StreamAttribute(FILL_ATTRIBUTE, _TYPES[atomic], (value,))}


def _held(node: ArrayNode, convert: Convert | None) -> Values | None:
    """Return one element that holds the fill value, as it is encoded; None where an array has none."""
    if node.fill_value is None or node.dtype is None:
        return None
    held = filled((1,), node.dtype, node.fill_value)
    return held if convert is None else convert(held)


def _kind(node: ArrayNode, names: Iterable[str]) -> str:
    """Return what the elements of an array, or a field of them, are: the letter of numpy."""
    assert node.dtype is not None
    dtype = node.dtype
    for name in names:
        # Parts of complex numbers are no fields of the array; some fields have another name in a stream.
        if dtype.base.fields is not None and name in dtype.base.fields:
            dtype = dtype.base.fields[name][0]
    return dtype.base.kind


def _of_fill(held: Values, atomic: AtomicType | None, kind: str) -> tuple[dict[str, StreamAttribute], str]:
    """Return the attribute that tells a fill value, else why none does: empty where none is needed."""
    items = held.reshape(-1).tolist()
    if atomic is None:
        is_empty = not any(any(item) if isinstance(item, bytes) else len(item) for item in items)
        return {}, "" if is_empty else "there is no attribute of its type"
    values = [item.decode("utf-8", "replace") if isinstance(item, bytes) else item for item in items]
    first = values[0] if values else atomic.default_fill
    if any(value != first and (value == value or first == first) for value in values):
        return {}, "elements have several"
    if first == atomic.default_fill or first == "":
        return {}, ""
    # No truth value and no byte of a pattern means that there is none, of times only one does; of complex
    # numbers both parts together do.
    if kind in "bVmM" or (kind == "c" and first == first):
        return {}, "no such value means that there is none"
    return _fill(atomic, first), ""
