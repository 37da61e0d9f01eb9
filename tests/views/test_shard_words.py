"""The attributes pane says what is a shard of an array, and what a chunk within it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.views.attributes import array_pairs

BYTES: dict[str, Any] = {"name": "bytes", "configuration": {"endian": "little"}}
SHARDING: dict[str, Any] = {
    "name": "sharding_indexed",
    "configuration": {
        "chunk_shape": [10, 20],
        "codecs": [BYTES, {"name": "zstd", "configuration": {"level": 1}}],
        "index_codecs": [BYTES, {"name": "crc32c"}],
    },
}


def pairs_of(folder: Path, *codecs: dict[str, Any]) -> dict[str, str]:
    """Return what is said of an array of 200 x 300 in pieces of 100 x 100."""
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [200, 300],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [100, 100]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": codecs,
    }
    refs = {"zarr.json": '{"zarr_format": 3, "node_type": "group"}', "a/zarr.json": json.dumps(metadata)}
    path = folder / "doc.json"
    path.write_text(json.dumps(refs))
    with open_dataset(OpenRequest(str(path))) as dataset:
        return dict(array_pairs(dataset.hierarchy.find("/a")))


def test_shards_and_the_chunks_in_them(tmp_path: Path) -> None:
    pairs = pairs_of(tmp_path, SHARDING)
    assert pairs["Shards"] == "6 of 100×100"
    assert pairs["Inner chunks"] == "10×20"
    assert pairs["Shard size"] == "20 kB"
    assert pairs["Codecs"] == "sharding_indexed(bytes → zstd)"
    assert "Chunks" not in pairs


def test_chunks_that_are_no_shards(tmp_path: Path) -> None:
    pairs = pairs_of(tmp_path, BYTES)
    assert (pairs["Chunks"], pairs["Chunk size"]) == ("6 of 100×100", "20 kB")
    assert pairs["Codecs"] == "bytes(endian=little)"
    assert "Inner chunks" not in pairs
