"""Consolidated metadata as the single documents that it repeats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.stores.contents import StoreContents, parsed
from refbrowser.formats.stores.flavour import ENTRY
from refbrowser.formats.stores.reader import Answers, is_safe_key
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.model.nodes import Flavour

CONSOLIDATED_V2 = ".zmetadata"
CONSOLIDATED_V3 = "consolidated_metadata"
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def add_consolidated(contents: StoreContents, root: Answers) -> bool:
    """Add the documents that the metadata of the root repeats; returns whether it repeats any.

    They stand alone in `contents`: of two copies, an edit would leave one behind.
    """
    if contents.flavour is Flavour.ZARR_V3:
        return _add_v3(contents, root)
    entries = parsed(root.get(CONSOLIDATED_V2)).get("metadata")
    if not isinstance(entries, dict):
        if CONSOLIDATED_V2 in root:
            contents.warn("the consolidated metadata cannot be read; each node was read", CONSOLIDATED_V2)
        return False
    single = {key: data for key, data in root.items() if key != CONSOLIDATED_V2 and key in entries}
    for key, value in entries.items():
        if not is_metadata_key(key) or not is_safe_key(key):
            contents.warn("an entry of the consolidated metadata is not the metadata of a node", key)
        elif not contents.add(key, single[key] if key in single else _text(value, key), _object(value)):
            break
    return True


def _add_v3(contents: StoreContents, root: Answers) -> bool:
    document = parsed(root.get(ENTRY))
    consolidated = document.pop(CONSOLIDATED_V3, None)
    entries: Any = consolidated.get("metadata") if isinstance(consolidated, dict) else None
    if not isinstance(entries, dict):
        return False
    contents.add(ENTRY, _text(document, ENTRY))
    for path, value in entries.items():
        key = f"{path}/{ENTRY}"
        if not is_safe_key(key):
            contents.warn("an entry of the consolidated metadata is not the path of a node", path)
            continue
        if isinstance(value, dict) and CONSOLIDATED_V3 in value:
            value = {name: inner for name, inner in value.items() if name != CONSOLIDATED_V3}
        if not contents.add(key, _text(value, key), _object(value)):
            break
    return True


def _object(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _text(value: Mapping[str, Any], key: str) -> bytes | RefbrowserError:
    try:
        return _ENCODER.encode(value).encode("utf-8", "surrogatepass")
    except RecursionError:
        return RefbrowserError(ErrorKind.BUDGET, "values are nested too deep", Place(key=key))
