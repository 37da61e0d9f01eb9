"""Arrays of Zarr v3 with a rectilinear chunk grid, written by hand: no library has a part in it."""

import gzip
import itertools
import json

import numpy as np
import pytest
import zarr.core.metadata.v3

GZIP = {"name": "gzip", "configuration": {"level": 1}}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def all_edges(spelled, size):
    """Return every edge of a dimension that the metadata spells."""
    if isinstance(spelled, int):
        return [spelled] * -(-size // spelled)
    pairs = [(each, 1) if isinstance(each, int) else each for each in spelled]
    return [edge for edge, count in pairs for _ in range(count)]


def rectilinear_json(values, chunk_shapes, **changes):
    """Return ``zarr.json`` of an array."""
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": chunk_shapes}}
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(values.shape),
        "data_type": str(values.dtype),
        "chunk_grid": grid,
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [BYTES],
        "attributes": {},
    }
    return document | changes


def rectilinear_keys(values, chunk_shapes, encode=bytes, missing=(), **changes):
    """Return the keys of an array; what lies over its edge is -9, `missing` chunks are left out."""
    keys = {"zarr.json": json.dumps(rectilinear_json(values, chunk_shapes, **changes)).encode()}
    axes = []
    for spelled, size in zip(chunk_shapes, values.shape, strict=True):
        edges = all_edges(spelled, size)
        starts = [0, *itertools.accumulate(edges)][:-1]
        axes.append(
            [(n, at, edge) for n, (at, edge) in enumerate(zip(starts, edges, strict=True)) if at < size]
        )
    for place in itertools.product(*axes):
        coords = tuple(each[0] for each in place)
        if coords in missing:
            continue
        chunk = np.full([edge for _, _, edge in place], -9, values.dtype)
        part = values[tuple(slice(at, at + edge) for _, at, edge in place)]
        chunk[tuple(map(slice, part.shape))] = part
        keys["c/" + "/".join(map(str, coords))] = encode(chunk.tobytes())
    return keys


def write_rectilinear(folder, values, chunk_shapes, *, compressed=False, missing=(), **changes):
    """Write an array into a folder, which becomes an array at the root of a store."""
    if compressed:
        changes = {"codecs": [BYTES, GZIP], **changes}
    encode = gzip.compress if compressed else bytes
    for key, data in rectilinear_keys(values, chunk_shapes, encode, missing, **changes).items():
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


#: For those tests that ask zarr-python, whose versions since 3.2 have such grids behind a switch.
needs_zarr_with_edges = pytest.mark.skipif(
    not hasattr(zarr.core.metadata.v3, "RectilinearChunkGridMetadata"),
    reason="the installed zarr-python has no rectilinear chunk grids",
)
