"""What an edit of metadata means for the consolidated metadata beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from refbrowser.references.content import DocumentContent
from refbrowser.references.metadata_findings import CONSOLIDATED, metadata_node


def consolidated_edit(document: DocumentContent, key: str, json: Any) -> Iterator[tuple[str, Any]]:
    """Yield the key and the new value of each consolidated document that repeats `key`.

    When the consolidated document itself is edited: of each document beside that it repeats.
    """
    if key.rpartition("/")[2] == CONSOLIDATED:
        folder = key[: -len(CONSOLIDATED)]
        metadata = json.get("metadata") if isinstance(json, dict) else None
        for name, value in (metadata or {}).items():
            if document.refs.find_slot(folder + name) is not None:
                yield folder + name, value
        return
    folder = key
    while folder:
        folder = folder[: folder.rstrip("/").rfind("/") + 1]
        slot = document.refs.find_slot(folder + CONSOLIDATED)
        node = None if slot is None else metadata_node(document, slot)
        value = None if node is None else node.to_python()
        if isinstance(value, dict) and isinstance(value.get("metadata"), dict):
            yield (
                folder + CONSOLIDATED,
                {**value, "metadata": {**value["metadata"], key.removeprefix(folder): json}},
            )
