"""Metadata that is not JSON, and consolidated metadata that differs from the documents that it repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.model.reference import Inline
from refbrowser.references.content import DocumentContent
from refbrowser.references.json_text import JsonError, Node, NodeKind, parse

CONSOLIDATED = ".zmetadata"


@dataclass(frozen=True, slots=True)
class MetadataWarning:
    """A warning about metadata; `counts` is the key whose `json` consolidated metadata should repeat."""

    key: str
    message: str
    counts: str | None = None
    json: Any = None


def metadata_node(document: DocumentContent, slot: int) -> Node | None:
    """Return the JSON of an inline metadata entry, or None where it is not one that can be read."""
    try:
        reference = document.view.reference(slot)
        return parse(reference.data) if isinstance(reference, Inline) else None
    except (RefbrowserError, JsonError):
        return None


def metadata_faults(document: DocumentContent) -> Iterator[tuple[str, ErrorKind, str]]:
    """Yield key, kind and message of each metadata document in `refs` that is not JSON."""
    for key, slot in _metadata_slots(document):
        try:
            reference = document.view.reference(slot)
        except RefbrowserError:
            continue
        if isinstance(reference, Inline):
            try:
                parse(reference.data)
            except JsonError as error:
                what = "is not JSON" if error.kind is ErrorKind.JSON else "cannot be read"
                yield key, error.kind, f"the metadata {what}: {error.message}"


def _metadata_slots(document: DocumentContent) -> Iterator[tuple[str, int]]:
    for key, slot in document.refs.odd_keys():
        if is_metadata_key(key) and document.refs.find_slot(key) == slot:
            yield key, slot


def metadata_warnings(document: DocumentContent) -> Iterator[MetadataWarning]:
    """Yield each warning about metadata."""
    found = ((key, metadata_node(document, slot)) for key, slot in _metadata_slots(document))
    nodes = {key: node for key, node in found if node is not None}
    for key, node in nodes.items():
        if _not_finite(node):
            yield MetadataWarning(key, "the metadata holds NaN or Infinity, which are not JSON")
    for key, node in nodes.items():
        if key.rpartition("/")[2] == CONSOLIDATED:
            yield from _differences(key, node, nodes)


def _not_finite(node: Node) -> bool:
    pending = [node]
    for inner in pending:
        if inner.kind is NodeKind.NOT_FINITE:
            return True
        pending.extend(member.value for member in inner.members)
        pending.extend(inner.items)
    return False


def _differences(key: str, node: Node, nodes: dict[str, Node]) -> Iterator[MetadataWarning]:
    folder = key[: -len(CONSOLIDATED)]
    metadata = node.member("metadata")
    if metadata is None or metadata.kind is not NodeKind.OBJECT:
        yield MetadataWarning(key, "the consolidated metadata has no object 'metadata'")
        return
    consolidated: Mapping[str, Any] = metadata.to_python()
    for name, value in consolidated.items():
        beside = nodes.get(folder + name)
        json = None if beside is None else beside.to_python()
        if beside is not None and json != value:
            message = f"the consolidated metadata differs from {quoted(folder + name)}"
            yield MetadataWarning(key, message, folder + name, json)
    for other in nodes:
        name = other.removeprefix(folder)
        inside = other.startswith(folder) and other != key and not name.endswith("zarr.json")
        if inside and name not in consolidated:
            message = f"the consolidated metadata lacks {quoted(other)}"
            yield MetadataWarning(key, message, other, nodes[other].to_python())
