"""Whatever stands in metadata, a hierarchy comes of it, and the good nodes are good."""

import json

import pytest
from deep import examples
from draft_documents import array_json, built, built_later, group_json
from hypothesis import given, settings
from hypothesis import strategies as st

from refbrowser.wings.zarr_draft.reading.draft_documents import document_fault

URIS = ["http://purl.org/zarr/spec/protocol/core/3.0"]
URIS += [f"http://purl.org/zarr/spec/codec/{name}" for name in ("gzip", "blosc", "lzma")]
WORDS = st.sampled_from(
    ["regular", "C", "<i4", "codec", "type", "name", "extension", "chunk_shape", "separator", "id", "", *URIS]
)
NAMES = st.sampled_from(["transpose", "endian", "bytes", "gzip", "blosc", "delta"])
LEAVES = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | WORDS | st.text(max_size=3)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)
MEMBERS = [
    *array_json(),
    "compressor",
    "codecs",
    "dimension_names",
    "metadata_key_suffix",
    "metadata_encoding",
]
CHANGES = st.dictionaries(st.sampled_from(MEMBERS), JSON, max_size=4)
KEYS = st.lists(
    st.sampled_from(["meta", "root", "a", "A", "..", "", "g", ".", "x y"]), min_size=1, max_size=4
)
ENDS = st.sampled_from([".array.json", ".group.json", ".array", ".json", ""])


@pytest.mark.slow
@given(CHANGES, CHANGES, st.lists(st.tuples(KEYS, ENDS), max_size=5), JSON)
@settings(max_examples=examples(300))
def test_nothing_is_raised(array, group, keys, other):
    documents = {
        "meta/root/bad.array.json": {**array_json(), **array},
        "meta/root/bad.group.json": {**group_json(), **group},
        "meta/root/good.array.json": array_json(),
        "meta/good.array.json": array_json(),
        "meta/root.array.json": other,
    }
    documents |= {"/".join(parts) + end: {**array_json(), **array} for parts, end in keys}
    for key, document in documents.items():
        if isinstance(document, dict):
            document_fault(key, document)
    tree = built({key: json.dumps(value) for key, value in documents.items()})
    assert tree.find("/good").shape == (4, 6)
    for entry in ({}, {"zarr.json": {**group_json(), **group}}):
        tree = built_later({**entry, **documents})
        if tree.root.error is None and not entry.get("zarr.json", {}).get("metadata_key_suffix"):
            assert list(tree.walk())
    for node in tree.walk():
        assert node.error is None or node.error.place.key
