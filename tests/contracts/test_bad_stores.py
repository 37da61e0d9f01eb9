"""Bad stores: the right error at the right node, and the rest of the store works."""

import os
import tracemalloc

import numpy as np
import pytest
from bad_stores import BAD_CHUNKS, BAD_METADATA, LAYOUTS, V2, VALUES, chunk, write, write_store

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.model.nodes import ArrayNode


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]


@pytest.fixture
def store(tmp_path, layout):
    folder = tmp_path / "store"
    write_store(folder, layout)
    return folder


def findings(dataset):
    return [*dataset.hierarchy.findings, *dataset.document.notes]


def the_rest_works(dataset):
    for path in ("/first", "/group/last"):
        assert np.array_equal(dataset[path][...], VALUES)


def failure(dataset, path, index=...):
    with pytest.raises(RefbrowserError) as caught:
        dataset[path][index]
    return caught.value


def test_the_store_is_good_before(store):
    with refbrowser.open(store) as dataset:
        the_rest_works(dataset)
        assert np.array_equal(dataset["/group/bad"][...], VALUES)
        assert findings(dataset) == []


@pytest.mark.parametrize("what", BAD_METADATA)
def test_bad_metadata(store, layout, what):
    made, kind = BAD_METADATA[what]
    write(store, f"group/bad/{layout.array_name}", made(layout))
    with refbrowser.open(store) as dataset:
        the_rest_works(dataset)
        node = dataset.hierarchy.find("/group/bad")
        error = node.error or node.unreadable
        assert error is not None
        assert error.kind is kind
        assert error.place.key == f"group/bad/{layout.array_name}"
        assert failure(dataset, "/group/bad").kind is kind
        found = [finding for finding in dataset.hierarchy.findings if finding.kind is kind]
        assert any((finding.place.key or "").startswith("group/bad") for finding in found)


@pytest.mark.parametrize("what", BAD_CHUNKS)
def test_bad_chunks(store, layout, what):
    key = f"group/bad/{layout.chunk_key.format(0, 0)}"
    write(store, key, BAD_CHUNKS[what])
    with refbrowser.open(store) as dataset:
        tracemalloc.start()
        try:
            error = failure(dataset, "/group/bad")
            assert tracemalloc.get_traced_memory()[1] < 16 << 20
        finally:
            tracemalloc.stop()
        assert error.kind is ErrorKind.DECODE
        assert error.place.key == key
        assert np.array_equal(dataset["/group/bad"][2:, 3:], chunk(1, 1))
        the_rest_works(dataset)


def test_a_missing_chunk_is_fill_and_a_folder_in_its_place_is_not(store, layout):
    key = store / f"group/bad/{layout.chunk_key.format(0, 0)}"
    key.unlink()
    with refbrowser.open(store) as dataset:
        assert np.array_equal(dataset["/group/bad"][:2, :3], np.full((2, 3), 7))
        assert np.array_equal(dataset["/group/bad"][2:], VALUES[2:])
    key.mkdir()
    with refbrowser.open(store) as dataset:
        assert failure(dataset, "/group/bad").kind in (ErrorKind.IO, ErrorKind.UNSAFE)
        the_rest_works(dataset)


def test_an_unreadable_chunk_is_never_fill(store, layout):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (store / f"group/bad/{layout.chunk_key.format(0, 0)}").chmod(0)
    with refbrowser.open(store) as dataset:
        assert failure(dataset, "/group/bad").kind is ErrorKind.IO
        the_rest_works(dataset)


def test_a_chunk_that_is_a_link_out_of_the_store_is_not_read(store, layout, tmp_path):
    secret = tmp_path / "elsewhere" / "secret"
    secret.parent.mkdir()
    secret.write_bytes(b"not to be read")
    key = store / f"group/bad/{layout.chunk_key.format(0, 0)}"
    key.unlink()
    key.symlink_to(secret)
    with refbrowser.open(store) as dataset:
        error = failure(dataset, "/group/bad")
        assert error.kind is ErrorKind.BLOCKED
        the_rest_works(dataset)


def test_a_huge_shape_costs_nothing_until_it_is_read(store, layout):
    sides = [2**31, 2**31]
    grid = {"name": "regular", "configuration": {"chunk_shape": [2, 3]}}
    write(store, f"group/bad/{layout.array_name}", layout.array(shape=sides, chunk_grid=grid))
    with refbrowser.open(store) as dataset:
        assert np.array_equal(dataset["/group/bad"][:2, :3], chunk(0, 0))
        assert np.array_equal(dataset["/group/bad"][-2:, -1:], np.full((2, 1), 7))
        assert failure(dataset, "/group/bad").kind is ErrorKind.BUDGET
        the_rest_works(dataset)


def test_a_chunk_too_large_to_decode(store, layout):
    sides = [2**20, 2**20]
    grid = {"name": "regular", "configuration": {"chunk_shape": sides}}
    write(store, f"group/bad/{layout.array_name}", layout.array(shape=sides, chunks=sides, chunk_grid=grid))
    with refbrowser.open(store) as dataset:
        assert failure(dataset, "/group/bad", (0, 0)).kind is ErrorKind.BUDGET
        the_rest_works(dataset)


def test_names_that_lead_out_in_consolidated_metadata(tmp_path):
    folder = tmp_path / "store"
    write_store(folder, V2)
    outside = {"../out/.zarray": V2.array(), "a//b/.zarray": V2.array(), "group/../c/.zarray": V2.array()}
    inside = {"first/.zarray": V2.array(), "group/.zgroup": V2.group, "group/last/.zarray": V2.array()}
    entries = {".zgroup": V2.group, **inside, **outside}
    write(folder, ".zmetadata", {"zarr_consolidated_format": 1, "metadata": entries})
    with refbrowser.open(folder) as dataset:
        the_rest_works(dataset)
        paths = {node.path for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode)}
        assert paths <= {"/first", "/group/last", "/group/bad"}
        found = [item for item in findings(dataset) if item.severity is Severity.WARNING]
        assert len(found) >= len(outside)


def test_names_that_differ_in_case_only(store, layout):
    write(store, f"group/Last/{layout.array_name}", layout.array())
    with refbrowser.open(store) as dataset:
        the_rest_works(dataset)
        assert np.array_equal(dataset["/group/Last"][...], np.full((4, 6), 7))


def test_consolidated_metadata_that_is_stale(tmp_path):
    folder = tmp_path / "store"
    write_store(folder, V2)
    stale = {".zgroup": V2.group, "first/.zarray": V2.array(), "gone/.zarray": V2.array()}
    write(folder, ".zmetadata", {"zarr_consolidated_format": 1, "metadata": stale})
    with refbrowser.open(folder) as dataset:
        assert np.array_equal(dataset["/first"][...], VALUES)
        assert np.array_equal(dataset["/gone"][...], np.full((4, 6), 7))


def test_consolidated_metadata_that_is_broken(tmp_path):
    folder = tmp_path / "store"
    write_store(folder, V2)
    write(folder, ".zmetadata", "{")
    with refbrowser.open(folder) as dataset:
        the_rest_works(dataset)
        assert [finding.place.key for finding in findings(dataset)] == [".zmetadata"]


def test_a_bad_group_keeps_its_members(store, layout):
    write(store, f"group/{layout.group_name}", "{")
    with refbrowser.open(store) as dataset:
        the_rest_works(dataset)
        assert dataset.hierarchy.find("/group").error.kind is ErrorKind.JSON
