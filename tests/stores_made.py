"""Stores with missing chunks, stray keys and every kind of array, written by zarr-python, for the tests."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import zarr

TEMP = np.arange(25 * 30, dtype="<f4").reshape(25, 30)
#: Stored and missing chunks of each array.
COUNTS = {"/temp": (9, 3), "/sub/full": (4, 0), "/sub/one": (1, 0), "/sub/none": (0, 1), "/empty": (0, 0)}


def fill(folder: Path, zarr_format: int) -> dict[str, np.ndarray]:
    """Write a store; returns the values of its arrays."""
    group = zarr.create_group(folder, zarr_format=zarr_format, attributes={"title": "made"})
    array = group.create_array("temp", shape=(40, 30), chunks=(10, 10), dtype="<f4", fill_value=-1)
    array[:25] = TEMP
    group.create_array("sub/full", shape=(4, 4), chunks=(2, 2), dtype="<i2")[:] = (
        np.arange(16).reshape(4, 4) + 1
    )
    group.create_array("sub/one", shape=(3,), chunks=(3,), dtype="<i2")[:] = [1, 2, 3]
    group.create_array("sub/none", shape=(3,), chunks=(3,), dtype="<i2", fill_value=7)
    group.create_array("empty", shape=(0,), chunks=(3,), dtype="<i2")
    return {path: group[path.strip("/")][...] for path in COUNTS}


def packed(folder: Path, target: Path, method: int, leading: str = "") -> Path:
    """Put a folder into a zip archive."""
    with zipfile.ZipFile(target, "w", method) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, leading + path.relative_to(folder).as_posix())
    return target


def store_in(folder: Path, container: str, zarr_format: int) -> tuple[Path, dict[str, np.ndarray]]:
    """Return the path of a store in one of `CONTAINERS`, and the values of its arrays."""
    source = folder / "s.zarr"
    values = fill(source, zarr_format)
    if container == "folder":
        return source, values
    method = zipfile.ZIP_STORED if container == "stored" else zipfile.ZIP_DEFLATED
    leading = "s.zarr/" if container == "leading" else ""
    return packed(source, folder / "s.zip", method, leading), values


#: A folder; zip archives with stored or deflated members, and with all below one folder.
CONTAINERS = ("folder", "stored", "deflated", "leading")
