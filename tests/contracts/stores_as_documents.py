"""A folder of keys as a Version 0 reference document: metadata inline, each chunk a whole file."""

from __future__ import annotations

import json
from pathlib import Path

METADATA = (".zgroup", ".zarray", ".zattrs", ".zmetadata", "zarr.json")


def document_of(store: Path, target: Path) -> Path:
    """Write a document beside `store` that refers to all of its keys; return its path."""
    references: dict[str, object] = {}
    for path in sorted(store.rglob("*")):
        if path.is_file():
            key = path.relative_to(store).as_posix()
            references[key] = path.read_text() if path.name in METADATA else [f"{store.name}/{key}"]
    target.write_text(json.dumps(references))
    return target
