"""A document whose metadata is of NCZarr: dimensions, typed attributes, a compound type, its members."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np


def nczarr_document() -> dict[str, object]:
    """Return references of a dataset with two groups; ``time`` is unlimited, ``lat`` is used in both."""
    refs: dict[str, object] = {
        ".zgroup": {"zarr_format": 2},
        ".zattrs": _attributes(
            {"title": "Buoys", "version": 3},
            {"title": ">S1", "version": "<i2"},
            _nczarr_superblock={"version": "2.0.0"},
            _nczarr_group={
                "dimensions": {"time": {"size": 4, "unlimited": 1}, "lat": 3},
                "arrays": ["time", "lat", "temp", "station"],
                "groups": ["deep"],
            },
        ),
        "deep/.zgroup": {"zarr_format": 2},
        "deep/.zattrs": _attributes(
            {}, {}, _nczarr_group={"dimensions": {"layer": 2}, "arrays": ["salt"], "groups": []}
        ),
    }
    stations = np.array(
        [(b"A", (1.5, 2.5), [1, 2]), (b"B", (3.5, 4.5), [3, 4]), (b"C", (5.5, 6.5), [5, 6])],
        [("id", "S1"), ("place", [("lon", "<f8"), ("lat", "<f8")]), ("counts", "<i2", (2,))],
    )
    _array(refs, "time", ["/time"], np.arange(4, dtype="<f8"), {"units": "days since 2000-01-01"})
    _array(refs, "lat", ["/lat"], np.array([50, 51, 52], "<f4"), {"units": "degrees_north"})
    _array(
        refs,
        "temp",
        ["/time", "/lat"],
        np.arange(12, dtype="<i2").reshape(4, 3),
        {"units": "degC", "scale_factor": 0.5, "valid_range": [0, 100], "code": "12"},
        {"scale_factor": "<f4", "valid_range": "<i2", "code": "|S2"},
    )
    _array(refs, "station", ["/lat"], stations, {})
    _array(refs, "deep/salt", ["/deep/layer", "/lat"], np.ones((2, 3), "<f4"), {"units": "1"})
    return {"version": 1, "refs": {key: _inline(value) for key, value in refs.items()}}


def _inline(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _attributes(attributes: dict[str, Any], types: dict[str, str], **members: Any) -> dict[str, Any]:
    types = {**types, **dict.fromkeys([*members, "_nczarr_attr"], "|J0")}
    return {**attributes, **members, "_nczarr_attr": {"types": types}}


def _array(
    refs: dict[str, object],
    path: str,
    dimensions: list[str],
    values: np.ndarray[Any, Any],
    attributes: dict[str, Any],
    types: dict[str, str] | None = None,
) -> None:
    refs[f"{path}/.zarray"] = {
        "zarr_format": 2,
        "shape": list(values.shape),
        "chunks": list(values.shape),
        "dtype": json.loads(json.dumps(values.dtype.descr if values.dtype.names else values.dtype.str)),
        "compressor": None,
        "filters": None,
        "fill_value": None,
        "order": "C",
    }
    texts = {name: ">S1" for name, value in attributes.items() if isinstance(value, str)}
    refs[f"{path}/.zattrs"] = _attributes(
        attributes | {"_ARRAY_DIMENSIONS": [name.rpartition("/")[2] for name in dimensions]},
        texts | (types or {}),
        _nczarr_array={"dimension_references": dimensions, "storage": "chunked"},
    )
    key = f"{path}/" + ".".join("0" * values.ndim)
    refs[key] = "base64:" + base64.b64encode(values.tobytes()).decode()
