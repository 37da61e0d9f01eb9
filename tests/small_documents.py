"""Small documents that tests of the window make."""

from __future__ import annotations

import json

METADATA = {
    "zarr_format": 2,
    "shape": [4, 6],
    "chunks": [2, 3],
    "dtype": "<i2",
    "compressor": None,
    "filters": None,
}


def small_document(url: str = "data.bin") -> dict[str, object]:
    """Return a Version 1 document: one array of four chunks by a rule, one of two chunks by references."""
    array = {**METADATA, "fill_value": -1, "order": "C"}
    line = {**array, "shape": [4], "chunks": [2]}
    return {
        "version": 1,
        "templates": {"u": url},
        "gen": [
            {
                "key": "temp/{{i}}.{{j}}",
                "url": "{{u}}",
                "offset": "{{(i * 2 + j) * 12}}",
                "length": "12",
                "dimensions": {"i": {"stop": 2}, "j": {"stop": 2}},
            }
        ],
        "refs": {
            ".zgroup": '{"zarr_format": 2}',
            "temp/.zarray": json.dumps(array),
            "temp/.zattrs": '{"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K"}',
            "depth/.zarray": json.dumps(line),
            "depth/.zattrs": '{"_ARRAY_DIMENSIONS": ["z"]}',
            "depth/0": ["{{u}}", 48, 4],
            "depth/1": ["{{u}}", 52, 4],
        },
    }
