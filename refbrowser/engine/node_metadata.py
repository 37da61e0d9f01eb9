"""The metadata documents of one group or array: their keys, where each lies, and edits of its attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from refbrowser.engine.dataset import Dataset
from refbrowser.errors import RefbrowserError, quoted
from refbrowser.formats.store_rules import RULES
from refbrowser.formats.zarr.documents import (
    ARRAY_V2,
    ATTRIBUTES_V2,
    CONSOLIDATED_V2,
    GROUP_V2,
    NODE_V3,
    split_key,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.loading import load
from refbrowser.model.metadata_keys import METADATA_NAMES, is_metadata_key
from refbrowser.model.nodes import ArrayNode, Flavour, GroupNode, Node
from refbrowser.model.reference import ByteRange, Inline, WholeFile
from refbrowser.references.content.consolidated import CONSOLIDATED_V3
from refbrowser.references.content.expansion import REFS
from refbrowser.references.document.document import Document
from refbrowser.references.rules.layouts import NotDecided
from refbrowser.references.text.json_text import JsonError, parse
from refbrowser.references.text.typed_values import laid_out, parsed


class Origin(StrEnum):
    """Where a metadata document lies."""

    INLINE = "inline"
    ELSEWHERE = "elsewhere"
    GENERATED = "generated"
    CONSOLIDATED = "consolidated"
    ABSENT = "absent"
    FAULTY = "faulty"


@dataclass(frozen=True, slots=True)
class MetadataPlace:
    """One metadata document of a node.

    Attributes
    ----------
    key
        Of the document, whether or not it is there.
    note
        A sentence about where it lies; empty where it stands in the document, as usual.
    data
        Its bytes; None where they are elsewhere or there are none.
    rule
        Number of the gen rule that makes it.
    """

    key: str
    origin: Origin
    note: str = ""
    data: bytes | None = None
    rule: int | None = None

    @property
    def can_edit(self) -> bool:
        """Whether an entry of refs can take its place: what a gen rule makes counts before any entry."""
        return self.origin is not Origin.GENERATED


@dataclass(frozen=True, slots=True)
class MetadataText:
    """One metadata document of a node as it is edited.

    Attributes
    ----------
    text
        Its JSON, laid out; as it stands where it is no JSON.
    json
        The value; None where there is none.
    fault
        Why there is no value: it is no JSON, or it could not be read.
    """

    place: MetadataPlace
    text: str = ""
    json: Any = None
    fault: str = ""


def read_metadata(dataset: Dataset, document: Document, node: Node, token: CancelToken) -> list[MetadataText]:
    """Return the metadata documents of a node; what lies elsewhere is read, where that is permitted."""
    keys = metadata_keys(document, node, dataset.hierarchy.flavour)
    return [_read(dataset, place_of(document, key), token) for key in keys]


def _read(dataset: Dataset, place: MetadataPlace, token: CancelToken) -> MetadataText:
    data = place.data
    try:
        if data is None and place.origin is not Origin.FAULTY:
            data = dataset.read_key(place.key, token)
        if data is None:
            return MetadataText(place, fault=place.note)
        text = data.decode("utf-8")
    except RefbrowserError as error:
        return MetadataText(place, fault=f"{error.message}. {error.advice}".removesuffix(". "))
    except UnicodeDecodeError:
        return MetadataText(place, fault="it is not text")
    try:
        json = parsed(text)
    except RefbrowserError as error:
        return MetadataText(place, text, fault=error.message)
    return MetadataText(place, laid_out(json), json)


class NodeDocuments(Protocol):
    """The metadata documents of a flavour whose nodes have one each, with attributes among its members."""

    def group_key(self, path: str) -> str:
        """Return the key of the document of a group."""
        ...

    def new_group(self) -> dict[str, Any]:
        """Return the document of a group that was only implied."""
        ...

    def fault(self, key: str, json: Mapping[str, Any]) -> str | None:
        """Return why a value is no metadata; empty where it is, None where the key is that of no node."""
        ...


def _documents_of(flavour: Flavour) -> NodeDocuments | None:
    """Return what knows the documents of a flavour; None where they are those of Zarr v2 or v3."""
    named = RULES[flavour].documents
    return load(named) if named else None


def uses_v3(node: Node) -> bool:
    """Tell whether the metadata of a node is of version 3 of Zarr; a group without any is like its arrays."""
    if isinstance(node, ArrayNode):
        return node.format == "zarr-v3"
    if node.metadata_keys:
        return any(split_key(key)[1] == NODE_V3 for key in node.metadata_keys)
    below: list[Node] = [*node.arrays.values(), *node.groups.values()]
    return any(uses_v3(child) for child in below)


def metadata_keys(document: Document, node: Node, flavour: Flavour = Flavour.ZARR_V2) -> tuple[str, ...]:
    """Return the keys of the documents that describe a node, or could; the consolidated one of it last."""
    if RULES[flavour].documents:
        return node.metadata_keys or (attributes_key(node, flavour),)
    prefix = prefix_of(node)
    names = [ARRAY_V2 if isinstance(node, ArrayNode) else GROUP_V2, ATTRIBUTES_V2]
    if uses_v3(node):
        names = [NODE_V3]
    keys = dict.fromkeys(prefix + name for name in names)
    keys |= dict.fromkeys(key for key in node.metadata_keys if key not in keys)
    consolidated = prefix + CONSOLIDATED_V2
    if isinstance(node, GroupNode) and not document.is_unread:
        keys |= {consolidated: None} if document.refs.find_slot(consolidated) is not None else {}
    return tuple(keys)


def attributes_key(node: Node, flavour: Flavour = Flavour.ZARR_V2) -> str:
    """Return the key of the document that holds the attributes of a node.

    Where each node has one document, a group that is only implied has none yet.
    """
    documents = _documents_of(flavour)
    if documents is not None:
        return node.metadata_keys[0] if node.metadata_keys else documents.group_key(node.path)
    return prefix_of(node) + (NODE_V3 if uses_v3(node) else ATTRIBUTES_V2)


def prefix_of(node: Node) -> str:
    """Return what the keys of a node begin with: its path with a slash, nothing for the root."""
    return f"{node.path.strip('/')}/".removeprefix("/")


def place_of(document: Document, key: str) -> MetadataPlace:
    """Return where the metadata document under a key lies, with its bytes where the document holds them."""
    if document.is_unread:
        value = document.expansion.value(key)
        return _not_there(document, key) if value is None else MetadataPlace(key, Origin.INLINE, "", value)
    try:
        row = document.expansion.find(key)
        found = None if row is None or isinstance(row, NotDecided) else document.expansion.item(row)[1]
    except RefbrowserError as error:
        row, found = None, error
    if row is None and found is None:
        return _not_there(document, key)
    if isinstance(row, NotDecided):
        return MetadataPlace(key, Origin.GENERATED, "Whether a gen rule makes it could not be decided.")
    rule = None
    if row is not None:
        origin, _inner = document.expansion.origin(row)
        rule = None if origin == REFS else origin
    data = found.data if isinstance(found, Inline) else None
    where = f"{quoted(found.url)}" if isinstance(found, ByteRange | WholeFile) else ""
    if rule is not None:
        note = f"Made by gen rule {rule}, which overrides any entry: edit the rule."
        return MetadataPlace(key, Origin.GENERATED, note, data, rule)
    if isinstance(found, RefbrowserError):
        note = f"The entry is faulty: {found.message}. Apply replaces it by this text."
        return MetadataPlace(key, Origin.FAULTY, note)
    if where:
        note = f"Not in the document: it is at {where}. Apply puts it in the document instead."
        return MetadataPlace(key, Origin.ELSEWHERE, note)
    return MetadataPlace(key, Origin.INLINE, "", data)


def _not_there(document: Document, key: str) -> MetadataPlace:
    value = _consolidated(document, key)
    if value is not None:
        above, data = value
        note = f"Only in the consolidated {above}. Apply adds it as its own key too."
        return MetadataPlace(key, Origin.CONSOLIDATED, note, data)
    return MetadataPlace(key, Origin.ABSENT, "None yet. Apply adds it.", b"{}")


def _consolidated(document: Document, key: str) -> tuple[str, bytes] | None:
    """Return the key of the nearest consolidated document that repeats `key`, and the text there."""
    folder, name = split_key(key)
    folder = f"{folder}/" if folder else ""
    while True:
        above = folder + (NODE_V3 if name == NODE_V3 else CONSOLIDATED_V2)
        try:
            data = document.expansion.value(above)
            node = None if data is None else parse(data)
        except (RefbrowserError, JsonError):
            data = node = None
        inner = key.removeprefix(folder)
        if name == NODE_V3:
            node = None if node is None else node.member(CONSOLIDATED_V3)
            inner = inner.removesuffix(f"/{NODE_V3}")
        metadata = None if node is None else node.member("metadata")
        member = None if metadata is None else metadata.member(inner)
        if member is not None and data is not None:
            return above, data[member.start : member.stop]
        if not folder:
            return None
        folder = folder[: folder.rstrip("/").rfind("/") + 1]


def begun(node: Node, flavour: Flavour) -> dict[str, Any]:
    """Return the document that holds the attributes of a group that has none yet."""
    documents = _documents_of(flavour)
    if documents is not None:
        return documents.new_group()
    return {"zarr_format": 3, "node_type": "group"} if uses_v3(node) else {}


def with_attributes(key: str, json: Any, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with other attributes: they are all of ``.zattrs``, one member of others."""
    if split_key(key)[1] == ATTRIBUTES_V2:
        return dict(attributes)
    return {**(json if isinstance(json, Mapping) else {}), "attributes": dict(attributes)}


def attributes_in(key: str, json: Any) -> dict[str, Any]:
    """Return the attributes in the document under `key`."""
    found = json
    if split_key(key)[1] != ATTRIBUTES_V2:
        found = json.get("attributes") if isinstance(json, Mapping) else None
    return dict(found) if isinstance(found, Mapping) else {}


def metadata_fault(key: str, json: Any) -> str:
    """Return why a value is no metadata under its key, in words; nothing where it is."""
    from refbrowser.formats.zarr import v2, v3

    if not isinstance(json, dict):
        return "metadata is an object: { … }"
    name = split_key(key)[1]
    try:
        if name == ARRAY_V2:
            v2.array_fields(json, lambda _warning: None)
        elif name == NODE_V3 and v3.is_array(json):
            v3.array_fields(json)
        elif name == GROUP_V2 and json.get("zarr_format") != 2:
            return "zarr_format of the group is not 2"
    except RefbrowserError as error:
        return error.message
    if name in METADATA_NAMES or not is_metadata_key(key):
        return ""
    own = filter(None, map(_documents_of, RULES))
    return next(filter(None, (documents.fault(key, json) for documents in own)), "")
