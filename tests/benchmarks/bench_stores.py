"""Opening a store of 10,000 arrays and naming them all, against zarr-python 3 in the same run.

Consolidated and by walking, v2 and v3, from the disk's cache. Arrays differ in shape and attributes; each has
from 4 to 40 chunks, none of which is there. Each opener runs in a new process, after its imports.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import zarr
from processes import Cost, best
from report import figure, heading

GROUPS, ARRAYS = 100, 100
OURS = (
    """
import refbrowser, refbrowser.api, refbrowser.formats.references, refbrowser.formats.zarr.hierarchy
import refbrowser.formats.stores.opening, refbrowser.references.document.document
""",
    "dataset = refbrowser.open(sys.argv[1]); listing = list(dataset.hierarchy.walk())",
)
ZARR = (
    "import zarr",
    "listing = [0, *zarr.open_group(sys.argv[1], mode='r').members(max_depth=None)]",
)


def metadata_v2(number: int) -> dict[str, Any]:
    """Return the documents of one array."""
    return {
        ".zarray": {
            "zarr_format": 2,
            "shape": [400 + number % 37 * 100, 100],
            "chunks": [100, 100],
            "dtype": "<f4",
            "compressor": {"id": "zlib", "level": 1},
            "filters": None,
            "fill_value": "NaN",
            "order": "C",
        },
        ".zattrs": {"units": "m s-1", "long_name": f"quantity {number}", "_ARRAY_DIMENSIONS": ["t", "x"]},
    }


def metadata_v3(number: int) -> dict[str, Any]:
    """Return the document of one array."""
    old = metadata_v2(number)
    return {
        "zarr.json": {
            "zarr_format": 3,
            "node_type": "array",
            "shape": old[".zarray"]["shape"],
            "data_type": "float32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [100, 100]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": "NaN",
            "codecs": [
                {"name": "bytes", "configuration": {"endian": "little"}},
                {"name": "zstd", "configuration": {"level": 0, "checksum": False}},
            ],
            "dimension_names": ["t", "x"],
            "attributes": {"units": "m s-1", "long_name": f"quantity {number}"},
        }
    }


def write(root: Path, version: int) -> Path:
    """Write a store of many arrays."""
    zarr.create_group(root, zarr_format=version)
    for group in range(GROUPS):
        zarr.create_group(root / f"g{group}", zarr_format=version, attributes={"title": f"group {group}"})
        for array in range(ARRAYS):
            number = group * ARRAYS + array
            folder = root / f"g{group}" / f"v{array}"
            folder.mkdir()
            documents = metadata_v2(number) if version == 2 else metadata_v3(number)
            for name, document in documents.items():
                (folder / name).write_text(json.dumps(document))
    return root


def compare(what: str, path: Path) -> None:
    """Print how long both take."""
    ours, theirs = best(*OURS, path), best(*ZARR, path)
    assert ours.listed == theirs.listed == 1 + GROUPS * (ARRAYS + 1)
    figure(f"{what}, CPU", ours.cpu, "s", other=theirs.cpu, aim="below 1")
    figure(f"{what}, elapsed", ours.seconds, "s", other=theirs.seconds, aim="below 1")


def one_array(folder: Path) -> Cost:
    """Return what opening one array of a million chunks, or of one, takes."""
    return best(*OURS, folder)


def main() -> None:
    """Print the figures."""
    warnings.simplefilter("ignore")
    heading("Opening a store of 10,000 arrays (other: zarr-python 3)")
    with tempfile.TemporaryDirectory() as folder:
        for version in (2, 3):
            path = write(Path(folder) / f"v{version}", version)
            compare(f"v{version}, walking", path)
            zarr.consolidate_metadata(path, zarr_format=version)
            compare(f"v{version}, consolidated", path)
        for chunks in (1, 1_000_000):
            path = Path(folder) / f"one-{chunks}"
            array = zarr.create_array(path, shape=(chunks,), chunks=(1,), dtype="i1", zarr_format=2)
            array[0] = 1
        one, many = (one_array(Path(folder) / f"one-{chunks}") for chunks in (1, 1_000_000))
        figure("a million chunks (other: one chunk), CPU", many.cpu, "s", other=one.cpu, aim="near 1")


if __name__ == "__main__":
    main()
