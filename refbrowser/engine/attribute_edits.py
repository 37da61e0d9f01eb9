"""Edits of the attributes of a node: values, names and the types that NCZarr records beside them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.dataset_errors import NoSuchNodeError
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.node_metadata import (
    MetadataText,
    Origin,
    attributes_in,
    attributes_key,
    begun,
    read_metadata,
    with_attributes,
)
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.netcdf.types import AtomicType
from refbrowser.model.nodes import Flavour, Node
from refbrowser.references.edits.edits import Compound, SetMetadata
from refbrowser.references.text.typed_values import typed_or_text, typed_value

_WORDS = {
    "nan": "NaN",
    "infinity": "Infinity",
    "-infinity": "-Infinity",
    "inf": "Infinity",
    "-inf": "-Infinity",
}
#: The types that are offered, in this order.
TYPES = tuple(map(str, AtomicType))
#: Those that JSON alone tells from each other.
JSON_TYPES = ("char", "int", "double")
#: Characters of a value that are quoted.
_QUOTED = 40
#: What is none of them: objects, true and false, null, lists of different things.
OTHER = "json"


@dataclass(frozen=True, slots=True)
class AttributeType:
    """The type of an attribute, and whether the metadata records it or the value suggests it."""

    name: str
    recorded: bool = False

    def __str__(self) -> str:
        return self.name if self.recorded else f"({self.name})"


def type_of(types: Mapping[str, str], name: str, value: Any) -> AttributeType:
    """Return the type of an attribute: as recorded in `types`, else as its value suggests."""
    recorded = types.get(name)
    return AttributeType(suggested(value)) if recorded is None else AttributeType(recorded, True)


def suggested(value: Any) -> str:
    """Return the type that netCDF gives a value whose type nothing records; `OTHER` where none fits."""
    items = value if isinstance(value, list) and value else [value]
    kinds = set(map(type, items))
    if all(issubclass(kind, str) for kind in kinds):
        return "string" if isinstance(value, list) and len(value) > 1 else "char"
    if not all(issubclass(kind, int | float) and kind is not bool for kind in kinds):
        return OTHER
    if any(issubclass(kind, float) for kind in kinds):
        return "double"
    least, most = min(items), max(items)
    for atomic in (AtomicType.INT, AtomicType.INT64, AtomicType.UINT64):
        limits = np.iinfo(str(atomic.dtype))
        if limits.min <= least and most <= limits.max:
            return atomic
    return OTHER


def value_in(type_name: str, text: str) -> Any:
    """Return the JSON value that a typed line stands for in a type.

    Text needs no quotes; several values are a JSON list.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such value of this type.
    """
    if type_name == "char":
        return _text(text)
    if type_name == "string":
        value = typed_or_text(text)
        is_list = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
        return value if is_list else _text(text)
    value = typed_value(text)
    if type_name not in TYPES:
        return value
    convert = _converter(AtomicType(type_name))
    if not isinstance(value, list):
        return convert(value)
    if not value:
        raise _misfit(type_name, "there is no value")
    return [convert(item) for item in value]


def value_as(type_name: str, value: Any) -> Any:
    """Return a value in another type.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the type cannot hold it.
    """
    if isinstance(value, str):
        return value_in(type_name, json.dumps(value) if type_name in ("char", "string") else value)
    if type_name in ("char", "string") and isinstance(value, list) and all(isinstance(v, str) for v in value):
        if type_name == "string" or len(value) == 1:
            return value if type_name == "string" else value[0]
        raise _misfit(type_name, f"there are {len(value)} values; char holds one text")
    return value_in(type_name, json.dumps(value, ensure_ascii=False, default=str))


def _text(text: str) -> str:
    value = typed_or_text(text)
    return value if isinstance(value, str) else text


def _converter(atomic: AtomicType) -> Callable[[Any], Any]:
    if atomic.is_integer:
        return lambda value: _whole(atomic, value)
    return lambda value: _floating(atomic, value)


def _whole(atomic: AtomicType, value: Any) -> int:
    limits = np.iinfo(str(atomic.dtype))
    number = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(number, bool) or not isinstance(number, int):
        raise _misfit(atomic, f"{quoted(value, _QUOTED)} is not a whole number")
    if not limits.min <= number <= limits.max:
        raise _misfit(atomic, f"{quoted(value, _QUOTED)} is not from {limits.min} to {limits.max}")
    return number


def _floating(atomic: AtomicType, value: Any) -> float | str:
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _misfit(atomic, f"{quoted(value, _QUOTED)} is not a number")
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if abs(value) > float(np.finfo(str(atomic.dtype)).max):
        raise _misfit(atomic, f"{quoted(value, _QUOTED)} is too large")
    return float(value)


def _misfit(type_name: str, why: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, f"the attribute is of type {type_name}: {why}")


def count_words(type_name: str, value: Any) -> str:
    """Return type and number of values, as ``3 values of type int``."""
    if not isinstance(value, list) or len(value) == 1:
        return type_name
    return f"{len(value)} values of type {type_name}"


def offered(recorded: bool) -> Iterable[str]:
    """Return the types that an attribute can be changed to: all where they are recorded."""
    return TYPES if recorded else JSON_TYPES


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


def dataset_with(dataset: Dataset, path: str, attributes: Mapping[str, Any]) -> Dataset:
    """Return a dataset in which a node has other attributes; those that are None are removed.

    Raises
    ------
    NoSuchNodeError
        There is no such node.
    RefbrowserError
        `E_META`: its attributes are not in a document that can be edited; or that cannot be read.
    """
    control = JobControl()
    for name, given in attributes.items():
        value = given.tolist() if isinstance(given, np.generic | np.ndarray) else given
        value = list(value) if isinstance(value, tuple) else value
        node = dataset.hierarchy.find(path)
        if node is None:
            raise NoSuchNodeError(path, dataset.path)
        if value is None and name not in node.attributes:
            continue
        change = (
            AttributeChange.removed(name)
            if value is None
            else AttributeChange.of_value(name, value)
            if name in node.attributes
            else AttributeChange.added(name, value)
        )
        texts = read_metadata(dataset, dataset.document, node, control.token)
        key = attributes_key(node, dataset.hierarchy.flavour)
        edit = attributes_edit(node, dataset.hierarchy.flavour, texts, change)
        if edit is None or not all(each.place.can_edit for each in texts if each.place.key == key):
            message = f"the attribute {quoted(name)} is not in a metadata document that can be edited"
            raise RefbrowserError(ErrorKind.META, message, Place(path=node.path))
        dataset = dataset.with_document(dataset.document.apply(edit), control)
    return dataset


def _member(attributes: Mapping[str, Any], flavour: Flavour) -> str | None:
    """Return the member that records types; one is begun where the document has other members of NCZarr."""
    found = next((name for name in _MEMBERS if isinstance(attributes.get(name), dict)), None)
    if found is not None or flavour != Flavour.NCZARR:
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
