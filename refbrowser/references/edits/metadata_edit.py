"""What an edit of metadata means for the consolidated metadata beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from refbrowser.references.checks.metadata_findings import CONSOLIDATED, metadata_node
from refbrowser.references.document.content import DocumentContent

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
        value = _value(document, folder + CONSOLIDATED)
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
        value = _value(document, folder + NODE_V3)
        consolidated = value.get(CONSOLIDATED_V3) if isinstance(value, dict) else None
        metadata = consolidated.get("metadata") if isinstance(consolidated, dict) else None
        path = own.removeprefix(folder).rstrip("/")
        if isinstance(value, dict) and isinstance(consolidated, dict) and isinstance(metadata, dict):
            changed = {**consolidated, "metadata": {**metadata, path: copy}}
            yield folder + NODE_V3, {**value, CONSOLIDATED_V3: changed}


def _value(document: DocumentContent, key: str) -> Any:
    slot = document.refs.find_slot(key)
    node = None if slot is None else metadata_node(document, slot)
    return None if node is None else node.to_python()


def _above(folder: str) -> str:
    """Return the folder above, with its slash; empty for the root."""
    return folder[: folder.rstrip("/").rfind("/") + 1]
