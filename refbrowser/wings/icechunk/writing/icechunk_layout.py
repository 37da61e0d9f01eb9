"""How arrays are laid out in an Icechunk repository."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from refbrowser.exporting.targets.zarr import ZarrV3Layout
from refbrowser.formats.zarr.documents import NODE_V3
from refbrowser.model.grid import ChunkGrid
from refbrowser.wings.icechunk.writing.repository_place import library


class IcechunkLayout(ZarrV3Layout):
    """Zarr of version 3, with the only keys of chunks that Icechunk knows."""

    keeps_keys = False

    def has_edges(self) -> bool:
        """Tell whether chunks may be of unequal sides: the library has them from 2.3 on, or does not."""
        return _takes_edges()

    def _edges(self, grid: ChunkGrid) -> list[Any]:
        """Return the edges of unequal chunks: the library knows just lists of them."""
        return [
            [[axis.largest, max(axis.count, 1)]] if axis.regular_side is not None else axis.spelling
            for axis in grid.dimensions
        ]


@cache
def _takes_edges() -> bool:
    """Tell whether the library takes the metadata of an array of unequal chunks."""
    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.sync import sync

    icechunk = library()
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 2]]}}
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [3],
        "data_type": "uint8",
        "chunk_grid": grid,
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "bytes"}],
        "attributes": {},
    }
    store = icechunk.Repository.create(icechunk.in_memory_storage()).writable_session("main").store
    try:
        sync(store.set(NODE_V3, default_buffer_prototype().buffer.from_bytes(json.dumps(document).encode())))
    except icechunk.IcechunkError:
        return False
    return True
