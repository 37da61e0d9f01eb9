"""Consolidated metadata of what is saved of a store, made anew: other software trusts it before all else.

An opened store has each document of metadata once, without the copy of all in one. Where the store has that
copy, so has what is saved, with every edit in it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from refbrowser.errors import quoted
from refbrowser.exporting.request import Loss
from refbrowser.formats.zarr.documents import CONSOLIDATED_V2
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import Flavour
from refbrowser.references.edits.edits import SetReference

if TYPE_CHECKING:
    from refbrowser.references.document.content import StoreOrigin
    from refbrowser.references.document.document import Document

_NODE_V3 = "zarr.json"
LEFT_OUT = "there is no consolidated metadata, read it with consolidated=False"


def with_consolidated(document: Document, store: StoreOrigin | None) -> tuple[Document, list[Loss]]:
    """Return a document with the consolidated metadata that its store has, and what was left out.

    Parameters
    ----------
    document
        What will be saved: of the store, or of a part of it.
    store
        None for a document that is no store, which is returned as it is.
    """
    if store is None or not store.is_consolidated:
        return document, []
    found: dict[str, Any] = {}
    for key in document.expansion.metadata_keys():
        value = document.expansion.value(key)
        try:
            found[key] = json.loads(value or b"")
        except ValueError:
            # A copy without this node would hide it.
            return document, [Loss("/", f"{LEFT_OUT}: {quoted(key)} is not JSON in the document")]
    entry = _entry_v3(found) if store.flavour is Flavour.ZARR_V3 else _entry_v2(found)
    if entry is None:
        return document, []
    text = json.dumps(entry[1], ensure_ascii=False)
    if len(text) > LIMITS.inline_value:
        return document, [Loss("/", f"{LEFT_OUT}: it has no room in the document")]
    return document.apply(SetReference(entry[0], text)), []


def _entry_v2(found: dict[str, Any]) -> tuple[str, Any]:
    entries = {key: value for key, value in found.items() if key != CONSOLIDATED_V2}
    return CONSOLIDATED_V2, {"metadata": entries, "zarr_consolidated_format": 1}


def _entry_v3(found: dict[str, Any]) -> tuple[str, Any] | None:
    root = found.pop(_NODE_V3, None)
    if not isinstance(root, dict):
        return None
    entries = {key.removesuffix(f"/{_NODE_V3}"): value for key, value in found.items()}
    consolidated = {"kind": "inline", "must_understand": False, "metadata": entries}
    return _NODE_V3, {**root, "consolidated_metadata": consolidated}
