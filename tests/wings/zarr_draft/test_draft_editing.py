"""Attributes and metadata of a store of the drafts, edited as an overlay and saved as a document."""

import json

import numpy as np
import pytest
from draft_documents import URI, array_json, group_json

import refbrowser
from refbrowser import zarr_draft
from refbrowser.engine.attribute_edits import AttributeChange, attributes_edit
from refbrowser.engine.node_metadata import metadata_fault, read_metadata
from refbrowser.formats.store_rules import EARLY_DRAFT
from refbrowser.io.cancel import CancelToken
from refbrowser.wings.zarr_draft.reading.draft_documents import (
    DRAFT_2019_DOCUMENTS,
    DRAFT_2020_DOCUMENTS,
    document_fault,
)


@pytest.fixture
def store(tmp_path):
    hierarchy = zarr_draft.DraftHierarchy(zarr_draft.FolderStore(tmp_path / "store"))
    array = hierarchy.create_array(
        "/g/a", shape=(5,), data_type="<i4", chunk_shape=(2,), attributes={"units": "K"}
    )
    array[...] = range(5)
    return tmp_path / "store"


def edited(dataset, path, change):
    node = dataset[path].node
    flavour = dataset.hierarchy.flavour
    texts = read_metadata(dataset, dataset.document, node, CancelToken())
    edit = attributes_edit(node, flavour, texts, change)
    return dataset.with_document(dataset.document.apply(edit))


def files_in(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_attributes_are_edited_without_touching_the_store(store, tmp_path):
    before = files_in(store)
    with refbrowser.open(store) as dataset:
        changed = edited(dataset, "/g/a", AttributeChange.added("long_name", "temperature"))
        changed = edited(changed, "/g", AttributeChange.added("of a group", 1))
        assert changed["/g/a"].attrs == {"units": "K", "long_name": "temperature"}
        assert changed["/g"].attrs == {"of a group": 1}
        assert changed["/g"].node.error is None
        assert changed.hierarchy.findings == ()
        assert np.array_equal(changed["/g/a"][...], range(5))
        target = tmp_path / "saved.json"
        refbrowser.export(changed, target, format="refs-v1")
    assert files_in(store) == before
    with refbrowser.open(target, allow=[str(store)]) as saved:
        assert saved.hierarchy.flavour == EARLY_DRAFT
        assert saved["/g/a"].attrs["long_name"] == "temperature"
        assert saved["/g"].attrs == {"of a group": 1}
        assert np.array_equal(saved["/g/a"][...], range(5))
    refs = json.loads(target.read_text())["refs"]
    assert json.loads(refs["meta/g.group.json"]) == {
        "zarr_format": URI,
        "extensions": [],
        "attributes": {"of a group": 1},
    }


def test_the_document_of_a_group_that_had_none():
    assert DRAFT_2019_DOCUMENTS.new_group() == group_json()
    assert DRAFT_2020_DOCUMENTS.new_group() == {"extensions": [], "attributes": {}}


@pytest.mark.parametrize(
    ("key", "document", "words"),
    [
        ("meta/a.array.json", array_json(), ""),
        ("root.group.json", group_json(), ""),
        ("meta/a.array.json", array_json(shape=["x"]), "shape"),
        ("meta/a.array.json", array_json(data_type="<x1"), "<x1"),
        ("meta/a.array.json", array_json(fill_value="x"), "fill value"),
        ("meta/a.group.json", group_json(zarr_format=2), "zarr_format"),
        ("meta/a.group.json", group_json(zarr_format=...), "zarr_format"),
        ("meta/a.group.json", group_json(attributes=1), "attributes"),
        ("meta/a.group.json", group_json(extensions=["x"]), "extension"),
        ("meta/root/a.group.json", {"attributes": {}}, ""),
        ("meta/root/a.array.json", {"attributes": {}, "shape": [1]}, "data type"),
    ],
)
def test_what_is_typed_is_checked(key, document, words):
    fault = metadata_fault(key, document)
    assert words in fault
    assert bool(fault) == bool(words)


def test_a_key_of_no_node_is_not_checked():
    assert document_fault("meta/.array.json", {}) is None
    assert metadata_fault("temp/x.array.json", {}) == ""
