"""Documents of arrays over given coordinates, with all values in them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, tuple[Sequence[str], npt.NDArray[Any], Mapping[str, str]]]


def write_arrays(path: Path, arrays: Arrays) -> Path:
    """Write a reference document with arrays of one chunk each: dimensions, values and attributes by name."""
    refs: dict[str, str] = {".zgroup": '{"zarr_format": 2}'}
    for name, (dimensions, values, attributes) in arrays.items():
        raw = np.ascontiguousarray(values)
        shape = list(raw.shape)
        metadata = {
            "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": raw.dtype.str, "compressor": None,
            "filters": None, "fill_value": None, "order": "C",
        }  # fmt: skip
        refs[f"{name}/.zarray"] = json.dumps(metadata)
        refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": [*dimensions], **attributes})
        key = ".".join("0" for _ in shape) or "0"
        refs[f"{name}/{key}"] = f"base64:{base64.b64encode(raw.tobytes()).decode()}"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


def cube_arrays(*, times: int = 5, step: int = 1, is_descending: bool = False) -> Arrays:
    """Return an array over time, latitude and longitude, whose values tell where they are."""
    time = np.arange(0.0, times, step)
    lat = np.linspace(-20.0, 20.0, 9)
    lat = lat[::-1] if is_descending else lat
    lon = np.linspace(0.0, 50.0, 11)
    values = time[:, None, None] * 10_000 + lat[None, :, None] * 100 + lon[None, None, :]
    return {
        "t": (("time", "lat", "lon"), values, {"units": "K"}),
        "time": (("time",), time, {"units": "days since 2000-01-01"}),
        "lat": (("lat",), lat, {"units": "degrees_north"}),
        "lon": (("lon",), lon, {"units": "degrees_east"}),
    }
