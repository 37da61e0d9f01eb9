"""What a corpus tells of its values, compared with what is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


def expected(folder: Path) -> dict[str, Any]:
    """Return what the writer of a corpus reads back, by path."""
    return json.loads((folder / "expected.json").read_text())


def differences(dataset: Any, folder: Path) -> list[str]:
    """Return the path of each array of a corpus that reads otherwise than its writer reads it, and why."""
    found = []
    for path, entry in expected(folder).items():
        try:
            node = dataset[f"/{path}"]
            if not same_values(np.asarray(node[...]), entry, folder):
                found.append(f"{path}: other values")
            if dict(node.attrs) != entry["attributes"]:
                found.append(f"{path}: other attributes")
        except Exception as error:  # noqa: BLE001 - the list tells all of them
            found.append(f"{path}: {error}")
    return found


def same_values(values: np.ndarray, entry: dict[str, Any], folder: Path) -> bool:
    """Tell whether values are those of an entry of the list, bit by bit in the machine's byte order."""
    if "objects" in entry:
        listed = [plain(value) for value in values.astype(object).reshape(-1)]
        return list(values.shape) == entry["shape"] and listed == entry["objects"]
    wanted = np.load(folder / entry["file"], allow_pickle=False)
    return (
        values.shape == wanted.shape
        and values.dtype.newbyteorder("=") == wanted.dtype.newbyteorder("=")
        and values.astype(wanted.dtype).tobytes() == wanted.tobytes()
    )


def plain(value: Any) -> Any:
    """Return a value of an array of objects as JSON, as the writers do."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    return {"list": value.tolist()} if isinstance(value, np.ndarray) else value
