"""References of daily values, whose chunks are in the document: what is made of few files in little time."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

EPOCH = date(2000, 1, 1)


def text_of(values: Any) -> str:
    return "base64:" + base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()


def add(
    refs: dict[str, Any], name: str, values: Any, chunks: tuple[int, ...], *, v3: bool = False,
    fill: Any = None, packed: bool = True, dims: tuple[str, ...] = ("time",), **attributes: Any,
) -> None:  # fmt: skip
    """Add an array, whose chunks are in the document and not compressed."""
    values = np.asarray(values)
    if v3:
        refs[f"{name}/zarr.json"] = {
            "zarr_format": 3, "node_type": "array", "shape": list(values.shape),
            "data_type": values.dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                       *[{"name": "gzip", "configuration": {"level": 1}}][: packed]],
            "fill_value": 0 if fill is None else fill, "attributes": attributes,
            "dimension_names": list(dims),
        }  # fmt: skip
    else:
        refs[f"{name}/.zarray"] = {
            "zarr_format": 2, "shape": list(values.shape), "chunks": list(chunks), "dtype": values.dtype.str,
            "compressor": {"id": "gzip", "level": 1} if packed else None, "filters": None,
            "fill_value": fill, "order": "C",
        }  # fmt: skip
        refs[f"{name}/.zattrs"] = {"_ARRAY_DIMENSIONS": list(dims), **attributes}
    counts = tuple(-(-side // chunk) for side, chunk in zip(values.shape, chunks, strict=True))
    for at in np.ndindex(counts):
        part = np.zeros(chunks, values.dtype)
        box = tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, chunks, strict=True))
        inner = values[box]
        part[tuple(map(slice, inner.shape))] = inner
        key = f"c/{'/'.join(map(str, at))}" if v3 else ".".join(map(str, at))
        data = gzip.compress(part.tobytes(), 1, mtime=0) if packed else part.tobytes()
        refs[f"{name}/{key}"] = text_of(np.frombuffer(data, "u1"))


def values_of(days: np.ndarray, dtype: str) -> np.ndarray:
    return (days[:, None] * 2 + np.arange(3) + 1).astype(dtype)


def document(
    path: Path, days: list[int] | np.ndarray, *, v3: bool = False, chunk: int = 1,
    variables: dict[str, dict[str, Any]] | None = None, units: str = "days since 2000-01-01",
    calendar: str = "standard", time_type: str = "<i4",
) -> Path:  # fmt: skip
    """Write the references of one file: times, and variables along them."""
    days = np.asarray(days)
    refs: dict[str, Any] = {"zarr.json": {"zarr_format": 3, "node_type": "group"}} if v3 else {
        ".zgroup": {"zarr_format": 2}
    }  # fmt: skip
    add(refs, "time", days.astype(time_type), (len(days),), v3=v3, units=units, calendar=calendar)
    for name, how in (variables or {"t": {"dtype": "<f4", "fill": "NaN"}}).items():
        how = dict(how)
        values = values_of(days, how.pop("dtype"))
        add(refs, name, values, (min(chunk, len(days)), 3), v3=v3, dims=("time", "x"), **how)
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


def days_of(first: str, count: int) -> np.ndarray:
    return np.arange(count) + (date.fromisoformat(first) - EPOCH).days
