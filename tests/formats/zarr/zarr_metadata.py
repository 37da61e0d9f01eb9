"""Metadata documents, and a source that holds them in memory."""

import json

from refbrowser.errors import RefbrowserError
from refbrowser.formats.zarr.hierarchy import build_hierarchy


class Source:
    """Metadata in memory; a value may be text, an object or an error."""

    def __init__(self, values):
        self.values = values

    def metadata_keys(self):
        return list(self.values)

    def value(self, key):
        value = self.values[key]
        if isinstance(value, RefbrowserError):
            raise value
        if isinstance(value, bytes):
            return value
        return (value if isinstance(value, str) else json.dumps(value)).encode()


def zarray(**changes):
    document = {
        "zarr_format": 2,
        "shape": [4, 6],
        "chunks": [2, 3],
        "dtype": "<i2",
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
    }
    return {name: value for name, value in (document | changes).items() if value is not Ellipsis}


def zarr_json(**changes):
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4, 6],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {},
    }
    return {name: value for name, value in (document | changes).items() if value is not Ellipsis}


def built(values, manifests=lambda prefix, grid, encoding: (prefix, grid, encoding)):
    return build_hierarchy(Source(values), manifests, "refs-v1")
