"""The members that NCZarr adds to documents, by age of netcdf-c, and their values (nczarr, section 3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from refbrowser.errors import quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.zarr.documents import ARRAY_V2, ATTRIBUTES_V2, GROUP_V2, NodeDocuments, fault
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.formats.zarr.metadata_json import same_json, warning
from refbrowser.model.netcdf.attributes import values_of_type
from refbrowser.model.netcdf.types import ATOMIC_OF, AtomicType
from refbrowser.model.nodes import ArrayNode

_NUMBERS = {dtype.str[1:] for dtype in ATOMIC_OF}
_TYPE = re.compile(r"(?P<order>[<>|]?)(?P<kind>[iufSUJ])(?P<size>[0-9]{1,9})\Z")


def netcdf_type(written: Any) -> str | None:
    """Return the netCDF type that a dtype stands for, or None where there is none (``|J0``).

    Char is ``>S1``, of old writers ``<U1`` or ``<S1``; ``|S1`` and longer texts are string.
    """
    match = _TYPE.match(written) if isinstance(written, str) else None
    if match is None or match["kind"] == "J":
        return None
    if match["kind"] == "U":
        return "char" if match["size"] == "1" else "string"
    if match["kind"] == "S":
        return "char" if match["size"] == "1" and match["order"] in ("<", ">") else "string"
    if match["kind"] + match["size"] not in _NUMBERS:
        return None
    return str(ATOMIC_OF[np.dtype(match["kind"] + match["size"])])


def typed_attributes(
    attributes: Mapping[str, Any], types: Any, warn: Callable[[str], None]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the attributes as their types have them, and the netCDF types by name.

    Char text that netcdf-c stored as JSON becomes its text again; ``NaN`` and infinities of numbers become
    floats. What does not fit its type stays as it is, without type.

    Parameters
    ----------
    attributes
        As stored, without internal ones.
    types
        Member ``types``: dtypes by name.
    warn
        Is given the text of each warning.
    """
    recorded: Mapping[str, Any] = {}
    if isinstance(types, dict):
        recorded = types
    elif types is not None:
        warn("'types' of the attributes is not an object")
    values, named = {}, {}
    for name, value in attributes.items():
        values[name] = value
        kind = netcdf_type(recorded.get(name))
        if kind is None:
            continue
        try:
            values[name], named[name] = typed_value(value, kind), kind
        except ValueError:
            warn(f"attribute {quoted(name)} is {quoted(value)}, which is not of its type {kind}")
    return values, named


def typed_value(value: Any, kind: str) -> Any:
    """Return a stored value as a netCDF type has it: a list where it is stored as a list.

    Raises
    ------
    ValueError
        It is not of the type.
    """
    type = AtomicType(kind)
    values = values_of_type(value, type)
    if values is None:
        raise ValueError
    if type.is_float:
        # The digits that were written, not those of the float that they become.
        items = value if isinstance(value, list) else [value]
        values = tuple(
            as_read if isinstance(item, str) else float(item)
            for item, as_read in zip(items, values, strict=True)
        )
    return list(values) if isinstance(value, list) and type is not AtomicType.CHAR else values[0]


Report = Callable[[Finding], None]

PROPERTIES = "_NCProperties"
_INTERNAL_PREFIXES = ("_nczarr_", "_NCZARR_")
_SUPERBLOCK, _GROUP, _ARRAY, _TYPES = "superblock", "group", "array", "attr"
_ROLES = (_SUPERBLOCK, _GROUP, _ARRAY, _TYPES)
#: Objects of their own, the newer name first.
_OBJECTS: Mapping[str, tuple[str, ...]] = {
    _SUPERBLOCK: (".nczarr",),
    _GROUP: (".nczgroup",),
    _ARRAY: (".nczarray", ".nczvar"),
    _TYPES: (".nczattrs", ".nczattr"),
}


class Age(IntEnum):
    """Which versions of netcdf-c write members as they were found, the oldest first."""

    OBJECTS = 0
    UPPER = 1
    LOWER = 2
    ATTRIBUTES = 3

    @property
    def title(self) -> str:
        """The versions, for people."""
        return _TITLES[self]


_TITLES = {
    Age.OBJECTS: "netcdf-c 4.8.0",
    Age.UPPER: "netcdf-c 4.8.1 to 4.9.0",
    Age.LOWER: "netcdf-c 4.9.1 to 4.9.2",
    Age.ATTRIBUTES: "netcdf-c 4.9.3 or later",
}


@dataclass(frozen=True, slots=True)
class NodePart:
    """One member: what it holds, under which metadata key it was found."""

    content: Mapping[str, Any]
    key: str
    age: Age

    def member(self, *names: str) -> Any:
        """Return the first of `names` that is there, or None."""
        return next((self.content[name] for name in names if name in self.content), None)


@dataclass(slots=True)
class NczarrMembers:
    """What NCZarr says of one node, and the attributes that are not the user's, as stored."""

    superblock: NodePart | None = None
    group: NodePart | None = None
    array: NodePart | None = None
    types: NodePart | None = None
    internal: dict[str, Any] = field(default_factory=dict)

    @property
    def age(self) -> Age | None:
        """Which netcdf-c wrote it; None where nothing tells. The superblock tells nothing of its own."""
        return next((part.age for part in (self.group, self.array, self.superblock) if part), None)


def take_members(path: str, documents: NodeDocuments, report: Report) -> NczarrMembers:
    """Return what NCZarr says of a node, and leave plain Zarr v2 in its documents.

    Where a member stands more than once, that of ``.zattrs`` counts before the others, lower case before
    upper, an object of its own last.

    Parameters
    ----------
    path
        Of the node, empty for the root.
    documents
        The documents of the node; internal attributes are taken out of them.
    report
        Is given the findings.
    """
    prefix = f"{path}/" if path else ""
    superblock, group, array, types = (
        _counting(list(_found(role, documents, prefix, report)), report) for role in _ROLES
    )
    result = NczarrMembers(superblock, group, array, types)
    for name in (GROUP_V2, ARRAY_V2):
        document = documents.documents.get(name, {})
        result.internal |= {member: value for member, value in document.items() if is_internal(member)}
    for names in _OBJECTS.values():
        for name in names:
            if name in documents.documents:
                result.internal[name] = documents.documents[name]
    attributes = documents.documents.get(ATTRIBUTES_V2, {})
    result.internal |= {name: value for name, value in attributes.items() if is_internal(name)}
    if result.internal and attributes:
        plain = {name: value for name, value in attributes.items() if not is_internal(name)}
        documents.documents[ATTRIBUTES_V2] = plain
    return result


def is_internal(name: str) -> bool:
    """Tell whether an attribute is the format's own, not the user's."""
    return name.startswith(_INTERNAL_PREFIXES) or name in (PROPERTIES, DIMENSIONS_ATTRIBUTE)


def _found(role: str, documents: NodeDocuments, prefix: str, report: Report) -> Iterator[NodePart]:
    """Yield each place where a member stands, the one that counts first."""
    lower, upper = f"_nczarr_{role}", f"_NCZARR_{role.upper()}"
    beside = ARRAY_V2 if role == _ARRAY else GROUP_V2
    for name in (ATTRIBUTES_V2, beside):
        document = documents.documents.get(name, {})
        for member, age in ((lower, Age.LOWER), (upper, Age.UPPER)):
            if member not in document:
                continue
            key = prefix + name
            if not isinstance(document[member], dict):
                report(warning(f"member {quoted(member)} is not an object", key))
                continue
            newest = name == ATTRIBUTES_V2 and member == lower
            yield NodePart(document[member], key, Age.ATTRIBUTES if newest else age)
    for name in _OBJECTS[role]:
        if name in documents.errors:
            report(fault(documents.errors[name]))
        if name in documents.documents:
            yield NodePart(documents.documents[name], prefix + name, Age.OBJECTS)


def _counting(parts: list[NodePart], report: Report) -> NodePart | None:
    """Return the part that counts; others that differ are told."""
    if not parts:
        return None
    first = parts[0]
    for other in parts[1:]:
        if not same_json(first.content, other.content):
            where = "spelled differently" if other.key == first.key else f"in {quoted(first.key)}"
            report(warning(f"the NCZarr metadata is also {where} and differs: that copy is used", other.key))
    return first


def is_array_of_nczarr(node: ArrayNode) -> bool:
    """Tell whether NCZarr says something of an array, so that single bytes are strings unless named char."""
    names = ("_nczarr_array", "_NCZARR_ARRAY", *_OBJECTS[_ARRAY])
    return any(name in node.internal_attributes for name in names)
