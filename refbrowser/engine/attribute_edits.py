"""Edits of the attributes of a node: values, names and the types that NCZarr records beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refbrowser.engine.attribute_types import suggested
from refbrowser.engine.node_metadata import (
    MetadataText,
    Origin,
    attributes_in,
    attributes_key,
    begun,
    with_attributes,
)
from refbrowser.model.nodes import Flavour, Node
from refbrowser.references.edits.edits import Compound, SetMetadata

#: The member of the attributes that holds their types, and the objects of their own of netcdf-c 4.8.0.
_MEMBERS = ("_nczarr_attr", "_NCZARR_ATTR")
_OBJECTS = (".nczattrs", ".nczattr")
_CODES = {
    "byte": "<i1",
    "ubyte": "<u1",
    "short": "<i2",
    "ushort": "<u2",
    "int": "<i4",
    "uint": "<u4",
    "int64": "<i8",
    "uint64": "<u8",
    "float": "<f4",
    "double": "<f8",
    "char": ">S1",
    "json": "|J0",
}


@dataclass(frozen=True, slots=True)
class AttributeChange:
    """One change of an attribute.

    Attributes
    ----------
    title
        What the history calls it.
    name
        The attribute that there is; None for a new one.
    becomes
        Its name afterwards; None where it is removed.
    value
        As a list of one: the new value; empty where that stays.
    type_name
        The type that is recorded, where types are; empty where that stays.
    """

    title: str
    name: str | None
    becomes: str | None
    value: tuple[Any, ...] = ()
    type_name: str = ""

    @classmethod
    def of_value(cls, name: str, value: Any, type_name: str = "") -> AttributeChange:
        """Return the change of a value, in the type that the attribute has unless another is given."""
        return cls(f"Change attribute {name}", name, name, (value,), type_name)

    @classmethod
    def of_type(cls, name: str, value: Any, type_name: str) -> AttributeChange:
        """Return the change to another type, in which the value is this one."""
        return cls(f"Change attribute {name} to {type_name}", name, name, (value,), type_name)

    @classmethod
    def added(cls, name: str, value: Any) -> AttributeChange:
        """Return that an attribute is added, in the type that its value suggests."""
        return cls(f"Add attribute {name}", None, name, (value,), suggested(value))

    @classmethod
    def removed(cls, name: str) -> AttributeChange:
        """Return that an attribute is removed."""
        return cls(f"Remove attribute {name}", name, None)

    @classmethod
    def renamed(cls, old: str, new: str) -> AttributeChange:
        """Return that an attribute gets another name."""
        return cls(f"Rename attribute {old} to {new}", old, new)

    def applied(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes after the change, in their order."""
        return _changed(attributes, self.name, self.becomes, self.value)


def attributes_edit(
    node: Node, flavour: Flavour, texts: Sequence[MetadataText], change: AttributeChange
) -> Compound | None:
    """Return a change as one edit of the metadata documents of a node; None where its document is not known.

    Parameters
    ----------
    texts
        The metadata documents of the node as they are now.
    """
    key = attributes_key(node, flavour)
    text = next((text for text in texts if text.place.key == key), None)
    if text is None:
        return None
    attributes = change.applied(attributes_in(key, text.json))
    edits = []
    member = _member(attributes, flavour)
    beside = next((one for one in texts if one.place.key.rpartition("/")[2] in _OBJECTS), None)
    if member is not None:
        types = _types_after(attributes.get(member), change)
        attributes[member] = types
    elif beside is not None and isinstance(beside.json, dict):
        edits.append(SetMetadata(beside.place.key, _types_after(beside.json, change)))
    json = begun(node, flavour) if text.place.origin is Origin.ABSENT else text.json
    edits.insert(0, SetMetadata(key, with_attributes(key, json, attributes)))
    path = "" if node.path == "/" else f" of {node.path}"
    return Compound(f"{change.title}{path}", tuple(edits))


def _member(attributes: Mapping[str, Any], flavour: Flavour) -> str | None:
    """Return the member that records types; one is begun where the document has other members of NCZarr."""
    found = next((name for name in _MEMBERS if isinstance(attributes.get(name), dict)), None)
    if found is not None or flavour is not Flavour.NCZARR:
        return found
    return next((name for name in _MEMBERS if any(each.startswith(name[:8]) for each in attributes)), None)


def _types_after(content: Any, change: AttributeChange) -> dict[str, Any]:
    """Return the member with the types after a change."""
    content = content if isinstance(content, dict) else {}
    types = content.get("types")
    types = types if isinstance(types, dict) else {}
    code: tuple[Any, ...] = ()
    if change.type_name:
        code = (_code(change.type_name, change.value[0]),)
    elif change.value and str(types.get(change.name, "")).startswith("|S"):
        code = (_code("string", change.value[0]),)
    if change.name is not None and change.name not in types and not code:
        return {**content, "types": types}
    return {**content, "types": _changed(types, change.name, change.becomes, code)}


def _code(type_name: str, value: Any) -> str:
    """Return what NCZarr records for a type; of a string the length of the longest, in bytes."""
    if type_name != "string":
        return _CODES.get(type_name, "|J0")
    items = value if isinstance(value, list) else [value]
    return f"|S{max([1, *(len(str(item).encode('utf-8', 'replace')) for item in items)])}"


def _changed(
    members: Mapping[str, Any], name: str | None, becomes: str | None, value: tuple[Any, ...]
) -> dict[str, Any]:
    if name is None or name not in members:
        return dict(members) if becomes is None else {**members, becomes: value[0]}
    kept = {}
    for each, old in members.items():
        if each != name:
            kept[each] = old
        elif becomes is not None:
            kept[becomes] = value[0] if value else old
    return kept
