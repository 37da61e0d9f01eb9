"""Metadata that is not JSON, and consolidated metadata that differs from the documents that it repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.reference import Inline
from refbrowser.references.content.content import DocumentContent
from refbrowser.references.text.json_text import JsonError, Node, parse, read_value

CONSOLIDATED = ".zmetadata"
HOLDS_NOT_FINITE = "the metadata holds NaN or Infinity, which are not JSON"


@dataclass(frozen=True, slots=True)
class MetadataWarning:
    """A warning about metadata; `counts` is the key whose `json` consolidated metadata should repeat."""

    key: str
    message: str
    counts: str | None = None
    json: Any = None


@dataclass(frozen=True, slots=True)
class _Metadata:
    """A metadata document that is JSON; not finite: it holds NaN or Infinity."""

    value: Any
    is_finite: bool


def metadata_node(document: DocumentContent, slot: int) -> Node | None:
    """Return the JSON of an inline metadata entry, or None where it is not one that can be read."""
    try:
        reference = document.view_at_hand.reference(slot)
        return parse(reference.data) if isinstance(reference, Inline) else None
    except (RefbrowserError, JsonError):
        return None


def metadata_findings(
    document: DocumentContent,
) -> tuple[list[tuple[str, ErrorKind, str]], Iterator[MetadataWarning]]:
    """Return key, kind and message of each metadata document in `refs` that is not JSON, and the warnings."""
    faults: list[tuple[str, ErrorKind, str]] = []
    read: dict[str, _Metadata] = {}
    for key, data in _texts(document):
        try:
            read[key] = _Metadata(*read_value(data))
        except JsonError as error:
            what = "is not JSON" if error.kind is ErrorKind.JSON else "cannot be read"
            faults.append((key, error.kind, f"the metadata {what}: {error.message}"))
    return faults, _warnings(read)


def _texts(document: DocumentContent) -> Iterator[tuple[str, bytes]]:
    """Yield key and text of each metadata document in `refs`."""
    if document.known is not None:
        yield from document.known.values.items()
        return
    for key, slot in document.refs.metadata_slots.items():
        try:
            reference = document.view_at_hand.reference(slot)
        except RefbrowserError:
            continue
        if isinstance(reference, Inline):
            yield key, reference.data


def _warnings(read: Mapping[str, _Metadata]) -> Iterator[MetadataWarning]:
    for key, metadata in read.items():
        if not metadata.is_finite:
            yield MetadataWarning(key, HOLDS_NOT_FINITE)
    for key, metadata in read.items():
        if key.rpartition("/")[2] == CONSOLIDATED:
            yield from _differences(key, metadata.value, read)


def _differences(key: str, value: Any, read: Mapping[str, _Metadata]) -> Iterator[MetadataWarning]:
    folder = key[: -len(CONSOLIDATED)]
    consolidated = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(consolidated, dict):
        yield MetadataWarning(key, "the consolidated metadata has no object 'metadata'")
        return
    for name, repeated in consolidated.items():
        beside = read.get(folder + name)
        if beside is not None and beside.value != repeated:
            message = f"the consolidated metadata differs from {quoted(folder + name)}"
            yield MetadataWarning(key, message, folder + name, beside.value)
    for other, metadata in read.items():
        name = other.removeprefix(folder)
        inside = other.startswith(folder) and other != key and not name.endswith("zarr.json")
        if inside and name not in consolidated:
            message = f"the consolidated metadata lacks {quoted(other)}"
            yield MetadataWarning(key, message, other, metadata.value)


#: The document of a node of version 3, and its member with the metadata of the nodes below it.
NODE_V3 = "zarr.json"
CONSOLIDATED_V3 = "consolidated_metadata"


def consolidated_edit(document: DocumentContent, key: str, json: Any) -> Iterator[tuple[str, Any]]:
    """Yield the key and the new value of each consolidated document that repeats `key`.

    When the consolidated document itself is edited: of each document beside that it repeats.
    """
    folder, _, name = key.rpartition("/")
    folder = f"{folder}/" if folder else ""
    if name == CONSOLIDATED:
        metadata = json.get("metadata") if isinstance(json, dict) else None
        if isinstance(metadata, dict):
            yield from _beside(document, {folder + name: value for name, value in metadata.items()})
        return
    if name == NODE_V3:
        yield from _beside(document, _repeated_v3(folder, json))
        yield from _above_v3(document, folder, json)
        return
    while True:
        value = metadata_json(document, folder + CONSOLIDATED)
        if isinstance(value, dict) and isinstance(value.get("metadata"), dict):
            yield (
                folder + CONSOLIDATED,
                {**value, "metadata": {**value["metadata"], key.removeprefix(folder): json}},
            )
        if not folder:
            return
        folder = _above(folder)


def _beside(document: DocumentContent, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the documents that stand on their own too, with what is repeated of them."""
    return ((key, value) for key, value in values.items() if document.refs.find_slot(key) is not None)


def _repeated_v3(folder: str, json: Any) -> dict[str, Any]:
    """Return the documents below a node by key that its own document repeats."""
    consolidated = json.get(CONSOLIDATED_V3) if isinstance(json, dict) else None
    metadata = consolidated.get("metadata") if isinstance(consolidated, dict) else None
    return {
        f"{folder}{path}/{NODE_V3}": value
        for path, value in (metadata.items() if isinstance(metadata, dict) else ())
    }


def _above_v3(document: DocumentContent, folder: str, json: Any) -> Iterator[tuple[str, Any]]:
    """Yield the documents of the nodes above that repeat the document of the node at `folder`."""
    own = folder
    copy = (
        {name: inner for name, inner in json.items() if name != CONSOLIDATED_V3}
        if isinstance(json, dict)
        else json
    )
    while folder:
        folder = _above(folder)
        value = metadata_json(document, folder + NODE_V3)
        consolidated = value.get(CONSOLIDATED_V3) if isinstance(value, dict) else None
        metadata = consolidated.get("metadata") if isinstance(consolidated, dict) else None
        path = own.removeprefix(folder).rstrip("/")
        if isinstance(value, dict) and isinstance(consolidated, dict) and isinstance(metadata, dict):
            changed = {**consolidated, "metadata": {**metadata, path: copy}}
            yield folder + NODE_V3, {**value, CONSOLIDATED_V3: changed}


def metadata_json(document: DocumentContent, key: str) -> Any:
    """Return the metadata at a key as a value of JSON's types; None where there is none that can be read."""
    slot = document.refs.find_slot(key)
    node = None if slot is None else metadata_node(document, slot)
    return None if node is None else node.to_python()


def _above(folder: str) -> str:
    """Return the folder above, with its slash; empty for the root."""
    return folder[: folder.rstrip("/").rfind("/") + 1]
