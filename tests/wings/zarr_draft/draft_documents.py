"""Metadata of the draft of 2019 as its text has it, a source that holds it, and what is found in it."""

import gzip
import json

import numpy as np

from refbrowser.errors import RefbrowserError, Severity
from refbrowser.wings.zarr_draft.reading import hierarchy

URI = "http://purl.org/zarr/spec/protocol/core/3.0"
CODEC = "http://purl.org/zarr/spec/codec/"
#: The group of the text, whose trailing comma is not JSON.
GROUP_OF_THE_TEXT = """{
    "zarr_format": "http://purl.org/zarr/spec/protocol/core/3.0",
    "extensions": [],
    "attributes": {
        "spam": "ham",
        "eggs": 42,
    }
}"""
#: The array of the text.
ARRAY_OF_THE_TEXT = """{
    "zarr_format": "http://purl.org/zarr/spec/protocol/core/3.0",
    "shape": [10000, 1000],
    "data_type": "<f8",
    "chunk_grid": {
        "type": "regular",
        "chunk_shape": [1000, 100]
    },
    "chunk_memory_layout": "C",
    "chunk_codecs": [
        {
            "codec": "http://purl.org/zarr/spec/codec/gzip",
            "level": 1
        }
    ],
    "fill_value": "NaN",
    "extensions": [],
    "attributes": {
        "foo": 42,
        "bar": "apples",
        "baz": [1, 2, 3, 4]
    }
}"""


def array_json(**changes):
    document = {
        "zarr_format": URI,
        "shape": [4, 6],
        "data_type": "<i2",
        "chunk_grid": {"type": "regular", "chunk_shape": [2, 3]},
        "chunk_memory_layout": "C",
        "chunk_codecs": [],
        "fill_value": -1,
        "extensions": [],
        "attributes": {},
    }
    return {name: value for name, value in (document | changes).items() if value is not Ellipsis}


def group_json(**changes):
    document = {"zarr_format": URI, "extensions": [], "attributes": {}}
    return {name: value for name, value in (document | changes).items() if value is not Ellipsis}


class Source:
    """Metadata in memory; a value may be text, bytes, an object or an error."""

    def __init__(self, values):
        self.values = values

    def metadata_keys(self):
        return list(self.values)

    def value(self, key):
        value = self.values[key]
        if isinstance(value, RefbrowserError):
            raise value
        return as_bytes(value)


def as_bytes(value):
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def built(values, build=hierarchy.build_hierarchy):
    return build(Source(values), lambda prefix, grid, encoding: (prefix, encoding), "zarr-v3-draft")


def built_later(values):
    return built(values, hierarchy.build_later_hierarchy)


def one_array(**changes):
    """Return the array of a document with changes, and the hierarchy that has it beside a good one."""
    tree = built({"meta/a.array.json": array_json(**changes), "meta/good.array.json": array_json()})
    good = tree.find("/good")
    assert good.error is None
    assert good.unreadable is None
    return tree.find("/a"), tree


def messages(tree, severity=None):
    return [item.message for item in tree.findings if severity in (None, item.severity)]


def warnings_of(tree):
    return messages(tree, Severity.WARNING)


def document_of(keys):
    """Return a reference document that holds all keys of a store in itself."""
    import base64

    refs = {key: "base64:" + base64.b64encode(as_bytes(value)).decode() for key, value in keys.items()}
    return json.dumps({"version": 1, "refs": refs}).encode()


def opened(keys, tmp_path):
    """Return the dataset of a document that holds all keys of a store."""
    import refbrowser

    path = tmp_path / "store.json"
    path.write_bytes(document_of(keys))
    return refbrowser.open(path)


def gzipped(values, order="C"):
    return gzip.compress(np.asarray(values).tobytes(order))
