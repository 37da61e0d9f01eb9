"""Reference documents that benchmarks are measured with, written as kerchunk writes them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

#: Grid of chunks of each array of a large document: 50,000 of them.
GRID = (50, 25, 40)
CHUNK_BYTES = 4096


def write_large(path: Path, references: int, grid: tuple[int, ...] = GRID, run: int = 50) -> Path:
    """Write arrays ``v00``, ``v01``, ... of `grid` chunks each: `references` in all, in a hundred files.

    `run` is how many chunks that follow one another lie in the same file.
    """
    arrays, rest = divmod(references, math.prod(grid))
    assert not rest
    with path.open("w") as file:
        file.write('{"version": 1, "refs": {".zgroup": "{\\"zarr_format\\": 2}"')
        for number in range(arrays):
            file.write(_array(f"v{number:02d}", grid))
            file.writelines(_chunks(f"v{number:02d}", number, grid, run))
        file.write("}}")
    return path


def _array(name: str, grid: tuple[int, ...]) -> str:
    shape = [grid[0], *(size * 8 for size in grid[1:])]
    metadata = {
        "zarr_format": 2,
        "shape": shape,
        "chunks": [1, *(8 for _ in grid[1:])],
        "dtype": "<f4",
        "compressor": None,
        "filters": None,
        "fill_value": None,
        "order": "C",
    }
    dimensions = {"_ARRAY_DIMENSIONS": [f"d{number}" for number in range(len(grid))]}
    values = (json.dumps(metadata), json.dumps(dimensions))
    return "".join(
        f', "{name}/{key}": {json.dumps(value)}'
        for key, value in zip((".zarray", ".zattrs"), values, strict=True)
    )


def _chunks(name: str, number: int, grid: tuple[int, ...], run: int) -> Iterator[str]:
    for place, coords in enumerate(np.ndindex(*grid)):
        key = ".".join(map(str, coords))
        url, offset = f"s3://b/{place // run % 100:03d}.nc", (number * 1000 + place) * CHUNK_BYTES
        yield f', "{name}/{key}": ["{url}", {offset}, {CHUNK_BYTES}]'


def write_array(
    folder: Path, name: str, values: np.ndarray, chunks: tuple[int, ...], **attributes: Any
) -> Path:
    """Write an array ``/field`` as zstd chunks in one file, and the reference document beside it."""
    import zstandard

    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}
    refs["field/.zarray"] = json.dumps(
        {
            "zarr_format": 2,
            "shape": values.shape,
            "chunks": chunks,
            "dtype": values.dtype.str,
            "compressor": {"id": "zstd", "level": 1},
            "filters": None,
            "fill_value": None,
            "order": "C",
        }
    )
    names = ["time", "y", "x"][-values.ndim :]
    refs["field/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": names, **attributes})
    packer = zstandard.ZstdCompressor(level=1)
    offset = 0
    with (folder / f"{name}.dat").open("wb") as file:
        for coords in np.ndindex(*(size // side for size, side in zip(values.shape, chunks, strict=True))):
            where = tuple(slice(at * side, (at + 1) * side) for at, side in zip(coords, chunks, strict=True))
            data = packer.compress(np.ascontiguousarray(values[where]).tobytes())
            file.write(data)
            refs[f"field/{'.'.join(map(str, coords))}"] = [f"{name}.dat", offset, len(data)]
            offset += len(data)
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


def small_document() -> str:
    """Return the text of a document with nothing in it but its root group."""
    return '{"version": 1, "refs": {".zgroup": "{\\"zarr_format\\": 2}"}}'
